"""A bot that answers each turn of a game with the next move of a list: usage parrot.py MOVE..."""

import json
import sys

turn = 0
for line in sys.stdin:
    message = json.loads(line)
    kind = message["type"]
    if kind == "turn":
        turn += 1
        sys.stdout.write(
            json.dumps({"type": "move", "id": message["id"], "move": sys.argv[turn]}) + "\n"
        )
        sys.stdout.flush()
    elif kind == "start":
        turn = 0
    elif kind == "hello":
        sys.stdout.write(json.dumps({"type": "ready", "id": message["id"]}) + "\n")
        sys.stdout.flush()
