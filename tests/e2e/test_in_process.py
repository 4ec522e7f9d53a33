"""arena run --in-process, as a user types it."""

import json
import re

from tests.support.commandline import ROOT
from tests.support.wording import messages


def test_a_run_of_built_in_bots_is_played_extended_verified_and_read(arena, snapshot):
    out, err = arena("run", "--in-process", "--deals", 2, "--out", "own", "--jobs", 1, "-v")
    rows = [re.split(" {2,}", line) for line in out.splitlines()[1:4]]
    assert {bot for _, bot, *_ in rows} == {"random", "greedy", "careful"}
    assert "sandbox none" in err
    assert "warning" not in err
    arena(
        "run",
        "--in-process",
        "random",
        "greedy",
        "careful",
        "careful-2",
        "--deals",
        3,
        "--out",
        "own",
        "--jobs",
        1,
    )
    assert len(arena.records("own")) == 6 * 3 * 2
    assert not (arena.home / "results" / "own" / "bots").exists()
    out, _ = arena("verify", "own")
    assert out == snapshot
    page = arena.home / "results" / "own" / "report.html"
    arena("report", "own")
    assert "arena in-process careful-2" in page.read_text()
    _, err = arena("run", "rnd", "--out", "own", "--deals", 3, "fst", status=1)
    assert messages(err) == snapshot
    out, _ = arena(
        "replay",
        "own",
        arena.records("own")[0]["id"],
        "--turn",
        4,
        "--bot",
        "rnd",
        "--sandbox",
        "off",
    )
    assert "by rnd in" in out


def test_the_documented_way_to_read_self_play_data_sees_every_decision(arena, monkeypatch):
    arena(
        "run",
        "--in-process",
        "random",
        "careful-2",
        "--deals",
        2,
        "--out",
        "self-play",
        "--jobs",
        1,
        "-q",
    )
    program = (
        (ROOT / "docs" / "tournaments.md")
        .read_text()
        .partition("```python\n")[2]
        .partition("```")[0]
    )
    monkeypatch.chdir(arena.home)
    found = {}
    exec(program, found)
    assert len(found["decisions"]) == sum(record["turns"] for record in arena.records("self-play"))
    assert {won for _, _, won in found["decisions"]} >= {0.0, 1.0}
    assert found["state"].end is not None


def test_settings_come_from_a_file_and_what_cannot_be_is_refused(arena, snapshot):
    (arena.home / "arena.toml").write_text(
        'in_process = true\nbots = ["careful-1", "greedy-1"]\nchallenger = "random"\ndeals = 1\n'
    )
    arena("run", "--config", "arena.toml", "--out", "file", "--jobs", 1)
    assert {tuple(sorted(record["bots"])) for record in arena.records("file")} == {
        ("careful-1", "random"),
        ("greedy-1", "random"),
    }
    _, err = arena("run", "--in-process", "rnd", "random", status=1)
    assert messages(err) == snapshot
    _, err = arena("run", "--in-process", "--sandbox", "require", status=1)
    assert messages(err) == snapshot


def test_built_in_bots_are_compared(arena):
    out, _ = arena(
        "compare",
        "--in-process",
        "careful-8",
        "random",
        "--pool",
        "greedy-2",
        "--jobs",
        1,
        "--out",
        "which",
        "--json",
    )
    found = json.loads(out)
    assert (found["verdict"], found["new"], found["old"]) == ("better", "careful-8", "random")
    assert (
        json.loads((arena.home / "results" / "which" / "run.json").read_text())["config"][
            "in_process"
        ]
        is True
    )


def test_a_run_of_a_challenger_ends_with_its_results_against_each_opponent(arena):
    bots = ("--in-process", "--challenger", "careful-4", "greedy-4", "random", "--deals", 2)
    out, _ = arena("run", *bots, "--seed", 1, "--out", "own")
    below = out.partition("careful-4 against each opponent:\n")[2].splitlines()
    assert [line.split()[:2] for line in below[1:3]] == [
        ["careful-4", "greedy-4"],
        ["careful-4", "random"],
    ]
    assert "against each opponent" not in arena("run", *bots, "--seed", 1, "--json")[0]
