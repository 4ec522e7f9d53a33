"""How long a run will take: by how its first games went, or, where these take long themselves, by
its limits of time.

Before the first games nothing is said: most bots use a hundredth of their time, and the limits
alone made 15 minutes of 30 seconds.
"""

from statistics import fmean

from arena.match.clock import Timing
from arena.tournament.config import RunConfig

LONG_S = 60
"""A shorter run is not announced."""
LEARN_S = 5
"""The first games of a run, with the start of the bots, say something about the rest after this
many seconds.
"""
SLOW_S = 15
"""If the first games have said nothing after this many seconds, the time limits are better than
nothing.
"""
TURNS = 44
"""Placements in a game, roughly: good bots take 41 on average, a few more with three or four
players.
"""


def longest_s(config: RunConfig, games: int, places: int, processes: int) -> float:
    """How long the games take, ``places`` at once, if every bot that is one of the ``processes``
    uses all its time.
    """
    turns = TURNS / config.players
    seat_ms = fmean(_longest_ms(config.timing.of(label), turns) for label in config.bots)
    return (
        games
        * config.players
        * seat_ms
        / 1000
        * processes
        / len(config.bots)
        / min(places, max(games, 1))
    )


def _longest_ms(timing: Timing, turns: float) -> float:
    """How long a seat may think in a game of so many turns of its own."""
    by_move = turns * timing.move_ms
    if timing.game_ms is None:
        return by_move
    return min(by_move, timing.game_ms + turns * timing.increment_ms)


def left_s(played: int, elapsed_s: float, to_go: int, places: int) -> float | None:
    """How long the rest takes at the pace so far, or None while it is too early to say."""
    if elapsed_s < LEARN_S or played < 2 * places:
        return None
    return elapsed_s / played * to_go


def duration_text(seconds: float) -> str:
    """To about two digits: ``3 min``, ``2 h 20 min``, ``14 h``, ``3 days``."""
    minutes = max(1, round(seconds / 60))
    if minutes < 60:  # noqa: PLR2004 - an hour
        return f"{minutes} min"
    hours, rest = divmod(round(minutes, -1), 60)
    if hours < 10:  # noqa: PLR2004 - minutes still matter
        return f"{hours} h {rest} min" if rest else f"{hours} h"
    return f"{round(minutes / 60)} h" if minutes < 48 * 60 else f"{round(minutes / 1440)} days"
