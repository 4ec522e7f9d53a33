"""Counts the games of a journal while it is read; only a few bytes per game stay in memory, however
long its line is.
"""

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Annotated, NamedTuple, TypeVar

import msgspec
import numpy as np
import pandas as pd
from msgspec import Struct

from arena.ratings.components import Ints
from arena.ratings.results import NS_PER_MS, Counts, Results, SizedGames, count_table, totals_of
from arena.records.record import (
    DEALS,
    MOST_SEATS,
    AnswerTimes,
    Deal,
    Fault,
    GameRecord,
    Left,
    Milliseconds,
    Notes,
    Rank,
    Seating,
    Seats,
    Turn,
    check_seats,
)

Seated = tuple[str, ...]
Placing = tuple[str, Seated, tuple[int, ...]]
"""A possible outcome of a game: the board, and the bots and their ranks by seat."""


class Row(Struct, gc=False):
    """The fields of a record that tables need."""

    id: str
    board: str
    deal: Deal
    bots: Annotated[tuple[str, ...], Seats]
    ranks: tuple[Rank, ...]
    left: tuple[Left, ...]
    think_ms: tuple[Milliseconds, ...]
    faults: list[Fault]
    seating: Seating
    end: str
    turns: Turn
    host: str


class WholeRow(Row):
    """A row that also has the moves, the times of the answers, and what bots said of them."""

    deck: str
    moves: list[str]
    slowest_ms: tuple[Milliseconds, ...]
    ms: AnswerTimes = None
    notes: Notes = None


class Lost(NamedTuple):
    """A seat that forfeited in at least one round."""

    seat: int


class Match(Struct, frozen=True, gc=False):
    """A match in the form of a game: ``board`` names its boards, ``deal`` is the match's deal, and
    sums are over its rounds.
    """

    board: str
    deal: int
    bots: Seated
    ranks: list[int]
    left: list[int]
    think_ms: list[float]
    faults: list[Lost]


Counted = Row | GameRecord | Match
"""Anything that can be scored: a game or a match."""
AnyRow = TypeVar("AnyRow", bound=Row)


def row_decoder(kind: type[AnyRow]) -> Callable[[bytes], AnyRow]:
    """A decoder from lines to rows of a kind, `Row` or one with more fields; raises DecodeError,
    and ValueError if lists do not match.
    """
    decode = msgspec.json.Decoder(kind).decode

    def fitting(line: bytes) -> AnyRow:
        row = decode(line)
        check_seats(len(row.bots), row.faults, row.ranks, row.left, row.think_ms)
        return row

    return fitting


class PlayedBlocks(NamedTuple):
    """The blocks of a line-up on a board, ``place`` being ``board/line-up``: their deal numbers,
    and the number of games of each.
    """

    place: str
    deals: Sequence[int]
    games: Sequence[int]


def games_in(blocks: Iterable[PlayedBlocks]) -> int:
    """The number of games in all blocks together."""
    return sum(sum(block.games) for block in blocks)


class GameList:
    """Games in the order they are read: ``outcomes`` are numbered, and ``outcome`` and ``deal``
    take four bytes per game. ``own_decks`` means that line-ups do not play the same deals, though
    these have the same numbers.
    """

    def __init__(self, *, own_decks: bool = False) -> None:
        self._own_decks = own_decks
        self.outcomes: dict[Placing, int] = {}
        self.seated: dict[Seated, Seated] = {}
        self.outcome, self.deal = array("i"), array("i")

    def add(self, game: Counted) -> int:
        """Takes a game; returns the number of its outcome."""
        outcome = (game.board, tuple(game.bots), tuple(game.ranks))
        # A million games have a few thousand outcomes: each game keeps eight bytes, and the model
        # works on the outcomes.
        number = self.outcomes.get(outcome)
        if number is None:
            number, (board, bots, ranks) = len(self.outcomes), outcome
            # names are stored once for each seating
            self.outcomes[board, self.seated.setdefault(bots, bots), ranks] = number
        self.outcome.append(number)
        self.deal.append(game.deal)
        return number

    @property
    def most_seats(self) -> int:
        """The number of seats at the largest table so far, at least two."""
        return max(map(len, self.seated), default=2)

    def blocks(self) -> list[PlayedBlocks]:
        """The blocks of all games, sorted."""
        names = [f"{board}/{'+'.join(sorted(bots))}" for board, bots, _ in self.outcomes]
        heads = sorted(set(names))
        number = {name: place for place, name in enumerate(heads)}
        found, games = np.unique(self._places([number[name] for name in names]), return_counts=True)
        edges = np.searchsorted(found, np.arange(len(heads) + 1) * DEALS).tolist()
        deals, counts = (
            array("i", column.astype(np.int32).tobytes()) for column in (found % DEALS, games)
        )
        return [
            PlayedBlocks(name, deals[start:end], counts[start:end])
            for name, (start, end) in zip(heads, pairwise(edges), strict=True)
        ]

    def board_deals(self) -> Ints:
        """(G,) a number for each game's board and deal that sorts by the board's name, then the
        line-up if each has its own decks, then the deal.
        """
        heads = [
            (board, tuple(sorted(bots)) if self._own_decks else ())
            for board, bots, _ in self.outcomes
        ]
        number = {head: place for place, head in enumerate(sorted(set(heads)))}
        return self._places([number[head] for head in heads])

    def _places(self, number: Sequence[int]) -> Ints:
        """(G,) for each game, one integer made of ``number`` for its outcome and of its deal, which
        sorts by the former first.
        """
        places = (np.array(number, dtype=np.int64) * DEALS)[np.array(self.outcome, dtype=np.int32)]
        places += np.array(self.deal, dtype=np.int32)
        return places


