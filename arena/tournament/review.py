"""Prepares the recorded games of a run for replay, and asks bots again about them on worker
processes: to grade decisions, and to see how another bot would have decided.
"""

import logging
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import cached_property
from itertools import islice, tee
from typing import Any, NamedTuple

from arena.errors import ConfigError, RunError, UserError, Void, did_you_mean
from arena.match.decisions import Decision, decisions_of, retrace
from arena.match.grading import gradable_turns, grade
from arena.match.replay import ReplayableGame, old_ms
from arena.players.folder import Bot
from arena.players.labels import nearest_label, timing_for
from arena.players.messages import PROTOCOL
from arena.players.player import IN_PROCESS
from arena.players.sandbox.tiers import OPEN, Sandbox
from arena.records.grades import Grade, Judge
from arena.records.journal import board_of
from arena.records.record import GameRecord
from arena.records.runfile import BotInfo
from arena.records.timing import Timing
from arena.tournament.crew import WORKERS, Crew
from arena.tournament.run import Run
from arena.tournament.runs import copy_of
from arena.tournament.tuning import TunedGames
from arena.tournament.voiding import ATTEMPTS
from arena.tournament.workers import Setup, start_worker, this_worker, worker_cores

AHEAD = 8
"""The number of tasks that are queued per worker. Grading a decision takes from some milliseconds
to a second; asking a bot for all decisions of a seat takes longer.
"""


log = logging.getLogger(__name__)


class Scripts:
    """Makes the replayable games (`ReplayableGame`) of a run from its records. The constructor
    raises RunError if the run was played with another version of the protocol, and ConfigError if
    this version cannot read its settings.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.info = run.info
        if self.info.protocol != PROTOCOL:
            raise RunError(
                f"{run.folder} was played with version {self.info.protocol} of the protocol, and"
                f" this arena has version {PROTOCOL}"
            )
        self.timing = run.config.timing
        self._schedule = run.schedule
        self._boards = run.boards

    @property
    def has_bank(self) -> bool:
        """Whether a bot of the run had a time bank, so that its time for an answer depended on its
        earlier answers.
        """
        return any(timing_for(bot.name, self.timing).game_ms is not None for bot in self.info.bots)

    def of(self, record: GameRecord) -> ReplayableGame:
        """A recorded game of the run in a form that can be replayed: with its board, time control
        and the bots' seeds. Raises RunError if the record does not fit the run's plan.
        """
        line_up = tuple(sorted(record.bots))
        played = (record.id, record.bots, record.deck)
        with suppress(IndexError, KeyError):
            plan = self._schedule.game(record.board, line_up, record.deal, record.seating)
            board = self._boards[record.board]
            plan = self._tuned.planned(plan) if self._tuned else plan
            if (plan.id, list(plan.bots), plan.deck) == played:
                return ReplayableGame(record, board, plan.seeds, self.timing, plan.settings)
        raise RunError(
            f"{record.id} is not a game of the plan in {self.run.folder}/run.json",
            "'arena verify' lists what is wrong",
        )

    @cached_property
    def _tuned(self) -> TunedGames | None:
        """If the run tunes a bot, the object that knows the settings of the bots in each game; else
        None.
        """
        if self._schedule.config.tune is None:
            return None
        return TunedGames(self._schedule, (), lambda: 1, self.run.records())

    def games_of(self, bot: str) -> Iterator[tuple[GameRecord, int]]:
        """The records of the games that the bot with this label played, in the order of the
        journal, each with the bot's seat.
        """
        for record in self.run.records():
            if bot in record.bots:
                yield record, record.bots.index(bot)

    def played_bot(self, name: str) -> Bot:
        """The copy of the bot that played in the run and that ``name``, its label with the options
        in any order, names. Raises RunError if the copy is missing or has changed, or if the bot is
        built in; ConfigError if the run has no such bot; BotFolderError if the copy is no bot any
        more.
        """
        info = self.bot_info(name)
        if info.command[:-1] == IN_PROCESS:
            raise RunError(
                f"{name} is built in and has no process to ask", "name the bot with --bot"
            )
        return copy_of(self.run, info, "name the bot with --bot")

    def bot_info(self, name: str) -> BotInfo:
        """The entry in run.json of the bot that ``name``, its label with the options in any order,
        names. Raises ConfigError that lists the bots of the run.
        """
        there = self.info.bots_by_name
        info = there.get(nearest_label(name, list(there)))
        if info is None:
            raise ConfigError(
                f"{name!r} is not a bot of the run {self.run.folder}",
                f"{did_you_mean(name, there)}the run has {', '.join(there)}; --old names the one to"
                " repeat",
            )
        return info


class Ungraded(NamedTuple):
    """A game, and those of its ``seats`` whose decisions are to be graded."""

    record: GameRecord
    seats: set[int]

    @property
    def turns(self) -> list[int]:
        """The turns of these seats whose decisions can be graded."""
        return gradable_turns(self.record, self.seats)


class Adviser(NamedTuple):
    """A bot that says which move is better, the sandbox in which it runs, and ``scripts``, which
    make the games of the run about which the bot is asked.
    """

    bot: Bot
    sandbox: Sandbox
    scripts: Scripts


class Compared(NamedTuple):
    """A game that the old bot played at ``seat``, and what the new bot would have played there.

    ``decisions``      those for which the new bot was asked: all, or fewer if it committed a fault
                       that ends its game; none if the game is void
    ``old_decisions``  the number of decisions of the old bot
    ``old_ms``         the old bot's mean time for a decision, in ms
    ``void``           why the game could not be replayed; empty if it was
    """

    game: str
    seat: int
    decisions: list[Decision]
    old_decisions: int
    old_ms: float
    void: str = ""


Task = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function that a worker calls, and its arguments."""
Rows = Mapping[str, Sequence[str]]
"""The rows of each board, by the board's name."""


