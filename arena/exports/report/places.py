"""The standings of a run as its pages show them: a first sentence, the best three bots, and a table
of six columns, with the other columns behind a switch.

Before the games tell how strong a bot is, the pages show an open dot for it and no number.
"""

from math import isfinite, nan
from typing import Any

from arena.errors import ArenaError, printable
from arena.exports.grid import counted, figure, with_error
from arena.exports.report.animation import film_of
from arena.exports.report.charts import END, START, axis, interval, linear
from arena.exports.report.material import Material
from arena.exports.report.scan import Reasons, chosen_records
from arena.exports.report.sections import bots_of, cell, interval_words
from arena.exports.text import clipped_ends
from arena.players.player import IN_PROCESS, built_in_bot
from arena.ratings.column import BOUNDS, half_width, in_whole_elo, placed, ranks_text
from arena.ratings.columns import STANDINGS
from arena.records.record import DUEL

PLACES = 3
"""The most ranks on the podium."""
SHOWN = ("ranks", "bot", "elo", "error", "win_rate")
"""The columns of the standings from which the six columns of a page are made."""
CLOSE = 3
"""A sentence names at most this many bots that are too close to call."""
MARKED = {"<": "< ", ">": "> ", "?": "? ", "~": "~"}
"""What stands before a rating with a mark."""
BUILT_IN = "built in"
"""The sentence about a bot that comes with the arena and has no folder."""


def lead(material: Material, chosen: Reasons) -> dict[str, Any]:
    """The values for the first part of a report, whose data are ``material``: its first
    ``sentence``; in ``podium`` the best bots as (rank, bot, rating in words), none before any bot
    has an error bar, or while even the first one may really be the last; and in ``game`` the first
    of the ``chosen`` games as an animation, None if no game is chosen or it cannot be animated, see
    `film_of`.
    """
    rows: list[dict[Any, Any]] = material.tables.standings.to_dict("records")
    shown = [*chosen_records(material.scan, dict([*chosen.items()][:1]))]
    best = [row for row in rows if row["rank"] <= PLACES and is_rated(row)]
    # If even the first one may be the last, its place says nothing.
    if not has_interval(rows) or rows[0]["rank_high"] == len(rows) > 1:
        best = []
    return {
        "sentence": headline(material),
        "podium": [(row["rank"], row["bot"], rating_of(row)) for row in best],
        "game": film_of(*shown[0], material.run.info.boards) if shown else None,
    }


def is_rated(row: Any) -> bool:
    """Whether the games tell how strong the bot in ``row`` of the standings is, at least on one
    side. False for a bot without a rating, and for one that stands at 0 only because one bot has
    to.
    """
    is_held = row["mark"] == "?" and row["elo_low"] == row["elo_high"]
    return isfinite(row["elo"]) and not is_held


def has_interval(rows: list[dict[Any, Any]]) -> bool:
    """Whether any bot in ``rows`` of the standings has a rating with an error bar. As long as no
    bot has, every rating is a bound, and the bounds only say how few games there are.
    """
    rated = filter(is_rated, rows)
    return any(isfinite(row["elo_low"]) and isfinite(row["elo_high"]) for row in rated)


def rating_of(row: Any) -> str:
    """The rating in ``row`` with its error, such as ``1,203 ± 18 Elo``, or its bound, such as ``>
    1,203 Elo``.
    """
    mark = f"{row['mark']} " if row["mark"] in BOUNDS else ""
    return f"{with_error(mark + figure(row['elo']), half_width(row))} Elo"


def _elo_text(row: Any) -> str:
    """The rating in ``row`` with its error and its mark, such as ``1,203 ± 18`` or ``? 14 ± 90``,
    or its bound.
    """
    mark = MARKED.get(row["mark"], "")
    return with_error(mark + figure(row["elo"]), half_width(row))


def headline(material: Material) -> str:
    """The first sentence of a report: which bot leads, and whether another one may really be the
    best. For two bots, a shared lead, or a leader with a mark, it is one of the sentences below the
    standings. Empty without bots.
    """
    table = material.tables.standings
    sentences = material.tables.sentences
    if table.empty:
        return ""
    first = table.iloc[0]
    leader = printable(str(first["bot"]))
    if len(table) <= DUEL or first["mark"] or (table["rank"] == 1).sum() > 1:
        for sentence in sentences:
            if printable(sentence).startswith(f"{leader} "):
                return sentence
        return sentences[0] if sentences else ""
    elo = rating_of(first)
    rivals = [printable(str(name)) for name in table["bot"][1:][table["rank_low"][1:] == 1]]
    if not rivals:
        return f"{leader} is clearly the best of {len(table)} bots, with {elo}."
    who = rivals[0] if len(rivals) == 1 else f"any of {len(rivals)} others"
    return f"{leader} leads {len(table)} bots with {elo}, but {who} may really be the best."


