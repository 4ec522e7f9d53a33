"""The user's own configuration: settings that weaken protection count there and on the command line
only, not in a file that can travel.
"""

import os
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from arena.errors import ConfigError
from arena.players.sandbox.tiers import Mode


class OwnConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """The user's own arena.toml: what only the user may decide, under the names of the options,
    with underscores.
    """

    sandbox: Mode | None = None
    trust: list[str] | None = None
    jobs: Annotated[int, Meta(ge=1)] | None = None
    cluster: str | None = None
    tls_ca_file: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None


def read_own_config() -> dict[str, Any]:
    """What the user's own arena.toml says of protection and of where to play; empty without one.
    Raises ConfigError.
    """
    path = own_config_file()
    if path is None or not path.exists():
        return {}
    try:
        config = msgspec.toml.decode(path.read_bytes(), type=OwnConfig)
    except (OSError, msgspec.DecodeError, ValueError, RecursionError) as error:
        raise ConfigError(
            f"{path}: {error}",
            f"your own configuration has the keys {', '.join(OwnConfig.__struct_fields__)}",
        ) from None
    return with_paths(
        path,
        {
            name: value
            for name in config.__struct_fields__
            if (value := getattr(config, name)) is not None
        },
    )


def own_config_file() -> Path | None:
    """Where the user's own configuration may lie; None where there is no home."""
    named = os.environ.get("XDG_CONFIG_HOME", "")
    try:
        folder = Path(named) if Path(named).is_absolute() else Path.home() / ".config"
        return folder / "qin-arena" / "arena.toml"
    except RuntimeError:
        return None


def refuse_protection(path: Path, settings: dict[str, Any]) -> None:
    """Raises ConfigError for settings that protect the user less, or hand bots to other machines:
    the file may come from anybody.
    """
    weaker = [name for name in OwnConfig.__struct_fields__ if name in settings and name != "jobs"]
    if settings.get("sandbox") in ("auto", "require"):
        weaker.remove("sandbox")
    if weaker:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in weaker)
        raise ConfigError(
            f"{path}: expected no {', '.join(weaker)}: a file that can come from others may not"
            " decide that",
            f"say it with {options}, or in a file of your own:"
            f" {own_config_file() or '$XDG_CONFIG_HOME/qin-arena/arena.toml'}",
        )
    if settings.get("sandbox") == "auto":
        del settings["sandbox"]


def with_paths(path: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of a file with its paths made relative to it."""
    files = ["board_files", "tls_ca_file", "tls_cert", "tls_key"]
    if settings.get("cluster", "").endswith(".json"):
        files.append("cluster")
    for name in ("bots", "challenger", "out", *files):
        if name in settings:
            settings[name] = _beside(path, settings[name], always=name in files)
    return settings


def _beside(file: Path, texts: str | list[str], *, always: bool) -> Any:
    """Paths in a configuration file are relative to it; without ``always``, what has no '/' is a
    name.
    """
    if isinstance(texts, list):
        return [_beside(file, text, always=always) for text in texts]
    return str(file.parent / texts) if always or "/" in texts else texts
