"""The game itself: boards, notation, and the state that knows the rules, in the core that this machine has.

``ARENA_RULES=pure|native`` forces a core; one that is asked for and missing is an error.
"""

import os

from arena.errors import UserError
from arena.rules.pure import State

CORE = os.environ.get("ARENA_RULES") or "pure"
"""Which core is in use."""

if CORE != "pure":
    raise UserError(f"expected ARENA_RULES to be pure, got {CORE!r}", "unset ARENA_RULES, or set it to pure")

__all__ = ["CORE", "State"]
