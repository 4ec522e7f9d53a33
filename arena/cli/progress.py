"""What a run shows on stderr while it plays: a bar on a terminal, a line for every important event,
and an estimate of the time left.

The estimate uses the time that each bot has taken in this session. The time limits would be a poor
basis: most bots use a hundredth of theirs, so such an estimate turned 30 seconds into 15 minutes.
The mean time of the first games is no better: when one of nine bots thinks long and plays first, 8
minutes became two days.
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
from arena.exports.grid import duration_text
from arena.faults import FaultKind
from arena.match.referee import SlowStart, Wait
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
"""If an estimate for a whole run is at most this many seconds, no line is printed about it."""
MUCH_S = 600
"""If a run will take more than this many seconds, `Progress.if_long` is called, which may stop it.
"""
ASK_S = 10
"""The number of seconds of playing before which `Progress.if_long` is not called."""
LEARN_S = 5
"""The number of seconds of playing before which the time left counts as unknown. The start of the
bots makes the first games slow.
"""
MIN_GAMES = 2
"""The number of games that each bot must have played before the time left counts as known."""
SEAT_MS = 5.0
"""Roughly the time in ms that a seat takes in a game in addition to its bot's thinking. A built-in
bot takes hardly more than this.
"""
TURNS = 44
"""Roughly the number of turns of all bots together in a long game."""
MOMENT_S = 3
"""Waits of fewer seconds than this are not mentioned when a run is stopped."""
ESTIMATE_EVERY_S = 0.2
"""The pause between two estimates, in seconds. An estimate loops over all bots, which takes longer
than a game of built-in bots (less than a millisecond).
"""
SHOWN_FAULTS = 5
"""At most this many different faults are printed in a session, then one line that refers to the
folder of faults.
"""
BAR = "{percentage:3.0f}% |{bar}| {n_fmt}/{total_fmt}, {rate_fmt}{postfix}"
"""tqdm's format for the bar of a run."""
OPEN = "{n_fmt} games{postfix}{bar:0}"
"""tqdm's format for comparisons, which nearly always end long before their last game: a count and
no bar. The empty ``{bar:0}`` is there because tqdm cuts only lines with a bar at the terminal's
edge.
"""
FEW_DEALS = (
    "note: a deal is played in one place at a time: more --deals, or --seatings single, keep all {}"
    " busy"
)
TORN = (
    "warning: the journal ended in a torn record of {} bytes: cut off, kept in games.torn, played"
    " again"
)


