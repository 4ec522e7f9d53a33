"""Ends in the middle of its answer."""

import os

from polite import play


def misbehave(message):
    print(f'{{"type":"move","id":{message["id"]},"mo', end="", flush=True)
    os._exit(4)


play(misbehave)
