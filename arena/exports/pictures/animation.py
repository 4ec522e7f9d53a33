"""A game as one SVG file that plays itself: no script, so it moves where pictures do, on a forge or
in a chat.

Every element says when it is seen. Where nothing moves, in print for example, the file shows the
last position.
"""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from arena.errors import printable
from arena.exports.pictures.film import Film
from arena.exports.pictures.ground import framed, size
from arena.exports.pictures.parts import picture_file
from arena.exports.text import seat_names
from arena.match.replay import replay, start_state
from arena.records.record import GameRecord
from arena.rules.boards import Board

STEP_S, START_S, END_S = 0.8, 1.0, 5.0
LINE = 30
NAMES = ".q-seat{font:600 15px system-ui,sans-serif;fill:#3a3024}.q-left{text-anchor:end}"
MOST_LETTERS = 34


class Animation(NamedTuple):
    """``content`` is SVG of ``width`` by ``height`` that refers to parts."""

    width: int
    height: int
    content: str


def animated_picture(record: GameRecord, board: Board) -> str:
    """The file. Raises RunError if the record does not follow from its deck and moves."""
    width, height, content = animation_of(record, board)
    title = printable(f"{' - '.join(seat_names(record.bots))}: {record.id}")
    return picture_file((width, height), title, content, NAMES)


def animation_of(record: GameRecord, board: Board) -> Animation:
    """The game without its file. Raises RunError."""
    film, state = Film(board), start_state(record, board)
    film.add(state)
    left = [list(state.left)]
    for step in replay(record, board):
        film.add(step.state, step.move)
        left.append(list(step.state.left))
    timeline = Timeline(len(film.frames))
    width, height = size(board)
    content = (
        f'<rect width="100%" height="100%" rx="9" fill="#f5eedd"/>{timeline.tick()}'
        f'{framed(board, _elements(film, timeline))}<g transform="translate(0 {height})">'
        f"{_panel(record, left, timeline, width)}</g>"
    )
    return Animation(width, height + LINE * len(record.bots) + 12, content)


class Timeline:
    """When frames are seen: each for a while, the last one longer, and then all begins anew."""

    def __init__(self, frames: int) -> None:
        self._frames = frames

    def tick(self) -> str:
        """What runs as long as the game takes, again and again; all else goes by it."""
        length = START_S + (self._frames - 1) * STEP_S + END_S
        return (
            f'<rect width="0" height="0"><animate id="q" attributeName="x" begin="0s;q.end"'
            f' dur="{length:g}s"/></rect>'
        )

    def seen(self, element: str, frames: Sequence[int]) -> str:
        """The element, seen in these frames, which follow each other."""
        if len(frames) == self._frames:
            return element
        first, end = frames[0], frames[-1] + 1
        # without its animation it is as in the last frame
        now, then, start, stop = (
            ("visible", "hidden", "q.begin", self._begin(first))
            if end == self._frames
            else ("hidden", "visible", self._begin(first), self._begin(end))
        )
        hidden = ' visibility="hidden"' if now == "hidden" else ""
        return (
            f'<g{hidden}>{element}<set attributeName="visibility" to="{then}" begin="{start}"'
            f' end="{stop}"/></g>'
        )

    def _begin(self, frame: int) -> str:
        return f"q.begin+{START_S + (frame - 1) * STEP_S:g}s" if frame else "q.begin"


def _elements(film: Film, timeline: Timeline) -> str:
    """Every element of the game, the lowest layer first; one that leaves and comes back is there
    twice.
    """
    spans = dict[int, list[list[int]]]()
    for frame, numbers in enumerate(film.frames):
        for number in numbers:
            own = spans.setdefault(number, [])
            if own and own[-1][-1] == frame - 1:
                own[-1].append(frame)
            else:
                own.append([frame])
    elements = film.elements
    return "".join(
        timeline.seen(str(elements[number]), span)
        for number in sorted(spans, key=lambda number: elements[number].layer)
        for span in spans[number]
    )


def _panel(record: GameRecord, left: list[list[int]], timeline: Timeline, width: int) -> str:
    """A line for each seat: its pagoda, its bot, and how many pagodas it has left to place."""
    lines = []
    for seat, name in enumerate(seat_names(record.bots)):
        y = seat * LINE
        shown = printable(name)
        shown = f"{shown[:MOST_LETTERS]}\u2026" if len(shown) > MOST_LETTERS else shown
        counts = "".join(
            timeline.seen(
                f'<text class="q-seat q-left" x="{width - 22}" y="{y + 24}">{count}</text>', span
            )
            for count, span in _runs([frame[seat] for frame in left])
        )
        lines.append(
            f'<use href="#q1{seat}" transform="translate(22 {y + 4}) scale(.7)"/>'
            f'<text class="q-seat" x="58" y="{y + 24}">{escape(shown)}</text>'
            f"{counts}"
        )
    return "".join(lines)


def _runs(values: Sequence[int]) -> list[tuple[int, list[int]]]:
    """Each value with the frames for which it stays."""
    runs = list[tuple[int, list[int]]]()
    for frame, value in enumerate(values):
        if runs and runs[-1][0] == value:
            runs[-1][1].append(frame)
        else:
            runs.append((value, [frame]))
    return runs
