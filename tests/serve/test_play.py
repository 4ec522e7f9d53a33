"""Games against bots on a page: what it is told, what it may do, and what becomes of the game."""

import asyncio
import itertools
import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from html import unescape
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from arena.commands import hints
from arena.commands.caution import LEAST_COST
from arena.commands.game import GameRequest, SingleGame
from arena.commands.review import Review, make_judge
from arena.exports.verify import verify_run
from arena.match.grading import gradable_turns, grade
from arena.match.replay import replay
from arena.players.player import built_in_bot
from arena.players.processes import parents
from arena.players.sandbox.tiers import OPEN
from arena.records.grades import read_reviews
from arena.records.journal import read_records
from arena.rules import CORE, State
from arena.rules.boards import built_in
from arena.rules.notation import TILES, deck_text, move_text, parse_deck
from arena.tournament.run import Run
from arena.tournament.schedule import deck_of
from arena.web import game_end, grading
from arena.web import graded as graded_runs
from arena.web.grading import GameGrades, Grader
from arena.web.opengame import OpenGame
from tests.exports.runs import game_of, write_run
from tests.serve.games import Game, begin
from tests.serve.quick_judge import DEALS
from tests.serve.serving import Served
from tests.support.commandline import ROOT
from tests.support.processes import wait_until_dead
from tests.support.wording import without_figures

BOTS = ROOT / "tests" / "bots"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("playing")
    (folder / "bots").mkdir()
    (folder / "results").mkdir()
    (folder / ".arena-home").touch()
    for name in ("exits_midway", "silent"):
        bot = folder / "bots" / name.replace("_", "-")
        bot.mkdir()
        (bot / "bot.py").write_text((BOTS / f"{name}.py").read_text())
        (bot / "bot.toml").write_text(
            f'name = "{bot.name}"\nversion = "1"\ncommand = ["python3", "bot.py"]\n'
        )
    lost = folder / "bots" / "lost"
    lost.mkdir()
    (lost / "bot.toml").write_text('name = "lost"\nversion = "1"\ncommand = ["no-such-program"]\n')
    return folder


@pytest.fixture(scope="module")
def server(patient_server):
    return patient_server


@pytest.fixture(scope="module")
def played(server):
    """A finished game at the second seat against two bots, with all that its page was told."""
    game = begin(server, bot="greedy", bot2="random", seat="1", seed="known", board="lion")
    return game, game.play()


def test_a_game_is_played_to_its_end_and_kept_like_any_other(played, home):
    _, view = played
    assert view["state"] == "over"
    assert len(view["ranks"]) == 3
    folder = home / "results" / view["kept"]
    checked = verify_run(Run(folder))
    assert checked.differences == []
    assert checked.replayed == 1
    (record,) = read_records(folder)
    assert record.bots == ["greedy", "human", "random"]
    assert record.id == view["game"]
    assert record.deck == deck_of("known", "lion", 0)


def test_the_page_is_told_of_no_other_hand_and_of_no_tile_to_come(played, home):
    game, view = played
    (record,) = read_records(home / "results" / view["kept"])
    assert game.told
    known = {"state", "count", "faults", "legal", "effects", "undo", "says", "seat", "names"}
    known |= {
        "stock",
        "elements",
        "start",
        "steps",
        "version",
        "cells",
        "hand",
        "hands",
        "board",
        "rows",
    }
    known |= {"mover", "end", "ranks", "final", "kept", "game", "seed", "headline", "grading"}
    known |= {"graded", "chances", "moments", "sources", "left"}
    step = {"seat", "turn", "move", "came", "went", "left", "events"}
    hands = [hand for state in _states(record) for hand in [deck_text(state.hands[1])]]
    for line in game.told:
        told = json.loads(line.removeprefix("data: "))
        assert set(told) <= known
        assert all(set(one) == step for one in told["steps"])
        assert all(isinstance(held, int) for held in told["hands"])
        assert "".join(told.get("hand", [])) in hands
        assert set(told.get("hand", [])) <= set(TILES)
        assert ("seed" in told) == (told["state"] == "over")
        assert record.deck not in line


def _states(record):
    board = built_in("lion")
    state = State(board, 3, parse_deck(record.deck))
    yield state.copy()
    for one in replay(record, board):
        yield one.state.copy()


