"""A bot's process made of a few lines of Python, and the processes that it starts."""

import os
import sys

import pytest

from arena.players.process import BotProcess

PYTHON = sys.executable


@pytest.fixture
def start(tmp_path):
    started = []

    def run(code, *command):
        process = BotProcess(command or [PYTHON, "-c", code], tmp_path)
        started.append(process)
        return process

    yield run
    for process in started:
        process.stop()
        for descriptor in (process.to_bot, process.from_bot):
            os.close(descriptor)


HIDING = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import os, time; os.setsid(); time.sleep(600)"])
told, tell = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        os.write(tell, b".")
        time.sleep(600)
    os._exit(0)
os.read(told, 1)
print(child.pid, flush=True)
time.sleep(600)
"""


def pids_of(process, count=2):
    data = b""
    while data.count(b"\n") < count:
        assert (got := os.read(process.from_bot, 100)), f"only {data!r} came"  # noqa: RUF018
        data += got
    return [int(word) for word in data.split()]
