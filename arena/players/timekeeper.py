"""Waits for the answers of a bot, measures what they cost, in CPU time or by the wall clock, and
decides which came too late.

By the clock ``cpu``, the usual one on Linux, the time for an answer is CPU time, which `Meter`
measures. By the clock ``wall``, only the wall clock counts.
"""

import time
from collections.abc import Callable

from arena.errors import BusyMachineError
from arena.players.channel import Channel, TimedOut, Unanswered
from arena.players.meter import Meter
from arena.records.record import NS_PER_MS
from arena.values import ClockKind

FIRST_SLICE_NS = 5_000_000
SLICE_NS = 20_000_000
"""An answer is waited for in slices of this length, after a first one of FIRST_SLICE_NS. After each
slice, the arena looks at which processes use the CPU.
"""
RUNNING_NS = 1_000_000
"""A bot that uses more CPU time than this between two looks counts as running."""
WAKING_NS = 200_000
"""A bot that uses more CPU time than this after its answer may wake up again and again. Each time
costs the bot that is asked twice as much as the one that wakes up.
"""
OVERSLEPT_NS = 50_000_000
"""A slice may take this much longer than it should. If it takes even longer, the machine stalled,
and the stall is not charged.
"""
MIN_PATIENCE_NS = 3_000_000_000
PATIENCE = 10
"""An answer may take this many times its budget by the wall clock, and at least MIN_PATIENCE_NS.
So a bot is in time even if it gets only a tenth of a CPU.
"""
FAIR_SHARE = 1 / PATIENCE
"""A machine that leaves this process a smaller share of a CPU is too busy to judge bots. A slice in
which a bot waits for a CPU and gets a smaller share does not count for its patience.
"""
MOST_STARVED = 10
"""The slices that do not count may take this many times the patience."""
PROBES = 5
"""How often this process computes for a while to find out which share of the CPU it gets."""
PROBE_NS = 20_000_000
"""How long this process computes each time."""


class OutOfTime(TimedOut):
    """No answer came within ``allowance``, a text for people such as ``100 ms``. ``use`` is a text
    such as ``it used 90 ms of CPU time in 4000 ms``, empty by the wall clock.
    """

    def __init__(self, partial: bytes, allowance: str, use: str = "") -> None:
        super().__init__(partial)
        self.allowance = allowance
        self.use = use


class Overspent(Unanswered):
    """An answer came, or was still awaited, and has cost more time than its budget: ``cost_ns`` of
    CPU time. By the wall clock this does not occur.
    """

    def __init__(self, cost_ns: int) -> None:
        super().__init__()
        self.cost_ns = cost_ns


