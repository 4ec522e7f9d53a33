"""Writes tables of ratings, boards, hands and events as text for a terminal."""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from statistics import fmean
from typing import TYPE_CHECKING, Any

from arena.errors import printable
from arena.exports.footer import brief_lines, footer_lines, noun_of
from arena.exports.grid import (
    GAP,
    MISSING,
    Pen,
    Strip,
    columns_text,
    grid_text,
    number,
    padded,
    width_of,
)
from arena.exports.report.charts import Scale, linear
from arena.players.player import YOU
from arena.ratings.column import Column, in_whole_elo, placed
from arena.ratings.columns import PAIRS, SEATS, STANDINGS
from arena.rules import State
from arena.rules.boards import Board
from arena.rules.notation import TILES
from arena.rules.positions import draw
from arena.rules.terms import Event

if TYPE_CHECKING:
    import pandas as pd

    from arena.ratings.tables import Tables


TableRow = Mapping[Any, Any]
"""A row of a table, by the names of its columns."""
HIDDEN_TILE = "??"
PERSON = "You"
"""What pages call the person who played."""
PAPER = 80
"""The width, in columns, of a table that is written to a file or a pipe."""
LEFT = 40
"""The width of the columns left of the drawing for which names are cut to make room for the
drawing.
"""
MIN_DRAWING = 13
MAX_DRAWING = 61
"""The largest width of the drawing, in columns."""
FURTHER = 1.5
"""A drawing that has bounds but no intervals reaches this many times as far as the bounds, to have
room for arrows.
"""
SQUEEZED = 0.4
"""If the drawing without a bot needs less than this part of its width, the bot is an outlier and
may lie outside the drawing.
"""
MARGIN = 0.1
"""The room that a clipped drawing has to either side, as a part of the distance that it shows."""
TICK_WIDTH = 7
"""About how many columns a number on the axis needs."""


def table_text(
    columns: Sequence[Column],
    rows: Sequence[TableRow],
    noun: str = "Games",
    width: int | None = None,
) -> str:
    """The table of these ``rows`` with these ``columns`` as people see it, at most ``width`` wide
    if possible (None: any width). ``noun`` is the head of the column with the number of games.
    """
    return grid_text([_field(column, rows, noun) for column in columns], width)


def frame_text(columns: Sequence[Column], frame: "pd.DataFrame", width: int | None = None) -> str:
    """The table of the rows of ``frame`` as text, as `table_text` makes it; at most ``width`` wide
    if possible (None: any width).
    """
    return table_text(columns, frame.to_dict("records"), width=width)


def _field(column: Column, rows: Sequence[TableRow], noun: str) -> Strip:
    """A column of ``rows``, ready to be laid out; ``noun`` is the head of the column with the
    number of games.
    """
    head = noun if column.name == "games" else column.head
    if column.shown is not None:
        cells = [column.written(row, number) for row in rows]
    else:
        cells = [printable(str(column.value(row)) or MISSING) for row in rows]
    is_name = column.style == "name"
    is_text = column.style in {"name", "text"}
    return Strip([head, *cells], is_text, is_name, column.spare)


def standings_parts(tables: "Tables", width: int | None = None) -> tuple[str, str]:
    """Two texts: the standings of ``tables``, and the lines below them.

    If the table is wider than ``width``, names are cut, and the least important columns are left
    out.
    """
    rows = tables.data["standings"].rows()
    text = table_text(placed(STANDINGS, "text"), rows, noun_of(tables), width)
    return text, "\n".join(map(printable, footer_lines(tables)))


def seats_text(seats: Sequence[TableRow], width: int | None = None) -> str:
    """The rows ``seats`` of the table of `seats_table` as text, with the effect of each seat and
    its share of the wins. The text is at most ``width`` wide if possible (None: any width).
    """
    return table_text(placed(SEATS, "text"), seats, width=width)


