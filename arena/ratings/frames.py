"""Journals as data frames: the only place that turns records into columns."""

from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import pandas as pd
from msgspec import Meta, Struct
from numpy.typing import NDArray

from arena.records.journal import read_rows
from arena.records.record import GameRecord, check_seats, shares

MOST_SEATS = 4


class _Fault(Struct):
    seat: int
    kind: str


class _Row(Struct):
    """The fields of a record that tables need."""

    id: str
    board: str
    deal: Annotated[int, Meta(ge=0, le=9_999_999)]
    bots: Annotated[list[str], Meta(min_length=1, max_length=MOST_SEATS)]
    ranks: list[Annotated[int, Meta(ge=1, le=4)]]
    left: list[Annotated[int, Meta(ge=0, le=127)]]
    think_ms: list[float]
    faults: list[_Fault]
    seating: int
    end: str
    turns: int


_decode = msgspec.json.Decoder(_Row).decode


class Games:
    """The games of a journal by columns.

    ``seated`` and ``deals`` number who sat where and board and deal, as they are met; ``seating`` and ``deal`` are each game's numbers.
    The columns after them, and the places in ``forfeits``, run over games and seats.
    """

    def __init__(self) -> None:
        self.seated: dict[tuple[str, ...], int] = {}
        self.deals: dict[tuple[str, int], int] = {}
        self.seating, self.deal = array("q"), array("q")
        self.rank, self.left, self.think_ms = array("b"), array("b"), array("d")
        self.forfeits: list[int] = []

    def add(self, row: _Row | GameRecord) -> None:
        """Adds a game."""
        self.forfeits += [len(self.rank) + fault.seat for fault in row.faults]
        self.seating.append(self.seated.setdefault(tuple(row.bots), len(self.seated)))
        self.deal.append(self.deals.setdefault((row.board, row.deal), len(self.deals)))
        self.rank.extend(row.ranks)
        self.left.extend(row.left)
        self.think_ms.extend(row.think_ms)

    def blocks(self) -> dict[str, int]:
        """How many games each block has, by the id that its games share but for the seating."""
        names = ["+".join(sorted(bots)) for bots in self.seated]
        line_ups = {name: number for number, name in enumerate(dict.fromkeys(names))}
        line_up = np.array([line_ups[name] for name in names], dtype=np.int64)[_numbers(self.seating)]
        found, games = np.unique(_numbers(self.deal) * len(line_ups) + line_up, return_counts=True)
        deals, heads = list(self.deals), list(line_ups)
        places = (divmod(block, len(heads)) for block in found.tolist())
        return {f"{deals[deal][0]}/{heads[at]}/{deals[deal][1]}": count for (deal, at), count in zip(places, games.tolist(), strict=True)}


def _numbers(column: "array[int]") -> NDArray[np.int64]:
    return np.array(column, dtype=np.int64)


def read_games(journal: Path) -> Games:
    """The games of a journal; of records with the same id the first counts. Raises RunError for a damaged line."""
    games = Games()
    for _, row in read_rows(journal, _fitting_row):
        games.add(row)
    return games


def _fitting_row(line: bytes) -> _Row:
    """The fields of a record. Raises ValueError when its lists do not fit together, DecodeError."""
    row = _decode(line)
    check_seats(len(row.bots), row.faults, row.ranks, row.left, row.think_ms)
    return row


