"""The game itself: boards, notation, and the game state that knows the rules, in the faster of two
cores.

The native core is used if it was built, else the pure one. ``ARENA_RULES=pure|native`` forces a
core; it is an error if that core is missing.
"""

import os
from typing import TYPE_CHECKING

from arena.errors import UserError
from arena.rules import pure

if TYPE_CHECKING:
    from arena.rules.pure import State
else:
    _wanted = os.environ.get("ARENA_RULES", "")
    if _wanted not in ("", "pure", "native"):
        raise UserError(
            f"expected ARENA_RULES to be pure or native, got {_wanted!r}",
            "unset ARENA_RULES, or set it to one of them",
        )
    try:
        if _wanted == "pure":
            State = pure.State
        else:
            from arena.rules.native import State
    except ImportError as error:
        if _wanted == "native":
            raise UserError(
                f"cannot load the native rules core, which ARENA_RULES asks for: {error}",
                "install a C compiler and run 'pip install .' again, or unset ARENA_RULES",
            ) from None
        State = pure.State

CORE = "pure" if State is pure.State else "native"
"""The core in use, ``pure`` or ``native``."""

__all__ = ["CORE", "State"]
