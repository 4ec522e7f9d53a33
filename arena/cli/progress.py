"""What a run shows on stderr while it plays: a bar where there is a terminal, and every event worth
a line.
"""

import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from typing import Self

from tqdm import tqdm

from arena.cli.estimate import LONG_S, SLOW_S, duration_text, left_s, longest_s
from arena.cli.leaders import Leaders, erasing, redraw
from arena.cli.terminal import columns_of, folded
from arena.errors import FaultKind, counted, printable
from arena.players.builtin import is_built_in
from arena.players.odds import odds_of
from arena.records.record import Fault
from arena.rules import CORE
from arena.rules.rounds import title_of
from arena.rules.rulebook import explained
from arena.tournament.events import (
    Event,
    GamePlayed,
    MachineChanged,
    MachinesDiffer,
    NoWorkers,
    Stopping,
    Voided,
    WorkerBusy,
    WorkerDied,
    WorkerRefused,
)
from arena.tournament.place import Workers
from arena.tournament.session import Session

SHOWN_FAULTS = 5
BAR = "{percentage:3.0f}% |{bar}| {n_fmt}/{total_fmt}, {rate_fmt}, {remaining} to go{postfix}"
GAUGE = "{desc}{n_fmt} games{postfix}{bar:0}"
"""Instead of the bar where the playing nearly always ends long before the last game; cut at the
edge of the terminal as tqdm cuts only lines with a bar.
"""


