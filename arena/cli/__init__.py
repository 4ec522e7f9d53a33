"""The command line: the only code that parses arguments, prints or exits."""

import os
import signal
import sys
from typing import NoReturn

INTERRUPTED = 130


def main() -> NoReturn:
    """Runs the command line and exits."""
    # While Python imports a module or shuts down, a KeyboardInterrupt would print where it struck.
    is_heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_heard:
        signal.signal(signal.SIGINT, _end)
    from arena.cli.main import run_command  # noqa: PLC0415 - the handler has to be there first

    if is_heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    status = run_command()
    if is_heard:
        signal.signal(signal.SIGINT, _end)
    sys.exit(status)


def _end(*_: object) -> NoReturn:
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)
