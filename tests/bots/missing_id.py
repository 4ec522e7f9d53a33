"""Leaves the id out."""

from polite import play, send

play(lambda message: send(type="move", move=message["legal"][0]))
