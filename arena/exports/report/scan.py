"""Reads the games of a run into columns of numbers, about thirty bytes a game instead of a record,
for the report. A record is read again from the journal when a page shows its game.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from arena.errors import RunError
from arena.ratings.tally import Placing, Row, Tally, row_decoder
from arena.records.journal import damaged_line, open_journal, read_rows
from arena.records.record import MAX_SEATS, Fault, GameRecord, Milliseconds, decode_record

MAX_LEFT = 127
"""A number of pagodas that is larger than any seat can have left."""
Reasons = dict[int, list[str]]
"""By the number of each chosen game, the reasons why it was chosen."""
RECORDS_AT_ONCE = 1000
"""The number of records held in memory at a time."""


class ReportRow(Row):
    """The fields of a record that the report needs: those of `Row`, the slowest answers, the
    sandbox, and when the game ended.
    """

    slowest_ms: list[Milliseconds]
    sandbox: str
    ended: str


decode_report_row = row_decoder(ReportRow)


class Forfeited(Struct, frozen=True):
    """A fault: the number of its ``game`` in the journal, the ``id`` of the game, the label of the
    ``bot``, and ``fault``, the entry of the record.
    """

    game: int
    id: str
    bot: str
    fault: Fault


class Scan(Struct, dict=True):
    """The games of a journal, numbered from 0 in the order of the journal; if an id occurs twice,
    only its first record counts. G is the number of games, N the number of seats in all games, and
    an outcome is a board, its bots by seat, and their ranks.

    ``path``        the path of the journal
    ``outcomes``    (O) the different outcomes
    ``outcome``     (G,) the index of each game's outcome in ``outcomes``
    ``deal``        (G,) the number of each game's deal on its board
    ``offset``      (G,) the byte in the journal at which the line of each game begins
    ``turns``       (G,) the number of placements in each game
    ``end``         (G,) the index in ``ends`` of how each game ended
    ``ends``        the ways in which games ended, as in records
    ``left``        (N,) pagodas left, by game and seat
    ``think_ms``    (N,) thinking time in ms, by game and seat
    ``slowest_ms``  by the label of each bot, the time of its slowest answer in ms
    ``faults``      all faults, in the order of the journal
    ``sandboxes``   by the name of each sandbox, the number of games played in it
    ``last``        when the last game ended, UTC; empty without games
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
        """Spreads ``values``, one for each outcome (O), over the games: (G,)."""
        return np.array(list(values), dtype=np.int32)[self.outcome]

    def by_seat(self, values: Iterable[Sequence[float]], kind: type = np.int32) -> NDArray[Any]:
        """Spreads ``values``, one for each seat of each outcome (O), over the seats of all games:
        (N,), with the dtype ``kind``.
        """
        padded: NDArray[Any] = np.zeros((len(self.outcomes), MAX_SEATS), dtype=kind)
        for row, seats in zip(padded, values, strict=True):
            row[: len(seats)] = seats
        is_seat = np.arange(MAX_SEATS) < self.sizes[:, None]
        return np.asarray(padded[self.outcome][is_seat])

    @cached_property
    def outcome_boards(self) -> list[str]:
        """(O) the board of each outcome."""
        return [board for board, _, _ in self.outcomes]

    @cached_property
    def outcome_bots(self) -> list[tuple[str, ...]]:
        """(O) the labels of each outcome's bots, by seat."""
        return [bots for _, bots, _ in self.outcomes]

    @cached_property
    def outcome_ranks(self) -> list[tuple[int, ...]]:
        """(O) the ranks of each outcome, by seat."""
        return [ranks for _, _, ranks in self.outcomes]

    def has_bots(self, sought: Counter[str]) -> NDArray[np.bool_]:
        """(G,) whether each bot of ``sought`` has in the game at least as many seats as ``sought``
        counts.
        """
        has_bots = self.by_game(sought <= Counter(bots) for bots in self.outcome_bots)
        return has_bots.astype(np.bool_)

    @cached_property
    def sizes(self) -> NDArray[np.int32]:
        """(G,) the number of seats in each game."""
        return self.by_game(map(len, self.outcome_bots))

    @cached_property
    def bot_numbers(self) -> dict[str, int]:
        """By the label of each bot, its number; numbers count from 0 in the order in which bots
        first occur in ``outcomes``.
        """
        names = dict.fromkeys(chain.from_iterable(self.outcome_bots))
        return {name: number for number, name in enumerate(names)}

    @cached_property
    def bots(self) -> NDArray[np.int32]:
        """(N,) for each seat of each game, the number of its bot, as in `bot_numbers`."""
        number_of = self.bot_numbers.__getitem__
        return self.by_seat([list(map(number_of, bots)) for bots in self.outcome_bots])

    def boards(self) -> list[str]:
        """The names of the boards of the games, sorted."""
        return sorted(set(self.outcome_boards))

    @cached_property
    def leads(self) -> NDArray[np.int64]:
        """(G,) by how many pagodas the winner of each game was ahead of the next seat; 0 if several
        seats shared the win. In games with a forfeit the figure says little.
        """
        if not len(self.outcome):
            return np.zeros(0, dtype=np.int64)
        sizes = self.sizes
        starts = np.cumsum(sizes, dtype=np.int64) - sizes
        won = self.by_seat(self.outcome_ranks) == 1
        shared = self.by_game(ranks.count(1) > 1 for ranks in self.outcome_ranks) == 1
        winner_left = np.minimum.reduceat(self.left, starts)
        second_left = np.minimum.reduceat(np.where(won, MAX_LEFT, self.left), starts)
        return np.where(shared, 0, second_left - winner_left)

    def games_of(self) -> Counter[str]:
        """By the label of each bot, its number of games; a game counts once for each seat that the
        bot has in it.
        """
        return Counter(dict(zip(self.bot_numbers, np.bincount(self.bots), strict=True)))

    def records(self, games: Iterable[int]) -> dict[int, GameRecord]:
        """The records of the games with the numbers ``games``. Raises RunError for a damaged
        record.
        """
        records = {}
        # In the order of the journal: a step back would decompress a compressed journal from its
        # start.
        with open_journal(self.path) as file:
            for game in sorted(games):
                file.seek(int(self.offset[game]))
                line = file.readline()
                try:
                    records[game] = decode_record(line)
                except (msgspec.DecodeError, ValueError) as error:
                    raise damaged_line(self.path, game + 1, line, error) from None
        return records

    def numbers(self, ids: list[str]) -> list[int]:
        """The numbers of the games with these ids, in the order of ``ids``. Raises RunError for an
        id that the journal does not have.
        """
        wanted = set(ids)
        rows = islice(read_rows(self.path, row_decoder(Row)), len(self.offset))
        numbers = {}
        for number, (_, row) in enumerate(rows):
            if row.id in wanted:
                numbers[row.id] = number
        for name in ids:
            if name not in numbers:
                raise RunError(
                    f"{self.path.parent} has no game {name!r}",
                    "ids are the first column of games.csv",
                )
        return [numbers[name] for name in ids]


