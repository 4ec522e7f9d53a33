"""Writes half of its answer, and sleeps."""

import time

from polite import play


def misbehave(message):
    print(f'{{"type":"move","id":{message["id"]},"mo', end="", flush=True)
    time.sleep(600)


play(misbehave)
