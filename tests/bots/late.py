"""Answers after its time is up."""

import time

from polite import move, play


def misbehave(message):
    time.sleep(message["time_ms"] / 1000 + 1)
    move(message)


play(misbehave)
