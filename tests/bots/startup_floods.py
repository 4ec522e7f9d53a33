"""Prints to stdout without end, instead of an answer to hello."""

import sys

while True:
    sys.stdout.write("loading the opening book\n" * 4000)
