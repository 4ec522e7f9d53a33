"""The lines below the standings, as text for people: sentences about the order of the bots, the
games that were played, what figures mean where they are easily misread, and notes.
"""

import math
from collections.abc import Iterator
from itertools import groupby
from math import isnan
from operator import itemgetter
from typing import TYPE_CHECKING

from arena.errors import counted
from arena.ratings.column import BOUNDS
from arena.records.record import DUEL
from arena.rules.terms import title_of

if TYPE_CHECKING:
    from arena.ratings.table_data import TableData
    from arena.ratings.tables import Tables

CLOCKS = {"cpu": "CPU time (--clock cpu)", "wall": "measured by the wall clock (--clock wall)"}
ORDINALS = ("first", "second", "third", "fourth")


def noun_of(tables: "Tables") -> str:
    """What ``tables`` count, as a column head: Games or Matches."""
    return "Matches" if tables.match else "Games"


def counted_text(tables: "Tables") -> str:
    """The number of games or matches that ``tables`` count, such as ``480 games`` or ``240 matches
    of bird + lion``.
    """
    of = f" of {title_of(tables.match)}" if tables.match else ""
    return f"{tables.games} {noun_of(tables).lower()}{of}"


def footer_lines(tables: "Tables") -> list[str]:
    """The lines below the standings of ``tables``: sentences about the order of the bots, the games
    that were counted, effects of seats, and notes.
    """
    return [
        *tables.sentences,
        _source_of_errors(tables),
        *_seat_lines(tables.data["seats"]),
        *share_lines(tables),
        *gain_lines(tables),
        *_anchor_lines(tables),
        *_clock_lines(tables),
        *(f"note: {note}" for note in tables.notes),
    ]


def brief_lines(tables: "Tables") -> list[str]:
    """The lines below the short standings of ``tables``: sentences about the order of the bots, how
    much was played, effects of seats, what marks of bounds mean, and the notes on which a reader
    may act.
    """
    return [
        *tables.sentences,
        played_text(tables),
        *_seat_lines(tables.data["seats"], decimals=0),
        *share_lines(tables),
        *_bound_lines(tables.data["standings"]),
        *_anchor_lines(tables),
        *(_clock_lines(tables) if tables.clock == "wall" else ()),
        *(f"note: {note}" for note in tables.notes if note not in tables.details),
    ]


def _source_of_errors(tables: "Tables") -> str:
    """A sentence on what the error bars of ``tables`` are computed from."""
    if tables.unit == "game":
        return f"95 % error bars, each game on its own deal; {counted_text(tables)}"
    return f"95 % error bars, clustered by {tables.unit}; {played_text(tables)}"


def played_text(tables: "Tables") -> str:
    """How many games, or matches, ``tables`` count on how many deals, and what a deal is, such as
    ``480 games, 24 deals (the 20 games of a deal have the same tiles)``.
    """
    if tables.unit == "game":
        return counted_text(tables)
    text = f"{counted_text(tables)}, {counted(tables.clusters, tables.unit)}"
    if tables.unit != "deal" or not tables.games:
        return text
    if tables.games == tables.clusters:
        return f"{text} (each has tiles of its own)"
    each, rest = divmod(tables.games, tables.clusters)
    noun = noun_of(tables).lower()
    which = noun if rest else f"{each} {noun}"
    return f"{text} (the {which} of a deal have the same tiles)"


def share_lines(tables: "Tables") -> Iterator[str]:
    """Lines on the column of ``tables`` with the bots' shares of the wins: how large the share of
    equal bots is with more than two players, and why shares do not follow the ranks.
    """
    sizes = sorted({*tables.data["seats"]["seats"].tolist()})
    large = [size for size in sizes if size > DUEL]
    if large:
        equal = [f"{100 / size:.0f} % with {size} players" for size in large]
        yield f"bots of equal strength would each have a share of {', '.join(equal)}"
    rated = [row for row in tables.data["standings"].rows() if not isnan(row["elo"])]
    is_one_scale = len(tables.groups) == 1 and len(sizes) == 1
    # A prior gives a bot that won every game a rating, too: that order has another reason.
    has_prior = "~" in map(itemgetter("mark"), rated)
    shares = list(map(itemgetter("win_rate"), rated))
    is_in_order = shares == sorted(shares, reverse=True)
    if is_one_scale and not (is_in_order or has_prior or _met_evenly(tables)):
        yield (
            "shares of the wins do not follow the ranks: some bots met stronger opponents than"
            " others; the rating allows for that, the share does not"
        )


