"""Tuning the options of a bot by SPSA: what is tuned, which settings a block plays, and where its
results lead. Pure: a function of the settings, the run's seed and the scores of blocks.

Spall, "Implementation of the simultaneous perturbation algorithm for stochastic optimization",
IEEE Transactions on Aerospace and Electronic Systems 34 (1998). Each parameter lives on a scale
from 0 to 1, its range. Block k plays two settings against each other, "up" and "down", that lie
``reach(k)`` to either side of where the path is, each parameter to a side of its own drawn by lot.
The path goes to the side that won, by ``gain(k)`` if it won everything.
"""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct

from arena.errors import ConfigError
from arena.players.options import Value
from arena.tournament.parameters import Parameter

REACH, REACH_FALL = 0.2, 0.101
GAIN, GAIN_DELAY, GAIN_FALL = 0.06, 50, 0.602
"""Spall's c, gamma, a, A and alpha. The falls are his. The others lose about the least in simulated
searches of 250 to 4,000 blocks for 25 to 400 Elo (tests/tournament/searches.py): with half the
reach, luck hides what a block tells; with a quarter of the gain, short searches do not arrive.
"""
SEATS = 2
BLOCKS_A_STEP = 16
"""In simulated searches of 500 blocks, steps of 1 to 32 blocks find the same. Longer ones keep more
workers busy, and start fewer processes.
"""
FEW_BLOCKS = 250
"""With fewer for each option, luck decides in simulations where less than 100 Elo are at stake."""
TAIL = 0.5
"""The suggestion is the mean over this last part of the path, because its end is one of many points
around the goal.
"""
DECIMALS = 9
"""Powers differ between machines in the last digits; rounded, the path does not."""

Unit = tuple[float, ...]
Values = tuple[float, ...]


class Tuning(Struct, frozen=True, forbid_unknown_fields=True):
    """What a run tunes. ``bot`` is its name, with the options that stay as they are; the path moves
    after ``step`` deals on every board.
    """

    bot: str
    parameters: Annotated[list[Parameter], Meta(min_length=1, max_length=100)]
    step: Annotated[int, Meta(ge=1, le=1_000_000)]


class Sides(NamedTuple):
    """The two settings of a block."""

    up: Values
    down: Values


def check_tuning(tuning: Tuning) -> None:
    """Raises ConfigError unless every parameter has a range, and starts in it."""
    for parameter in tuning.parameters:
        low, high, start = parameter.low, parameter.high, parameter.start
        shown = f"{parameter.text(low)} to {parameter.text(high)}"
        if not low < high:
            raise ConfigError(
                f"expected a range of more than one value for {parameter.name}, got {shown}",
                f"for example --param {parameter.name}={parameter.text(low)}.."
                f"{parameter.text(low + 1)}",
            )
        if not low <= start <= high:
            raise ConfigError(
                f"expected the search for {parameter.name} to start in its range, {shown}, got"
                f" {parameter.text(start)}",
                "the search starts at the value the bot has: name the bot with another one, or"
                " search a wider range",
            )


def reach(block: int) -> float:
    """How far up and down are from the path, in parts of the range."""
    return float(REACH / (block + 1) ** REACH_FALL)


def gain(block: int) -> float:
    """How far the path goes when one side wins a whole block, in parts of the range."""
    return float(GAIN * (GAIN_DELAY / (GAIN_DELAY + block)) ** GAIN_FALL)


