"""Answers the same thing thousands of times."""

import sys

from polite import move, play


def misbehave(message):
    for _ in range(20_000):
        move(message)
    sys.stdout.flush()


play(misbehave)
