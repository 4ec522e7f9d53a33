"""Writes its answer without the newline."""

import json

from polite import play


def misbehave(message):
    print(
        json.dumps({"type": "move", "id": message["id"], "move": message["legal"][0]}),
        end="",
        flush=True,
    )


play(misbehave)
