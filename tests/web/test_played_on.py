"""A game of a run, played on by a person from a position of it."""

import json

import pytest

from arena.records.grades import read_reviews
from tests.exports.runs import duels, write_run
from tests.support.waiting import wait_for
from tests.web.games import Game
from tests.web.serving import Served


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("playing-on")
    (folder / ".arena-home").touch()
    return folder


@pytest.fixture(scope="module")
def server(home):
    started = Served(home)
    yield started
    started.close()


def test_a_game_of_a_finished_run_is_played_on_with_its_tiles(server, home):
    games = duels(("greedy-4", "careful-4"), 1)
    run = write_run(home / "results" / "bots-only", ("greedy-4", "careful-4"), games)
    record = next(game for game in games if game.turns > 12)
    asked = {"run": run.name, "game": record.id, "turn": 9}

    def ask(**changed):
        body = json.dumps({**asked, **changed}).encode()
        return server.ask("/play/from/game", "POST", body, cookie=server.cookie)

    status, _, text = ask()
    assert status == 200, text
    game = Game(server, json.loads(text)["address"])
    view = game.play(until=lambda view: view["state"] == "yours")
    placed = [step["move"] for step in view["steps"] if step["move"] != "pass"]
    assert placed == [move for move in record.moves if move != "pass"][:9]
    game.play()
    status, _, text = ask(turn=record.turns)
    assert (status, "the game is over here" in text) == (409, True)
    assert server.ask("/play/from/game", "POST", json.dumps(asked).encode())[0] == 403
    assert ask(run="nobody")[0] == 404


def test_a_game_of_a_run_that_still_has_secrets_is_not_played_on(server, home):
    games = duels(("greedy-4", "careful-4"), 2)
    bots = ("greedy-4", "careful-4")
    run = write_run(home / "results" / "half", bots, games[:2], deals=2)
    body = json.dumps({"run": run.name, "game": games[0].id, "turn": 3}).encode()
    status, _, text = server.ask("/play/from/game", "POST", body, cookie=server.cookie)
    assert (status, "must stay secret" in text) == (409, True)


def test_a_game_is_graded_once_and_its_grades_are_kept(server, home):
    bots = ("greedy-4", "careful-4")
    games = duels(bots, 1)
    run = write_run(home / "results" / "graded", bots, games)
    half = write_run(home / "results" / "half-graded", bots, duels(bots, 2)[:1], deals=2)

    def ask(folder=run, cookie=server.cookie):
        body = json.dumps({"run": folder.name, "game": games[0].id}).encode()
        status, _, text = server.ask("/play/grade/game", "POST", body, cookie=cookie)
        return status, json.loads(text) if status in (200, 409) else {}

    wait_for(lambda: ask()[1]["is_done"], "the grades")
    [line] = read_reviews(run)
    assert line.seats == [0, 1]
    assert [grade.turn for grade in line.grades] == list(range(games[0].turns))
    assert ask()[1] == {"graded": 0, "of": 0, "is_done": True, "problem": ""}
    assert len(read_reviews(run)) == 1
    assert ask(cookie="arena=no")[0] == 403
    status, reply = ask(half)
    assert (status, "still to be played" in reply["problem"]) == (409, True)
