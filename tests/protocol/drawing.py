"""Positions as SVG files that stand alone, for the pictures of the rules.

A drawing is a function of the state, the tiles that lie on it and what is marked; nothing else goes
in, and equal input gives equal text.
"""

from arena.exports.ground import framed, size
from arena.exports.parts import SIDE, number, picture_file
from arena.exports.scene import Scene, pair_of, way
from arena.rules.boards import COLOURS, squares_of
from arena.rules.notation import PASS, split_move

GAP = 54
"""Between two boards beside each other, where the arrow is."""


def board_picture(state, title, tiles=None, last=PASS):
    """An SVG file of one position.

    ``tiles`` are the squares of each tile, in any order; without them they are guessed. ``last`` is
    the move with the ring.
    """
    content = _board(state, likely_tiles(state) if tiles is None else tiles, last)
    return picture_file(size(state.board), title, content)


def before_after_picture(before, after, title, move):
    """An SVG file of a position before a move and after it."""
    width, height = size(before.board)
    tiles = likely_tiles(before)
    middle = height / 2 - 5
    arrow = f'<path class="q-arrow" d="M{width + 9} {middle:g}h18v-8l18 13-18 13v-8h-18z"/>'
    drawn = _board(after, [*tiles, *pair_of(before.board, move)], move)
    second = f'<g transform="translate({width + GAP})">{drawn}</g>'
    content = _board(before, tiles) + arrow + second
    return picture_file((2 * width + GAP, height), title, content)


def forbidden_picture(state, title, move):
    """An SVG file of a position with a tile laid pale and crossed out where it may not lie."""
    content = _board(state, likely_tiles(state), above=_refused(state.board, move))
    return picture_file(size(state.board), title, content)


def _board(state, tiles, last=PASS, above=""):
    elements = Scene(state.board).show(state, tiles, last)
    return framed(state.board, "".join(map(str, elements)) + above)


def _refused(board, move):
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


def likely_tiles(state):
    """Tiles as they may have been laid, for a position whose moves are not known; the spaces left
    over are starts.

    Only spaces of one colour are put together, those with the fewest such neighbours first, so that
    few are left over.
    """
    pairs = []
    for colour in range(len(COLOURS)):
        rest = state.spaces(colour)
        while rest:
            square = min(
                squares_of(rest),
                key=lambda at: ((state.board.around(1 << at) & rest).bit_count() or 9, at),
            )
            mates = state.board.around(1 << square) & rest
            if mates:
                mate = next(squares_of(mates))
                pairs.append((min(square, mate), max(square, mate)))
                rest ^= 1 << mate
            rest ^= 1 << square
    return sorted(pairs)