class Progress:
    """Shows a runner's events; use it as a context manager around the playing.

    ``headline`` says what is played. ``if_long``, if set, is called at most once: when the games
    left will take more than `MUCH_S` seconds. Its arguments are the number of games left, their
    time in seconds, and that time as text. ``doubt`` is set by the callback: why it stopped the
    run, or empty.
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
        self._printed_faults = set[str]()
        self._has_left_out = False
        self._waiting = set[tuple[str, type]]()
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
        """Whether a bar is drawn: stderr is a terminal, and the user did not ask for quiet."""
        return not self._bar.disable

    def figure(self, name: str, value: str) -> None:
        """Shows a figure after the bar, from its next redraw on. ``name`` says what the figure is,
        such as ``faults``; ``value`` is the figure as text, such as ``0``.
        """
        self._figures[name] = value
        self._bar.set_postfix(self._figures, refresh=False)

    @property
    def has_times(self) -> bool:
        """Whether a game has ended in this session, so that times can be estimated."""
        return self._forecast.games > 0

    def seconds_for(self, games: int) -> float:
        """An estimate of the seconds that this number of further games takes; see `has_times`."""
        return self._forecast.left_s(time.monotonic() - self._began, games)

    def expect(self, games: int) -> None:
        """Sets the total number of games of the bar to ``games``."""
        self._bar.total = games
        self._bar.refresh()

    def say(self, text: str) -> None:
        """Prints a text as a line above the bar, or nothing if the user asked for quiet."""
        if not self._quiet:
            tqdm.write(folded(printable(text), columns_of(sys.stderr)), file=sys.stderr)

    def confirm(self, text: str) -> bool:
        """Asks the question ``text`` above the bar, and returns whether the answer is yes; Ctrl-C
        means no. The time until the answer does not count as time of playing. Call it only if
        `has_bar`.
        """
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        began = time.monotonic()
        try:
            # Keys that were pressed before the question are not an answer to it.
            termios.tcflush(sys.stdin, termios.TCIFLUSH)
            with tqdm.external_write_mode(file=sys.stderr):
                return click.confirm(folded(text, columns_of(sys.stderr)), err=True)
        except click.Abort:
            return False
        finally:
            signal.signal(signal.SIGINT, before)
            # The time that the user took to answer is not time that the games took.
            self._began += time.monotonic() - began
            self._bar.unpause()

    def show(self, event: RunnerEvent) -> None:
        """Shows one event of the runner: updates the bar, and prints a line if the
        event needs one.
        """
        match event:
            case GamePlayed(outcome):
                self._forecast.note(outcome.record)
                self._show_faults(outcome.record.bots, outcome.record.faults)
                self._show_waits([*outcome.waits, *outcome.slow_starts])
                self._bar.update()
                self._estimate()
            case Stopping(running):
                wait = self._forecast.wait_text() if running else ""
                games = f"{counted(running, 'running game')} to finish first{wait}"
                self.say(f"stopping: {games}; press Ctrl-C again to drop them at once")
            case Voided(game, reason, given_up):
                if not given_up:  # games that were given up are listed at the end of the session
                    self.say(f"warning: {game} is void ({reason}); it is played again")
            case BotBroken(bot, games):
                self.say(f"{bot} plays no more: all of its first {games} games failed alike")
            case WorkersChanged(text):
                self.say(text)

    def _show_faults(self, bots: list[str], faults: list[Fault]) -> None:
        """Counts the faults of a game, whose bots by seat are ``bots``, and prints a line for each
        fault that has not been printed in the same words, up to `SHOWN_FAULTS` lines in a session.
        """
        for fault in faults:
            self._faults += 1
            self.figure("faults", str(self._faults))
            if fault.kind == FaultKind.LATE:
                self._late.append(bots[fault.seat])
            text = _fault_text(bots[fault.seat], fault)
            if text in self._printed_faults:
                continue
            if len(self._printed_faults) < SHOWN_FAULTS:
                self._printed_faults.add(text)
                self.say(text)
            elif not self._has_left_out:
                self._has_left_out = True
                self.say(f"further forfeits are in {self._session.run.folder / 'faults'}")

    def has_shown(self, bot: str, fault: Fault) -> bool:
        """Whether this session has printed a line about a fault of this bot in the words of
        ``fault``. False if it prints nothing.
        """
        return not self._quiet and _fault_text(bot, fault) in self._printed_faults

    def _show_waits(self, waits: Sequence[Wait | SlowStart]) -> None:
        """Prints a warning for each bot that had to wait long before its moves or at its start, at
        most once for each bot and kind.
        """
        for wait in waits:
            kind = (wait.bot, type(wait))
            if kind not in self._waiting:
                self._waiting.add(kind)
                self.say(f"warning: {wait.text}")

    def _estimate(self) -> None:
        """Estimates the time left, at most once in `ESTIMATE_EVERY_S` seconds, and shows it after
        the bar. The first known estimate is also printed as a line, if it is longer than `LONG_S`.
        Calls ``if_long`` if the run is too long.
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
                # What is left of a comparison follows from its blocks, and not from its plan.
                if not self._is_compared:
                    self.say(self._left_text(seconds))
                self._say_few_deals()
        if self.if_long is not None and seconds > MUCH_S and elapsed_s > ASK_S:
            ask = self.if_long
            self.if_long = None
            ask(to_go, seconds, f"{'about' if is_known else 'at least'} {duration_text(seconds)}")

    def _left_text(self, seconds: float) -> str:
        """A line about the time left, which is ``seconds``."""
        first = f"by the first {counted(self._forecast.games, 'game')}"
        most = "at most " if self._session.run.config.is_open else ""
        return f"{most}about {duration_text(seconds)} to go, {first}"

    def _say_few_deals(self) -> None:
        """Prints a note if the run has too few deals to keep all workers busy."""
        slots = self._workers.slots
        if self._session.run.schedule.most_places < slots:
            self.say(FEW_DEALS.format(counted(slots, "worker")))


def _fault_text(bot: str, fault: Fault) -> str:
    """A line about a forfeit: the bot, the kind of the fault, and its detail."""
    return f"forfeit: {bot} ({fault.kind}): {explained(fault.detail)}"


def late_text(late: Sequence[str], slots: int, clock: str) -> str:
    """Advice about bots that answered too late. ``late`` has a bot's name once for each game that
    the bot lost in this way. ``slots`` is the number of games played at the same time, and
    ``clock`` the run's clock, ``cpu`` or ``wall``.
    """
    has_own = all(odds_of(label).move_ms for label in late)
    larger = "a larger move_ms" if has_own else "a larger --move-ms"
    bots = counted(len(set(late)), "bot")
    games = counted(len(late), "game")
    summary = f"{bots} answered late in {games}"
    if clock == "cpu":
        return f"{summary}, by their own CPU time: try {larger}"
    cures = f"--jobs 1 or {larger}" if slots > 1 else larger
    return f"{summary}: was the machine busy? Try {cures}"


