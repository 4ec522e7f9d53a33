"""Plays by the protocol, but computes all the time, on others' turns too."""

import os

from polite import play

for _ in range(3):
    if os.fork() == 0:
        while True:
            pass
play()
