"""How long to think about each move, so that no answer is late and a bank lasts for the game."""

from collections.abc import Sequence

from arena.players.messages import ClockKind, Start
from arena.sdk.stopwatch import Stopwatch

RESERVE_MS, RESERVE, MOST_RESERVE = 15, 0.05, 0.2
"""What is kept for surprises: so many ms, but at least the first share of a long limit, and at most
the second of a short one.

Measured on two busy cores: one answer in a thousand takes 10 ms longer than it should, as a stall
of the machine may be booked as processor time. Garbage collections grow with the search.
"""
LEAST = 0.4
"""The least part of a limit to think for, however late earlier answers were."""
FORGETTING = 0.8
"""What is left of an old lateness with each answer. A full garbage collection, or what else takes a
bot by surprise, comes every few moves: it should be remembered until then.
"""
MORE_MOVES = 3


class TimeManager:
    """Divides the time of one bot process: it starts a stopwatch for every answer, and learns how
    late the bot stops.

    A seat makes about as many moves as the seat with the fewest pagodas still has to place (1.0 to
    1.3 times as many, measured with two to four players on both boards), and up to nine more. So a
    bank is divided by that number and MORE_MOVES: what is kept too long comes to the moves that
    follow, and it never runs out.
    """

    def __init__(self) -> None:
        self._clock: ClockKind = "cpu"
        self._move_ms = self._increment_ms = self._most_nodes = 0
        self._bank_ms: float | None = None
        self._late_ms = 0.0

    def begin(self, start: Start) -> None:
        """A game begins, with this time control."""
        self._clock, self._move_ms = start.clock, start.move_ms
        self._bank_ms, self._increment_ms = start.game_ms, start.increment_ms
        nodes = start.options.get("nodes")
        self._most_nodes = max(0, nodes) if type(nodes) is int else 0  # a bool is no number of them

    def watch(self, time_ms: int, left: Sequence[int], answered_ns: int | None = None) -> Stopwatch:
        """Starts the stopwatch of an answer that may take ``time_ms``, when the seats have this
        many pagodas left and the process had used ``answered_ns`` at the answer before.
        """
        think_ms = self._most_ms(time_ms)
        if self._bank_ms is not None:
            if time_ms < self._move_ms:  # the smaller of the two, so this is the bank
                self._bank_ms = time_ms
            share_ms = self._bank_ms / (min(left) + MORE_MOVES) + self._increment_ms
            think_ms = min(think_ms, share_ms)
        return Stopwatch(think_ms, self._clock, answered_ns, self._most_nodes)

    def _most_ms(self, time_ms: int) -> float:
        if self._clock == "wall":  # a stall of a busy machine must fit in as well
            reserve_ms = 0.25 * time_ms + 25
        else:
            reserve_ms = max(RESERVE * time_ms, min(RESERVE_MS, MOST_RESERVE * time_ms))
        return max(LEAST * time_ms, time_ms - reserve_ms - self._late_ms)

    def answered(self, watch: Stopwatch) -> None:
        """The answer that was timed by this stopwatch is sent."""
        cost_ms = watch.elapsed_ms
        self._late_ms = max(FORGETTING * self._late_ms, cost_ms - watch.think_ms)
        if self._bank_ms is not None:
            self._bank_ms = max(0.0, self._bank_ms - cost_ms) + self._increment_ms
