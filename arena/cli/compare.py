"""arena compare: plays until it is clear whether one bot is better than another."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import click

from arena.cli import DONE, NO, UNDECIDED
from arena.cli.completion import complete_bots
from arena.cli.numbers import WholeNumber
from arena.cli.options import (
    as_json,
    default_option,
    one_argument,
    setting_options,
    split_bot_names,
    tell_json,
)
from arena.cli.progress import Progress
from arena.cli.run import Conduct, conduct_options, playing, run_path, status_of
from arena.cli.sections import SectionedCommand
from arena.cli.signals import AT_ONCE
from arena.cli.terminal import say, tell
from arena.commands.bots import blocks_of, request_comparison
from arena.commands.playing import Contest
from arena.errors import counted
from arena.exports import verdicts
from arena.exports.verdicts import llr_text
from arena.ratings.sequential import SequentialTest, Verdict
from arena.records.config import Comparison
from arena.records.journal import unplayed_text
from arena.tournament.runner import Runner
from arena.tournament.runs import Request
from arena.tournament.settings import MAX_BLOCKS, QUESTION, GivenOptions

SHOWN = (1, 2, 5)
"""A line of progress may be printed after 1, 2, 5, 10, 20, 50 ... blocks; these are the first
digits.
"""
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
@click.option(
    "--pool",
    callback=split_bot_names,
    metavar="BOT,...",
    help="Opponents for both; three and four players need some.  [default: NEW and OLD play each"
    " other]",
)
@click.option(
    "--games",
    type=WholeNumber(1),
    help=f"Stop undecided after this many games.  [default: those of {MAX_BLOCKS} blocks]",
)
@click.option("--max-blocks", type=WholeNumber(1), default=MAX_BLOCKS, hidden=True)
@setting_options("compare")
@conduct_options
@as_json
@click.pass_obj
def compare(
    home: Path,
    /,
    question: Comparison,
    pool: list[str] | None,
    options: GivenOptions,
    *,
    games: int | None,
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

    The answer comes first, with the difference in Elo and its 95 % interval. With -v you also see
    the log likelihood ratio (LLR) of the test, and the plain estimate of the Elo, which is biased.

    With --json, "looks" has what the test said after each round of blocks: its log likelihood
    ratio, and the plain Elo so far with the half-width of its 95 % interval.

    \b
    arena compare my-bot my-bot@1
    arena compare ./my-bot my-bot --elo1 30 --games 4000
    arena compare my-bot my-bot@1 --pool greedy-python,careful-python --players 3
    arena compare my-bot my-bot@1 --pool greedy,careful
    arena compare careful-16 careful-8
    """  # noqa: D301 - \b is click's mark for lines to keep
    options = {**options, "bots": pool or []}
    if games is not None:
        max_blocks = blocks_of(games, options)
    request = request_comparison(home, question, options, say, max_blocks=max_blocks)
    folder = run_path(home, options, request, finished=True)
    settled = play_comparison(folder, request, conduct, keeps_looks=as_json)
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
    return settled.ending(f"use a larger --games with --out {folder.name} to continue")


class FinishedComparison(NamedTuple):
    """A comparison of two bots, ``new`` and ``old``, whose games have been played as far as
    possible. ``folder`` is that of its run.
    """

    contest: Contest
    runner: Runner
    progress: Progress
    folder: Path
    new: str
    old: str

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
        """Prints what went wrong in the session, or, if nothing did but the comparison is
        undecided, "undecided: " and the sentence ``more``. Returns the exit status: DONE if the new
        bot is better, NO if the test decided that it is not, UNDECIDED, or, after trouble or an
        interruption, that of `status_of`.
        """
        verdict = self.contest.test.verdict
        is_settled = verdict != Verdict.UNDECIDED
        status = status_of(self.runner, self.folder, self.progress, is_settled=is_settled)
        if status == DONE:
            return DONE if verdict == Verdict.BETTER else NO
        if status is None:
            say(f"undecided: {more}")
        return UNDECIDED if status is None else status


def play_comparison(
    folder: Path, request: Request, conduct: Conduct, *, keeps_looks: bool
) -> FinishedComparison:
    """Plays the comparison of a request in ``folder`` until it is decided or cannot continue."""
    with playing(folder, request, conduct) as (play, progress):
        teller = _test_progress(progress, verbose=conduct.verbose)
        contest = Contest(play, teller, keeps_looks=keeps_looks)
        contest.play()
    new, old = request.bots[:2]
    return FinishedComparison(contest, play.runner, progress, folder, new=new.label, old=old.label)


def _test_progress(progress: Progress, *, verbose: bool) -> Callable[[SequentialTest], None]:
    """A callback that takes the sequential test and shows how far it is: a figure after the bar,
    and at some numbers of blocks a line.
    """
    shown = 0

    def show(test: SequentialTest) -> None:
        nonlocal shown
        is_decided = test.verdict != Verdict.UNDECIDED
        progress.figure("LLR", llr_text(test))
        if is_decided or is_shown(shown, test.blocks):
            blocks = counted(test.blocks, "block")
            # The bar of a terminal shows the ratio all the time.
            if verbose or not progress.has_bar:
                progress.say(f"{blocks}: LLR {llr_text(test)}")
            elif test.blocks >= MANY and not is_decided:
                progress.say(f"{blocks}: not clear yet")
        shown = test.blocks

    return show


def is_shown(before: int, now: int) -> bool:
    """Whether one of the numbers 1, 2, 5, 10, 20, 50 ... is above ``before`` and at
    most ``now``.
    """
    power = 10 ** (len(str(now)) - 1)
    return any(before < step * power <= now for step in SHOWN)
