"""Closes its own stdin and stays, silent."""

import os
import time

from polite import play


def misbehave(message):
    os.close(0)
    time.sleep(600)


play(misbehave)
