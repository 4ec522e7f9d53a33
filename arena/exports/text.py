"""Tables and boards as text for a terminal."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from arena.errors import counted, printable
from arena.exports.grid import Strip, columns_text, grid_text
from arena.ratings.columns import PAIRS, SEATS, STANDINGS, Column, placed
from arena.rules import State
from arena.rules.boards import Board
from arena.rules.diagrams import draw
from arena.rules.notation import TILES
from arena.rules.rounds import title_of
from arena.rules.terms import Event

if TYPE_CHECKING:
    import pandas as pd

    from arena.ratings.tables import Tables

MISSING = "-"
HIDDEN_TILE = "??"
CLOCKS = {
    "cpu": "processor time (--clock cpu)",
    "wall": "measured by the wall clock (--clock wall)",
}
ORDINALS = ("first", "second", "third", "fourth")


def table_text(
    columns: Sequence[Column], table: "pd.DataFrame", noun: str = "Games", width: int | None = None
) -> str:
    """A data frame as people see it, on a terminal of this width; ``noun`` is the head of what is
    counted.
    """
    rows = table.to_dict("records")
    return grid_text([_field(column, rows, noun) for column in columns], width)


def _field(column: Column, rows: Sequence[Mapping[Any, Any]], noun: str) -> Strip:
    head = noun if column.name == "games" else column.head
    cells = [head, *(printable(_cell(column, row)) for row in rows)]
    is_name = column.style == "name"
    return Strip(cells, is_name, is_name, column.spare)


def _cell(column: Column, row: Mapping[Any, Any]) -> str:
    value = column.value(row)
    if column.shown is None:
        return str(value) or MISSING
    return column.written(row, number)


def standings_text(tables: "Tables") -> str:
    """The standings for people, with the first seat's effect, the number of deals and the notes
    below.
    """
    return "\n".join(standings_parts(tables))


def standings_parts(tables: "Tables", width: int | None = None) -> tuple[str, str]:
    """The standings, and what stands below them.

    If the table is wider than ``width``, names are cut, and the columns that say least are left
    out.
    """
    text = table_text(placed(STANDINGS, "text"), tables.standings, noun_of(tables), width)
    return text, "\n".join(map(printable, footer_lines(tables)))


def seats_text(seats: "pd.DataFrame", width: int | None = None) -> str:
    """The seats, with their effect and their share of the wins."""
    return table_text(placed(SEATS, "text"), seats, width=width)


def pairs_text(pairs: "pd.DataFrame", noun: str = "Games", width: int | None = None) -> str:
    """Each pair's results in games, or in what ``noun`` says; marked if only the prior keeps the
    difference finite.
    """
    lines = [table_text(placed(PAIRS, "text"), pairs, noun, width)]
    if (pairs["mark"] != "").any():
        lines.append(
            "a difference with < or > is a bound, with 95 % confidence; one with ~ depends on the"
            " prior"
        )
    return "\n".join(lines)


def noun_of(tables: "Tables") -> str:
    """What the tables count, as a column head."""
    return "Matches" if tables.match else "Games"


def counted_text(tables: "Tables") -> str:
    """What the tables count, and how many: ``480 games``, ``240 matches of bird + lion``."""
    return f"{tables.games} {noun_of(tables).lower()}" + (
        f" of {title_of(tables.match)}" if tables.match else ""
    )


def number(value: float, decimals: int) -> str:
    """The value with this many decimals, or a dash if there is none."""
    return f"{value + 0.0:.{decimals}f}" if math.isfinite(value) else MISSING


def board_text(
    state: State, paint: Callable[[str, str], str] = lambda cell, _: cell, marked: int = 0
) -> str:
    """The board with coordinates; ``paint(text, cell)`` may colour a cell; squares in the mask
    ``marked`` are in brackets.
    """
    board = state.board
    lines = ["    " + " ".join(f"{chr(97 + column):<3}" for column in range(board.width)).rstrip()]
    for row, cells in enumerate(draw(state)):
        line = []
        for column, cell in enumerate(cells):
            is_marked = marked >> (row * board.stride + column) & 1
            line.append(
                f"[{paint(cell, cell)}]{' ' * (2 - len(cell))}"
                if is_marked
                else f" {paint(f'{cell:<2}', cell)} "
            )
        lines.append(f"{row + 1:>2} " + "".join(line).rstrip())
    return "\n".join(lines)


def hands_text(
    state: State, names: Sequence[str], seen_by: int | None = None, width: int | None = None
) -> str:
    """One line per seat: name, pagodas left, hand. With ``seen_by``, only this seat's hand is
    shown.
    """
    rows = [
        (
            "*" if seat == state.mover and state.end is None else "",
            str(seat),
            name,
            str(left),
            " ".join(TILES[tile] if seen_by in (None, seat) else HIDDEN_TILE for tile in hand),
        )
        for seat, (name, left, hand) in enumerate(zip(names, state.left, state.hands, strict=True))
    ]
    heads = ("", "Seat", "Bot", "Left", "Hand")
    return columns_text(heads, rows, ("", "Hand"), width, names=("Bot",))


def event_text(event: Event, board: Board, names: Sequence[str]) -> str:
    """What happened, in words, with the rule's number."""
    who, where = names[event.seat], board.name_of(event.square)
    home = ", ".join(f"{names[seat]} takes back {count}" for seat, count in event.home)
    told = {
        "found": f"{who} founds a province of {event.size} from {where} (R5.2)",
        "expand": f"the province of {who} from {where} grows to {event.size} (R5.3)",
        "absorb": f"{who} owns the joined province of {event.size} from {where} (R5.5)",
        "major": f"the province of {who} from {where} is major (R5.4)",
        "connect": f"{who} connects the village at {where} (R6.2)",
        "conquer": f"{who} conquers the village at {where} (R6.3)",
    }[event.name]
    return f"{told}; {home}" if home else told


