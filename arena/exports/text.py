"""Tables and boards as text for a terminal."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from arena.errors import counted, printable
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
from arena.ratings.columns import PAIRS, SEATS, STANDINGS, Column, in_whole_elo, placed
from arena.rules import State
from arena.rules.boards import Board
from arena.rules.notation import TILES
from arena.rules.positions import draw
from arena.rules.terms import Event, title_of

if TYPE_CHECKING:
    import pandas as pd

    from arena.ratings.tables import Tables


HIDDEN_TILE = "??"
CLOCKS = {"cpu": "CPU time (--clock cpu)", "wall": "measured by the wall clock (--clock wall)"}
ORDINALS = ("first", "second", "third", "fourth")
PAPER = 80
"""The width of a table that goes into a file or a pipe."""
LEFT = 40
"""The width that the columns left of the drawing need if names are cut a little."""
MIN_DRAWING = 13
MAX_DRAWING = 61
"""The largest width of the drawing, in characters."""
FURTHER = 1.5
"""A drawing with bounds alone reaches this many times as far as they do: arrows need room."""
TICK_WIDTH = 7
"""The number of characters that a number on the axis needs, about."""


def table_text(
    columns: Sequence[Column], table: "pd.DataFrame", noun: str = "Games", width: int | None = None
) -> str:
    """A data frame as people see it, on a terminal of this width. ``noun`` is the head of the
    column with the number of games.
    """
    rows = table.to_dict("records")
    return grid_text([_field(column, rows, noun) for column in columns], width)


def _field(column: Column, rows: Sequence[Mapping[Any, Any]], noun: str) -> Strip:
    """A column of the table, ready to be laid out."""
    head = noun if column.name == "games" else column.head
    cells = [
        column.written(row, number)
        if column.shown is not None
        else printable(str(column.value(row)) or MISSING)
        for row in rows
    ]
    is_name = column.style == "name"
    return Strip([head, *cells], is_name, is_name, column.spare)


def standings_parts(tables: "Tables", width: int | None = None) -> tuple[str, str]:
    """The text of the standings, and the text below them.

    If the table is wider than ``width``, names are cut, and the least important columns are left
    out.
    """
    text = table_text(placed(STANDINGS, "text"), tables.standings, noun_of(tables), width)
    return text, "\n".join(map(printable, footer_lines(tables)))


def seats_text(seats: "pd.DataFrame", width: int | None = None) -> str:
    """The table of seats, with the effect and the share of the wins of each."""
    return table_text(placed(SEATS, "text"), seats, width=width)


def pairs_text(pairs: "pd.DataFrame", noun: str = "Games", width: int | None = None) -> str:
    """The table of pairs; ``noun`` says what is counted. A mark shows that only the prior keeps a
    difference finite.
    """
    text = table_text(placed(PAIRS, "text"), pairs, noun, width)
    if (pairs["mark"] == "").all():
        return text
    return (
        f"{text}\na difference with < or > is a bound, with 95 % confidence; one with ~ depends on"
        " the prior"
    )


def noun_of(tables: "Tables") -> str:
    """The noun of what the tables count, such as "games", as a column head."""
    return "Matches" if tables.match else "Games"


def counted_text(tables: "Tables") -> str:
    """The number of games or matches that the tables count: ``480 games``, ``240 matches of bird +
    lion``.
    """
    of = f" of {title_of(tables.match)}" if tables.match else ""
    return f"{tables.games} {noun_of(tables).lower()}{of}"


def board_text(
    state: State, paint: Callable[[str, str], str] = lambda cell, _: cell, marked: int = 0
) -> str:
    """The board with coordinates; ``paint(text, cell)`` may colour a cell; squares in the mask
    ``marked`` are in brackets.
    """
    board = state.board
    lines = ["    " + " ".join(f"{chr(97 + column):<3}" for column in range(board.width)).rstrip()]
    for row, cells in enumerate(draw(state)):
        line = f"{row + 1:>2} "
        for column, cell in enumerate(cells):
            if marked >> (row * board.stride + column) & 1:
                line += f"[{paint(cell, cell)}]{' ' * (2 - len(cell))}"
            else:
                line += f" {paint(f'{cell:<2}', cell)} "
        lines.append(line.rstrip())
    return "\n".join(lines)


def hands_text(
    state: State, names: Sequence[str], seen_by: int | None = None, width: int | None = None
) -> str:
    """One line per seat: name, pagodas left, hand. With ``seen_by``, only this seat's hand is
    shown.
    """
    rows = []
    for seat, (name, left, hand) in enumerate(zip(names, state.left, state.hands, strict=True)):
        turn = "*" if seat == state.mover and state.end is None else ""
        is_seen = seen_by in (None, seat)
        tiles = " ".join(TILES[tile] if is_seen else HIDDEN_TILE for tile in hand)
        rows.append((turn, str(seat), name, str(left), tiles))
    heads = ("", "Seat", "Bot", "Left", "Hand")
    return columns_text(heads, rows, ("", "Hand"), width, names=("Bot",))


def event_text(event: Event, board: Board, names: Sequence[str]) -> str:
    """An event as a sentence with the number of its rule."""
    who = names[event.seat]
    where = board.name_of(event.square)
    home = ", ".join(f"{names[seat]} takes back {count}" for seat, count in event.home)
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
    """The bots' names, with the seat added if a bot sits twice."""
    return [
        printable(f"{bot} (seat {seat})" if bots.count(bot) > 1 else bot)
        for seat, bot in enumerate(bots)
    ]


