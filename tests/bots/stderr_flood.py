"""Writes to stderr until that is refused, and dies of it."""

import sys

from polite import play


def misbehave(message):
    while True:
        sys.stderr.write("considering everything\n" * 50_000)


play(misbehave)
