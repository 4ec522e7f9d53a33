"""Margins as a user asks for them: compare --by margin."""

import json

from tests.support.wording import lines_with, messages

COMPARED = ("compare", "--in-process", "careful-4", "careful-3", "--elo1", 100, "--seed", "margin")


def test_a_comparison_by_margin_says_so_and_has_the_wins_beside_it(arena, snapshot):
    out, err = arena(*COMPARED, "--by", "margin", "--out", "by-margin", "-v")
    assert out.splitlines()[0].endswith(": better")
    assert lines_with(out, "100 Elo") == snapshot
    assert "by wins, from the same blocks: Elo " in out
    assert lines_with(err, "40,000 games") == snapshot
    info = json.loads((arena.home / "results" / "by-margin" / "run.json").read_text())
    assert info["config"]["compare"]["by"] == "margin"
    again, _ = arena(*COMPARED, "--by", "margin", "--out", "by-margin", "--json")
    found = json.loads(again)
    assert (found["by"], found["verdict"], found["disagree"]) == ("margin", "better", False)
    assert found["wins_elo_low"] <= found["wins_elo"] <= found["wins_elo_high"]
    assert found["disagreement_low"] <= 0 <= found["disagreement_high"]
    assert [look["blocks"] for look in found["looks"]] == list(range(1, found["blocks"] + 1))
    assert {look["verdict"] for look in found["looks"][:-1]} == {"undecided"}
    last = found["looks"][-1]
    shared = ("blocks", "llr", "verdict")
    assert {key: last[key] for key in shared} == {key: found[key] for key in shared}
    assert abs(last["elo"] - found["plain_elo"]) < 0.02
    assert found["looks"][0]["error"] is None, "one block has no error bar"


def test_the_same_games_are_read_by_wins_unless_asked_otherwise(arena):
    out, _ = arena(*COMPARED, "--out", "by-wins", "--json")
    found = json.loads(out)
    assert found["by"] == "wins"
    assert "disagree" not in found
    arena(*COMPARED, "--by", "margin", "--out", "by-margin")
    wins, margin = (
        {game["id"]: game["moves"] for game in arena.records(run)}
        for run in ("by-wins", "by-margin")
    )
    both = wins.keys() & margin.keys()
    assert both
    assert all(wins[game] == margin[game] for game in both)


def test_a_comparison_does_not_change_what_it_goes_by(arena, snapshot):
    arena(*COMPARED, "--max-blocks", 2, "--out", "one", status=5)
    _, err = arena(*COMPARED, "--max-blocks", 2, "--out", "one", "--by", "margin", status=1)
    assert messages(err) == snapshot


def test_a_comparison_from_before_there_was_a_choice_goes_by_wins(arena, snapshot):
    arena(*COMPARED, "--max-blocks", 2, "--out", "old", status=5)
    path = arena.home / "results" / "old" / "run.json"
    info = json.loads(path.read_text())
    del info["config"]["compare"]["by"]
    path.write_text(json.dumps(info))
    _, err = arena(*COMPARED, "--max-blocks", 3, "--out", "old", status=5)
    assert lines_with(err, "4 games") == snapshot


def test_against_a_pool_margins_are_ranks(arena):
    out, _ = arena(
        "compare", "--in-process", "greedy", "greedy-2", "--pool", "greedy-4,random",
        "--players", 3, "--elo1", 150, "--seed", "pool", "--by", "margin", "--out", "pool",
    )  # fmt: skip
    assert out.splitlines()[0].endswith(": better")
    assert "Elo against greedy-2: better\n" in out
