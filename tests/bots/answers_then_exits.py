"""Answers every turn, and is gone the moment after its third answer."""

import os

from polite import move, play


def misbehave(message):
    move(message)
    os._exit(0)


play(misbehave)
