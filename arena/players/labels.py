"""Labels: the names of bots in runs, such as ``my-bot@2:depth=3,move_ms=50``. A label is the name
in the registry, then ``@`` and a version for an old one, then ``:`` and options.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec.structs import replace

from arena.errors import ConfigError, UserError, did_you_mean
from arena.players.manifest import ARENA_OPTIONS, FLOAT, Option
from arena.records.timing import Timing
from arena.values import OPTION_NAME, Value, value_text

COPY = re.compile(r"@(?:.*-)?copy[0-9]+$")
"""The end of the name of a copy of a bot, see `copy_name`."""
MAX_TEXT = 160
"""The most characters of the options in one label."""
LABELS_KEPT = 1024
"""The number of labels for which `odds_of` remembers its answer."""


def copy_name(base: str, number: int) -> str:
    """The name, without options, of the copy with this ``number`` of the bot called ``base``, such
    as ``my-bot@copy2``. No version of a bot has such a name.
    """
    sign = "-" if "@" in base else "@"
    return f"{base}{sign}copy{number}"


def is_copy(label: str) -> bool:
    """Whether a bot with this label is a copy that the arena made of another bot, see
    `copy_name`.
    """
    return COPY.search(label.partition(":")[0]) is not None


def split_options(text: str) -> tuple[str, str | None]:
    """Splits a name or path such as ``my-bot:depth=3`` at the ``:`` before its options. The text of
    the options is None if there is no ``:``.
    """
    folder, slash, last = text.rpartition("/")
    name, colon, options = last.partition(":")
    return f"{folder}{slash}{name}", options if colon else None


def split_bots(text: str) -> list[str]:
    """Splits ``text``, names of bots with or without options, at commas. Commas also separate the
    options of one bot: a part with ``=`` belongs to the name before it, if that has options
    already.
    """
    names: list[str] = []
    for part in map(str.strip, text.split(",")):
        name, equals, _ = part.partition("=")
        if names and equals and ":" in names[-1] and OPTION_NAME.fullmatch(name):
            names[-1] += f",{part}"
        elif part:
            names.append(part)
    return names


def read_settings(text: str, declared: Mapping[str, Option], bot: str) -> dict[str, Value]:
    """The settings in a text such as ``depth=3,c=1.4``, without those that equal their default:
    first the ``declared`` options of the bot, then those of every bot, each in their order. ``bot``
    is the bot's name, for messages. Raises ConfigError.
    """
    if len(text) > MAX_TEXT:
        raise ConfigError(
            f"{bot}: expected options of at most {MAX_TEXT} characters, got {len(text)}",
            "leave out those that have their default",
        )
    texts: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = map(str.strip, part.partition("="))
        if not equals or not name:
            example = next((each for each in declared if declared[each].type != "bool"), "move_ms")
            usual = (declared[example].usual if example in declared else None) or 50
            raise ConfigError(
                f"{bot}: expected options such as {example}={value_text(usual)}, got {part!r:.80}",
                _listed(declared, bot),
            )
        if name in texts:
            raise ConfigError(f"{bot}: expected each option once, got {name} twice")
        texts[name] = value
    return settings_of(texts, declared, bot)


def settings_of(
    texts: Mapping[str, str], declared: Mapping[str, Option], bot: str
) -> dict[str, Value]:
    """The values that ``texts`` stand for, by the names of the options: like `read_settings`, for
    options that are apart already. ``declared`` are the options that exist; ``bot`` is the bot's
    label, for messages. Raises ConfigError.
    """
    known = {**declared, **ARENA_OPTIONS}
    for name in texts:
        if name not in known:
            raise ConfigError(
                f"{bot}: expected one of its options, got {name!r:.80}",
                f"{did_you_mean(name, known)}{_listed(declared, bot)}",
            )
    settings: dict[str, Value] = {}
    for name, option in known.items():
        value = option.value_of(texts[name]) if name in texts else option.usual
        if value is None and name in texts:
            wrong = f"{bot}: expected {name} to be {option.wanted}, got {texts[name]!r:.200}"
            raise ConfigError(wrong, option.help)
        if value is not None and value != option.usual:
            settings[name] = value
    return settings


def _listed(declared: Mapping[str, Option], bot: str) -> str:
    """A hint that names the options of a bot."""
    declares = f"has {', '.join(declared)}" if declared else "declares none in its bot.toml"
    return f"{bot} {declares}; every bot has {', '.join(ARENA_OPTIONS)}"


def settings_text(settings: Mapping[str, Value]) -> str:
    """The settings as they stand in a label: ``depth=3,c=1.4``."""
    return ",".join(f"{name}={value_text(value)}" for name, value in settings.items())


def nearest_label(text: str, labels: Iterable[str]) -> str:
    """The label that names the same bot with the same options as the text, in which options may
    have any order and form; the text itself if there is none.
    """
    labels = list(labels)
    if text in labels:
        return text
    wanted = _parts(text)
    return next((label for label in labels if _parts(label) == wanted), text)


def label_among(labels: Sequence[str], text: str) -> str:
    """The label of a run's bot that a text names, see `nearest_label`. Raises UserError if the run
    has no such bot.
    """
    label = nearest_label(text, labels)
    if label not in labels:
        known = f"{did_you_mean(text, labels)}there are {', '.join(labels)}"
        raise UserError(f"expected a bot of the run, got {text!r}", known)
    return label


def _parts(label: str) -> tuple[str, frozenset[tuple[str, str | float]]]:
    """The name of a bot and its options, in a form in which equal options are equal."""
    name, options = split_options(label)
    settings = set[tuple[str, float | str]]()
    for part in (options or "").split(","):
        if part.strip():
            key, _, value = part.strip().partition("=")
            settings.add((key, float(value) if FLOAT.fullmatch(value) else value))
    return name, frozenset(settings)


class Odds(NamedTuple):
    """The limits that a label sets, in ms and MB; None where the run or bot.toml decides."""

    move_ms: int | None = None
    game_ms: int | None = None
    increment_ms: int | None = None
    memory_mb: int | None = None


@lru_cache(maxsize=LABELS_KEPT)
def odds_of(label: str) -> Odds:
    """The limits that a label sets. Raises ConfigError if the text of a limit is no value that it
    may have, which a run.json from elsewhere may contain.
    """
    limits: dict[str, int] = {}
    options = label.partition(":")[2]
    for part in options.split(","):
        key, _, text = part.partition("=")
        if key not in ARENA_OPTIONS:
            continue
        value = ARENA_OPTIONS[key].value_of(text)
        if not isinstance(value, int):
            wanted = ARENA_OPTIONS[key].wanted
            raise ConfigError(f"{label}: expected {key} to be {wanted}, got {text!r}")
        limits[key] = value
    return Odds(**limits)


def has_odds(label: str) -> bool:
    """Whether a label sets a limit. Raises ConfigError, as `odds_of` does."""
    return odds_of(label) != Odds()


def timing_for(label: str, timing: Timing) -> Timing:
    """The time control of the bot with this label in a game with this ``timing``, some of whose
    limits the label may replace. Raises ConfigError, also for an increment without a bank.
    """
    odds = odds_of(label)
    limits = {"move_ms": odds.move_ms, "game_ms": odds.game_ms, "increment_ms": odds.increment_ms}
    given = {name: ms for name, ms in limits.items() if ms is not None}
    own = replace(timing, **given)
    if odds.increment_ms and own.game_ms is None:
        raise ConfigError(
            f"{label}: expected game_ms with increment_ms: an increment is added to a bank",
            "name its bank too, as in 'my-bot:game_ms=5000,increment_ms=100', or give all bots"
            " one with --game-ms",
        )
    return own
