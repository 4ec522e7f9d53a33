"""A position drawn as a board: province tiles, villages, lakes, pagodas in the colours of the
seats, and a ring around the last tile.

The drawing is a function of the state, the tiles that lie on it and what is marked; nothing else
goes in, and equal input gives equal text.
"""

import re
from collections.abc import Iterable, Sequence
from html import escape

from arena.exports.pictures.outline import SIDE, number, outline
from arena.exports.pictures.parts import CASINGS, DOORS, PARTS, SEATS, STYLE
from arena.exports.pictures.tiles import Pair, likely_tiles, pair_of
from arena.rules import State
from arena.rules.boards import COLOURS, LAKE, Board, squares_of
from arena.rules.notation import PASS, split_move
from arena.rules.terms import NOBODY, OwnedProvince

FRAME = 22
GAP = 54
"""Between two boards beside each other, where the arrow is."""
TUFTS = 7
"""One free square out of so many has grass standing on it."""


def board_picture(
    state: State, title: str, tiles: Sequence[Pair] | None = None, last: int = PASS
) -> str:
    """An SVG file of one position.

    ``tiles`` are the squares of each tile, in any order; without them they are guessed. ``last`` is
    the move with the ring.
    """
    return _file(
        _size(state.board),
        title,
        _board(state, likely_tiles(state) if tiles is None else tiles, last),
    )


def before_after_picture(before: State, after: State, title: str, move: int) -> str:
    """An SVG file of a position before a move and after it."""
    width, height = _size(before.board)
    tiles = likely_tiles(before)
    arrow = f'<path class="p" d="M{width + 9} {height / 2 - 5:g}h18v-8l18 13-18 13v-8h-18z"/>'
    drawn = _board(after, [*tiles, *pair_of(before.board, move)], move)
    second = f'<g transform="translate({width + GAP})">{drawn}</g>'
    return _file((2 * width + GAP, height), title, _board(before, tiles, PASS) + arrow + second)


def forbidden_picture(state: State, title: str, move: int) -> str:
    """An SVG file of a position with a tile laid pale and crossed out where it may not lie."""
    return _file(
        _size(state.board),
        title,
        _board(state, likely_tiles(state), PASS, _refused(state.board, move)),
    )


def _size(board: Board) -> tuple[int, int]:
    return board.width * SIDE + 2 * FRAME, board.height * SIDE + 2 * FRAME


def _file(size: tuple[int, int], title: str, content: str) -> str:
    """The file, with those parts written into it that the content refers to."""
    used = [PARTS[name] for name in PARTS if f'"#{name}"' in content or f"url(#{name})" in content]
    used += [PARTS[name[-1]] for name in ("p1", "p2") if f'"#{name}"' in content]
    seats = [
        f".k{seat}{{stroke:{CASINGS[seat]}}}.o{seat}{{stroke:{SEATS[seat]}}}"
        f".s{seat}{{fill:{SEATS[seat]};stroke:{CASINGS[seat]}}}"
        f".d{seat}{{fill:{DOORS[seat]}}}"
        for seat in range(len(SEATS))
        if re.search(rf'class="[sk]{seat}"|k{seat}"', content)
    ]
    width, height = size
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" role="img">'
        f"<title>{escape(title)}</title><style>{STYLE}{''.join(seats)}</style>"
        f"<defs>{''.join(used)}</defs>{content}</svg>\n"
    )


def _board(state: State, tiles: Sequence[Pair], last: int, extra: str = "") -> str:
    """A board with its frame, the corner of which lies at the origin."""
    board = state.board
    width, height = board.width * SIDE, board.height * SIDE
    content = "".join(
        (
            _ground(state),
            _tiles(state, tiles),
            _outlines(state),
            _ring(board, last),
            extra,
            _pagodas(state),
        )
    )
    return (
        f'<rect class="f" width="{width + 2 * FRAME}" height="{height + 2 * FRAME}"'
        f' rx="9"/>{_coordinates(board)}<g transform="translate({FRAME} {FRAME})"><path'
        f' fill="url(#g)" d="M0 0h{width}v{height}H0z"/><rect class="l" x="-1" y="-1"'
        f' width="{width + 2}" height="{height + 2}" rx="2"/>{content}</g>'
    )


def _coordinates(board: Board) -> str:
    below, middle = board.height * SIDE + FRAME + 15, FRAME + SIDE // 2
    columns = (
        f'<text x="{column * SIDE + middle}" y="{below}">{chr(97 + column)}</text>'
        for column in range(board.width)
    )
    rows = (
        f'<text x="{FRAME // 2}" y="{row * SIDE + middle + 4}">{row + 1}</text>'
        for row in range(board.height)
    )
    return f'<g class="c">{"".join(columns)}{"".join(rows)}</g>'


def _ground(state: State) -> str:
    """Grass, lakes that run together, and villages on their plates."""
    board = state.board
    tufts = [at for at in squares_of(state.free) if at * 29 % 53 % TUFTS == 0]
    lakes = _mask(board, LAKE)
    parts = [
        _uses("t", board, tufts),
        f'<path class="w" d="{outline(board, lakes, 2, 10)}"/>' if lakes else "",
    ]
    parts.append(_uses("u", board, squares_of(lakes)))
    parts += [
        f'<path class="v" d="{outline(board, village, 3, 7)}"/>' for village in board.villages
    ]
    parts.append(
        _uses("v", board, (at for village in board.villages for at in squares_of(village)))
    )
    return "".join(parts)


def _mask(board: Board, terrain: str) -> int:
    return sum(
        1 << row * board.stride + column
        for row, line in enumerate(board.rows)
        for column, letter in enumerate(line)
        if letter == terrain
    )


