"""What the misbehaving programs here have in common: they play by the protocol until their moment
comes.
"""

import json
import random
import sys


def send(**message):
    print(json.dumps(message), flush=True)


def messages():
    for line in sys.stdin:
        yield json.loads(line)


def ready(message):
    send(type="ready", id=message["id"], view="full")


def move(message):
    send(type="move", id=message["id"], move=random.Random(message["id"]).choice(message["legal"]))


def play(misbehave=None, good_turns=2, hello=ready):
    """Plays legal moves, and after `good_turns` of them calls `misbehave(message)` instead of
    answering.
    """
    turns = 0
    for message in messages():
        if message["type"] == "hello":
            hello(message)
        elif message["type"] == "turn":
            turns += 1
            if misbehave and turns > good_turns:
                misbehave(message)
            else:
                move(message)
        elif message["type"] == "quit":
            return


if __name__ == "__main__":
    play()
