"""An analysis of a run as text and as JSON."""

import math
import shlex
from collections.abc import Iterator
from typing import Any

import pandas as pd

from arena.exports.files import table_rows
from arena.exports.text import number, pairs_text, seats_text, table_text
from arena.ratings.analysis import Analysis
from arena.ratings.columns import Column
from arena.ratings.company import Company
from arena.ratings.goodness import Goodness
from arena.ratings.voids import void_notes
from arena.records.record import DUEL

QUESTION = "Does one rating for each bot explain the results?"
LEVEL = 0.05
SHOWN_PAIRS = 5
SHOWN_TESTS = 10
SMALLEST = 0.001
BOT = Column("bot", "Bot", style="name")
GAMES = Column("games", "Games")
FIT = (
    BOT,
    Column("opponent", "Opponent", style="name"),
    GAMES,
    Column("lead", "Lead", 3, spare=2),
    Column("expected", "Expected", 3),
    Column("t", "t", 2),
    Column("p", "p", 4),
    Column("p_all", "p all", 4, spare=1),
)
COMPANY = (
    BOT,
    Column("opponent", "Opponent", style="name"),
    Column("third", "Third", style="name"),
    Column("elo_with", "With", 0),
    Column("error_with", "+/-", 0),
    Column("elo_without", "w/o", 0),
    Column("error_without", "+/-", 0),
)
ENDINGS = (
    Column("board", "Board", style="name"),
    Column("players", "Players"),
    GAMES,
    Column("turns", "Turns", 0, spare=3),
    Column(
        "range", "5-95%", of=lambda row: f"{row['turns_low']:.0f}-{row['turns_high']:.0f}", spare=1
    ),
    Column("last_pagoda", "Pagoda%", 1),
    Column("by_other", "Other%", 1, spare=2),
    Column("no_tiles", "Tiles%", 1),
    Column("no_space", "Space%", 1),
    Column("forfeit", "Forfeit%", 1),
)
MET_AGAIN = (
    BOT,
    Column("gain", "Win% more", of=lambda row: f"{100 * row['gain']:+.1f}"),
    Column("error", "+/-", of=lambda row: f"{100 * row['error']:.1f}"),
    Column("p_all", "p all", 4),
    Column("deals", "Deals", spare=1),
    GAMES,
)
ENDINGS_TOLD = """\
Pagoda%: somebody placed the last pagoda, Other%: of these on a rival's turn,
Tiles% and Space%: there were no more tiles, or no place for one"""
VOIDS = (
    BOT,
    Column("voids", "Voids"),
    Column("share", "Share%", 1),
    Column("to_move", "To move"),
    Column("behind", "Behind", spare=2),
    Column("known", "Known", spare=1),
    Column("p", "p", 4),
)
TIMES = (
    BOT,
    GAMES,
    Column("moves", "Moves"),
    Column("move_ms", "ms/move", 1),
    Column("game_ms", "ms/game", 1),
    Column("slowest_ms", "Slowest ms", 1),
)
TEMPO = (
    BOT,
    Column("answers", "Answers", spare=3),
    Column("early_ms", "Early ms", 1),
    Column("middle_ms", "Middle", 1),
    Column("late_ms", "Late", 1),
    Column("median_ms", "Median", 1, spare=1),
    Column("p95_ms", "95th", 1, spare=2),
    Column("slowest_share", "Slowest%", 1),
    Column("near", "Near%", 1),
)
EXPECTED = (
    Column("notes", "Values"),
    Column("deals", "Deals", spare=2),
    Column("value", "Expected%", 1),
    Column("won", "Won%", 1),
    Column("gap", "Gap", of=lambda row: f"{100 * row['gap']:+.1f}"),
    Column("error", "+/-", of=lambda row: number(100 * row["error"], 1)),
)
CALIBRATION = (
    BOT,
    *EXPECTED,
    Column("brier", "Brier", 3),
    Column("brier_flat", "Flat", 3, spare=1),
)
BINS = (
    Column("low", "Value", of=lambda row: f"{row['low']:.1f}-{row['low'] + 0.1:.1f}"),
    *EXPECTED,
)
MACHINES = (
    Column("host", "Machine", style="name"),
    Column("known", "Speed/s", of=lambda row: "" if pd.isna(row["speed"]) else row["speed"]),
    GAMES,
    Column("faults", "Faults"),
    Column("move_ms", "ms/move", 1),
)
HANDS = (
    BOT,
    Column("deal", "Deal", of=lambda row: _deal_of(row["game"]), style="name"),
    Column("seat", "Seat"),
    Column("share", "Share", 2),
    Column("expected", "Exp.", 2, spare=3),
    Column("other_share", "Others", 2),
    Column("other_expected", "Exp.", 2, spare=3),
    Column("swing", "Swing", 2),
    Column("left", "Left", 1, spare=2),
    Column("other_left", "Others'", 1, spare=1),
)


