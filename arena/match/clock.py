"""The thinking time of the seats in one game: a limit per move,
and optionally a bank for the game.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from arena.errors import ConfigError
from arena.players.folder import odds_of
from arena.players.messages import ClockKind
from arena.players.timekeeper import BEST_CLOCK

NS_PER_MS = 1_000_000


class Timing(Struct, frozen=True):
    """The time control, in ms. ``game_ms`` is None without a bank; ``startup_ms`` is the time a
    process has to answer hello.

    ``clock`` says how a bot's time is measured: by the processor time of its processes, or by the
    wall clock.
    """

    move_ms: int = 1000
    game_ms: int | None = None
    increment_ms: int = 0
    startup_ms: int = 10_000
    clock: ClockKind = BEST_CLOCK

    def of(self, label: str) -> "Timing":
        """The time control of the bot with this label, which may name limits of its own. Raises
        ConfigError.
        """
        odds = odds_of(label)
        own = {"move_ms": odds.move_ms, "game_ms": odds.game_ms, "increment_ms": odds.increment_ms}
        timing = replace(self, **{key: ms for key, ms in own.items() if ms is not None})
        if odds.increment_ms and timing.game_ms is None:
            raise ConfigError(
                f"{label}: expected game_ms with increment_ms: an increment is added to a bank",
                "name its bank too, as in 'my-bot:game_ms=5000,increment_ms=100', or give all bots"
                " one with --game-ms",
            )
        return timing


class Clock:
    """Time spent, by seat, in nanoseconds; each seat has its own time control.

    A move may take ``move_ms``, but never more than is left in the seat's bank. After the move,
    ``increment_ms`` is added to the bank.
    """

    def __init__(self, timings: Sequence[Timing]) -> None:
        # msgspec omits a default only if it is the identical object; an unpickled text is not.
        self.kind: ClockKind = "wall" if timings[0].clock == "wall" else "cpu"
        self._move_ns = [timing.move_ms * NS_PER_MS for timing in timings]
        self._increment_ns = [timing.increment_ms * NS_PER_MS for timing in timings]
        self._banks_ns = [
            None if timing.game_ms is None else timing.game_ms * NS_PER_MS for timing in timings
        ]
        self._spent_ns = [0] * len(timings)
        self._slowest_ns = [0] * len(timings)

    def budget_ns(self, seat: int) -> int:
        """How long the seat's next answer may take."""
        bank_ns = self._banks_ns[seat]
        return self._move_ns[seat] if bank_ns is None else min(self._move_ns[seat], bank_ns)

    def spend(self, seat: int, nanoseconds: int) -> None:
        """Records the time taken by an answer that was not late."""
        self._spent_ns[seat] += nanoseconds
        self._slowest_ns[seat] = max(self._slowest_ns[seat], nanoseconds)
        bank_ns = self._banks_ns[seat]
        if bank_ns is not None:
            self._banks_ns[seat] = max(0, bank_ns - nanoseconds) + self._increment_ns[seat]

    def think_ms(self) -> list[float]:
        """The total time spent, by seat, in ms with one decimal."""
        return [round(spent / NS_PER_MS, 1) for spent in self._spent_ns]

    def slowest_ms(self) -> list[float]:
        """The longest single answer, by seat, in ms with one decimal."""
        return [round(slowest / NS_PER_MS, 1) for slowest in self._slowest_ns]