def footer_lines(tables: "Tables") -> list[str]:
    """The lines below the standings: what they say about the order of the bots, the games they are
    made of, and what else to know.
    """
    return [
        *tables.sentences,
        "; ".join([*_seat_effects(tables.seats), _source_of_errors(tables)]),
        *gain_lines(tables),
        *_anchor_lines(tables),
        *_clock_lines(tables),
        *(f"note: {note}" for note in tables.notes),
    ]


def brief_lines(tables: "Tables") -> list[str]:
    """The lines of `footer_lines` on which a reader may act, and how much was played."""
    deals = [] if tables.unit == "game" else [counted(tables.clusters, tables.unit)]
    return [
        *tables.sentences,
        ", ".join([counted_text(tables), *deals]),
        *_anchor_lines(tables),
        *(_clock_lines(tables) if tables.clock == "wall" else ()),
        *(f"note: {note}" for note in tables.notes if note not in tables.details),
    ]


def _seat_effects(seats: "pd.DataFrame") -> Iterator[str]:
    """A line for each number of players: how much each seat is worth."""
    known = seats[seats["elo_error"].notna() & (seats["seat"] > 0)]
    for size, rows in known.groupby("seats"):
        effects_by_seat = rows.to_dict("records")
        # Two players have one effect, told of the first seat.
        if size == 2:  # noqa: PLR2004
            elo = -effects_by_seat[0]["elo"]
            error = effects_by_seat[0]["elo_error"]
            yield f"first seat {round(elo, 1) + 0.0:+.1f} +/- {error:.1f} Elo"
            continue
        effects = [
            f"{ORDINALS[row['seat']]} {row['elo']:+.1f} +/- {row['elo_error']:.1f}"
            for row in effects_by_seat
        ]
        yield f"{size} players, Elo compared with the first seat: {', '.join(effects)}"


def _source_of_errors(tables: "Tables") -> str:
    """A sentence on what the error bars are computed from."""
    if tables.unit == "game":
        return f"95 % error bars, each game on its own deal; {counted_text(tables)}"
    clusters = counted(tables.clusters, tables.unit)
    return f"95 % error bars, clustered by {tables.unit}; {counted_text(tables)}, {clusters}"


def gain_lines(tables: "Tables") -> list[str]:
    """A line that says how many independent games the games of a run are worth."""
    worth = tables.independent_games
    if worth is None or tables.clusters == tables.games:
        return []
    noun = noun_of(tables).lower()
    between = "" if tables.rated_games == tables.games else " between rated bots"
    games = f"{tables.rated_games:,} {noun}{between}"
    return [f"{games} are worth about {rough(worth):,} independent {noun}"]


def rough(value: float) -> int:
    """The value to about a digit and a half, at least 1.

    The number of independent games is an estimate, with a standard error of about 25 % at 20 deals
    and 11 % at 100: more digits would be noise.
    """
    power = 10.0 ** math.floor(math.log10(max(value, 1)))
    step = next(step for most, step in ((2, 0.2), (5, 0.5), (10, 1)) if value / power < most)
    return max(round(round(value / power / step) * step * power), 1)


def _anchor_lines(tables: "Tables") -> list[str]:
    """Sentences on bots that are held at a rating."""
    return [
        f"{name} is held at {value:g} Elo; error bars are for the distance from it"
        for name, value in tables.anchors.items()
    ]


def _clock_lines(tables: "Tables") -> list[str]:
    """A sentence on the clock that measured time."""
    return [f"time is {CLOCKS[tables.clock]}"] if tables.clock in CLOCKS else []


def overview_text(tables: "Tables", width: int | None = None, pen: Pen | None = None) -> str:
    """The short standings with a drawing of the intervals, and below them the most important
    sentences.
    """
    lines = overview_lines(tables, width, pen or Pen())
    return "\n".join([*lines, "", *map(printable, brief_lines(tables))])


