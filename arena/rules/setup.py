"""Converts between a game state and its parts, the arguments of ``State.set_up``: checks the parts
before a state is made from them, and reads the parts of a state.
"""

from collections.abc import Iterable, Sequence
from operator import index
from typing import TYPE_CHECKING, NamedTuple

from arena.rules.boards import COLOURS, Board
from arena.rules.notation import COPIES, TILES, Hand, checked_tiles
from arena.rules.terms import ENDS, MAJOR, NOBODY, PAGODAS

if TYPE_CHECKING:
    from arena.rules.pure import State

NONE_PLACED = (0,) * len(TILES)
ProvinceEntry = tuple[int, int, int, int]
"""A province as (colour, mask of its squares, seat of its owner, number of its pagodas)."""


class CheckedSetup(NamedTuple):
    """The arguments of ``State.set_up`` after `checked_setup` has checked them and converted them
    to tuples of plain ints.
    """

    board: Board
    spaces: tuple[int, ...]
    provinces: tuple[ProvinceEntry, ...]
    villages: tuple[int, ...]
    left: tuple[int, ...]
    hands: tuple[Hand, ...]
    pile: Hand
    mover: int
    placed: tuple[int, ...]
    retired: tuple[bool, ...]
    end: str | None


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
    retired: Sequence[bool] = (),
    end: str | None = None,
) -> CheckedSetup:
    """Checks the arguments of ``State.set_up``, where they are described, and returns them as
    tuples of plain ints. An empty ``retired`` means that no seat has left the game.

    Raises ValueError if a part has the wrong length or a number out of its range, if a colour lies
    where the board does not allow that colour, or if a province has the wrong spaces or pagodas.
    Whether a game could reach the position is not checked.
    """
    setup = CheckedSetup(
        board,
        tuple(map(index, spaces)),
        tuple(map(_entry, provinces)),
        tuple(map(index, villages)),
        tuple(map(index, left)),
        tuple(map(checked_tiles, hands)),
        checked_tiles(pile),
        index(mover),
        tuple(map(index, placed)),
        tuple(map(bool, retired)) or (False,) * len(left),
        end,
    )
    _check_seats(setup)
    _check_end(setup)
    _check_spaces(setup)
    _check_provinces(setup)
    return setup


def _entry(entry: Iterable[int]) -> ProvinceEntry:
    """Converts the entry of a province to plain ints. Raises ValueError unless it has four
    numbers.
    """
    numbers = tuple(map(index, entry))
    if len(numbers) != 4:  # noqa: PLR2004 - the parts of an entry
        raise ValueError(f"expected provinces as (colour, mask, owner, pagodas), got {numbers}")
    return numbers


def _check_seats(setup: CheckedSetup) -> None:
    """Raises ValueError if the number of players, pagodas left, hands, mover, tiles placed or
    owners of villages are out of range.
    """
    players = len(setup.left)
    if players not in PAGODAS:
        raise ValueError(f"expected 2 to 4 players, got {players}")
    fewest = 1 if setup.end is None else 0
    if not all(fewest <= own <= PAGODAS[players] for own in setup.left):
        wanted = f"{fewest} to {PAGODAS[players]} pagodas left to each seat, got {list(setup.left)}"
        raise ValueError(f"expected {wanted}")
    if len(setup.hands) != players:
        raise ValueError(f"expected {players} hands, got {len(setup.hands)}")
    if not 0 <= setup.mover < players:
        raise ValueError(f"expected a mover from 0 to {players - 1}, got {setup.mover}")
    if len(setup.placed) != len(TILES) or not all(0 <= count <= COPIES for count in setup.placed):
        wanted = f"0 to {COPIES} placed for each of {len(TILES)} tiles, got {list(setup.placed)}"
        raise ValueError(f"expected {wanted}")
    owners = setup.villages
    count = len(setup.board.villages)
    if len(owners) != count or not all(NOBODY <= owner < players for owner in owners):
        wanted = f"for each of {count} villages a seat or {NOBODY}, got {list(owners)}"
        raise ValueError(f"expected {wanted}")


def _check_end(setup: CheckedSetup) -> None:
    """Raises ValueError if ``retired`` does not have one entry for each seat, or if ``end`` is
    neither None nor one of `ENDS`.
    """
    if len(setup.retired) != len(setup.left):
        wanted = f"retired or not for each of {len(setup.left)} seats, got {list(setup.retired)}"
        raise ValueError(f"expected {wanted}")
    if setup.end not in (None, *ENDS):
        wanted = f"the end {', '.join(ENDS)} or None, got {setup.end!r}"
        raise ValueError(f"expected {wanted}")


def _check_spaces(setup: CheckedSetup) -> None:
    """Raises ValueError if a space of a colour is neither on grassland nor on a starting space of
    that colour, or if a space has two colours.
    """
    board = setup.board
    spaces = setup.spaces
    if len(spaces) != len(COLOURS):
        wanted = f"a mask of spaces for each of {len(COLOURS)} colours, got {len(spaces)}"
        raise ValueError(f"expected {wanted}")
    for letter, own, start in zip(COLOURS, spaces, board.starts, strict=True):
        if own < 0 or own & ~(board.grass | start):
            raise ValueError(
                f"expected spaces of colour {letter} on grassland and starts of that colour only,"
                f" got the mask {own:#x}"
            )
    if spaces[0] & spaces[1] | spaces[0] & spaces[2] | spaces[1] & spaces[2]:
        raise ValueError("expected one colour a space, got two")


def _check_provinces(setup: CheckedSetup) -> None:
    """Raises ValueError if a province has an unknown colour or owner, overlaps another province, is
    not made of two or more spaces of its colour, or has the wrong number of pagodas.
    """
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
        most = 2 if mask.bit_count() >= MAJOR else 1
        # The player who places the last pagoda may owe more than it has left (R7.2).
        fewest = most if setup.end is None else 0
        if not fewest <= pagodas <= most:
            raise ValueError(
                f"expected 1 pagoda on a province, 2 on one of {MAJOR} spaces and more, got {entry}"
            )
        rest[colour] &= ~mask


def parts_of(state: "State") -> tuple[object, ...]:
    """Reads the arguments with which ``State.set_up`` makes a state equal to ``state``."""
    spaces = list(map(state.spaces, range(len(COLOURS))))
    provinces = []
    for colour, province in state.provinces():
        provinces.append((colour, province.mask, province.owner, province.pagodas))
    return (
        state.board,
        spaces,
        provinces,
        state.villages,
        state.left,
        state.hands,
        state.pile_tiles(),
        state.mover,
        state.tiles_placed(),
        state.retired,
        state.end,
    )


def is_same_position(one: "State", other: "State") -> bool:
    """Whether two states have the same position, with the same tiles in the hands and the draw
    pile, on boards with the same rows. The names of the boards may differ.
    """
    return one.board.rows == other.board.rows and parts_of(one)[1:] == parts_of(other)[1:]
