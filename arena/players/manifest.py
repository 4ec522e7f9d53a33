"""bot.toml: the description of a bot in its folder, and the options that it declares."""

import os
import re
import sys
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple
from unicodedata import normalize

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

import arena
from arena.errors import BotFolderError, UserError, did_you_mean
from arena.values import MAX_MS, OPTION_NAME, Value, value_text

MANIFEST_FILE = "bot.toml"
INSTALLED_BOTS = Path(arena.__file__).parent.resolve() / "ladder"
"""The folder of the bundled bots in an installed arena. In a checkout it is a link to bots/, so no
resolved path lies below it.
"""
MAX_BYTES = 64 * 1024
MAX_PROCESSES = 128
MAX_PROGRAMS = 64
MAX_PROGRAM_NAME = 1000
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}", re.ASCII)
NOT_IN_NAME = re.compile(r"[^A-Za-z0-9._-]+", re.ASCII)
VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,19}", re.ASCII)
COMMENT = re.compile(
    r"""("{3}(?:\\.|[^\\])*?"{3,5}|'{3}.*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*')|(#[^\r\n]*)""",
    re.DOTALL,
)
"""A pattern for a string of TOML, or for a comment, which is its second group."""
WHERE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
"""A pattern for the place of an error in messages of the TOML parser."""
FIELD = re.compile(r"(.*) - at `\$\.(\w+).*`", re.DOTALL)
"""A pattern for messages about a wrong value: what is wrong, and the key to which it belongs."""
EXAMPLE = 'name = "my-bot"\nversion = "1"\ncommand = ["python3", "bot.py"]'
SMALLEST = f"the smallest {MANIFEST_FILE} looks like this:\n{EXAMPLE}"
GRANTING = ("allow", "trust", "sandbox")
NO_GRANTS = "no bot says itself what it may do: whoever plays it does, with --allow BOT=GRANT"
COPY_IT = (
    "put a copy there; a virtual environment belongs elsewhere, or in .venv, which is not copied"
    " with a bot"
)

