"""What runs in a worker process. It keeps bots alive between games, plays one game at a time, and
ends when the main process ends.

Workers are spawned, never forked: they share nothing with the main process except what is passed in
here.
"""

import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from logging.handlers import QueueHandler
from multiprocessing.connection import wait
from multiprocessing.util import Finalize
from typing import Any, NamedTuple

from msgspec import Struct

from arena.errors import UserError, Void
from arena.match.clock import Timing
from arena.match.grading import grade
from arena.match.referee import BrokenOff, GamePlan, Outcome, Referee
from arena.match.retrace import Decision, Script, retrace
from arena.match.selfplay import play_alone
from arena.players.bot import BotPlayer
from arena.players.builtin import built_in, built_in_player, is_built_in
from arena.players.folder import Bot
from arena.players.inprocess import InProcessPlayer
from arena.players.process import adopt_orphans
from arena.players.sandbox.tiers import Sandbox
from arena.players.stderr import Stderr
from arena.records.find import board_of
from arena.records.record import GameRecord
from arena.records.review import Grade, Judge
from arena.records.stderr import GameStderr, pack
from arena.rules.boards import Board

log = logging.getLogger(__name__)


ATTEMPTS = 3
"""How often a void game is tried."""
LONG_S, STARTS_S = 2.0, 1.0
"""After the first, no game of a batch begins; what the start of bots may take of the first game."""
MAIN_HEARS = (signal.SIGINT, signal.SIGHUP)
"""A terminal sends these to workers, too; it is the main process that decides what becomes of the
games.
"""
MOST_DEALS = 1000
"""After this many deals a bot gets a new process, which limits what it can remember, and the length
of our own list.
"""


class Setup(Struct, frozen=True):
    """What every worker of a run needs.

    ``cores`` are the processors to pin workers to, empty for no pinning. ``host`` is the place of
    play given in records. ``in_process`` means that all bots are built in. ``heard`` are the bots
    whose stderr is kept.
    """

    bots: dict[str, Bot]
    boards: dict[str, tuple[str, ...]]
    timing: Timing
    sandbox: Sandbox
    cores: list[int]
    log_level: int
    host: str = ""
    in_process: bool = False
    heard: frozenset[str] = frozenset()


class Batch(NamedTuple):
    """The results of a batch of games given to a worker, in order.

    ``results`` has None for games that were not started because of a stop. ``seconds`` is about the
    time for the games, without that for starting bots. ``logged`` are the worker's log records, if
    they do not travel through a queue.
    """

    results: list[Outcome | Void | None]
    seconds: float
    logged: Sequence[logging.LogRecord] = ()


Seated = tuple[BotPlayer | InProcessPlayer, set[tuple[str, int]]]
"""A player, and the boards and deals that its process has met."""


