"""The parts of scipy that ratings need. Import them from here: this module loads scipy without
two parts of numpy that nothing here uses.

scipy copies the names of numpy into a module of its own, and so loads `UNUSED`, which takes a third
of the time in which scipy is imported. Whoever prints a small table would wait for that. A program
that needs one of them imports it as usual, before or after this module.
"""

import sys
from types import ModuleType

import numpy as np

UNUSED = ("f2py", "testing")
"""The names of the parts of numpy that are not loaded."""


def _import_slim() -> None:
    """Imports scipy while empty modules stand for `UNUSED`. Does nothing if scipy has been imported
    before. If a version of scipy does need one of them, the imports below load scipy as usual.
    """
    if "scipy.special" in sys.modules or "scipy.sparse" in sys.modules:
        return
    placed = [name for name in UNUSED if f"numpy.{name}" not in sys.modules]
    for name in placed:
        empty = ModuleType(f"numpy.{name}")
        sys.modules[empty.__name__] = empty
        setattr(np, name, empty)
    try:
        import scipy.sparse  # noqa: PLC0415
        import scipy.special  # noqa: F401, PLC0415
    except (ImportError, AttributeError):
        pass
    finally:
        for name in placed:
            del sys.modules[f"numpy.{name}"]
            delattr(np, name)


_import_slim()

from scipy.sparse import csr_array, eye_array  # noqa: E402
from scipy.special import expit, log_expit, logsumexp, ndtr, ndtri, softmax, stdtr, stdtrit  # noqa: E402

__all__ = [
    "csr_array",
    "expit",
    "eye_array",
    "log_expit",
    "logsumexp",
    "ndtr",
    "ndtri",
    "softmax",
    "stdtr",
    "stdtrit",
]
