"""Writes its answer a byte at a time, slower than its time allows."""

import json
import sys
import time

from polite import play


def misbehave(message):
    for letter in (
        json.dumps({"type": "move", "id": message["id"], "move": message["legal"][0]}) + "\n"
    ):
        sys.stdout.write(letter)
        sys.stdout.flush()
        time.sleep(0.2)


play(misbehave)
