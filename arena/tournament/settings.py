"""The settings that a user can give. Each is declared once, with its help and the commands that
take it; type, bounds and default are those of the field of `arena.records.config.RunConfig`.

The options of the command line, the keyword arguments of `arena.api` and the keys of an arena.toml
are made from these declarations. Settings that weaken protection count only on the command line and
in the user's own arena.toml, not in a file that may come from elsewhere.
"""

import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypedDict,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from msgspec import Meta, Struct

from arena.errors import ConfigError, UserError, did_you_mean
from arena.players.manifest import read_toml
from arena.players.sandbox.tiers import Mode
from arena.records.config import (
    DEFAULTS,
    Basis,
    Chance,
    Deals,
    HalfWidth,
    Increment,
    LimitMs,
    LineUpCount,
    Players,
    Seatings,
)
from arena.rules.boards import BUILT_IN
from arena.tournament.removed import SINCE, instead_of_key
from arena.values import ClockKind

# A program may name a path, of which a text is made before it is checked.
if TYPE_CHECKING:
    Named = str | Path
    """A bot, a run or a file, by name or path."""
else:
    Named = str

UNTIL_DEALS = 1000
"""The number of deals that ``until`` may use if ``deals`` is not given."""
MAX_BLOCKS = 20_000
"""A comparison stops undecided after this many blocks, unless the user sets another number."""
SETTINGS_FILE = "arena.toml"
"""The name of a configuration file."""
PLACES = ("bots", "challenger", "out", "board")
"""The settings whose values may be paths."""
COMPLAINT = re.compile(r"Expected `([a-z| ]+)`(?: (>=|<=|>|<) (\S+))?")
"""The messages of msgspec about a value of the wrong type or out of range."""
PLACE = re.compile(r"`\$\[(\d+)\]")
"""The part of a message of msgspec that says which item of a list is wrong."""
KINDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "array": "a list of names",
    "object": "names with their numbers",
}
"""Words for types in the messages of msgspec."""
LIMITS = {">=": "of at least", "<=": "of at most", ">": "above", "<": "below"}
"""Words for limits in the messages of msgspec."""
PLAYED = "run compare tune league"
"""The commands that play runs."""
TIMED = f"{PLAYED} play"
"""The commands that play games with time limits."""


class Setting(NamedTuple):
    """The declaration of a setting, apart from its type.

    ``help``      the help for the option
    ``commands``  the commands that take it, separated by spaces
    ``default``   its default; None or False is not shown in the help
    ``shown``     the text for the default in the help, if the default itself would say too little
    ``metavar``   the word for the value in the help, if it is no plain number or word
    ``option``    its name on the command line and in files, if that differs
    ``section``   the section of a command's help in which it stands
    ``change``    whether the setting may be larger (``more``) or smaller (``less``) when a run is
                  continued; ``nothing``: it must stay the same
    """

    help: str
    commands: str
    default: Any = None
    shown: str = ""
    metavar: str | None = None
    option: str = ""
    section: Literal["Question", "Games", "Time", "Run"] = "Games"
    change: Literal["nothing", "more", "less"] = "nothing"

    @property
    def text(self) -> str:
        """The help of the setting, with the default at its end if there is one to show."""
        is_none = self.default is None or self.default is False
        default = self.shown or ("" if is_none else str(self.default))
        return f"{self.help}  [default: {default}]" if default else self.help