class Stable:
    """The idle bot processes of a worker.

    A process never meets a deal twice, because it could remember the other hands and the order of
    the pile.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._idle: list[Seated] = []

    def take(self, labels: Sequence[str], board: str, deal: int) -> list[Seated]:
        """A player for each seat; stops idle processes of other bots,
        and those that know the deal.
        """
        taken = []
        for label in labels:
            fitting = (
                entry
                for entry in self._idle
                if entry[0].name == label
                and (board, deal) not in entry[1]
                and len(entry[1]) < MOST_DEALS
            )
            entry = next(fitting, None)
            if entry:
                self._idle.remove(entry)
            taken.append(entry or (self._new_player(label), set()))
        self.stop()
        for _, met in taken:
            met.add((board, deal))
        return taken

    def _new_player(self, label: str) -> BotPlayer | InProcessPlayer:
        bot, timing = self._setup.bots[label], self._setup.timing
        if is_built_in(bot):
            return built_in_player(bot)
        stderr = Stderr() if label in self._setup.heard else None
        return BotPlayer(bot, timing.startup_ms, self._setup.sandbox, timing.clock, stderr=stderr)

    def give_back(self, players: Sequence[Seated]) -> None:
        """Keeps the players whose process still runs."""
        for player, met in players:
            if player.is_running:
                self._idle.append((player, met))
            else:
                player.stop()

    def stop(self) -> None:
        """Stops all idle processes."""
        for player, _ in self._idle:
            player.stop()
        self._idle.clear()


class Worker:
    """A worker's state: its boards and bots."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.boards = {name: Board(name, rows) for name, rows in setup.boards.items()}
        self.stable = Stable(setup)
        self._choosers = (
            {label: built_in(bot.manifest.name).choose for label, bot in setup.bots.items()}
            if setup.in_process
            else {}
        )

    def retrace(self, script: Script, seat: int, label: str) -> list[Decision]:
        """Asks a bot for the decisions of a seat in a recorded game. Raises RunError, Void."""
        [(player, met)] = self.stable.take([label], script.record.board, script.record.deal)
        try:
            asked = retrace(script, seat, player)
        except BaseException:
            player.stop()
            raise
        if asked.is_broken:
            player.dismiss()
        self.stable.give_back([(player, met)])
        return asked.decisions

    def play(self, plan: GamePlan) -> Outcome:
        """Plays one game. Raises Void."""
        if self.setup.in_process:
            choosers = [self._choosers[label] for label in plan.bots]
            outcome = Outcome(
                play_alone(plan, self.boards[plan.board], choosers, self.setup.host), []
            )
        else:
            outcome = self._play_by_processes(plan)
        for fault in outcome.record.faults:
            log.info(
                "%s: %s forfeits (%s): %s", plan.id, plan.bots[fault.seat], fault.kind, fault.detail
            )
        log.debug(
            "%s: %s after %d placements, left %s",
            plan.id,
            outcome.record.end,
            outcome.record.turns,
            outcome.record.left,
        )
        return outcome

    def _play_by_processes(self, plan: GamePlan) -> Outcome:
        taken, referee = self.stable.take(plan.bots, plan.board, plan.deal), None
        try:
            timings = [self.setup.timing.of(label) for label in plan.bots]
            players = [player for player, _ in taken]
            referee = Referee(plan, self.boards[plan.board], players, timings)
            sandbox = self.setup.sandbox.text(plan.bots)
            outcome = referee.play(sandbox=sandbox, host=self.setup.host)
        except BaseException as error:
            for player, _ in taken:
                player.stop()
            if referee is None or isinstance(error, Void) or not isinstance(error, Exception):
                raise
            log.exception("%s is void", plan.id)
            raise BrokenOff(repr(error), so_far=referee.so_far()) from error
        self.stable.give_back(taken)
        parts = [part for player, _ in taken for part in player.stderr()]
        return outcome._replace(stderr=pack(GameStderr(plan.id, list(plan.bots), parts)))


_worker: Worker | None = None
_stopping: Any = None


def start_worker(setup: Setup, log_queue: Any, counter: Any, stopping: Any) -> None:
    """Makes this process a worker.

    ``counter`` numbers the workers of a pool, ``log_queue`` takes their log records, ``stopping``
    is nonzero once no more games may start.
    """
    global _worker, _stopping  # noqa: PLW0603 - one worker a process
    _stopping = stopping
    _heed_the_parent_only()
    with counter.get_lock():
        number = counter.value
        counter.value += 1
    _worker = make_worker(setup, QueueHandler(log_queue), number)
    Finalize(None, _worker.stable.stop, exitpriority=100)


def yield_to_games(niceness: int) -> None:
    """Makes this process one that does something else while games are played."""
    _heed_the_parent_only()
    os.nice(niceness)


