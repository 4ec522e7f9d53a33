"""The options of a bot that a search tunes, and the ranges it searches."""

from collections.abc import Iterable, Mapping
from math import floor, log10
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta, Struct

from arena.errors import ConfigError, did_you_mean
from arena.players.options import ARENA_OPTIONS, NAME, Option, Value, value_text

RESOLUTION = 3
"""A float is played in steps of this many digits of its range."""
Finite = Annotated[float, Meta(ge=-1e15, le=1e15)]


class Parameter(Struct, frozen=True, forbid_unknown_fields=True):
    """An option that is tuned between ``low`` and ``high``, and the value it starts at."""

    name: Annotated[str, Meta(pattern=f"^{NAME.pattern}$")]
    type: Literal["int", "float"]
    low: Finite
    high: Finite
    start: Finite

    @property
    def width(self) -> float:
        """From one end of the range to the other."""
        return self.high - self.low

    def unit(self, value: float) -> float:
        """A value on the scale from 0 to 1."""
        return (value - self.low) / self.width

    def nearest(self, unit: float, lot: float = 0.5) -> float:
        """The value to play at a place of the scale. A place between two integers is one or the
        other, by a ``lot`` from 0 to 1; one half is ordinary rounding.
        """
        exact = min(max(self.low + unit * self.width, self.low), self.high)
        if self.type == "int":
            return float(min(max(floor(exact + lot), self.low), self.high))
        return min(max(round(exact, RESOLUTION - floor(log10(self.width))), self.low), self.high)

    def value(self, number: float) -> Value:
        """A number as the bot gets it."""
        return int(number) if self.type == "int" else number

    def text(self, number: float) -> str:
        """A number as it is written in the name of a bot."""
        return value_text(self.value(number))


class Wanted(NamedTuple):
    """An option that is to be tuned, in a range if one was named."""

    name: str
    range: tuple[float, float] | None = None


def wanted(text: str) -> Wanted:
    """What ``depth`` or ``c=0.5..3`` asks for. Raises ConfigError."""
    name, equals, span = text.partition("=")
    ends = [_number(end) for end in span.split("..")] if equals else []
    if not name or None in ends or len(ends) not in (0, 2):
        raise ConfigError(
            f"expected the name of an option, with or without a range, got {text!r}",
            "for example --param depth,c=0.5..3",
        )
    low, high = (end or 0.0 for end in ends or (0.0, 0.0))
    return Wanted(name, (low, high) if equals else None)


def _number(text: str) -> float | None:
    value = Option("float").value_of(text.strip())
    return value if isinstance(value, float) else None


def parameters_of(
    asked: Iterable[Wanted], declared: Mapping[str, Option], now: Mapping[str, Value], bot: str
) -> list[Parameter]:
    """The parameters of a search; ``now`` has the bot's values. Raises ConfigError."""
    asked = list(asked)
    names = [one.name for one in asked]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ConfigError(f"expected each option once, got {twice} twice")
    return [_parameter(one, declared, now, bot) for one in asked]


def _parameter(
    asked: Wanted, declared: Mapping[str, Option], now: Mapping[str, Value], bot: str
) -> Parameter:
    option, name = declared.get(asked.name), asked.name
    if option is None:
        raise _unknown(name, declared, bot)
    if option.type not in ("int", "float"):
        values = (option.choices or ["true", "false"])[:2]
        raise ConfigError(
            f"expected options that are numbers, got {name}, which is {option.wanted}",
            "such an option has no direction to search in: compare its values, as in 'arena"
            f" compare {bot}:{name}={values[0]} {bot}:{name}={values[-1]}'",
        )
    low, high = asked.range or (option.min, option.max)
    if low is None or high is None:
        raise ConfigError(
            f"expected a range for {name}, which has no min and max in the bot.toml of {bot}",
            f"name one, as in --param {name}=1..10, or add min and max",
        )
    for end in (low, high):
        whole = float(end).is_integer() or option.type == "float"
        if not whole or not option.allows(int(end) if option.type == "int" else end):
            raise ConfigError(
                f"expected the range of {name} in what it may be, {option.wanted}, got"
                f" {low:g} to {high:g}"
            )
    start = float(now[name])
    return Parameter(name, option.type, float(low), float(high), start)


def _unknown(name: str, declared: Mapping[str, Option], bot: str) -> ConfigError:
    if not declared:
        return ConfigError(
            f"expected a bot with options to tune, got {bot}, which declares none",
            "declare them in its bot.toml, for example\n[options]\n"
            'c = {type = "float", default = 1.4, min = 0.1, max = 4}',
        )
    if name in ARENA_OPTIONS:
        return ConfigError(
            f"expected an option of {bot}'s own, got {name}, which the arena keeps",
            f"{bot} has {', '.join(declared)}",
        )
    return ConfigError(
        f"expected one of the options of {bot}, got {name!r}",
        f"{did_you_mean(name, declared)}{bot} has {', '.join(declared)}",
    )
