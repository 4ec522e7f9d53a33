"""arena compare: plays until it is clear whether a bot's new version is better than the old one."""

import sys
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast, get_args

import click
from msgspec.structs import replace

from arena.cli import DONE, FAILED, INTERRUPTED, NO, UNDECIDED
from arena.cli.options import Command, as_json, split_bot_names
from arena.cli.place import Conduct, conduct_options
from arena.cli.playing import playing, run_path, show_troubles
from arena.cli.progress import Progress
from arena.cli.settings import setting_options
from arena.cli.showing import json_text
from arena.cli.terminal import columns_of, folded, is_unicode, say
from arena.commands.contest import Contest
from arena.commands.request import MOST_BLOCKS, request_comparison
from arena.errors import counted
from arena.exports.pen import ASCII, Pen
from arena.exports.verdicts import elo_text, gauge_text, llr_text, verdict_object, verdict_text
from arena.ratings.sequential import BlockTest, Verdict
from arena.tournament.config import DEFAULTS, Basis, Comparison
from arena.tournament.request import Request, RunOptions
from arena.tournament.runner import Runner
from arena.tournament.session import Session

if TYPE_CHECKING:
    from arena.ratings.estimates import Look

SHOWN = (1, 2, 5)
"""A line of progress is shown after this many blocks, and ten times, a hundred times as many."""

FIRST_S, EVERY_S = 5.0, 2.0
"""When the Elo is first worked out for the terminal, and how often then."""
FOR_GAMES = 16
"""The number of games takes so much of a line."""

chance = click.FloatRange(0, 0.5, min_open=True, max_open=True)


QUESTION = {
    "elo0": (float, '"Not better" is a difference of at most about this.'),
    "elo1": (float, '"Better" is a difference of at least about this.'),
    "alpha": (chance, 'How often "better" may be wrong if the difference is elo0.'),
    "beta": (chance, 'How often "not better" may be wrong if the difference is elo1.'),
    "by": (
        click.Choice(get_args(Basis)),
        "What decides: who won, or by how much; margins take fewer games.",
    ),
}
"""The type and the help of what a sequential test is asked."""


def question_options(command: Command) -> Command:
    """NEW, OLD, ``--elo0``, ``--elo1``, ``--alpha`` and ``--beta``, as one argument ``question``,
    which names the bots as the user does.
    """

    @wraps(command)
    def wrapped(*args: Any, **options: Any) -> Any:
        question = Comparison(**{name: options.pop(name) for name in Comparison.__struct_fields__})
        return command(*args, question=question, **options)

    for option in (
        *(_question_option(name) for name in reversed(QUESTION)),
        click.argument("old"),
        click.argument("new"),
    ):
        wrapped = option(wrapped)
    return cast("Command", wrapped)


def _question_option(name: str) -> Callable[[Command], Command]:
    kind, text = QUESTION[name]
    return click.option(
        f"--{name}", type=kind, default=DEFAULTS[name], show_default=True, help=text
    )


