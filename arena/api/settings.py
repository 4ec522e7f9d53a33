"""What programs may set, and the same checked."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypedDict, TypeVar, get_type_hints

import msgspec
from msgspec import Meta

from arena.commands.home import find_home
from arena.errors import ConfigError, did_you_mean
from arena.players.messages import ClockKind
from arena.players.sandbox.tiers import Mode
from arena.ratings.tables import Opinion
from arena.tournament.config import Basis, Milliseconds, Seatings
from arena.tournament.forms import filled
from arena.tournament.request import RunOptions

Form = TypeVar("Form", bound=msgspec.Struct)
Named = str | Path
"""A bot, a run or a file, by name or path."""


class Conditions(TypedDict, total=False):
    """How and where games are played; see ``arena run --help``.

    ``out``        the run's name in results/, or its path; by default the run that this call
                   continues, or a new one
    ``home``       the folder that holds bots/ and results/
    ``jobs``       worker processes on this machine; one for each core
    ``sandbox``    ``"auto"``, ``"require"`` or ``"off"``
    ``trust``      bots that may play without a sandbox where none works
    ``allow``      what a bot may do beyond its sandbox, as in ``"my-bot=network"``
    ``adopt``      continue a run that was made elsewhere
    ``progress``   True shows a bar on stderr
    """

    out: Named
    home: Named
    jobs: int
    sandbox: Mode
    trust: Sequence[str]
    allow: Sequence[str]
    adopt: bool
    progress: bool


class GameSettings(Conditions, total=False):
    """The settings of games, as in ``arena run``; times in ms."""

    players: int
    boards: Sequence[str]
    board_files: Sequence[Named]
    seed: str | int
    move_ms: int
    game_ms: int
    increment_ms: int
    startup_ms: int
    clock: ClockKind


class RunSettings(GameSettings, total=False):
    """The settings of a run, as in ``arena run``; ``keep_stderr`` is True or names of bots."""

    deals: int
    match: Sequence[str]
    seatings: Seatings
    tables: int
    challenger: Named
    until: float
    adaptive: bool
    keep_stderr: bool | Sequence[str]


class ComparisonSettings(GameSettings, total=False):
    """The settings of a comparison, as in ``arena compare``."""

    elo0: float
    elo1: float
    alpha: float
    beta: float
    by: Basis
    pool: Sequence[Named]
    max_blocks: int
    null: bool


class Opponents(msgspec.Struct):
    """The further bots of a comparison."""

    pool: list[str] | None = None


class RatingSettings(msgspec.Struct):
    """How games are rated, as in ``arena standings``."""

    prior: Annotated[float, Meta(gt=0, lt=1e6)] | None
    anchors: dict[str, Annotated[float, Meta(gt=-1e6, lt=1e6)]] | None
    without: list[str]
    match: list[str] | None
    by: Opinion
    seats: bool


class CheckSettings(msgspec.Struct):
    """How a bot is checked, as in ``arena check``."""

    move_ms: Milliseconds


def options_of(settings: GameSettings, bots: Sequence[Named] | None) -> RunOptions:
    """The options that name what is played."""
    return checked({**settings, "bots": bots}, RunOptions)


def checked(settings: Mapping[str, Any], form: type[Form]) -> Form:
    """Those of the settings that the form has. Raises ConfigError."""
    fields = msgspec.structs.fields(form)
    said = {
        field.encode_name: _plain(settings[field.name])
        for field in fields
        if field.name in settings
    }
    return filled(form, said, "", "'help(arena.api)' lists the settings")


def _plain(value: Any) -> Any:
    """A setting with texts for paths."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return text_of(value) if isinstance(value, Path) else value


def refuse_unknown(settings: GameSettings, form: type) -> None:
    """Raises ConfigError for a setting that the form does not have."""
    known = list(get_type_hints(form))
    for name in settings:
        if name not in known:
            hint = f"{did_you_mean(name, known)}there are {', '.join(known)}"
            raise ConfigError(f"expected a setting, got {name!r}", hint)


def text_of(named: Named) -> str:
    """A name as it is, and a path so that it is one. Raises ConfigError."""
    if isinstance(named, str):
        return named
    if isinstance(named, os.PathLike):
        return str(Path(named).absolute())
    raise ConfigError(
        f"expected a name or a path, got {named!r:.80}", "write it as text, as in 'my-bot'"
    )


def home_of(home: Named | None) -> Path:
    """The home that was named, else the one that a command would find."""
    if home is None:
        home = os.environ.get("ARENA_HOME") or find_home()
    return Path(home if isinstance(home, os.PathLike) else text_of(home))
