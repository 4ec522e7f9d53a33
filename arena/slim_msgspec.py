"""Imports msgspec without the modules that a bot never needs: import this module before the first
``import msgspec`` of a process. Every start of a Python bot waits for this import.

What is left out takes almost half of the time in which msgspec is imported:

``typing_extensions``  msgspec uses it if it is installed, and otherwise the functions of `typing`,
                       which do the same from Python 3.11 on
`PARTS`, `SCHEMAS`     parts of msgspec, which are loaded when a program first uses them
``platform``           before Python 3.13, `uuid`, which msgspec imports, asks it only for the name
                       of the system

A program that needs one of these modules itself imports it as usual, before or after this module.
"""

import os
import sys
from types import ModuleType
from typing import Any

UNUSED = "typing_extensions"
"""The module that msgspec can do without."""
PARTS = ("inspect", "msgpack", "toml", "yaml")
"""The modules of msgspec that are loaded when they are first used."""
SCHEMAS = ("schema", "schema_components")
"""The functions of `msgspec.json` whose module is loaded when they are first used."""
SCHEMA_MODULE = "msgspec._json_schema"


def _import_slim() -> None:
    """Imports msgspec while other modules stand for those that are left out. Does nothing if
    msgspec has been imported before. If a version of msgspec does need one of them, the next
    ``import msgspec`` loads it as usual.
    """
    if "msgspec" in sys.modules:
        return
    stand_ins = _stand_ins()
    placed = [name for name in stand_ins if name not in sys.modules]
    for name in placed:
        # Python raises ModuleNotFoundError for a module that is None in sys.modules.
        sys.modules[name] = stand_ins[name]  # type: ignore[assignment]
    try:
        import msgspec  # noqa: PLC0415

        _leave_out(msgspec, PARTS, _load_part)
        _leave_out(msgspec.json, SCHEMAS, _load_schema)
    except (ImportError, AttributeError):
        for name in list(sys.modules):
            # A module in C is not made for being loaded twice.
            if name.partition(".")[0] == "msgspec" and name != "msgspec._core":
                del sys.modules[name]
    finally:
        for name in placed:
            sys.modules.pop(name, None)


def _stand_ins() -> dict[str, ModuleType | None]:
    """What stands for each module that is left out, by its name; None where the import fails."""
    names = [SCHEMA_MODULE, *(f"msgspec.{part}" for part in PARTS)]
    stand_ins: dict[str, ModuleType | None] = {name: ModuleType(name) for name in names}
    vars(stand_ins[SCHEMA_MODULE]).update(dict.fromkeys(SCHEMAS))
    platform = ModuleType("platform")
    vars(platform).update(system=lambda: os.uname().sysname, __getattr__=_of_platform)
    return {**stand_ins, "platform": platform, UNUSED: None}


def _leave_out(module: ModuleType, names: tuple[str, ...], load: Any) -> None:
    """Removes the ``names`` from a module. When one of them is used, Python calls ``load`` with the
    name. Raises AttributeError if the module does not have one of them.
    """
    for name in names:
        delattr(module, name)
    # Python calls the function of this name for what a module does not have (PEP 562).
    vars(module)["__getattr__"] = load


def _load_part(name: str) -> ModuleType:
    """The module ``msgspec.<name>``, loaded now. Raises AttributeError if it is not in `PARTS`."""
    if name not in PARTS:
        raise AttributeError(f"module 'msgspec' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    return import_module(f"msgspec.{name}")


def _load_schema(name: str) -> Any:
    """The function ``msgspec.json.<name>``, whose module is loaded now. Raises AttributeError if it
    is not in `SCHEMAS`.
    """
    if name not in SCHEMAS:
        raise AttributeError(f"module 'msgspec.json' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    return getattr(import_module(SCHEMA_MODULE), name)


def _of_platform(name: str) -> Any:
    """The name in the module ``platform`` itself, for whoever uses the one that `uuid` has."""
    from importlib import import_module  # noqa: PLC0415

    return getattr(import_module("platform"), name)


_import_slim()
