"""Six lessons that teach the game, each one move on a small board. The positions are text in
tutorial.json; which moves are legal and what they do comes from the rules core.
"""

from functools import cache, reduce
from importlib.resources import files
from operator import or_
from typing import Any

import msgspec
from markupsafe import Markup
from msgspec import Struct

from arena.exports.effects import effects_of
from arena.exports.ground import FRAME, empty_board, framed
from arena.exports.parts import SIDE, number
from arena.exports.refusals import Plain, plain_refusal
from arena.exports.report.charts import element
from arena.exports.scene import Element, Pair, Scene, pair_of
from arena.players.views import legal_texts
from arena.rules import State
from arena.rules.boards import squares_of
from arena.rules.explain import rulebook
from arena.rules.notation import PASS, TILES, move_text, parse_move
from arena.rules.positions import parse_position
from arena.rules.terms import PAGODAS
from arena.web.story import Story

PICTURE_SHAPE = 2.2
"""The width of a lesson's small picture, divided by its height."""
PICTURE_MARGIN = 0.5
"""The room around the tiles in a lesson's small picture, in squares."""
PICTURE_ROWS = 2.6
"""The most rows in a lesson's small picture."""
OPPONENT = "White"
"""What the lessons call the other player, after the colour of the pagodas."""


class Lesson(Struct, frozen=True, forbid_unknown_fields=True):
    """A lesson: its ``key`` in addresses, its ``title``, and the ``task``; the text after a right
    move (``done``) and after a legal move that misses the task (``almost``); the ``goal``, which is
    the kind of an effect that a right move has, such as ``found``, or the rule that makes a move
    illegal, such as ``R4.4``; and the ``position``, a line of text.
    """

    key: str
    title: str
    task: str
    done: str
    almost: str
    goal: str
    position: str

    @property
    def is_about_a_bar(self) -> bool:
        """Whether the lesson asks for a move that a rule forbids, and not for a legal one."""
        return self.goal.startswith("R")


@cache
def lessons() -> list[Lesson]:
    """All lessons in their order."""
    data = files("arena.web").joinpath("tutorial.json").read_bytes()
    return msgspec.json.decode(data, type=list[Lesson])


def lesson_values(key: str) -> dict[str, Any] | None:
    """The values for the template of the lesson with this key; None if there is no such lesson."""
    known = {lesson.key: at for at, lesson in enumerate(lessons())}
    # Only lessons are kept in memory, because readers can ask for any key.
    return _values(known[key]) if key in known else None


@cache
def lesson_pictures() -> dict[str, Markup]:
    """A small picture for each lesson, by its key: the tiles after a right move, or before the move
    that a rule bars. Each is an SVG whose shapes the page itself must define (`all_parts`).
    """
    return {lesson.key: _picture(lesson) for lesson in lessons()}


def _picture(lesson: Lesson) -> Markup:
    """The small picture of a lesson: the part of its board on which something lies, with a cross if
    the lesson asks for a move that a rule forbids.
    """
    state = parse_position(lesson.position, State)
    board = state.board
    move = PASS if lesson.is_about_a_bar else _right_move(lesson, state)
    tiles = _pairs(state) + pair_of(board, move)
    shown = state.copy()
    if move != PASS:
        shown.play(move)
    pieces = sorted(Scene(board).show(shown, tiles, move), key=lambda one: one.layer)
    area = 0
    for _, province in shown.provinces():
        area |= province.mask
    for one, other in pair_of(board, move):
        area |= 1 << one | 1 << other
    area |= reduce(or_, board.villages, 0)
    places = [divmod(square, board.stride) for square in squares_of(area)]
    rows, columns = zip(*places, strict=True)
    across = max(columns) - min(columns) + 1
    down = min(max(rows) - min(rows) + 1, PICTURE_ROWS)
    width = SIDE * max(across + PICTURE_MARGIN, (down + PICTURE_MARGIN) * PICTURE_SHAPE)
    middle_x = SIDE * (min(columns) + max(columns) + 1) / 2
    middle_y = SIDE * (min(rows) + max(rows) + 1) / 2
    left = FRAME + middle_x - width / 2
    top = FRAME + middle_y - width / PICTURE_SHAPE / 2
    cross = f'<path class="barred" d="M{middle_x - 12} {middle_y - 12}l24 24m0-24l-24 24"/>'
    drawn = "".join(map(str, pieces)) + (cross if lesson.is_about_a_bar else "")
    # our own drawing
    inside = Markup(framed(board, drawn))  # noqa: S704
    box = " ".join(map(number, (left, top, width, width / PICTURE_SHAPE)))
    return element("svg", inside, viewBox=box, class_="lesson-picture", aria_hidden="true")


