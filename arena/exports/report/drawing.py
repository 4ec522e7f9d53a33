"""An empty board as SVG: the part that stays the same through a game."""

from markupsafe import Markup

from arena.exports.report.svg import element
from arena.rules.boards import COLOURS, GRASS, LAKE, VILLAGE, Board

SIDE = 40
MARGIN = 27
WAVE = "M{0} {1}q4 -5 8 0t8 0t8 0"
HOUSE = "M{0} {1}l9 -8l9 8v11h-18z"


def board_picture(board: Board) -> Markup:
    """The board. The viewer adds tiles, provinces and pagodas in a group at its end, which shares
    the board's corner.
    """
    width, height = board.width * SIDE, board.height * SIDE
    squares = [
        _square(letter, column * SIDE, row * SIDE)
        for row, line in enumerate(board.rows)
        for column, letter in enumerate(line)
    ]
    frame = element("rect", x=-5, y=-5, width=width + 10, height=height + 10, rx=8, class_="frame")
    return element(
        "svg",
        frame,
        *squares,
        *_coordinates(board),
        element("g", " ", class_="live"),
        viewBox=f"{-MARGIN} {-MARGIN} {width + MARGIN + 6} {height + MARGIN + 6}",
        class_="board",
        role="img",
        aria_label=f"the board {board.name}",
    )


def _square(letter: str, x: int, y: int) -> Markup:
    kind = {GRASS: "grass", LAKE: "lake", VILLAGE: "village"}.get(letter, "grass")
    ground = element("rect", x=x, y=y, width=SIDE, height=SIDE, class_=kind)
    return ground + _decoration(letter, x, y)


def _decoration(letter: str, x: int, y: int) -> Markup:
    if letter == LAKE:
        return Markup().join(
            element("path", d=WAVE.format(x + dx, y + dy), class_="wave")
            for dx, dy in ((5, 15), (11, 29))
        )
    if letter == VILLAGE:
        return element("path", d=HOUSE.format(x + 11, y + 19), class_="house")
    if letter in COLOURS:
        inside = {"x": x + 2, "y": y + 2, "width": SIDE - 4, "height": SIDE - 4, "rx": 6}
        return element("rect", **inside, class_=f"space {letter}") + element(
            "circle", cx=x + 20, cy=y + 20, r=11, class_="start"
        )
    return Markup()


def _coordinates(board: Board) -> list[Markup]:
    columns = [
        element("text", chr(97 + column), x=column * SIDE + 20, y=-10, text_anchor="middle")
        for column in range(board.width)
    ]
    rows = [
        element("text", str(row + 1), x=-10, y=row * SIDE + 25, text_anchor="end")
        for row in range(board.height)
    ]
    return [*columns, *rows]
