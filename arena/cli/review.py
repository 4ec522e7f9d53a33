"""arena review: what each decision of a run's games cost."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from arena.cli.options import as_json, jobs_option, sandbox_options, split_bot_names
from arena.cli.showing import check_output
from arena.cli.terminal import say
from arena.commands.allowing import SandboxChoice
from arena.commands.asking import adviser
from arena.commands.folders import run_folder
from arena.errors import RunError
from arena.records.review import MOST_SEED

GAME_ID = re.compile(r"[^/\s]+/[^/\s]+/[0-9]+/[0-9]+")
MOST_WORDS = 2


@click.command()
@click.argument("words", nargs=-1, metavar="[RUN] [GAME]")
@click.option(
    "--bot",
    "bots",
    callback=split_bot_names,
    metavar="NAME,...",
    help="Grade only the decisions of these bots.",
)
@click.option(
    "--games",
    type=click.IntRange(1),
    help="Grade only this many games, drawn at random.  [default: all]",
)
@click.option(
    "--worst",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    help="How many of the worst decisions to list.",
)
@click.option(
    "--judge",
    default="careful-4",
    show_default=True,
    metavar="NAME|BOT",
    help="The built-in bot that finishes the games, or a bot that says which move is better.",
)
@click.option(
    "--deals",
    type=click.IntRange(10, 1_000_000),
    default=400,
    show_default=True,
    help="On how many deals a move is compared with the better one.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, MOST_SEED),
    default=0,
    show_default=True,
    help="Another seed gives other deals.",
)
@jobs_option
@click.option(
    "--csv",
    "csv_path",
    metavar="FILE|-",
    help="Write all decisions as CSV to a file, or '-' for stdout.",
)
@sandbox_options
@as_json
@click.pass_obj
def review(
    home: Path,
    /,
    words: tuple[str, ...],
    *,
    bots: Sequence[str] | None,
    worst: int,
    jobs: int | None,
    csv_path: str | None,
    choice: SandboxChoice,
    as_json: bool,
    **asked: Any,
) -> None:
    """Grade every decision in the games of a run. That is the newest one if you name none; with
    GAME, only that game is graded.

    A judge plays the moves on deals that look the same to the seat: what it cannot see is dealt
    again, and the built-in bot named by --judge finishes the games for all seats. You see what each
    decision cost in % of a win, with its error, and which move would have been better. The judge is
    a judge of a certain strength: it may be wrong about bots that are stronger.

    If --judge names a bot of yours, its moves are the better ones. What they gain is still measured
    by careful-4, which finishes the games.

    The grades are kept in review.jsonl in the run's folder. An interrupted review goes on where it
    was. Games of deals that are still to be played wait.

    \b
    arena review league
    arena review league --bot my-bot --games 20 --worst 30
    arena review league bird/greedy-python+random-python/3/1
    arena review league --bot my-bot --judge ./strong-bot
    arena review league --judge careful-16 --deals 1000 --csv grades.csv
    """  # noqa: D301 - \b is click's mark for lines to keep
    check_output(csv_path, as_json=as_json)
    folder, game = _named(home, words)
    say(f"run {folder}")
    with adviser(home, folder, asked["judge"], choice) as advised:
        # Late: pandas is slow to load, and --help does not need it.
        from arena.cli.grades import graded, show_grades  # noqa: PLC0415

        found = graded(folder, advised, jobs, game=game, bots=bots or (), **asked)
    show_grades(found, folder, worst, csv_path, as_json=as_json)


def _named(home: Path, words: Sequence[str]) -> tuple[Path, str | None]:
    """The run, and the game if one is named. Raises UsageError, RunError."""
    if len(words) > MOST_WORDS:
        raise click.UsageError(f"expected a run and the id of a game, got {' '.join(words)}")
    if len(words) == MOST_WORDS:
        return run_folder(home, words[0]), words[1]
    try:
        return run_folder(home, words[0] if words else None), None
    except RunError:
        if not words or not GAME_ID.fullmatch(words[0]):
            raise
        return run_folder(home, None), words[0]
