"""arena league history: how the versions in a league came on."""

from pathlib import Path

import click
import msgspec

from arena.cli.options import as_json
from arena.cli.playing import said_when_slow
from arena.cli.showing import check_output
from arena.cli.terminal import tell
from arena.commands.founding import league_folder
from arena.errors import ConfigError, did_you_mean
from arena.records.regular import write_durably

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
    # Late: pandas is slow to load, and --help does not need it.
    from arena.exports.changes import changes_sentence, known_changes, regress_command, stages_text  # noqa: PLC0415
    from arena.exports.history import history_csv, history_object, history_text  # noqa: PLC0415
    from arena.ratings.history import read_history  # noqa: PLC0415

    folder = league_folder(home, name)
    with said_when_slow(f"rating the games of {folder}"):
        found = read_history(folder)
    if bot is not None:
        known = dict.fromkeys([*found.table["bot"], *found.table["version"]])
        if bot not in known:
            raise ConfigError(
                f"expected a bot of the league {folder.name}, got {bot!r}",
                f"{did_you_mean(bot, known)}'arena league history' shows all",
            )
        found = found.of(bot)
    told = [
        each for name, each in known_changes(folder).items() if name in {*found.table["version"]}
    ]
    if csv_path == "-":
        click.echo(history_csv(found), nl=False)
    elif as_json:
        content = {"league": folder.name, **history_object(found), "changes": told}
        click.echo(msgspec.json.format(msgspec.json.encode(content), indent=2))
    else:
        click.echo(f"league {folder}", err=True)
        tell(history_text(found))
        for each in told if bot is not None else ():
            tell(f"\n{changes_sentence(each)}")
            tell(stages_text(each))
            click.echo(f"  {regress_command(folder.name, each.bot, each.before)}")
    if csv_path not in (None, "-"):
        write_durably(Path(csv_path), history_csv(found).encode())
        click.echo(f"\nhistory: {csv_path}", err=True)
