"""What is remembered of a run whose page somebody reads, while the run is played and given more."""

import json
import os

import pytest

from arena.records.record import encode_record
from arena.web import rendering
from tests.exports.runs import duels, games_won, write_run


@pytest.fixture(autouse=True)
def followed(monkeypatch):
    """The runs that are followed: none at first."""
    runs = {}
    monkeypatch.setattr(rendering, "_followed", runs)
    return runs


def change(run, **changed):
    """Changes settings in the run.json of a run."""
    path = run / "run.json"
    info = json.loads(path.read_text())
    info["config"] |= changed
    path.write_text(json.dumps(info))


def test_a_shown_game_goes_when_its_deal_has_games_to_play_again(tmp_path, followed):
    """A new bot will play the same tiles, and its author may look at the page."""
    run = write_run(tmp_path / "run", "ab", duels("ab", 2), deals=2)
    assert rendering.look_at(str(run)).is_over
    [follower] = followed.values()
    before = follower.shown(rendering.followed_run(str(run)))
    assert before is not None
    change(run, bots=["a", "b", "c"])
    board = rendering.look_at(str(run)).parts["board"]
    assert followed[str(run)] is follower
    assert follower.shown(rendering.followed_run(str(run))) is None
    assert before.picture not in board


def test_the_verdict_of_a_comparison_goes_on_when_it_gets_more_games(tmp_path):
    games = games_won("a", "b", 9)
    run = write_run(tmp_path / "run", "ab", games[:4], deals=2)
    change(run, compare={"new": "a", "old": "b", "elo0": 0, "elo1": 100})
    assert "undecided" in rendering.look_at(str(run)).parts["sentence"].lower()
    change(run, deals=100)
    with (run / "games.jsonl").open("ab") as file:
        file.write(b"".join(encode_record(game) + b"\n" for game in games[4:]))
    assert ": better" in rendering.look_at(str(run)).parts["sentence"]


def test_the_title_says_whether_the_run_is_played(tmp_path):
    run = write_run(tmp_path / "results" / "some", "ab", duels("ab", 2), deals=2)
    assert rendering.look_at(str(run)).title == "some: finished"
    change(run, bots=["a", "b", "c"])
    assert rendering.look_at(str(run)).title == "some: playing"
    os.utime(run / "games.jsonl", (0, 0))
    assert rendering.look_at(str(run)).title == "some: stopped"
