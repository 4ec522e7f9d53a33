"""arena analyse: what is behind the standings of a run."""

import sys
from pathlib import Path

import click
import msgspec

from arena.cli.options import as_json, prior_option, run_argument, without_option
from arena.cli.terminal import columns_of, say, tell_with_commands
from arena.commands.folders import run_folder
from arena.errors import printable
from arena.records.runfile import read_run


@click.command()
@run_argument
@click.option(
    "--bot", metavar="NAME", help="Look at one bot: each of its opponents, and ten of its hands."
)
@click.option(
    "--hands",
    type=click.IntRange(0),
    help="How many hands to list for each bot.  [default: 1, with --bot 10]",
)
@without_option
@prior_option
@as_json
@click.pass_obj
def analyse(
    home: Path,
    /,
    run: str | None,
    bot: str | None,
    hands: int | None,
    without: tuple[str, ...],
    prior: float | None,
    *,
    as_json: bool,
) -> None:
    """Look behind the standings of a run, by default the newest one.

    Does one rating per bot explain the results, or do some pairs not fit, or three bots beat each
    other in a circle? Does it matter who else sits at the table? What is each seat worth? How long
    does each bot think, and when in a game? Did bots win as often as their notes said? And which
    hands did others play better, on the same deal and in the same seat? For these you get the
    commands to replay both games.

    \b
    arena analyse
    arena analyse league --bot my-bot
    arena analyse league --hands 3 --json
    arena analyse league --without random-python
    """  # noqa: D301 - \b is click's mark for lines to keep
    # Late: pandas is slow to load, and --help does not need it.
    from arena.exports.analysis import analysis_object, analysis_text  # noqa: PLC0415
    from arena.ratings.analysis import analyse_run  # noqa: PLC0415

    folder = run_folder(home, run)
    say(f"run {folder}")
    if read_run(folder).config.get("match"):
        say("note: the standings of this run count matches, but here each game counts separately")
    most = hands if hands is not None else 10 if bot else 1
    analysis = analyse_run(folder, prior, bot, most, without)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(analysis_object(analysis)), indent=2))
    else:
        shown = analysis_text(analysis, run or folder.name, columns_of(sys.stdout))
        tell_with_commands(printable(shown, keep="\n"))
