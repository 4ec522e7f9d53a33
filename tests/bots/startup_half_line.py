"""Starts its answer to hello, and hangs."""

import sys
import time

sys.stdin.readline()
print('{"type":"ready",', end="", flush=True)
time.sleep(600)
