"""Computes the sections of a report as the templates need them: rows of values with their charts,
and the commands that play the run again.
"""

import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from arena.errors import BotFolderError, RunError, printable
from arena.exports.grid import abridged, counted, figure, milliseconds, width_of
from arena.exports.history_text import DAY, leader_note, likely_text, rated_rows, status_text
from arena.exports.report.charts import (
    END,
    ROW_HEIGHT,
    ROW_WIDTH,
    START,
    Scale,
    axis,
    bars,
    element,
    interval,
    linear,
    logarithmic,
    spread,
    versions_curve,
)
from arena.exports.report.material import Material
from arena.exports.report.scan import Forfeited
from arena.exports.text import ends_of
from arena.players.labels import settings_text
from arena.players.manifest import read_manifest
from arena.ratings.column import Column, column_named, half_width, in_whole_elo, placed
from arena.ratings.columns import HISTORY, STANDINGS
from arena.ratings.history import History
from arena.ratings.tables import Tables
from arena.records.evidence import evidence_name
from arena.records.regular import has_folder, read_regular
from arena.records.runfile import BotInfo
from arena.rules.terms import PAGODAS
from arena.tournament.run import Run

MAX_ROWS = 200
"""The most bots in tables with charts, the best rated ones. The standings have all bots."""
MAX_PAIRED = 60
QUANTILES = (0.05, 0.5, 0.95)
SECOND = 1000
MAX_LINES, LINE_LENGTH, STDERR_LENGTH = 8, 480, 3000
EACH, ALL = 2, 40
"""The most faults shown with evidence: EACH for one bot and kind, and ALL in total."""
WORDS = 300
HASH = 12
SANS = "'Liberation Sans','DejaVu Sans',Arial,Helvetica,sans-serif"
TABLE_STYLE = (
    f"text{{font-family:{SANS};font-size:13px;fill:#20242c}}.title{{font-size:16px}}"
    ".title,.name{font-weight:600}.head,.axis text{font-size:11px;fill:#575e6b}"
    ".page{fill:#fff;stroke:#dcd7cb}.grid{stroke:#e6e2d8}.zero{stroke:#8b8778}"
    ".range{stroke:#0d6570;stroke-width:2;fill:none;stroke-linejoin:round}.dot{fill:#0d6570}"
    "@media(prefers-color-scheme:dark){text{fill:#e9e7e2}.head,.axis text{fill:#a9b0bc}"
    ".page{fill:#15181d;stroke:#353b46}.grid{stroke:#2e343e}.zero{stroke:#6d7583}"
    ".range{stroke:#7cc9cf}.dot{fill:#7cc9cf}}"
)
TABLE_TOP, GLYPH, GAP, MARGIN, LARGER = 66, 9, 16, 24, 1.3
"""Sizes in the picture of the standings, in pixels: above the table, of a character, between
columns, at the edge; LARGER is the picture's magnification compared with the charts of a page.
"""
LONGEST = 32


def standings(tables: Tables, view: str) -> dict[str, Any]:
    """The standings of ``tables``: in ``columns`` the columns that ``view`` (see `column.placed`)
    shows; in ``rows``, for each bot, its ``cells``, see `cell`, and a ``picture`` of its interval;
    and the ``axis`` of these pictures.
    """
    records = tables.standings.to_dict("records")
    columns = list(map(in_whole_elo, placed(STANDINGS, view)))
    scale = linear(ends_of(records, is_anchored=bool(tables.anchors)), START, END)
    rows = []
    for row in records:
        low, middle, high = row["elo_low"], row["elo"], row["elo_high"]
        picture = interval(scale, low, middle, high, interval_words(row))
        rows.append({"cells": [cell(column, row) for column in columns], "picture": picture})
    return {"columns": columns, "rows": rows, "axis": axis(scale, "Elo")}


def cell(column: Column, row: Any) -> tuple[str, str]:
    """The cell of ``row`` in this column: its style, empty for a plain cell, and its text."""
    value = column.value(row)
    style = column.style
    if (style == "warn" and not value) or style == "term":
        style = ""
    if isinstance(value, str):
        return style, value.replace("-", "–") if column.of else value  # noqa: RUF001 - a dash
    unit = " %" if column.is_percent and np.isfinite(value) else ""
    return style, column.written(row, figure) + unit


