"""Which code does an exchange with a bot in the usual case: the C function if it was built, else
the Python code of `Channel`.

``ARENA_CHANNEL=python|native`` forces one; it is an error if the native one is missing.
"""

import os
from collections.abc import Callable
from typing import Literal

from arena.errors import UserError

Told = tuple[bytes | None, bytes, int, int, int, int]
"""The reply, or None if this is not the usual case; what else was read; how many bytes were
written; when they were sent and when the reply was read, on the monotonic clock in ns; the counter
at that time, -1 without one.
"""
Exchange = Callable[[int, int, bytes, int, int], Told]
"""Sends lines to one descriptor, waits until a deadline for a line from another, and reads the
counter, a third or -1.
"""


def chosen(wanted: str) -> Exchange | None:
    """The C function, or None for the Python code. Raises UserError."""
    if wanted not in ("", "python", "native"):
        raise UserError(
            f"expected ARENA_CHANNEL to be python or native, got {wanted!r}",
            "unset ARENA_CHANNEL, or set it to one of them",
        )
    if wanted == "python":
        return None
    try:
        # A machine without a compiler has none.
        from arena.players.native import exchange  # noqa: PLC0415
    except ImportError as error:
        if wanted == "native":
            raise UserError(
                f"expected the native channel, as ARENA_CHANNEL asks, got {error}",
                "install a C compiler and run 'pip install .' again, or unset ARENA_CHANNEL",
            ) from None
        return None
    return exchange


EXCHANGE = chosen(os.environ.get("ARENA_CHANNEL", ""))
CHANNEL: Literal["python", "native"] = "native" if EXCHANGE else "python"
"""Which code is in use."""
