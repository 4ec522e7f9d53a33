"""Sends a list instead of an object."""

from polite import play

play(lambda message: print(f'["move", {message["id"]}, "{message["legal"][0]}"]', flush=True))