class Progress:
    """A listener for a runner's events; use it as a context manager around the playing.

    ``headline`` says what is played; ``figures`` are shown after the bar.
    """

    def __init__(
        self, session: Session, workers: Workers, *, quiet: bool, headline: str = ""
    ) -> None:
        self._session = session
        self._workers = workers
        self._quiet = quiet
        self._headline = headline or plan_text(session)
        self._faults = 0
        self._late: list[str] = []
        self._total = session.schedule.planned
        self._played = 0
        self._began = time.monotonic()
        self._is_estimated = False
        self._slow = threading.Timer(SLOW_S, self._say_slow)
        self._slow.daemon = True
        self._own_us = Counter[int]()
        self.figures: dict[str, str] = {}
        self._shown: dict[str, str] = {}
        self._bar: tqdm | None = None  # type: ignore[type-arg]
        self._leaders: Leaders | None = None
        self._columns = 0

    def __enter__(self) -> Self:
        session, known = self._session, self._session.known
        if session.repaired:
            self.say(
                f"warning: the journal ended in a torn record of {session.repaired} bytes: cut off,"
                " kept in games.torn, played again"
            )
        self.say(
            f"{session.folder}: {self._headline}"
            + (f", {counted(known, 'game')} already played" if known else "")
        )
        self.say(f"{self._workers.text}, rules core {CORE}, sandbox {session.setup.sandbox.tier}")
        self._slow.start()
        tqdm.monitor_interval = 0
        self._bar = tqdm(
            total=self._total,
            initial=known,
            unit="game",
            disable=True if self._quiet else None,
            dynamic_ncols=True,
            bar_format=BAR if session.config.compare is None else GAUGE,
            smoothing=0.1,
            postfix={"faults": 0} if session.config.compare is None else None,
        )
        self._columns = self.columns
        if self._columns and self._has_leaders():
            self._leaders = Leaders(session.folder)
        return self

    @property
    def columns(self) -> int:
        """How wide the terminal is on which there is a bar; 0 without one."""
        if self._bar is None or self._bar.disable:
            return 0
        try:
            return os.get_terminal_size(sys.stderr.fileno()).columns
        except OSError:
            return 0

    def describe(self, text: str) -> None:
        """Shows this before the number of games, from the next drawing on."""
        if self._bar is not None:
            self._bar.set_description_str(text, refresh=False)

    def _has_leaders(self) -> bool:
        """A comparison has its own line, a search no standings, and a dumb terminal one line."""
        config = self._session.config
        is_plain = config.compare is not None or config.tune is not None
        return not is_plain and os.environ.get("TERM") != "dumb"

    def __exit__(self, *_: object) -> None:
        self._slow.cancel()
        if self._leaders is not None:
            self._leaders.close()
        if self._bar is not None:
            self._bar.close()
        if self._faults:
            self.say(
                f"{counted(self._faults, 'forfeit')} in this session; their evidence is in"
                f" {self._session.folder / 'faults'}"
            )
        if len(self._late) > 1:
            self.say(late_text(self._late, self._workers.places, self._session.config.clock))
        if self._own_us:
            half, most = (percentile(self._own_us, share) / 1000 for share in (0.5, 0.99))
            self.say(
                f"the arena's own time between two moves: p50 {half:.2f} ms, p99 {most:.2f} ms"
            )

    def show(self, event: Event) -> None:
        """Shows one event."""
        match event:
            case GamePlayed(outcome):
                self._played += 1
                self._show_faults(outcome.record.bots, outcome.record.faults)
                self._own_us.update(map(coarse, outcome.own_us))
                if self._bar is not None:
                    self._heed_size()
                    self._show_figures()
                    self._bar.update()
                if self._leaders is not None:
                    self._leaders.note()
                if not self._is_estimated:
                    self._estimate()
            case Voided(game, reason, given_up):
                self.say(
                    f"warning: {game} is void ({reason}); it is"
                    f" {'given up' if given_up else 'played again'}"
                )
            case WorkerDied(games):
                self.say(
                    f"warning: a worker died: the {counted(games, 'game')} that were handed out but"
                    " had not come back are played again"
                )
            case MachineChanged() | MachinesDiffer() | WorkerRefused() | WorkerBusy() | NoWorkers():
                self.say(cluster_text(event))
            case Stopping(running):
                self.say(
                    f"stopping: {counted(running, 'running game')} to finish first; press Ctrl-C"
                    " again to drop them"
                )

    def _say_slow(self) -> None:
        """Says how long it may take by the limits of time, where the games are too slow to tell
        soon; another thread calls this.
        """
        session, places = self._session, self._workers.places
        processes = sum(not is_built_in(bot) for bot in session.setup.bots.values())
        games = self._total - session.known
        is_bounded = places and session.config.compare is None
        seconds = longest_s(session.config, games, places, processes) if is_bounded else 0
        if not self._is_estimated and seconds > LONG_S:
            self.say(
                f"{counted(self._played, 'game')} in {SLOW_S} s: an estimate follows; "
                f"by the time limits it is at most about {duration_text(seconds)}"
            )

    def _estimate(self) -> None:
        """Says once how long the rest takes, where that is long, as
        soon as the first games tell.
        """
        to_go = self._total - self._session.known - self._played
        seconds = left_s(self._played, time.monotonic() - self._began, to_go, self._workers.places)
        self._is_estimated = seconds is not None
        if seconds is not None and seconds > LONG_S:
            self.say(self._left_text(seconds))

    def _left_text(self, seconds: float) -> str:
        """What all games of a comparison would take tells nothing: most end after a hundredth of
        them.
        """
        if self._session.config.compare is not None:
            return (
                "this ends as soon as it is clear which is better, mostly long before its last game"
            )
        first = f"by the first {counted(self._played, 'game')}"
        most = "at most " if self._session.config.is_open else ""
        return f"{most}about {duration_text(seconds)} to go, {first}"

    def _show_figures(self) -> None:
        figures = {**self.figures, "faults": str(self._faults)}
        if self._session.config.compare is not None and not self._faults:
            del figures["faults"]
        if self._bar is not None and figures != self._shown:
            self._shown = figures
            self._bar.set_postfix(figures, refresh=False)

    def _heed_size(self) -> None:
        """Draws everything anew where the terminal has become narrower, and has broken the bar into
        several lines.
        """
        before, self._columns = self._columns, self.columns
        if not 0 < self._columns < before or self._bar is None:
            return
        if os.environ.get("TERM") != "dumb":
            sys.stderr.write(erasing(before, self._columns))
        redraw(self._bar)
        if self._leaders is not None:
            self._leaders.redraw()

    def _show_faults(self, bots: list[str], faults: list[Fault]) -> None:
        for fault in faults:
            self._faults += 1
            if fault.kind == FaultKind.LATE:
                self._late.append(bots[fault.seat])
            if self._faults <= SHOWN_FAULTS:
                self.say(f"forfeit: {bots[fault.seat]} ({fault.kind}): {explained(fault.detail)}")
            elif self._faults == SHOWN_FAULTS + 1:
                self.say(f"further forfeits are in {self._session.folder / 'faults'}")

    def expect(self, games: int) -> None:
        """Says how many games there will be."""
        self._total = games
        if self._bar is not None:
            self._bar.total = games
            self._bar.refresh()

    def say(self, text: str) -> None:
        """Shows a line above the bar."""
        if not self._quiet:
            tqdm.write(folded(printable(text), columns_of(sys.stderr)), file=sys.stderr)