class Settings(TypedDict, total=False):
    """The settings of a run or game, in the order of the help; times are in ms."""

    elo0: Annotated[
        float,
        Setting(
            '"Not better" is a difference of at most about this.',
            "compare",
            DEFAULTS["elo0"],
            section="Question",
        ),
    ]
    elo1: Annotated[
        float,
        Setting(
            '"Better" is a difference of at least about this.',
            "compare",
            DEFAULTS["elo1"],
            section="Question",
        ),
    ]
    alpha: Annotated[
        Chance,
        Setting(
            'How often "better" may be wrong if the difference is elo0.',
            "compare",
            DEFAULTS["alpha"],
            section="Question",
        ),
    ]
    beta: Annotated[
        Chance,
        Setting(
            'How often "not better" may be wrong if the difference is elo1.',
            "compare",
            DEFAULTS["beta"],
            section="Question",
        ),
    ]
    by: Annotated[
        Basis,
        Setting(
            "What decides: who won, or by how much; margins take fewer games.",
            "compare",
            DEFAULTS["by"],
            section="Question",
        ),
    ]
    players: Annotated[
        Players, Setting("Players per game.", "run compare tune league", DEFAULTS["players"])
    ]
    deals: Annotated[
        Deals,
        Setting(
            "Deals per board, or per match; every line-up plays the same ones.",
            "run",
            DEFAULTS["deals"],
            f"10, with --until {UNTIL_DEALS}",
            change="more",
        ),
    ]
    boards: Annotated[
        Sequence[str],
        Setting(
            f"Built-in boards to play on: {', '.join(BUILT_IN)}.",
            PLAYED,
            DEFAULTS["boards"],
            ",".join(DEFAULTS["boards"]),
            "NAME,...",
        ),
    ]
    board_files: Annotated[
        Sequence[Named],
        Setting("A board file; may be repeated.", PLAYED, metavar="FILE", option="board"),
    ]
    match: Annotated[
        Sequence[str],
        Setting(
            "Score matches of one game on each of these boards by total pagodas left.",
            "run league",
            DEFAULTS["match"],
            "none, single games count",
            "BOARD,...|none",
        ),
    ]
    seatings: Annotated[
        Seatings,
        Setting(
            "Seatings of each deal: N rotations, all N! orders, or a single one, with a deck for"
            " each game.",
            "run league",
            DEFAULTS["seatings"],
        ),
    ]
    tables: Annotated[
        LineUpCount,
        Setting("Use a balanced subset of this many line-ups.", "run", shown="all", change="more"),
    ]
    challenger: Annotated[
        Named, Setting("Play a gauntlet: only line-ups with this bot.", "run", metavar="BOT")
    ]
    seed: Annotated[
        str | int,
        Setting(
            "Text that determines every deck; a bot could guess a short one.",
            PLAYED,
            shown="a secret one",
        ),
    ]
    move_ms: Annotated[
        LimitMs,
        Setting(
            "Time for a move, in ms.", f"{TIMED} check submit", DEFAULTS["move_ms"], section="Time"
        ),
    ]
    game_ms: Annotated[
        LimitMs,
        Setting(
            "Bank: time for all of a bot's moves in a game, in ms.",
            TIMED,
            DEFAULTS["game_ms"],
            "none",
            section="Time",
        ),
    ]
    increment_ms: Annotated[
        Increment,
        Setting(
            "Added to the bank after each move, in ms.",
            TIMED,
            DEFAULTS["increment_ms"],
            section="Time",
        ),
    ]
    clock: Annotated[
        ClockKind,
        Setting(
            "Measure a bot's time as CPU time, or by the wall clock.",
            TIMED,
            shown="cpu",
            section="Time",
        ),
    ]
    startup_ms: Annotated[
        LimitMs,
        Setting(
            "Time for a bot's process to answer hello, in ms.",
            TIMED,
            DEFAULTS["startup_ms"],
            section="Time",
        ),
    ]
    until: Annotated[
        HalfWidth,
        Setting(
            "Play until every +/- is at most this many Elo.", "run", metavar="ELO", change="less"
        ),
    ]
    in_process: Annotated[
        bool, Setting("Use built-in bots only.", "run compare", DEFAULTS["in_process"])
    ]
    out: Annotated[
        Named,
        Setting(
            "The run's name in results/, or a path.",
            "run compare tune",
            shown="the run that this command continues, or a new one",
            metavar="RUN",
            section="Run",
        ),
    ]


class GivenOptions(Settings, total=False):
    """The options that a user gave: settings, and the ``bots`` that play in a run or, in a
    comparison, the opponents.
    """

    bots: Sequence[str]


