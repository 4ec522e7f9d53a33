"""Answers too late, and the next request at once with it."""

import time

from polite import move, play


def misbehave(message):
    time.sleep(message["time_ms"] / 1000 + 1)
    move(message)
    move({**message, "id": message["id"] + 1})


play(misbehave)
