"""The board itself: its frame with the names of rows and columns, grass, lakes and villages."""

from collections.abc import Iterable

from arena.exports.pictures.outline import outline
from arena.exports.pictures.parts import SIDE
from arena.rules.boards import GRASS, LAKE, Board, squares_of

FRAME = 22
TUFTS = 6
"""One square of grass out of this many has a tuft on it, and another one a few blades."""


def size(board: Board) -> tuple[int, int]:
    """Width and height of a board with its frame."""
    return board.width * SIDE + 2 * FRAME, board.height * SIDE + 2 * FRAME


def framed(board: Board, content: str) -> str:
    """The ground in its frame, the corner of which lies at the origin, and what lies on it."""
    width, height = board.width * SIDE, board.height * SIDE
    ground = f"M0 0h{width}v{height}H0z"
    return (
        f'<rect class="q-frame" width="{width + 2 * FRAME}" height="{height + 2 * FRAME}"'
        f' rx="9"/>{_names(board)}<g transform="translate({FRAME} {FRAME})"><path'
        f' fill="url(#qgrass)" d="{ground}"/><path fill="url(#qsun)" d="{ground}"/>'
        f'<rect class="q-edge" x="-1" y="-1" width="{width + 2}" height="{height + 2}" rx="2"/>'
        f"{_ground(board)}{content}</g>"
    )


def _names(board: Board) -> str:
    below, middle = board.height * SIDE + FRAME + 15, FRAME + SIDE // 2
    columns = (
        f'<text x="{column * SIDE + middle}" y="{below}">{chr(97 + column)}</text>'
        for column in range(board.width)
    )
    rows = (
        f'<text x="{FRAME // 2}" y="{row * SIDE + middle + 4}">{row + 1}</text>'
        for row in range(board.height)
    )
    return f'<g class="q-names">{"".join(columns)}{"".join(rows)}</g>'


def _ground(board: Board) -> str:
    """Grass here and there, lakes that run together, and villages on their plates."""
    grass = [((at * at * 31 + at * 17) % 97 % TUFTS, at) for at in squares_of(_mask(board, GRASS))]
    lakes = _mask(board, LAKE)
    parts = [
        _uses("qtuft", board, (at for chance, at in grass if chance == 0)),
        _uses("qblades", board, (at for chance, at in grass if chance == 1)),
        f'<path class="q-lake" d="{outline(board, lakes, 2, 10)}"/>' if lakes else "",
        _uses("qwave", board, squares_of(lakes)),
    ]
    for village in board.villages:
        parts.append(f'<path class="q-plate" d="{outline(board, village, 3, 7)}"/>')
        parts.append(_uses("qhouses", board, squares_of(village)))
    return "".join(parts)


def _mask(board: Board, terrain: str) -> int:
    return sum(
        1 << row * board.stride + column
        for row, line in enumerate(board.rows)
        for column, letter in enumerate(line)
        if letter == terrain
    )


def _uses(part: str, board: Board, squares: Iterable[int]) -> str:
    """References to a part, one on each square."""
    places = (divmod(square, board.stride) for square in squares)
    return "".join(
        f'<use href="#{part}" x="{column * SIDE}" y="{row * SIDE}"/>' for row, column in places
    )
