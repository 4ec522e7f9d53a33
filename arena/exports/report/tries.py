"""What a reader of a finished game can try: for each tile in the hand of the seat to move, the best
squares, and what the tile would do there.
"""

from collections import defaultdict
from itertools import chain
from typing import Any

from arena.exports.effects import effects_of
from arena.exports.text import names_on_page
from arena.match.replay import positions
from arena.records.record import GameRecord
from arena.rules import CORE, State
from arena.rules.boards import Board
from arena.rules.notation import PASSED, move_text, tile_of

SQUARES = 3
"""The number of places that are shown for a tile."""


def add_tries(game: dict[str, Any], record: GameRecord, board: Board) -> None:
    """Adds ``tries`` to each step of ``game``, the data of the game of ``record``, played on
    ``board``, that places a tile: places for the tiles that the mover held before it, as (move,
    effect in a few words). The places of each tile, at most `SQUARES`, begin with the one that has
    the best outlook for the mover. With the pure core nothing is added, because it would take
    seconds.
    """
    if CORE == "pure":
        return
    names, person = names_on_page(record.bots)
    steps = iter(game["steps"])
    for state, text in positions(record, board):
        step = next(steps)
        if text != PASSED:
            step["tries"] = tries_of(state, names, person)


def tries_of(state: State, names: list[str], person: int) -> list[tuple[str, str]]:
    """For each tile of the mover of ``state``, at most `SQUARES` places, those with the best
    outlook for the mover first, as (move, effect in a few words); ``names`` are the names of the
    seats, and ``person`` is the seat that is called "you"; a number that is no seat if none is.
    """
    moves = state.legal_moves()
    outlooks = dict(zip(moves, state.outlooks(), strict=True))
    by_tile = defaultdict[int, list[int]](list)
    for move in sorted(moves, key=lambda move: -outlooks[move]):
        if len(by_tile[tile_of(move)]) < SQUARES:
            by_tile[tile_of(move)].append(move)
    tries = []
    for move in chain.from_iterable(by_tile.values()):
        brief = effects_of(state, move, names, person).brief
        tries.append((move_text(state.board, move), brief))
    return tries
