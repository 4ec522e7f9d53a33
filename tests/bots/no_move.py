"""Sends a text that is no move at all."""

from polite import play, send

play(lambda message: send(type="move", id=message["id"], move="I resign"))
