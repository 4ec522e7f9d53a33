"""Reads everything and stops answering."""

from polite import play

play(lambda message: None)
