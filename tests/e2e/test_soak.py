"""A long run: the memory and the open files of the main process and of the workers stay flat.

``make soak`` plays 20,000 games, the tests 300; ARENA_SOAK_GAMES chooses another number.
"""

import os
import sys
import time
from pathlib import Path

import pytest

from tests.support.commandline import FIRST, SMALL
from tests.support.kills import journal_lines, processes

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="memory and files are read from /proc"
)

GAMES = int(os.environ.get("ARENA_SOAK_GAMES", "300"))
WARM_UP = 0.25
"""The share of games after which a process has all that it needs."""
GROWTH_KB = 4096
"""What a process may grow by over the rest; a leak of a record a game would be ten times that over
20,000.
"""
BOTS_FILES = 28
"""Of four processes, one for each bot and seating, which a worker keeps. In a short run all of them
may be there at every look in one half, and none in the other; a leak of one file a game would be
many times that.
"""
PER_GAME_KB = {"main": 0.5, "worker": 0.0}
"""The main process keeps the ids of the games that are played; a worker keeps nothing."""


def measure(pid):
    """(resident kB, open descriptors) of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    [resident] = [int(line.split()[1]) for line in lines if line.startswith("RssAnon")]
    return resident, len(os.listdir(f"/proc/{pid}/fd"))


def kinds(arena, main):
    """The processes of the run whose use has to stay flat."""
    return {
        main: "main",
        **{
            pid: "worker"
            for pid, command in processes(str(arena.home)).items()
            if "spawn_main" in command
        },
    }


@pytest.mark.timeout(max(300, GAMES))
def test_memory_and_open_files_stay_flat(arena):
    arena.add_bot("other", FIRST)
    (arena.home / "small.txt").write_text(SMALL)
    deals = GAMES // 2
    process = arena.start(
        "run",
        "fst",
        "other",
        "--board",
        "small.txt",
        "--deals",
        deals,
        "--jobs",
        2,
        "--out",
        "long",
        "--quiet",
    )
    samples = {}
    began = time.monotonic()
    while process.poll() is None:
        played = journal_lines(arena, "long")
        if GAMES * WARM_UP < played < GAMES * 0.98:
            for pid, kind in kinds(arena, process.pid).items():
                try:
                    samples.setdefault(pid, []).append((kind, played, *measure(pid)))
                except OSError:
                    continue
        time.sleep(0.05)
    _, err = process.communicate(timeout=100)
    assert process.returncode == 0, err
    assert journal_lines(arena, "long") == deals * 2
    # a worker's child is its copy until it becomes a keeper
    lasting = [seen for seen in samples.values() if len(seen) > 3]
    assert len(lasting) == 3
    for seen in lasting:
        kind, before, resident_then, _ = seen[0]
        _, games, resident, _ = seen[-1]
        half = len(seen) // 2  # a bot that is being started has some files open for a moment
        files_then, files = (
            min(sample[3] for sample in part) for part in (seen[:half], seen[half:])
        )
        print(
            f"{kind}: {resident_then} kB and {files_then} files after {before} games, {resident} kB"
            f" and {files} files after {games}"
        )
        assert resident - resident_then < GROWTH_KB + PER_GAME_KB[kind] * (games - before), kind
        assert files <= files_then + BOTS_FILES, kind
    print(f"{deals * 2} games in {time.monotonic() - began:.0f} s")
