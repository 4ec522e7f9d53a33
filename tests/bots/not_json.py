"""Prints its thoughts on stdout."""

from polite import move, play


def misbehave(message):
    print(f"thinking about {len(message['legal'])} moves", flush=True)
    move(message)


play(misbehave)