TYPES: Mapping[str, Any] = get_type_hints(GivenOptions, include_extras=True)
"""The type of each option, annotated with its declaration."""
DECLARED: Mapping[str, Setting] = {
    name: hint.__metadata__[-1] for name, hint in TYPES.items() if name != "bots"
}
"""The declaration of each setting, by its name."""
QUESTION = ("elo0", "elo1", "alpha", "beta", "by")
"""The settings that make the question of a comparison."""
OUTSIDE_CONFIG = ("board_files", "out", *QUESTION)
"""Settings that are not fields of `RunConfig`: the boards of ``board_files`` are among its
``boards``, ``out`` names the run's folder, and `Comparison` has the question.
"""


def default_of(name: str) -> Any:
    """The default of the setting called ``name``."""
    return DECLARED[name].default


def option_name(name: str) -> str:
    """The name that the setting called ``name`` has on the command line, without its dashes."""
    return (DECLARED[name].option or name).replace("_", "-")


def taken_by(command: str) -> list[str]:
    """The names of the settings in `Settings` that a command takes. ``command`` is its name, such
    as ``run``; ``league`` stands for the commands that play a league.
    """
    return [name for name, each in DECLARED.items() if command in each.commands.split()]


def checked(
    types: Mapping[str, Any],
    given: Mapping[str, Any],
    hint: str,
    where: Callable[[str], str] = lambda _: "",
    *,
    names: str = "",
) -> dict[str, Any]:
    """The settings in ``given``, which a user wrote in a file or a program, each converted to its
    type in ``types``. Where a list is expected, a single text counts as a list of one.

    Raises ConfigError for an unknown or wrong setting. The message begins with the result of
    ``where``, which takes the name of the setting. The hint is ``hint``; for an unknown setting, it
    is a similar name, if there is one, and ``names`` (if that is empty, ``hint``); for a removed
    setting, it says what replaces it.
    """
    converted = {}
    for name, value in given.items():
        if name not in types:
            if instead := instead_of_key(name):
                raise ConfigError(f"{where(name)}{name} was removed in {SINCE}", instead)
            cure = did_you_mean(name, types) + (names or hint)
            raise ConfigError(f"{where(name)}expected a setting, got {name!r:.80}", cure)
        try:
            converted[name] = msgspec.convert(value, types[name])
        except msgspec.ValidationError as error:
            if isinstance(value, str):
                with suppress(msgspec.ValidationError):
                    converted[name] = msgspec.convert([value], types[name])
                    continue
            wrong = f"{where(name)}expected {_expected(str(error), types[name])} for {name}"
            place = PLACE.search(str(error))
            got = value if place is None else value[int(place[1])]
            raise ConfigError(f"{wrong}, got {got!r:.80}", hint) from None
    return converted


def _expected(complaint: str, kind: Any) -> str:
    """What was expected, in plain words: the possible words of the type ``kind``, or else what
    msgspec's message ``complaint`` says; "another value" if that message is of an unknown form.
    """
    if words := [*map(repr, _words(kind))]:
        return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))
    match = COMPLAINT.match(complaint)
    if match is None:
        return "another value"
    kinds = [KINDS.get(kind, kind) for kind in match[1].split(" | ") if kind != "null"]
    limit = f" {LIMITS[match[2]]} {match[3].removesuffix('.0')}" if match[2] else ""
    return f"{' or '.join(kinds)}{limit}"


