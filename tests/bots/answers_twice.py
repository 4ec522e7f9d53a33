"""Answers each turn twice."""

from polite import move, play


def misbehave(message):
    move(message)
    move(message)


play(misbehave)
