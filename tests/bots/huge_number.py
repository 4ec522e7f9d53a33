"""Sends an id of sixty thousand digits."""

from polite import play

play(
    lambda message: print(
        f'{{"type":"move","id":{"9" * 60_000},"move":"{message["legal"][0]}"}}', flush=True
    )
)
