"""Built-in bots as opponents of bots in processes, as a user types it."""

import json

import pytest

from tests.support.commandline import RANDOM
from tests.support.wording import lines_with, messages


def config(arena, run):
    return json.loads((arena.home / "results" / run / "run.json").read_text())["config"]


def test_a_mixed_run_is_played_extended_verified_and_led_again(arena, snapshot):
    arena("run", "rnd", "greedy", "careful-4", "--deals", 2, "--seed", "s", "--out", "mixed")
    records = arena.records("mixed")
    assert len(records) == 12
    assert [record["faults"] for record in records if record["faults"]] == []
    assert {record["end"] for record in records} <= {"last pagoda", "no tiles", "no space"}
    assert all(min(record["think_ms"]) >= 0 for record in records)
    info = json.loads((arena.home / "results" / "mixed" / "run.json").read_text())
    assert [bot["command"] for bot in info["bots"][1:]] == [
        ["arena", "in-process", name] for name in ("greedy", "careful-4")
    ]
    assert info["config"]["in_process"] is False
    [copied] = (arena.home / "results" / "mixed" / "bots").iterdir()
    assert copied.name.startswith("rnd-")
    arena(
        "run",
        "rnd",
        "greedy",
        "careful-4",
        "--deals",
        2,
        "--seed",
        "s",
        "--out",
        "again",
        "--jobs",
        1,
    )
    assert arena.timeless("again") == arena.timeless("mixed")
    arena("run", "rnd", "greedy", "careful-4", "random", "--deals", 3, "--out", "mixed")
    grown = arena.records("mixed")
    assert grown[:12] == records
    assert len(grown) == len({record["id"] for record in grown}) == 6 * 3 * 2
    out, _ = arena("verify", "mixed")
    assert out == snapshot
    assert "end (" in arena("replay", "mixed", records[0]["id"])[0]
    arena("report", "mixed")
    assert (
        "arena in-process careful-4"
        in (arena.home / "results" / "mixed" / "report.html").read_text()
    )


def test_half_a_mixed_run_is_finished(arena, snapshot):
    arena("run", "rnd", "greedy", "--deals", 3, "--seed", "s", "--out", "half")
    whole, journal = arena.timeless("half"), arena.home / "results" / "half" / "games.jsonl"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:2]))
    _, err = arena("run", "rnd", "greedy", "--deals", 3, "--out", "half")
    assert lines_with(err, "2 games") == snapshot
    assert arena.timeless("half") == whole


def test_built_in_bots_alone_play_without_processes_unasked(arena, snapshot):
    arena("run", "greedy-2", "random", "--deals", 2, "--seed", "s", "--out", "plain")
    arena(
        "run", "--in-process", "greedy-2", "random", "--deals", 2, "--seed", "s", "--out", "asked"
    )
    assert config(arena, "plain") == config(arena, "asked")
    assert config(arena, "plain")["in_process"] is True
    assert arena.timeless("plain") == arena.timeless("asked")
    assert not (arena.home / "results" / "plain" / "bots").exists()
    _, err = arena("run", "greedy-2", "random", "--move-ms", 5, status=1)
    assert messages(err) == snapshot


def test_the_name_of_a_built_in_bot_means_it_though_a_clone_brings_another_of_that_name(
    arena, snapshot
):
    arena.add_bot("greedy", RANDOM)
    note = "note: greedy means the built-in bot; write greedy@1 for the one in bots/greedy\n"
    _, err = arena("run", "greedy", "greedy@1", "--deals", 1, "--out", "both")
    bots = json.loads((arena.home / "results" / "both" / "run.json").read_text())["bots"]
    assert [bot["command"][0] for bot in bots] == ["arena", "python3"]
    assert note in err
    assert note in arena("compare", "greedy", "rnd", "--max-blocks", 1, status=5)[1]
    assert note in arena("play", "greedy", "random")[1]
    _, err = arena("run", "--deals", 1, "--out", "all")
    assert lines_with(err, "bots/greedy") == snapshot
    assert {bot for record in arena.records("all") for bot in record["bots"]} == {
        "fst",
        "greedy@1",
        "rnd",
    }


def test_a_namesake_that_cannot_be_read_or_is_not_in_bots_is_named_by_its_path(arena, snapshot):
    arena.add_bot("greedy", RANDOM)
    arena.add_bot("careful", RANDOM, to=".")
    (arena.home / "bots" / "greedy" / "bot.toml").write_text("name = ")
    _, err = arena("play", "greedy", "careful")
    assert lines_with(err, "bots/greedy") == snapshot
    assert "note: careful means the built-in bot; write ./careful for the one in careful" in err


@pytest.mark.parametrize("name", ["random", "greedy", "careful-4"])
def test_no_bot_can_take_the_name_of_a_built_in_one(arena, name, snapshot):
    _, err = arena("new", name, status=1)
    assert messages(err) == snapshot
    arena.add_bot(name, RANDOM, to=".")
    _, err = arena("submit", name, status=1)
    assert messages(err) == snapshot
    assert not (arena.home / "bots" / name).exists()
    arena("submit", name, "--name", f"my-{name}", "--no-check")
    assert (arena.home / "bots" / f"my-{name}").exists()


def test_what_is_neither_a_bot_of_ones_own_nor_built_in_is_refused_with_what_there_is(
    arena, snapshot
):
    _, err = arena("run", "rnd", "gredy", status=1)
    assert messages(err) == snapshot


def test_a_bot_beside_built_in_ones_still_has_a_clock(arena, zoo_bot):
    name = zoo_bot("not_json")
    arena(
        "run",
        name,
        "careful",
        "greedy",
        "--players",
        3,
        "--deals",
        1,
        "--out",
        "clock",
        "--move-ms",
        500,
    )
    for record in arena.records("clock"):
        assert [(fault["kind"], record["bots"][fault["seat"]]) for fault in record["faults"]] == [
            ("not json", name)
        ]
        assert record["ranks"][record["bots"].index(name)] == 3


def test_one_game_against_built_in_bots(arena):
    out, _ = arena("play", "careful-8", "rnd", "--seed", "s", "--json")
    again, _ = arena("play", "careful-8", "rnd", "--seed", "s", "--json")
    record = json.loads(out)
    assert record["bots"] == ["careful-8", "rnd"]
    assert record["moves"] == json.loads(again)["moves"]
    out, err = arena("play", "greedy", "greedy", "random")
    assert "greedy (seat 1)" in out
    assert "warning" not in err
    arena("play", "greedy", "rnd", "--log", "wire.jsonl")
    assert {
        json.loads(line)["bot"] for line in (arena.home / "wire.jsonl").read_text().splitlines()
    } == {"rnd"}


def test_two_versions_are_compared_against_built_in_bots(arena):
    arena(
        "compare",
        "rnd",
        "fst",
        "--pool",
        "greedy,careful",
        "--max-blocks",
        2,
        "--out",
        "pool",
        status=5,
    )
    seated = {name for record in arena.records("pool") for name in record["bots"]}
    assert seated == {"rnd", "fst", "greedy", "careful"}
    out, _ = arena(
        "compare", "careful-8", "random", "--pool", "greedy-2", "--out", "which", "--json"
    )
    assert json.loads(out)["verdict"] == "better"
    assert config(arena, "which")["in_process"] is True


def test_decisions_of_a_mixed_run_are_asked_for_again(arena):
    arena("run", "rnd", "greedy", "--deals", 1, "--seed", "s", "--out", "r")
    arena("regress", "r", "--bot", "rnd")
    arena("regress", "r", "--bot", "rnd", "--old", "greedy", status=4)
