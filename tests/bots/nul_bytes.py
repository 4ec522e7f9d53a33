"""Answers with bytes of zero around the line."""

import json
import os

from polite import play


def misbehave(message):
    answer = json.dumps({"type": "move", "id": message["id"], "move": message["legal"][0]})
    os.write(1, b"\0\0" + answer.encode() + b"\0\n")


play(misbehave)
