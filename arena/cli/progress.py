"""What a run shows on stderr while it plays: a bar on a terminal, a line for every important event,
and how long the rest takes.

Time limits do not tell how long a run takes: most bots use a hundredth of theirs, so an estimate by
limits made 15 minutes of 30 seconds. Nor does the pace of the first games: if one of nine bots
thinks long, and plays first, it made two days of 8 minutes. So each bot counts with the time it
took itself.
"""

import signal
import sys
import termios
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from math import inf
from statistics import fmean
from typing import Self

import click
from tqdm import tqdm

from arena.cli.terminal import columns_of, folded
from arena.errors import counted, printable
from arena.faults import FaultKind
from arena.match.referee import Wait
from arena.players.labels import odds_of, timing_for
from arena.records.config import RunConfig
from arena.records.record import Fault, GameRecord
from arena.rules import CORE
from arena.rules.explain import explained
from arena.rules.terms import title_of
from arena.tournament.events import (
    BotBroken,
    GamePlayed,
    RunnerEvent,
    Stopping,
    Voided,
    WorkersChanged,
)
from arena.tournament.pools import Workers
from arena.tournament.session import Session

LONG_S = 60
"""Runs that take less than this many seconds are not announced."""
MUCH_S = 600
"""Runs that take longer than this many seconds are not played without the user's consent."""
ASK_S = 10
"""After this many seconds of playing, the user is asked whether a long run may go on."""
LEARN_S = 5
"""After this many seconds, the first games of a run, with the start of the bots, say something
about the rest.
"""
MIN_GAMES = 2
"""The number of games that each bot must have played before an estimate of the run's time is
useful.
"""
SEAT_MS = 5.0
"""Roughly the time in ms that a seat takes in addition to its bot's thinking, which is all there is
for built-in bots.
"""
TURNS = 44
"""Roughly the number of turns of all bots together in a long game."""
MOMENT_S = 3
"""Waits shorter than this many seconds are not announced."""
ESTIMATE_EVERY_S = 0.2
"""The pause between two estimates: one counts all bots, and a game of built-in bots takes less than
a millisecond.
"""
SHOWN_FAULTS = 5
BAR = "{percentage:3.0f}% |{bar}| {n_fmt}/{total_fmt}, {rate_fmt}{postfix}"
OPEN = "{n_fmt} games{postfix}{bar:0}"
"""The format in place of the bar for runs that nearly always end long before the last game. It is
cut at the edge of the terminal, as tqdm cuts only lines with a bar.
"""
FEW_DEALS = (
    "note: a deal is played in one place at a time: more --deals, or --seatings single, keep all {}"
    " busy"
)
CLEAR = "this ends as soon as it is clear which is better, usually long before its last game"
"""The text for a comparison, of which no estimate is shown: most end after a hundredth of all
games.
"""
TORN = (
    "warning: the journal ended in a torn record of {} bytes: cut off, kept in games.torn, played"
    " again"
)


