"""The command line: the only code that parses arguments, prints or exits."""

import os
import signal
import sys
from collections.abc import Callable, Iterable
from typing import NoReturn

INTERRUPTED = 130


def main() -> NoReturn:
    """Runs the command line and exits; to be ended or hung up on is like Ctrl-C, unless whoever
    started it wants that ignored.
    """
    # While Python imports a module or shuts down, a KeyboardInterrupt would print where it struck.
    heard = [
        number
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN
    ]
    _answer(heard, _end)
    from arena.cli.main import run_command

    _answer(heard, _interrupt)
    status = run_command()
    _answer(heard, _end)
    sys.exit(status)


def _answer(numbers: Iterable[int], handler: Callable[..., object]) -> None:
    for number in numbers:
        signal.signal(number, handler)


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _end(*_: object) -> NoReturn:
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)
