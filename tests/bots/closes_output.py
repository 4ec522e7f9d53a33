"""Closes its output and goes on running."""

import os
import time

from polite import play


def misbehave(message):
    os.close(1)
    time.sleep(600)


play(misbehave)