def test_what_is_legal_is_what_the_rules_say(played, home):
    game, view = played
    (record,) = read_records(home / "results" / view["kept"])
    first = json.loads(next(line for line in game.told if '"state":"yours"' in line)[6:])
    state = next(state for state in _states(record) if state.mover == 1)
    assert first["legal"] == [move_text(state.board, move) for move in state.legal_moves()]
    assert first["hand"] == [TILES[tile] for tile in state.hands[1]]


def graded(game):
    """The view of a finished game once its moves are graded."""
    with game.events() as views:
        return next(view for view in views if view.get("graded"))


def test_your_moves_are_graded_while_you_play_and_the_grades_are_kept_as_a_review_keeps_them(
    played, home, snapshot
):
    game, _ = played
    view = graded(game)
    run = Run(home / "results" / view["kept"])
    (reviewed,) = read_reviews(run.folder)
    (record,) = read_records(run.folder)
    assert [grade.turn for grade in reviewed.grades] == gradable_turns(record, {1})
    judge = make_judge(deals=DEALS)
    assert reviewed.judge == judge
    assert Review(run, judge, bots=["human"]).todo == []
    first = reviewed.grades[0]
    assert first == grade(record, built_in("lion"), first.turn, judge)
    assert verify_run(run).differences == []
    assert len(view["chances"]) == len(record.moves) + 1
    assert all(0 <= chance <= 1 for chance in view["chances"])
    assert without_figures(view["sources"]) == snapshot


@pytest.mark.skipif(CORE == "pure", reason="in Python the rules are too slow for as many deals")
def test_the_judge_of_pages_is_that_of_a_review():
    judges = [module.JUDGE for module in (hints, game_end, graded_runs, grading)]
    assert judges == [make_judge()] * 4


def test_the_end_tells_at_most_three_moments_and_not_which_move_was_better(played, snapshot):
    game, _ = played
    view = graded(game)
    assert 1 <= len(view["moments"]) <= 3
    assert view["headline"] == snapshot
    known = {"step", "turn", "title", "words", "before", "after", "played"}
    for moment in view["moments"]:
        assert set(moment) == known
        assert view["steps"][moment["step"]]["move"] == moment["played"]
        assert moment["before"] - moment["after"] >= 0.05


