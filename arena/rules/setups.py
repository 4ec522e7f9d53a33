"""Checks a position in the middle of a game. Both cores use this, so that they reject the same
positions with the same words.
"""

from collections.abc import Iterable, Sequence
from operator import index
from typing import NamedTuple

from arena.rules.boards import COLOURS, Board
from arena.rules.hands import Hand, checked_tiles
from arena.rules.notation import COPIES, TILES
from arena.rules.terms import MAJOR, NOBODY, PAGODAS

NONE_PLACED = (0,) * len(TILES)
Entry = tuple[int, int, int, int]
"""Colour, mask, owner and pagodas of a province."""


class CheckedSetup(NamedTuple):
    """A checked position; the parts are those of ``State.set_up``, as tuples of plain ints."""

    board: Board
    spaces: tuple[int, ...]
    provinces: tuple[Entry, ...]
    villages: tuple[int, ...]
    left: tuple[int, ...]
    hands: tuple[Hand, ...]
    pile: Hand
    mover: int
    placed: tuple[int, ...]


# The parts of a position.
def checked_setup(  # noqa: PLR0913, PLR0917
    board: Board,
    spaces: Sequence[int],
    provinces: Iterable[tuple[int, int, int, int]],
    villages: Sequence[int],
    left: Sequence[int],
    hands: Sequence[Sequence[int]],
    pile: Sequence[int],
    mover: int = 0,
    placed: Sequence[int] = NONE_PLACED,
) -> CheckedSetup:
    """The position. Raises ValueError if a part by itself is impossible in any game: colours,
    owners, pagodas, and their numbers.
    """
    setup = CheckedSetup(
        board,
        tuple(map(index, spaces)),
        tuple(_entry(entry) for entry in provinces),
        tuple(map(index, villages)),
        tuple(map(index, left)),
        tuple(checked_tiles(hand) for hand in hands),
        checked_tiles(pile),
        index(mover),
        tuple(map(index, placed)),
    )
    _check_seats(setup)
    _check_spaces(setup)
    _check_provinces(setup)
    return setup


def _entry(entry: Iterable[int]) -> Entry:
    numbers = tuple(map(index, entry))
    if len(numbers) != 4:  # noqa: PLR2004 - the parts of an entry
        raise ValueError(f"expected provinces as (colour, mask, owner, pagodas), got {numbers}")
    return numbers


def _check_seats(setup: CheckedSetup) -> None:
    players = len(setup.left)
    if players not in PAGODAS:
        raise ValueError(f"expected 2 to 4 players, got {players}")
    if not all(1 <= own <= PAGODAS[players] for own in setup.left):
        raise ValueError(
            f"expected 1 to {PAGODAS[players]} pagodas left to each seat, got {list(setup.left)}"
        )
    if len(setup.hands) != players:
        raise ValueError(f"expected {players} hands, got {len(setup.hands)}")
    if not 0 <= setup.mover < players:
        raise ValueError(f"expected a mover from 0 to {players - 1}, got {setup.mover}")
    if len(setup.placed) != len(TILES) or not all(0 <= count <= COPIES for count in setup.placed):
        raise ValueError(
            f"expected 0 to {COPIES} placed for each of {len(TILES)} tiles, got"
            f" {list(setup.placed)}"
        )
    count = len(setup.board.villages)
    if len(setup.villages) != count or not all(
        NOBODY <= owner < players for owner in setup.villages
    ):
        raise ValueError(
            f"expected for each of {count} villages a seat or {NOBODY}, got {list(setup.villages)}"
        )


def _check_spaces(setup: CheckedSetup) -> None:
    board, spaces = setup.board, setup.spaces
    if len(spaces) != len(COLOURS):
        raise ValueError(
            f"expected a mask of spaces for each of {len(COLOURS)} colours, got {len(spaces)}"
        )
    for letter, own, start in zip(COLOURS, spaces, board.starts, strict=True):
        if own < 0 or own & ~(board.grass | start):
            raise ValueError(
                f"expected spaces of colour {letter} on grassland and starts of that colour only,"
                f" got the mask {own:#x}"
            )
    if spaces[0] & spaces[1] | spaces[0] & spaces[2] | spaces[1] & spaces[2]:
        raise ValueError("expected one colour a space, got two")


def _check_provinces(setup: CheckedSetup) -> None:
    rest = list(setup.spaces)
    for entry in setup.provinces:
        colour, mask, owner, pagodas = entry
        if not (0 <= colour < len(COLOURS) and 0 <= owner < len(setup.left) and mask > 0):
            raise ValueError(f"expected provinces as (colour, mask, owner, pagodas), got {entry}")
        if mask & (mask - 1) == 0 or mask & ~rest[colour] or setup.board.founding_at(mask) & ~mask:
            raise ValueError(
                "expected a province of two or more spaces of its colour, whole starts, none in"
                f" another, got {entry}"
            )
        if pagodas != (2 if mask.bit_count() >= MAJOR else 1):
            raise ValueError(
                f"expected 1 pagoda on a province, 2 on one of {MAJOR} spaces and more, got {entry}"
            )
        rest[colour] &= ~mask