class Tally(GameList):
    """Counted games, with the bots' pagodas left, times and forfeits.

    These are summed as integers by outcome and seat, so that the order of the games does not
    matter.
    """

    def __init__(self, *, own_decks: bool = False) -> None:
        super().__init__(own_decks=own_decks)
        self._left: list[int] = []
        self._think_ns: list[int] = []
        self._forfeits: list[int] = []

    def add(self, game: Counted) -> int:
        """Counts a game; returns the number of its outcome."""
        number = super().add(game)
        first = MOST_SEATS * number
        if first == len(self._left):
            for sums in (self._left, self._think_ns, self._forfeits):
                sums.extend([0] * MOST_SEATS)
        # Whole nanoseconds: integers give the same sum in any order, floats do not.
        for place, left in enumerate(game.left, first):
            self._left[place] += left
        for place, think_ms in enumerate(game.think_ms, first):
            self._think_ns[place] += round(think_ms * NS_PER_MS)
        if game.faults:
            for seat in {fault.seat for fault in game.faults}:
                self._forfeits[first + seat] += 1
        return number

    def counts(self, bots: Iterable[str] = (), without: Collection[str] = ()) -> Counts:
        """The counts so far, for these bots and any others found; clusters are the deals of boards,
        numbered in sorted order. Games with a bot in ``without`` are left out.
        """
        outcome, placings = np.array(self.outcome, dtype=np.int32), list(self.outcomes)
        away = set(without)
        sizes = np.array(
            [len(seated) * away.isdisjoint(seated) for _, seated, _ in placings], dtype=np.int8
        )
        names = sorted({*bots, *(bot for seated in self.seated for bot in seated)} - away)
        number = {name: place for place, name in enumerate(names)}
        deals = self.board_deals()
        clusters = np.unique(deals[sizes[outcome] > 0] if without else deals)
        tables, sums = list[SizedGames](), list[pd.DataFrame]()
        for size in sorted(set(sizes.tolist()) - {0}):
            rows = np.flatnonzero(sizes == size)
            known = [placings[row][1:] for row in rows]
            seats = np.array(
                [[number[bot] for bot in seated] for seated, _ in known], dtype=np.int64
            )
            ranks = np.array([ranks for _, ranks in known], dtype=np.int64)
            games = slice(None) if len(rows) == len(sizes) else sizes[outcome] == size
            place = np.empty(len(sizes), dtype=np.int32)
            place[rows] = np.arange(len(rows))
            tables.append(
                count_table(
                    seats, ranks, np.searchsorted(clusters, deals[games]), place[outcome[games]]
                )
            )
            sums += self._sums(seats, rows, np.bincount(outcome, minlength=len(sizes))[rows])
        results = Results(names, len(clusters), tables)
        return Counts(results, clusters % DEALS, totals_of(results, sums))

    def _sums(self, seats: Ints, rows: Ints, games: Ints) -> Iterator[pd.DataFrame]:
        """The sums by seat over the ``games`` of the outcomes of one table size, whose numbers are
        ``rows``.
        """
        sums = {"forfeits": self._forfeits, "left": self._left, "think_ns": self._think_ns}
        for seat in range(seats.shape[1]):
            columns = {
                name: np.array(values, dtype=np.float64)[MOST_SEATS * rows + seat]
                for name, values in sums.items()
            }
            told = {"left_games": games, "think_games": games}
            yield pd.DataFrame(
                {"seats": seats.shape[1], "seat": seat, "bot": seats[:, seat], **columns, **told}
            )
