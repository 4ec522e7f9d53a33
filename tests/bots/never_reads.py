"""Says ready unasked and never reads a line."""

import time

from polite import send

send(type="ready", id=1)
time.sleep(600)
