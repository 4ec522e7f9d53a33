"""Answers a turn with ready."""

from polite import play, ready

play(ready)
