"""How long each bot of a game may still think: the time for a move, and the bank for the game.

How the time of an answer is measured, and whether it was late, is in `players.timekeeper`.
"""

from collections.abc import Sequence

from arena.records.record import NS_PER_MS
from arena.records.timing import Timing
from arena.values import ClockKind


class Clock:
    """The time that each seat has used, in nanoseconds, and has left in its bank. Each seat has its
    own time control.

    A move may take ``move_ms``, but never more than is left in the seat's bank. After the move,
    ``increment_ms`` is added to the bank.
    """

    def __init__(self, timings: Sequence[Timing]) -> None:
        # The literals "wall" and "cpu" are needed: msgspec omits a default only if it is the
        # identical object, which an unpickled text is not.
        self.kind: ClockKind = "wall" if timings[0].clock == "wall" else "cpu"
        self._move_ns = [timing.move_ms * NS_PER_MS for timing in timings]
        self._increment_ns = [timing.increment_ms * NS_PER_MS for timing in timings]
        self._banks_ns: list[int | None] = []
        for timing in timings:
            self._banks_ns.append(None if timing.game_ms is None else timing.game_ms * NS_PER_MS)
        self._spent_ns = [0] * len(timings)
        self._slowest_ns = [0] * len(timings)

    def budget_ns(self, seat: int) -> int:
        """How many nanoseconds the next answer of ``seat`` may take."""
        bank_ns = self._banks_ns[seat]
        return self._move_ns[seat] if bank_ns is None else min(self._move_ns[seat], bank_ns)

    def spend(self, seat: int, nanoseconds: int) -> None:
        """Adds the ``nanoseconds`` that an answer of ``seat`` took, which was not late, and updates
        its bank.
        """
        self._spent_ns[seat] += nanoseconds
        self._slowest_ns[seat] = max(self._slowest_ns[seat], nanoseconds)
        bank_ns = self._banks_ns[seat]
        if bank_ns is not None:
            self._banks_ns[seat] = max(0, bank_ns - nanoseconds) + self._increment_ns[seat]

    def think_ms(self) -> list[float]:
        """By seat, the total time used, in ms with one decimal."""
        return [round(spent / NS_PER_MS, 1) for spent in self._spent_ns]

    def slowest_ms(self) -> list[float]:
        """By seat, the time of the slowest answer, in ms with one decimal."""
        return [round(slowest / NS_PER_MS, 1) for slowest in self._slowest_ns]
