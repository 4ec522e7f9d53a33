"""Odds: the limits of its own that a bot's label names, as in ``strong:move_ms=50``."""

from functools import lru_cache
from typing import NamedTuple

from arena.errors import ConfigError
from arena.players.options import ARENA_OPTIONS

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
    return Odds(**{key: _limit(label, key, text) for key, _, text in pairs if key in ARENA_OPTIONS})


def has_odds(label: str) -> bool:
    """Whether a label names limits of its own. Raises ConfigError, as `odds_of` does."""
    return any(limit is not None for limit in odds_of(label))


def _limit(label: str, key: str, text: str) -> int:
    option = ARENA_OPTIONS[key]
    value = option.value_of(text)
    if not isinstance(value, int):
        raise ConfigError(f"{label}: expected {key} to be {option.wanted}, got {text!r}")
    return value
