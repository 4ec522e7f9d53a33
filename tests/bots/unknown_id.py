"""Answers under an id that was never asked."""

from polite import play, send

play(lambda message: send(type="move", id=message["id"] + 1, move=message["legal"][0]))
