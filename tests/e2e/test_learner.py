"""The bot that learnt by itself plays by the rules and in time, and its recipe makes weights."""

import importlib
import random
import shutil
import subprocess
import sys

import pytest

from arena.rules import State
from arena.rules.boards import built_in
from arena.rules.notation import parse_deck
from tests.rules.positions import random_board
from tests.support.commandline import ROOT

FOLDER = ROOT / "bots" / "learner-python"


@pytest.fixture
def learner(monkeypatch):
    """Imports a module of the bot."""
    monkeypatch.syspath_prepend(FOLDER)
    yield importlib.import_module
    for name in ("train", "value"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_learner_plays_by_the_rules_on_any_board(arena, players):
    rng, boards = random.Random(7), []
    for number, side in enumerate((3, 5, 8, 13, 26)):
        board = random_board(rng, side)
        (arena.home / f"board-{number}.txt").write_text("\n".join(board.rows) + "\n")
        boards += ["--board", f"board-{number}.txt"]
    table = [f"{FOLDER}:nodes=60", "random", "careful", "greedy"][:players]
    arena("run", *table, *boards, "--players", players, "--deals", 1, "--out", "r")
    records = arena.records("r")
    assert len(records) == 5 * players
    assert [record["faults"] for record in records if record["faults"]] == []


def test_with_nodes_the_learner_plays_the_same_games_again_and_says_what_it_expects(arena):
    for jobs in (1, 2):
        arena(
            "run", f"{FOLDER}:nodes=100", "careful", "--deals", 1, "--seed", "same",
            "--jobs", jobs, "--out", f"r{jobs}",
        )  # fmt: skip
    assert arena.timeless("r1") == arena.timeless("r2")
    notes = [note for record in arena.records("r1") for note in record["notes"]]
    assert all(0 <= note["value"] <= 1 and note["nodes"] > 0 for note in notes)
    assert any(note["depth"] > 0 for note in notes)


@pytest.mark.parametrize(
    "limits",
    [("--move-ms", 150), ("--game-ms", 500, "--move-ms", 1000), ("--clock", "wall")],
    ids=["a short move", "a bank", "the wall clock"],
)
def test_the_learner_keeps_within_its_time(arena, limits):
    (arena.home / "tiny.txt").write_text("R.......\n..V.....\n....B...\n.Y......\n")
    arena("run", FOLDER, "careful", "--board", "tiny.txt", "--deals", 1, "--out", "r", *limits)
    assert [record["faults"] for record in arena.records("r") if record["faults"]] == []


def test_a_few_games_teach_weights_that_the_bot_plays_with_and_that_follow_from_the_seed(
    arena, learner, monkeypatch
):
    copy = shutil.copytree(FOLDER, arena.home / "learner")
    recipe = (copy / "train.py").read_text()
    assert "CHUNK = 50 " in recipe
    # Two chunks, so that both processes play.
    (copy / "train.py").write_text(recipe.replace("CHUNK = 50 ", "CHUNK = 8 "))
    command = [sys.executable, "train.py", "2", "--games", "16", "--seed", "test", "--jobs", "2"]
    subprocess.run(command, cwd=copy, check=True, capture_output=True)
    taught = learner("value").Value(*learner("json").loads((copy / "weights-2.json").read_text()))
    monkeypatch.setattr(learner("train"), "CHUNK", 8)
    again = learner("train").learn(players=2, games=16, rounds=2, seed="test", jobs=1)
    state = State(built_in("bird"), 2, parse_deck("RRYYBBRYYBRB" * 12))
    state.playout(1, "careful", 0, 20)
    chances = taught(state)
    assert chances == pytest.approx(learner("value").Value(*again.T.round(3).tolist())(state))
    assert chances != learner("value").value_for(2)(state)
    arena("run", "./learner:nodes=20", "random", "--deals", 1, "--out", "r")
    assert [record["faults"] for record in arena.records("r") if record["faults"]] == []


@pytest.mark.parametrize("players", [2, 3, 4])
def test_what_was_learnt_favours_who_is_ahead_and_knows_who_has_won(learner, players):
    value, rng, ahead = learner("value").value_for(players), random.Random(1), []
    tiles = ["RR", "YY", "BB", "RY", "YB", "RB"] * 12
    for game in range(20):
        rng.shuffle(tiles)
        state = State(built_in("lion"), players, parse_deck("".join(tiles)))
        state.playout(game, "careful", 8, 30)
        chances = value(state)
        assert sum(chances) == pytest.approx(1)
        ahead.append(state.ranks()[chances.index(max(chances))])
        state.playout(game, "careful", 8)
        assert [share > 0 for share in value(state)] == [rank == 1 for rank in state.ranks()]
    assert sum(rank == 1 for rank in ahead) > 10


def test_the_learner_is_short_and_its_weights_are_small():
    assert len((FOLDER / "bot.py").read_text().splitlines()) <= 150
    assert len((FOLDER / "value.py").read_text().splitlines()) <= 150
    assert len((FOLDER / "train.py").read_text().splitlines()) <= 200
    assert sum(file.stat().st_size for file in FOLDER.glob("*.json")) < 1_000_000
