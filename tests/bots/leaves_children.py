"""Starts a process that hides in a session of its own, then stops answering."""

import subprocess
import sys

from polite import play


def misbehave(message):
    subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import os, time; os.setsid(); print(os.getpid(), flush=True); time.sleep(600)",
        ],
        stdout=sys.stderr,
    )


play(misbehave)
