"""An analysis of a run as text and as JSON."""

import math
import shlex
from collections.abc import Iterator
from typing import Any

import pandas as pd

from arena.exports.files import table_rows
from arena.exports.text import MISSING, columns_text, number, pairs_text, seats_text
from arena.ratings.analysis import Analysis
from arena.ratings.goodness import Goodness
from arena.ratings.voids import void_notes

LEVEL = 0.05
SHOWN_PAIRS = 5
DUEL = 2
SMALLEST = 0.001


def analysis_object(analysis: Analysis) -> dict[str, Any]:
    """The whole analysis for JSON; None for unknown values."""
    return {
        "games": analysis.games,
        "deals": analysis.deals,
        "fit": [_fit_object(test) for test in analysis.fits],
        "cycles": table_rows(analysis.cycles),
        "seats": table_rows(analysis.seats),
        "times": table_rows(analysis.times),
        "endings": table_rows(analysis.endings),
        "machines": table_rows(analysis.machines),
        "voids": table_rows(analysis.voids),
        **({} if analysis.opponents is None else {"opponents": table_rows(analysis.opponents)}),
        "hands": table_rows(analysis.hands),
    }


def _fit_object(test: Goodness) -> dict[str, Any]:
    known = math.isfinite(test.statistic)
    return {
        "bots": test.bots,
        "f": test.statistic if known else None,
        "freedom": [test.freedom, test.deals - test.freedom],
        "p": test.p if known else None,
        "pairs": table_rows(test.pairs),
    }


def analysis_text(analysis: Analysis, run: str) -> str:
    """An analysis as text for a terminal; ``run`` is the user's name for the run."""
    parts = [part for test in analysis.fits for part in _fit_parts(test)]
    parts += [
        _cycles_text(analysis),
        f"Seats\n{seats_text(analysis.seats)}",
        _endings_text(analysis.endings),
        _times_text(analysis.times),
    ]
    if len(analysis.machines) > 1:
        parts.append(_machines_text(analysis.machines))
    if len(analysis.voids):
        parts.append(_voids_text(analysis.voids))
    if analysis.opponents is not None:
        parts.append(f"Opponents\n{pairs_text(analysis.opponents)}")
    return "\n\n".join([*parts, _hands_text(analysis.hands, run)])


def _fit_parts(test: Goodness) -> Iterator[str]:
    shown = (
        test.pairs[test.pairs["t"].notna()].head(SHOWN_PAIRS)
        if math.isfinite(test.statistic)
        else test.pairs.head(0)
    )
    lines = [f"Does one rating for each bot explain the results? {_fit_sentence(test)}"]
    rows = [
        (
            row["bot"],
            row["opponent"],
            str(row["games"]),
            number(row["lead"], 3),
            number(row["expected"], 3),
            number(row["t"], 2),
            number(row["p"], 4),
            number(row["p_all"], 4),
        )
        for row in shown.to_dict("records")
    ]
    if rows:
        lines.append(
            columns_text(
                ("Bot", "Opponent", "Games", "Lead", "Expected", "t", "p", "p all"),
                rows,
                left=("Bot", "Opponent"),
            )
        )
    yield "\n".join(lines)


def _fit_sentence(test: Goodness) -> str:
    if test.is_open:
        return "We cannot tell while only a prior keeps the ratings finite."
    if not math.isfinite(test.statistic):
        return (
            "With two bots, it always does."
            if len(test.bots) == DUEL
            else f"{test.deals} deals are too few to tell."
        )
    figures = f"F({test.freedom}, {test.deals - test.freedom}) = {test.statistic:.2f}, {_p(test.p)}"
    return f"Not entirely: {figures}." if test.p < LEVEL else f"No evidence against it: {figures}."


def _cycles_text(analysis: Analysis) -> str:
    clear = analysis.cycles[analysis.cycles["p_all"] < LEVEL]
    seen = (
        f"{len(analysis.cycles)} of {analysis.threes} sets of three bots form a circle by their"
        " scores"
    )
    title = (
        f"Circles of three, in which each beats the next beyond error: {len(clear) or 'none'}"
        f" ({seen})"
    )
    return "\n".join([title, *(_cycle_line(row) for row in clear.to_dict("records"))])