class SearchPath:
    """Where a search has been: ``places`` has its place at the beginning and after each step, on
    the scale from 0 to 1.

    A step is complete when all its blocks are, so the path does not depend on the order in which
    games end, nor on the number of workers.
    """

    def __init__(self, tuning: Tuning, boards: Sequence[str], seed: str) -> None:
        self.tuning = tuning
        self._boards = boards
        self._seed = seed
        self.places: list[Unit] = [tuple(one.unit(one.start) for one in tuning.parameters)]

    @property
    def steps(self) -> int:
        """How many steps are complete."""
        return len(self.places) - 1

    @property
    def games_a_step(self) -> int:
        """The games of a step."""
        return self.tuning.step * len(self._boards) * SEATS

    def blocks(self, deals: range) -> Iterator[tuple[str, int]]:
        """The board and deal of each block on some deals."""
        return ((board, deal) for deal in deals for board in self._boards)

    def deals(self, last: int) -> range:
        """The deals of the step that is played now, of all deals before ``last``."""
        first = self.steps * self.tuning.step
        return range(first, min(first + self.tuning.step, last))

    def sides(self, board: str, deal: int) -> Sides:
        """The settings of a block, whose step must have been reached."""
        place = self.places[deal // self.tuning.step]
        reached = reach(self._number(board, deal))
        pairs = [
            self._pair(parameter, at, reached, board, deal)
            for parameter, at in zip(self.tuning.parameters, place, strict=True)
        ]
        return Sides(tuple(up for up, _ in pairs), tuple(down for _, down in pairs))

    def move(self, scores: Mapping[tuple[str, int], float]) -> None:
        """Takes a step, by the score of each of its blocks: what up won more than down, from -1 to
        1.
        """
        place = list(self.places[-1])
        for (board, deal), score in scores.items():
            number, sides = self._number(board, deal), self.sides(board, deal)
            # By what was played and not by what was meant: where rounding or the end of the range
            # made both sides the same, the block says nothing.
            for at, (parameter, up, down) in enumerate(
                zip(self.tuning.parameters, *sides, strict=True)
            ):
                apart = (up - down) / 2 / parameter.width
                place[at] += gain(number) * score * apart / reach(number)
        self.places.append(tuple(round(min(max(at, 0.0), 1.0), DECIMALS) for at in place))

    def values(self, step: int) -> Values:
        """The place after a step, as values that are not rounded."""
        return tuple(
            parameter.low + at * parameter.width
            for parameter, at in zip(self.tuning.parameters, self.places[step], strict=True)
        )

    def settings(self, values: Values) -> dict[str, Value]:
        """Values by the names of their options, as the bot gets them."""
        return {
            parameter.name: parameter.value(value)
            for parameter, value in zip(self.tuning.parameters, values, strict=True)
        }

    def suggestion(self) -> Values:
        """The mean of the last part of the path, rounded as the options are."""
        tail = self.places[-max(1, round(self.steps * TAIL)) :]
        means = (sum(of_one) / len(tail) for of_one in zip(*tail, strict=True))
        return tuple(
            parameter.nearest(mean)
            for parameter, mean in zip(self.tuning.parameters, means, strict=True)
        )

    def _number(self, board: str, deal: int) -> int:
        return deal * len(self._boards) + self._boards.index(board)

    def _pair(
        self, parameter: Parameter, place: float, reached: float, board: str, deal: int
    ) -> tuple[float, float]:
        """One parameter's values up and down."""
        digest = sha256(f"tune\n{self._seed}\n{board}\n{deal}\n{parameter.name}".encode()).digest()
        # One lot for both sides, so that they differ as they are meant to.
        lot, is_turned = int.from_bytes(digest[1:7], "big") / 2**48, digest[0] & 1
        if parameter.type == "int":
            reached = max(reached, 0.5 / parameter.width)
        pair = (parameter.nearest(place + reached, lot), parameter.nearest(place - reached, lot))
        return pair[::-1] if is_turned else pair


def deals_for(games: int, boards: int) -> int:
    """The deals on each board for at most this many games. Raises ConfigError for too few."""
    deals = games // (boards * SEATS)
    if deals < 1:
        raise ConfigError(
            f"expected at least {boards * SEATS} games, a deal in both seatings on each board, got"
            f" {games}",
            f"a search needs hundreds of games for each option: try --games {1000 * boards}",
        )
    return deals
