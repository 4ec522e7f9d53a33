"""Ends with an error before it has said ready."""

import sys

sys.exit("no model file: weights.bin")