def pairs_text(pairs: Sequence[TableRow], noun: str = "Games", width: int | None = None) -> str:
    """The rows ``pairs`` of the table of `pairs_table` as text; ``noun`` is the head of the column
    with the number of games. If differences are bounds or depend on a prior, a line explains their
    marks. The text is at most ``width`` wide if possible (None: any width).
    """
    text = table_text(placed(PAIRS, "text"), pairs, noun, width)
    if not any(row["mark"] for row in pairs):
        return text
    return (
        f"{text}\na difference with < or > is a bound, with 95 % confidence; one with ~ depends on"
        " the prior"
    )


def board_text(
    state: State,
    paint: Callable[[str, str], str] = lambda cell, _: cell,
    marked: int = 0,
    cells: Sequence[Sequence[str]] | None = None,
) -> str:
    """The board in the position ``state``, with coordinates. ``paint(text, cell)`` may colour
    ``text``, which shows ``cell``, such as ``R0``; squares in the mask ``marked`` are in brackets.
    ``cells``, by row and column, are drawn instead of those of `positions.draw`.
    """
    board = state.board
    letters = [chr(97 + column) for column in range(board.width)]
    lines = ["    " + "   ".join(letters)]
    for row, row_cells in enumerate(cells or draw(state)):
        line = f"{row + 1:>2} "
        for column, cell in enumerate(row_cells):
            if marked >> (row * board.stride + column) & 1:
                line += f"[{paint(cell, cell)}]{' ' * (2 - len(cell))}"
            else:
                line += f" {paint(f'{cell:<2}', cell)} "
        lines.append(line.rstrip())
    return "\n".join(lines)


def hands_text(
    state: State, names: Sequence[str], seen_by: int | None = None, width: int | None = None
) -> str:
    """The hands in the position ``state``, one line per seat: its name (``names``), pagodas left,
    and hand; a star marks the seat to move. Only the hand of the seat ``seen_by`` is shown; None
    shows all hands. Names are cut if a line would be wider than ``width``.
    """
    rows = []
    for seat, (name, left, hand) in enumerate(zip(names, state.left, state.hands, strict=True)):
        turn = "*" if seat == state.mover and state.end is None else ""
        tiles = [TILES[tile] for tile in hand]
        if seen_by not in (None, seat):
            tiles = [HIDDEN_TILE] * len(hand)
        rows.append((turn, str(seat), name, str(left), " ".join(tiles)))
    heads = ("", "Seat", "Bot", "Left", "Hand")
    return columns_text(heads, rows, ("", "Hand"), width, names=("Bot",))


def event_text(event: Event, board: Board, names: Sequence[str]) -> str:
    """The event as a sentence with the number of its rule; ``names`` are the names of the seats."""
    who = names[event.seat]
    where = board.name_of(event.square)
    returns = [f"{names[seat]} takes back {count}" for seat, count in event.home]
    home = ", ".join(returns)
    sentence = {
        "found": f"{who} founds a province of {event.size} from {where} (R5.2)",
        "expand": f"the province of {who} from {where} grows to {event.size} (R5.3)",
        "absorb": f"{who} owns the joined province of {event.size} from {where} (R5.5)",
        "major": f"the province of {who} from {where} is major (R5.4)",
        "connect": f"{who} connects the village at {where} (R6.2)",
        "conquer": f"{who} conquers the village at {where} (R6.3)",
    }[event.name]
    return f"{sentence}; {home}" if home else sentence


def seat_names(bots: Sequence[str]) -> list[str]:
    """The names of ``bots`` by seat; a bot that occupies several seats gets the number of its
    seat.
    """
    names = []
    for seat, bot in enumerate(bots):
        name = f"{bot} (seat {seat})" if bots.count(bot) > 1 else bot
        names.append(printable(name))
    return names


def names_on_page(bots: Sequence[str]) -> tuple[list[str], int]:
    """The names of ``bots`` by seat as the viewer of a page shows them, and the seat of the person
    who played, who is called "You"; without a person, a number that is no seat.
    """
    names = seat_names(bots)
    if YOU not in bots:
        return names, len(names)
    person = bots.index(YOU)
    names[person] = PERSON
    return names, person


