"""bot.toml: the description of a bot in its folder."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from arena.errors import BotFolderError
from arena.players.options import LEAST_MEMORY_MB, MOST_MEMORY_MB, Option, read_options

FILE = "bot.toml"
MAX_BYTES = 64 * 1024
MOST_PROCESSES = 128
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}", re.ASCII)
VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,19}", re.ASCII)
COMMENT = re.compile(
    r"""("{3}(?:\\.|[^\\])*?"{3,5}|'{3}.*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*')|(#[^\r\n]*)""",
    re.DOTALL,
)
"""A string of TOML, or a comment, which is the second group."""
EXAMPLE = 'name = "my-bot"\nversion = "1"\ncommand = ["python3", "bot.py"]'

Words = Annotated[list[Annotated[str, Meta(min_length=1)]], Meta(min_length=1)]
Milliseconds = Annotated[int, Meta(ge=1, le=3_600_000)]


class Manifest(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The contents of a bot.toml.

    ``command`` and each ``build`` step run in the bot's folder; ``fresh`` asks for a new process
    for every game; ``startup_ms`` and ``move_ms`` are the shortest times with which the bot still
    plays as intended; ``options`` are by name, in the order of the file.
    """

    name: str
    command: Words
    version: str | int = "1"
    author: str = ""
    language: str = ""
    description: str = ""
    build: list[Words] = []
    fresh: bool = False
    memory_mb: Annotated[int, Meta(ge=LEAST_MEMORY_MB, le=MOST_MEMORY_MB)] = 1024
    processes: Annotated[int, Meta(ge=1, le=MOST_PROCESSES)] = 32
    startup_ms: Milliseconds | None = None
    move_ms: Milliseconds | None = None
    options: dict[str, Option] = {}

    def __reduce__(self) -> tuple[Callable[[bytes], "Manifest"], tuple[bytes]]:
        """Pickles as JSON: fields left out as defaults, and so out of a bot's hash, stay left out
        in another process.
        """
        return _decode_manifest, (msgspec.json.encode(self),)


def _decode_manifest(data: bytes) -> Manifest:
    return msgspec.json.decode(data, type=Manifest)


def check_file(file: Path, root: Path) -> None:
    """Raises BotFolderError unless it is a regular file below ``root`` (a resolved path); links
    within the root are allowed.
    """
    try:
        target = file.resolve()
        if not target.is_relative_to(root):
            raise BotFolderError(
                f"{file}: expected a file in the bot's folder, got a link to {target}"
            )
        if not file.is_file():
            raise BotFolderError(f"{file}: expected a regular file")
    except (OSError, RuntimeError) as error:  # a loop of links
        raise BotFolderError(f"{file}: expected a file, got {error}") from None


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a bot's folder. Raises BotFolderError that names the file and what is wrong
    with it.
    """
    path = folder / FILE
    try:
        if os.path.lexists(path):
            check_file(path, folder.resolve())
        if path.stat().st_size > MAX_BYTES:
            raise BotFolderError(
                f"{path}: expected at most {MAX_BYTES >> 10} KiB, got {path.stat().st_size} bytes"
            )
        told = msgspec.toml.decode(path.read_bytes())
        options = told.pop("options", {})
        manifest = msgspec.convert(told, type=Manifest)
    except FileNotFoundError:
        raise BotFolderError(
            f"expected a file {path}, found none", f"write one, for example\n{EXAMPLE}"
        ) from None
    # too long a number, arrays nested too deep
    except (OSError, msgspec.DecodeError, ValueError, RecursionError) as error:
        raise BotFolderError(f"{path}: {error}", _cure_of(str(error))) from None
    if any("\0" in word for words in (manifest.command, *manifest.build) for word in words):
        raise BotFolderError(
            f"{path}: expected words without the character U+0000 in command and build, got one"
            " with it"
        )
    check_name(manifest.name, str(path))
    check_version(str(manifest.version), str(path))
    return msgspec.structs.replace(manifest, options=read_options(options, str(path)))


def _cure_of(error: str) -> str:
    if any(f"unknown field `{name}`" in error for name in ("allow", "trust", "sandbox")):
        return "no bot says itself what it may do: whoever plays it does, with --allow BOT=GRANT"
    return f"the smallest {FILE} looks like this:\n{EXAMPLE}"


def comments(text: str) -> list[str]:
    """The comments in a bot.toml, in their order."""
    return [found[2] for found in COMMENT.finditer(text) if found[2]]


def played_text(text: str, manifest: Manifest) -> str:
    """The bot.toml that goes with a bot into its games: what its hash covers, and nothing else.

    A bot can read the file, so its version, the order of its keys and its blanks would be places to
    hand on what the hash does not tell.
    """
    values = msgspec.to_builtins(msgspec.structs.replace(manifest, version="1"))
    # JSON is TOML, for such values as there are, but for one character that TOML wants escaped.
    options = values.pop("options", {})
    values |= {
        f"options.{name}.{key}": value
        for name, told in options.items()
        for key, value in told.items()
    }
    lines = [
        f"{key} = {msgspec.json.encode(value).decode()}".replace("\x7f", "\\u007f")
        for key, value in values.items()
    ]
    return "\n".join([*comments(text), *lines, ""])


def check_name(name: str, where: str) -> None:
    """Raises BotFolderError unless the name is fit for a game's id, a file name and a table."""
    if not NAME.fullmatch(name):
        raise BotFolderError(
            f"{where}: expected a name of up to 40 letters, digits, '-', '_' and '.', got {name!r}"
        )


def check_version(version: str, where: str) -> None:
    """Raises BotFolderError unless the version is fit to follow ``name@``."""
    if not VERSION.fullmatch(version):
        raise BotFolderError(
            f"{where}: expected a version of up to 20 letters, digits, '-', '_' and '.', got"
            f" {version!r}"
        )
