"""A whole position in one line of text (protocol/NOTATION.md, "Positions").

Seven fields: board, seat to move, pagodas left, hands, pile, tiles placed, seats that have left.
The referee's line names every tile; in a seat's line, tiles that the seat cannot see are ``??``.
"""

import re
from typing import NoReturn

from arena.errors import NotationError
from arena.rules import State
from arena.rules.boards import GRASS
from arena.rules.diagrams import draw, read_cells
from arena.rules.notation import COPIES, DECK_SIZE, SHOWN, TILES, UNKNOWN, deck_text, parse_tile
from arena.rules.terms import HAND, PAGODAS

FIELDS = ("board", "seat to move", "left", "hands", "pile", "placed", "out")
NONE = "-"
"""An empty hand, an empty pile, nobody; as the seat to move, that the game is over."""
HIDDEN = "??"
OVER = "expected a position in which somebody is to move, got one of a game that is over"
MOST = 2000
"""No position has so many characters: two for each of 676 squares, and two for each of 72 tiles."""
_CELL = re.compile(r"\.(2[0-6]|1[0-9]|[2-9])?|[RYBV][0-3]?|~", re.ASCII)
_COUNT = re.compile(r"0|[1-9][0-9]?", re.ASCII)


def position_text(state: State, seat: int | None = None) -> str:
    """The position as the referee sees it, or as a seat does. Two positions that are equal to a
    seat have the same text.
    """
    hands = [
        HIDDEN * len(hand) if seat not in (None, own) else deck_text(hand)
        for own, hand in enumerate(state.hands)
    ]
    pile = state.pile_tiles()
    is_hidden = seat is not None or all(tile == UNKNOWN for tile in pile)
    return " ".join(
        [
            "/".join(map(_row_text, draw(state))),
            NONE if state.end else str(state.mover),
            ",".join(map(str, state.left)),
            ",".join(hand or NONE for hand in hands),
            (str(len(pile)) if is_hidden else deck_text(pile)) if pile else NONE,
            ",".join(map(str, state.tiles_placed())),
            "".join(str(own) for own, left in enumerate(state.retired) if left) or NONE,
        ]
    )


def _row_text(cells: list[str]) -> str:
    joined = "".join(cells)
    return re.sub(r"\.{2,}", lambda run: f".{len(run[0])}", joined)


def parse_position(text: str, core: type[State] = State) -> State:
    """The position that the line stands for, in the core given. Tiles may be written in any order,
    and their letters, too. Raises NotationError, BoardError.
    """
    fields = text.split(" ", len(FIELDS)) if len(text) <= MOST else []
    if len(fields) != len(FIELDS):
        _refuse(f"{len(FIELDS)} fields with a space between them ({', '.join(FIELDS)})", text)
    rows, mover, left, hands, pile, placed, out = fields
    board, spaces, provinces, villages = read_cells("position", _drawing(rows))
    counts = _counts("left", left, len(PAGODAS) + 1)
    if mover == NONE:
        raise NotationError(OVER)
    try:
        state = core.set_up(
            board,
            spaces,
            provinces,
            villages,
            counts,
            [_tiles("hands", hand) for hand in hands.split(",")],
            _pile(pile),
            _seat(mover),
            _counts("placed", placed, len(TILES)),
        )
        for seat in _out(out):
            state.retire(seat)
    except (ValueError, IndexError) as error:
        raise NotationError(str(error)) from None
    _check(state, rows)
    return state


def _drawing(rows: str) -> str:
    """The board's field as a diagram. Raises NotationError."""
    lines = []
    for number, row in enumerate(rows.split("/"), 1):
        cells, at = list[str](), 0
        while at < len(row) or not row:
            found = _CELL.match(row, at)
            if not found:
                _refuse(
                    f"cells such as . .13 ~ R V0 in row {number} of the board",
                    row[at:] or "nothing",
                )
            cells += [GRASS] * int(found[1] or 1) if found[0][0] == GRASS else [found[0]]
            at = found.end()
        lines.append(" ".join(cells))
    return "\n".join(lines)


def _counts(field: str, text: str, most: int) -> list[int]:
    words = text.split(",", most)
    if not all(map(_COUNT.fullmatch, words)):
        _refuse(f"numbers in the field {field}, such as 24,24", text)
    return list(map(int, words))


def _seat(text: str) -> int:
    if text not in tuple("0123"):
        _refuse("the seat to move, 0 to 3", text)
    return int(text)


def _out(text: str) -> list[int]:
    if text == NONE:
        return []
    if not re.fullmatch("0?1?2?3?", text) or not text:
        _refuse("the seats that have left in the field out, such as 02, or -", text)
    return list(map(int, text))


def _tiles(field: str, text: str) -> list[int]:
    """Tiles such as ``RRYB??``; ``-`` is none."""
    if text == NONE:
        return []
    if not text or len(text) % 2:
        _refuse(f"tiles such as RRYB in the field {field}, or -", text)
    names = [text[at : at + 2] for at in range(0, len(text), 2)]
    return [UNKNOWN if name == HIDDEN else parse_tile(name) for name in names]


def _pile(text: str) -> list[int]:
    """The tiles of a pile; a number is so many that nobody knows."""
    if _COUNT.fullmatch(text):
        return [UNKNOWN] * int(text)
    return _tiles("pile", text)


def _check(state: State, rows: str) -> None:
    """Refuses what no game can have, beyond what `set_up` refuses."""
    cells, drawn = [line.split() for line in _drawing(rows).splitlines()], draw(state)
    for line, wanted in zip(cells, drawn, strict=True):
        for got, cell in zip(line, wanted, strict=True):
            if got != cell:
                _refuse(f"{cell} as in the rest of its area on the board", got)
    if any(len(hand) > HAND for hand in state.hands):
        _refuse(f"hands of up to {HAND} tiles", str(max(map(len, state.hands))))
    known = [*state.pile_tiles(), *(tile for hand in state.hands for tile in hand)]
    placed = state.tiles_placed()
    for tile, name in enumerate(TILES):
        count = placed[tile] + known.count(tile)
        if count > COPIES:
            _refuse(f"at most {COPIES} tiles {name}", str(count))
    if sum(placed) + len(known) > DECK_SIZE:
        _refuse(f"at most {DECK_SIZE} tiles", str(sum(placed) + len(known)))
    if state.end is not None:
        raise NotationError(OVER)


def _refuse(expected: str, got: str) -> NoReturn:
    shown = repr(got) if len(got) <= SHOWN else f"{got[:SHOWN]!r}... ({len(got)} characters)"
    raise NotationError(f"expected {expected}, got {shown}")
