"""Ends, and leaves a child behind that holds its stdout open."""

import os
import subprocess
import sys

from polite import play


def misbehave(message):
    subprocess.Popen([sys.executable, "-c", "import os, time; os.setsid(); time.sleep(600)"])
    os._exit(0)


play(misbehave)
