"""Answers under the id of the turn before."""

from polite import play, send

play(lambda message: send(type="move", id=message["id"] - 1, move=message["legal"][0]))
