"""Limits of a bot's own, and work that no clock decides, as a user meets them."""

import json
import shutil

import pytest

from arena.match.bench import Bench
from arena.players.folder import Bot
from arena.players.manifest import Manifest
from arena.players.sandbox.tiers import OPEN
from tests.support.burners import all_cores, burners
from tests.support.commandline import ROOT

SLOW = """
import json, sys, time
held = None
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "id": message["id"], "view": "full"}), flush=True)
    elif message["type"] == "turn":
        held = held or bytearray(40 << 20)
        began = time.process_time()
        while time.process_time() < began + 0.06:
            pass
        reply = {"type": "move", "id": message["id"], "move": message["legal"][0]}
        print(json.dumps(reply), flush=True)
    elif message["type"] == "quit":
        break
"""
TINY = "R....\n..V..\n....B\n.Y...\n"
BANK = "slow:move_ms=900,game_ms=118,increment_ms=1"
HURRIED, SMALL = "slow:move_ms=20", "slow:memory_mb=32"
SEARCHERS = ("lookahead-python", "flatmc-python", "ismcts-python")


def tiny(home):
    (home / "tiny.txt").write_text(TINY)
    return "--board", "tiny.txt", "--jobs", 1, "--deals", 1


@pytest.fixture
def odds(arena):
    """A run of one bot under five sorts of limits, and a quick one."""
    arena.add_bot("slow", SLOW)
    bots = ("slow", HURRIED, BANK, SMALL, "fst", "--challenger", "fst")
    arena("run", *bots, *tiny(arena.home), "--seed", "o", "--out", "r")
    return arena


def test_every_bot_has_its_own_limits_and_the_others_keep_the_runs(odds, snapshot):
    faults = {label: [] for label in ("slow", HURRIED, BANK, SMALL, "fst")}
    for record in odds.records("r"):
        for seat, label in enumerate(record["bots"]):
            faults[label] += [fault for fault in record["faults"] if fault["seat"] == seat]
    kinds = {label: {fault["kind"] for fault in found} for label, found in faults.items()}
    assert kinds == {
        "slow": set(),
        HURRIED: {"late"},
        BANK: {"late"},
        SMALL: {"memory"},
        "fst": set(),
    }
    assert {fault["turn"] > 1 for fault in faults[BANK]} == {True}, "its bank lasts for a move"
    assert odds("verify", "r")[0] == snapshot
    late = next(
        record for record in odds.records("r") if HURRIED in record["bots"][:2] and record["faults"]
    )
    out, _ = odds("reproduce", "r", late["id"])
    assert "the same fault" in out
    odds("report", "r")
    page = (odds.home / "results" / "r" / "report.html").read_text()
    assert "Limits of their own" in page
    assert "Time is</dt><dd>CPU time" in page


def test_a_bot_is_told_its_own_clock_and_no_others(arena):
    arena("play", "fst:move_ms=70,game_ms=5000,increment_ms=9", "rnd", "--log", "wire.jsonl")
    wire = map(json.loads, (arena.home / "wire.jsonl").read_text().splitlines())
    lines = [(line["seat"], json.loads(line["line"])) for line in wire if line["way"] == "to"]
    told = {
        seat: [message.get(name) for name in ("move_ms", "game_ms", "increment_ms")]
        for seat, message in lines
        if message["type"] == "start"
    }
    assert told == {0: [70, 5000, 9], 1: [1000, None, None]}
    assert {
        message["time_ms"] for seat, message in lines if message["type"] == "turn" and seat
    } == {1000}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("fst:move_ms=0", "rnd"), "expected move_ms to be a whole number from 1 to 86400000"),
        (("fst:memory_mb=9999", "rnd"), "expected memory_mb to be a whole number from 16 to 4096"),
        (("fst:increment_ms=5", "rnd"), "expected game_ms with increment_ms"),
        (("fst:movems=5", "rnd"), "did you mean 'move_ms'?"),
        (("fst", "greedy:move_ms=5"), "greedy"),
    ],
)
@pytest.mark.parametrize("command", ["run", "play"])
def test_limits_that_cannot_be_are_refused_with_a_sentence(arena, command, words, said):
    status, _, err = arena.ended(command, *words)
    assert status == 1
    assert said in err


def test_a_check_goes_by_the_bots_own_limits():
    bot = Bot("b:move_ms=30,memory_mb=64", Manifest("b", ["x"]), ROOT, "0")
    assert (Bench(bot, 1000, OPEN).move_ms, Bench(bot, 1000, OPEN).short_ms, bot.memory_mb) == (
        30,
        20,
        64,
    )


@pytest.fixture
def busy_machine():
    """A program on every core that computes as long as the tests run."""
    with burners(all_cores()):
        yield


@pytest.mark.alone
def test_with_nodes_bots_that_search_play_the_same_games_on_any_machine(arena, request):
    """The second time beside others that compute, with less time and other workers."""
    for name in SEARCHERS:
        shutil.copytree(ROOT / "bots" / name, arena.home / "bots" / name)
    bots = [f"{name}:nodes=60" for name in SEARCHERS]
    settings = (*tiny(arena.home), "--seed", "nodes")
    arena("run", *bots, *settings, "--move-ms", 600, "--out", "one")
    request.getfixturevalue("busy_machine")
    arena("run", *bots, *settings, "--move-ms", 150, "--jobs", 2, "--out", "two")
    assert arena.timeless("one") == arena.timeless("two")
    assert [record["faults"] for record in arena.records("one") if record["faults"]] == []
    noted = [record.get("notes") or [] for record in arena.records("one")]
    made = [note["nodes"] for notes in noted for note in notes]
    assert max(made) >= 60


def test_a_run_says_once_that_a_bot_waits_longer_than_it_computes(arena):
    waits = SLOW.replace("while time", "time.sleep(0.4)\n        while time")
    arena.add_bot("waiter", waits)
    arena.add_bot("slow", SLOW)
    options = (*tiny(arena.home), "--move-ms", 300, "--out", "w")
    _, err = arena("run", "waiter", "slow", *options)
    [warning] = [line for line in err.splitlines() if "beyond" in line]
    assert warning.startswith("warning: waiter waits 0.")
    assert warning.endswith(" s a move beyond its CPU time; with --clock wall it would be late")
    assert arena.records("w")[0]["faults"] == []


def test_a_run_says_once_that_a_bot_waits_while_it_starts(arena):
    arena.add_bot("sleeper", SLOW.replace("held = None", "held = time.sleep(1.5)", 1))
    arena.add_bot("slow", SLOW)
    options = (*tiny(arena.home), "--jobs", 2, "--move-ms", 300, "--out", "s")
    _, err = arena("run", "sleeper", "slow", *options)
    [warning] = [line for line in err.splitlines() if "warning" in line]
    assert warning.startswith("warning: sleeper waits 1.")
    assert warning.endswith(" s while it starts, without computing; its game waits too")