def test_a_moment_is_a_question_first_and_after_a_wrong_try_the_reply_and_the_best_move_are_shown(
    played,
):
    game, _ = played
    view = graded(game)
    moment = view["moments"][0]
    asked = game.post("question", steps=0, at=0)[1]["answer"]["view"]
    assert (asked["state"], asked["count"]) == ("question", moment["step"])
    assert moment["played"] in asked["legal"]
    assert list(asked["effects"]["moves"]) == asked["legal"]
    wrong = game.post("try", steps=0, at=0, move=moment["played"])[1]["answer"]
    assert (wrong["right"], wrong["same"]) == (False, True)
    moves = [step["move"] for step in wrong["view"]["steps"]]
    assert moves == [step["move"] for step in view["steps"]][: len(moves)]
    assert len(moves) == min(moment["step"] + 3, len(view["steps"]))
    best = game.post("best", steps=0, at=0)[1]["answer"]
    better = best["view"]["steps"][-1]["move"]
    assert better in asked["legal"]
    right = game.post("try", steps=0, at=0, move=better)[1]["answer"]
    assert (right["right"], right["win"]) == (True, right["best"])
    assert len(right["view"]["steps"]) == moment["step"] + 1
    for move in asked["legal"][:: max(1, len(asked["legal"]) // 6)]:
        tried = game.post("try", steps=0, at=0, move=move)[1]["answer"]
        if not tried["right"] and move != moment["played"]:
            replies = tried["view"]["steps"][moment["step"] + 1 :]
            assert [step["seat"] for step in replies] in ([2, 0], [2], [])
    assert game.post("try", steps=0, at=0, move="Ra1Ra2")[0] == 409
    assert game.post("question", steps=0, at=7)[0] == 409
    assert game.post("question", steps=0, at=-1)[0] == 409


def test_a_game_goes_on_from_one_of_your_moves_with_the_same_tiles(played, server, home):
    game, _ = played
    view = graded(game)
    step = view["moments"][-1]["step"]
    other = Game(server, game.post("play/on", steps=0, at=step)[1]["address"])
    begun = other.play(until=lambda later: later["state"] == "yours")
    moves = [step["move"] for step in view["steps"]]
    assert [step["move"] for step in begun["steps"]] == moves[:step]
    ended = other.play(choose=lambda later: later["legal"][-1])
    folder = home / "results" / ended["kept"]
    (record,) = read_records(folder)
    assert record.moves[:step] == moves[:step]
    assert record.deck == deck_of("known", "lion", 0)
    assert {"turn": view["moments"][-1]["turn"], "undone": 1} in record.notes
    assert verify_run(Run(folder)).differences == []
    assert game.post("play/on", steps=0, at=step + 1)[0] == 409


def test_the_page_of_a_kept_game_shows_a_game_with_its_moments_and_no_ratings(played, server):
    game, _ = played
    view = graded(game)
    page = server.ask(f"/runs/{view['kept']}", cookie=server.cookie)[2]
    assert re.search(r"<h1>You (lost to|won against|shared the win with) ", page)
    assert view["headline"] in unescape(page)
    assert "Elo" not in page
    assert "<table" not in page
    for moment in view["moments"]:
        assert moment["title"] in unescape(page)
        assert f"?t={moment['turn']}" in page
    assert page.count("Which move was better?") == len(view["moments"])


def test_a_game_that_is_not_over_has_no_questions_and_goes_on_from_nowhere(server):
    game = begin(server, bot="random", seed="early")
    game.play(until=lambda view: view["state"] == "yours" and view["count"] >= 2)
    assert game.post("question", steps=0, at=0)[0] == 409
    assert game.post("play/on", steps=0, at=0)[0] == 409
    game.leave()


@pytest.mark.parametrize(
    ("how", "words", "bot", "end"),
    [
        ("easier", "An easier bot", "greedy-2", "random"),
        ("harder", "Play the next bot", "greedy-16", "engine-cpp"),
    ],
)
def test_the_next_game_can_be_against_an_easier_or_a_harder_bot(server, how, words, bot, end):
    game = begin(server, bot="greedy-4", seed="easy")
    page = server.ask(game.address, cookie=server.cookie)[2]
    assert f"{words}: <bdi>{bot}</bdi>" in page
    other = Game(server, game.post(f"again/{how}", steps=0)[1]["address"])
    assert other.view()["names"] == ["human", bot]
    last = begin(server, bot=end, seed="easy")
    assert words not in server.ask(last.address, cookie=server.cookie)[2]
    assert last.post(f"again/{how}", steps=0)[0] == 409
    for one in (game, other, last):
        one.leave()


def test_an_illegal_move_is_refused_with_the_rule_and_the_game_goes_on(server, snapshot):
    game = begin(server, bot="random", seed="refused")
    view = game.play(until=lambda view: view["state"] == "yours")
    tile = view["hand"][0]
    far = f"{tile[0]}a1{tile[1]}b1"
    status, reply = game.post("move", move=far, steps=view["count"])
    assert (status, reply["rule"]) == (409, "R4.2")
    assert reply["problem"] == snapshot
    status, why = game.post("why", move=far, steps=view["count"])
    assert (status, why) == (200, {"answer": {"words": reply["problem"], "rule": "R4.2"}})
    _, why = game.post("why", move=view["legal"][0], steps=view["count"])
    assert why == {"answer": {"words": "", "rule": ""}}
    assert game.view()["count"] == view["count"], "a question plays nothing"
    for odd in ("", "Ra1", "x" * 2000, "pass", "Ra1Rz99", "R\u0661\u0661Ra2"):
        assert game.post("move", move=odd, steps=view["count"])[0] == 409
    assert game.post("move", move=view["legal"][0], steps=view["count"])[0] == 200
    game.leave()


def test_a_move_counts_once_and_only_in_the_position_it_was_chosen_for(server):
    game = begin(server, bot="random", seed="twice")
    view = game.play(until=lambda view: view["state"] == "yours")
    ask = {"move": view["legal"][3], "steps": view["count"]}
    with ThreadPoolExecutor(8) as hands:
        statuses = sorted(
            status for status, _ in hands.map(lambda _: game.post("move", **ask), range(8))
        )
    assert statuses == [200] + [409] * 7
    later = game.play(until=lambda view: view["count"] > 1)
    assert [step["move"] for step in later["steps"]][:1] in ([], [ask["move"]])
    assert game.view()["steps"][0]["move"] == ask["move"]
    game.leave()


def test_a_page_opened_later_is_told_everything_and_two_pages_are_told_the_same(server):
    game = begin(server, bot="careful-2", seed="again", seat="1")
    with game.events() as first, game.events() as second:
        for _ in range(3):
            views = [
                next(view for view in views if view["state"] == "yours")
                for views in (first, second)
            ]
            assert views[0]["legal"] == views[1]["legal"]
            game.post("move", move=views[0]["legal"][0], steps=views[0]["count"])
    game.play(until=lambda view: view["count"] >= 6)
    late = game.view()
    assert len(late["steps"]) == late["count"] >= 6
    assert {number for step in late["steps"] for number in step["came"]} <= set(
        range(len(late["elements"]))
    )
    game.leave()


def test_the_first_hint_names_moves_in_no_order_and_the_second_the_best_with_its_reason(
    server, home
):
    game = begin(server, bot="random", seed="hint")
    view = game.play(until=lambda view: view["state"] == "yours")
    first, second, third = (game.post("hint", steps=view["count"])[1]["answer"] for _ in range(3))
    assert set(first) == {"moves"}
    assert first["moves"] == sorted(first["moves"])
    assert len(first["moves"]) == 3
    assert set(first["moves"]) <= set(view["legal"])
    assert second == third
    assert second["best"] in first["moves"]
    assert 0 <= second["win"] <= 1
    assert second["reason"].split(": ")[1]
    game.post("move", move=second["best"], steps=view["count"])
    ended = game.play()
    (record,) = read_records(home / "results" / ended["kept"])
    assert record.notes == [{"turn": 0, "hints": 2}]


def test_what_each_legal_move_does_is_told_before_it_is_played(server):
    game = begin(server, bot="random", seed="effects")
    view = game.play(until=lambda view: view["state"] == "yours" and view["count"] >= 6)
    effects = view["effects"]
    assert list(effects["moves"]) == view["legal"]
    for left, numbers in effects["moves"].values():
        assert len(left) == 2
        assert numbers
        assert all(effects["lines"][number][2].endswith(".") for number in numbers)
    move = view["legal"][-1]
    left, numbers = effects["moves"][move]
    assert game.post("move", move=move, steps=view["count"])[0] == 200
    later = game.play(until=lambda later: later["count"] > view["count"])
    step = later["steps"][view["count"]]
    assert step["left"] == left
    assert [words for _, words in step["events"]] == [
        effects["lines"][number][2] for number in numbers
    ]
    game.leave()


def test_a_move_that_costs_much_gets_a_caution_that_counts_as_help(server, home):
    game = begin(server, bot="careful-16", seed="caution")
    first = game.play(until=lambda view: view["state"] == "yours" and view["count"] > 9)
    asked = {"steps": first["count"]}
    move, caution = game.costly_move(first)
    assert caution["cost"] >= LEAST_COST
    assert caution["words"].endswith(".")
    assert game.post("caution", move="Yg7Yg8", **asked)[0] == 409
    assert game.post("move", move=move, **asked)[0] == 200
    last = game.play()
    [record] = read_records(home / "results" / last["kept"])
    assert record.notes == [{"turn": first["count"], "hints": 1}]


def test_a_table_of_four_is_filled_with_the_nearest_rungs(server):
    view = begin(server, bot="greedy", players="4").leave()
    assert view["names"][1:] == ["greedy", "greedy-16", "careful"]
    view = begin(server, bot="greedy", bot2="random", players="2").leave()
    assert view["names"][1:] == ["greedy", "random"]


def test_moves_are_taken_back_and_the_game_that_is_kept_is_the_one_played_on(server, home):
    game = begin(server, bot="careful-2", bot2="greedy-python", seed="undo", seat="1")
    view = game.play(until=lambda view: view["state"] == "yours")
    assert game.post("undo", steps=view["count"])[0] == 409
    view = game.play(until=lambda view: view["state"] == "yours" and view["count"] >= 7)
    before = [step["move"] for step in view["steps"]]
    for count in (4, 1):
        assert game.post("undo", steps=view["count"])[0] == 200
        with game.events() as views:
            view = next(
                view for view in views if view["state"] == "yours" and view["count"] == count
            )
        assert [step["move"] for step in view["steps"]] == before[:count]
    other = next(move for move in view["legal"] if move != before[1])
    game.post("move", move=other, steps=view["count"])
    ended = game.play()
    folder = home / "results" / ended["kept"]
    (record,) = read_records(folder)
    assert record.moves[:2] == [before[0], other]
    assert record.notes == [{"turn": 1, "undone": 2}]
    assert record.faults == []
    assert verify_run(Run(folder)).differences == []


def taken_back(game, view):
    """The view in which the person is to move again after they have taken a move back."""
    assert game.post("undo", steps=view["count"])[0] == 200
    with game.events() as views:
        return next(
            later for later in views if later["state"] == "yours" and later["count"] < view["count"]
        )


def test_a_bot_that_forfeited_stays_out_when_a_move_is_taken_back(server, home):
    game = begin(server, bot="greedy", bot2="exits-midway", seat="2", seed="out")
    view = game.play(until=lambda view: view["state"] == "yours" and view["faults"])
    game.post("move", move=view["legal"][0], steps=view["count"])
    view = game.play(until=lambda later: later["state"] == "yours")
    moves = [step["move"] for step in view["steps"]]
    again = taken_back(game, view)
    assert [step["move"] for step in again["steps"]] == moves[: again["count"]]
    assert len(again["faults"]) == 1
    ended = game.play()
    folder = home / "results" / ended["kept"]
    (record,) = read_records(folder)
    assert [fault.seat for fault in record.faults] == [1]
    assert verify_run(Run(folder)).differences == []


def test_a_game_goes_on_with_the_bots_that_it_began_with(server, home):
    """Bots are copied and built once a game: their folders may change while it is played."""
    folder = home / "bots" / "changing"
    shutil.copytree(ROOT / "bots" / "random-python", folder)
    toml = (folder / "bot.toml").read_text()
    (folder / "bot.toml").write_text(toml.replace("random-python", "changing"))
    game = begin(server, bot="changing", seed="changing")
    view = game.play(until=lambda view: view["state"] == "yours" and view["count"] == 2)
    (folder / "bot.py").write_text("raise SystemExit('this is another bot')\n")
    view = taken_back(game, view)
    game.post("move", move=view["legal"][-1], steps=view["count"])
    ended = game.play()
    shutil.rmtree(folder)
    assert ended["state"] == "over"
    assert ended["faults"] == []


def test_help_with_moves_that_were_taken_back_is_in_the_record(server, home):
    game = begin(server, bot="random", seed="help")
    view = game.play(until=lambda view: view["state"] == "yours")
    for _ in range(2):
        game.post("hint", steps=view["count"])
        game.post("move", move=view["legal"][0], steps=view["count"])
        view = game.play(until=lambda later: later["state"] == "yours" and later["count"] == 2)
        view = taken_back(game, view)
    game.post("move", move=view["legal"][1], steps=view["count"])
    ended = game.play()
    (record,) = read_records(home / "results" / ended["kept"])
    assert record.notes == [{"turn": 0, "hints": 2, "undone": 2}]


def test_a_game_that_is_left_ends_without_a_record(server, home, snapshot):
    before = set((home / "results").iterdir())
    game = begin(server, bot="greedy")
    assert game.play(until=lambda view: view["state"] == "yours")["state"] == "yours"
    view = game.leave()
    assert view["state"] == "broken"
    assert view["says"] == snapshot
    status, reply = game.post("move", move="Ra1Ra2", steps=1)
    assert status == 409
    assert reply == snapshot
    assert game.post("question", steps=1)[0] == 409
    assert set((home / "results").iterdir()) == before


def test_a_game_that_was_left_is_listed_and_goes_on_where_it_was_left(server, home):
    game = begin(server, bot="careful-16", seed="left")
    before = game.play(until=lambda view: view["state"] == "yours" and view["count"] > 5)
    assert not before["left"]
    assert game.post("continue", steps=0)[0] == 409
    game.post("hint", steps=before["count"])
    assert " so far</small>" in server.ask("/", cookie=server.cookie)[2], "and this page is kept"
    assert game.leave()["left"]

    def listed(path, **headers):
        return f"left after {before['count']} moves" in server.ask(path, **headers)[2]

    assert listed("/play", cookie=server.cookie)
    assert listed("/", cookie=server.cookie)
    assert not listed("/")
    status, reply = game.post("continue", steps=0)
    assert status == 200, reply
    assert game.post("continue", steps=0) == (status, reply), "a game is not continued twice"
    assert not listed("/play", cookie=server.cookie)
    assert not listed("/", cookie=server.cookie)
    further = Game(server, reply["address"])
    view = further.play(until=lambda view: view["state"] == "yours")
    moves = [step["move"] for step in before["steps"]]
    assert [step["move"] for step in view["steps"]] == moves
    assert view["hand"] == before["hand"]
    ended = further.play()
    (record,) = read_records(home / "results" / ended["kept"])
    assert record.moves[: len(moves)] == moves
    assert record.notes == [{"turn": before["count"], "hints": 1}]
    assert verify_run(Run(home / "results" / ended["kept"])).differences == []


def test_a_game_that_was_left_before_the_first_move_cannot_be_continued(server, snapshot):
    game = begin(server, bot="random", seed="left early")
    game.play(until=lambda view: view["state"] == "yours")
    assert not game.leave()["left"]
    status, reply = game.post("continue", steps=0)
    assert status == 409
    assert reply == snapshot
    assert "left after 0 moves" not in server.ask("/play", cookie=server.cookie)[2]


@pytest.mark.parametrize("bot", ["exits-midway", "silent"])
def test_a_bot_that_forfeits_is_told_in_words_and_the_others_play_on(server, bot):
    game = begin(server, bot=bot, bot2="random", ms="200", seed="fault")
    view = game.play()
    assert view["state"] == "over", view
    (fault,) = view["faults"]
    assert fault["seat"] == 1
    assert re.match(rf"{bot} forfeits \(\w+.*\): ", fault["words"])
    assert view["ranks"][1] == 3


def test_a_game_whose_bot_cannot_be_made_ready_says_why(server):
    view = begin(server, bot="lost").play()
    assert view["state"] == "broken"
    assert "no-such-program" in view["says"]


def test_the_same_tiles_again_at_another_seat(server):
    game = begin(server, bot="random", seed="deal")
    first = game.play(until=lambda view: view["state"] == "yours")

    def hand_of_next(how, seat):
        other = Game(server, game.post(f"again/{how}", steps=0)[1]["address"])
        view = other.play(until=lambda view: view["state"] == "yours")
        assert view["seat"] == seat
        other.leave()
        return view["hand"]

    assert hand_of_next("same", 0) == first["hand"]
    assert hand_of_next("seat", 1) != first["hand"]
    # Other tiles may give one the same hand by chance.
    assert any(hand_of_next("new", 0) != first["hand"] for _ in range(5))
    game.leave()


def test_whoever_has_no_token_sees_nothing_and_changes_nothing(server, played):
    game, _ = played
    for path in ("/play", game.address, f"{game.address}/events"):
        assert server.ask(path)[0] == 403
    for path in ("/play", f"{game.address}/move", f"{game.address}/leave"):
        assert server.ask(path, "POST", b"{}")[0] == 403
        foreign = {"cookie": server.cookie, "origin": "http://evil.example"}
        assert server.ask(path, "POST", b"{}", **foreign)[0] == 403


@pytest.fixture
def served():
    """Starts servers of a test's own."""
    with ExitStack() as stack:
        yield lambda *words, **more: stack.enter_context(closing(Served(*words, **more)))


def test_odd_questions_and_wishes_are_refused_in_words(server):
    game = begin(server, bot="random")
    for body in (b"", b"[]", b'{"steps":"1"}', b'{"steps":1,"x":2}', b"\xff", b"[" * 60_000):
        status, _, text = server.ask(f"{game.address}/move", "POST", body, cookie=server.cookie)
        assert (status, "problem" in json.loads(text)) == (400, True)
    for wanted in (
        {"bot": "../../etc"},
        {"bot": "./bots/silent"},
        {"bot": ""},
        {"bot": "greedy", "bot2": "greedy"},
        {"bot": "greedy", "seat": "2"},
        {"bot": "greedy", "board": "/etc/passwd"},
        {"bot": "greedy", "ms": "-1"},
        {"bot": "human"},
    ):
        body = json.dumps(wanted).encode()
        status, _, text = server.ask("/play", "POST", body, cookie=server.cookie)
        assert (status, "problem" in json.loads(text)) == (409, True), wanted
    game.leave()
    assert server.ask("/play/no-such-game", cookie=server.cookie)[0] == 404
    status, _, text = server.ask("/play/no-such-game/move", "POST", b"{}", cookie=server.cookie)
    assert (status, "problem" in json.loads(text)) == (404, True)


def test_only_so_many_games_are_played_at_once(server):
    games = [begin(server, bot="random") for _ in range(8)]
    body = json.dumps({"bot": "random"}).encode()
    status, _, text = server.ask("/play", "POST", body, cookie=server.cookie)
    assert status == 409
    assert "8 games" in json.loads(text)["problem"]
    assert server.ask("/play", cookie=server.cookie)[2].count('<a href="/play/') >= 8
    for game in games:
        game.leave()


def test_the_form_lists_the_latest_games(server, played):
    _, view = played
    page = server.ask("/play", cookie=server.cookie)[2]
    assert f'href="/runs/{view["kept"]}/games/{quote(view["game"])}"' in page
    assert "<bdi>greedy</bdi>, <bdi>random</bdi>" in page
    place = {1: "won", 2: "came second", 3: "came last"}[view["ranks"][view["seat"]]]
    assert f'">{place} against' in page


def test_a_game_in_which_nobody_moves_is_given_up(tmp_path):
    game_request = GameRequest([built_in_bot("random")], 0, built_in("bird"), "seed")
    single = SingleGame(game_request.bots, game_request.seat, game_request.timing, OPEN)
    grades = GameGrades(Grader(), game_request.game.id, 0)
    game = OpenGame(single, game_request.game, tmp_path / "results", grades, patience_s=0.1)
    game.start()
    while not game.is_over:
        asyncio.run(game.news(game.version, 60))
    view = game.view()
    assert "nobody moved for" in view["says"]
    assert not (tmp_path / "results").exists()


@pytest.mark.long
def test_play_web_prints_its_address_first_and_ends_when_the_page_is_left(tmp_path, served):
    options = ("careful", "greedy", "--web", "--human", 1, "--seed", "web", "--board", "lion")
    server = served(tmp_path, *options, command=("play",))
    game = Game(server, urlsplit(server.url).path)
    assert server.ask(f"{game.address}?token={server.token}")[0] == 303
    view = game.play()
    assert (view["state"], view["names"]) == ("over", ["careful", "human", "greedy"])
    _, said = server.process.communicate(timeout=120)
    assert (server.process.returncode, said) == (0, "")
    assert verify_run(Run(tmp_path / "results" / view["kept"])).differences == []


def test_play_web_opens_a_browser_where_there_is_a_screen_and_ctrl_c_ends_it_with_its_bots(
    tmp_path, served, monkeypatch
):
    browser = tmp_path / "browser"
    browser.write_text('#!/bin/sh\necho "$1" > "$0.opened"\n')
    browser.chmod(0o755)
    monkeypatch.setenv("DISPLAY", ":9")
    monkeypatch.setenv("BROWSER", str(browser))
    server = served(tmp_path, "greedy-python", "--web", command=("play",))
    game = Game(server, urlsplit(server.url).path)
    game.play(until=lambda view: view["state"] == "yours")
    bots = descendants(server.process.pid)
    assert bots
    status, err = server.stop()
    assert (status, err.splitlines()[-1]) == (130, "interrupted")
    assert Path(f"{browser}.opened").read_text().strip() == server.url
    for pid in bots:
        wait_until_dead(pid)
    assert not (tmp_path / "results").exists()


def descendants(pid):
    """All processes that a process has started."""
    known = parents()
    own = [child for child, parent in known.items() if parent == pid]
    return own + [further for child in own for further in descendants(child)]


def test_opponents_are_rungs_with_the_persons_score_and_the_next_one_is_marked(tmp_path):
    kept = tmp_path / "results"
    write_run(kept / "played-1", ["human", "random"], [lost_or_won("random", 1)])
    write_run(kept / "played-2", ["human", "greedy-2"], [lost_or_won("greedy-2", 2)])
    server = Served(tmp_path)
    with closing(server):
        text = server.ask("/play", cookie=server.cookie)[2]
    rows = re.findall("<li.*?</li>", text[text.index('<ol class="rungs"') :], re.DOTALL)
    assert 'value="random"' in rows[0]
    assert "you 1 : 0" in rows[0]
    assert ["Your next opponent." in row for row in rows].index(True) == 1
    assert "you 0 : 1" in rows[1]
    assert 'value="engine-cpp"' in rows[10]
    assert "seat 0" not in text[text.index("<main") : text.index("</main>")]
    assert "you move first" in text


def lost_or_won(bot, rank):
    """A kept game of a person against ``bot``, in which the person came in at ``rank``."""
    games = (game_of(("human", bot), luck=luck) for luck in itertools.count())
    return next(game for game in games if game.ranks == [rank, 3 - rank])
