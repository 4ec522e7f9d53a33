"""Dies by a signal in the middle of a game."""

import os
import signal

from polite import play

play(lambda message: os.kill(os.getpid(), signal.SIGKILL))
