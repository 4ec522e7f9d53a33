"""What the report needs from a journal besides the tables, in one pass that keeps about thirty
bytes per game.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from arena.errors import RunError
from arena.ratings.matches import Score
from arena.ratings.tally import GameList, Placing, Row, row_decoder
from arena.records.journal import damaged_line, journal_of, open_journal, read_rows
from arena.records.record import MOST_SEATS, Fault, GameRecord, Milliseconds, decode_record, shares

MOST_LEFT = 127
Figure = TypeVar("Figure", np.int32, np.float64)


class ReportRow(Row):
    """The fields of a record that a report needs."""

    slowest_ms: list[Milliseconds]
    sandbox: str
    ended: str


class Forfeited(Struct, frozen=True):
    """A fault: the number of its game in the journal, the game's id, the bot, and the record's
    entry.
    """

    game: int
    id: str
    bot: str
    fault: Fault


class Scan(Struct):
    """The games of a journal, numbered from 0 in its order; the first record of each id counts.

    ``outcomes``  (O) the different outcomes; ``outcome`` (G,) each game's index there, ``deal``
                  (G,) the number of its deal
    ``offset``, ``turns``  (G,) where its line begins, and its number of placements; ``end`` (G,) an
                           index in ``ends``
    ``left``, ``think_ms``  (N,) by game and seat
    ``slowest_ms``  of each bot; ``faults`` all faults; ``sandboxes`` the number of games played in
                    each sandbox tier
    ``last``        when the last game ended, UTC
    """

    path: Path
    outcomes: list[Placing]
    outcome: NDArray[np.int32]
    deal: NDArray[np.int32]
    offset: NDArray[np.int64]
    turns: NDArray[np.int32]
    end: NDArray[np.int32]
    ends: list[str]
    left: NDArray[np.int8]
    think_ms: NDArray[np.float64]
    slowest_ms: dict[str, float]
    faults: list[Forfeited]
    sandboxes: dict[str, int]
    last: str

    def by_game(self, values: Iterable[int]) -> NDArray[np.int32]:
        """(G,) the value given for each game's outcome."""
        return np.array(list(values), dtype=np.int32)[self.outcome]

    def by_seat(self, values: Iterable[Sequence[int]]) -> NDArray[np.int32]:
        """(N,) the value given for each game's outcome, by seat."""
        return self._spread(np.zeros((len(self.outcomes), MOST_SEATS), dtype=np.int32), values)

    def shares(self, values: Iterable[Sequence[float]]) -> NDArray[np.float64]:
        """(N,) the same for what is no whole number."""
        return self._spread(np.zeros((len(self.outcomes), MOST_SEATS)), values)

    def _spread(
        self, padded: NDArray[Figure], values: Iterable[Sequence[float]]
    ) -> NDArray[Figure]:
        for row, given in zip(padded, values, strict=True):
            row[: len(given)] = given
        is_seat = np.arange(MOST_SEATS) < self.sizes()[:, None]
        return np.asarray(padded[self.outcome][is_seat])

    def sizes(self) -> NDArray[np.int32]:
        """(G,) the number of seats in each game."""
        return self.by_game(len(bots) for _, bots, _ in self.outcomes)

    def bot_numbers(self) -> dict[str, int]:
        """The bots in the order of their first outcomes, each with its number."""
        names = dict.fromkeys(bot for _, bots, _ in self.outcomes for bot in bots)
        return {name: at for at, name in enumerate(names)}

    def bots(self) -> NDArray[np.int32]:
        """(N,) the number of the bot."""
        number = self.bot_numbers()
        return self.by_seat([[number[bot] for bot in bots] for _, bots, _ in self.outcomes])

    def seats(self) -> NDArray[np.int32]:
        """(N,) the seat."""
        return self.by_seat([range(len(bots)) for _, bots, _ in self.outcomes])

    def won(self) -> NDArray[np.float64]:
        """(N,) the share of the win."""
        return self.shares([shares(list(ranks)) for _, _, ranks in self.outcomes])

    def boards(self) -> list[str]:
        """The boards by name."""
        return sorted({board for board, _, _ in self.outcomes})

    def places(self) -> NDArray[np.int64]:
        """(G,) a number for each deal on a board, the same for all games of that deal."""
        boards = self.boards()
        board = self.by_game(boards.index(board) for board, _, _ in self.outcomes)
        return self.deal.astype(np.int64) * len(boards) + board

    def leads(self) -> NDArray[np.int64]:
        """(G,) how many pagodas fewer than the next one the winner had left; 0 if the win was
        shared.
        """
        if not len(self.outcome):
            return np.zeros(0, dtype=np.int64)
        sizes = self.sizes()
        starts = np.cumsum(sizes, dtype=np.int64) - sizes
        won = self.by_seat([[rank == 1 for rank in ranks] for _, _, ranks in self.outcomes]) == 1
        shared = self.by_game(ranks.count(1) > 1 for _, _, ranks in self.outcomes) == 1
        second = np.minimum.reduceat(np.where(won, MOST_LEFT, self.left), starts)
        return np.where(shared, 0, second - np.minimum.reduceat(self.left, starts))

    def games_of(self) -> Counter[str]:
        """The number of games of each bot; games against itself
        count once for each of its seats.
        """
        counted: Counter[str] = Counter()
        for (_, bots, _), games in zip(
            self.outcomes,
            np.bincount(self.outcome, minlength=len(self.outcomes)).tolist(),
            strict=True,
        ):
            for bot in bots:
                counted[bot] += games
        return counted

    def records(self, games: Iterable[int]) -> dict[int, GameRecord]:
        """The records of games, read again from front to back, because each step back would
        decompress the journal anew. Raises RunError.
        """
        found = {}
        with open_journal(self.path) as file:
            for game in sorted(games):
                file.seek(int(self.offset[game]))
                line = file.readline()
                try:
                    found[game] = decode_record(line)
                except (msgspec.DecodeError, ValueError) as error:
                    raise damaged_line(self.path, game + 1, line, error) from None
        return found

    def numbers(self, ids: list[str]) -> list[int]:
        """The numbers of the games with these ids, in the same order. Raises RunError for an
        unknown id.
        """
        rows, wanted = islice(read_rows(self.path, row_decoder(Row)), len(self.offset)), set(ids)
        found = {row.id: number for number, (_, row) in enumerate(rows) if row.id in wanted}
        for name in ids:
            if name not in found:
                raise RunError(
                    f"expected the id of a game in {self.path.parent}, got {name!r}",
                    "ids are the first column of games.csv",
                )
        return [found[name] for name in ids]


