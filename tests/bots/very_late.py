"""Answers only when the arena has given up waiting."""

import sys

from polite import move, play


def misbehave(message):
    sys.stdin.read()
    move(message)


play(misbehave)
