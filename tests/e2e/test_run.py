"""arena run, from bots to standings, as a user runs it."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from arena.rules import CORE
from tests.support.commandline import BARE, FIRST, RANDOM, ROOT, TINY
from tests.support.wording import lines_with, messages

BUILT_IN = ("run", "random", "greedy")
"""A run of built-in bots, which need no process, where it makes no difference which bots play."""


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_run_json_says_what_was_played(arena):
    arena("run", "--deals", 1, "--out", "one", "--seed", "abc", "--move-ms", 500)
    info = json.loads((arena.home / "results" / "one" / "run.json").read_text())
    assert {
        "arena",
        "protocol",
        "rules_core",
        "config",
        "boards",
        "bots",
        "seed",
        "started",
        "sandbox",
    } <= set(info)
    assert (info["seed"], info["protocol"], info["rules_core"], info["config"]["move_ms"]) == (
        "abc",
        1,
        CORE,
        500,
    )
    assert [bot["name"] for bot in info["bots"]] == ["fst", "rnd"]
    assert all(
        len(bot["sha256"]) == 64 and bot["command"] == BARE and bot["version"] == "1"
        for bot in info["bots"]
    )
    assert len(info["boards"]["bird"]) == 13


@pytest.mark.parametrize("players", [3, 4])
def test_tables_of_three_and_four_on_both_boards(arena, players):
    for name in ("rn2", "rn3"):
        arena.add_bot(name, (arena.home / "bots" / "rnd" / "bot.py").read_text())
    arena("run", "--players", players, "--boards", "bird,lion", "--deals", 1, "--out", "many")
    records = arena.records("many")
    line_ups = {3: 4, 4: 1}[players]
    assert len(records) == line_ups * players * 2
    assert {record["board"] for record in records} == {"bird", "lion"}
    assert {len(record["bots"]) for record in records} == {players}
    assert [record["faults"] for record in records if record["faults"]] == []


def test_the_same_command_again_plays_nothing_and_more_deals_or_bots_extend(arena, snapshot):
    arena("run", "--deals", 2, "--out", "grow")
    first = arena.records("grow")
    _, err = arena("run", "--deals", 2, "--out", "grow")
    assert lines_with(err, "4 games") == snapshot
    assert arena.records("grow") == first
    arena("run", "--deals", 3, "--out", "grow")
    arena.add_bot("new", (arena.home / "bots" / "rnd" / "bot.py").read_text())
    arena("run", "--deals", 3, "--out", "grow")
    grown = arena.records("grow")
    assert grown[:4] == first
    assert len(grown) == len({record["id"] for record in grown}) == 3 * 2 * 3


@pytest.mark.parametrize(("jobs", "starts"), [(1, 4), (2, 8)])
def test_a_run_of_twenty_games_starts_each_bot_once_for_each_seating_and_worker(
    arena, jobs, starts
):
    """A process that knows a deal plays none of its other games, so each worker needs two of a
    bot.
    """
    board = arena.home / "tiny.txt"
    board.write_text(TINY)
    arena("run", "--deals", 10, "--out", "few", "-v", "--jobs", jobs, "--board", board)
    assert len(arena.records("few")) == 20
    log = (arena.home / "results" / "few" / "logs" / "arena.log").read_text()
    assert 4 <= log.count(": a process of ") <= starts


def test_a_run_whose_bots_or_settings_changed_is_refused_with_what_differs(arena, snapshot):
    arena("run", "--deals", 2, "--out", "fixed", "--seed", "one")
    before = (arena.home / "results" / "fixed" / "games.jsonl").read_bytes()
    script = arena.home / "bots" / "rnd" / "bot.py"
    script.write_text(script.read_text() + "# changed\n")
    _, err = arena("run", "--deals", 1, "--out", "fixed", "--seed", "two", "--move-ms", 7, status=1)
    assert messages(err) == snapshot
    assert (arena.home / "results" / "fixed" / "games.jsonl").read_bytes() == before


def test_a_run_is_finished_with_its_own_copy_of_a_bot_that_has_changed(arena, snapshot):
    arena("run", "--deals", 2, "--out", "r", "--seed", "s")
    whole = arena.timeless("r")
    journal = arena.home / "results" / "r" / "games.jsonl"
    journal.write_text(journal.read_text().splitlines(keepends=True)[0])
    script = arena.home / "bots" / "rnd" / "bot.py"
    script.write_text("import sys\nsys.exit('another bot')\n")
    _, err = arena("run", "--deals", 2, "--out", "r", status=1)
    assert messages(err) == snapshot
    arena("run", "--finish", "r")
    assert arena.timeless("r") == whole


def test_an_unfinished_run_is_found_again_without_out_and_a_finished_one_is_not(arena, snapshot):
    arena(*BUILT_IN, "--deals", 2, "--seed", "s")
    [run] = (arena.home / "results").iterdir()
    journal = run / "games.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:1]) + lines[1][:40])
    _, err = arena(*BUILT_IN, "--deals", 2)
    assert lines_with(err, "40 bytes") == snapshot
    assert len(arena.records(run.name)) == 4
    arena(*BUILT_IN, "--deals", 2)
    assert len(list((arena.home / "results").iterdir())) == 2


def test_only_a_run_of_just_these_settings_is_continued_without_out(arena):
    arena(*BUILT_IN, "--deals", 2, "--out", "league")
    arena(*BUILT_IN, "--deals", 3)
    assert len(arena.records("league")) == 4, (
        "a finished run with a name of its own is not extended by chance"
    )
    [run] = [path for path in (arena.home / "results").iterdir() if path.name != "league"]
    journal = run / "games.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:1]))
    broken = arena.home / "results" / "broken"
    broken.mkdir()
    known = json.loads((run / "run.json").read_text())
    (broken / "run.json").write_text(
        json.dumps({**known, "config": {}, "started": "2999-01-01T00:00:00Z"})
    )
    _, err = arena(*BUILT_IN, "--deals", 4)
    note = (
        f"note: {run.name} is unfinished: 'arena run --finish {run.name}' plays the rest, 'arena"
        f" remove --run {run.name}' removes it"
    )
    assert note in err.splitlines()
    assert len(arena.records(run.name)) == 1
    _, err = arena(*BUILT_IN, "--deals", 3)
    assert f"results/{run.name}: 2 bots" in err
    assert len(arena.records(run.name)) == 6
    out, _ = arena("runs")
    # runs of one second are in no order
    assert sorted(re.findall(r" (\d+/\d+) ", out)) == ["4/4", "6/6", "8/8"]


def test_a_run_over_some_tables_grows_with_bots_and_tables(arena, snapshot):
    bots = ("greedy-2", "greedy-4", "greedy-8")
    arena(*BUILT_IN, *bots, "--tables", 4, "--deals", 1, "--out", "t")
    first = arena.records("t")
    bots += ("greedy-16",)
    _, err = arena(*BUILT_IN, *bots, "--tables", 4, "--deals", 1, "--out", "t", status=1)
    assert messages(err) == snapshot
    arena(*BUILT_IN, *bots, "--tables", 5, "--deals", 1, "--out", "t")
    grown = arena.records("t")
    assert grown[:8] == first
    assert len(grown) == 10
    out, _ = arena("runs")
    assert " 10/10 " in out.splitlines()[1]


def test_a_run_that_cannot_start_leaves_nothing(arena, snapshot):
    arena.add_bot("unbuilt", "", build=[["python3", "-c", "raise SystemExit(3)"]])
    _, err = arena("run", "--deals", 1, status=1)
    assert messages(err) == snapshot
    assert list((arena.home / "results").iterdir()) == []


def test_another_version_text_of_the_same_content_goes_on_as_it_was(arena):
    arena("run", "--deals", 1, "--out", "v")
    before = (arena.home / "results/v/run.json").read_bytes()
    manifest = arena.home / "bots/rnd/bot.toml"
    manifest.write_text(manifest.read_text().replace('version = "1"', 'version = "9"'))
    arena("run", "--deals", 1, "--out", "v")
    assert (arena.home / "results/v/run.json").read_bytes() == before


def test_the_number_of_workers_changes_nothing_but_times(arena):
    arena("run", "--deals", 4, "--seed", "same", "--jobs", 1, "--out", "one")
    arena("run", "--deals", 4, "--seed", "same", "--jobs", 3, "--out", "three")
    assert arena.timeless("one") == arena.timeless("three")


def test_other_seeds_are_other_decks_and_no_seed_is_a_secret_one(arena):
    for run in ("a", "b"):
        arena(*BUILT_IN, "--deals", 1, "--out", run)
    decks = [{record["deck"] for record in arena.records(run)} for run in ("a", "b")]
    assert decks[0] != decks[1]
    assert [len(deck) for deck in decks] == [1, 1]


def test_faults_are_counted_and_leave_evidence(arena, zoo_bot, snapshot):
    name = zoo_bot("not_json")
    command = ("run", "rnd", "fst", name, "--deals", 1, "--seed", "s", "--out", "faulty")
    out, err = arena(*command)
    records = [record for record in arena.records("faulty") if name in record["bots"]]
    assert [fault["kind"] for record in records for fault in record["faults"]] == ["not json"] * 4
    assert all(
        record["end"] == "forfeit" and record["ranks"][record["bots"].index(name)] == 2
        for record in records
    )
    forfeits = lines_with(err, f"forfeit: {name} (not json)").splitlines()
    assert len(forfeits) == 4
    assert re.sub(r"\d+ moves", "N moves", forfeits[0]) == snapshot
    assert lines_with(err, "4 forfeits") == snapshot
    table = {
        row["bot"]: row for row in rows((arena.home / "results/faulty/standings.csv").read_text())
    }
    assert (table[name]["forfeits"], table["rnd"]["forfeits"]) == ("4", "0")
    assert f">{0}" not in out
    for record in records:
        seat = record["bots"].index(name)
        evidence = json.loads(
            (arena.home / "results/faulty/faults" / record["id"] / f"seat-{seat}.json").read_text()
        )
        assert (evidence["game"], evidence["kind"], evidence["seat"]) == (
            record["id"],
            "not json",
            seat,
        )
        assert evidence["lines"][-1][0] == "from"
        assert "thinking about" in evidence["lines"][-1][2]
        assert isinstance(evidence["bot_seed"], int)
        assert {"after_ms", "ending", "stderr", "detail", "turn"} <= set(evidence)
    log = (arena.home / "results/faulty/logs/arena.log").read_text()
    assert log.count(f"{name} forfeits (not json)") == 4


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a worker inherit orphans")
@pytest.mark.parametrize("command", [("run", "--deals", 1, "--out", "r"), ("play",)])
def test_a_bot_that_kills_its_keeper_leaves_nothing_behind(arena, zoo_bot, command, snapshot):
    zoo_bot("kills_keeper")
    script = arena.home / "bots" / "kills-keeper" / "kills_keeper.py"
    hidden = arena.home / "hidden"
    script.write_text(
        script.read_text().replace("file=sys.stderr", f"file=open({str(hidden)!r}, 'a')")
    )
    _, err = arena(*command, "rnd", "kills-keeper", "--sandbox", "off", status=1)
    assert lines_with(err, "(killed)").splitlines()[0] == snapshot
    pids = [int(pid) for pid in hidden.read_text().split()]
    assert pids
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_bots_by_path_and_old_versions_play(arena, tmp_path):
    arena("submit", "bots/rnd", "--name", "copy", "--no-check")
    script = tmp_path / "lone.py"
    script.write_text((arena.home / "bots" / "fst" / "bot.py").read_text())
    source = arena.home / "bots" / "copy" / "bot.py"
    work = tmp_path / "work"
    work.mkdir()
    (work / "bot.toml").write_text((arena.home / "bots" / "copy" / "bot.toml").read_text())
    (work / "bot.py").write_text(source.read_text() + "# second\n")
    arena("submit", work, "--no-check")
    arena("run", "copy", "copy@1", "lone.py", "--deals", 1, "--out", "mixed")
    info = json.loads((arena.home / "results/mixed/run.json").read_text())
    assert [(bot["name"], bot["version"]) for bot in info["bots"]] == [
        ("copy", "2"),
        ("copy@1", "1"),
        ("lone", "1"),
    ]
    assert len(arena.records("mixed")) == 6


def test_a_bot_that_is_built_plays_from_its_copy(arena):
    folder = arena.add_bot(
        "built", "import sys\nsys.exit('not built')\n", build=[["cp", "../fst.py", "bot.py"]]
    )
    (folder / "real.py").write_text((arena.home / "bots" / "fst" / "bot.py").read_text())
    (folder / "bot.toml").write_text(
        (folder / "bot.toml").read_text().replace("../fst.py", "real.py")
    )
    arena("run", "built", "rnd", "--deals", 1, "--out", "b")
    assert [record["faults"] for record in arena.records("b") if record["faults"]] == []
    assert "not built" in (folder / "bot.py").read_text()


def test_a_fresh_bot_gets_a_process_for_each_game(arena):
    source = (arena.home / "bots" / "rnd" / "bot.py").read_text()
    once = source.replace('"end"', '"no such type"').replace(
        '        rng.seed(message["seed"])',
        '        rng.seed(message["seed"])\n        games = globals().get("games", 0) + 1\n       '
        ' assert games == 1, "a second game"',
    )
    arena.add_bot("once", once, fresh=True)
    arena("run", "once", "fst", "--deals", 4, "--jobs", 1, "--out", "f")
    assert [record["faults"] for record in arena.records("f") if record["faults"]] == []


def test_no_process_meets_a_deal_twice(arena):
    """A bot that writes each hand it starts with to stderr, and leaves when it sees the same twice
    in one process.
    """
    source = (arena.home / "bots" / "rnd" / "bot.py").read_text()
    spy = source.replace(
        '    elif message["type"] == "turn":',
        '    elif message["type"] == "played" and message["pile"] == 65:\n        hands ='
        ' globals().setdefault("hands", [])\n        if message["move"] in hands:\n           '
        ' sys.exit("this deal was here before")\n        hands.append(message["move"])\n    elif'
        ' message["type"] == "turn":',
    )
    arena.add_bot("spy", spy.replace('rng.choice(message["legal"])', 'message["legal"][0]'))
    (arena.home / "bots" / "rnd" / "bot.py").write_text(
        source.replace('rng.choice(message["legal"])', 'message["legal"][0]')
    )
    arena(
        "run", "spy", "rnd", "--deals", 1, "--boards", "bird,lion", "--jobs", 1, "--out", "spying"
    )
    assert [record["faults"] for record in arena.records("spying") if record["faults"]] == []


def test_time_with_a_bank(arena, zoo_bot, snapshot):
    arena(
        "run",
        "rnd",
        "fst",
        "--deals",
        1,
        "--game-ms",
        5000,
        "--increment-ms",
        10,
        "--move-ms",
        300,
        "--out",
        "bank",
    )
    assert [record["faults"] for record in arena.records("bank") if record["faults"]] == []
    _, err = arena("run", "--increment-ms", 10, status=1)
    assert messages(err) == snapshot


def test_an_arena_toml_is_read_and_the_command_line_goes_before_it(arena, snapshot):
    (arena.home / "tiny.txt").write_text("R....\n..V..\n....B\n")
    (arena.home / "arena.toml").write_text(
        'bots = ["rnd", "fst"]\ndeals = 5\nboard = ["tiny.txt"]\nseed = 7\nout = "cfg"\njobs = 1\n'
    )
    arena("run", "--config", "arena.toml", "--deals", 2)
    below = arena.home / "settings"
    below.mkdir()
    (below / "arena.toml").write_text(
        'bots = ["../bots/fst", "rnd"]\ndeals = 2\nboard = ["../tiny.txt"]\nseed = 7\nout = "cfg"\n'
    )
    _, err = arena("run", "--config", "settings/arena.toml")
    assert lines_with(err, "4 games") == snapshot
    info = json.loads((arena.home / "results/cfg/run.json").read_text())
    assert (info["config"]["deals"], info["config"]["boards"], info["seed"]) == (2, ["tiny"], "7")
    assert info["boards"]["tiny"] == ["R....", "..V..", "....B"]
    assert len(arena.records("cfg")) == 4


def test_a_gauntlet_and_a_subset_of_tables(arena, snapshot):
    opponents = ("random", "greedy", "greedy-2")
    arena("run", "rnd", *opponents, "--challenger", "fst", "--deals", 1, "--out", "g")
    assert all("fst" in record["bots"] for record in arena.records("g"))
    assert len(arena.records("g")) == 8
    lone = arena.home / "lone.py"
    lone.write_text(FIRST)
    arena("run", "rnd", "random", "--challenger", "./lone.py", "--deals", 1, "--out", "by-path")
    assert {record["id"].split("/")[1] for record in arena.records("by-path")} == {
        "lone+rnd",
        "lone+random",
    }
    other = arena.home / "elsewhere" / "lone.py"
    other.parent.mkdir()
    other.write_text(RANDOM)
    _, err = arena("run", "rnd", "./lone.py", "--challenger", "elsewhere/lone.py", status=1)
    assert messages(err) == snapshot
    arena(*BUILT_IN, "greedy-2", "greedy-4", "greedy-8", "--tables", 5, "--deals", 1, "--out", "t")
    assert len(arena.records("t")) == 10


def test_a_bot_whose_program_is_missing_is_left_out_or_named(arena, snapshot):
    folder = arena.home / "bots" / "ghost"
    folder.mkdir()
    (folder / "bot.toml").write_text(
        'name = "ghost"\nversion = "1"\ncommand = ["no-such-interpreter", "x"]\n'
    )
    _, err = arena("run", "--deals", 1, "--out", "without")
    assert lines_with(err, "warning: ghost") == snapshot
    _, err = arena("run", "ghost", "rnd", "--deals", 1, status=1)
    assert messages(err) == snapshot


def test_a_registered_bot_that_hides_a_folder_here_is_told(arena, snapshot):
    arena.add_bot("fst", FIRST, to=".")
    _, err = arena("play", "fst", "rnd")
    assert "note: fst" not in err, "the same content: no matter which"
    (arena.home / "fst" / "bot.py").write_text("import sys\nsys.exit('the one here')\n")
    for command in (["play", "fst", "rnd"], ["run", "fst", "rnd", "--deals", 1, "--out", "r"]):
        _, err = arena(*command)
        assert lines_with(err, "bots/fst") == snapshot
    out, _ = arena("check", "fst", status=1)
    assert "the one here" in out


def test_output_that_cannot_be_written_is_said(arena, snapshot):
    arena(*BUILT_IN, "--deals", 1, "--out", "one")
    command = [sys.executable, "-m", "arena", "standings", "one"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command,
            cwd=arena.home,
            env=environment,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert messages(done.stderr) == snapshot
    assert "Traceback" not in done.stderr


def test_a_results_folder_that_cannot_be_written_is_named(arena, snapshot):
    (arena.home / "results").write_text("a file")
    _, err = arena("run", "--deals", 1, status=1)
    assert messages(err) == snapshot