def _heed_the_parent_only() -> None:
    """Makes this process deaf to what the main process hears, with which it ends."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _stop_hearing()


def make_worker(setup: Setup, handler: logging.Handler, number: int) -> Worker:
    """Turns this process, which has no other children, into its machine's worker with this number;
    it logs to the handler.
    """
    _stop_hearing()
    adopt_orphans()
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(setup.log_level)
    if setup.cores and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {setup.cores[number % len(setup.cores)]})
    log.debug("worker %d started as process %d", number, os.getpid())
    return Worker(setup)


def play_batch(plans: Sequence[GamePlan]) -> Batch:
    """Plays games in this worker, one after another, until the run is stopping."""
    assert _worker is not None, "start_worker has run"
    return play_games(_worker, plans, lambda: bool(_stopping.value))


def play_games(worker: Worker, plans: Sequence[GamePlan], is_stopping: Callable[[], bool]) -> Batch:
    """Plays games one after another; a failure in one does not affect the others.

    No process of a bot outlives them: it could learn elsewhere of a deal that it plays later. Once
    they take long, the rest is left for another batch: a kill loses what has not been handed back.
    """
    began = time.monotonic()
    ended, results = list[float](), list[Outcome | Void | None]()
    for plan in plans:
        is_long = bool(ended) and ended[-1] - began > LONG_S
        try:
            results.append(None if is_long or is_stopping() else worker.play(plan))
        except Void as void:
            results.append(void)
        except Exception as error:
            log.exception("%s is void", plan.id)
            results.append(Void(repr(error)))
        ended.append(time.monotonic())
    worker.stable.stop()
    played = sum(result is not None for result in results)
    return Batch(results, _playing_time(results[:played], [began, *ended[:played]]))


def _playing_time(results: Sequence[Outcome | Void | None], moments: Sequence[float]) -> float:
    """About how many seconds these games took, without starting bots.

    ``moments`` are the beginning and the end of each game. The first game includes the starts. With
    them counted, quick games looked slow after batches of one, so that all further batches had one
    game too.
    """
    began, *ended = moments
    if len(ended) > 1:
        return (ended[-1] - ended[0]) * len(ended) / (len(ended) - 1)
    thought = [sum(game.record.think_ms) for game in results if isinstance(game, Outcome)]
    return max(sum(thought) / 1000, sum(ended) - began - STARTS_S if ended else 0)


def retrace_game(script: Script, seat: int, label: str) -> list[Decision]:
    """Asks a bot again, in this worker. Raises RunError, and Void if the machine keeps stalling."""
    assert _worker is not None, "start_worker has run"
    for _ in range(ATTEMPTS - 1):
        try:
            return _worker.retrace(script, seat, label)
        except Void as void:
            log.info("asking again about %s: %s", script.record.id, void)
    return _worker.retrace(script, seat, label)


def grade_turn(record: GameRecord, turn: int, judge: Judge) -> list[Grade]:
    """Grades a decision, in this worker. Raises RunError."""
    assert _worker is not None, "start_worker has run"
    board = board_of(record, _worker.boards)
    return [grade(record, board, turn, judge)]


def grade_by_bot(
    script: Script, seat: int, turns: Sequence[int], judge: Judge, label: str
) -> list[Grade]:
    """Grades decisions of a seat in this worker, where a bot says which move is better. Raises
    RunError, UserError if it commits a fault, Void.
    """
    advice = {decision.turn: decision for decision in retrace_game(script, seat, label)}
    fault = next((told for told in advice.values() if told.fault), None)
    if fault:
        raise UserError(
            f"expected {label} to judge {script.record.id}, got a fault at turn {fault.turn}"
            f" ({fault.fault}): {fault.detail}",
            "what is graded is kept; 'arena check' finds what is wrong with a bot",
        )
    return [grade(script.record, script.board, turn, judge, advice[turn].new) for turn in turns]


def _stop_hearing() -> None:
    for heard in MAIN_HEARS:
        signal.signal(heard, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, MAIN_HEARS)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _end_with_parent() -> None:
    """Ends this process as soon as the main process is gone. The keepers then end the bots."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