def plan_text(session: Session) -> str:
    """A line about what a run plays: its bots, boards, deals and number of games."""
    config = session.run.config
    schedule = session.run.schedule
    most = "at most " if config.is_open else ""
    boards = ", ".join(config.boards)
    if comparison := config.compare:
        opponents = f", both against {', '.join(config.pool)}" if config.pool else ""
        by = ", by margin" if comparison.by == "margin" else ""
        games = f"at most {schedule.planned:,} games{by}"
        return f"{comparison.new} against {comparison.old}{opponents}, on {boards}, {games}"
    if config.tune:
        names = ", ".join(parameter.name for parameter in config.tune.parameters)
        games = counted(schedule.games, "game")
        opponents = f", against {', '.join(config.pool)}" if config.pool else ""
        return f"tuning {names} of {config.tune.bot}{opponents}, on {boards}, {games}"
    where = f"in matches of {title_of(config.match)}" if config.match else f"on {boards}"
    who = f"{counted(len(config.bots), 'bot')}, {counted(len(schedule.line_ups), 'line-up')}"
    deals = f"{counted(config.deals, 'deal')} x {counted(schedule.block_size, 'seating')}"
    return f"{who} x {most}{deals} {where} = {most}{counted(schedule.planned, 'game')}"


class Forecast:
    """Estimates the time left of a run from the games of this session. ``slots`` is the number of
    games played at the same time, 0 if unknown. ``games`` is the number of games noted.
    """

    def __init__(self, config: RunConfig, slots: int) -> None:
        self._config = config
        self._slots = slots
        self._seats = Counter[str]()
        self._ms = defaultdict[str, float](float)
        self._longest_s = 0.0
        self.games = 0

    def note(self, record: GameRecord) -> None:
        """Notes a game that has ended, with the time that each bot took in it."""
        self.games += 1
        self._longest_s = max(self._longest_s, sum(record.think_ms) / 1000)
        for bot, ms in zip(record.bots, record.think_ms, strict=True):
            self._seats[bot] += 1
            self._ms[bot] += ms + SEAT_MS

    def is_known(self, elapsed_s: float) -> bool:
        """Whether the estimate can be trusted after ``elapsed_s`` seconds of playing: at least
        `LEARN_S` seconds have passed, and every bot has played `MIN_GAMES` games. Until then, the
        estimate is shown as "at least".
        """
        return elapsed_s >= LEARN_S and self._has_seen_all()

    def _has_seen_all(self) -> bool:
        """Whether every bot of the run has played at least `MIN_GAMES` games of this session."""
        return all(self._seats[bot] >= MIN_GAMES for bot in self._config.bots)

    def wait_text(self) -> str:
        """A clause, such as ", which takes at most about 20 s by the games so far", about the time
        until the running games have ended: the thinking time of the longest game so far or, as long
        as a bot has played fewer than `MIN_GAMES` games, the time that the limits allow. Empty if
        that is less than `MOMENT_S` seconds.
        """
        is_known = self._has_seen_all()
        seconds = self._longest_s if is_known else self._limit_s()
        if seconds < MOMENT_S:
            return ""
        duration = f"{round(seconds)} s" if seconds < LONG_S else duration_text(seconds)
        basis = "by the games so far" if is_known else "by the time limits"
        return f", which takes at most about {duration} {basis}"

    def _limit_s(self) -> float:
        """Roughly how many seconds a game takes if its bots use all the time that their limits
        allow.
        """
        turns = TURNS / self._config.players
        times = [timing_for(label, self._config.timing) for label in self._config.bots]
        by_move = [turns * time.move_ms for time in times]
        by_game = [(time.game_ms or inf) + turns * time.increment_ms for time in times]
        return self._config.players * fmean(map(min, by_move, by_game)) / 1000

    def left_s(self, elapsed_s: float, to_go: int) -> float:
        """An estimate of the seconds that ``to_go`` more games take, after ``elapsed_s`` seconds of
        playing; 0 before the first game has ended. Running games count as half done, and bots that
        have not finished a game count as instant, which makes the estimate too low until every bot
        has played.
        """
        if not self.games:
            return 0.0
        begun = sum(self._ms.values()) * (1 + self._slots / 2 / self.games)
        return elapsed_s * to_go * self._game_ms() / begun

    def _game_ms(self) -> float:
        """The estimated sum of the times of a game's bots, in ms, as a mean over all line-ups. It
        uses each bot's mean time so far.
        """
        config = self._config
        took = {bot: self._ms[bot] / max(self._seats[bot], 1) for bot in config.bots}
        first = took.pop(config.challenger, None) if config.challenger else None
        seats = config.players - (first is not None)
        return (first or 0) + seats * sum(took.values()) / len(took)
