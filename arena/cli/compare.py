"""arena compare: plays until it is clear whether a bot's new version is better than the old one."""

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec

from arena.cli import DONE, FAILED, INTERRUPTED, NO, UNDECIDED
from arena.cli.folding import columns_of, folded
from arena.cli.options import (
    SandboxChoice,
    as_json,
    bot_finder,
    clock_option,
    in_process_option,
    move_ms_option,
    results_folder,
    sandbox_options,
    split_commas,
    with_clock,
)
from arena.cli.place import Place, counted, place_options, workers_at
from arena.cli.playing import (
    GETTING_READY,
    check_all_programs,
    log_level,
    note_short_evidence,
    results_path,
    said_when_slow,
    show_voided,
    stop_on_signals,
    warn_about_times,
    warn_unmarked,
)
from arena.cli.progress import Progress
from arena.errors import ConfigError
from arena.exports.verdicts import llr_text, verdict_object, verdict_text
from arena.players.builtin import is_built_in
from arena.players.folder import Bot
from arena.ratings.sequential import Question, SequentialTest, Verdict
from arena.records.find import read_records
from arena.rules.boards import Board
from arena.tournament.comparison import Block, Blocks, deals_for
from arena.tournament.config import RunConfig, find_boards, make_config
from arena.tournament.events import Event, Played, Voided
from arena.tournament.logs import run_log
from arena.tournament.runner import Runner
from arena.tournament.session import Session, open_session

SHOWN = (1, 2, 5)
"""A line of progress is shown after this many blocks, and ten times, a hundred times as many."""

chance = click.FloatRange(0, 0.5, min_open=True, max_open=True)


