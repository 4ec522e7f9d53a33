"""Plays a random legal move. Asks for the full view, so that it needs to know nothing about the
rules.
"""

import json
import random
import sys


def answer(**fields):
    print(json.dumps(fields), flush=True)


rng = random.Random()
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        answer(type="ready", id=message["id"], view="full")
    elif message["type"] == "start":
        rng.seed(message["seed"])
    elif message["type"] == "turn":
        answer(type="move", id=message["id"], move=rng.choice(message["legal"]))
    elif message["type"] == "quit":
        break
