"""arena compare: plays until it is clear whether a bot's new version is better than the old one."""

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, cast, get_args

import click
import msgspec
from msgspec.structs import replace

from arena.cli import DONE, FAILED, INTERRUPTED, NO, UNDECIDED
from arena.cli.options import Command, as_json, results_folder, split_bot_names
from arena.cli.place import Conduct, conduct_options, counted
from arena.cli.playing import Play, note_short_evidence, playing, show_voided
from arena.cli.request import request_comparison, results_path
from arena.cli.settings import setting_options
from arena.cli.terminal import columns_of, folded
from arena.exports.verdicts import llr_text, verdict_object, verdict_text
from arena.ratings.sequential import BlockTest, Question, SequentialTest, Verdict
from arena.records.find import read_records
from arena.tournament.comparison import Block, ComparedGames
from arena.tournament.config import DEFAULTS, Basis, Comparison, RunConfig
from arena.tournament.request import Request, RunOptions
from arena.tournament.session import Session

SHOWN = (1, 2, 5)
"""A line of progress is shown after this many blocks, and ten times, a hundred times as many."""

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
    default=20_000,
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

    \b
    arena compare my-bot my-bot@1
    arena compare ./my-bot my-bot --elo1 30 --max-blocks 2000
    arena compare my-bot my-bot@1 --pool greedy-python,careful-python --players 3
    arena compare my-bot my-bot@1 --pool greedy,careful
    arena compare careful-16 careful-8
    """  # noqa: D301 - \b is click's mark for lines to keep
    options = replace(options, bots=pool)
    request = request_comparison(home, question, options, max_blocks=max_blocks, null=null)
    folder = results_path(results_folder(home), options.out, request, finished=True)
    contest = settle(folder, request, conduct)
    click.echo(
        msgspec.json.format(msgspec.json.encode(contest.object()), indent=2)
        if as_json
        else folded(contest.text(), columns_of(sys.stdout))
    )
    return contest.ending()


def settle(folder: Path, request: Request, conduct: Conduct) -> "Contest":
    """Plays the comparison in a folder until it is decided or cannot go on."""
    with playing(folder, request, conduct, _headline) as play:
        contest = Contest(play)
        contest.play()
    return contest


def _refuse_match(match: str | None) -> None:
    if match is not None:
        raise click.UsageError(
            "expected a comparison without --match, because it counts single games; --boards"
            " bird,lion plays on both"
        )


class Contest:
    """The test of a session, fed with its games, and what it shows of how far it is."""

    def __init__(self, play: Play) -> None:
        self._session, self._runner = play.session, play.runner
        compare = play.session.config.compare
        assert compare is not None, "a comparison"
        self._bots = compare.new, compare.old
        self._progress = play.progress
        self._source = ComparedGames(play.session.schedule, play.missing(), self._judge)
        groups = play.session.schedule.turns if play.session.config.pool else 0
        self.test = _test_of(play.session.config, groups, self._source.round_size)

    @property
    def games(self) -> int:
        """How many games the verdict is based on."""
        return self.test.blocks * self._source.block_size

    def play(self) -> None:
        """Plays until it is decided, interrupted, or there are no more blocks; writes down how many
        deals it took.
        """
        for record in read_records(self._session.folder):
            self._source.count(record)
            if self._source.settled is not None:
                break
        self._runner.play(self._source)
        if self._source.settled is not None:
            self._session.change(settled=self._source.settled)

    def text(self) -> str:
        """The verdict and the evidence for it."""
        return verdict_text(self.test, *self._bots, self.games)

    def object(self) -> dict[str, Any]:
        """The same for JSON."""
        return verdict_object(self.test, *self._bots, self.games)

    def ending(self, more: str = "--max-blocks") -> int:
        """Says what went wrong in the session, and which option allows ``more``; returns the exit
        status.
        """
        folder = self._session.folder
        show_voided(self._runner, folder)
        note_short_evidence(self._runner)
        if self.test.verdict != Verdict.UNDECIDED:
            return DONE if self.test.verdict == Verdict.BETTER else NO
        if self._runner.voided:
            return FAILED
        if self._runner.stop_level:
            click.echo(f"interrupted: repeat the same command to continue in {folder}", err=True)
            return INTERRUPTED
        click.echo(f"undecided: use a larger {more} with --out {folder.name} to continue", err=True)
        return UNDECIDED

    def _judge(self, blocks: Sequence[Block]) -> bool:
        """Feeds a round of blocks to the test; whether it is decided now."""
        before = self.test.blocks
        for block in blocks:
            self.test.add(*block)
        is_decided = self.test.verdict != Verdict.UNDECIDED
        self._progress.figures["LLR"] = llr_text(self.test)
        if is_decided or is_shown(before, self.test.blocks):
            self._progress.say(f"{counted(self.test.blocks, 'block')}: LLR {llr_text(self.test)}")
        return is_decided


def _test_of(config: RunConfig, groups: int, look: int) -> BlockTest:
    """The test that a comparison asks for."""
    assert config.compare is not None, "a comparison"
    if config.compare.by == "wins":
        return SequentialTest(_question(config), groups=groups, look=look)
    # Numpy: a comparison by wins is played without.
    from arena.ratings.margins import MarginTest  # noqa: PLC0415

    return MarginTest(_question(config), players=config.players, groups=groups, look=look)


def _question(config: RunConfig) -> Question:
    assert config.compare is not None, "a comparison"
    return Question(
        config.compare.elo0, config.compare.elo1, config.compare.alpha, config.compare.beta
    )


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
