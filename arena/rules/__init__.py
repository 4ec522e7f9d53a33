"""The rules of Qin: boards, notation, and the game state `State`, which exists twice: in Python
(the pure core) and in C (the native core). Both give the same results.

`State` is the class of the native core if that core was built, else the class of the pure core. The
environment variable ``ARENA_RULES`` forces a core: ``pure`` or ``native``; empty, it forces none.
Importing this package raises UserError for another value, and for ``native`` if that core cannot be
loaded.
"""

import os
from typing import TYPE_CHECKING

from arena.errors import UserError, check_variable

_wanted = os.environ.get("ARENA_RULES", "")
check_variable("ARENA_RULES", _wanted, ["pure", "native"])
CORE = "pure"
"""The core that `State` belongs to, ``pure`` or ``native``."""
if not TYPE_CHECKING and _wanted != "pure":
    try:
        from arena.rules.native import State

        CORE = "native"
    except ImportError as error:
        if _wanted == "native":
            raise UserError(
                f"cannot load the native rules core, which ARENA_RULES asks for: {error}",
                "install a C compiler and run 'pip install .' again, or unset ARENA_RULES",
            ) from None
# The pure core is not imported beside the native one: every start of a Python bot would wait for
# that.
if CORE == "pure":
    from arena.rules.pure import State

__all__ = ["CORE", "State"]