class Progress:
    """Shows a runner's events; use it as a context manager around the playing.

    ``headline`` says what is played. ``if_long`` is called once, with the number of games left and
    their time, if they will take more than MUCH_S seconds; ``doubt`` is then the reason for which
    it stopped the run.
    """

    _bar: tqdm  # type: ignore[type-arg]

    def __init__(
        self, session: Session, workers: Workers, headline: str, *, quiet: bool, verbose: bool
    ) -> None:
        self._session = session
        self._workers = workers
        self._headline = headline
        self._quiet = quiet
        self._verbose = verbose
        self._is_compared = session.run.config.compare is not None
        self._faults = 0
        self._told = set[str]()
        self._waiting = set[str]()
        self._late: list[str] = []
        self._began = time.monotonic()
        self._forecast = Forecast(session.run.config, workers.slots)
        self._is_estimated = False
        self._next_estimate_s = 0.0
        self._figures: dict[str, str] = {}
        self.doubt = ""
        self.if_long: Callable[[int, float, str], None] | None = None

    def __enter__(self) -> Self:
        session = self._session
        known = self._session.known
        if session.repaired:
            self.say(TORN.format(session.repaired))
        already = f", {counted(known, 'game')} already played" if known else ""
        self.say(f"{session.run.folder}: {self._headline}{already}")
        if self._verbose or not self._workers.slots:
            sandbox = session.setup.sandbox.tier
            self.say(f"{self._workers.text}, rules core {CORE}, sandbox {sandbox}")
            self._say_few_deals()
        tqdm.monitor_interval = 0
        self._bar = tqdm(
            total=session.run.schedule.planned,
            initial=known,
            unit="game",
            disable=True if self._quiet else None,
            dynamic_ncols=True,
            bar_format=OPEN if self._is_compared else BAR,
            smoothing=0.1,
        )
        if not self._is_compared:
            self.figure("faults", "0")
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()
        if self._faults:
            evidence = f"their evidence is in {self._session.run.folder / 'faults'}"
            self.say(f"{counted(self._faults, 'forfeit')} in this session; {evidence}")
        if len(self._late) > 1:
            self.say(late_text(self._late, self._workers.slots, self._session.run.config.clock))

    @property
    def has_bar(self) -> bool:
        """Whether there is a terminal on which a bar is drawn."""
        return not self._bar.disable

    def figure(self, name: str, value: str) -> None:
        """Shows a figure after the bar when that is drawn next."""
        self._figures[name] = value
        self._bar.set_postfix(self._figures, refresh=False)

    def expect(self, games: int) -> None:
        """Sets the number of games that there will be."""
        self._bar.total = games
        self._bar.refresh()

    def say(self, text: str) -> None:
        """Prints a line above the bar."""
        if not self._quiet:
            tqdm.write(folded(printable(text), columns_of(sys.stderr)), file=sys.stderr)

    def confirm(self, text: str) -> bool:
        """Asks a question above the bar; without a bar nobody could answer. Ctrl-C means no."""
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        began = time.monotonic()
        try:
            termios.tcflush(sys.stdin, termios.TCIFLUSH)  # a key pressed before was no answer
            with tqdm.external_write_mode(file=sys.stderr):
                return click.confirm(folded(text, columns_of(sys.stderr)), err=True)
        except click.Abort:
            return False
        finally:
            signal.signal(signal.SIGINT, before)
            # Whoever thinks about it does not make the games slower.
            self._began += time.monotonic() - began
            self._bar.unpause()

    def show(self, event: RunnerEvent) -> None:
        """Shows one event of the runner."""
        match event:
            case GamePlayed(outcome):
                self._forecast.note(outcome.record)
                self._show_faults(outcome.record.bots, outcome.record.faults)
                self._show_waits(outcome.waits)
                self._bar.update()
                self._estimate()
            case Stopping(running):
                wait = self._forecast.wait_text() if running else ""
                games = f"{counted(running, 'running game')} to finish first{wait}"
                self.say(f"stopping: {games}; press Ctrl-C again to drop them at once")
            case Voided(game, reason, given_up):
                if not given_up:  # the end of the session tells of it
                    self.say(f"warning: {game} is void ({reason}); it is played again")
            case BotBroken(bot, games):
                self.say(f"{bot} plays no more: all of its first {games} games failed alike")
            case WorkersChanged(text):
                self.say(text)

    def _show_faults(self, bots: list[str], faults: list[Fault]) -> None:
        """Prints a line about the faults of a game."""
        for fault in faults:
            self._faults += 1
            self.figure("faults", str(self._faults))
            if fault.kind == FaultKind.LATE:
                self._late.append(bots[fault.seat])
            text = _fault_text(bots[fault.seat], fault)
            if text in self._told or len(self._told) > SHOWN_FAULTS:
                continue
            self._told.add(text)
            if len(self._told) > SHOWN_FAULTS:
                text = f"further forfeits are in {self._session.run.folder / 'faults'}"
            self.say(text)

    def has_shown(self, bot: str, fault: Fault) -> bool:
        """Whether a line of this session has told of a fault of a bot."""
        return not self._quiet and _fault_text(bot, fault) in self._told

    def _show_waits(self, waits: Sequence[Wait]) -> None:
        """Warns once about each bot that waits long for its moves."""
        for wait in waits:
            if wait.bot not in self._waiting:
                self._waiting.add(wait.bot)
                self.say(f"warning: {wait.text}")

    def _estimate(self) -> None:
        """Shows how long the rest takes once the first games allow an estimate: after the bar, and
        on a line if it is long.
        """
        elapsed_s = time.monotonic() - self._began
        if elapsed_s < self._next_estimate_s:
            return
        self._next_estimate_s = elapsed_s + ESTIMATE_EVERY_S
        to_go = int(self._bar.total or 0) - self._session.known - self._forecast.games
        seconds = self._forecast.left_s(elapsed_s, to_go)
        is_known = self._forecast.is_known(elapsed_s)
        if is_known and not self._is_compared:
            left = tqdm.format_interval(round(seconds))
            self._bar.bar_format = BAR.replace("{postfix}", f", {left} to go{{postfix}}")
        if is_known and not self._is_estimated:
            self._is_estimated = True
            if seconds > LONG_S:
                self.say(self._left_text(seconds))
                self._say_few_deals()
        if self.if_long is not None and seconds > MUCH_S and elapsed_s > ASK_S:
            ask = self.if_long
            self.if_long = None
            ask(to_go, seconds, f"{'about' if is_known else 'at least'} {duration_text(seconds)}")

    def _left_text(self, seconds: float) -> str:
        if self._is_compared:
            return CLEAR
        first = f"by the first {counted(self._forecast.games, 'game')}"
        most = "at most " if self._session.run.config.is_open else ""
        return f"{most}about {duration_text(seconds)} to go, {first}"

    def _say_few_deals(self) -> None:
        slots = self._workers.slots
        if self._session.run.schedule.most_places < slots:
            self.say(FEW_DEALS.format(counted(slots, "worker")))


def _fault_text(bot: str, fault: Fault) -> str:
    return f"forfeit: {bot} ({fault.kind}): {explained(fault.detail)}"


