"""What a process of the version under measurement runs: starts bots in bubblewrap, and prints a
figure. It uses only what `BotProcess` has had in earlier versions, too.

    probe.py start ROUNDS FOLDER COMMAND...   wall time in s until a bot has written its first line
    probe.py look SECONDS FOLDER COMMAND...   share of a core that the keeper of an idle bot takes
"""

import os
import sys
import time
from pathlib import Path
from statistics import median

from arena.players.process import BotProcess
from arena.players.sandbox.tiers import Sandbox

SETTLE_S = 1.0


def started(folder, command):
    """A bot in bubblewrap that has written its line."""
    process = BotProcess(command, folder, Sandbox("bubblewrap"))
    line = b""
    while not line.endswith(b"\n"):
        piece = os.read(process.from_bot, 1)
        assert piece, process.stderr_tail()
        line += piece
    return process


def end(process):
    """Ends the bot."""
    process.stop()
    os.close(process.to_bot)
    os.close(process.from_bot)


def start_s(rounds, folder, command):
    """The median, after a first one that fills the caches. By the wall clock: a bot that is killed
    takes the count of its processor time with it.
    """
    end(started(folder, command))
    waits = []
    for _ in range(rounds):
        began = time.perf_counter()
        process = started(folder, command)
        waits.append(time.perf_counter() - began)
        end(process)
    return median(waits)


def below(parent):
    """The processes that this one started, directly or through others."""
    children = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            number = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(number, []).append(int(stat.parent.name))
    found = [parent]
    for each in found:
        found += children.get(each, [])
    return found[1:]


def look_share(seconds, folder, command):
    """The bot sleeps, so that below this process only its keeper and bubblewrap compute."""
    process = started(folder, command)
    time.sleep(SETTLE_S)
    processes = below(os.getpid())
    before = ns_of(processes)
    began = time.monotonic()
    time.sleep(seconds)
    share = (ns_of(processes) - before) / 1e9 / (time.monotonic() - began)
    end(process)
    return share


def ns_of(processes):
    """Their processor time so far, in ns."""
    return sum(int(Path(f"/proc/{each}/schedstat").read_text().split()[0]) for each in processes)


if __name__ == "__main__":
    what, figure, where, *words = sys.argv[1:]
    measured = {"start": start_s, "look": look_share}[what](int(figure), Path(where), words)
    print(measured)