CONTENT = (
    "cycles", "seats", "met_again", "times", "tempo", "calibration", "endings", "machines", "voids",
    "opponents", "hands",
)  # fmt: skip


def analysis_object(analysis: Analysis) -> dict[str, Any]:
    """The whole analysis for JSON; None for unknown values."""
    tables = {name: getattr(analysis, name) for name in CONTENT}
    return {
        "games": analysis.games,
        "deals": analysis.deals,
        "notes": analysis.notes,
        "fit": [_fit_object(test) for test in analysis.fits],
        "company": _company_object(analysis.company),
        **{name: table_rows(table) for name, table in tables.items() if table is not None},
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


def analysis_text(analysis: Analysis, run: str, width: int | None = None) -> str:
    """An analysis as text for a terminal of this width; ``run`` is the user's name for the run."""
    parts = [f"note: {note}" for note in analysis.notes]
    parts += [part for test in analysis.fits for part in _fit_parts(test, width)]
    if not analysis.fits:
        parts.append(f"{QUESTION} No bot has a rating.")
    parts += [
        *_company_parts(analysis.company, width),
        _cycles_text(analysis),
        f"Seats\n{seats_text(analysis.seats, width)}",
        *_met_again(analysis.met_again, width),
        endings_text(analysis.endings, width),
        _times_text(analysis.times, width),
        *_tempo(analysis.tempo, width),
        *_calibration(analysis.calibration, analysis.opponents is not None, width),
    ]
    if len(analysis.machines) > 1:
        parts.append(
            f"Where games were played\n{table_text(MACHINES, analysis.machines, width=width)}"
        )
    if len(analysis.voids):
        parts.append(_voids_text(analysis.voids, width))
    if analysis.opponents is not None:
        parts.append(f"Opponents\n{pairs_text(analysis.opponents, width=width)}")
    return "\n\n".join([*parts, _hands_text(analysis.hands, run, width)])


def endings_text(endings: pd.DataFrame, width: int | None) -> str:
    """How games end."""
    return f"How games end\n{table_text(ENDINGS, endings, width=width)}\n{ENDINGS_TOLD}"


def _company_object(found: Company) -> dict[str, Any]:
    beyond = table_rows(found.table)
    return {"tests": found.tests, "p_all": found.least, "beyond_error": beyond}


def _company_parts(found: Company, width: int | None) -> Iterator[str]:
    """Whether a third bot at the table matters, at tables of three and four."""
    if not found.tests:
        return
    title = "Does it matter who else sits at the table?"
    tested = f"{found.tests} tests of a pair with a third bot"
    if found.all_bots > found.bots:
        tested += f"; only pairs of the {found.bots} best bots are tested"
    if found.table.empty:
        yield f"{title} No evidence for it: {_p(found.least)} ({tested})"
        return
    shown = found.largest.head(SHOWN_TESTS)
    more = f", of which {len(shown)} are shown" if len(found.table) > len(shown) else ""
    told = (
        "The bot's Elo minus the opponent's, by the games with the third bot at the table and by"
        " those without it (w/o)."
        "\n'--without BOT' leaves out all games with a bot."
    )
    yes = f"{title} Yes: {len(found.table)} beyond error{more} ({tested})"
    yield "\n".join([yes, table_text(COMPANY, shown, width=width), told])


def _met_again(reunions: pd.DataFrame, width: int | None = None) -> list[str]:
    """A section on bots that do better or worse on deals that they met before; none if it may be
    chance.
    """
    sure = reunions[reunions["p_all"] < LEVEL].sort_values("gain", ascending=False)
    if sure.empty:
        return []
    told = (
        "A bot that does better on deals that it met before may remember them, or be told of them."
        "\nIts rivals then do worse. 'arena run --seatings single' gives every game its own deck."
    )
    return [f"Deals met again\n{table_text(MET_AGAIN, sure, width=width)}\n{told}"]


def _times_text(times: pd.DataFrame, width: int | None) -> str:
    """How long bots think, and the game in which each took longest."""
    slowest = [f"  {row['bot']}: {row['slowest_game']}" for row in times.to_dict("records")]
    table = table_text(TIMES, times, width=width)
    return "\n".join(["Time to think", table, "the slowest answer was given in", *slowest])


def _tempo(tempo: pd.DataFrame, width: int | None) -> list[str]:
    """A section on the times of moves, if records have them."""
    if tempo.empty:
        return []
    title = (
        "Time of a move, by third of the bot's moves in a game; Slowest% is the share of the limit"
        " that the slowest took, Near% the share of moves that took more than 80 % of it"
    )
    return [f"{title}\n{table_text(TEMPO, tempo, width=width)}"]


def _calibration(
    expected: pd.DataFrame,
    has_one_bot: bool,  # noqa: FBT001
    width: int | None,
) -> list[str]:
    """A section on what bots expected, if any said so; for one bot also by what it expected."""
    if expected.empty:
        return []
    title = (
        "Expected and won: the value of each note against the share of the win\n"
        f"{table_text(CALIBRATION, expected, width=width)}\n"
        "Brier: 0 is perfect; Flat is that of always saying what it won on average"
    )
    bins = [table_text(BINS, pd.DataFrame(row), width=width) for row in expected["bins"]]
    return [title, *(f"By value\n{text}" for text in bins if has_one_bot)]


def _fit_parts(test: Goodness, width: int | None) -> Iterator[str]:
    shown = (
        test.pairs[test.pairs["t"].notna()].head(SHOWN_PAIRS)
        if math.isfinite(test.statistic)
        else test.pairs.head(0)
    )
    lines = [f"{QUESTION} {_fit_sentence(test)}"]
    yield "\n".join([*lines, *([table_text(FIT, shown, width=width)] if len(shown) else [])])


def _fit_sentence(test: Goodness) -> str:
    if test.is_open:
        return "We cannot tell while only a prior keeps the ratings finite."
    if not math.isfinite(test.statistic):
        return (
            "With two rated bots, it always does."
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


def _voids_text(voids: pd.DataFrame, width: int | None) -> str:
    title = (
        f"Void games: {voids['of'].iloc[0]} broke off; Share% is of finished games, p how likely"
        " chance alone is"
    )
    notes = [f"note: {note}" for note in void_notes(voids)]
    return "\n".join([title, table_text(VOIDS, voids, width=width), *notes])


def _hands_text(hands: pd.DataFrame, run: str, width: int | None) -> str:
    """The hands, with the command to replay each."""
    title = "Hands with which others did better than expected, with the same tiles in the same seat"
    if hands.empty:
        return f"{title}: none, because no two bots held the same hand"
    lines = [title, table_text(HANDS, hands, width=width)]
    lines.append("to replay each, and then the best game of the others:")
    for row in hands.to_dict("records"):
        lines += [
            f"  arena replay {shlex.quote(run)} {row['game']}",
            f"  arena replay {shlex.quote(run)} {row['other_game']}",
        ]
    return "\n".join(lines)


def _deal_of(game: str) -> str:
    parts = game.split("/")
    return "/".join(parts[place] for place in (0, -2)) if len(parts) > 1 else game
