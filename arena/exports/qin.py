"""What the games of a run say about Qin, as text and as JSON."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from arena.exports.analysis import endings_text
from arena.exports.files import table_rows
from arena.exports.text import number, seats_text, table_text
from arena.ratings.columns import Column
from arena.ratings.qin import QinAnalysis

SHOWN_OPENINGS = 5
"""Openings of each board and number of players."""
WHERE = (Column("board", "Board", style="name"), Column("players", "Players", spare=1))


def _percent(name: str, sign: str = "+") -> Callable[[Mapping[str, Any]], str]:
    """A share of a win in %."""
    return lambda row: "-" if pd.isna(row[name]) else f"{100 * row[name]:{sign}.1f}"


def _gain(name: str, error: str, head: str) -> tuple[Column, Column]:
    return Column(name, head, of=_percent(name)), Column(error, "+/-", of=_percent(error, ""))


BEGUN = (
    Column("games", "Games"),
    Column("chosen", "Games%", 1, spare=1),
    Column("won", "Won%", 1),
    Column("expected", "Exp.%", 1),
    *_gain("gain", "error", "Gain%"),
    *_gain("better", "off", "Same%"),
    Column("p_all", "p all", of=lambda row: number(row["p_all"], 3), spare=2),
)
KINDS = (*WHERE, Column("province", "Spaces"), Column("villages", "Villages"), *BEGUN)
OPENINGS = (*WHERE, Column("opening", "Opening", style="name"), *BEGUN)
DOUBLES = (
    *WHERE,
    Column("doubles", "Doubles"),
    Column("hands", "Hands"),
    Column("won", "Won%", 1),
    Column("expected", "Exp.%", 1),
    *_gain("gain", "error", "Gain%"),
)
LUCK = (
    *WHERE,
    Column("games", "Games"),
    Column("luck", "Tiles%", 1),
    Column("error", "+/-", of=_percent("error", "")),
)
HOLDINGS = (
    *WHERE,
    Column("round", "Round"),
    Column("games", "Games"),
    *_gain("small", "small_error", "Small%"),
    *_gain("major", "major_error", "Major%"),
    *_gain("village", "village_error", "Village%"),
)
EVENTS = (
    *WHERE,
    Column("event", "Event", style="name"),
    Column("games", "Games", spare=2),
    Column("winners", "Winners", 1),
    Column("others", "Others", 1),
    *_gain("gain", "error", "Gain%"),
)
BEGUN_TOLD = """\
Spaces: of the province that the first placement founds. Gain%: won less what
ratings and seats expect. Same%: how much more than with other placements of
the same hand. p all: how likely chance makes the clearest Same% of a board."""
TILES_TOLD = """\
Doubles: tiles of one colour among a seat's first three. Tiles%: of what
ratings and seats leave open, the share common to all with the same tiles."""
HOLDINGS_TOLD = """\
Small: a province with one pagoda, Major: one with two. In % of a win, where
ratings, seats and all else held are equal, in games that last longer."""
EVENTS_TOLD = """\
How often a seat did this in a game. Gain%: what goes with one more, in % of a
win, where ratings and seats are equal. Which is the cause, it does not say."""
CONTENT = (
    "seats", "endings", "kinds", "openings", "doubles", "luck", "holdings", "events"
)  # fmt: skip


def qin_object(analysis: QinAnalysis) -> dict[str, Any]:
    """The whole analysis for JSON; None for unknown values."""
    return {
        "games": analysis.games,
        "deals": analysis.deals,
        "notes": analysis.notes,
        **{name: table_rows(getattr(analysis, name)) for name in CONTENT},
    }


def qin_text(analysis: QinAnalysis, width: int | None = None) -> str:
    """The analysis as text for a terminal of this width."""
    often = analysis.openings.groupby(["board", "players"]).head(SHOWN_OPENINGS)

    def shown(title: str, columns: tuple[Column, ...], table: pd.DataFrame) -> str:
        return f"{title}\n{table_text(columns, table, width=width)}"

    parts = [
        f"Seats\n{seats_text(analysis.seats, width)}",
        endings_text(analysis.endings, width),
        f"{shown('First placements', KINDS, analysis.kinds)}\n{BEGUN_TOLD}",
        shown("The most frequent first placements", OPENINGS, often),
        shown("First tiles", DOUBLES, analysis.doubles),
        f"{shown('How much the tiles decide', LUCK, analysis.luck)}\n{TILES_TOLD}",
        f"{shown('What one more is worth', HOLDINGS, analysis.holdings)}\n{HOLDINGS_TOLD}",
        f"{shown('What winners do', EVENTS, analysis.events)}\n{EVENTS_TOLD}",
    ]
    return "\n\n".join([*(f"note: {note}" for note in analysis.notes), *parts])
