"""Positions as SVG files that stand alone.

A drawing is a function of the state, the tiles that lie on it and what is marked; nothing else goes
in, and equal input gives equal text.
"""

from collections.abc import Sequence
from html import escape

from arena.exports.pictures.ground import framed, size
from arena.exports.pictures.outline import number
from arena.exports.pictures.parts import SIDE, style, used_parts
from arena.exports.pictures.scene import Scene, way
from arena.exports.pictures.tiles import Pair, likely_tiles, pair_of
from arena.rules import State
from arena.rules.boards import COLOURS, Board
from arena.rules.notation import PASS, split_move

GAP = 54
"""Between two boards beside each other, where the arrow is."""


def board_picture(
    state: State, title: str, tiles: Sequence[Pair] | None = None, last: int = PASS
) -> str:
    """An SVG file of one position.

    ``tiles`` are the squares of each tile, in any order; without them they are guessed. ``last`` is
    the move with the ring.
    """
    content = _board(state, likely_tiles(state) if tiles is None else tiles, last)
    return picture_file(size(state.board), title, content)


def before_after_picture(before: State, after: State, title: str, move: int) -> str:
    """An SVG file of a position before a move and after it."""
    width, height = size(before.board)
    tiles = likely_tiles(before)
    middle = height / 2 - 5
    arrow = f'<path class="q-arrow" d="M{width + 9} {middle:g}h18v-8l18 13-18 13v-8h-18z"/>'
    drawn = _board(after, [*tiles, *pair_of(before.board, move)], move)
    second = f'<g transform="translate({width + GAP})">{drawn}</g>'
    content = _board(before, tiles) + arrow + second
    return picture_file((2 * width + GAP, height), title, content)


def forbidden_picture(state: State, title: str, move: int) -> str:
    """An SVG file of a position with a tile laid pale and crossed out where it may not lie."""
    content = _board(state, likely_tiles(state), above=_refused(state.board, move))
    return picture_file(size(state.board), title, content)


def picture_file(extent: tuple[int, int], title: str, content: str, more_style: str = "") -> str:
    """The file, with those parts written into it that the content refers to."""
    width, height = extent
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" role="img">'
        f"<title>{escape(title)}</title><style>{style(content)}{more_style}</style>"
        f"<defs>{used_parts(content)}</defs>{content}</svg>\n"
    )


def _board(state: State, tiles: Sequence[Pair], last: int = PASS, above: str = "") -> str:
    elements = Scene(state.board).show(state, tiles, last)
    return framed(state.board, "".join(map(str, elements)) + above)


def _refused(board: Board, move: int) -> str:
    """A tile that may not lie there: pale, in a broken red frame."""
    first, one, second, other = split_move(board, move)
    (y, x), (below, right) = divmod(one, board.stride), divmod(other, board.stride)
    part = f"q{COLOURS[first]}{COLOURS[second]}{way(one, other)}"
    left, top, end, foot = x * SIDE + 9, y * SIDE + 9, right * SIDE + 31, below * SIDE + 31
    cross = f"M{left} {top}L{end} {foot}M{left} {foot}L{end} {top}"
    width, height = (right - x + 1) * SIDE - 2, (below - y + 1) * SIDE - 2
    return (
        f'<use href="#{part}" x="{x * SIDE}" y="{y * SIDE}" opacity=".55"/>'
        f'<rect class="q-refused q-broken" x="{number(x * SIDE + 1)}" y="{number(y * SIDE + 1)}"'
        f' width="{width}" height="{height}" rx="8"/><path class="q-refused" d="{cross}"/>'
    )