def overview_text(tables: "Tables", width: int | None = None, pen: Pen | None = None) -> str:
    """The short standings of ``tables`` with a drawing of the intervals, and below them the most
    important sentences. ``width`` is that of the terminal (None: the text is for a file), ``pen``
    has the characters of the drawing (None: box-drawing characters).
    """
    lines = overview_lines(tables, width, pen or Pen())
    return "\n".join([*lines, "", *map(printable, brief_lines(tables))])


def overview_lines(tables: "Tables", width: int | None, pen: Pen) -> list[str]:
    """The lines of the short standings of ``tables``, the head first, without sentences.

    The drawing of the intervals is left out if ``width`` is too small for it, or if no bot has an
    interval or a bound. ``width`` None means a file: names are never cut there.
    """
    rows = tables.data["standings"].rows()
    right = _beside(rows, "right", noun=noun_of(tables))
    taken = max(map(len, right)) + len(GAP)
    left = _left(rows, width and width - taken)
    wide = max(map(width_of, left))
    room = min((width or PAPER) - wide - taken - len(GAP), MAX_DRAWING)
    left = [padded(line, wide) for line in left]
    has_interval = any(isfinite(row["elo_low"]) or isfinite(row["elo_high"]) for row in rows)
    if room < MIN_DRAWING or not has_interval:
        return [f"{start}{GAP}{end}".rstrip() for start, end in zip(left, right, strict=True)]
    head, *bars = _drawing(rows, room, pen, is_anchored=bool(tables.anchors))
    widest = max(map(len, right))
    right = [line.rjust(widest) for line in right]
    lines = [pen.paint(f"{left[0]}{GAP}{head}{GAP}{right[0]}", "head")]
    lines += map(GAP.join, zip(left[1:], bars, right[1:], strict=True))
    return lines


def _left(rows: Sequence[TableRow], room: int | None) -> list[str]:
    """The columns of ``rows`` left of the drawing, which may be ``room`` wide (None: any width).

    Names are cut a little if that makes room for the drawing; else only as far as ``room`` demands.
    """
    if room is None:
        return _beside(rows, "left")
    lines = _beside(rows, "left", max(room - MIN_DRAWING - len(GAP), LEFT))
    return lines if max(map(width_of, lines)) <= room else _beside(rows, "left", room)


def _beside(
    rows: Sequence[TableRow], side: str, width: int | None = None, *, noun: str = "Games"
) -> list[str]:
    """The columns of ``rows`` on one ``side`` of the drawing, ``left`` or ``right``, with ratings
    as whole numbers; names are cut to make them at most ``width`` wide. Faults are left out if
    there are none. ``noun`` is the head of the column with the number of games.
    """
    has_forfeits = any(row["forfeits"] for row in rows)
    columns = []
    for column in placed(STANDINGS, "brief"):
        is_here = (column.brief == 1) == (side == "left")
        if is_here and (column.name != "forfeits" or has_forfeits):
            columns.append(in_whole_elo(column))
    return table_text(columns, rows, noun, width).split("\n")


