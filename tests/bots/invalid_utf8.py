"""Answers in another encoding than UTF-8."""

import os

from polite import play


def misbehave(message):
    line = (
        f'{{"type":"move","id":{message["id"]},"move":"{message["legal"][0]}","why":"très bien"}}\n'
    )
    os.write(1, line.encode("latin-1"))


play(misbehave)
