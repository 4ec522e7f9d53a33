"""What the report needs of a journal beside its tables, in one pass that keeps a few numbers of each game."""

from array import array
from collections import Counter
from itertools import islice
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from arena.errors import RunError
from arena.records.journal import journal_of, open_journal, read_rows
from arena.records.record import Fault, GameRecord, decode_record


class _Line(Struct):
    id: str
    bots: list[str]
    end: str
    faults: list[Fault]
    slowest_ms: list[float]
    turns: int
    sandbox: str
    ended: str


_decode = msgspec.json.Decoder(_Line).decode


class Forfeited(Struct, frozen=True):
    """A fault: the number of its game in the journal, the game's id, whose it was, and what the record says."""

    game: int
    id: str
    bot: str
    fault: Fault


class Scan(Struct):
    """The games of a journal, numbered from 0 in its order; of records with the same id the first counts.

    ``offset``, ``turns``  of each game: where its line begins, placements; ``end`` is a number in ``ends``
    ``slowest_ms``         of each game and seat; ``faults`` all of them; ``sandboxes`` how many games had which protection
    ``last``               when the last game ended, UTC
    """

    path: Path
    offset: NDArray[np.int64]
    turns: NDArray[np.int64]
    end: NDArray[np.int64]
    ends: list[str]
    slowest_ms: NDArray[np.float32]
    faults: list[Forfeited]
    sandboxes: dict[str, int]
    last: str

    def record(self, game: int) -> GameRecord:
        """The record of a game, read again."""
        with open_journal(self.path) as file:
            file.seek(int(self.offset[game]))
            return decode_record(file.readline())

    def numbers(self, ids: list[str]) -> list[int]:
        """The numbers of the games with these ids, in their order. Raises RunError for one that is not there."""
        found = _find(self, set(ids))
        for name in ids:
            if name not in found:
                raise RunError(f"expected the id of a game in {self.path.parent}, got {name!r}", "ids are the first column of games.csv")
        return [found[name] for name in ids]


class _Columns:
    """The columns of a `Scan` while they grow."""

    def __init__(self) -> None:
        self.offset, self.turns, self.end, self.slowest = array("q"), array("q"), array("q"), array("f")
        self.ends: dict[str, int] = {}
        self.sandboxes: Counter[str] = Counter()
        self.faults: list[Forfeited] = []
        self.last = ""

    def add(self, row: _Line, start: int) -> None:
        """Adds a game whose line begins there."""
        self.faults += [Forfeited(len(self.offset), row.id, row.bots[fault.seat], fault) for fault in row.faults]
        self.offset.append(start)
        self.turns.append(row.turns)
        self.end.append(self.ends.setdefault(row.end, len(self.ends)))
        self.slowest.extend(row.slowest_ms)
        self.sandboxes[row.sandbox] += 1
        self.last = max(self.last, row.ended)

    def finished(self, path: Path) -> Scan:
        """What was read."""
        return Scan(
            path=path,
            offset=np.array(self.offset, dtype=np.int64),
            turns=np.array(self.turns, dtype=np.int64),
            end=np.array(self.end, dtype=np.int64),
            ends=list(self.ends),
            slowest_ms=np.array(self.slowest, dtype=np.float32),
            faults=self.faults,
            sandboxes=dict(self.sandboxes),
            last=self.last,
        )


def scan_journal(run: Path, games: int) -> Scan:
    """Reads the first ``games`` games of a run's journal. Raises RunError."""
    path, columns = journal_of(run), _Columns()
    for start, row in islice(read_rows(path, _decode), games):
        columns.add(row, start)
    return columns.finished(path)


def _find(scan: Scan, ids: set[str]) -> dict[str, int]:
    rows = islice(read_rows(scan.path, _decode), len(scan.offset))
    return {row.id: number for number, (_, row) in enumerate(rows) if row.id in ids}
