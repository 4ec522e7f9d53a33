"""Confines this process with Landlock and seccomp, then becomes the bot: the sandbox for machines
on which bubblewrap does not work.

    python -I -S confine.py FILTER SPEC -- COMMAND...

FILTER is a descriptor with the seccomp program. SPEC is JSON: ``read``, ``write``, ``devices`` and
``driven`` (devices with requests to their drivers) are lists of paths, ``limits`` are pairs for
setrlimit, and ``dials`` allows connections. The bot can open no other files, and neither signal nor
trace processes outside. This file stands alone and imports little, because it delays every start.
"""

import contextlib
import ctypes
import json
import os
import resource
import struct
import sys

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION_FLAG, PATH_BENEATH = 1, 1
NO_NEW_PRIVILEGES, SET_SECCOMP, MODE_FILTER = 38, 22, 2
CAPABILITIES_VERSION = 0x20080522

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | 1 << 14 | 1 << 15
RIGHTS_BY_VERSION = {1: 13, 2: 14, 3: 15, 4: 15}
"""The number of file rights that each version of Landlock knows; 16 from the fifth version on."""
NETWORK_SINCE, SCOPES_SINCE = 4, 6

libc = ctypes.CDLL(None, use_errno=True)


def call(number: int, *arguments: object) -> int:
    """A system call that must succeed."""
    result = int(libc.syscall(number, *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def restrict(
    read: list[str], write: list[str], devices: list[str], driven: list[str], *, dials: bool
) -> None:
    """Allows only reading below ``read``, everything below ``write``, reading and writing
    ``devices`` and ``driven``, and requests to the drivers of the latter.
    """
    version = call(CREATE_RULESET, None, ctypes.c_size_t(0), VERSION_FLAG)
    handled = (1 << RIGHTS_BY_VERSION.get(version, 16)) - 1
    closes = version >= NETWORK_SINCE and not dials
    attributes = struct.pack(
        "=QQQ", handled, 3 if closes else 0, 3 if version >= SCOPES_SINCE else 0
    )
    size = 24 if version >= SCOPES_SINCE else 16 if version >= NETWORK_SINCE else 8
    ruleset = call(CREATE_RULESET, attributes, ctypes.c_size_t(size), 0)
    for paths, rights in (
        (read, EXECUTE | READ_FILE | READ_DIR),
        (write, handled & ~(EXECUTE | 1 << 15)),
        (devices, READ_FILE | WRITE_FILE),
        (driven, READ_FILE | WRITE_FILE | 1 << 15),
    ):
        for path in paths:
            with contextlib.suppress(FileNotFoundError):
                allow(ruleset, path, rights & handled)
    call(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def allow(ruleset: int, path: str, rights: int) -> None:
    """Adds a rule for a path."""
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    # Pathlib would double the start-up time.
    if not os.path.isdir(path):  # noqa: PTH112
        rights &= OF_FILES
    call(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", rights, place), 0)
    os.close(place)


def drop_capabilities() -> None:
    """Gives up root's powers; for good, because no new privileges can be gained."""
    if libc.capset(struct.pack("=Ii", CAPABILITIES_VERSION, 0), bytes(24)):
        raise OSError(ctypes.get_errno(), "capset refused")


def filter_calls(program: bytes) -> None:
    """Installs a seccomp filter."""
    text = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(
        struct.pack("@HP", len(program) // 8, ctypes.addressof(text))
    )
    if libc.prctl(SET_SECCOMP, MODE_FILTER, header, 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp refused")


def main() -> None:
    """Confines this process and runs the command."""
    program = os.read(int(sys.argv[1]), 1 << 16)
    os.close(int(sys.argv[1]))
    spec = json.loads(sys.argv[2])
    command = sys.argv[4:]
    for name, number in spec["limits"]:
        _, hard = resource.getrlimit(getattr(resource, name))
        most = number if hard == resource.RLIM_INFINITY else min(number, hard)
        resource.setrlimit(getattr(resource, name), (most, most))
    if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "no_new_privs refused")
    drop_capabilities()
    restrict(spec["read"], spec["write"], spec["devices"], spec["driven"], dials=spec["dials"])
    filter_calls(program)
    try:
        # A shell is what must not come between.
        os.execvp(command[0], command)  # noqa: S606
    except OSError as error:
        raise SystemExit(f"could not be started: {command[0]}: {error}") from None


if __name__ == "__main__":
    main()
