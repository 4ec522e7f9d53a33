"""Starts more processes than a bot may have."""

import os
import time

from polite import play


def misbehave(message):
    for _ in range(280):
        if os.fork() == 0:
            time.sleep(600)
            os._exit(0)
    time.sleep(600)


play(misbehave)
