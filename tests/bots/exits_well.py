"""Ends with status 0 instead of an answer."""

import sys

from polite import play

play(lambda message: sys.exit(0))
