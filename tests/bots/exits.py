"""Raises an exception in the middle of a game."""

from polite import play


def misbehave(message):
    raise KeyError("the square I meant")


play(misbehave)
