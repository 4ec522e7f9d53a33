"""A bot that says and does what a script tells it, request by request, and notes every line it
reads.

usage: scripted.py SCRIPT NOTES; SCRIPT is JSON, a list of lists of actions: the first before
anything is read, the next after the first request, and so on.
"""

import json
import os
import pathlib
import sys
import time

script = json.loads(pathlib.Path(sys.argv[1]).read_text())
# Open as long as the program runs.
notes = pathlib.Path(sys.argv[2]).open("a")  # noqa: SIM115


def act(actions):
    for action in actions:
        word, _, rest = action.partition(" ")
        if word == "<":
            os.write(1, rest.encode() + b"\n")
        elif action.startswith("! sleep "):
            time.sleep(float(action.split()[2]) / 1000)
        elif action.startswith("! compute "):
            compute(float(action.split()[2]) / 1000)
        elif action.startswith("! write "):
            os.write(
                1, action[len("! write ") :].encode().decode("unicode_escape").encode("latin-1")
            )
        elif action == "! close stdout":
            os.close(1)
        elif action.startswith(("! exit ", "! kill ")):
            leave(*action.split()[1:])
        elif action.startswith("! repeat "):
            _, _, times, line = action.split(" ", 3)
            data = (line + "\n").encode() * int(times)
            while data:
                data = data[os.write(1, data) :]
        else:
            raise SystemExit(f"unknown action {action!r}")


def leave(how, number):
    if how == "exit":
        os._exit(int(number))
    os.kill(os.getpid(), int(number))


def compute(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


act(script[0])
requests = 0
for line in sys.stdin:
    print(line, end="", file=notes, flush=True)
    message = json.loads(line)
    if "id" in message:
        requests += 1
        if requests < len(script):
            act(script[requests])
    if message["type"] == "quit":
        break
