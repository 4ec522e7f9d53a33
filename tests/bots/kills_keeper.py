"""Leaves a process in a session of its own behind, then kills the process that watches over it."""

import os
import signal
import sys
import time

from polite import play


def misbehave(message):
    ready, told = os.pipe()
    if os.fork() == 0:
        os.setsid()
        os.close(1)
        print(os.getpid(), file=sys.stderr, flush=True)
        os.write(told, b"x")
        time.sleep(600)
    os.read(ready, 1)
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(600)


play(misbehave)
