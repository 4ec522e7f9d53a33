"""Journals as data frames: the only place that turns records into columns."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd
from msgspec import Struct

from arena.records.find import read_records
from arena.records.journal import damaged_line, read_lines
from arena.records.record import shares


class _FaultSeat(Struct):
    seat: int


class _Row(Struct):
    """The fields of a record that tables need."""

    id: str
    board: str
    deal: int
    bots: list[str]
    ranks: list[int]
    left: list[int]
    think_ms: list[float]
    faults: list[_FaultSeat]


_decode = msgspec.json.Decoder(_Row).decode
_RowTuple = tuple[int, int, int, str, int, float, int, bool, float, str]


def seat_frame(journal: Path, bots: Sequence[str]) -> pd.DataFrame:
    """One row per game and seat, in the order of the journal; of records with the same id the first counts.

    ``game``      int64, number of the game; ``seats`` int8, seats at its table; ``seat`` int8, from 0
    ``bot``       category over ``bots`` (and any others met), sorted
    ``rank``      int8, 1 is best; ``share`` float64, 1/k of the win for each of the k bots at rank 1, else 0
    ``left``      int8, pagodas left; ``forfeit`` bool; ``think_ms`` float64, over the whole game
    ``cluster``   int64, number of the deal (board and deal together), numbered in sorted order

    No column has NaN. Raises RunError for a damaged line.
    """
    frame = pd.DataFrame(
        _rows(journal), columns=["game", "seats", "seat", "bot", "rank", "share", "left", "forfeit", "think_ms", "deal"]
    ).astype({"game": "int64", "seats": "int8", "seat": "int8", "rank": "int8", "left": "int8", "forfeit": "bool", "share": "float64"})
    names = sorted({*bots, *frame["bot"].unique()})
    frame["bot"] = pd.Categorical(frame["bot"], categories=names)
    frame["cluster"] = np.unique(frame.pop("deal").to_numpy(dtype=str), return_inverse=True)[1].astype("int64")
    return frame


def _rows(journal: Path) -> Iterable[_RowTuple]:
    seen: set[str] = set()
    for number, line in enumerate(read_lines(journal), 1):
        try:
            row = _decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise damaged_line(journal, number, line, error) from None
        if row.id in seen:
            continue
        game, forfeited, share = len(seen), {fault.seat for fault in row.faults}, shares(row.ranks)
        seen.add(row.id)
        deal = f"{row.board}/{row.deal}"
        for seat, bot in enumerate(row.bots):
            yield (
                game,
                len(row.bots),
                seat,
                bot,
                row.ranks[seat],
                share[seat],
                row.left[seat],
                seat in forfeited,
                row.think_ms[seat],
                deal,
            )


def game_frame(journal: Path) -> pd.DataFrame:
    """One row per game, in the order of the journal; of records with the same id the first counts.

    ``id``, ``block`` (board/deal, the cluster of error bars), ``board``, ``end``, ``faults`` ("seat:kind", joined by ``;``) str
    ``deal``, ``seating``, ``turns``  int64
    ``bot_0`` to ``bot_3`` str, ``share_0`` ... float64, ``rank_0`` ..., ``left_0`` ... Int64, ``think_ms_0`` ... float64; missing for
    seats that the game does not have

    Raises RunError for a damaged line.
    """
    records = list(read_records(journal.parent))
    columns: dict[str, list[Any]] = {
        "id": [record.id for record in records],
        "block": [f"{record.board}/{record.deal}" for record in records],
        "board": [record.board for record in records],
        "deal": [record.deal for record in records],
        "seating": [record.seating for record in records],
        "end": [record.end for record in records],
        "turns": [record.turns for record in records],
    }
    shared = [shares(record.ranks) for record in records]
    for seat in range(max((len(record.bots) for record in records), default=2)):
        columns[f"bot_{seat}"] = [_at(record.bots, seat) for record in records]
        columns[f"share_{seat}"] = [_at(share, seat) for share in shared]
        columns[f"rank_{seat}"] = [_at(record.ranks, seat) for record in records]
        columns[f"left_{seat}"] = [_at(record.left, seat) for record in records]
        columns[f"think_ms_{seat}"] = [_at(record.think_ms, seat) for record in records]
    columns["faults"] = [";".join(f"{fault.seat}:{fault.kind}" for fault in record.faults) for record in records]
    frame = pd.DataFrame(columns)
    return frame.astype({name: "Int64" for name in columns if name.startswith(("rank_", "left_"))})


def _at(values: Sequence[Any], seat: int) -> Any:
    return values[seat] if seat < len(values) else None