def cluster_text(
    event: MachineChanged | MachinesDiffer | WorkerRefused | WorkerBusy | NoWorkers,
) -> str:
    """What happened in a cluster."""
    match event:
        case MachineChanged(host, 0):
            return f"warning: {host} has stopped playing"
        case MachineChanged(host, places, speed, sandbox):
            return f"{host}: {counted(places, 'game')} at once, speed {speed}/s, sandbox {sandbox}"
        case MachinesDiffer(slow, fast, ratio):
            return (
                f"warning: {fast} is {ratio:.1f} times as fast as {slow}: the same --move-ms gives"
                " a bot more thought there; compare bots on similar machines, or allow so much"
                " time that it does not matter"
            )
        case WorkerRefused(worker, host, reason):
            return (
                f"warning: the worker {worker}{f' on {host}' if host else ''} may not play:"
                f" {reason}"
            )
        case WorkerBusy(worker):
            return (
                f"the worker {worker} has not answered yet: it builds a bot, plays for someone"
                " else, or has stopped"
            )
        case NoWorkers(address, seconds):
            return (
                f"waiting {seconds:g} s for workers at {address}: start some with 'dask worker"
                f" {address}'"
            )


def late_text(late: Sequence[str], places: int, clock: str) -> str:
    """What may help bots that answered late, one entry for each game that it cost."""
    bots = counted(len(set(late)), "bot")
    has_own = all(odds_of(label).move_ms for label in late)
    larger = "a larger move_ms" if has_own else "a larger --move-ms"
    if clock == "cpu":
        return (
            f"{bots} answered late in {counted(len(late), 'game')}, by their own processor time:"
            f" try {larger}"
        )
    cures = f"--jobs 1 or {larger}" if places > 1 else larger
    return (
        f"{bots} answered late in {counted(len(late), 'game')}: was the machine busy? Try {cures}"
    )


def coarse(microseconds: int) -> int:
    """Rounds to two digits, so that a run of any length stores few different numbers."""
    unit: int = 10 ** max(0, len(str(microseconds)) - 2)
    return microseconds // unit * unit


def percentile(counts: Counter[int], share: float) -> int:
    """The smallest value that this share of all values does not exceed."""
    rest = counts.total() * share
    for value in sorted(counts):
        rest -= counts[value]
        if rest <= 0:
            return value
    return max(counts)


def plan_text(session: Session) -> str:
    """What a run plays: how many of what."""
    config, schedule = session.config, session.schedule
    most = "at most " if config.is_open else ""
    where = (
        f"in matches of {title_of(config.match)}"
        if config.match
        else f"on {', '.join(config.boards)}"
    )
    return (
        f"{counted(len(config.bots), 'bot')}, {counted(len(schedule.line_ups), 'line-up')} "
        f"x {most}{counted(config.deals, 'deal')} x {counted(schedule.block_size, 'seating')} "
        f"{where} = {most}{counted(schedule.planned, 'game')}"
    )
