"""Ends when its first game is announced."""

import sys

from polite import messages, ready

for message in messages():
    if message["type"] == "hello":
        ready(message)
    elif message["type"] == "start":
        sys.exit("this board is too large for me")