class Timekeeper:
    """Asks one bot over its channel, with a budget for each answer.

    By the clock ``cpu`` an answer costs the CPU time that all processes of the bot have used since
    the answer before it, also between requests. It may cost its budget, and by the wall clock take
    up to its `patience`. By the clock ``wall`` an answer may take its budget by the wall clock, and
    costs that time. Start-up counts as an answer.
    """

    def __init__(self, channel: Channel, meter: Meter, clock: ClockKind) -> None:
        self._channel = channel
        self._meter = meter
        self._clock = clock
        self._charged_ns = self._seen_ns = 0
        self.idle_ns = 0
        """How long the bot was idle before its last answer, see `IdleTime`; 0 by the wall clock."""

    def ask(
        self,
        request: bytes,
        budget_ns: int,
        meanwhile: Callable[..., None],
        most_idle_ns: int | None = None,
    ) -> tuple[bytes, int]:
        """Sends a request; returns the reply and its cost in ns, which may be at most
        ``budget_ns``. ``meanwhile`` is that of `Player`. ``most_idle_ns`` is how long the bot may
        be idle; None sets no limit but its patience. By the wall clock, neither is used.

        Raises OutOfTime or Overspent if the bot took too long, BusyMachineError if the machine is
        too busy to say so, and the exceptions of `Channel.ask`.
        """
        began_ns = time.monotonic_ns()
        self.idle_ns = 0
        if self._clock == "wall":
            try:
                line = self._channel.ask(request, began_ns + budget_ns)
            except TimedOut as late:
                raise OutOfTime(late.partial, f"{budget_ns // NS_PER_MS} ms") from None
            return line, min(budget_ns, time.monotonic_ns() - began_ns)
        try:
            line = self._channel.ask(request, began_ns + FIRST_SLICE_NS)
        except TimedOut as late:
            line = self._wait_on(late.partial, began_ns, budget_ns, most_idle_ns, meanwhile)
        cost_ns = self.charge(self._channel.counted if self._channel.counter >= 0 else None)
        if cost_ns > budget_ns:
            raise Overspent(cost_ns)
        return line, cost_ns

    def owed_ns(self) -> int:
        """The CPU time that the bot has used since its last answer, in ns; 0 by the wall clock."""
        return 0 if self._clock == "wall" else self._meter.used_ns() - self._charged_ns

    def ran_ns(self) -> int:
        """The CPU time in ns that the bot has used since the last call of this method or since its
        last answer, whichever is later; 0 if that is at most `RUNNING_NS`.
        """
        owed_ns = self.owed_ns()
        ran_ns = owed_ns - self._seen_ns
        self._seen_ns = owed_ns
        return ran_ns if ran_ns > RUNNING_NS else 0

    def has_woken(self) -> bool:
        """Whether the bot has used more CPU time than `WAKING_NS` since its last answer. False
        where the kernel does not count: then what it used for the answer may be seen too late.
        """
        return self._meter.counter >= 0 and self.owed_ns() > WAKING_NS

    def charge(self, used_ns: int | None = None) -> int:
        """Charges the bot for the CPU time that it owes, and returns it in ns. ``used_ns`` is the
        CPU time that the bot has used in all, if the caller knows it; else it is measured.
        """
        owed_ns = self.owed_ns() if used_ns is None else used_ns - self._charged_ns
        self._charged_ns += owed_ns
        self._seen_ns = 0
        return owed_ns

    def begin(self) -> None:
        """Ends start-up: the time that the bot has used so far is charged to no later answer. From
        now on the channel reads the counter together with each reply.
        """
        self.charge()
        if self._clock == "cpu":
            self._channel.counter = self._meter.counter

    def _wait_on(
        self,
        partial: bytes,
        began_ns: int,
        budget_ns: int,
        most_idle_ns: int | None,
        meanwhile: Callable[..., None],
    ) -> bytes:
        """Waits in short slices for the reply, of which ``partial`` has come since ``began_ns``,
        and calls ``meanwhile`` before each slice. Returns the reply. Raises an exception of `ask`
        when the budget, the patience or ``most_idle_ns`` is used up.
        """
        waited_ns = min(time.monotonic_ns() - began_ns, FIRST_SLICE_NS + OVERSLEPT_NS)
        idle = IdleTime(self._meter)
        patience_ns = patience(budget_ns)
        longest_idle_ns = patience_ns if most_idle_ns is None else most_idle_ns
        while True:
            meanwhile()
            owed_ns = self.owed_ns()
            if owed_ns >= budget_ns:
                raise Overspent(owed_ns)
            # Another bot may keep the processor busy for some seconds in ways that nobody can stop,
            # for example while many of its processes end. A look at the machine after the patience
            # is over would come too late to see that.
            is_overdue = waited_ns - idle.starved_ns >= patience_ns
            is_given_up = idle.starved_ns >= MOST_STARVED * patience_ns
            if is_overdue or is_given_up or idle.so_far_ns >= longest_idle_ns:
                # a rival that began to compute just now would make the machine look busy
                meanwhile(must_stop=True)
                raise self._overdue(partial, budget_ns, waited_ns)
            slice_began_ns = time.monotonic_ns()
            try:
                return self._channel.go_on(slice_began_ns + SLICE_NS)
            except TimedOut as late:
                partial = late.partial
            slice_ns = min(time.monotonic_ns() - slice_began_ns, SLICE_NS + OVERSLEPT_NS)
            waited_ns += slice_ns
            idle.add(slice_ns)
            self.idle_ns = idle.so_far_ns

    def _overdue(
        self, partial: bytes, budget_ns: int, waited_ns: int
    ) -> OutOfTime | Overspent | BusyMachineError:
        """The exception for a wait without an answer: the bot spent its budget, or is late because
        it slept although the machine was fair, or kept the machine busy itself; else the machine is
        too busy. Computes for up to 0.1 s to find out, and again while the bot is stopped if the
        machine seems too busy.
        """
        owed_ns = self.owed_ns()
        if owed_ns >= budget_ns:
            return Overspent(owed_ns)
        share = self._best_share()
        # a bot that wants a CPU got about as much of it in that time as this process
        wants_more = self.owed_ns() - owed_ns > PROBE_NS or not self._meter.is_started
        is_busy = share < FAIR_SHARE and wants_more
        if is_busy and self._meter.is_started:
            share, is_bot_busy = self._share_without_bot(patience(budget_ns))
            is_busy = share < FAIR_SHARE and not is_bot_busy
        if is_busy:
            return BusyMachineError(
                "this machine is too busy to time bots fairly: other programs left"
                f" {share:.0%} of a processor, and a bot was late that may not be to blame",
                "stop other programs, then go on with the same command, with --jobs 1",
            )
        used_ms = owed_ns // NS_PER_MS
        waited_ms = round(waited_ns / NS_PER_MS)
        used = f"it used {used_ms} of its {budget_ns // NS_PER_MS} ms of CPU time"
        use = f"it used {used_ms} ms of CPU time in {waited_ms} ms"
        return OutOfTime(partial, f"{waited_ms} ms ({used})", use)

    def _best_share(self) -> float:
        """The largest of up to `PROBES` results of `_share`, the last of which may be fair."""
        share = 0.0
        for _ in range(PROBES):
            if share < FAIR_SHARE:
                share = max(share, self._share())
        return share

    def _share_without_bot(self, most_ns: int) -> tuple[float, bool]:
        """Stops the bot, and lets it go on at the end. Returns the share of a CPU that this process
        gets meanwhile, and whether a process of the bot computed although it was stopped.

        A process that is about to end cannot be stopped, and the kernel does not count the time
        that its end takes. So this method looks again until no process of the bot computes, for
        ``most_ns`` if need be.
        """
        began_ns = time.monotonic_ns()
        self._meter.stop_bot()
        try:
            while True:
                runs_on = self._meter.is_runnable()
                share = self._best_share()
                if share >= FAIR_SHARE or not runs_on:
                    return share, runs_on
                # A bot that came to rest meanwhile is to be judged by one more probe.
                is_over = time.monotonic_ns() - began_ns >= most_ns
                if is_over and self._meter.is_runnable():
                    return share, runs_on
        finally:
            self._meter.resume_bot()

    def _share(self) -> float:
        """The share of a CPU that this process gets while the bot leaves it idle."""
        began_ns = time.monotonic_ns()
        own_ns = time.thread_time_ns()
        bot_ns = self._meter.used_ns()
        got_ns = 0
        while got_ns < PROBE_NS:
            got_ns = time.thread_time_ns() - own_ns
        passed_ns = time.monotonic_ns() - began_ns - (self._meter.used_ns() - bot_ns)
        return got_ns / max(got_ns, passed_ns)


def patience(budget_ns: int) -> int:
    """How long an answer with this budget may take by the wall clock, in ns."""
    return max(MIN_PATIENCE_NS, PATIENCE * budget_ns)


class IdleTime:
    """Adds up how long a bot is idle, in ns (``so_far_ns``). It is idle if it does not compute and
    no thread of it waits for a CPU or a disk. A bot that a busy machine keeps waiting is not idle.
    A bot that sleeps is.

    ``starved_ns`` is how long the bot waited for a CPU and got less than `FAIR_SHARE` of one.
    """

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._used_ns = meter.used_ns()
        self.so_far_ns = self.starved_ns = 0

    def add(self, span_ns: int) -> None:
        """Counts the last ``span_ns``, the time in ns since the last call, as idle minus what the
        bot computed in that time, unless the bot wants to compute now; else as starved if the bot
        got too little.
        """
        used_ns = self._meter.used_ns()
        computed_ns = used_ns - self._used_ns
        self._used_ns = used_ns
        if not self._meter.wants_processor():
            self.so_far_ns += max(0, span_ns - computed_ns)
        elif computed_ns < FAIR_SHARE * span_ns and self._meter.is_starved():
            self.starved_ns += span_ns