def _right_move(lesson: Lesson, state: State) -> int:
    """The first move in ``state`` that does what the lesson asks for. Raises ValueError if there is
    none.
    """
    names = ["human", OPPONENT]
    for move in state.legal_moves():
        effects = effects_of(state, move, names, state.mover).effects
        if any(effect.kind == lesson.goal for effect in effects):
            return move
    raise ValueError(f"no move does what the lesson asks for: {lesson.goal}")


@cache
def _values(at: int) -> dict[str, Any]:
    """The values for the template of the lesson number ``at``, from 0."""
    lesson = lessons()[at]
    state = parse_position(lesson.position, State)
    return {
        "lesson": lesson,
        "number": at + 1,
        "following": lessons()[at + 1] if at + 1 < len(lessons()) else None,
        "lessons": lessons(),
        "pictures": lesson_pictures(),
        "board": empty_board(state.board),
        "data": _data(lesson, state),
        "book": rulebook(),
    }


def _data(lesson: Lesson, state: State) -> dict[str, Any]:
    """What the page's script gets: a view as in a game, the ``scene`` of the position, the scenes
    after the right moves (``after``), the words, and the reasons why other placements are illegal.
    """
    numbers = dict[Element, int]()
    seat = state.mover
    story = Story(state.board, ["human", OPPONENT], seat)
    story.begin(state)
    effects = story.effects(state)
    legal = legal_texts(state)
    tiles = _pairs(state)
    after = {}
    for move in state.legal_moves():
        text = move_text(state.board, move)
        kinds = {effects["lines"][line][0] for line in effects["moves"][text][1]}
        if lesson.goal in kinds:
            then = state.copy()
            then.play(move)
            after[text] = _scene(then, [*tiles, *pair_of(state.board, move)], numbers, move)
    barred, reasons = _barred(state)
    return {
        "key": lesson.key,
        "view": {
            **story.view,
            "steps": [{"left": list(state.left)}],
            "stock": PAGODAS[2],
            "hand": [TILES[tile] for tile in state.hands[seat]],
            "effects": effects,
        },
        "legal": legal,
        "scene": _scene(state, tiles, numbers),
        "after": after,
        "barred": barred,
        "reasons": reasons,
        "goal": lesson.goal if lesson.is_about_a_bar else "",
        "done": lesson.done,
        "almost": lesson.almost,
        # All scenes are numbered by now.
        "elements": list(numbers),
    }


def _scene(
    state: State, tiles: list[Pair], numbers: dict[Element, int], last: int = PASS
) -> list[int]:
    """The numbers of the elements of a position with these ``tiles``, after the move ``last``; new
    elements get the next numbers.
    """
    shown = Scene(state.board).show(state, tiles, last)
    return [numbers.setdefault(element, len(numbers)) for element in shown]


def _pairs(state: State) -> list[Pair]:
    """The squares of each province at the start of a lesson in pairs that are drawn as tiles. A
    lesson does not say which tiles were placed; a space that is left over is drawn as a starting
    space.
    """
    pairs = list[Pair]()
    for _, province in state.provinces():
        free = set(squares_of(province.mask))
        for square in sorted(free):
            for other in (square + 1, square + state.board.stride):
                if {square, other} <= free:
                    pairs.append((square, other))
                    free -= {square, other}
    return pairs


def _barred(state: State) -> tuple[dict[str, int], list[Plain]]:
    """For each placement of a tile in hand that is not legal, the number of the reason; and the
    reasons.
    """
    reasons = dict[Plain, int]()
    barred = {}
    board = state.board
    squares: list[int] = []
    for row in range(board.height):
        first = row * board.stride
        squares += range(first, first + board.width)
    tiles = {TILES[tile] for tile in state.hands[state.mover]}
    for tile in sorted(tiles | {tile[::-1] for tile in tiles}):
        for one in squares:
            for other in (one + 1, one + board.stride):
                if other not in squares:
                    continue
                text = f"{tile[0]}{board.name_of(one)}{tile[1]}{board.name_of(other)}"
                reason = plain_refusal(state, parse_move(board, text))
                if reason is not None:
                    barred[text] = reasons.setdefault(reason, len(reasons))
    return barred, list(reasons)