class Columns:
    """The columns of a `Scan` while it is being read."""

    def __init__(self) -> None:
        self.offset, self.turns, self.end, self.left, self.think_ms = (
            array("q"),
            array("i"),
            array("i"),
            array("b"),
            array("d"),
        )
        self.ends: dict[str, int] = {}
        self.slowest_ms: dict[str, float] = {}
        self.sandboxes: Counter[str] = Counter()
        self.faults: list[Forfeited] = []
        self.last = ""

    def add(self, row: ReportRow, start: int) -> None:
        """Adds a game whose line begins at ``offset``."""
        self.faults += [
            Forfeited(len(self.offset), row.id, row.bots[fault.seat], fault) for fault in row.faults
        ]
        self.offset.append(start)
        self.turns.append(row.turns)
        self.end.append(self.ends.setdefault(row.end, len(self.ends)))
        self.left.extend(row.left)
        self.think_ms.extend(row.think_ms)
        for bot, slowest_ms in zip(row.bots, row.slowest_ms, strict=False):
            self.slowest_ms[bot] = max(slowest_ms, self.slowest_ms.get(bot, 0.0))
        # After the tier, a record says what single seats were allowed.
        self.sandboxes[row.sandbox.partition(" ")[0]] += 1
        self.last = max(self.last, row.ended)

    def finished(self, path: Path, games: GameList) -> Scan:
        """The scan of the games so far."""
        # Copies, because an array cannot grow while others look at its memory.
        return Scan(
            path=path,
            outcomes=list(games.outcomes),
            outcome=np.array(games.outcome),
            deal=np.array(games.deal),
            offset=np.array(self.offset),
            turns=np.array(self.turns),
            end=np.array(self.end),
            ends=list(self.ends),
            left=np.array(self.left),
            think_ms=np.array(self.think_ms),
            slowest_ms=dict(self.slowest_ms),
            faults=list(self.faults),
            sandboxes=dict(self.sandboxes),
            last=self.last,
        )


def scan_journal(run: Path, score: Score) -> Scan:
    """Reads a run's journal, and lets ``score`` count its games on the way. Raises RunError."""
    path, columns = journal_of(run), Columns()
    for start, row in read_rows(path, row_decoder(ReportRow)):
        score.add(row)
        columns.add(row, start)
    return columns.finished(path, score.games)
