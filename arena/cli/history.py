"""arena league history: how the versions in a league came on."""

from pathlib import Path

import click

from arena.cli.options import as_json
from arena.cli.showing import check_output
from arena.commands.founding import league_folder

league_option = click.option(
    "--league", "name", metavar="NAME", help="Which league.  [default: the newest one]"
)


@click.command()
@click.argument("bot", required=False, metavar="[BOT]")
@league_option
@click.option("--csv", "csv_path", metavar="FILE|-", help="Write it to a file, or '-' for stdout.")
@as_json
@click.pass_obj
def history(
    home: Path, /, bot: str | None, name: str | None, csv_path: str | None, *, as_json: bool
) -> None:
    """Show what every version gained. Each has its rating on the league's scale, with its 95 %
    interval, and what it gained over the version before it.

    BOT is a bot, for all of its versions, or one version.

    \b
    arena league history
    arena league history my-bot
    arena league history --csv - | column -s, -t
    """  # noqa: D301 - \b is click's mark for lines to keep
    check_output(csv_path, as_json=as_json)
    folder = league_folder(home, name)
    # Late: pandas is slow to load, and --help does not need it.
    from arena.cli.findings import show_history  # noqa: PLC0415

    show_history(folder, bot, csv_path, as_json=as_json)