def running_headline(material: Material) -> str:
    """The first sentence of the page of a run that is being played: who leads and which bots are
    too close to call, without a number; or that it is too early to say.
    """
    table = material.tables.standings
    rows: list[dict[Any, Any]] = table.to_dict("records")
    games = len(material.is_open)
    if not games:
        return "The first games are being played."
    if not has_interval(rows):
        return f"Too early to say who leads, after {counted(games, 'game')}."
    names = [printable(str(row["bot"])) for row in rows]
    rivals = [name for name, row in zip(names, rows, strict=True) if row["rank_low"] == 1]
    if len(rivals) > 1:
        return f"{_together(rivals)} are too close to call."
    second = rows[1]["rank"] if len(rows) > 1 else 0
    close = []
    for name, row in zip(names[1:], rows[1:], strict=True):
        if row["rank_low"] <= second <= row["rank_high"]:
            close.append(name)
    behind = f"; {_together(close)} are too close to call" if len(close) > 1 else ""
    return f"{names[0]} leads{behind}."


def _together(names: list[str]) -> str:
    """The ``names`` as a list in words; of a long list only the beginning and how many follow."""
    if len(names) > CLOSE:
        rest = len(names) - (CLOSE - 1)
        names = [*names[: CLOSE - 1], f"{rest} others"]
    return " and ".join([", ".join(names[:-1]), names[-1]])


def standings(material: Material) -> dict[str, Any]:
    """The standings of the run with these data: a row for each bot, the best first, and the axis of
    their intervals. ``rest`` has the columns that are behind the switch, and ``marks`` the marks
    that stand in the table.

    A row has ``places``, ``bot``, ``sentence``, ``picture``, ``elo``, ``wins``, the ``order`` by
    which the table is sorted by its places, and in ``rest`` its further cells as (style, text).
    """
    tables = material.tables
    rows: list[dict[Any, Any]] = tables.standings.to_dict("records")
    is_one_rated = has_interval(rows)
    scale = linear(clipped_ends(rows, is_anchored=bool(tables.anchors)), START, END)
    sentences = sentences_of(material)
    further = [column for column in placed(STANDINGS, "page") if column.name not in SHOWN]
    rest = list(map(in_whole_elo, further))
    marks: set[str] = set()
    shown = []
    for row in rows:
        is_known = is_one_rated and is_rated(row)
        if is_known and row["mark"]:
            marks.add(row["mark"])
        low, middle, high = (
            (row["elo_low"], row["elo"], row["elo_high"]) if is_known else (nan, nan, nan)
        )
        shown.append({
            "places": ranks_text(row).replace("-", "–") if is_one_rated else "",  # noqa: RUF001
            "order": row["rank_low"] + row["rank"] / 1000,
            "bot": row["bot"],
            "sentence": sentences.get(row["bot"], ""),
            "picture": interval(scale, low, middle, high, _words(row, is_known=is_known)),
            "elo": _elo_text(row) if is_known else "",
            "wins": row["win_rate"],
            "rest": [cell(column, row) for column in rest],
        })  # fmt: skip
    if any(not row["elo"] for row in shown):
        marks.add("○")
    return {"rows": shown, "rest": rest, "axis": axis(scale, "Elo"), "marks": marks}


def _words(row: Any, *, is_known: bool) -> str:
    """The interval of ``row`` in words, for screen readers."""
    return interval_words(row) if is_known else "nobody knows yet"


def sentences_of(material: Material) -> dict[str, str]:
    """By bot, a sentence about it: its description in its bot.toml, or how it plays if it is built
    in.
    """
    described = {}
    for row in bots_of(material):
        described[row["name"]] = row["description"]
    for bot in material.run.info.bots:
        if bot.command[:-1] == IN_PROCESS:
            described[bot.name] = _built_in_sentence(bot.name)
    return described


def _built_in_sentence(name: str) -> str:
    """How the built-in bot with this name plays. A run may come from another version, which may
    have had further bots.
    """
    try:
        return built_in_bot(name).manifest.description or BUILT_IN
    except ArenaError:
        return BUILT_IN
