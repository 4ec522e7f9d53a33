"""A board on a page: the part that stays the same through a game, and the parts that its scenes
refer to.
"""

from collections.abc import Sequence

from markupsafe import Markup

from arena.exports.pictures.ground import framed, size
from arena.exports.pictures.parts import every_part
from arena.exports.pictures.scene import PAGODAS, Scene, pair_of
from arena.exports.report.svg import element
from arena.rules import State
from arena.rules.boards import Board
from arena.rules.game import parse_move, play_text

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


def board_after(state: State, moves: Sequence[str], text: str, label: str) -> Markup:
    """The board after a move, with a ring around its tile; ``moves`` are those that led to the
    position. Raises ArenaError, and KeyError if they did not.
    """
    after = state.copy()
    move = play_text(after, text)
    placed = [*(parse_move(state.board, each) for each in moves), move]
    tiles = [pair for each in placed for pair in pair_of(state.board, each)]
    elements = Scene(state.board).show(after, tiles, move)
    width, height = size(state.board)
    return element(
        "svg",
        # our own drawing
        Markup(framed(state.board, "".join(map(str, elements)))),  # noqa: S704
        viewBox=f"0 0 {width} {height}",
        class_="board",
        role="img",
        aria_label=label,
    )


def parts() -> Markup:
    """All parts, unseen, for a page on which boards, hands and seats are drawn."""
    return Markup("<defs>{}</defs>").format(Markup("".join(every_part().values())))  # noqa: S704