def retrace_game(script: ReplayableGame, seat: int, label: str) -> list[Decision]:
    """Asks the bot ``label`` again for the decisions of a seat, in this worker process. If the
    machine fails, asks again, `ATTEMPTS` times in all. Raises RunError, BusyMachineError, and Void
    if the last attempt fails.
    """
    for _ in range(ATTEMPTS - 1):
        try:
            return _retraced(script, seat, label)
        except Void as void:
            log.info("asking again about %s: %s", script.record.id, void)
    return _retraced(script, seat, label)


def _retraced(script: ReplayableGame, seat: int, label: str) -> list[Decision]:
    """Asks the bot ``label`` again for the decisions of a seat, in one attempt. Raises RunError,
    Void.
    """
    [player] = this_worker().players.take([label], script.record.deck)
    try:
        asked = retrace(script, seat, player)
    except BaseException:
        player.stop()
        raise
    if asked.is_broken:
        player.dismiss()
    return asked.decisions


def grade_turn(record: GameRecord, turn: int, judge: Judge) -> list[Grade]:
    """A list with one item, the grade of the decision at ``turn``, computed in this worker process.
    Raises RunError.
    """
    return [grade(record, board_of(record, this_worker().boards), turn, judge)]


def grade_by_bot(
    script: ReplayableGame, seat: int, turns: Sequence[int], judge: Judge, label: str
) -> list[Grade]:
    """The grades of a seat's decisions at these ``turns``, computed in this worker process; the bot
    ``label`` says which move is better. Raises RunError, UserError if that bot commits a fault,
    Void.
    """
    advice = {decision.turn: decision for decision in retrace_game(script, seat, label)}
    fault = next((decision for decision in advice.values() if decision.fault), None)
    if fault:
        raise UserError(
            f"{label}, the judge of {script.record.id}, committed a fault at turn {fault.turn}"
            f" ({fault.fault}): {fault.detail}",
            "finished grades are kept; 'arena check' shows what is wrong with a bot",
        )
    return [grade(script.record, script.board, turn, judge, advice[turn].new) for turn in turns]


