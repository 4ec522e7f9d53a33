"""Odds: the limits of its own that a bot's label names, as in ``strong:move_ms=50``."""

from functools import lru_cache
from typing import NamedTuple

from arena.errors import ConfigError
from arena.players.manifest import LEAST_MEMORY_MB, MOST_MEMORY_MB

MAX_MS = 86_400_000
LIMITS = {
    "move_ms": (1, MAX_MS),
    "game_ms": (1, MAX_MS),
    "increment_ms": (0, MAX_MS),
    "memory_mb": (LEAST_MEMORY_MB, MOST_MEMORY_MB),
}
"""The options that every bot has, each with its least and its most. The arena keeps them: no bot
declares them, and none is told of another's.
"""
LABELS = 1024


class Odds(NamedTuple):
    """What a label names; None where the run's limit counts, or for memory that of bot.toml."""

    move_ms: int | None = None
    game_ms: int | None = None
    increment_ms: int | None = None
    memory_mb: int | None = None


@lru_cache(maxsize=LABELS)
def odds_of(label: str) -> Odds:
    """The odds in a label. Raises ConfigError for a value that is no such limit, as a run.json from
    elsewhere may have.
    """
    pairs = (part.partition("=") for part in label.partition(":")[2].split(","))
    return Odds(**{key: _limit(label, key, text) for key, _, text in pairs if key in LIMITS})


def has_odds(label: str) -> bool:
    """Whether a label names limits of its own. Raises ConfigError, as `odds_of` does."""
    return any(limit is not None for limit in odds_of(label))


def _limit(label: str, key: str, text: str) -> int:
    least, most = LIMITS[key]
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(most))
    if not is_number or not least <= int(text) <= most:
        raise ConfigError(f"{label}: expected {key} from {least} to {most}, got {text!r}")
    return int(text)
