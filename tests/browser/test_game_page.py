"""The page of one game as an analysis board, in a real browser."""

import re
from urllib.parse import quote

import pytest

from arena.exports.effects import effects_of
from arena.match.replay import positions
from arena.records.grades import read_reviews
from arena.rules.boards import built_in
from arena.rules.notation import move_text, parse_move
from tests.browser.pages import pair_page
from tests.exports.runs import game_of, write_run
from tests.serve.serving import Served

NOW = "now"
GHOSTS = "return document.querySelectorAll('#board .ghost use').length"


@pytest.fixture
def game(tmp_path):
    path, games = pair_page(tmp_path, ("a", "b"))
    return path, games[0]


def test_a_game_begins_at_its_first_tile_and_a_link_opens_it_at_another(browser, game):
    path, _ = game
    browser.open(path)
    assert browser.text(NOW).startswith("Tile 1:")
    browser.open(path, "#t12")
    assert browser.text(NOW).startswith("Tile 12:")


SAID = """
    const words = document.querySelector(".alone").cloneNode(true);
    words.querySelectorAll("template, details.cells").forEach((part) => part.remove());
    return words.textContent.replaceAll("\\u00a0", " ");
"""
NAMELESS = """
    const buttons = [...document.querySelectorAll(".controls button, .controls a")];
    return buttons.filter((one) => !one.title || one.title !== one.getAttribute("aria-label"));
"""


def test_the_page_of_a_game_speaks_plain_words_and_every_button_says_what_it_does(browser, game):
    path, record = game
    browser.open(path, "#t12")
    words = browser.js(SAID)
    for insider in (r"\bseat \d", r"\d ms\b", r"\bdeal\b", r"\bR\d\.\d", r"\b(expand|absorb)\b"):
        assert re.search(insider, words) is None, insider
    assert "moves first" in words
    assert "makes a" in words
    assert browser.js("return document.title") == " \u2013 ".join(record.bots) + ": a game of Qin"
    assert browser.js(NAMELESS) == []
    browser.click("play")
    assert browser.js(NAMELESS) == [], "also while the game plays"


def test_a_tile_of_the_seat_to_move_shows_its_three_best_places_and_what_it_does_there(
    browser, game
):
    pytest.importorskip("arena.rules.native._core", reason="the pure core would take seconds")
    path, record = game
    browser.open(path, "#t12")
    state = next(
        state.copy() for state, _ in positions(record, built_in("bird")) if state.turns == 12
    )
    names = ["a", "b"]
    assert browser.js(GHOSTS) == 0
    tiles = browser.js("return document.querySelectorAll('#players .try').length")
    assert tiles == len([*state.hands[state.mover]])
    browser.js("document.querySelector('#players .try').focus()")
    assert browser.js(GHOSTS) == 2 * 3  # a tile and its ring for each place
    assert browser.js("return document.querySelectorAll('#board .ghost .next-best').length") == 4
    lines = browser.js("return [...document.querySelectorAll('#tries span')].map(e => e.innerText)")
    said = {
        effects_of(state, move, names, 2).brief: move_text(state.board, move)
        for move in state.legal_moves()
    }
    assert len(lines) == 3
    for line in lines:
        places, words = line.split(" ", 1)
        assert words in said
        assert len(places.split("\N{EN DASH}")) == 2
    browser.js("document.activeElement.blur()")
    assert browser.js(GHOSTS) == 0
    assert "Point at a tile" in browser.text("tries")


def test_the_best_place_is_the_one_with_the_best_outlook(browser, game):
    pytest.importorskip("arena.rules.native._core", reason="the pure core would take seconds")
    path, record = game
    browser.open(path, "#t5")
    board = built_in("bird")
    state = next(state.copy() for state, _ in positions(record, board) if state.turns == 5)
    data = "JSON.parse(document.getElementById('games-data').textContent)"
    tries = browser.js(f"return {data}.games[0].steps[5].tries")
    outlooks = dict(zip(state.legal_moves(), state.outlooks(), strict=True))
    best = max(outlooks.values())
    assert outlooks[parse_move(board, tries[0][0])] == best