def _in_order(
    tasks: Iterator[Task],
    jobs: int,
    rows: Rows,
    timing: Timing,
    sandbox: Sandbox,
    bot: Bot | None = None,
) -> Generator[Any]:
    """The results of ``tasks`` in their order, computed by ``jobs`` workers that end with the
    generator. ``bot`` is the bot that tasks may ask, None without one. If a task raises Void, its
    result is that Void. Raises Void if a worker dies, and any other exception of a task.
    """
    bots = {bot.label: bot} if bot else {}
    boards = {name: tuple(lines) for name, lines in rows.items()}
    cores = worker_cores(jobs)
    setup = Setup(sandbox, logging.CRITICAL, cores, bots=bots, boards=boards, timing=timing)
    given = (setup, None, WORKERS.Value("i", 0), WORKERS.Value("b", 0, lock=False))
    waiting = deque[Future[Any]]()
    pool = Crew(jobs, start_worker, given)
    try:
        while True:
            for function, words in islice(tasks, jobs * AHEAD - len(waiting)):
                waiting.append(pool.submit(function, *words))
            if not waiting:
                return
            try:
                yield waiting[0].result()
            except Void as void:
                yield void
            waiting.popleft()
    except BrokenProcessPool:
        raise Void("a worker died", "try again with fewer --jobs") from None
    finally:
        if waiting:
            pool.kill()
        pool.end()


def grade_decisions(
    wanted: Sequence[Ungraded], boards: Rows, judge: Judge, jobs: int, adviser: Adviser | None
) -> Generator[Grade]:
    """The grades of all turns of the ``wanted`` games, one game after the other and each game's by
    turn (with an adviser, by seat and turn), computed by ``jobs`` workers. ``boards`` has the rows
    of the boards, by name. The ``adviser``, or without one the judge, says which move is better;
    what it gains is measured by the judge in either case. Raises RunError if a record breaks the
    rules, UserError if the adviser commits a fault or the machine is too busy for it, and Void if a
    worker dies or the machine fails.
    """
    if adviser:
        tasks = _tasks_for_bot(wanted, judge, adviser)
        bot, sandbox, scripts = adviser
        results = _in_order(tasks, jobs, scripts.info.boards, scripts.timing, sandbox, bot)
    else:
        results = _in_order(_tasks_for_judge(wanted, judge), jobs, boards, Timing(), OPEN)
    for grades in results:
        if isinstance(grades, Void):
            raise grades
        yield from grades


def _tasks_for_bot(wanted: Iterable[Ungraded], judge: Judge, adviser: Adviser) -> Iterator[Task]:
    """The tasks that grade the ``wanted`` games by the moves of an adviser, one for each seat."""
    bot, _, scripts = adviser
    for record, seats in wanted:
        for seat in sorted(seats):
            turns = gradable_turns(record, {seat})
            yield grade_by_bot, (scripts.of(record), seat, turns, judge, bot.label)


def _tasks_for_judge(wanted: Iterable[Ungraded], judge: Judge) -> Iterator[Task]:
    """The tasks that grade the ``wanted`` games by the judge alone, one for each turn."""
    for game in wanted:
        for turn in game.turns:
            yield grade_turn, (game.record, turn, judge)


def compare_decisions(
    scripts: Scripts, games: Iterable[tuple[GameRecord, int]], new: Bot, sandbox: Sandbox, jobs: int
) -> Iterator[Compared]:
    """Asks the ``new`` bot for the decisions of the old one in these ``games``, each a record with
    the old bot's seat; yields one comparison for each game, in their order. The new bot must have
    been staged, that is, copied and built. Up to ``jobs`` workers play at the same time. Raises
    RunError, ConfigError, BusyMachineError, and Void if a worker dies; a game that is void for
    another reason is yielded as such.
    """
    asked, again = tee(games)
    tasks = ((retrace_game, (scripts.of(record), seat, new.label)) for record, seat in asked)
    rows = scripts.info.boards
    timing = scripts.timing
    answers = _in_order(tasks, jobs, rows, timing, sandbox, new)
    for answer, (record, seat) in zip(answers, again, strict=True):
        old = len(decisions_of(record, seat))
        spent_ms = old_ms(record, seat)
        decisions, void = ([], str(answer)) if isinstance(answer, Void) else (answer, "")
        yield Compared(record.id, seat, decisions, old, spent_ms, void)
