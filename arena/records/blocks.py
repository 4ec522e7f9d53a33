"""Blocks: the games of a line-up on one deal of a board, counted in a journal."""

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
    """The blocks of a line-up on a board that have games: the line-up as ``place``, which is
    ``board/line-up``; the numbers of the deals; and the number of games on each of them.
    """

    place: str
    deals: Sequence[int]
    games: Sequence[int]


class _BlockRow(Struct, gc=False):
    """The fields of a record that say to which block the game belongs."""

    id: str
    board: str
    deal: Deal
    bots: Annotated[tuple[str, ...], Seats]


_decode = msgspec.json.Decoder(_BlockRow).decode


def games_in(blocks: Iterable[PlayedBlocks]) -> int:
    """The number of games in all blocks together."""
    return sum(sum(block.games) for block in blocks)


def count_blocks(journal: Path) -> list[PlayedBlocks]:
    """The blocks of all games in a journal, sorted; the first record of each id counts. Raises
    RunError for a damaged line.
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
