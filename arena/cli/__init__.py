"""The command line: the only package that parses arguments, prints or exits."""

import os
import signal
import sys

DONE, FAILED, BUG, INTERRUPTED = 0, 1, 3, 130
"""The exit statuses of commands; click ends with 2 for wrong usage."""
NO, UNDECIDED = 4, 5
"""The exit statuses of commands that answer a question."""


_heard: list[int] = []
"""The signals that count as Ctrl-C, set by `main`."""


def main() -> None:
    """Runs the command line and exits. SIGTERM and SIGHUP count as Ctrl-C, except signals that the
    caller has set to be ignored.
    """
    # While Python imports a module or shuts down, a KeyboardInterrupt prints a traceback, or is
    # lost. So this module imports only what Python has loaded anyway; the rest comes after this.
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
    """Makes a signal that would end the process raise KeyboardInterrupt from now on, so that the
    command can clean up. Called when the module of the command has been imported.
    """
    for number in _heard:
        signal.signal(number, _interrupt)


def _interrupt(*_: object) -> None:
    """A signal handler that raises KeyboardInterrupt."""
    raise KeyboardInterrupt


def _end(*_: object) -> None:
    """A signal handler that prints "interrupted" and ends the process at once."""
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)
