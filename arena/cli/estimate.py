"""How long a run will take: a bound by its limits of time before it begins, then by how its first games went."""

from arena.tournament.config import RunConfig

LONG_S = 60
"""A shorter run needs no announcement."""
LEARN_S = 5
"""The first games of a run, bots starting up and all, tell something after so long."""
TURNS = 44
"""Placements in a game, about: 41 in the mean between good bots, a few more with three and four of them."""


def longest_s(config: RunConfig, games: int, places: int, processes: int) -> float:
    """How long so many games take, so many at once, when every bot uses all its time but the built-in ones, which are not ``processes``."""
    turns = TURNS / config.players
    seat_ms = turns * config.move_ms
    if config.game_ms is not None:
        seat_ms = min(seat_ms, config.game_ms + turns * config.increment_ms)
    return games * config.players * seat_ms / 1000 * processes / len(config.bots) / min(places, max(games, 1))


def left_s(played: int, elapsed_s: float, to_go: int, places: int) -> float | None:
    """How long the rest takes at the pace so far; None while that tells too little."""
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