def _met_evenly(tables: "Tables") -> bool:
    """Whether each two bots of ``tables`` met in equally many games."""
    bots = len(tables.data["standings"])
    games = tables.data["pairs"]["games"]
    return len(games) == bots * (bots - 1) and len({*games.tolist()}) == 1


def _seat_lines(seats: "TableData", decimals: int = 1) -> Iterator[str]:
    """A line for each number of players, from the table ``seats`` of `seats_table`, that says what
    it is worth to sit first instead of in another seat, in Elo with this number of ``decimals``.
    """
    other_seats = [row for row in seats.rows() if row["seat"] > 0]
    known = [row for row in other_seats if not isnan(row["elo_error"])]
    for size, group in groupby(known, itemgetter("seats")):
        rows = list(group)
        effects: list[str] = []
        for row in rows:
            # The table has what each seat is worth compared with the first one.
            elo = round(-row["elo"], decimals) + 0.0
            figure = f"{elo:+.{decimals}f} +/- {row['elo_error']:.{decimals}f}"
            other = f"instead of {ORDINALS[row['seat']]}"
            effects.append(f"{other} is worth {figure} Elo" if not effects else f"{other} {figure}")
        players = "" if size == DUEL else f"with {size} players, "
        may_be_luck = all(abs(row["elo"]) <= row["elo_error"] for row in rows)
        luck = ", which may be luck" if may_be_luck else ""
        yield f"{players}sitting first {', '.join(effects)}{luck}; the ratings allow for it"


def _bound_lines(standings: "TableData") -> list[str]:
    """A line that explains the marks of bounds in the table ``standings``; none without bounds."""
    marks = [mark for mark in BOUNDS if mark in standings["mark"].tolist()]
    meanings = {"<": "< stands for below", ">": "> for above"}
    if len(marks) == 1:
        meanings = {"<": "< stands for below", ">": "> stands for above"}
    if not marks:
        return []
    explained = " and ".join(meanings[mark] for mark in marks)
    return [f"{explained}, with 95 % confidence"]


def gain_lines(tables: "Tables") -> list[str]:
    """A line that says how many independent games the games of ``tables`` are worth; none if that
    is unknown, or if each game has its own deal.
    """
    worth = tables.independent_games
    if worth is None or tables.clusters == tables.games:
        return []
    noun = noun_of(tables).lower()
    between = "" if tables.rated_games == tables.games else " between rated bots"
    games = f"{tables.rated_games:,} {noun}{between}"
    return [f"{games} are worth about {rough(worth):,} independent {noun}"]


def rough(value: float) -> int:
    """``value`` rounded to about one and a half significant digits, at least 1.

    The number of independent games is an estimate, with a standard error of about 25 % at 20 deals
    and 11 % at 100: more digits would be noise.
    """
    power = 10.0 ** math.floor(math.log10(max(value, 1)))
    first_digits = value / power
    step = 0.2 if first_digits < 2 else 0.5 if first_digits < 5 else 1  # noqa: PLR2004
    return max(round(round(value / power / step) * step * power), 1)


def _anchor_lines(tables: "Tables") -> list[str]:
    """A sentence for each bot that is held at a given rating."""
    why = "error bars are for the distance from it"
    return [f"{name} is held at {value:g} Elo; {why}" for name, value in tables.anchors.items()]


def _clock_lines(tables: "Tables") -> list[str]:
    """A sentence on the clock that measured time; none if it is unknown."""
    return [f"time is {CLOCKS[tables.clock]}"] if tables.clock in CLOCKS else []
