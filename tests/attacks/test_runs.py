"""Whole tournaments with attackers in them: every game is in the journal once, the culprit
forfeits, and nothing of it stays.
"""

import json
import os
import re
from pathlib import Path

import pytest

from arena.errors import SandboxError
from arena.players.sandbox.tiers import Sandbox
from tests.attacks.ground import commands
from tests.support.commandline import RANDOM

TURN = '    elif message["type"] == "turn":'
FIRST = '    if message["type"] == "hello":'


def attacker(code, moment=FIRST):
    """The random bot, which does something else first at a moment of each game."""
    assert moment in RANDOM
    lines = "".join(f"        {line}\n" for line in code.splitlines())
    return RANDOM.replace(moment, f"{moment}\n{lines.rstrip()}")


FORGER = """
import os, re
found = []
for path in PATHS:
    try:
        found.append(re.search("seed.*", open(path).read()))
        open(path, "a").write("forged\\n")
    except OSError as error:
        found.append(error)
print(found, file=sys.stderr, flush=True)
"""
HUNTER = """
import os, signal
try:
    names = os.listdir("/proc")
except OSError:
    names = [str(os.getppid())]
for name in names:
    if name.isdigit() and int(name) != os.getpid():
        try:
            words = open(f"/proc/{name}/cmdline").read()
            if "MARK" in words and "hunter" not in words:
                os.kill(int(name), signal.SIGKILL)
        except OSError:
            pass
"""
LEAVER = """
import os, subprocess, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.dup2(os.open("/dev/null", os.O_RDWR), 1)
        subprocess.run([sys.executable, "-c", "import time; time.sleep(600)", "MARK"])
    os._exit(0)
os.wait()
"""
HOG = "kept = [b'x' * (8 << 20) for _ in range(16)]\nimport time; time.sleep(1)"


@pytest.mark.parametrize("tier", ["bubblewrap", "landlock", "none"])
def test_the_journal_and_the_seed_are_out_of_reach(arena, tiers_command, tier):
    options = tiers_command(tier)
    folder = arena.home / "results" / "run"
    paths = [str(folder / "games.jsonl"), str(folder / "run.json")]
    arena.add_bot("forger", attacker(FORGER.replace("PATHS", repr(paths))))
    process = arena.start("run", "forger", "fst", "--deals", 2, "--out", "run", "-v", *options)
    _, err = process.communicate(timeout=240)
    assert tier in err
    forged = "forged" in (folder / "games.jsonl").read_text() + (folder / "run.json").read_text()
    assert forged == (tier == "none"), "the counterproof: without a sandbox it works"
    if tier != "none":
        assert process.returncode == 0
        assert (
            len({record["id"] for record in arena.records("run")}) == len(arena.records("run")) == 4
        )
        assert [record["faults"] for record in arena.records("run") if record["faults"]] == []
        assert {record["sandbox"] for record in arena.records("run")} == {tier}


@pytest.mark.parametrize("tier", ["bubblewrap", "landlock"])
def test_a_hunter_reaches_neither_rivals_nor_workers(arena, tiers_command, tier):
    options = tiers_command(tier)
    arena.add_bot("hunter", attacker(HUNTER.replace("MARK", str(arena.home)), TURN))
    arena("run", "hunter", "fst", "--deals", 2, "--out", "run", *options)
    assert [record["faults"] for record in arena.records("run")] == [[]] * 4


@pytest.mark.parametrize("tier", ["bubblewrap", "landlock", "none"])
def test_daemons_end_with_the_run(arena, tiers_command, tier):
    options = tiers_command(tier)
    mark = f"daemon-of-{arena.home.name}-{tier}"
    arena.add_bot("leaver", attacker(LEAVER.replace("MARK", mark)), fresh=True)
    arena("run", "leaver", "fst", "--deals", 2, "--out", "run", *options)
    assert commands(mark) == []


@pytest.mark.parametrize("tier", ["bubblewrap", "landlock", "none"])
def test_who_takes_too_much_memory_forfeits(arena, tiers_command, tier):
    options = tiers_command(tier)
    arena.add_bot("hog", attacker(HOG, TURN), memory_mb=64)
    _, err = arena(
        "run", "hog", "fst", "--deals", 1, "--move-ms", 5000, "--out", "run", *options, status=1
    )
    faults = [fault for record in arena.records("run") for fault in record["faults"]]
    assert {fault["kind"] for fault in faults} == {"memory"}
    assert "MB of memory: use less, or raise memory_mb in bot.toml" in err


@pytest.mark.parametrize("tier", ["bubblewrap", "landlock"])
def test_a_tool_beside_the_results_does_not_lay_them_open(arena, tiers_command, tier, monkeypatch):
    options = tiers_command(tier)
    tools = arena.home / "bin"
    tools.mkdir()
    (tools / "myrun").write_text('#!/bin/sh\nexec python3 "$@"\n')
    (tools / "myrun").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    paths = [str(arena.home / "results" / "run" / "run.json")]
    looks_and_leaves = FORGER.replace("PATHS", repr(paths)) + "sys.exit(1)"
    folder = arena.add_bot("mine", attacker(looks_and_leaves, TURN))
    (folder / "bot.toml").write_text(
        'name = "mine"\nversion = "1"\ncommand = ["myrun", "bot.py"]\nprograms = ["python3"]\n'
    )
    arena("run", "mine", "fst", "--deals", 1, "--out", "run", *options, status=1)
    [fault, *_] = [fault for record in arena.records("run") for fault in record["faults"]]
    assert re.search("FileNotFoundError|PermissionError", fault["detail"])


@pytest.mark.parametrize("tier", ["bubblewrap", "landlock"])
def test_results_where_every_bot_may_read_are_refused(tier, refused):
    with refused(SandboxError):
        Sandbox(tier).launch(["python3", "bot.py"], Path("/usr/local/arena/results/run/bots/own"))


def test_a_doctor_s_finding_is_the_tier_of_a_run(arena):
    process = arena.start("doctor", "--json")
    out, _ = process.communicate(timeout=240)
    found = json.loads(out)
    assert process.returncode == (found["sandbox"] == "none")
    arena("run", "--deals", 1, "--out", "run", "--unsafe-no-sandbox")
    assert arena.records("run")[0]["sandbox"] == found["sandbox"]
