"""Stops itself with a signal, as if to stop the clock."""

import os
import signal

from polite import play

play(lambda message: os.kill(os.getpid(), signal.SIGSTOP))
