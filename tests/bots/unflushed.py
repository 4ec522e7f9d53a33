"""Answers, but leaves the answer in a buffer."""

import json
import sys

from polite import play


def misbehave(message):
    sys.stdout.write(
        json.dumps({"type": "move", "id": message["id"], "move": message["legal"][0]}) + "\n"
    )


play(misbehave, good_turns=0)
