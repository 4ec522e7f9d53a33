"""Sends a number that JSON does not have."""

from polite import play, send

play(
    lambda message: send(
        type="move", id=message["id"], move=message["legal"][0], value=float("nan")
    )
)
