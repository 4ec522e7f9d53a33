"""Sends the id as text."""

from polite import play, send

play(lambda message: send(type="move", id=str(message["id"]), move=message["legal"][0]))