class ScanBuilder:
    """Collects the columns of a `Scan`, game by game."""

    def __init__(self) -> None:
        self._offset = array("q")
        self._left = array("b")
        self._think_ms = array("d")
        self._turns = array("i")
        self._end = array("i")
        self._ends: dict[str, int] = {}
        self._slowest_ms: dict[str, float] = {}
        self._sandboxes: Counter[str] = Counter()
        self._faults: list[Forfeited] = []
        self._last = ""

    def add(self, row: ReportRow, offset: int) -> None:
        """Adds the game ``row``, whose line begins at the byte ``offset`` of the journal. The
        caller leaves out a game whose id it has added before.
        """
        game = len(self._offset)
        for fault in row.faults:
            self._faults.append(
                Forfeited(game=game, id=row.id, bot=row.bots[fault.seat], fault=fault)
            )
        self._offset.append(offset)
        self._turns.append(row.turns)
        self._end.append(self._ends.setdefault(row.end, len(self._ends)))
        self._left.extend(row.left)
        self._think_ms.extend(row.think_ms)
        for bot, slowest_ms in zip(row.bots, row.slowest_ms, strict=False):
            self._slowest_ms[bot] = max(slowest_ms, self._slowest_ms.get(bot, 0.0))
        # After the name of the sandbox, a record lists the grants of single seats.
        sandbox = row.sandbox.partition(" ")[0]
        self._sandboxes[sandbox] += 1
        self._last = max(self._last, row.ended)

    def scan(self, path: Path, games: Tally) -> Scan:
        """Makes the scan of the games that were added from the journal at ``path``; ``games`` has
        counted the same games and gives their outcomes and deals.

        The arrays are copies, because an array that a numpy view refers to cannot grow.
        """
        return Scan(
            path=path,
            outcomes=list(games.outcomes),
            outcome=np.array(games.outcome),
            deal=np.array(games.deal),
            offset=np.array(self._offset),
            turns=np.array(self._turns),
            end=np.array(self._end),
            ends=list(self._ends),
            left=np.array(self._left),
            think_ms=np.array(self._think_ms),
            slowest_ms=dict(self._slowest_ms),
            faults=list(self._faults),
            sandboxes=dict(self._sandboxes),
            last=self._last,
        )


def chosen_records(scan: Scan, chosen: Reasons) -> Iterator[tuple[GameRecord, list[str]]]:
    """The record of each game of ``scan`` that is in ``chosen``, with the reasons why the game was
    chosen. Raises RunError.
    """
    rest = iter(chosen.items())
    while portion := dict(islice(rest, RECORDS_AT_ONCE)):
        records = scan.records(portion)
        for game, reasons in portion.items():
            yield records[game], reasons