def interval_words(row: Any) -> str:
    """The interval of ``row`` in words, for screen readers."""
    low = row["elo_low"]
    high = row["elo_high"]
    if np.isfinite(low):
        return (
            f"from {figure(low)} to {figure(high)}" if np.isfinite(high) else f"above {figure(low)}"
        )
    return f"below {figure(high)}" if np.isfinite(high) else "no interval"


def standings_picture(tables: Tables, title: str) -> str:
    """The short standings of ``tables`` as an SVG file with this title, light or dark as its
    page.
    """
    table = standings(tables, "brief")
    x = MARGIN
    parts = [element("text", title, class_="title", x=MARGIN, y=30)]
    for at, column in enumerate(table["columns"]):
        texts = [_cut(printable(row["cells"][at][1])) for row in table["rows"]]
        end = x + GLYPH * max(map(width_of, [column.head, *texts]))
        parts += _down(column, texts, *((x, "start") if column.style == "name" else (end, "end")))
        x = end + GAP
        if [each.brief for each in table["columns"][at : at + 2]] == [1, 2]:
            above = f"translate({x} {TABLE_TOP - 20})"
            parts.append(element("g", table["axis"], transform=above))
            for place, row in enumerate(table["rows"]):
                beside = f"translate({x} {TABLE_TOP + ROW_HEIGHT * place})"
                parts.append(element("g", row["picture"], transform=beside))
            x += ROW_WIDTH + GAP
    width = max(x - GAP, MARGIN + GLYPH * width_of(title)) + MARGIN
    height = TABLE_TOP + ROW_HEIGHT * len(table["rows"]) + MARGIN // 2
    picture = element(
        "svg",
        element("style", Markup(TABLE_STYLE)),  # noqa: S704 - our own
        element("rect", class_="page", x=0.5, y=0.5, width=width - 1, height=height - 1, rx=12),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=width * LARGER,
        height=height * LARGER,
        role="img",
        aria_label=title,
    )
    return f"{picture}\n"


def _down(column: Column, texts: Sequence[str], x: float, anchor: str) -> Iterator[Markup]:
    """The SVG of a column of the standings: its head, and one of the ``texts`` in each row. ``x``
    is its left end or right end, as ``anchor`` (``start`` or ``end``) says.
    """
    yield element("text", column.head, class_="head", x=x, y=TABLE_TOP - 8, text_anchor=anchor)
    for place, text in enumerate(texts):
        y = TABLE_TOP + ROW_HEIGHT * (place + 0.5) + 4.5
        yield element("text", text, class_=column.style or None, x=x, y=y, text_anchor=anchor)


