"""Matches of several rounds, as a user plays, sees and checks them."""

import csv
import json
import re
from collections import Counter

import pytest

from tests.support.wording import lines_with, messages

TINY = "R....\n..V..\n....B\n.Y...\n"


@pytest.fixture
def tiny(arena):
    """A board on which games are short."""
    (arena.home / "tiny.txt").write_text(TINY)
    return arena


def test_a_run_by_matches_from_games_to_every_table(tiny, snapshot):
    tiny(
        "run",
        "--match",
        "tiny,bird,tiny",
        "--board",
        "tiny.txt",
        "--deals",
        2,
        "--seed",
        1,
        "--out",
        "m",
    )
    records = tiny.records("m")
    left = Counter()
    for record in records:
        left.update(dict(zip(record["bots"], record["left"], strict=True)))
    assert Counter((record["board"], record["deal"]) for record in records) == dict.fromkeys(
        [("bird", 0), ("bird", 1), *(("tiny", deal) for deal in range(4))], 2
    )
    rows = list(
        csv.DictReader((tiny.home / "results" / "m" / "standings.csv").read_text().splitlines())
    )
    for row in rows:
        assert row["games"] == "4"
        assert float(row["avg_left"]) == left[row["bot"]] / 4
    shown = json.loads(tiny("standings", "m", "--json")[0])
    assert (shown["match"], shown["games"], shown["plan"]["games"]) == (
        ["tiny", "bird", "tiny"],
        4,
        12,
    )
    singly, _ = tiny("standings", "m", "--match", "none", "--pairs")
    assert "12 games, 6 deals" in singly
    assert "Matches" not in singly
    assert tiny("verify", "m")[0] == snapshot
    assert tiny("analyse", "m")[1] == snapshot
    tiny("report", "m", "--match", "tiny,bird")
    page = (tiny.home / "results" / "m" / "report.html").read_text()
    assert re.search("12 games[^<]* 4 matches[^<]* 2 deals", page)[0] == snapshot
    _, err = tiny("standings", "m", "--match", "bird,owl", status=1)
    assert messages(err) == snapshot


def test_unfinished_matches_do_not_count_and_a_run_grows_by_its_own_scoring_only(arena, snapshot):
    match = ("run", "--match", "bird,lion", "--out", "m", "--deals")
    arena(*match, 2)
    journal = arena.home / "results" / "m" / "games.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(
        b"".join(line for line in lines if not line.startswith(b'{"v":1,"id":"lion/fst+rnd/1/'))
    )
    out, _ = arena("standings", "m", "--pairs")
    assert lines_with(out, "2 of the 8") == snapshot
    assert lines_with(out, "6 games") == snapshot
    assert lines_with(out, "2 matches") == snapshot
    assert out.count("Matches") == 2
    assert "Matches" in arena("standings", "m", "--wide")[0].splitlines()[0]
    out, _ = arena(*match, 3)
    assert lines_with(out, "6 matches") == snapshot
    _, err = arena("run", "--boards", "bird,lion", "--deals", 3, "--out", "m", status=1)
    assert lines_with(err, "'arena standings") == snapshot


def test_a_run_by_matches_until_it_is_precise(tiny):
    (tiny.home / "arena.toml").write_text(
        'match = ["tiny", "tiny"]\nboard = ["tiny.txt"]\ndeals = 40\nuntil = 150\nout = "u"\nseed'
        " = 1\n"
    )
    _, err = tiny("run", "--config", "arena.toml")
    shown = json.loads(tiny("standings", "u", "--json")[0])
    assert max(row["elo_high"] - row["elo_low"] for row in shown["standings"]) <= 300
    assert f"{2 * shown['games']} games: " in err
    assert shown["plan"] == {"games": 2 * shown["games"], "missing": 0, "incomplete_blocks": 0}
