"""Answers hello as if it were a turn."""

from polite import play, send

play(hello=lambda message: send(type="move", id=message["id"], move="Rc4Yd4"))
