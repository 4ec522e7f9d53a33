"""The user's own configuration: settings that weaken protection count there and on the command line
only, not in a file that can travel.
"""

import os
import shlex
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

from arena.errors import ConfigError
from arena.players.sandbox.tiers import Mode
from arena.tournament.forms import filled

FILE = "arena.toml"


class OwnConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """The user's own arena.toml: what only the user may decide, under the names of the options,
    with underscores. None: nothing is said.
    """

    sandbox: Mode | None = None
    trust: list[str] | None = None
    allow: list[str] | None = None
    jobs: Annotated[int, Meta(ge=1)] | None = None
    cluster: str | None = None
    tls_ca_file: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None


Form = TypeVar("Form", bound=OwnConfig)


def read_own_config() -> OwnConfig:
    """What the user's own arena.toml says of protection and where to play. Raises ConfigError."""
    path = own_config_file()
    if path is None or not path.exists():
        return OwnConfig()
    _refuse_foreign(path)
    keys = ", ".join(OwnConfig.__struct_fields__)
    return read_toml(path, OwnConfig, f"your own configuration has the keys {keys}")


def _refuse_foreign(path: Path) -> None:
    """Raises ConfigError unless only this user decides what a file says."""
    for place in (path, path.resolve().parent):
        found = place.stat()
        if found.st_uid not in (os.getuid(), 0) or found.st_mode & 0o022:
            raise ConfigError(
                f"expected your own configuration where only you can write, got {place}, which"
                " others can change",
                f"make it yours: chmod go-w {shlex.quote(str(place))}",
            )


def read_toml(path: Path, form: type[Form], hint: str) -> Form:
    """An arena.toml, with its paths made relative to it. Raises ConfigError with the hint."""
    try:
        said = msgspec.toml.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {error}", hint) from None
    return _with_paths(path, filled(form, said, f"{path}: ", hint))


def own_config_file() -> Path | None:
    """Where the user's own configuration may lie; None where there is no home."""
    try:
        return own_folder() / FILE
    except RuntimeError:
        return None


def own_folder() -> Path:
    """The folder of the user's own configuration. Raises RuntimeError where there is no home."""
    named = os.environ.get("XDG_CONFIG_HOME", "")
    folder = Path(named) if Path(named).is_absolute() else Path.home() / ".config"
    return folder / "qin-arena"


def _with_paths(path: Path, config: Form) -> Form:
    """The settings of a file with its paths made relative to it. Raises ConfigError."""
    files = ["board_files", "tls_ca_file", "tls_cert", "tls_key"]
    if config.cluster and config.cluster.endswith(".json"):
        files.append("cluster")
    said = {name: getattr(config, name, None) for name in ("bots", "challenger", "out", *files)}
    return msgspec.structs.replace(
        config,
        **{
            name: _beside(path, value, always=name in files)
            for name, value in said.items()
            if value is not None
        },
    )


def _beside(file: Path, texts: str | list[str], *, always: bool) -> Any:
    """Paths in a configuration file are relative to it; without ``always``, what has no '/' is a
    name. Raises ConfigError for what can be neither.
    """
    if isinstance(texts, list):
        return [_beside(file, text, always=always) for text in texts]
    if "\0" in texts:
        raise ConfigError(
            f"{file}: expected a name or a path, got {texts!r}", "no path can have a \\u0000 in it"
        )
    return str(file.parent / texts) if always or "/" in texts else texts
