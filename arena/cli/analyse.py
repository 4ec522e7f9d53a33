"""arena analyse: what is behind the standings of a run."""

from pathlib import Path

import click

from arena.cli.options import as_json, prior_option, run_argument, without_option
from arena.cli.terminal import say
from arena.commands.folders import run_folder
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
@click.option(
    "--qin",
    is_flag=True,
    help="Say what the games tell about Qin instead, whoever played them; see above.",
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
    qin: bool,
    as_json: bool,
) -> None:
    """Look behind the standings of a run, by default the newest one.

    Does one rating per bot explain the results, or do some pairs not fit, or three bots beat each
    other in a circle? Does it matter who else sits at the table? What is each seat worth? How long
    does each bot think, and when in a game? Did bots win as often as their notes said? And which
    hands did others play better, on the same deal and in the same seat? For these you get the
    commands to replay both games.

    --qin looks at the game instead of the bots. It plays all games again: which first placements
    did well? What are seats, villages and major provinces worth? What do winners do more often, and
    how much do the tiles decide?

    \b
    arena analyse
    arena analyse league --bot my-bot
    arena analyse league --hands 3 --json
    arena analyse league --without random-python
    arena analyse league --qin
    """  # noqa: D301 - \b is click's mark for lines to keep
    if qin and (bot or hands is not None):
        raise click.UsageError("--qin looks at the game, so leave out --bot and --hands")
    folder = run_folder(home, run)
    say(f"run {folder}")
    if read_run(folder).config.get("match"):
        say("note: the standings of this run count matches, but here each game counts separately")
    # Late: pandas is slow to load, and --help does not need it.
    from arena.cli.findings import show_analysis, show_qin  # noqa: PLC0415

    if qin:
        show_qin(folder, prior, without, as_json=as_json)
        return
    most = hands if hands is not None else 10 if bot else 1
    show_analysis(folder, prior, bot, most, without, named=run or folder.name, as_json=as_json)