# Names are parts of game ids, file names and lists with commas, so few characters are allowed.
CHOICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,29}", re.ASCII)
INT = re.compile(r"-?[0-9]{1,16}", re.ASCII)
FLOAT = re.compile(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", re.ASCII)
KINDS: dict[str, tuple[str, tuple[type, ...]]] = {
    "int": ("a whole number", (int,)),
    "float": ("a number", (float, int)),
    "bool": ("true or false", (bool,)),
    "choice": ("one of the choices", (str,)),
}
"""The types of options: their name for people, and the Python types of their values."""
MAX_OPTIONS = MAX_CHOICES = 64
MAX_HELP = 200
FARTHEST_INT = 2**53 - 1
"""The largest whole number for an option. Beyond it, languages without whole numbers would read
another one.
"""
MIN_MEMORY_MB = 16
MAX_MEMORY_MB = 4096
OPTION_EXAMPLE = '{type = "int", default = 3, min = 1, max = 9'


class Option(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An option that a bot.toml declares; an option of `ARENA_OPTIONS` has no ``default``.

    ``min`` and ``max`` belong to numbers, None for no limit; ``choices`` belong to a choice.
    """

    type: Literal["int", "float", "bool", "choice"]
    default: Value | None = None
    min: int | float | None = None
    max: int | float | None = None
    choices: list[str] = []
    help: str = ""

    @property
    def usual(self) -> Value | None:
        """The default value as the bot gets it: a float stays a float, even if it is
        written ``1``.
        """
        default = self.default
        is_whole = self.type == "float" and isinstance(default, int) and _is_finite(default)
        return float(default) if is_whole and default is not None else default

    @property
    def wanted(self) -> str:
        """A phrase for messages that says what a value of this option must be, such as "a whole
        number from 1 to 9".
        """
        kind = KINDS[self.type][0]
        if self.type == "choice":
            return f"one of {', '.join(self.choices)}"
        if self.min is not None and self.max is not None:
            return f"{kind} from {self.range}"
        return f"{kind}, {self.range}" if self.range else kind

    @property
    def range(self) -> str:
        """A phrase for the range of a number, such as "1 to 9"; empty if it has no limits."""
        low = None if self.min is None else value_text(self.min)
        high = None if self.max is None else value_text(self.max)
        if low is not None:
            return f"{low} or more" if high is None else f"{low} to {high}"
        return "" if high is None else f"{high} or less"

    @property
    def ends(self) -> tuple[Value, Value]:
        """The smallest and the largest value; the default takes the place of a limit that the
        option does not have. For a choice, the first and the last; for a bool, False and True.
        """
        if self.type == "bool":
            return False, True
        if self.type == "choice":
            return self.choices[0], self.choices[-1]
        usual = self.usual
        kind = int if self.type == "int" else float
        assert usual is not None, "a bot's option has a default"
        low = usual if self.min is None else kind(self.min)
        high = usual if self.max is None else kind(self.max)
        return low, high

    def value_of(self, text: str) -> Value | None:
        """The value that a text, such as ``3`` or ``true``, stands for; None if it is not a value
        of this option.
        """
        value: Value | None = None
        if self.type == "bool":
            value = {"true": True, "false": False}.get(text)
        elif self.type == "choice":
            value = text
        elif self.type == "int":
            value = int(text) if INT.fullmatch(text) else None
        elif FLOAT.fullmatch(text):
            value = float(text) + 0.0  # turns -0.0 into 0.0, so that there is one zero
        return None if value is None or not self.allows(value) else value

    def allows(self, value: Value) -> bool:
        """Whether a value of the right type is within the option's range or choices."""
        if isinstance(value, str):
            return value in self.choices
        if isinstance(value, bool):
            return True
        if not _is_finite(value) or (self.type == "int" and abs(value) > FARTHEST_INT):
            return False
        return (self.min is None or self.min <= value) and (self.max is None or value <= self.max)


def _is_finite(number: float) -> bool:
    """Whether a number fits into a float; `math.isfinite` fails for large ints."""
    return abs(number) <= sys.float_info.max


def _whole(low: int, high: int, text: str) -> Option:
    """An option for whole numbers within these limits."""
    return Option("int", min=low, max=high, help=text)


ARENA_OPTIONS = {
    "move_ms": _whole(1, MAX_MS, "time for a move, in ms"),
    "game_ms": _whole(1, MAX_MS, "time for the whole game, in ms"),
    "increment_ms": _whole(0, MAX_MS, "time added to game_ms after each move, in ms"),
    "memory_mb": _whole(MIN_MEMORY_MB, MAX_MEMORY_MB, "memory for all its processes, in MB"),
}
"""The options that every bot has: limits that the arena enforces, and of which the bot
is not told.
"""

ProgramName = Annotated[str, Meta(min_length=1, max_length=MAX_PROGRAM_NAME)]
CommandWords = Annotated[list[Annotated[str, Meta(min_length=1)]], Meta(min_length=1)]
ProgramNames = Annotated[list[ProgramName], Meta(max_length=MAX_PROGRAMS)]
MoveLimitMs = Annotated[int, Meta(ge=1, le=3_600_000)]


class Manifest(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The contents of a bot.toml.

    ``command`` and each ``build`` step run in the bot's folder. ``programs`` are programs that the
    bot runs beside those that its command names. ``fresh`` asks for a new process for every game.
    ``memory_mb`` and ``processes`` are limits for all its processes together. ``startup_ms`` and
    ``move_ms`` are the shortest times, in ms, with which the bot still plays as intended; None if
    it names none. ``options`` are by name, in the order of the file.
    """

    name: str
    command: CommandWords
    version: str | int = "1"
    author: str = ""
    language: str = ""
    description: str = ""
    build: list[CommandWords] = []
    programs: ProgramNames = []
    fresh: bool = False
    memory_mb: Annotated[int, Meta(ge=MIN_MEMORY_MB, le=MAX_MEMORY_MB)] = 1024
    processes: Annotated[int, Meta(ge=1, le=MAX_PROCESSES)] = 32
    startup_ms: MoveLimitMs | None = None
    move_ms: MoveLimitMs | None = None
    options: dict[str, Option] = {}

    def __reduce__(self) -> tuple[Callable[[bytes], "Manifest"], tuple[bytes]]:
        """Pickles the manifest as JSON, so that defaults that are left out of the bot's hash stay
        left out in another process.
        """
        return _decode_manifest, (msgspec.json.encode(self),)


def _decode_manifest(data: bytes) -> Manifest:
    """The manifest in this JSON."""
    return msgspec.json.decode(data, type=Manifest)


class Toml(NamedTuple):
    """The values and the text of a TOML file."""

    path: Path
    text: str
    values: dict[str, Any]

    def place(self, key: str) -> str:
        """The file's path with the line of a key or table, if it can be found, such as ``bot.toml
        line 3``.
        """
        key_there = rf"^[\[ \t]*[\"']?{re.escape(key)}[\"']?[ \t]*[].=]"
        match = re.search(key_there, self.text, re.MULTILINE)
        line = f" line {self.text.count(chr(10), 0, match.start()) + 1}" if match else ""
        return f"{self.path}{line}"


def read_toml(path: Path) -> Toml:
    """Reads a TOML file, with or without a byte order mark. Raises UserError that says where the
    first error is.
    """
    text = ""
    try:
        text = path.read_text(encoding="utf-8-sig")
        return Toml(path, text, msgspec.toml.decode(text))
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: expected text in UTF-8, got {error}") from None
    # a number is too long, or arrays are nested too deep
    except (OSError, msgspec.DecodeError, ValueError, RecursionError) as error:
        message = str(error)
        lines = text.splitlines()
        where = WHERE.search(message)
        if where is None or not lines:
            raise UserError(f"{path}: {message}") from None
        number = int(where[1] or len(lines))
        column = where[2]
        where_it_is = f" line {number}" + (f", column {column}" if column else "")
        shown = lines[number - 1].strip() if number <= len(lines) else ""
        message = f"{message[0].lower()}{message[1 : where.start()]}, got {shown[:60]!r}"
        raise UserError(f"{path}{where_it_is}: {message}") from None


def check_file(file: Path, root: Path) -> None:
    """Raises BotFolderError unless the file is a regular file below ``root`` (a resolved path), or
    a link to one. Links of bundled bots may lead elsewhere, because some installers make a link of
    every file.
    """
    try:
        check_inside(file, root)
        if not file.is_file():
            raise BotFolderError(f"{file}: expected a regular file")
    except (OSError, RuntimeError) as error:  # links form a loop
        raise BotFolderError(f"{file}: expected a file, got {error}") from None


def check_inside(path: Path, root: Path) -> None:
    """Raises BotFolderError if ``path``, a file or folder of a bot, is a link that leads out of
    ``root``, the bot's folder (a resolved path), unless it is a bundled bot's. Raises OSError or
    RuntimeError for a link that leads nowhere.
    """
    target = path.resolve()
    if not (target.is_relative_to(root) or root.is_relative_to(INSTALLED_BOTS)):
        wanted = f"a file in the bot's folder, got a link to {target}"
        raise BotFolderError(f"{path}: expected {wanted}", COPY_IT)


def read_manifest(folder: Path) -> Manifest:
    """The manifest in a bot's folder. Raises BotFolderError that says what is wrong."""
    path = folder / MANIFEST_FILE
    try:
        if os.path.lexists(path):
            check_file(path, folder.resolve())
        size = path.stat().st_size
        if size > MAX_BYTES:
            wanted = f"at most {MAX_BYTES >> 10} KiB, got {size} bytes"
            raise BotFolderError(f"{path}: expected {wanted}")
        file = read_toml(path)
    except FileNotFoundError:
        hint = f"write one, for example\n{EXAMPLE}"
        raise BotFolderError(f"expected a file {path}, found none", hint) from None
    except OSError as error:
        raise BotFolderError(f"{path}: {error}") from None
    except UserError as error:
        if isinstance(error, BotFolderError):
            raise
        raise BotFolderError(str(error), SMALLEST) from None
    options = file.values.pop("options", {})
    manifest = _manifest_of(file)
    all_words = chain.from_iterable(_all_words(manifest))
    if "\0" in "".join(all_words):
        wanted = "words without the character U+0000 in commands and programs, got one with it"
        raise BotFolderError(f"{path}: expected {wanted}")
    check_name(manifest.name, str(path))
    version = str(manifest.version)
    if not VERSION.fullmatch(version):
        wanted = f"a version of up to 20 letters, digits, '-', '_' and '.', got {version!r}"
        raise BotFolderError(f"{path}: expected {wanted}")
    return replace(manifest, options=read_options(options, str(path)))


def _all_words(manifest: Manifest) -> list[list[str]]:
    """The words of everything that the manifest lets the bot run."""
    return [manifest.command, manifest.programs, *manifest.build]


def _manifest_of(file: Toml) -> Manifest:
    """The manifest in the file, without its options. Raises BotFolderError with the line."""
    keys = Manifest.__struct_fields__
    for key in file.values:
        if key not in keys:
            near = did_you_mean(key, keys).rstrip()
            cure = NO_GRANTS if key in GRANTING else near or f"there are {', '.join(keys)}"
            message = f"{file.place(key)}: expected a key of {MANIFEST_FILE}, got {key!r:.80}"
            raise BotFolderError(message, cure)
    try:
        return msgspec.convert(file.values, type=Manifest)
    except (msgspec.ValidationError, RecursionError) as error:
        match = FIELD.fullmatch(str(error))
        place = f"{file.place(match[2])}: {match[2]}" if match else str(file.path)
        raise BotFolderError(f"{place}: {match[1] if match else error}", SMALLEST) from None


def read_options(declared: Any, where: str) -> dict[str, Option]:
    """The options in ``declared``, the value of ``[options]`` in a bot.toml, by name. Raises
    BotFolderError that names the option; its message begins with ``where``, the path of the file.
    """
    if not isinstance(declared, dict):
        cure = f"for example\n[options]\ndepth = {OPTION_EXAMPLE}}}"
        raise BotFolderError(f"{where}: expected a table [options], got {declared!r:.80}", cure)
    if len(declared) > MAX_OPTIONS:
        many = f"at most {MAX_OPTIONS} options, got {len(declared)}"
        raise BotFolderError(f"{where}: expected {many}")
    return {name: _read_option(name, declaration, where) for name, declaration in declared.items()}


def _read_option(name: str, declaration: Any, where: str) -> Option:
    """The option that this part of a bot.toml declares. Raises BotFolderError."""
    if not OPTION_NAME.fullmatch(name):
        wanted = "names of options of up to 30 small letters, digits and '_'"
        raise BotFolderError(f"{where}: expected {wanted}, got {name[:80]!r}")
    if name in ARENA_OPTIONS:
        cure = f"every bot has {', '.join(ARENA_OPTIONS)}: leave it out"
        raise BotFolderError(f"{where}: expected another name than {name} for an option", cure)
    try:
        option = msgspec.convert(declaration, type=Option)
    except (msgspec.ValidationError, RecursionError) as error:
        hint = f'for example\n{name} = {OPTION_EXAMPLE}, help = "..."}}'
        raise BotFolderError(f"{where}: option {name}: {error}", hint) from None
    wrong = _wrong_choices(option) or _wrong_range(option) or _wrong_default(option)
    if len(option.help) > MAX_HELP:
        wrong = f"expected a help of at most {MAX_HELP} signs, got {len(option.help)}"
    if wrong:
        raise BotFolderError(f"{where}: option {name}: {wrong}")
    return option


def _wrong_choices(option: Option) -> str:
    """A text that says what is wrong with the choices of an option; empty if they are right."""
    choices = option.choices
    if option.type != "choice":
        return f"expected no choices with type {option.type}" if choices else ""
    if not 0 < len(choices) <= MAX_CHOICES:
        return f'expected choices = ["...", "..."], 1 to {MAX_CHOICES}, got {len(choices)}'
    if len(set(choices)) < len(choices):
        return "expected each choice once"
    wanted = "expected choices of up to 30 letters, digits, '-', '_' and '.'"
    unfit = [choice for choice in choices if not CHOICE.fullmatch(choice)]
    return f"{wanted}, got {unfit[0][:80]!r}" if unfit else ""


def _wrong_range(option: Option) -> str:
    """A text that says what is wrong with the range of an option; empty if it is right."""
    for key, end in (("min", option.min), ("max", option.max)):
        if end is None:
            continue
        if option.type in ("bool", "choice"):
            return f"expected no {key} with type {option.type}"
        is_whole = isinstance(end, int) and abs(end) <= FARTHEST_INT
        if not (is_whole if option.type == "int" else _is_finite(end)):
            return f"expected {KINDS[option.type][0]} as {key}, got {end!r:.80}"
    if option.min is not None and option.max is not None and option.min > option.max:
        return f"expected min up to max, got {option.min} and {option.max}"
    return ""


def _wrong_default(option: Option) -> str:
    """A text that says what is wrong with the default of an option; empty if it is right."""
    default = option.usual
    kind, types = KINDS[option.type]
    if default is None:
        return "expected a default"
    if not isinstance(default, types) or (isinstance(default, bool) and option.type != "bool"):
        return f"expected {kind} as default, got {default!r:.80}"
    unfit = f"expected as default {option.wanted}, got {default!r:.80}"
    return "" if option.allows(default) else unfit


def comments(text: str) -> list[str]:
    """The comments in ``text``, the content of a bot.toml, in their order."""
    return [match[2] for match in COMMENT.finditer(text) if match[2]]


def played_text(text: str, manifest: Manifest) -> str:
    """The bot.toml that is copied with a bot into its games, made from the ``text`` of its own one:
    what the bot's hash covers, and nothing else.

    A bot can read the file. If its version, the order of its keys or its blanks were copied, they
    could pass on information that the hash does not cover.
    """
    values = msgspec.to_builtins(replace(manifest, version="1"))
    # For the values that occur here JSON is valid TOML, except for one character that TOML wants
    # escaped.
    options = values.pop("options", {})
    for name, fields in options.items():
        for key, value in fields.items():
            values[f"options.{name}.{key}"] = value
    lines = comments(text)
    for key, value in values.items():
        line = f"{key} = {msgspec.json.encode(value).decode()}"
        lines.append(line.replace("\x7f", "\\u007f"))
    return "\n".join([*lines, ""])


def check_name(name: str, where: str) -> None:
    """Raises BotFolderError unless the name can be part of a game's id, a file name and a table.
    Its message begins with ``where``, the place of the name.
    """
    if not NAME.fullmatch(name):
        plain = normalize("NFKD", name).encode("ascii", "ignore").decode()
        fit = NOT_IN_NAME.sub("-", plain).strip("-._")[:40].rstrip("-._") or "my-bot"
        wanted = f"a name of up to 40 letters, digits, '-', '_' and '.', got {name!r}"
        raise BotFolderError(f"{where}: expected {wanted}", f"choose another one, such as {fit}")
