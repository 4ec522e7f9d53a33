"""Handles signals during a run: the first one lets running games finish, the second ends the
command.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from arena.cli import INTERRUPTED
from arena.cli.terminal import say
from arena.tournament.runner import Runner

AT_ONCE = 2
"""The stop level of a runner after a second signal: running games are killed."""
END_S = 1.5
"""How many seconds the command may take to end after the second signal, before it is ended by
force. It usually takes a fifth of that.
"""


@contextmanager
def stop_on_signals(runner: Runner) -> Iterator[None]:
    """A context manager during whose block Ctrl-C, SIGTERM and SIGHUP stop the runner: the first
    signal lets running games finish, and the second kills them and, `END_S` seconds later, this
    process. A SIGHUP that is ignored, as under nohup, stays ignored.
    """

    def end_at_once() -> None:
        """Ends the process by force."""
        say("\ninterrupted: repeat the same command to go on")
        os._exit(INTERRUPTED)

    # Ending by force loses nothing, even while games are rated: the games played are on disk, and
    # workers and bots end with this process.
    end = threading.Timer(END_S, end_at_once)
    end.daemon = True

    def stop(*_: object) -> None:
        """A signal handler that asks the runner to stop."""
        runner.request_stop()
        if runner.stop_level == AT_ONCE:
            end.start()

    heard = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        heard.append(signal.SIGHUP)
    before = {number: signal.signal(number, stop) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
