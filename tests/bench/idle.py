"""A bot that writes a line and then does nothing."""

import time

print("ready", flush=True)
time.sleep(600)
