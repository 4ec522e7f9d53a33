"""Reads hello, and never says ready."""

import sys
import time

sys.stdin.readline()
time.sleep(600)
