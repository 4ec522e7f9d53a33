"""Options of bots: what a bot.toml declares, and what ``my-bot:depth=3,c=1.4`` sets."""

import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from arena.errors import BotFolderError, ConfigError, did_you_mean

Value = int | float | bool | str

NAME = re.compile(r"[a-z][a-z0-9_]{0,29}", re.ASCII)
# Whatever stands in a name stands in ids of games, names of files and lists with commas.
CHOICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,29}", re.ASCII)
INT = re.compile(r"-?[0-9]{1,16}", re.ASCII)
FLOAT = re.compile(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", re.ASCII)
BOOLS = {"true": True, "false": False}
KINDS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (float, int),
    "bool": (bool,),
    "choice": (str,),
}
MOST_OPTIONS = 64
MOST_CHOICES = 64
MOST_HELP = 200
MOST_TEXT = 160
"""Signs in the options of one name."""
FARTHEST_INT = 2**53 - 1
"""Beyond it, languages that know no whole numbers would read another one."""
MOST_MS = 86_400_000
MOST_MEMORY_MB = 4096
LEAST_MEMORY_MB = 16


class Option(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An option as a bot.toml declares it; one of `ARENA_OPTIONS` has no ``default``.

    ``min`` and ``max`` belong to numbers, ``choices`` to a choice.
    """

    type: Literal["int", "float", "bool", "choice"]
    default: Value | None = None
    min: int | float | None = None
    max: int | float | None = None
    choices: list[str] = []
    help: str = ""

    @property
    def usual(self) -> Value | None:
        """The default as the bot gets it: a float is one, also where it is written ``1``."""
        default = self.default
        if self.type == "float" and isinstance(default, int) and is_finite(default):
            return float(default)
        return default

    @property
    def wanted(self) -> str:
        """What a value has to be, for people."""
        if self.type == "bool":
            return "true or false"
        if self.type == "choice":
            return f"one of {', '.join(self.choices)}"
        kind = "a whole number" if self.type == "int" else "a number"
        if self.min is not None and self.max is not None:
            return f"{kind} from {self.range}"
        return f"{kind}, {self.range}" if self.range else kind

    @property
    def range(self) -> str:
        """From where to where a number may be, for people; empty if there is no end."""
        low, high = (None if end is None else value_text(end) for end in (self.min, self.max))
        if low is not None and high is not None:
            return f"{low} to {high}"
        if low is not None:
            return f"{low} or more"
        return "" if high is None else f"{high} or less"

    @property
    def ends(self) -> tuple[Value, Value]:
        """The least and the most it may be, as far as there are such, or the first and the last."""
        usual = self.usual
        assert usual is not None, "a bot's option has a default"
        if self.type == "bool":
            return False, True
        if self.type == "choice":
            return self.choices[0], self.choices[-1]
        kind = int if self.type == "int" else float
        low, high = (usual if end is None else kind(end) for end in (self.min, self.max))
        return low, high

    def value_of(self, text: str) -> Value | None:
        """The value that a text stands for; None if it is none of this option's."""
        value: Value | None = None
        if self.type == "bool":
            value = BOOLS.get(text)
        elif self.type == "choice":
            value = text
        elif self.type == "int":
            value = int(text) if INT.fullmatch(text) else None
        elif FLOAT.fullmatch(text):
            value = float(text) + 0.0  # there is one zero
        return None if value is None or not self.allows(value) else value

    def allows(self, value: Value) -> bool:
        """Whether a value of this option's type is one of those it may have."""
        if isinstance(value, str):
            return value in self.choices
        if isinstance(value, bool):
            return True
        if not is_finite(value) or (self.type == "int" and abs(value) > FARTHEST_INT):
            return False
        return (self.min is None or self.min <= value) and (self.max is None or value <= self.max)


def is_finite(number: float) -> bool:
    """Whether it is a number that a float can be; `math.isfinite` fails for larger ints."""
    return abs(number) <= sys.float_info.max


def _whole(low: int, high: int, text: str) -> Option:
    return Option("int", min=low, max=high, help=text)


ARENA_OPTIONS = {
    "move_ms": _whole(1, MOST_MS, "time for a move, in ms"),
    "game_ms": _whole(1, MOST_MS, "time for the whole game, in ms"),
    "increment_ms": _whole(0, MOST_MS, "time added to game_ms after each move, in ms"),
    "memory_mb": _whole(LEAST_MEMORY_MB, MOST_MEMORY_MB, "memory for all its processes, in MB"),
}
"""The options that every bot has. The arena keeps to them; the bot is not told."""


def read_options(declared: Any, where: str) -> dict[str, Option]:
    """The ``[options]`` of a bot.toml. Raises BotFolderError that names the option."""
    if not isinstance(declared, dict):
        raise BotFolderError(
            f"{where}: expected a table [options], got {declared!r:.80}",
            'for example\n[options]\ndepth = {type = "int", default = 3, min = 1, max = 9}',
        )
    if len(declared) > MOST_OPTIONS:
        raise BotFolderError(
            f"{where}: expected at most {MOST_OPTIONS} options, got {len(declared)}"
        )
    return {name: _read_option(name, told, where) for name, told in declared.items()}


def _read_option(name: str, told: Any, where: str) -> Option:
    if not NAME.fullmatch(name):
        raise BotFolderError(
            f"{where}: expected names of options of up to 30 small letters, digits and '_', got"
            f" {name[:80]!r}"
        )
    if name in ARENA_OPTIONS:
        raise BotFolderError(
            f"{where}: expected another name than {name} for an option",
            f"every bot has {', '.join(ARENA_OPTIONS)}: leave it out",
        )
    try:
        option = msgspec.convert(told, type=Option)
    except (msgspec.ValidationError, RecursionError) as error:
        raise BotFolderError(
            f"{where}: option {name}: {error}",
            f'for example\n{name} = {{type = "int", default = 3, min = 1, max = 9, help = "..."}}',
        ) from None
    wrong = _what_is_wrong(option)
    if wrong:
        raise BotFolderError(f"{where}: option {name}: {wrong}")
    return option


def _what_is_wrong(option: Option) -> str:
    """What is wrong with an option, or an empty text."""
    if len(option.help) > MOST_HELP:
        return f"expected a help of at most {MOST_HELP} signs, got {len(option.help)}"
    return _wrong_choices(option) or _wrong_range(option) or _wrong_default(option)


def _wrong_choices(option: Option) -> str:
    choices = option.choices
    if option.type != "choice":
        return f"expected no choices with type {option.type}" if choices else ""
    if not 0 < len(choices) <= MOST_CHOICES:
        return f'expected choices = ["...", "..."], 1 to {MOST_CHOICES}, got {len(choices)}'
    if len(set(choices)) < len(choices):
        return "expected each choice once"
    unfit = next((choice for choice in choices if not CHOICE.fullmatch(choice)), None)
    return (
        ""
        if unfit is None
        else f"expected choices of up to 30 letters, digits, '-', '_' and '.', got {unfit[:80]!r}"
    )


def _wrong_range(option: Option) -> str:
    ends = {"min": option.min, "max": option.max}
    for key, end in ends.items():
        if end is None:
            continue
        if option.type in ("bool", "choice"):
            return f"expected no {key} with type {option.type}"
        is_whole = isinstance(end, int) and abs(end) <= FARTHEST_INT
        if not (is_whole if option.type == "int" else is_finite(end)):
            return f"expected {_a(option.type)} as {key}, got {end!r:.80}"
    if option.min is not None and option.max is not None and option.min > option.max:
        return f"expected min up to max, got {option.min} and {option.max}"
    return ""


def _wrong_default(option: Option) -> str:
    default = option.usual
    if default is None:
        return "expected a default"
    is_kind = isinstance(default, KINDS[option.type])
    if not is_kind or (isinstance(default, bool) and option.type != "bool"):
        return f"expected {_a(option.type)} as default, got {default!r:.80}"
    if not option.allows(default):
        return f"expected as default {option.wanted}, got {default!r:.80}"
    return ""


def _a(kind: str) -> str:
    return {"int": "a whole number", "float": "a number", "bool": "true or false"}.get(
        kind, "one of the choices"
    )


def split_options(text: str) -> tuple[str, str | None]:
    """``my-bot:depth=3`` as the name or path of a bot and the text of its options; None if it has
    no ``:``.
    """
    folder, slash, last = text.rpartition("/")
    name, colon, options = last.partition(":")
    return f"{folder}{slash}{name}", options if colon else None


def split_bots(text: str) -> list[str]:
    """Names of bots separated by commas, which separate their options too: what follows a comma and
    has a ``=`` is a further option.
    """
    names: list[str] = []
    for part in map(str.strip, text.split(",")):
        name, equals, _ = part.partition("=")
        if names and equals and ":" in names[-1] and NAME.fullmatch(name):
            names[-1] += f",{part}"
        elif part:
            names.append(part)
    return names


def read_settings(text: str, declared: Mapping[str, Option], bot: str) -> dict[str, Value]:
    """What ``depth=3,c=1.4`` sets: options in the manifest's order, then the arena's; those that
    have their default are left out. Raises ConfigError.
    """
    if len(text) > MOST_TEXT:
        raise ConfigError(
            f"{bot}: expected options of at most {MOST_TEXT} signs, got {len(text)}",
            "leave out those that have their default",
        )
    said: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = (word.strip() for word in part.partition("="))
        if not equals or not name:
            raise ConfigError(
                f"{bot}: expected options such as {_example(declared)}, got {part!r:.80}",
                _listed(declared, bot),
            )
        if name in said:
            raise ConfigError(f"{bot}: expected each option once, got {name} twice")
        said[name] = value
    return chosen(said, declared, bot)


def chosen(said: Mapping[str, str], declared: Mapping[str, Option], bot: str) -> dict[str, Value]:
    """The values that these texts stand for, as in `read_settings`. Raises ConfigError."""
    known = {**declared, **ARENA_OPTIONS}
    for name in said:
        if name not in known:
            raise ConfigError(
                f"{bot}: expected one of its options, got {name!r:.80}",
                f"{did_you_mean(name, known)}{_listed(declared, bot)}",
            )
    settings: dict[str, Value] = {}
    for name, option in known.items():
        if name in said:
            value = option.value_of(said[name])
            if value is None:
                raise ConfigError(
                    f"{bot}: expected {name} to be {option.wanted}, got {said[name]!r:.200}",
                    option.help,
                )
            if value != option.usual:
                settings[name] = value
    return settings


def _example(declared: Mapping[str, Option]) -> str:
    name = next((name for name, option in declared.items() if option.type != "bool"), "move_ms")
    usual = declared[name].usual if name in declared else 50
    return f"{name}={'' if usual is None else value_text(usual)}"


def _listed(declared: Mapping[str, Option], bot: str) -> str:
    """Which options the bot has, in a hint."""
    arena = ", ".join(ARENA_OPTIONS)
    if not declared:
        return f"{bot} declares none in its bot.toml; every bot has {arena}"
    return f"{bot} has {', '.join(declared)}; every bot has {arena}"


def resolved(declared: Mapping[str, Option], settings: Mapping[str, Value]) -> dict[str, Value]:
    """The value of each declared option: as set, else its default."""
    defaults = {name: option.usual for name, option in declared.items()}
    return {
        name: settings.get(name, usual) for name, usual in defaults.items() if usual is not None
    }


def settings_text(settings: Mapping[str, Value]) -> str:
    """The settings as they stand in a bot's name: ``depth=3,c=1.4``."""
    return ",".join(f"{name}={value_text(value)}" for name, value in settings.items())


def value_text(value: Value) -> str:
    """A value in its shortest form, without a ``+``, which joins names in the ids of games."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, float):
        return str(value)
    digits, exponent_sign, exponent = repr(value).removesuffix(".0").partition("e")
    return f"{digits}e{int(exponent)}" if exponent_sign else digits


def nearest_label(text: str, labels: Iterable[str]) -> str:
    """The label of those that says the same as a text, if its options stand in another order or
    form; else the text.
    """
    labels = list(labels)
    if text in labels:
        return text
    wanted = _parts(text)
    return next((label for label in labels if _parts(label) == wanted), text)


def _parts(label: str) -> tuple[str, frozenset[tuple[str, str | float]]]:
    name, options = split_options(label)
    pairs = [part.strip().partition("=") for part in (options or "").split(",") if part.strip()]
    return name, frozenset((key, _number(value)) for key, _, value in pairs)


def _number(text: str) -> str | float:
    return float(text) if FLOAT.fullmatch(text) else text
