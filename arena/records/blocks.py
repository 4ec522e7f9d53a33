"""Counts the blocks in a journal. A *block* is the games that a line-up plays on one deal of a
board, one for each seating.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Struct

from arena.records.journal import read_rows
from arena.records.record import Deal, Seats


class PlayedBlocks(NamedTuple):
    """The blocks of one line-up on one board that have games in a journal. ``place`` is
    ``board/line-up``, with the bots of the line-up sorted and joined by ``+``; ``deals`` are the
    numbers of the deals; ``games`` has the number of games for each entry of ``deals``.
    """

    place: str
    deals: Sequence[int]
    games: Sequence[int]


class _BlockRow(Struct, gc=False):
    """The fields of a record that say to which block its game belongs: the board, the deal, and the
    bots; and the id.
    """

    id: str
    board: str
    deal: Deal
    bots: Annotated[tuple[str, ...], Seats]


_decode = msgspec.json.Decoder(_BlockRow).decode


def games_in(blocks: Iterable[PlayedBlocks]) -> int:
    """The total number of games in ``blocks``."""
    return sum(sum(block.games) for block in blocks)


def count_blocks(journal: Path) -> list[PlayedBlocks]:
    """Counts the games in each block that has any in the file ``journal``, sorted by board and
    line-up. If a game's id occurs twice, only its first record counts. Raises RunError if the
    journal is missing or has a damaged line.
    """
    games = defaultdict[tuple[str, tuple[str, ...]], Counter[int]](Counter)
    for _, row in read_rows(journal, _decode):
        games[row.board, row.bots][row.deal] += 1
    at_places = defaultdict[str, Counter[int]](Counter)
    for (board, bots), deals in games.items():
        at_places[f"{board}/{'+'.join(sorted(bots))}"].update(deals)
    blocks = []
    for place, deals in sorted(at_places.items()):
        numbers = sorted(deals)
        counts = [deals[number] for number in numbers]
        blocks.append(PlayedBlocks(place, array("i", numbers), array("i", counts)))
    return blocks