def test_arrows_lead_from_one_key_moment_to_the_next(browser, game):
    path, record = game
    browser.open(path)
    turns = []
    for _ in range(3):
        browser.click("moment-on")
        turns.append(int(browser.text(NOW).removeprefix("Tile ").partition(":")[0]))
    assert turns == sorted(turns)
    browser.keys("N")
    assert browser.text(NOW).startswith(f"Tile {turns[1]}:")
    assert record.turns >= turns[-1]


def test_a_game_is_graded_and_played_on_from_the_position_that_is_shown(browser, tmp_path):
    (tmp_path / ".arena-home").touch()
    bots = ("careful-4", "greedy-4")
    # The game ends early, because grading a move takes most of a second.
    forfeit = (0, 14, "late", "no answer in time")
    games = [game_of(bots, faults=(forfeit,)), game_of(bots[::-1], seating=1)]
    folder = write_run(tmp_path / "results" / "run", bots, games)
    server = Served(tmp_path, module="tests.serve.patient")
    try:
        own, token = server.url.split("?")
        name = quote(games[0].id)
        browser.open(f"{own}runs/run/games/{name}")
        assert browser.js("return document.querySelector('#play-on')") is None, "without the token"
        browser.open(f"{own}runs/run/games/{name}?{token}", "#t9")
        browser.click("grade")
        browser.wait("return document.querySelectorAll('#log .key').length > 0")
        assert browser.text(NOW).startswith("Tile 9:"), "at the same tile"
        assert browser.js("return document.getElementById('grade')") is None
        assert {grade.seat for [line] in [read_reviews(folder)] for grade in line.grades} == {0, 1}
        browser.js("document.querySelector('#play-on button').click()")
        browser.wait("return location.pathname.startsWith('/play/')")
        browser.wait("return document.querySelectorAll('#tiles *').length > 0")
        assert browser.log() == []
    finally:
        server.close()


INSIDE = """
    const inside = (node) => {
      const { left, top, right, bottom } = node.getBoundingClientRect();
      return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
    };
    const wanted = "#board, .controls > :not([hidden]), .side .acts button, #seatings button";
    return [...document.querySelectorAll(wanted)].filter((node) => !inside(node))
      .map((node) => node.id || node.textContent);
"""
WIDTHS = """
    return [document.querySelector("#board").clientWidth,
            document.querySelector(".top").offsetHeight,
            document.documentElement.scrollWidth, scrollY];
"""


@pytest.mark.parametrize("seats", [2, 4])
def test_the_board_is_as_high_as_the_window_and_its_controls_are_in_sight(browser, shelf, seats):
    folder, server = shelf
    bots = ("lookahead-python", "somebodys-first-bot@12", "ismcts-python", "greedy-16")[:seats]
    games = [game_of([*bots[at:], *bots[:at]], seating=at) for at in range(seats)]
    run = f"a-run-of-one-night-{seats}"
    write_run(folder / "results" / run, bots, games, players=seats)
    own, token = server.url.split("?")
    address = f"{own}runs/{run}/games/{quote(games[0].id)}?{token}"
    for width, height, least in ((1366, 768, 600), (1920, 1080, 900)):
        browser.open(address, "#t12", width=width, height=height)
        assert browser.js(INSIDE) == []
        board, bar, wide, scrolled = browser.js(WIDTHS)
        assert board >= least
        assert bar <= 48, "the title stands in one line"
        assert (wide <= width, scrolled) == (True, 0)
    browser.open(address, width=390, height=844)
    assert browser.js(WIDTHS)[2] == 390
    hidden = (
        "return [...document.querySelectorAll('.head *')]"
        ".some((node) => node.scrollWidth > node.clientWidth + 1 && node.clientWidth)"
    )
    assert not browser.js(hidden), "nothing of the title is cut"