def _drawing(rows: Sequence[TableRow], room: int, pen: Pen, *, is_anchored: bool) -> list[str]:
    """The lines of the drawing, each ``room`` columns wide: the axis, then a bar for each of the
    ``rows``. ``is_anchored`` says that a bot is held at a given rating.
    """
    ends = clipped_ends(rows, is_anchored=is_anchored)
    scale = linear(ends, 0, room - 1, count=max(room // TICK_WIDTH, 2))
    low = min(ends, default=0.0)
    high = max(ends, default=0.0)
    if low < high:
        ticks = tuple(tick for tick in scale.ticks if low <= tick <= high)
        scale = scale._replace(low=low, high=high, ticks=ticks)
    zero = round(scale(0)) if scale.low <= 0 <= scale.high else None
    # the numbers of the axis, each above its place, left out where there is no room
    axis = ""
    free = 0
    for tick in scale.ticks:
        text = f"{tick:g}"
        start = min(max(round(scale(tick)) - len(text) // 2, 0), room - len(text))
        if start >= free:
            axis = axis.ljust(start) + text
            free = len(axis) + 1
    lines = [axis.ljust(room)]
    for row in rows:
        lines.append(_painted(_bar(row, scale, room, pen), zero, pen))
    return lines


def _closed(rows: Sequence[TableRow]) -> list[TableRow]:
    """The rows of the standings whose interval has two ends."""
    return [row for row in rows if isfinite(row["elo_low"]) and isfinite(row["elo_high"])]


def ends_of(rows: Sequence[TableRow], *, is_anchored: bool) -> list[float]:
    """The values that a drawing of the ``rows`` of standings must include: the ends of intervals,
    and 0 unless ``is_anchored``, which says that a bot is held at a given rating. Bounds are left
    out and may lie outside, so that the intervals have room; if there are only bounds, they are
    included.
    """
    closed = _closed(rows)
    ends = []
    for row in closed:
        ends += [row["elo_low"], row["elo_high"]]
    if not any(row["elo_low"] < row["elo_high"] for row in closed):  # bounds alone
        ratings = [row["elo"] for row in closed]
        middle = fmean(ratings) if ratings else 0.0
        ends += [middle + FURTHER * (row["elo"] - middle) for row in rows]
    if not is_anchored:
        ends.append(0.0)
    return list(filter(isfinite, ends))


def clipped_ends(rows: Sequence[TableRow], *, is_anchored: bool) -> list[float]:
    """The values that a drawing of the ``rows`` of standings includes if outliers may lie outside;
    see `ends_of` for ``is_anchored``.

    An outlier is a bot without which the drawing needs less than `SQUEEZED` of its width. Without
    it, the other bars do not shrink to dots. At most a third of the bots are left outside.
    """
    ends = ends_of(rows, is_anchored=is_anchored)
    kept = [(row["elo_low"], row["elo_high"]) for row in _closed(rows)]
    most_outside = len(kept) // 3
    whole = [max(ends, default=0.0) - min(ends, default=0.0)]
    for _ in range(most_outside):
        without_one = [kept[:place] + kept[place + 1 :] for place in range(len(kept))]
        fewer = min(without_one, key=_span)
        if _span(fewer) > SQUEEZED * whole[-1]:
            break
        kept = fewer
        whole.append(_span(fewer))
    if len(whole) == 1:
        return ends
    margin = MARGIN * whole[-1]
    lows, highs = zip(*kept, strict=True)
    return [min(lows) - margin, max(highs) + margin]


def _span(intervals: Sequence[tuple[float, float]]) -> float:
    """The distance from the lowest end of the ``intervals`` to the highest one."""
    lows, highs = zip(*intervals, strict=True)
    return float(max(highs) - min(lows))


def _bar(row: TableRow, scale: Scale, room: int, pen: Pen) -> str:
    """The interval of ``row`` on ``scale`` as ``room`` characters of ``pen``: an arrow at an end
    that is open or beyond the scale, blanks if there is no interval.
    """
    low = row["elo_low"]
    middle = row["elo"]
    high = row["elo_high"]
    if not isfinite(low) and not isfinite(high):
        return " " * room
    # The scale puts what is beyond an end of it at that end.
    first = round(scale(low)) if isfinite(low) else 0
    last = round(scale(high)) if isfinite(high) else room - 1
    cells = [" "] * room
    cells[first : last + 1] = pen.line * (last + 1 - first)
    cells[first] = pen.start
    cells[last] = pen.end
    if isfinite(low) and isfinite(high) and scale.low <= middle <= scale.high:
        cells[round(scale(middle))] = pen.dot
    if not isfinite(low) or low < scale.low:
        cells[first] = pen.down
    if not isfinite(high) or high > scale.high:
        cells[last] = pen.up
    return "".join(cells)


def _painted(bar: str, zero: int | None, pen: Pen) -> str:
    """``bar`` in its colour, with the line for 0 at the column ``zero`` (None: no such line) if the
    bar does not cover it.
    """
    start = len(bar) - len(bar.lstrip())
    end = max(len(bar.rstrip()), start)
    cells = list(bar)
    if zero is not None and not start <= zero < end:
        cells[zero] = pen.paint(pen.zero, "zero")
    inside = pen.paint(bar[start:end], "bar") if start < end else ""
    return f"{''.join(cells[:start])}{inside}{''.join(cells[end:])}"
