"""arena analyse: looks behind the standings of a run."""

import sys
from pathlib import Path

import click

from arena.cli.options import Rating, as_json, rating_options, run_argument, tell_json
from arena.cli.terminal import columns_of, say, tell_with_commands
from arena.commands.runs import named_run
from arena.errors import printable


@click.command()
@run_argument
@click.option("--bot", metavar="NAME", help="Also show each opponent of one bot.")
@rating_options("without", "prior")
@as_json
@click.pass_obj
def analyse(
    home: Path, /, run: str | None, bot: str | None, *, rating: Rating, as_json: bool
) -> None:
    """Look behind the standings of a run, by default the newest one.

    Does it matter who else sits at the table? What is each seat worth? How do games end? How long
    does each bot think, and on which machines were games played? Did anybody do better on deals
    that it had met before? Why did games break off without a bot's fault?

    \b
    arena analyse
    arena analyse league --bot my-bot
    arena analyse league --json
    arena analyse league --without random-python
    """  # noqa: D301 - \b is click's mark for lines to keep
    from arena.exports.analysis import analysis_object, analysis_text  # noqa: PLC0415
    from arena.ratings.analysis import analyse_run  # noqa: PLC0415

    opened = named_run(home, run)
    say(f"run {opened.folder}")
    if opened.info.counting.match:
        say("note: the standings of this run count matches, but here each game counts separately")
    analysis_result = analyse_run(opened.folder, opened.info, rating.prior, bot, rating.without)
    if as_json:
        tell_json(analysis_object(analysis_result))
    else:
        tell_with_commands(
            printable(analysis_text(analysis_result, columns_of(sys.stdout)), keep="\n")
        )
