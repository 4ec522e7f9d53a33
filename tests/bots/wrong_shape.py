"""Sends the move as a list."""

from polite import play, send

play(lambda message: send(type="move", id=message["id"], move=[message["legal"][0]]))
