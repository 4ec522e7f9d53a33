"""arena review: grades every decision in the games of a run."""

import re
import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from hashlib import sha256
from pathlib import Path

import click
from tqdm import tqdm

from arena.cli.completion import complete_runs
from arena.cli.numbers import WholeNumber
from arena.cli.options import OutputOptions, check_utf8, jobs_option, output_option, split_bot_names
from arena.cli.progress import LONG_S
from arena.cli.run import sandbox_options
from arena.cli.sections import BriefCommand
from arena.cli.terminal import columns_of, say, tell_with_commands
from arena.commands.playing import SandboxChoice
from arena.commands.review import MAX_DEALS, MIN_DEALS, Review, adviser, make_judge
from arena.commands.runs import named_run
from arena.errors import RunError, counted, printable
from arena.exports.grid import duration_text
from arena.match.grading import DEFAULT_DEALS, DEFAULT_JUDGE
from arena.records.grades import MAX_SEED
from arena.tournament.run import Run

GAME_ID = re.compile(r"[^/\s]+/[^/\s]+/[0-9]+/[0-9]+")
"""Matches the id of a game."""


@click.command(cls=BriefCommand)
@click.argument("words", nargs=-1, metavar="[RUN] [GAME]", shell_complete=complete_runs)
@click.option(
    "--bot",
    "bots",
    callback=split_bot_names,
    metavar="NAME,...",
    help="Grade only the decisions of these bots.",
)
@click.option(
    "--games",
    type=WholeNumber(1),
    help="Grade only this many games, drawn at random.  [default: all]",
)
@click.option(
    "--worst",
    type=WholeNumber(0),
    default=10,
    show_default=True,
    help="How many of the worst decisions to list.",
)
@click.option(
    "--judge",
    default=DEFAULT_JUDGE,
    show_default=True,
    metavar="NAME|BOT",
    help="The built-in bot that finishes the games, or a bot that says which move is better.",
)
@click.option(
    "--deals",
    type=WholeNumber(MIN_DEALS, MAX_DEALS),
    default=DEFAULT_DEALS,
    show_default=True,
    help="On how many deals a move is compared with the better one.",
)
@click.option(
    "--seed",
    default="0",
    show_default=True,
    callback=lambda context, parameter, text: _seed_number(check_utf8(context, parameter, text)),
    help="Text that determines the deals.",
)
@jobs_option
@sandbox_options
@output_option("all decisions")
@click.pass_obj
# One for each option.
def review(  # noqa: PLR0913
    home: Path,
    /,
    words: tuple[str, ...],
    *,
    bots: Sequence[str] | None,
    worst: int,
    jobs: int | None,
    choice: SandboxChoice,
    output: OutputOptions,
    judge: str,
    deals: int,
    seed: int,
    games: int | None,
) -> None:
    """Grade every decision in the games of a run. Without RUN it is the newest run; with GAME, only
    that game is graded.

    A judge plays the moves on deals that look the same to the seat: what it cannot see is dealt
    again, and the built-in bot named by --judge finishes the games for all seats. You see what each
    decision cost in % of a win, with its error, and which move would have been better. The judge is
    a judge of a certain strength: it may be wrong about bots that are stronger.

    If --judge names a bot of yours, its moves are the better ones. What they gain is still measured
    by careful-4, which finishes the games.

    The grades are kept in review.jsonl in the run's folder. If you repeat the command after an
    interruption, it continues with the game it was at. A game is left out as long as other games on
    its deal are still to be played.

    \b
    arena review league
    arena review league --bot my-bot --games 20 --worst 30
    arena review league bird/greedy-python+random-python/3/1
    arena review league --bot my-bot --judge ./strong-bot
    arena review league --judge careful-16 --deals 1000 --csv grades.csv
    """  # noqa: D301 - \b is click's mark for lines to keep
    output.check()
    run, game = _run_and_game(home, words)
    say(f"run {run.folder}")
    with adviser(home, run, judge, choice) as advised:
        finisher = make_judge(DEFAULT_JUDGE if advised else judge, deals, seed)
        graded_run = Review(run, finisher, adviser=advised, game=game, bots=bots or (), games=games)
        if graded_run.held_back:
            games_left = counted(graded_run.held_back, "game")
            say(f"note: {games_left} left out, because their deals are still being played")
        _grade(graded_run, jobs)
    _show_grades(graded_run, worst, output)


def _seed_number(text: str | None) -> int:
    """The seed of a judge for a text: the number in the text if it is one in the range of seeds,
    else a hash of the text; None stands for 0.
    """
    text = text or "0"
    with suppress(ValueError):  # int() refuses more than 4,300 digits
        if text.isdecimal() and int(text) <= MAX_SEED:
            return int(text)
    return int.from_bytes(sha256(text.encode()).digest()[:4]) % (MAX_SEED + 1)


def _run_and_game(home: Path, words: Sequence[str]) -> tuple[Run, str | None]:
    """The run that the words ``[RUN] [GAME]`` name, and the id of the game, None if none is named.
    A single word that names no run but is the id of a game means a game of the newest run. Raises
    UsageError, RunError.
    """
    if len(words) > 2:  # noqa: PLR2004
        raise click.UsageError(f"expected a run and the id of a game, got {' '.join(words)}")
    run = words[0] if words else None
    game = words[1] if len(words) > 1 else None
    try:
        return named_run(home, run), game
    except RunError:
        if game or not run or not GAME_ID.fullmatch(run):
            raise
        return named_run(home, None), run


def _show_grades(graded_run: Review, worst: int, output: OutputOptions) -> None:
    """Prints the grades, with at most ``worst`` of the costliest decisions, in the form that
    ``output`` asks for.
    """
    from arena.exports import files, review_text  # noqa: PLC0415 - pandas again

    bots, decisions, held_back = graded_run.result()
    about = (graded_run.run.name, graded_run.judge, bots, decisions)
    width = columns_of(sys.stdout)
    is_empty = "no decisions to grade" if decisions.empty else ""
    output.tell(
        "decisions",
        csv=lambda: files.csv_text(decisions),
        value=lambda: review_text.review_object(*about, held_back),
        show=lambda: tell_with_commands(
            is_empty or printable(review_text.review_text(*about, worst, width), keep="\n")
        ),
    )


def _grade(graded_run: Review, jobs: int | None) -> None:
    """Grades the missing decisions with ``jobs`` workers (None for one per core), with a progress
    bar on stderr.
    """
    if not graded_run.todo:
        return
    total = counted(graded_run.decisions, "decision")
    seconds = graded_run.estimated_s(jobs)
    if seconds > LONG_S:
        about = f"{total} to grade, about {duration_text(seconds)}"
        say(f"{about}; --games N grades fewer games, and what is graded is kept")
    tqdm.monitor_interval = 0
    bar = tqdm(total=graded_run.decisions, unit="decision", disable=None, leave=False)
    done = 0
    try:
        with closing(graded_run.grade(jobs)) as grades, bar:
            for done, _ in enumerate(grades, 1):  # noqa: B007 - the number is shown after Ctrl-C
                bar.update()
    except KeyboardInterrupt:
        say(f"{done} of {total} graded; the same command continues with the game it was at")
        raise
