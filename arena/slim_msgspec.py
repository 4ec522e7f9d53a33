"""Imports msgspec without ``typing_extensions``: import this module before the first
``import msgspec`` of a process.

msgspec uses ``typing_extensions`` if it is installed, and otherwise the same functions of `typing`,
which do the same from Python 3.11 on. Loading ``typing_extensions`` takes a third of the time in
which msgspec is imported, and every start of a Python bot would wait for that. A program that needs
``typing_extensions`` itself imports it as usual, before or after this module.
"""

import sys

UNUSED = "typing_extensions"
"""The module that msgspec can do without."""


def _import_slim() -> None:
    """Imports msgspec while `UNUSED` cannot be imported. Does nothing but the import if one of both
    modules has been imported before.
    """
    if UNUSED in sys.modules or "msgspec" in sys.modules:
        return
    # Python raises ModuleNotFoundError for a module that is None in sys.modules.
    sys.modules[UNUSED] = None  # type: ignore[assignment]
    try:
        import msgspec  # noqa: F401, PLC0415
    finally:
        del sys.modules[UNUSED]


_import_slim()
