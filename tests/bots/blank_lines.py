"""Writes empty lines without end."""

import sys

from polite import play


def misbehave(message):
    while True:
        sys.stdout.write("\n" * 10_000)


play(misbehave)
