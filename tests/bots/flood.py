"""Answers the same thing thousands of times, in one write, so that all of it is there at once also
on a slow machine.
"""

import json
import random
import sys

from polite import play


def misbehave(message):
    answer = {"type": "move", "id": message["id"], "move": random.choice(message["legal"])}
    sys.stdout.write((json.dumps(answer) + "\n") * 20_000)
    sys.stdout.flush()


play(misbehave)
