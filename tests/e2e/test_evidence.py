"""What is kept of a fault: enough to repeat it, and no secret of a game that is still played."""

import json
import os
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.attacks.ground import commands
from tests.support.commandline import FIRST, SLOW
from tests.support.waiting import wait_for


def files_of(arena, run):
    """What can be read in a run's folder, by path, bots and names that come and go aside."""
    found = {}
    # which passes over what goes meanwhile
    for folder, folders, names in os.walk(arena.home / "results" / run):
        folders[:] = set(folders) - {"bots"}
        for path in (Path(folder, name) for name in names):
            with suppress(OSError):
                found[path] = path.read_text()
    return found


def keepers(arena):
    """The process ids of the keepers of the bots that play."""
    return {
        pid
        for pid, words in commands(str(arena.home))
        if any(word.endswith("/native/keeper") or "players.keeper" in word for word in words)
    }


def test_while_a_game_is_played_nothing_of_it_can_be_read(arena, zoo_bot):
    """One of three leaves early, the others play on slowly: until the end nothing on disk tells a
    hand, the deck or the fault.
    """
    for name in ("slow", "slower"):
        arena.add_bot(name, SLOW)
    name = zoo_bot("exits")
    process = arena.start(
        "run",
        "slow",
        "slower",
        name,
        "--players",
        3,
        "--deals",
        1,
        "--jobs",
        1,
        "--seed",
        "hush",
        "--out",
        "e",
    )
    journal = arena.home / "results" / "e" / "games.jsonl"
    wait_for(lambda: len(keepers(arena)) == 3, "the keepers of three bots")
    first = keepers(arena)
    wait_for(lambda: len(first & keepers(arena)) == 2, "the end of the first bot")
    slow = first & keepers(arena)
    seen = {}
    while len(slow & keepers(arena)) == 2:
        time.sleep(0.05)
        now = files_of(arena, "e")
        if len(slow & keepers(arena)) == 2:  # what was read was there while the game was played
            seen = now
    assert journal in seen
    process.communicate(timeout=200)
    assert process.returncode == 0
    records = arena.records("e")
    assert len(records) == 3
    told = "".join(text for path, text in seen.items() if path.name != "run.json")
    assert not any(path.name.startswith("seat-") for path in seen)
    assert not any(word in told for word in ("hand", "deck", "hush", records[0]["deck"][:24]))


@pytest.mark.parametrize("program", ["exits", "killed", "late", "illegal_move"])
def test_evidence_is_enough_to_repeat_a_fault_and_says_no_more(arena, zoo_bot, program):
    name = zoo_bot(program)
    clock = ("--clock", "wall") if program == "late" else ()  # it sleeps
    arena(
        "run",
        "rnd",
        "fst",
        name,
        "--players",
        3,
        "--deals",
        1,
        "--move-ms",
        700,
        *clock,
        "--seed",
        "a-secret-seed",
        "--out",
        "e",
    )
    for record in arena.records("e"):
        seat = record["bots"].index(name)
        [path] = (arena.home / "results" / "e" / "faults" / record["id"]).iterdir()
        text, evidence = path.read_text(), json.loads(path.read_text())
        assert path.name == f"seat-{seat}.json"
        assert "a-secret-seed" not in text
        assert record["deck"][:24] not in text
        assert (evidence["bot"], evidence["turn"]) == (name, record["faults"][0]["turn"])
        assert evidence["after_ms"] >= max(at_ms for _, at_ms, _ in evidence["lines"])
        assert {way for way, _, _ in evidence["lines"]} == {"to", "from"}
        starts = [
            json.loads(line)
            for way, _, line in evidence["lines"]
            if way == "to" and '"type":"start"' in line
        ]
        assert [(start["seat"], start["seed"]) for start in starts] == [
            (seat, evidence["bot_seed"])
        ]
        if program in ("exits", "killed"):
            status = {
                "exits": "exited with status 1; ",
                "killed": "was killed by signal 11 (SIGSEGV); ",
            }[program]
            assert evidence["ending"].startswith(status)
            assert " s of CPU time, at most " in evidence["ending"]
        if program == "exits":
            assert "KeyError: 'the square I meant'" in evidence["stderr"]


def test_a_stderr_of_any_length_is_kept_by_its_end(arena):
    arena.add_bot(
        "chatty",
        FIRST.replace(
            'elif message["type"] == "start":\n',
            'elif message["type"] == "start":\n'
            "        sys.stderr.write('x' * 300_000)\n        sys.exit('the end')\n",
        ),
    )
    arena("run", "chatty", "fst", "--deals", 1, "--out", "e", status=1)
    for path in (arena.home / "results" / "e" / "faults").rglob("seat-*.json"):
        stderr = json.loads(path.read_text())["stderr"]
        assert stderr.endswith("the end\n")
        assert len(stderr) == 8192
