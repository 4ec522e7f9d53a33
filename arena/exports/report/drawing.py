"""A board on a page: the part that stays the same through a game, and the parts that its scenes
refer to.
"""

from markupsafe import Markup

from arena.exports.pictures.ground import framed, size
from arena.exports.pictures.parts import every_part
from arena.exports.pictures.scene import PAGODAS
from arena.exports.report.svg import element
from arena.rules.boards import Board

LAYERS = '<g class="live">' + "<g></g>" * (PAGODAS + 1) + "</g>"
"""Where the viewer puts what lies on the board, layer by layer."""


def empty_board(board: Board) -> Markup:
    """The board; the viewer fills its layers."""
    width, height = size(board)
    return element(
        "svg",
        # our own drawing
        Markup(framed(board, LAYERS)),  # noqa: S704
        viewBox=f"0 0 {width} {height}",
        class_="board",
        role="img",
        aria_label=f"the board {board.name}",
    )


def parts() -> Markup:
    """All parts, unseen, for a page on which boards, hands and seats are drawn."""
    return Markup("<defs>{}</defs>").format(Markup("".join(every_part().values())))  # noqa: S704
