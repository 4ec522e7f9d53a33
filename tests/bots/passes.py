"""Passes though it could move."""

from polite import play, send

play(lambda message: send(type="move", id=message["id"], move="pass"))
