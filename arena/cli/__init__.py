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
    open_closed_streams()
    # Ratings solve small systems. With more threads, OpenBLAS waits for its own threads where games
    # are played beside it: a table of 300 bots then takes a third more processor time. Bots do not
    # get this variable.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # While Python imports a module or shuts down, a KeyboardInterrupt prints a traceback, or is
    # lost. So this module imports only what Python has loaded anyway; the rest comes after this.
    _heard.clear()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            _heard.append(number)
            signal.signal(number, _end)
    from arena.cli.main import run_command  # noqa: PLC0415

    status = run_command()
    for heard in _heard:
        signal.signal(heard, _end)
    sys.exit(status)


def open_closed_streams() -> None:
    """Replaces each standard stream with which the process was started closed, as by ``<&-``, with
    one that leads to /dev/null. Otherwise a file that is opened later would get its descriptor, and
    Python would have None as the stream.
    """
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is not None:
            continue
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it gets the lowest free number, which is this one
            os.set_inheritable(descriptor, True)  # noqa: FBT003 - it takes no keyword
        # It stays open until the process ends, as the usual streams do.
        mode = "w" if descriptor else "r"
        stream = open(os.devnull, mode, encoding="utf-8")  # noqa: PTH123, SIM115
        setattr(sys, name, stream)


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