@click.command()
@click.argument("new")
@click.argument("old")
@click.option(
    "--pool",
    callback=split_commas,
    metavar="BOT,...",
    help="Opponents for both.  [default: NEW and OLD play each other]",
)
@click.option(
    "--players",
    type=click.IntRange(2, 4),
    default=2,
    show_default=True,
    help="Players per game; three and four need a pool.",
)
@click.option(
    "--elo0",
    type=float,
    default=0,
    show_default=True,
    help='"Not better" is a difference of at most about this.',
)
@click.option(
    "--elo1",
    type=float,
    default=10,
    show_default=True,
    help='"Better" is a difference of at least about this.',
)
@click.option(
    "--alpha",
    type=chance,
    default=0.05,
    show_default=True,
    help='How often "better" may be wrong if the difference is elo0.',
)
@click.option(
    "--beta",
    type=chance,
    default=0.05,
    show_default=True,
    help='How often "not better" may be wrong if the difference is elo1.',
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
@click.option(
    "--boards",
    callback=split_commas,
    metavar="NAME,...",
    help="bird, lion or both.  [default: bird]",
)
@click.option(
    "--board",
    "board_files",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A board file; may be repeated.",
)
@click.option(
    "--seed",
    help="Text that determines every deck; a bot could guess a short one.  [default: a secret one]",
)
@move_ms_option
@click.option(
    "--game-ms",
    type=click.IntRange(1),
    help="Bank: time for all of a bot's moves in a game, in ms.  [default: none]",
)
@click.option(
    "--increment-ms",
    type=click.IntRange(0),
    help="Added to the bank after each move, in ms.  [default: 0]",
)
@clock_option
@click.option(
    "--startup-ms",
    type=click.IntRange(1),
    help="Time for a bot's process to answer hello, in ms.  [default: 10000]",
)
@click.option(
    "--match", hidden=True, expose_value=False, callback=lambda *given: _refuse_match(given[-1])
)
@in_process_option
@click.option(
    "--out",
    metavar="RUN",
    help=(
        "The run's name in results/, or a path.  [default: the run of this comparison, or a new"
        " one]"
    ),
)
@click.option(
    "--adopt",
    is_flag=True,
    help="Continue a run that was made elsewhere; its bots are copied again.",
)
@click.option(
    "-v",
    "--verbose",
    count=True,
    help="Log every game, not only faults, in the run's logs/arena.log.",
)
@click.option("-q", "--quiet", is_flag=True, help="Show no progress, and log only warnings.")
@place_options
@sandbox_options
@as_json
@click.pass_obj
def compare(
    home: Path,
    /,
    *,
    place: Place,
    choice: SandboxChoice,
    as_json: bool,
    verbose: int,
    **options: Any,
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
    quiet, adopt = options.pop("quiet"), options.pop("adopt")
    asked = _resolve(home, options)._replace(adopt=adopt)
    sandbox = choice.sandbox_for(asked.bots)
    contest, runner = _play(asked, sandbox, place, log_level(verbose, quiet=quiet), quiet=quiet)
    new, old = (bot.label for bot in asked.bots[:2])
    shown = (contest.test, new, old, contest.games)
    click.echo(
        msgspec.json.format(msgspec.json.encode(verdict_object(*shown)), indent=2)
        if as_json
        else folded(verdict_text(*shown), columns_of(sys.stdout))
    )
    show_voided(runner, asked.folder)
    note_short_evidence(runner)
    return _exit_status(contest, runner, asked.folder)


def _refuse_match(match: str | None) -> None:
    if match is not None:
        raise click.UsageError(
            "expected a comparison without --match, because it counts single games; --boards"
            " bird,lion plays on both"
        )


class _Comparison(NamedTuple):
    """What is to be played: the bots, the new and the old one first, and where; ``adopt`` goes on
    with a run made elsewhere.
    """

    settings: dict[str, Any]
    bots: list[Bot]
    boards: dict[str, Board]
    folder: Path
    adopt: bool = False


def _resolve(home: Path, options: dict[str, Any]) -> _Comparison:
    """What the options ask for. Raises UserError."""
    given = {name: value for name, value in options.items() if value not in (None, ())}
    find = bot_finder(home, in_process=given.get("in_process", False))
    pair = _find_pair(find, given.pop("new"), given.pop("old"), null=given.pop("null"))
    bots = check_all_programs([*pair, *map(find, given.pop("pool", ()))])
    if all(map(is_built_in, bots)):
        given["in_process"] = True
    files = given.pop("board_files", ())
    boards = find_boards(given.pop("boards", [] if files else ["bird"]), files)
    out, blocks = given.pop("out", None), given.pop("max_blocks")
    question = {key: given.pop(key) for key in ("elo0", "elo1", "alpha", "beta")}
    settings = {
        **with_clock(given),
        "bots": [bot.label for bot in bots],
        "boards": list(boards),
        "compare": {"new": pair[0].label, "old": pair[1].label, **question},
    }
    settings["deals"] = deals_for(make_config({"seed": "", **settings}), blocks)
    warn_about_times(bots, settings)
    return _Comparison(
        settings,
        bots,
        boards,
        results_path(results_folder(home), out, settings, boards, bots, finished=True),
    )


def _find_pair(
    find: Callable[[str], Bot], new_text: str, old_text: str, *, null: bool
) -> list[Bot]:
    """The new bot and the old one, under names that tell them apart. Raises UserError."""
    old = find(old_text)
    if null:
        return [msgspec.structs.replace(old, label=f"{old.label}-null"), old]
    new = find(new_text)
    if new.sha256 == old.sha256:
        raise ConfigError(
            f"expected two different bots, got the same content as {new_text} and {old_text}",
            _cure_for_same(new, old),
        )
    if new.label == old.label:
        old = msgspec.structs.replace(old, label=f"{old.label}@{old.manifest.version}")
        click.echo(
            f"note: {old_text} is called {old.label} here, and {new_text} {new.label}", err=True
        )
    return [new, old]


def _cure_for_same(new: Bot, old: Bot) -> str:
    """What to do if both names stand for the same content."""
    name, version = new.manifest.name, old.manifest.version
    if name == old.manifest.name and new.manifest.version == version:
        return (
            f"version {version} is the newest of {name}: change the bot, 'arena submit' it again,"
            f" and compare {name} {name}@{version}; or compare the changed folder by its path, as"
            f" in './{name} {name}'; --null plays the old one against itself"
        )
    return (
        "name another version, as in 'arena compare my-bot my-bot@1'; --null plays the old one"
        " against itself"
    )


def _play(
    asked: _Comparison, sandbox: Any, place: Place, level: int, *, quiet: bool
) -> "tuple[_Contest, Runner]":
    """Plays until it is decided, interrupted, or there are no more blocks."""
    with ExitStack() as stack:
        workers = stack.enter_context(workers_at(place))
        means = workers.means(sandbox, level)
        with said_when_slow(GETTING_READY, quiet=quiet):
            session = stack.enter_context(
                open_session(
                    asked.folder, asked.settings, asked.boards, asked.bots, means, adopt=asked.adopt
                )
            )
        warn_unmarked(session)
        queue = stack.enter_context(run_log(asked.folder, level))
        progress = Progress(session, workers, quiet=quiet, headline=_headline(session))
        contest = _Contest(session, progress)
        runner = Runner(
            asked.folder,
            session.journal,
            workers.pool(session.setup, asked.bots, queue, contest.show),
            contest.show,
        )
        stack.enter_context(stop_on_signals(runner))
        with progress:
            for record in read_records(asked.folder):
                contest.blocks.add(record)
                if contest.blocks.settled is not None:
                    break
            contest.finish = runner.drop_waiting
            runner.play(contest.blocks.wanted(session.missing()))
        contest.settle()
    return contest, runner


class _Contest:
    """The test of a session, which takes its games and shows how far it is."""

    def __init__(self, session: Session, progress: Progress) -> None:

        self._session = session
        self._progress = progress
        self.blocks = Blocks(session.schedule, self._judge)
        groups = self.blocks.groups if session.config.pool else 0
        self.test = SequentialTest(
            _question(session.config), groups=groups, look=self.blocks.round_size
        )
        self.finish: Callable[[], None] | None = None

    @property
    def games(self) -> int:
        """How many games the verdict is based on."""
        return self.test.blocks * self.blocks.block_size

    def show(self, event: Event) -> None:
        """Takes and shows an event of the runner."""
        if isinstance(event, Played):
            self.blocks.add(event.outcome.record)
        elif isinstance(event, Voided) and event.given_up:
            self.blocks.is_stuck = True
        if self.finish is not None and (self.blocks.settled is not None or self.blocks.is_stuck):
            self.finish()
        self._progress.show(event)

    def settle(self) -> None:
        """Writes down how many deals it took."""
        if self.blocks.settled is not None:
            self._session.change(settled=self.blocks.settled)

    def _judge(self, blocks: Sequence[Block]) -> bool:
        """Feeds a round of blocks to the test; whether it is decided now."""
        before = self.test.blocks
        for block in blocks:
            self.test.add(*block)
        is_decided = self.test.verdict != Verdict.UNDECIDED
        self._progress.figures["LLR"] = llr_text(self.test)
        if is_decided or _is_shown(before, self.test.blocks):
            self._progress.say(f"{counted(self.test.blocks, 'block')}: LLR {llr_text(self.test)}")
        return is_decided


def _question(config: RunConfig) -> Any:

    assert config.compare is not None, "a comparison"
    return Question(
        config.compare.elo0, config.compare.elo1, config.compare.alpha, config.compare.beta
    )


def _is_shown(before: int, now: int) -> bool:
    """Whether one of 1, 2, 5, 10, 20, 50 ... blocks has been reached."""
    power = 10 ** (len(str(now)) - 1)
    return any(before < step * power <= now for step in SHOWN)


def _headline(session: Session) -> str:
    config = session.config
    assert config.compare is not None, "a comparison"
    opponents = f", both against {', '.join(config.pool)}" if config.pool else ""
    return (
        f"{config.compare.new} against {config.compare.old}{opponents}, on"
        f" {', '.join(config.boards)}, at most"
        f" {counted(config.deals * len(config.boards), 'block')}"
    )


def _exit_status(contest: _Contest, runner: Runner, folder: Path) -> int:

    if contest.test.verdict != Verdict.UNDECIDED:
        return DONE if contest.test.verdict == Verdict.BETTER else NO
    if runner.voided:
        return FAILED
    if runner.stop_level:
        click.echo(f"interrupted: repeat the same command to continue in {folder}", err=True)
        return INTERRUPTED
    click.echo(
        f"undecided: use a larger --max-blocks with --out {folder.name} to continue", err=True
    )
    return UNDECIDED
