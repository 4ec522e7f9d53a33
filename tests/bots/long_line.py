"""Writes a line of two megabytes."""

from polite import play

play(lambda message: print("x" * 2_000_000, flush=True))