def late_text(late: Sequence[str], slots: int, clock: str) -> str:
    """Advice about bots that answered late; ``late`` has an entry for each game that this cost."""
    has_own = all(odds_of(label).move_ms for label in late)
    larger = "a larger move_ms" if has_own else "a larger --move-ms"
    bots = counted(len(set(late)), "bot")
    games = counted(len(late), "game")
    said = f"{bots} answered late in {games}"
    if clock == "cpu":
        return f"{said}, by their own CPU time: try {larger}"
    cures = f"--jobs 1 or {larger}" if slots > 1 else larger
    return f"{said}: was the machine busy? Try {cures}"


def plan_text(session: Session) -> str:
    """A sentence on what a run plays, with the numbers of bots, deals and games."""
    config = session.run.config
    schedule = session.run.schedule
    most = "at most " if config.is_open else ""
    boards = ", ".join(config.boards)
    if asked := config.compare:
        opponents = f", both against {', '.join(config.pool)}" if config.pool else ""
        by = ", by margin" if asked.by == "margin" else ""
        games = f"at most {schedule.planned:,} games{by}"
        return f"{asked.new} against {asked.old}{opponents}, on {boards}, {games}"
    if config.tune:
        names = ", ".join(parameter.name for parameter in config.tune.parameters)
        games = counted(schedule.games, "game")
        return f"tuning {names} of {config.tune.bot}, on {boards}, {games}"
    where = f"in matches of {title_of(config.match)}" if config.match else f"on {boards}"
    who = f"{counted(len(config.bots), 'bot')}, {counted(len(schedule.line_ups), 'line-up')}"
    deals = f"{counted(config.deals, 'deal')} x {counted(schedule.block_size, 'seating')}"
    return f"{who} x {most}{deals} {where} = {most}{counted(schedule.planned, 'game')}"


class Forecast:
    """Estimates how long the rest of a run takes, from the games so far. ``slots`` is the number of
    games played at once, 0 if unknown.
    """

    def __init__(self, config: RunConfig, slots: int) -> None:
        self._config = config
        self._slots = slots
        self._seats = Counter[str]()
        self._ms = defaultdict[str, float](float)
        self._longest_s = 0.0
        self.games = 0

    def note(self, record: GameRecord) -> None:
        """Counts a game that has ended."""
        self.games += 1
        self._longest_s = max(self._longest_s, sum(record.think_ms) / 1000)
        for bot, ms in zip(record.bots, record.think_ms, strict=True):
            self._seats[bot] += 1
            self._ms[bot] += ms + SEAT_MS

    def is_known(self, elapsed_s: float) -> bool:
        """Whether every bot has played enough for an estimate; before that, the estimate is a lower
        bound.
        """
        return elapsed_s >= LEARN_S and self._has_seen_all()

    def _has_seen_all(self) -> bool:
        """Whether every bot has played enough games."""
        return all(self._seats[bot] >= MIN_GAMES for bot in self._config.bots)

    def wait_text(self) -> str:
        """Roughly how long the running games take to end: at most as long as the bots thought in
        the longest game so far or, before every bot has ended some games, as long as they may
        think. Empty if that is a moment.
        """
        is_known = self._has_seen_all()
        seconds = self._longest_s if is_known else self._limit_s()
        if seconds < MOMENT_S:
            return ""
        duration = f"{round(seconds)} s" if seconds < LONG_S else duration_text(seconds)
        basis = "by the games so far" if is_known else "by the time limits"
        return f", which takes at most about {duration} {basis}"

    def _limit_s(self) -> float:
        """How long a game may take, roughly, if its bots use all their time."""
        turns = TURNS / self._config.players
        times = [timing_for(label, self._config.timing) for label in self._config.bots]
        by_move = [turns * time.move_ms for time in times]
        by_game = [(time.game_ms or inf) + turns * time.increment_ms for time in times]
        return self._config.players * fmean(map(min, by_move, by_game)) / 1000

    def left_s(self, elapsed_s: float, to_go: int) -> float:
        """A lower bound on the seconds left: bots that have not played yet count as instant,
        running games as half done.
        """
        if not self.games:
            return 0.0
        begun = sum(self._ms.values()) * (1 + self._slots / 2 / self.games)
        return elapsed_s * to_go * self._game_ms() / begun

    def _game_ms(self) -> float:
        """The mean time of a game for its bots, over all line-ups."""
        config = self._config
        took = {bot: self._ms[bot] / max(self._seats[bot], 1) for bot in config.bots}
        first = took.pop(config.challenger, None) if config.challenger else None
        seats = config.players - (first is not None)
        return (first or 0) + seats * sum(took.values()) / len(took)


def duration_text(seconds: float) -> str:
    """A duration to about two digits: ``3 min``, ``2 h 20 min``, ``14 h``, ``3 days``."""
    minutes = max(1, round(seconds / 60))
    if minutes < 60:  # noqa: PLR2004 - an hour
        return f"{minutes} min"
    hours, rest = divmod(round(minutes, -1), 60)
    if hours < 10:  # noqa: PLR2004 - minutes still matter
        return f"{hours} h {rest} min" if rest else f"{hours} h"
    return f"{round(minutes / 60)} h" if minutes < 48 * 60 else f"{round(minutes / 1440)} days"
