"""arena check, arena verify and arena review: whether a bot follows the protocol, whether a run
follows its plan and the rules, and what each decision of its games cost.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import click
from tqdm import tqdm

from arena.cli import DONE, FAILED
from arena.cli.numbers import WholeNumber
from arena.cli.options import (
    Showing,
    as_json,
    check_utf8,
    default_option,
    jobs_option,
    prior_option,
    run_argument,
    showing_option,
    split_bot_names,
    tell_json,
)
from arena.cli.progress import LONG_S, duration_text
from arena.cli.run import sandbox_options
from arena.cli.sections import BriefCommand
from arena.cli.terminal import columns_of, say, tell, tell_with_commands
from arena.commands.bots import bot_to_check, note_same_files, registry_of
from arena.commands.checks import remember_passed
from arena.commands.playing import SandboxChoice
from arena.commands.review import (
    DEFAULT_DEALS,
    DEFAULT_JUDGE,
    LEAST_DEALS,
    MOST_DEALS,
    Review,
    adviser,
    make_judge,
)
from arena.commands.runs import run_folder
from arena.errors import RunError, counted, printable
from arena.match.bench import thinking_s
from arena.match.check import StepResult, check_bot, check_object
from arena.players.aftermath import without_quoted
from arena.players.folder import Bot
from arena.players.labels import odds_of
from arena.players.sandbox.tiers import Sandbox
from arena.records.grades import MOST_SEED
from arena.records.journal import COMPRESSED, journal_of

if TYPE_CHECKING:
    from arena.exports.verify import CheckedRun


SHOWN_DIFFERENCES = 20
SAMPLED = (
    "note: {} games were not replayed; for these, only the format, ids, places in the plan, bots,"
    " decks, and evidence of faults were checked, and that no game is there twice"
)


@click.command(cls=BriefCommand)
@click.argument("path", metavar="PATH|BOT")
@default_option("move_ms")
@sandbox_options
@as_json
@click.pass_obj
def check(home: Path, /, path: str, move_ms: int, *, choice: SandboxChoice, as_json: bool) -> int:
    """Check a bot step by step. The steps, about forty, are its start, games on both boards in
    every seat, everything the protocol may send, and a clean end.

    PATH is a bot's folder or script, or the name of a bot in bots/. You see one line per step, with
    the cure below each failure. The exit status is 1 if any step fails.

    One game is played at --move-ms, the others at 20 ms a move, or more if the bot needs it. A bot
    that always uses all its time is done in about 20 seconds, most bots in a few. After two minutes
    more the check stops, and names the steps that it did not try.

    With --json, each step says whether it passed, what was expected, what came, the cure and how
    long it took.

    \b
    arena check my-bot
    arena check my-bot/bot.py --move-ms 100
    """  # noqa: D301 - \b is click's mark for lines to keep
    bot = bot_to_check(home, path, say)
    note_same_files(registry_of(home), bot, say)
    sandbox = choice.sandbox_for([bot])
    if not as_json:
        return DONE if run_checks(home, bot, move_ms, sandbox, only_failures=False) else FAILED
    steps = list(_steps(bot, move_ms, sandbox))
    if all(step.passed for step in steps):
        remember_passed(home, bot, move_ms, sandbox)
    shown = check_object(bot, move_ms, sandbox, steps)
    tell_json(shown)
    return DONE if shown["passed"] else FAILED


def run_checks(
    home: Path, bot: Bot, move_ms: int, sandbox: Sandbox, *, only_failures: bool
) -> bool:
    """Prints the steps of a check; returns whether none failed."""
    passed = failed = left_out = 0
    for step in _steps(bot, move_ms, sandbox):
        passed += step.passed is True
        failed += step.passed is False
        left_out += step.left_out
        if step.passed is not True or not only_failures:
            _show_step(step)
    if not failed and not left_out:
        remember_passed(home, bot, move_ms, sandbox)
    if not only_failures:
        tell(f"{bot.label}: {passed} steps passed, {failed} failed")
    return failed == 0


def _steps(bot: Bot, move_ms: int, sandbox: Sandbox) -> Iterator[StepResult]:
    """The steps, after a word on how long they may take."""
    full_ms = odds_of(bot.label).move_ms or move_ms
    seconds = thinking_s(full_ms)
    if seconds > LONG_S:
        say(f"this may take {duration_text(seconds)}, if the bot uses all its time")
    return check_bot(bot, move_ms, sandbox)


def _show_step(step: StepResult) -> None:
    if step.passed is False:
        problem = printable(step.problem, keep="\n")
        tell(f"{click.style('FAIL', fg='red')}  {step.name}\n      {problem}", "")
        for line in without_quoted(step.stderr, step.problem):
            tell(f"      stderr: {printable(line)}", "")
        if step.cure:
            tell("      cure: " + printable(step.cure, keep="\n"), "")
        return
    ok = click.style("ok", fg="green") + "  "
    mark = click.style("left out", fg="yellow") if step.left_out else ok
    detail = f": {printable(step.detail)}" if step.detail else ""
    tell(f"{mark}  {step.name}{detail}", "      ")


@click.command()
@run_argument
@click.option(
    "--sample",
    type=WholeNumber(1),
    metavar="N",
    help="Replay only N games, chosen at random.  [default: all]",
)
@click.option(
    "--seed",
    callback=check_utf8,
    metavar="TEXT",
    help="Determines the sample: the same text gives the same games.  [default: 1]",
)
@prior_option
@as_json
@click.pass_obj
def verify(
    home: Path,
    /,
    run: str | None,
    sample: int | None,
    seed: str | None,
    prior: float | None,
    *,
    as_json: bool,
) -> int:
    """Check a run against its plan and the rules. Every game of the run, by default the newest
    one, is replayed, and everything in its folder that can be checked is checked.

    This checks records against their schema, ids against the plan, decks against the seed, results
    against the moves, faults against their evidence, the copies of the bots against their hashes,
    and each table in the folder against the journal. If the tables were written with a --prior
    other than the default, use the same one here. Values that follow from nothing else, such as
    times, are only compared with the tables. The exit status is 1 if anything differs.

    With --sample, only the chosen games are replayed; everything else is checked as usual. If one
    game in a hundred is wrong, a sample of 500 misses all of them in fewer than one case in a
    hundred. Nobody who writes a run can know which games a new --seed will choose.

    \b
    arena verify
    arena verify league --json
    arena verify league --sample 1000 --seed "$(date)"
    """  # noqa: D301 - \b is click's mark for lines to keep
    # Pandas is slow to load, and --help does not need it; so in review.
    from arena.exports.verify import Sample, verify_run  # noqa: PLC0415

    if seed is not None and sample is None:
        raise click.UsageError(
            "expected --sample with --seed, because without --sample every game is replayed"
        )
    folder = run_folder(home, run)
    say(f"run {folder}")
    journal = journal_of(folder)
    # the decompressed journal is longer
    size = journal.stat().st_size if journal.exists() and journal.suffix != COMPRESSED else None
    tqdm.monitor_interval = 0
    with tqdm(total=size, unit="B", unit_scale=True, disable=None, leave=False) as bar:
        chosen = None if sample is None else Sample(sample, seed or "1")
        verdict = verify_run(folder, prior, lambda size: bar.update(size - bar.n), chosen)
    if as_json:
        differences = [difference._asdict() for difference in verdict.differences]
        tell_json({**verdict._asdict(), "differences": differences})
    else:
        _show_verdict(verdict, is_sample=sample is not None)
    return FAILED if verdict.differences else DONE


def _show_verdict(verdict: "CheckedRun", *, is_sample: bool) -> None:
    for difference in verdict.differences[:SHOWN_DIFFERENCES]:
        tell(printable(str(difference)))
    if len(verdict.differences) > SHOWN_DIFFERENCES:
        tell(f"and {len(verdict.differences) - SHOWN_DIFFERENCES} more; use --json to list them")
    for note in verdict.notes:
        tell(f"note: {printable(note)}")
    if is_sample:
        tell(SAMPLED.format(verdict.games - verdict.replayed))
    found = f"{len(verdict.differences)} differences" if verdict.differences else "no difference"
    compared = f"{verdict.bots} bots and {len(verdict.tables)} tables compared"
    tell(f"{verdict.replayed} games replayed, {compared}: {found}")


GAME_ID = re.compile(r"[^/\s]+/[^/\s]+/[0-9]+/[0-9]+")


@click.command(cls=BriefCommand)
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
    type=WholeNumber(LEAST_DEALS, MOST_DEALS),
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
@showing_option("all decisions")
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
    showing: Showing,
    judge: str,
    deals: int,
    seed: int,
    games: int | None,
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
    showing.check()
    folder, game = _run_and_game(home, words)
    say(f"run {folder}")
    with adviser(home, folder, judge, choice) as advised:
        finisher = make_judge(DEFAULT_JUDGE if advised else judge, deals, seed)
        found = Review(folder, finisher, adviser=advised, game=game, bots=bots or (), games=games)
        if found.held_back:
            games_left = counted(found.held_back, "game")
            say(f"note: {games_left} left out, because their deals are still being played")
        _grade(found, jobs)
    _show_grades(found, folder, worst, showing)


def _seed_number(text: str | None) -> int:
    """The number that a judge starts from: a number within its range stands for itself."""
    text = text or "0"
    if text.isdecimal() and int(text) <= MOST_SEED:
        return int(text)
    return int.from_bytes(sha256(text.encode()).digest()[:4]) % (MOST_SEED + 1)


def _run_and_game(home: Path, words: Sequence[str]) -> tuple[Path, str | None]:
    """The run, and the game if one is named. Raises UsageError, RunError."""
    if len(words) > 2:  # noqa: PLR2004
        raise click.UsageError(f"expected a run and the id of a game, got {' '.join(words)}")
    run, game = [*words, None, None][:2]
    try:
        return run_folder(home, run), game
    except RunError:
        if game or not run or not GAME_ID.fullmatch(run):
            raise
        return run_folder(home, None), run


def _show_grades(found: Review, folder: Path, worst: int, showing: Showing) -> None:
    """Prints what was found out, and writes it to a CSV file if asked to."""
    from arena.exports import analysis, files  # noqa: PLC0415 - pandas again

    bots, decisions, held_back = found.result()
    about = (folder.name, found.judge, bots, decisions)
    width = columns_of(sys.stdout)
    is_empty = "no decisions to grade" if decisions.empty else ""
    showing.tell(
        "decisions",
        csv=lambda: files.csv_text(decisions),
        value=lambda: analysis.review_object(*about, held_back),
        show=lambda: tell_with_commands(
            is_empty or printable(analysis.review_text(*about, worst, width), keep="\n")
        ),
    )


def _grade(found: Review, jobs: int | None) -> None:
    """Grades what is missing, with a progress bar on stderr."""
    if not found.todo:
        return
    total = counted(found.decisions, "decision")
    seconds = found.estimated_s(jobs)
    if seconds > LONG_S:
        about = f"{total} to grade, about {duration_text(seconds)}"
        say(f"{about}; --games N grades fewer games, and what is graded is kept")
    tqdm.monitor_interval = 0
    bar = tqdm(total=found.decisions, unit="decision", disable=None, leave=False)
    done = 0
    try:
        with closing(found.grade(jobs)) as grades, bar:
            for done, _ in enumerate(grades, 1):  # noqa: B007 - the number is shown after Ctrl-C
                bar.update()
    except KeyboardInterrupt:
        say(f"{done} of {total} graded; the same command goes on with the game it was at")
        raise