def overview_lines(tables: "Tables", width: int | None, pen: Pen) -> list[str]:
    """The lines of the table, its head first, without any sentence.

    The drawing is left out if the terminal is too narrow for it, or if no bot has an interval.
    Without a ``width`` the table is for a file, in which names are never cut.
    """
    table = tables.standings
    right = _beside(table, 2)
    taken = max(map(len, right)) + len(GAP)
    left = _left(table, width and width - taken)
    wide = max(map(width_of, left))
    room = min((width or PAPER) - wide - taken - len(GAP), MAX_DRAWING)
    left = [padded(line, wide) for line in left]
    if room < MIN_DRAWING or not table[["elo_low", "elo_high"]].notna().any(axis=None):
        return [f"{start}{GAP}{end}".rstrip() for start, end in zip(left, right, strict=True)]
    head, *bars = _drawing(table, room, pen, is_anchored=bool(tables.anchors))
    right = [line.rjust(max(map(len, right))) for line in right]
    return [
        pen.paint(f"{left[0]}{GAP}{head}{GAP}{right[0]}", "head"),
        *(GAP.join(parts) for parts in zip(left[1:], bars, right[1:], strict=True)),
    ]


def _left(table: "pd.DataFrame", room: int | None) -> list[str]:
    """The columns left of the drawing.

    Names are cut a little if that makes room for the drawing; else only as far as ``room`` demands.
    """
    if room is None:
        return _beside(table, 1)
    lines = _beside(table, 1, max(room - MIN_DRAWING - len(GAP), LEFT))
    return lines if max(map(width_of, lines)) <= room else _beside(table, 1, room)


def _beside(table: "pd.DataFrame", side: int, width: int | None = None) -> list[str]:
    """The columns left (1) or right (2) of the drawing, with ratings as whole numbers."""
    columns = [column for column in placed(STANDINGS, "brief") if column.brief == side]
    return table_text([*map(in_whole_elo, columns)], table, width=width).split("\n")


def _drawing(table: "pd.DataFrame", room: int, pen: Pen, *, is_anchored: bool) -> list[str]:
    """The lines of the drawing: the axis, then a bar for each row; all ``room`` characters wide."""
    ends = ends_of(table, is_anchored=is_anchored)
    scale = linear(ends, 0, room - 1, count=max(room // TICK_WIDTH, 2))
    low = min(ends, default=0.0)
    high = max(ends, default=0.0)
    if low < high:
        ticks = tuple(tick for tick in scale.ticks if low <= tick <= high)
        scale = scale._replace(low=low, high=high, ticks=ticks)
    zero = round(scale(0)) if scale.low <= 0 <= scale.high else None
    # the numbers of the scale, each above its place
    axis = ""
    free = 0
    for tick in scale.ticks:
        text = f"{tick:g}"
        start = min(max(round(scale(tick)) - len(text) // 2, 0), room - len(text))
        if start >= free:
            axis = axis.ljust(start) + text
            free = len(axis) + 1
    bars = [_bar(row, scale, room, pen) for row in table.to_dict("records")]
    return [axis.ljust(room), *(_painted(bar, zero, pen) for bar in bars)]


def ends_of(table: "pd.DataFrame", *, is_anchored: bool) -> list[float]:
    """The values that a drawing of these standings must include: the ends of intervals, and 0
    unless a bot is held elsewhere. Bounds may lie outside, so that the drawing has room for what is
    known.
    """
    closed = table[table["elo_low"].notna() & table["elo_high"].notna()]
    ends = [*closed["elo_low"], *closed["elo_high"]]
    if not closed["elo_low"].lt(closed["elo_high"]).any():  # bounds alone
        middle = closed["elo"].mean() if len(closed) else 0.0
        ends += [middle + FURTHER * (elo - middle) for elo in table["elo"]]
    return [end for end in [*ends, *([] if is_anchored else [0.0])] if isfinite(end)]


def _bar(row: Mapping[Any, Any], scale: Scale, room: int, pen: Pen) -> str:
    """The interval of a row as characters: an arrow if it is open at one end, empty if there is
    none.
    """
    low = row["elo_low"]
    middle = row["elo"]
    high = row["elo_high"]
    if not isfinite(low) and not isfinite(high):
        return " " * room
    first = round(scale(low)) if isfinite(low) else 0
    last = round(scale(high)) if isfinite(high) else room - 1
    cells = [" "] * room
    cells[first : last + 1] = pen.line * (last + 1 - first)
    cells[first], cells[last] = pen.start, pen.end
    if not isfinite(low):
        cells[first] = pen.down
    elif not isfinite(high):
        cells[last] = pen.up
    else:
        cells[round(scale(middle))] = pen.dot
    return "".join(cells)


def _painted(bar: str, zero: int | None, pen: Pen) -> str:
    """The bar in its colour, with the line of 0 if there is room for it."""
    start = len(bar) - len(bar.lstrip())
    end = max(len(bar.rstrip()), start)
    cells = list(bar)
    if zero is not None and not start <= zero < end:
        cells[zero] = pen.paint(pen.zero, "zero")
    inside = pen.paint(bar[start:end], "bar") if start < end else ""
    return f"{''.join(cells[:start])}{inside}{''.join(cells[end:])}"
