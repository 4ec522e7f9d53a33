"""arena rate, as a user types it."""

import json
import subprocess
import sys

import pytest

from arena.ratings.columns import file_names
from tests.support.commandline import ROOT
from tests.support.wording import lines_with, messages

GAMES = """\
block,bot_0,bot_1,bot_2,share_0,share_1,share_2
1,ann,bob,,1,0,
1,bob,ann,,0.5,0.5,
2,ann,bob,cy,0,0,1
2,cy,ann,bob,0,1,0
3,bob,cy,ann,1/3,1/3,1/3
3,bob,ann,,1,0,
4,cy,bob,,1,0,
4,bob,cy,,1,0,
"""


@pytest.fixture
def games(arena):
    path = arena.home / "games.csv"
    path.write_text(GAMES)
    return path


def test_a_file_is_rated_as_table_csv_and_json(arena, games):
    out, _ = arena("rate", "games.csv")
    assert out.splitlines()[0].split()[:3] == ["Rank", "Bot", "Elo"]
    assert "\n8 games, 4 blocks\n" in out
    shown = json.loads(arena("rate", games, "--json", "--pairs")[0])
    assert (shown["games"], shown["deals"]) == (8, 4)
    assert {row["bot"] for row in shown["pairs"]} == {"ann", "bob", "cy"}
    text, _ = arena("rate", "games.csv", "--csv", "-")
    assert text.startswith(",".join(file_names("standings")) + "\n")
    arena("rate", "games.csv", "--csv", "table.csv")
    assert (arena.home / "table.csv").read_text() == text


def test_a_file_comes_from_stdin(arena, games):
    code = [sys.executable, "-m", "arena", "rate", "-", "--csv", "-"]
    done = subprocess.run(
        code, input=GAMES, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(ROOT)}
    )
    assert done.stdout == arena("rate", "games.csv", "--csv", "-")[0]


def test_an_anchor_and_no_seats_can_be_asked_for(arena, games, snapshot):
    shown = json.loads(
        arena("rate", "games.csv", "--anchor", "bob=1500", "--no-seats", "--json")[0]
    )
    assert [row["elo"] for row in shown["standings"] if row["bot"] == "bob"] == [1500]
    assert all(row["elo"] is None for row in shown["seats"])
    for value in ("bob", "=3", "bob=x", "bob=nan"):
        _, err = arena("rate", "games.csv", "--anchor", value, status=2)
        assert messages(err) == snapshot
    _, err = arena("rate", "games.csv", "--anchor", "zoe=1", status=1)
    assert messages(err) == snapshot


def test_a_bad_row_and_a_missing_file_are_named_with_the_cure(arena, games, snapshot):
    games.write_text(GAMES.replace("1/3,1/3,1/3", "1/3,1/3,"))
    _, err = arena("rate", "games.csv", status=1)
    assert messages(err) == snapshot
    _, err = arena("rate", "none.csv", status=2)
    assert messages(err) == snapshot


def test_the_games_that_a_run_exports_give_back_its_standings(arena, snapshot):
    arena("run", "--deals", 8, "--seed", "rated", "--out", "r")
    arena("export", "r", "--to", "tables", "--anchor", "rnd=1000")
    out, err = arena("rate", "tables/games.csv", "--csv", "-", "--anchor", "rnd=1000")
    assert out == (arena.home / "tables" / "standings.csv").read_text()
    assert "note: columns that are not used here: board, deal, end, id, seating, turns" in err
    assert arena("standings", "r", "--csv", "-", "--anchor", "rnd=1000")[0] == out
    assert lines_with(arena("standings", "r", "--anchor", "rnd=1000")[0], "1000 Elo") == snapshot
    assert json.loads(arena("standings", "r", "--anchor", "rnd=1000", "--json")[0])["anchors"] == {
        "rnd": 1000
    }