@click.command()
@question_options
@click.option(
    "--pool",
    callback=split_bot_names,
    metavar="BOT,...",
    help="Opponents for both; three and four players need some.  [default: NEW and OLD play each"
    " other]",
)
@click.option(
    "--max-blocks",
    type=click.IntRange(1),
    default=MOST_BLOCKS,
    show_default=True,
    help="Stop undecided after this many blocks.",
)
@click.option(
    "--null", is_flag=True, help="Let OLD play against itself, to see what noise looks like."
)
@setting_options(
    "players", "boards", "board_files", "seed", "move_ms", "game_ms", "increment_ms", "clock",
    "startup_ms", "in_process", "out",
)  # fmt: skip
@click.option(
    "--match", hidden=True, expose_value=False, callback=lambda *given: _refuse_match(given[-1])
)
@conduct_options
@as_json
@click.pass_obj
def compare(
    home: Path,
    /,
    question: Comparison,
    pool: list[str] | None,
    options: RunOptions,
    *,
    max_blocks: int,
    null: bool,
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
    whether the difference is more like elo1 or elo0, or needs more blocks. If it lies in between,
    either answer may come, and it takes longest.

    Repeat the command to continue after an interruption, or to see the answer again. The answer
    depends only on the blocks in the order of their deals, not on workers or interruptions. Use
    --out NAME to start afresh.

    With --json, "looks" has what the test said after each round of blocks: its log likelihood
    ratio, and the plain Elo so far with the half-width of its 95 % interval.

    \b
    arena compare my-bot my-bot@1
    arena compare ./my-bot my-bot --elo1 30 --max-blocks 2000
    arena compare my-bot my-bot@1 --pool greedy-python,careful-python --players 3
    arena compare my-bot my-bot@1 --pool greedy,careful
    arena compare careful-16 careful-8
    """  # noqa: D301 - \b is click's mark for lines to keep
    options = replace(options, bots=pool)
    request = request_comparison(home, question, options, say, max_blocks=max_blocks, null=null)
    folder = run_path(home, options, request, finished=True)
    settled = settle(folder, request, conduct, keeps_looks=as_json)
    click.echo(
        json_text(settled.object()) if as_json else folded(settled.text(), columns_of(sys.stdout))
    )
    return settled.ending()


class Settled(NamedTuple):
    """A comparison of two bots that has been played, as far as it could be."""

    contest: Contest
    runner: Runner
    folder: Path
    new: str
    old: str

    def text(self) -> str:
        """The verdict and the evidence for it."""
        return verdict_text(self.contest.test, self.new, self.old, self.contest.games)

    def object(self) -> dict[str, Any]:
        """The same for JSON."""
        contest = self.contest
        return verdict_object(contest.test, self.new, self.old, contest.games, contest.looks)

    def ending(self, more: str = "") -> int:
        """Says what went wrong in the session, and how to play ``more`` where that is another
        command's to say; returns the exit status.
        """
        show_troubles(self.runner, self.folder)
        if self.contest.test.verdict != Verdict.UNDECIDED:
            return DONE if self.contest.test.verdict == Verdict.BETTER else NO
        if self.runner.voided:
            return FAILED
        if self.runner.stop_level:
            say(f"interrupted: repeat the same command to continue in {self.folder}")
            return INTERRUPTED
        more = more or f"use a larger --max-blocks with --out {self.folder.name} to continue"
        say(f"undecided: {more}")
        return UNDECIDED


def settle(folder: Path, request: Request, conduct: Conduct, *, keeps_looks: bool) -> Settled:
    """Plays the comparison in a folder until it is decided or cannot go on."""
    with playing(folder, request, conduct, _headline) as (play, progress):
        contest = Contest(play.session, play.missing(), _Teller(progress), keeps_looks=keeps_looks)
        contest.play(play.runner)
    new, old = (bot.label for bot in request.bots[:2])
    return Settled(contest, play.runner, folder, new, old)


def _refuse_match(match: str | None) -> None:
    if match is not None:
        raise click.UsageError(
            "expected a comparison without --match, because it counts single games; --boards"
            " bird,lion plays on both"
        )


class _Teller:
    """Shows how far the test of a comparison is, on stderr: as a line now and then, and on a
    terminal as a gauge.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._blocks = 0
        self._look: Look | None = None
        self._next = time.monotonic() + FIRST_S

    def __call__(self, test: BlockTest) -> None:
        is_decided = test.verdict != Verdict.UNDECIDED
        if is_decided or is_shown(self._blocks, test.blocks):
            self._progress.say(f"{counted(test.blocks, 'block')}: LLR {llr_text(test)}")
        self._blocks = test.blocks
        if columns := self._progress.columns:
            self._draw(test, columns)

    def _draw(self, test: BlockTest, columns: int) -> None:
        if time.monotonic() >= self._next:
            # Scipy takes half a second to load: a short comparison does without the Elo.
            from arena.ratings.estimates import look_at  # noqa: PLC0415

            self._look = look_at(test, self._look)
            self._next = time.monotonic() + EVERY_S
        pen = Pen() if is_unicode(sys.stderr) else ASCII
        elo = elo_text(self._look) if self._look else ""
        gauge = gauge_text(test, columns - len(elo) - FOR_GAMES, pen)
        self._progress.describe(f"{gauge}{elo}, ")


def is_shown(before: int, now: int) -> bool:
    """Whether one of 1, 2, 5, 10, 20, 50 ... blocks has been reached."""
    power = 10 ** (len(str(now)) - 1)
    return any(before < step * power <= now for step in SHOWN)


def _headline(session: Session) -> str:
    config = session.config
    assert config.compare is not None, "a comparison"
    opponents = f", both against {', '.join(config.pool)}" if config.pool else ""
    by = ", by margin" if config.compare.by == "margin" else ""
    return (
        f"{config.compare.new} against {config.compare.old}{opponents}, on"
        f" {', '.join(config.boards)}, at most"
        f" {counted(config.deals * len(config.boards), 'block')}{by}"
    )