def _cut(text: str) -> str:
    """``text``, cut to `LONGEST` characters with an ellipsis at its end if it is longer."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def version_rows(history: History) -> list[dict[Any, Any]]:
    """A row for each version in the history of a league, as people see it: the row of
    `history_table` with the rating in ``elo`` as a text, half the width of its interval in
    ``error``, the day alone in ``joined``, and a word for people in ``status``.
    """
    elo = column_named("elo", HISTORY)
    rows: list[dict[Any, Any]] = history.table.to_dict("records")
    for row in rows:
        row |= {"joined": row["joined"][:DAY], "status": status_text(row), "error": half_width(row)}
        row["elo"] = elo.written(row, figure)
    return rows


def versions(history: History) -> dict[str, Any]:
    """The versions in the history of a league as ``rows``, see `version_rows`; ``sentences`` about
    regression tests and the leader; the rating curve of each bot with several rated versions, as
    (bot, SVG) in ``curves``; and whether there are likely gains, with a text that explains them.
    """
    curves = []
    for bot, rows in history.table.groupby("bot", sort=False):
        rated = rated_rows(rows)
        if len(rated) > 1:
            curves.append((bot, versions_curve(str(bot), rated)))
    # They begin with "regression test".
    sentences = [test.sentence[:1].upper() + test.sentence[1:] for test in history.regressions]
    if history.leader:
        sentences.append(leader_note(history.leader))
    return {
        "rows": version_rows(history),
        "has_likely": bool(history.table["gain_likely"].notna().any()),
        "likely": likely_text(history),
        "sentences": sentences,
        "curves": curves,
    }


def pairs(material: Material) -> dict[str, Any]:
    """In ``names`` the best bots in the order of the standings, at most `MAX_PAIRED`; in ``met``,
    by (bot, opponent), the row of each two of them that met in the table of pairs; in ``all`` the
    number of all bots.
    """
    names = material.bots[:MAX_PAIRED]
    table = material.tables.pairs
    shown = table[table["bot"].isin(names) & table["opponent"].isin(names)]
    met = {}
    for row in shown.to_dict("records"):
        met[row["bot"], row["opponent"]] = row
    return {"names": names, "met": met, "all": len(material.bots)}


def seats(material: Material) -> dict[str, Any]:
    """In ``rows`` the table of seats, with the ``low`` and the ``high`` end of the 95 % interval of
    each effect in Elo compared with the first seat; in ``scale`` the scale for charts of these.
    """
    table = material.tables.seats
    table = table.assign(low=table["elo"] - table["elo_error"])
    table = table.assign(high=table["elo"] + table["elo_error"])
    scale = linear([*table["elo"], *table["low"], *table["high"], 0.0], START, END)
    return {"rows": table.to_dict("records"), "scale": scale}


def pagodas_left(material: Material) -> dict[str, Any]:
    """In ``rows``, for each bot, the mean and the median of the pagodas that it had left at the end
    of its games, the share of games in which it had ``none``, and a histogram as its ``picture``;
    and the ``axis`` of the histograms.
    """
    fewest_players = min(map(len, material.scan.outcome_bots), default=2)
    most = PAGODAS[fewest_players]
    scale = Scale(0, most + 1, START, END, tuple(range(0, most + 1, 6)))
    rows = []
    for name, left in _by_bot(material, material.scan.left):
        counts = np.bincount(left).tolist()
        counted_games = []
        for at, many in enumerate(counts):
            if many:
                counted_games.append(f"{at} left in {counted(many, 'game')}")
        row = {"bot": name, "games": len(left), "none": counts[0] / len(left)}
        row |= {"mean": float(left.mean()), "median": float(np.median(left))}
        rows.append({**row, "picture": bars(scale, counts, f"{name}: {', '.join(counted_games)}")})
    return {"rows": rows, "axis": axis(scale, "pagodas left")}


def lengths(material: Material) -> dict[str, Any]:
    """In ``rows``, for each board and number of players, the ``quantiles`` of placements in a game
    (`QUANTILES`), the share of games that ended in each way (``ends``), and a histogram as the
    ``picture``. Beside the rows, the ``axis`` of the histograms, and the names of the ways in
    ``ends``.
    """
    scan = material.scan
    kinds = list(zip(scan.outcome_boards, map(len, scan.outcome_bots), strict=True))
    scale = linear([0.0, float(scan.turns.max(initial=0))], START, END, least=1)
    rows = []
    for board, players in sorted(set(kinds)):
        games = scan.by_game(kind == (board, players) for kind in kinds) == 1
        turns = scan.turns[games]
        ends = np.bincount(scan.end[games], minlength=len(scan.ends))
        quantiles = np.quantile(turns, QUANTILES).tolist()
        label = f"median {quantiles[1]:.0f} turns, {turns.min()} to {turns.max()}"
        row = {"board": board, "players": players, "games": len(turns), "quantiles": quantiles}
        row |= {"ends": (ends / len(turns)).tolist()}
        rows.append({**row, "picture": bars(scale, np.bincount(turns).tolist(), label)})
    return {"rows": rows, "axis": axis(scale, "turns"), "ends": scan.ends}


def thinking(material: Material) -> dict[str, Any]:
    """In ``rows``, for each bot, times in ms: the ``mean``, ``median``, ``high`` (95 % quantile)
    and ``longest`` time that it took in a game, its ``slowest`` answer, and a chart as its
    ``picture``; and the ``axis`` of the charts.
    """
    times = dict(_by_bot(material, material.scan.think_ms))
    quantiles: dict[str, list[float]] = {}
    ends: list[float] = []
    for name, think in times.items():
        quantiles[name] = np.quantile(think, QUANTILES).tolist()
        ends += [*quantiles[name], think.max()]
    scale = logarithmic(np.maximum(ends, 0.1).tolist(), START, END)
    rows = []
    for name, think in times.items():
        (_, median, high), longest = quantiles[name], float(think.max())
        label = f"median {milliseconds(median)}"
        row = {"bot": name, "mean": float(think.mean()), "median": median, "high": high}
        row |= {"longest": longest, "slowest": material.scan.slowest_ms[name]}
        rows.append({**row, "picture": spread(scale, quantiles[name], longest, label)})
    return {"rows": rows, "axis": axis(scale, "time in a game", list(map(_time_text, scale.ticks)))}


def _time_text(ms: float) -> str:
    """A time of ``ms`` with its unit, from one second on in seconds."""
    return f"{ms:g} ms" if ms < SECOND else f"{ms / SECOND:g} s"


def _by_bot(material: Material, values: NDArray[Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    """For each bot that has games, the best first and at most `MAX_ROWS` bots: its name, and its
    part of ``values`` (N,), which are by game and seat.
    """
    number = material.scan.bot_numbers
    bot = material.scan.bots
    for name in material.bots[:MAX_ROWS]:
        if name in number:
            yield name, values[bot == number[name]]


def faults(material: Material) -> dict[str, Any]:
    """In ``rows``, one row per bot and kind of fault, the most frequent first, with the evidence of
    the latest faults: at most `EACH` in a row and `ALL` together, none on deals that are still
    being played. ``total`` is the number of all faults, ``evident`` that of faults with evidence.
    """
    groups: defaultdict[tuple[str, str], list[Forfeited]] = defaultdict(list)
    for forfeited in material.scan.faults:
        groups[forfeited.bot, forfeited.fault.kind].append(forfeited)
    games = material.scan.games_of()
    rows = []
    room = ALL
    for (bot, kind), forfeits in sorted(
        groups.items(), key=lambda entry: (-len(entry[1]), entry[0])
    ):
        shown = [one for one in reversed(forfeits) if not material.is_open[one.game]]
        shown = shown[: min(EACH, room)]
        room -= len(shown)
        row = {
            "bot": bot,
            "kind": kind,
            "count": len(forfeits),
            "share": len(forfeits) / games[bot],
        }
        rows.append({**row, "shown": [fault_object(material.run, one) for one in shown]})
    return {"rows": rows, "total": len(material.scan.faults), "evident": ALL - room}


def details_of(faults: Mapping[str, Any]) -> list[str]:
    """The details of the faults that the section ``faults``, made by the function of that name,
    shows with evidence.
    """
    details = []
    for row in faults["rows"]:
        details += [fault["detail"] for fault in row["shown"]]
    return details


def fault_object(run: Run, forfeited: Forfeited) -> dict[str, Any]:
    """The fault ``forfeited`` of a run with its ``evidence``, for a template; the evidence is None
    if there is no file with it, or if it cannot be read.
    """
    fault = msgspec.structs.asdict(forfeited.fault)
    evidence = _evidence(run, forfeited)
    return {**fault, "game": forfeited.id, "bot": forfeited.bot, "evidence": evidence}


def _evidence(run: Run, forfeited: Forfeited) -> dict[str, Any] | None:
    """The evidence of the fault ``forfeited`` of a run, with its lines shortened; None if there is
    no such file, or if it cannot be read.
    """
    name = evidence_name(forfeited.id, forfeited.fault.seat)
    try:
        content = msgspec.json.decode(read_regular(run.folder, name))
        lines = []
        for way, at_ms, text in content["lines"]:
            short = abridged(str(text), LINE_LENGTH)
            lines.append({"way": str(way), "at": float(at_ms), "text": short})
        return {
            "path": name,
            "ending": str(content["ending"]),
            "lines": lines[-MAX_LINES:],
            "left_out": max(len(lines) - MAX_LINES, 0),
            "stderr": abridged(str(content["stderr"]), STDERR_LENGTH),
        }
    # DecodeError is a ValueError.
    except (OSError, RunError, RecursionError, KeyError, TypeError, ValueError):
        return None


def bots_of(material: Material) -> list[dict[str, Any]]:
    """Values for a template about each bot of the run in the order of the standings, see `_bot`."""
    known = material.run.info.bots_by_name
    return [_bot(material.run, known[name]) for name in material.bots if name in known]


def _bot(run: Run, bot: BotInfo) -> dict[str, Any]:
    """Values for a template about a bot: its name, version, hash, command and options, and from the
    bot.toml in its copy the author, language and description, which are empty if there is no copy
    or it cannot be read.
    """
    try:
        has_copy = has_folder(run.folder, bot.copy)
        manifest = read_manifest(run.folder / bot.copy) if has_copy else None
    except (BotFolderError, OSError, ValueError):
        manifest = None
    own = ("author", "language", "description")
    return {
        "name": bot.name,
        "version": bot.version,
        "hash": bot.sha256[:HASH],
        "command": shlex.join(bot.command),
        "options": abridged(settings_text(bot.options).replace(",", ", "), WORDS),
        **{field: abridged(getattr(manifest, field, ""), WORDS) for field in own},
    }