def seat_frame(games: Games, bots: Sequence[str]) -> pd.DataFrame:
    """One row per game and seat, in the order of the journal.

    ``game``      int64, number of the game; ``seats`` int8, seats at its table; ``seat`` int8, from 0
    ``bot``       category over ``bots`` (and any others met), sorted
    ``rank``      int8, 1 is best; ``share`` float64, 1/k of the win for each of the k bots at rank 1, else 0
    ``left``      int8, pagodas left; ``forfeit`` bool; ``think_ms`` float64, over the whole game
    ``cluster``   int64, number of the deal (board and deal together), numbered in sorted order

    No column has NaN.
    """
    names = sorted({*bots, *(bot for seated in games.seated for bot in seated)})
    sizes = np.array([len(seated) for seated in games.seated], dtype=np.int8)[_numbers(games.seating)]
    (game, seat), rank = seats_of(sizes), np.array(games.rank, dtype=np.int8)
    forfeit = np.zeros(len(rank), dtype=np.bool_)
    forfeit[games.forfeits] = True
    order = {deal: number for number, deal in enumerate(sorted(games.deals))}
    cluster = np.array([order[deal] for deal in games.deals], dtype=np.int64)[_numbers(games.deal)]
    return pd.DataFrame(
        {
            "game": game,
            "seats": sizes[game],
            "seat": seat.astype(np.int8),
            "bot": pd.Categorical.from_codes(_codes(games, names)[_numbers(games.seating)[game], seat], dtype=pd.CategoricalDtype(names)),
            "rank": rank,
            "share": shares_of(game, rank, len(sizes)),
            "left": np.array(games.left, dtype=np.int8),
            "forfeit": forfeit,
            "think_ms": np.array(games.think_ms, dtype=np.float64),
            "cluster": cluster[game],
        }
    )


def seats_of(sizes: NDArray[np.integer[Any]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(N,) the number of the game and (N,) the seat of each row, from the (G,) sizes of tables."""
    game = np.repeat(np.arange(len(sizes)), sizes)
    return game, np.arange(len(game)) - (np.cumsum(sizes, dtype=np.int64) - sizes)[game]


def shares_of(game: NDArray[np.int64], rank: NDArray[np.integer[Any]], games: int) -> NDArray[np.float64]:
    """(N,) 1/k of the win for each of the k rows of a game at rank 1, else 0."""
    winners = np.bincount(game[rank == 1], minlength=games)[game]
    return np.asarray((rank == 1) / np.maximum(winners, 1), dtype=np.float64)


def _codes(games: Games, names: Sequence[str]) -> NDArray[np.int64]:
    """(S, 4) the places in ``names`` of the bots of each seating, padded with -1."""
    place = {name: number for number, name in enumerate(names)}
    codes = [[place[bot] for bot in seated] + [-1] * (MOST_SEATS - len(seated)) for seated in games.seated]
    return np.array(codes, dtype=np.int64).reshape(-1, MOST_SEATS)


def game_frame(journal: Path) -> pd.DataFrame:
    """One row per game, in the order of the journal; of records with the same id the first counts.

    ``id``, ``block`` (board/deal, the cluster of error bars), ``board``, ``end``, ``faults`` ("seat:kind", joined by ``;``) str
    ``deal``, ``seating``, ``turns``  int64
    ``bot_0`` to ``bot_3`` str, ``share_0`` ... float64, ``rank_0`` ..., ``left_0`` ... Int64, ``think_ms_0`` ... float64; missing for
    seats that the game does not have

    Raises RunError for a damaged line.
    """
    rows = [row for _, row in read_rows(journal, _fitting_row)]
    columns: dict[str, list[Any]] = {
        "id": [row.id for row in rows],
        "block": [f"{row.board}/{row.deal}" for row in rows],
        "board": [row.board for row in rows],
        "deal": [row.deal for row in rows],
        "seating": [row.seating for row in rows],
        "end": [row.end for row in rows],
        "turns": [row.turns for row in rows],
    }
    shared = [shares(row.ranks) for row in rows]
    for seat in range(max((len(row.bots) for row in rows), default=2)):
        columns[f"bot_{seat}"] = [_at(row.bots, seat) for row in rows]
        columns[f"share_{seat}"] = [_at(share, seat) for share in shared]
        columns[f"rank_{seat}"] = [_at(row.ranks, seat) for row in rows]
        columns[f"left_{seat}"] = [_at(row.left, seat) for row in rows]
        columns[f"think_ms_{seat}"] = [_at(row.think_ms, seat) for row in rows]
    columns["faults"] = [";".join(f"{fault.seat}:{fault.kind}" for fault in row.faults) for row in rows]
    frame = pd.DataFrame(columns)
    return frame.astype({name: "Int64" for name in columns if name.startswith(("rank_", "left_"))})


def _at(values: Sequence[Any], seat: int) -> Any:
    return values[seat] if seat < len(values) else None
