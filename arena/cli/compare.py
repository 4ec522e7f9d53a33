"""arena compare: plays until it is clear whether one bot is better than another."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import click

from arena.cli import DONE, NO, UNDECIDED
from arena.cli.completion import complete_bots
from arena.cli.numbers import Number, WholeNumber
from arena.cli.options import (
    as_json,
    default_option,
    one_argument,
    pool_option,
    setting_options,
    tell_json,
)
from arena.cli.progress import Progress
from arena.cli.run import Conduct, conduct_options, playing, run_path, show_troubles, status_of
from arena.cli.sections import SectionedCommand
from arena.cli.signals import AT_ONCE
from arena.cli.terminal import say, tell
from arena.commands.playing import Contest
from arena.commands.requests import blocks_of, request_comparison
from arena.errors import counted
from arena.exports import verdicts
from arena.exports.verdicts import llr_text
from arena.ratings.sequential import SequentialTest, Verdict
from arena.records.config import Comparison
from arena.records.journal import unplayed_text
from arena.tournament.next_games import ComparedGames
from arena.tournament.runner import Runner
from arena.tournament.runs import Request
from arena.tournament.settings import MAX_BLOCKS, QUESTION, GivenOptions

SHOWN = (1, 2, 5)
"""A line of progress may be printed after 1, 2, 5, 10, 20, 50 ... blocks; these are the first
digits.
"""
WEAK_POOL = (
    "note: both win or lose nearly all games against this pool, which tells little about the"
    " difference: choose opponents of about their own strength"
)
MANY = 100
"""From this many blocks on, "not clear yet" is printed now and then, so that the user sees that the
comparison runs.
"""


@click.command(cls=SectionedCommand)
@one_argument(
    "question",
    Comparison,
    click.argument("new", shell_complete=complete_bots),
    click.argument("old", shell_complete=complete_bots),
    *map(default_option, QUESTION),
    names=Comparison.__struct_fields__,
)
@pool_option("NEW and OLD", "OLD")
@click.option(
    "--games",
    type=WholeNumber(1),
    help=f"Stop undecided after this many games.  [default: those of {MAX_BLOCKS} blocks]",
)
@click.option(
    "--minutes",
    type=Number(0, min_open=True),
    help="Stop after this many minutes, and say how far the comparison has come.",
)
@click.option("--max-blocks", type=WholeNumber(1), default=MAX_BLOCKS, hidden=True)
@setting_options("compare")
@conduct_options
@as_json
@click.pass_obj
def compare(  # noqa: PLR0913 - its options
    home: Path,
    /,
    question: Comparison,
    pool: list[str] | None,
    options: GivenOptions,
    *,
    games: int | None,
    minutes: float | None,
    max_blocks: int,
    conduct: Conduct,
    as_json: bool,
) -> int:
    """Play until it is clear whether NEW is better than OLD. The exit status is 0 for better, 4 for
    not better, 5 for undecided.

    NEW and OLD are names of bots, or paths of a bot's folder or script. They and the pool may be
    built-in bots: see 'arena run --help'.

    They play blocks of games. A block is one deal in every rotation of seats: without a pool, NEW
    and OLD play each other with seats swapped; with a pool, both play the same deals in the same
    seats against the same opponents. After each round of blocks, a sequential test (GSPRT) decides
    whether the difference is more like elo1 or elo0, or needs more blocks. If the true difference
    lies between the two, either answer is possible, and the test takes longest.

    Repeat the command to continue after an interruption, or to see the answer again. The answer
    depends only on the blocks in the order of their deals, not on workers or interruptions. Use
    --out NAME to start afresh.

    After the first block, a forecast says how many games it takes, and how long, if the two are
    close or far apart. Lines of progress say in which range the number of games left lies with a
    probability of 80 %.

    The answer begins with the difference in Elo and its 95 % interval. With -v you also see
    the log likelihood ratio (LLR) of the test, and the plain estimate of the Elo, which is biased.

    With --json, "looks" has what the test said after each round of blocks: its log likelihood
    ratio, and the plain Elo so far with the half-width of its 95 % interval.

    \b
    arena compare my-bot my-bot@1
    arena compare ./my-bot my-bot --elo1 30 --games 4000
    arena compare ./my-bot my-bot --minutes 10
    arena compare my-bot my-bot@1 --pool greedy-python,careful-python --players 3
    arena compare my-bot my-bot@1 --pool greedy,careful
    arena compare careful-16 careful-8
    """  # noqa: D301 - \b is click's mark for lines to keep
    options = {**options, "bots": pool or []}
    if games is not None:
        max_blocks = blocks_of(games, options)
    request = request_comparison(home, question, options, say, max_blocks=max_blocks)
    folder = run_path(home, options, request, finished=True)
    if not pool:
        conduct = for_copies_of_old(conduct, request)
    settled = play_comparison(folder, request, conduct, keeps_looks=as_json, minutes=minutes)
    if settled.runner.stop_level < AT_ONCE and (as_json or not settled.is_empty):
        if as_json:
            tell_json(settled.object())
        else:
            contest = settled.contest
            text = verdicts.verdict_text(
                contest.test,
                settled.new,
                settled.old,
                contest.games,
                is_wide=conduct.verbose,
                is_same=contest.is_same,
            )
            tell(text)
            if request.config.pool and verdicts.is_weak_pool(contest.test):
                say(WEAK_POOL)
    return settled.ending(f"use a larger --games with --out {folder.name} to continue")


def for_copies_of_old(conduct: Conduct, request: Request) -> Conduct:
    """``conduct`` for a comparison without a pool: the copies of the old bot, if there are any,
    have the trust and the grants of that bot.
    """
    old, *copies = request.bots[1:]
    if not copies:
        return conduct
    return conduct._replace(choice=conduct.choice.for_copies(old, [old, *copies]))


class FinishedComparison(NamedTuple):
    """A comparison of two bots, ``new`` and ``old``, whose games have been played as far as
    possible. ``folder`` is that of its run. ``minutes`` is the time after which the comparison was
    stopped; None if it was not stopped for that reason.
    """

    contest: Contest
    runner: Runner
    progress: Progress
    folder: Path
    new: str
    old: str
    minutes: float | None = None

    @property
    def is_empty(self) -> bool:
        """Whether the games say nothing about the bots: a bot of the run was excluded, or there are
        games and every one of them ended by forfeit. Raises RunError.
        """
        return bool(self.runner.broken or unplayed_text(self.folder))

    def object(self) -> dict[str, Any]:
        """The verdict and the evidence for it, as an object for JSON."""
        contest = self.contest
        return verdicts.verdict_object(
            contest.test, self.new, self.old, contest.games, contest.looks, is_same=contest.is_same
        )

    def ending(self, more: str) -> int:
        """Prints what went wrong in the session and, if the comparison is undecided, why: it was
        stopped after its ``minutes``, or the sentence ``more``. Returns the exit status: DONE if
        the new bot is better, NO if the test decided that it is not, UNDECIDED, or, after trouble
        or an interruption, that of `status_of`.
        """
        verdict = self.contest.test.verdict
        is_settled = verdict != Verdict.UNDECIDED
        if self.minutes is not None and not is_settled and self.runner.stop_level < AT_ONCE:
            show_troubles(self.runner, self.folder, progress=self.progress)
            contest = self.contest
            how_far = verdicts.how_far_text(contest.test, self.new, self.old, contest.block_size)
            say(f"stopped after {self.minutes:g} min: {how_far}; repeat the command to continue")
            return UNDECIDED
        status = status_of(self.runner, self.folder, self.progress, is_settled=is_settled)
        if status == DONE:
            return DONE if verdict == Verdict.BETTER else NO
        if status is None:
            say(f"undecided: {more}")
        return UNDECIDED if status is None else status


def play_comparison(
    folder: Path,
    request: Request,
    conduct: Conduct,
    *,
    keeps_looks: bool,
    minutes: float | None = None,
) -> FinishedComparison:
    """Plays the comparison of a request in ``folder`` until it is decided or cannot continue, for
    at most this many ``minutes`` (None: any time). With ``keeps_looks``, the state of the test
    after each round of blocks is kept, which the JSON of the comparison needs.
    """
    is_late = threading.Event()
    with playing(folder, request, conduct) as (play, progress):

        def stop() -> None:
            """Stops the comparison after the running games, unless the user has stopped it."""
            if play.runner.stop_level == 0:
                is_late.set()
                play.runner.request_stop()

        games_a_block = ComparedGames(play.session.run.schedule, lambda _: False).block_size
        teller = _test_progress(progress, games_a_block, verbose=conduct.verbose)
        contest = Contest(play, teller, keeps_looks=keeps_looks)
        timer = threading.Timer(60 * (minutes or 0), stop)
        timer.daemon = True
        if minutes is not None:
            timer.start()
        try:
            contest.play()
        finally:
            timer.cancel()
    new, old = request.bots[:2]
    return FinishedComparison(
        contest,
        play.runner,
        progress,
        folder,
        new=new.label,
        old=old.label,
        minutes=minutes if is_late.is_set() else None,
    )


def _test_progress(
    progress: Progress, games_a_block: int, *, verbose: bool
) -> Callable[[SequentialTest], None]:
    """A callback that takes the sequential test and shows how far it is: a figure after the bar,
    and at some numbers of blocks a line. After the first blocks of a session, a line says what the
    comparison costs. ``games_a_block`` is the number of games in a block.
    """
    shown = 0
    has_bill = False

    def show(test: SequentialTest) -> None:
        nonlocal shown, has_bill
        is_decided = test.verdict != Verdict.UNDECIDED
        progress.figure("LLR", llr_text(test))
        if not (has_bill or is_decided) and progress.has_times:
            has_bill = True
            progress.say(verdicts.bill_text(test, games_a_block, progress.seconds_for))
        if is_decided or is_shown(shown, test.blocks):
            blocks = counted(test.blocks, "block")
            left = "" if is_decided else verdicts.left_text(test, games_a_block)
            # The bar of a terminal shows the ratio and the games left all the time.
            progress.figure("left", left.partition(" more")[0] or "0")
            if verbose or not progress.has_bar:
                progress.say(f"{blocks}: LLR {llr_text(test)}{f', {left}' if left else ''}")
            elif test.blocks >= MANY and not is_decided:
                progress.say(f"{blocks}: not clear yet, {left}")
        shown = test.blocks

    return show


def is_shown(before: int, now: int) -> bool:
    """Whether one of the numbers 1, 2, 5, 10, 20, 50 ... is above ``before`` and at
    most ``now``.
    """
    power = 10 ** (len(str(now)) - 1)
    return any(before < step * power <= now for step in SHOWN)