def _words(kind: Any) -> Sequence[str]:
    """The words that a value of the type ``kind`` may be; empty if it may be anything else."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    return next(filter(None, map(_words, get_args(kind))), ())


class OwnConfig(Struct, frozen=True):
    """The settings of an arena.toml that say how and where games are played, not which. The user's
    own file may have all of them, another one only those that do not weaken protection. Their names
    are those of the options, with underscores. None for settings that the file does not have.
    """

    sandbox: Mode | None = None
    trust: list[str] | None = None
    allow: list[str] | None = None
    jobs: Annotated[int, Meta(ge=1)] | None = None
    cluster: str | None = None


OWN_TYPES: Mapping[str, Any] = get_type_hints(OwnConfig, include_extras=True)
"""The type of each setting of `OwnConfig`."""


def own_folder() -> Path:
    """The folder of the user's own configuration, which need not exist. Raises RuntimeError if the
    user has no home folder.
    """
    named = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    return (named if named.is_absolute() else Path.home() / ".config") / "qin-arena"


def _own_file() -> Path | None:
    """The path of the user's own arena.toml, which need not exist; None if the user has no home
    folder.
    """
    with suppress(RuntimeError):
        return own_folder() / SETTINGS_FILE
    return None


def read_own_config() -> OwnConfig:
    """The settings in the user's own arena.toml; without such a file, all are None. Raises
    ConfigError, also if others may change the file.
    """
    path = _own_file()
    if path is None or not path.exists():
        return OwnConfig()
    for place in (path, path.resolve().parent):
        status = place.stat()
        if status.st_uid not in (os.getuid(), 0) or status.st_mode & 0o022:
            raise ConfigError(
                f"others can change your own configuration: {place}",
                f"make it yours: chmod go-w {shlex.quote(str(place))}",
            )
    hint = f"your own configuration has the keys {', '.join(OWN_TYPES)}"
    return OwnConfig(**_read(path, OWN_TYPES, hint))


def read_options(path: Path) -> tuple[GivenOptions, OwnConfig]:
    """The options of ``arena run`` in an arena.toml at ``path``, and those that say how the games
    are to be played. Keys of the file are the options' names with underscores. Where a path is
    allowed, a value with a '/' is a path relative to the file.

    Raises ConfigError, also for settings that would protect the user less or send bots to other
    machines, because the file may come from anybody.
    """
    names = {"bots": "bots"}
    for name in taken_by("run"):
        names[DECLARED[name].option or name] = name
    types = {key: TYPES[name] for key, name in names.items()}
    types.update(OWN_TYPES)
    values = _read(path, types, "its keys are the options of 'arena run' with '_' for '-'")
    own = {name: values.pop(name) for name in OWN_TYPES if name in values}
    # Said here, auto would weaken the user's own ``require``.
    if own.get("sandbox") == "auto":
        del own["sandbox"]
    harmless = {"jobs"} | ({"sandbox"} if own.get("sandbox") in ("require", "strangers") else set())
    if weaker := [name for name in own if name not in harmless]:
        raise ConfigError(
            f"{path}: {', '.join(weaker)} cannot stand in a file that may come from others",
            f"give --{', --'.join(weaker)}, or write it into your own file:"
            f" {_own_file() or '$XDG_CONFIG_HOME/qin-arena/arena.toml'}",
        )
    options = {names[key]: value for key, value in values.items()}
    return cast("GivenOptions", options), OwnConfig(**own)


def _read(path: Path, types: Mapping[str, Any], hint: str) -> dict[str, Any]:
    """The settings in the arena.toml at ``path``, each converted to its type, and with paths
    relative to the file resolved. Raises ConfigError with this hint.
    """
    try:
        file = read_toml(path)
    except UserError as error:
        raise ConfigError(str(error), hint) from None
    values = checked(types, file.values, hint, lambda key: f"{file.place(key)}: ")
    is_file = str(values.get("cluster", "")).endswith(".json")
    for name in values.keys() & {*PLACES, *(("cluster",) if is_file else ())}:
        values[name] = _beside(path, values[name], always=name in ("board", "cluster"))
    return values


def _beside(file: Path, texts: str | list[str], *, always: bool) -> Any:
    """A value, or a list of values, of the configuration file ``file``, in which relative paths are
    resolved against the folder of the file. A value without '/' is a name and stays as it is,
    unless ``always``. Raises ConfigError for a value with a NUL character.
    """
    if isinstance(texts, list):
        return [_beside(file, text, always=always) for text in texts]
    if "\0" in texts:
        raise ConfigError(
            f"{file}: expected a name or a path, got {texts!r}", "no path can have a \\u0000 in it"
        )
    return str(file.parent / texts) if always or "/" in texts else texts
