"""What the attacks here have in common: try one thing, and say on stdout how it went."""

import ctypes
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)


def checked(result):
    """The result of a C function that sets errno; raises OSError for -1."""
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def main(attacks):
    """Runs the attack that the first argument names, with the others; what it returns is what it
    got hold of.
    """
    try:
        print("open", attacks[sys.argv[1]](*sys.argv[2:]), flush=True)
    except (OSError, MemoryError, RuntimeError) as error:
        print("blocked", error, flush=True)