def _cycle_line(row: dict[Any, Any]) -> str:
    return (
        f"{row['first']} beats {row['second']} ({row['score_1']:.1%}), who beats {row['third']}"
        f" ({row['score_2']:.1%}), who beats {row['first']} ({row['score_3']:.1%});"
        f" {_p(row['p_all'])}"
    )


def _p(value: float) -> str:
    return "p < 0.001" if value < SMALLEST else f"p = {value:.3f}"


def _endings_text(endings: pd.DataFrame) -> str:
    heads = (
        "Board",
        "Players",
        "Games",
        "Turns",
        "5-95%",
        "Last pagoda%",
        "by other%",
        "No tiles%",
        "No space%",
        "Forfeit%",
    )
    shares = ("last_pagoda", "by_other", "no_tiles", "no_space", "forfeit")
    rows = [
        (
            row["board"],
            str(row["players"]),
            str(row["games"]),
            number(row["turns"], 0),
            f"{row['turns_low']:.0f}-{row['turns_high']:.0f}",
            *(number(100 * row[name], 1) for name in shares),
        )
        for row in endings.to_dict("records")
    ]
    return f"How games end\n{columns_text(heads, rows, left=('Board',))}"


def _voids_text(voids: pd.DataFrame) -> str:
    heads = ("Bot", "Voids", "Share%", "To move", "Behind", "Known", "p")
    rows = [
        (
            row["bot"],
            str(row["voids"]),
            number(100 * row["share"], 1),
            str(row["to_move"]),
            str(row["behind"]),
            str(row["known"]),
            number(row["p"], 4),
        )
        for row in voids.to_dict("records")
    ]
    title = (
        f"Void games: {voids['of'].iloc[0]} broke off; Share% is of finished games, p how likely"
        " chance alone is"
    )
    return "\n".join(
        [
            title,
            columns_text(heads, rows, left=("Bot",)),
            *(f"note: {note}" for note in void_notes(voids)),
        ]
    )


def _times_text(times: pd.DataFrame) -> str:
    heads = ("Bot", "Games", "Moves", "ms/move", "ms/game", "Slowest ms", "In game")
    rows = [
        (
            row["bot"],
            str(row["games"]),
            str(row["moves"]),
            number(row["move_ms"], 1),
            number(row["game_ms"], 1),
            number(row["slowest_ms"], 1),
            row["slowest_game"] or MISSING,
        )
        for row in times.to_dict("records")
    ]
    return f"Time to think\n{columns_text(heads, rows, left=('Bot', 'In game'))}"


def _machines_text(machines: pd.DataFrame) -> str:
    heads = ("Machine", "Speed/s", "Games", "Faults", "ms/move")
    rows = [
        (
            row["host"],
            MISSING if pd.isna(row["speed"]) else str(row["speed"]),
            str(row["games"]),
            str(row["faults"]),
            number(row["move_ms"], 1),
        )
        for row in machines.to_dict("records")
    ]
    return f"Where games were played\n{columns_text(heads, rows, left=('Machine',))}"


def _hands_text(hands: pd.DataFrame, run: str) -> str:
    """The hands, with the command to replay each."""
    title = "Hands with which others did better than expected, with the same tiles in the same seat"
    heads = ("Bot", "Deal", "Seat", "Share", "Exp.", "Others", "Exp.", "Swing", "Left", "Others'")
    rows = [
        (row["bot"], _deal_of(row["game"]), str(row["seat"]), *_figures(row))
        for row in hands.to_dict("records")
    ]
    if not rows:
        return f"{title}: none, because no two bots held the same hand"
    lines = [title, columns_text(heads, rows, left=("Bot", "Deal"))]
    lines.append("to replay each, and then the best game of the others:")
    for row in hands.to_dict("records"):
        lines += [
            f"  arena replay {shlex.quote(run)} {row['game']}",
            f"  arena replay {shlex.quote(run)} {row['other_game']}",
        ]
    return "\n".join(lines)


def _figures(row: dict[Any, Any]) -> list[str]:
    shares = [
        number(row[name], 2)
        for name in ("share", "expected", "other_share", "other_expected", "swing")
    ]
    return [*shares, number(row["left"], 1), number(row["other_left"], 1)]


def _deal_of(game: str) -> str:
    parts = game.split("/")
    return "/".join(parts[place] for place in (0, -2)) if len(parts) > 1 else game
