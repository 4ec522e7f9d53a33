"""A game of a run, played on by a person from a position of it."""

import json

import pytest

from arena.commands.game import past_games
from arena.commands.playing import SandboxChoice
from arena.commands.rungs import scores
from arena.exports.verify import verify_run
from arena.records.grades import newest_review, read_reviews
from arena.records.journal import read_records
from arena.rules.terms import REVISION
from arena.tournament.run import Run
from arena.web.lessons import RefusedError
from arena.web.opengames import OpenGames
from tests.exports.runs import SEED, duels, game_of, write_run
from tests.serve.games import Game
from tests.support.waiting import wait_for


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("playing-on")
    (folder / ".arena-home").touch()
    return folder


@pytest.fixture(scope="module")
def server(patient_server):
    return patient_server


def test_a_game_of_a_finished_run_is_played_on_with_its_tiles(server, home, snapshot):
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
    assert status == 409
    assert text == snapshot
    assert server.ask("/play/from/game", "POST", json.dumps(asked).encode())[0] == 403
    assert ask(run="nobody")[0] == 404


def test_a_game_of_a_run_that_still_has_secrets_is_not_played_on(server, home, snapshot):
    games = duels(("greedy-4", "careful-4"), 2)
    bots = ("greedy-4", "careful-4")
    run = write_run(home / "results" / "half", bots, games[:2], deals=2)
    body = json.dumps({"run": run.name, "game": games[0].id, "turn": 3}).encode()
    status, _, text = server.ask("/play/from/game", "POST", body, cookie=server.cookie)
    assert status == 409
    assert text == snapshot


def test_a_game_is_graded_once_and_its_grades_are_kept(server, home, snapshot):
    bots = ("greedy-4", "careful-4")
    # The first game ends early, because grading a move takes most of a second.
    forfeit = (0, 8, "late", "no answer in time")
    games = [game_of(bots, faults=(forfeit,)), game_of(bots[::-1], seating=1)]
    run = write_run(home / "results" / "graded", bots, games)
    half = write_run(home / "results" / "half-graded", bots, duels(bots, 2)[:1], deals=2)

    def ask(folder=run, cookie=server.cookie):
        body = json.dumps({"run": folder.name, "game": games[0].id}).encode()
        status, _, text = server.ask("/play/grade/game", "POST", body, cookie=cookie)
        return status, json.loads(text) if status in (200, 409) else {}

    # Each question takes time from the process that grades.
    wait_for(lambda: ask()[1]["is_done"], "the grades", interval_s=0.5)
    [line] = read_reviews(run)
    assert line.seats == [0, 1]
    assert [grade.turn for grade in line.grades] == list(range(games[0].turns))
    assert ask()[1] == {"graded": 0, "of": 0, "is_done": True, "problem": ""}
    assert len(read_reviews(run)) == 1
    assert ask(cookie="arena=no")[0] == 403
    status, reply = ask(half)
    assert status == 409
    assert reply["problem"] == snapshot


def test_a_bot_of_a_strangers_run_is_never_started_by_its_path(server, home, snapshot):
    """A run from anywhere may name its bots as it likes, also like a program of this machine."""
    started = home / "started"
    (home / "evil.py").write_text(f"open({str(started)!r}, 'w')\n")
    games = duels(("evil.py", "greedy-4"), 1)
    run = write_run(home / "results" / "foreign", ("evil.py", "greedy-4"), games)
    body = json.dumps({"run": run.name, "game": games[0].id, "turn": 3}).encode()
    status, _, text = server.ask("/play/from/game", "POST", body, cookie=server.cookie)
    assert status == 409
    assert text == snapshot
    assert not started.exists()


def test_a_game_on_a_board_that_its_run_does_not_have_is_refused_in_words(server, home, snapshot):
    games = duels(("greedy-4", "careful-4"), 1)
    run = write_run(home / "results" / "boardless", ("greedy-4", "careful-4"), games)
    path = run / "run.json"
    info = json.loads(path.read_text())
    path.write_text(json.dumps({**info, "boards": {"lion": info["boards"]["bird"]}}))
    body = json.dumps({"run": run.name, "game": games[0].id, "turn": 3}).encode()
    status, _, text = server.ask("/play/from/game", "POST", body, cookie=server.cookie)
    assert status == 409
    assert text == snapshot


@pytest.fixture(scope="module")
def taken_over(server, home):
    """A game in which a person took over a bot's seat after nine tiles: the first view in which it
    is their turn, the last view, and the folder of the kept game.
    """
    games = duels(("greedy-4", "careful-4"), 1)
    run = write_run(home / "results" / "source", ("greedy-4", "careful-4"), games)
    record = next(game for game in games if game.turns > 12)
    body = json.dumps({"run": run.name, "game": record.id, "turn": 9}).encode()
    text = server.ask("/play/from/game", "POST", body, cookie=server.cookie)[2]
    game = Game(server, json.loads(text)["address"])
    first = game.play(until=lambda view: view["state"] == "yours")
    game.play()
    with game.events() as views:
        last = next(view for view in views if view.get("graded"))
    return first, last, home / "results" / last["kept"], game


def test_a_kept_game_that_was_played_on_does_not_hold_the_seed_of_its_run(taken_over, server):
    """More deals of that run, which follow from its seed, may still be played."""
    _, last, kept, game = taken_over
    assert last["seed"] == ""
    assert SEED not in (kept / "run.json").read_text()
    assert verify_run(Run(kept)).differences == []
    status, answer = game.post("again/same")
    again = Game(server, answer["address"])
    view = again.play(until=lambda view: view["state"] == "yours")
    again.leave()
    assert status == 200
    assert view["count"] <= 1, "the same tiles again begin with the first tile"


def test_moves_that_a_bot_made_before_are_not_the_persons(taken_over, server):
    first, last, kept, _ = taken_over
    assert first["undo"] is False
    assert min(moment["turn"] for moment in last["moments"]) >= 9
    assert last["sources"] == "", "the person did not have an even start"
    record = next(read_records(kept))
    _, grades = newest_review(read_reviews(kept), record, REVISION)
    assert min(grades) >= 9
    [past] = [one for one in past_games(kept.parent, 9) if one.run == kept.name]
    assert past.is_taken_over
    assert scores([past]) == {}
    text = server.ask("/play", cookie=server.cookie)[2]
    rungs = text[text.index('<ol class="rungs"') : text.index("</ol>", text.index("rungs"))]
    assert " : " not in rungs


def test_a_game_that_is_not_here_any_more_is_refused_in_words(tmp_path, refused):
    games = OpenGames(tmp_path, SandboxChoice(None, (), unsafe=True))
    with refused(RefusedError):
        games.begin_from("gone", 3)
    games.close()