def _tiles(state: State, tiles: Sequence[Pair]) -> str:
    """Tiles as two halves each, and starts as single spaces with a double ring; below them their
    shadow, above them light and fold.
    """
    board = state.board
    flat = [one for one, other in tiles if other - one == 1]
    upright = [one for one, other in tiles if other - one != 1]
    covered = sum(1 << one | 1 << other for one, other in tiles)
    single = list(squares_of((state.spaces(0) | state.spaces(1) | state.spaces(2)) & ~covered))
    shapes = {
        "q": single,
        "e": flat,
        "w": [at + 1 for at in flat],
        "s": upright,
        "n": [at + board.stride for at in upright],
    }
    shadows = "".join(
        _uses(part, board, at) for part, at in (("h", flat), ("j", upright), ("i", single))
    )
    halves = []
    for colour, letter in enumerate(COLOURS):
        own = state.spaces(colour)
        made = "".join(
            _uses(part, board, [at for at in squares if own >> at & 1])
            for part, squares in shapes.items()
        )
        halves.append(f'<g fill="url(#{letter})">{made}</g>' if made else "")
    lights = "".join(
        _uses(part, board, at)
        for part, at in (("H", flat), ("J", upright), ("I", single), ("z", single))
    )
    return (
        f'<g fill="#0006">{shadows}</g>{"".join(halves)}<g fill="none"'
        f' stroke-width="1.2">{lights}</g>'
    )


def _outlines(state: State) -> str:
    """A thin border around every province and taken village in its owner's colour, over one that
    sets it off.
    """
    board, owned = state.board, [list[str]() for _ in range(state.players)]
    for _, province in state.provinces():
        owned[province.owner].append(outline(board, province.mask, 2.5, 6))
    for village, owner in zip(board.villages, state.villages, strict=True):
        if owner != NOBODY:
            owned[owner].append(outline(board, village, 2.5, 7))
    return "".join(
        f'<path class="k k{seat}" d="{"".join(paths)}"/><path class="o o{seat}"'
        f' d="{"".join(paths)}"/>'
        for seat, paths in enumerate(owned)
        if paths
    )


def _ring(board: Board, last: int) -> str:
    return f'<rect class="r" {_box(board, last, 0.5)}/>' if last != PASS else ""


def _refused(board: Board, move: int) -> str:
    """A tile that may not lie there: both halves pale, in a broken red frame."""
    first, square, second, other = split_move(board, move)
    is_flat = other - square == 1
    halves = "".join(
        f'<g fill="url(#{COLOURS[colour]})">{_uses(part, board, [at])}</g>'
        for colour, part, at in (
            (first, "e" if is_flat else "s", square),
            (second, "w" if is_flat else "n", other),
        )
    )
    (y, x), (below, right) = divmod(square, board.stride), divmod(other, board.stride)
    left, top, end, foot = x * SIDE + 9, y * SIDE + 9, right * SIDE + 31, below * SIDE + 31
    cross = f"M{left} {top}L{end} {foot}M{left} {foot}L{end} {top}"
    frame = f'<rect class="x b" {_box(board, move, 1)}/><path class="x" d="{cross}"/>'
    return f'<g opacity=".55">{halves}</g>{frame}'


def _box(board: Board, move: int, inset: float) -> str:
    """The rectangle of a tile as attributes."""
    _, square, _, other = split_move(board, move)
    (y, x), (below, right) = divmod(square, board.stride), divmod(other, board.stride)
    width, height = (right - x + 1) * SIDE - 2 * inset, (below - y + 1) * SIDE - 2 * inset
    return (
        f'x="{number(x * SIDE + inset)}" y="{number(y * SIDE + inset)}" width="{number(width)}"'
        f' height="{number(height)}" rx="8"'
    )


def _pagodas(state: State) -> str:
    """One pagoda on each province, higher by a storey where it stands for two, and one on each
    taken village.
    """
    board, owned = state.board, [list[str]() for _ in range(state.players)]
    for _, province in state.provinces():
        y, x = divmod(_place(board, province), board.stride)
        owned[province.owner].append(_pagoda(province.owner, province.pagodas, x * SIDE, y * SIDE))
    for village, owner in zip(board.villages, state.villages, strict=True):
        if owner != NOBODY:
            places = [divmod(square, board.stride) for square in squares_of(village)]
            x, y = (
                sum(part) * SIDE / len(places)
                for part in zip(*((column, row) for row, column in places), strict=True)
            )
            owned[owner].append(_pagoda(owner, 1, x, y))
    return "".join(
        f'<g class="s{seat}">{"".join(made)}</g>' for seat, made in enumerate(owned) if made
    )


def _place(board: Board, province: OwnedProvince) -> int:
    """Where a province's pagodas stand: on the square deepest inside it, the first of several."""
    return min(
        squares_of(province.mask),
        key=lambda at: (-(board.around(1 << at) & province.mask).bit_count(), at),
    )


def _pagoda(seat: int, pagodas: int, x: float, y: float) -> str:
    where = f'x="{number(x)}" y="{number(y)}"'
    return f'<use href="#p{pagodas}" {where}/><use href="#d{pagodas}" class="d{seat}" {where}/>'


def _uses(part: str, board: Board, squares: Iterable[int]) -> str:
    """References to a part, one on each square."""
    return "".join(_use(part, *divmod(square, board.stride)) for square in squares)


def _use(part: str, row: int, column: int) -> str:
    return f'<use href="#{part}" x="{column * SIDE}" y="{row * SIDE}"/>'
