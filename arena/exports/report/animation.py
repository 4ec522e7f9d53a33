"""Draws a game as an animated picture: an SVG file, or a part of a page."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any, NamedTuple

from markupsafe import Markup

from arena.errors import ArenaError, printable
from arena.exports.grid import counted
from arena.exports.ground import framed, size
from arena.exports.parts import SEAT_NAMES_STYLE, picture_file
from arena.exports.report.charts import element
from arena.exports.scene import Film
from arena.exports.text import seat_names
from arena.exports.winners import names_of, winners_of
from arena.match.replay import replay, start_state
from arena.records.record import GameRecord
from arena.rules.boards import Board

STEP_S, START_S, END_S = 0.8, 1.0, 5.0
CALM_STYLE = (
    "@media(prefers-reduced-motion:reduce){.q-stays{visibility:visible!important}"
    '[visibility="hidden"]{visibility:hidden!important}}'
)
"""Shows the last position to readers who want no motion, where no script can stop the animation."""
LINE = 30
MAX_LETTERS = 34


def animated_picture(record: GameRecord, board: Board) -> str:
    """The game of ``record``, played on ``board``, as the text of an animated SVG file. Raises
    RunError if the record does not follow from its deck and moves.
    """
    width, height, content = animation_of(record, board)
    title = printable(f"{' - '.join(seat_names(record.bots))}: {record.id}")
    return picture_file((width, height), title, content, SEAT_NAMES_STYLE + CALM_STYLE)


def animation_of(record: GameRecord, board: Board) -> tuple[int, int, str]:
    """The width and height of an animation of the game of ``record``, played on ``board``, and the
    content of its ``svg`` element, which refers to parts (see `arena.exports.parts`). Below the
    board is a line for each seat. Raises NotationError if the record's deck is not a deck, and
    RunError if the record does not follow from its deck and moves.
    """
    drawn, left = _moving_board(record, board)
    width, height = size(board)
    panel = f'<g transform="translate(0 {height})">{_panel(record, left, width)}</g>'
    ground = '<rect width="100%" height="100%" rx="9" fill="#f5eedd"/>'
    return width, height + LINE * len(record.bots) + 12, f"{ground}{drawn}{panel}"


def _moving_board(record: GameRecord, board: Board) -> tuple[str, list[list[int]]]:
    """The SVG of ``board`` on which the game of ``record`` plays itself, with the clock of the
    animation, and the pagodas left by seat in each frame. Raises like `animation_of`.
    """
    film = Film(board)
    state = start_state(record, board)
    film.add(state)
    left = [list(state.left)]
    for step in replay(record, board):
        film.add(step.state, step.move)
        left.append(list(step.state.left))
    # The animation ``q`` lasts as long as the game and repeats; all others begin relative to it.
    length = film_seconds(len(left) - 1)
    tick = f'<animate id="q" attributeName="x" begin="0s;q.end" dur="{length:g}s"/>'
    clock = f'<rect width="0" height="0">{tick}</rect>'
    return f"{clock}{framed(board, _elements(film))}", left


def film_seconds(steps: int) -> float:
    """The length, in seconds, of the animation of a game; ``steps`` is the number of its moves and
    passes.
    """
    return START_S + steps * STEP_S + END_S


class MovingBoard(NamedTuple):
    """A board on which a game plays itself: its ``picture``, and for each step of it, from the
    start on, the pagodas ``left`` by seat.
    """

    picture: Markup
    left: list[list[int]]


def moving_board(record: GameRecord, board: Board) -> MovingBoard:
    """The ``board`` on which the game of ``record`` plays itself from its first tile, for a page
    that shows the seats beside it. Raises like `animation_of`.
    """
    drawn, left = _moving_board(record, board)
    width, height = size(board)
    picture = element(
        "svg",
        Markup(drawn),  # noqa: S704 - our own drawing
        viewBox=f"0 0 {width} {height}",
        class_="film",
        role="img",
        aria_label=f"The game {record.id}, playing itself",
        data_from="start",
    )
    return MovingBoard(picture, left)


def film_of(
    record: GameRecord, reasons: Sequence[str], rows: Mapping[str, Sequence[str]]
) -> dict[str, Any] | None:
    """The values of the template for the animated game of ``record`` on a page: its id, caption and
    picture. None if a bot forfeited in the game, if it has no moves, or if it does not follow from
    its deck and moves. ``reasons`` say why the game was chosen; ``rows`` are the rows of the run's
    boards by name.
    """
    if record.faults or not record.moves:
        return None
    try:
        width, height, content = animation_of(
            record, Board(record.board, tuple(rows[record.board]))
        )
    except (ArenaError, KeyError):
        return None
    picture = element(
        "svg",
        # our own drawing, in which names are escaped
        Markup(content),  # noqa: S704
        viewBox=f"0 0 {width} {height}",
        class_="film",
        role="img",
        aria_label=f"The game {record.id}, playing itself",
    )
    return {"id": record.id, "caption": caption_of(record, reasons), "picture": picture}


def caption_of(record: GameRecord, reasons: Sequence[str]) -> str:
    """The caption of the game of ``record``, which was chosen for these reasons, such as "greedy
    upsets careful, Lion, 41 tiles; upset: by 120 Elo".
    """
    winners = winners_of(record)
    names = seat_names(record.bots)
    lost = [name for seat, name in enumerate(names) if seat not in winners]
    if len(winners) > 1:
        verb = "share the win over" if lost else "share the win"
    else:
        is_upset = any(reason.startswith("upset") for reason in reasons)
        verb = "upsets" if is_upset else "beats"
    who = f"{names_of(record, winners)} {verb} {', '.join(lost)}".rstrip()
    told = f"{who}, {record.board.capitalize()}, {counted(record.turns, 'tile')}"
    return "; ".join([told, *reasons])


def _seen(drawn: str, frames: Sequence[int], all_frames: int) -> str:
    """The SVG of an element, whose own SVG is ``drawn``, that is visible only in ``frames``,
    successive numbers of frames. ``all_frames`` is the number of frames of the animation.
    """
    if len(frames) == all_frames:
        return drawn
    begins = [
        f"q.begin+{START_S + (frame - 1) * STEP_S:g}s" if frame else "q.begin"
        for frame in (frames[0], frames[-1] + 1)
    ]
    # without animation, an element has the visibility of the last frame
    base, then, (start, end) = ' visibility="hidden"', "visible", begins
    if frames[-1] + 1 == all_frames:
        base, then, (start, end) = ' class="q-stays"', "hidden", ("q.begin", begins[0])
    return (
        f'<g{base}>{drawn}<set attributeName="visibility" to="{then}" begin="{start}"'
        f' end="{end}"/></g>'
    )


def _elements(film: Film) -> str:
    """The SVG of all elements of the film, the lowest layer first. An element that disappears and
    comes back is drawn twice.
    """
    frames = defaultdict[int, list[int]](list)
    for frame, numbers in enumerate(film.frames):
        for at in numbers:
            frames[at].append(frame)
    elements = film.elements
    drawn = []
    for number in sorted(frames, key=lambda number: elements[number].layer):
        # successive frames have a constant difference between the frame and its index
        for _, span in groupby(enumerate(frames[number]), lambda one: one[1] - one[0]):
            successive = [frame for _, frame in span]
            drawn.append(_seen(str(elements[number]), successive, len(film.frames)))
    return "".join(drawn)


def _panel(record: GameRecord, left: list[list[int]], width: int) -> str:
    """The SVG of a line for each seat below the board: its pagoda, its bot, and its pagodas left in
    each frame. ``left`` has, for each frame, the pagodas left by seat; ``width`` is that of the
    picture.
    """
    lines = []
    for seat, name in enumerate(seat_names(record.bots)):
        y = seat * LINE
        shown = f"{name[:MAX_LETTERS]}…" if len(name) > MAX_LETTERS else name
        lines.append(
            f'<use href="#q1{seat}" transform="translate(22 {y + 4}) scale(.7)"/>'
            f'<text class="q-seat" x="58" y="{y + 24}">{escape(shown)}</text>'
        )
        for count, span in groupby(range(len(left)), [each[seat] for each in left].__getitem__):
            text = f'<text class="q-seat q-left" x="{width - 22}" y="{y + 24}">{count}</text>'
            lines.append(_seen(text, list(span), len(left)))
    return "".join(lines)
