"""Comparisons with three players: copies of the old bot as opponents, and pools that are too
weak.
"""

import json

from tests.support.commandline import TINY
from tests.support.wording import lines_with, messages

THREE = ("compare", "rnd", "fst", "--players", 3, "--board", "tiny.txt", "--seed", "s", "--elo1", 1)


def test_with_three_players_both_play_against_copies_of_the_old_bot(arena, snapshot):
    (arena.home / "tiny.txt").write_text(TINY)
    out, err = arena(*THREE, "--games", 12, "--out", "three", status=5)
    assert lines_with(err, "fst@copy1") == snapshot
    assert lines_with(out, "12 games") == snapshot
    line_ups = {tuple(sorted(game["bots"])) for game in arena.records("three")}
    assert line_ups == {("fst", "fst@copy1", "fst@copy2"), ("fst@copy1", "fst@copy2", "rnd")}
    shas = {
        bot["name"]: bot["sha256"]
        for bot in json.loads((arena.home / "results" / "three" / "run.json").read_text())["bots"]
    }
    assert shas["fst"] == shas["fst@copy1"] == shas["fst@copy2"] != shas["rnd"]


def test_copies_have_the_grants_of_their_bot(arena):
    (arena.home / "tiny.txt").write_text(TINY)
    arena(*THREE, "--games", 6, "--allow", "fst=network", "--out", "granted", status=5)
    bots = json.loads((arena.home / "results" / "granted" / "run.json").read_text())["bots"]
    grants = {bot["name"]: bot.get("grants", []) for bot in bots}
    assert grants["fst@copy1"] == grants["fst@copy2"] == grants["fst"] != []
    assert grants["rnd"] == []


def test_a_built_in_bot_has_no_copies(arena, snapshot):
    _, err = arena("compare", "careful-4", "careful-2", "--players", 3, status=1)
    assert messages(err) == snapshot


def test_a_pool_that_both_beat_is_called_weak(arena, snapshot):
    question = ("compare", "careful-9", "careful-8", "--elo1", 20, "--seed", 1)
    _, err = arena(*question, "--pool", "random", "--games", 40, "--out", "weak", status=5)
    assert messages(err) == snapshot
    _, err = arena(*question, "--pool", "careful-7", "--games", 40, "--out", "near", status=5)
    assert "this pool" not in err
