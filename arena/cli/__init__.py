"""The command line: the only code that parses arguments, prints or exits."""

import os
import signal
import sys

DONE, FAILED, BUG, INTERRUPTED = 0, 1, 3, 130
"""The exit statuses of commands; click ends with 2 for wrong usage."""
NO, UNDECIDED = 4, 5
"""The exit statuses of commands that answer a question."""


_heard: list[int] = []


def main() -> None:
    """Runs the command line and exits. SIGTERM and SIGHUP count as Ctrl-C, unless the caller had
    them ignored.
    """
    # While Python imports a module or shuts down, a KeyboardInterrupt prints where it struck, or is
    # lost. So this module imports only what Python has loaded anyway, and the rest after this.
    _heard[:] = [
        number
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN
    ]
    for number in _heard:
        signal.signal(number, _end)
    from arena.cli.main import run_command  # noqa: PLC0415

    status = run_command()
    for number in _heard:
        signal.signal(number, _end)
    sys.exit(status)


def command_is_loaded() -> None:
    """From now on, a signal that ends the process raises KeyboardInterrupt, after which a command
    can clean up.
    """
    for number in _heard:
        signal.signal(number, _interrupt)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _end(*_: object) -> None:
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)