def seat_names(bots: Sequence[str]) -> list[str]:
    """The bots' names, with the seat added if a bot sits twice."""
    return [
        printable(f"{bot} (seat {seat})" if bots.count(bot) > 1 else bot)
        for seat, bot in enumerate(bots)
    ]


def covariance_text(covariance: "pd.DataFrame") -> str:
    """The covariance of the ratings in Elo squared."""
    rows = [
        (str(name), *(number(value, 2) for value in values))
        for name, values in zip(covariance.index, covariance.to_numpy(), strict=True)
    ]
    return columns_text(("Covariance", *map(str, covariance.columns)), rows, left=("Covariance",))


def footer_lines(tables: "Tables") -> list[str]:
    """What stands below the standings: what they say about the order of the bots, what they are
    made of, and what else to know.
    """
    clock = [f"time is {CLOCKS[tables.clock]}"] if tables.clock in CLOCKS else []
    return [
        *tables.sentences,
        "; ".join([*_seat_effects(tables.seats), _source_of_errors(tables)]),
        *gain_lines(tables),
        *_anchor_lines(tables),
        *clock,
        *(f"note: {note}" for note in tables.notes),
    ]


def _seat_effects(seats: "pd.DataFrame") -> Iterator[str]:
    """What each seat is worth, by number of players."""
    for size in sorted(seats["seats"].unique()):
        rows = seats[(seats["seats"] == size) & seats["elo_error"].notna() & (seats["seat"] > 0)]
        # Two players have one effect, told of the first seat.
        if size == 2 and len(rows):  # noqa: PLR2004
            yield (
                f"first seat {round(-rows['elo'].iloc[0], 1) + 0.0:+.1f} +/-"
                f" {rows['elo_error'].iloc[0]:.1f} Elo"
            )
        elif len(rows):
            effects = ", ".join(
                f"{ORDINALS[seat]} {elo:+.1f} +/- {error:.1f}"
                for seat, elo, error in rows[["seat", "elo", "elo_error"]].to_numpy(dtype=object)
            )
            yield f"{size} players, Elo compared with the first seat: {effects}"


def _source_of_errors(tables: "Tables") -> str:
    unit = tables.unit
    if unit == "game":
        return f"95 % error bars, each game on its own deal; {counted_text(tables)}"
    return (
        f"95 % error bars, clustered by {unit}; {counted_text(tables)},"
        f" {counted(tables.clusters, unit)}"
    )


def gain_lines(tables: "Tables") -> list[str]:
    """About how many independent games the games are worth."""
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
    return [
        f"{name} is held at {value:g} Elo; error bars are for the distance from it"
        for name, value in tables.anchors.items()
    ]
