"""A clock and a channel that follow a script, for tests of what a bot is charged for."""

from arena.players.channel import TimedOut

STALL_NS = 3_600_000_000_000
"""An hour: longer than any bot may take."""


class ScriptedClock:
    """Stands in for the module ``time``: it shows the time that a test has set, and a thread that
    computes uses a whole processor.
    """

    def __init__(self):
        self.now_ns = 0

    def monotonic_ns(self):
        return self.now_ns

    def thread_time_ns(self):
        self.now_ns += 1_000_000
        return self.now_ns


class ScriptedChannel:
    """Stands in for a bot's channel: each wait takes so many ns longer than asked for, until there
    are no more of them and the answer comes.
    """

    counter = counted = -1

    def __init__(self, clock, overslept_ns):
        self._clock = clock
        self._overslept_ns = iter(overslept_ns)

    def ask(self, request, deadline_ns):
        return self.go_on(deadline_ns)

    def go_on(self, deadline_ns):
        overslept_ns = next(self._overslept_ns, None)
        if overslept_ns is None:
            return b"the answer"
        self._clock.now_ns = deadline_ns + overslept_ns
        raise TimedOut(b"")
