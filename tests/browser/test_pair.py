"""Games of one deal side by side, and what explains a game, in a real browser."""

import json

import pytest

from arena.exports.report.game_page import game_page
from arena.match.replay import start_state
from arena.records.grades import Grade, Judge, ReviewedGame, line_of, review_file
from arena.rules.boards import built_in
from arena.rules.notation import deck_text
from arena.rules.terms import REVISION
from arena.tournament.run import Run
from tests.browser.pages import HOSTILE, SWAP, pair_page

LEFT = "[...document.querySelectorAll(`#${id} .count b`)].map(node => Number(node.textContent))"
BOTH = f"return ['players', 'twin-players'].map((id) => {LEFT});"
TURNS = ("moves first", "moves second")
LABELS = "(tile) => tile.getAttribute('aria-label')"


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    return pair_page(tmp_path_factory.mktemp("pair"), ("a", HOSTILE))


def left_at(game, number):
    """What the seats have left after so many moves, from the page's own data."""
    found = [step["left"] for step in game["steps"][:number] if "left" in step]
    return found[-1] if found else [game["stock"]] * len(game["bots"])


def test_the_keys_of_a_game_work_wherever_the_focus_is_and_a_button_keeps_its_own(browser, pair):
    browser.open(pair[0])
    assert browser.js("return document.activeElement === document.body")
    browser.keys("Home")
    assert browser.text("now").startswith("Start.")
    pressed = "return document.getElementById('play').getAttribute('aria-pressed')"
    browser.keys("Space")
    assert browser.js(pressed) == "true"
    browser.keys("Space")
    assert browser.js(pressed) == "false"
    browser.js("document.querySelector('#first').focus()")
    browser.keys("End")
    assert "The game is over: " in browser.text("now")
    browser.keys("Space")
    assert browser.text("now").startswith("Start.")


def test_the_board_stays_in_sight_beside_the_log_and_a_quick_curve_says_what_it_is(browser, pair):
    browser.open(pair[0], width=1366)
    browser.become(1366, height=650)
    top = "return document.getElementById('board').getBoundingClientRect().top"
    browser.js(
        "document.getElementById('log').scrollIntoView({ behavior: 'instant', block: 'end' })"
    )
    assert browser.js("return scrollY") > 100
    assert 0 <= browser.js(top) < 100
    assert browser.js("return document.getElementById('key-on').hidden")
    pytest.importorskip("arena.rules.native._core", reason="the pure core would take seconds")
    title = browser.js("return document.querySelector('#wins span').textContent")
    assert title.startswith("Chance of winning, estimated by playing on")
    assert browser.js("return document.querySelectorAll('#wins .own').length") == 1


def test_one_cursor_moves_both_games_and_goes_on_to_the_end_of_the_longer(browser, pair):
    path, _ = pair
    browser.open(path, "#turn=0")
    games = json.loads(browser.text("games-data"))["games"]
    browser.js(SWAP)
    longest = max(len(game["steps"]) for game in games)
    assert int(browser.js("return document.getElementById('step').max")) == longest
    for number in range(1, 9):
        browser.click("forward")
        assert browser.js(BOTH) == [left_at(game, number) for game in games]
    browser.click("last")
    assert browser.js(BOTH) == [game["left"] for game in games]
    browser.click("back")
    assert browser.js(BOTH) == [left_at(game, longest - 1) for game in games]
    assert browser.js("return window.hit ?? null") is None
    assert browser.log() == []


def test_a_deal_shows_its_results_and_the_tiles_that_each_seat_got_or_that_one_seat_saw(
    browser, pair
):
    path, games = pair
    browser.open(path, "#turn=0")
    browser.js(SWAP)
    rows = browser.js(
        "return [...document.querySelectorAll('#deal-results tbody tr')].map((row) =>"
        " [...row.children].map((cell) => cell.textContent.trim()))"
    )
    assert len(rows) == 2
    for name, *shown, wins, left in rows:
        seats = [game.bots.index(name) for game in games]
        own = list(zip(games, seats, strict=True))
        assert [text.partition(":")[0] for text in shown] == [TURNS[seat] for seat in seats]
        assert int(left) == sum(game.left[seat] for game, seat in own)
        assert float(wins) == sum(
            (game.ranks[seat] == 1) / game.ranks.count(1) for game, seat in own
        )
    found = browser.js(
        "return [...document.querySelectorAll('#deal-tiles li')].map((line) =>"
        f" [...line.querySelectorAll('.domino')].map({LABELS}))"
    )
    start = start_state(games[0], built_in("bird"))
    hands = ["".join(tiles[:3]) for tiles in found]
    assert set(hands) == {deck_text(hand) for hand in start.hands}
    later = "return document.querySelectorAll('#deal-tiles .later').length"
    assert browser.js(later) == sum(len(tiles) - 3 for tiles in found) > 0
    browser.click("last")
    assert browser.js(later) == 0
    # all but one seat's tiles are hidden in both games
    browser.click("first")
    browser.js(
        "const eyes = document.getElementById('eyes'); eyes.value = '1';"
        " eyes.dispatchEvent(new Event('change'))"
    )
    lines = "[...document.querySelectorAll('#deal-tiles li span')].map((one) => one.textContent)"
    assert {text.partition(":")[0] for text in browser.js(f"return {lines}")} == {TURNS[1]}
    shown = browser.js(
        "return ['players', 'twin-players'].flatMap((id) => [...document.querySelectorAll("
        f"`#${{id}} li:first-child .domino`)].map({LABELS}))"
    )
    assert set(shown) == {"hidden tile"}


def test_a_link_leads_to_both_games_of_a_deal(browser, pair):
    path, _ = pair
    browser.open(path, "#turn=5")
    browser.js(SWAP)
    browser.open(path, browser.js("return document.getElementById('link').hash"))
    assert browser.js("return document.getElementById('twin').hidden") is False
    assert "Tile 5: " in browser.text("twin-about")
    browser.js(SWAP)
    assert browser.js("return document.getElementById('twin').hidden") is True
    assert "beside" not in browser.js("return location.hash")


def test_with_three_players_each_other_seating_can_lie_beside(browser, tmp_path):
    path, games = pair_page(tmp_path, ("a", "b", "c"))
    browser.open(path, "#turn=4")
    names = browser.js(
        "return [...document.querySelectorAll('#seatings button')].map((one) => one.textContent)"
    )
    assert names == [" \u2013 ".join(game.bots) for game in games[1:]]
    browser.js("document.querySelectorAll('#seatings button')[1].click()")
    assert browser.js("return document.querySelector('#twin-about strong').textContent") == names[1]


def test_both_boards_and_their_controls_fit_a_low_window(browser, tmp_path):
    browser.open(pair_page(tmp_path, ("a", "b"))[0])
    browser.become(1366, height=650)
    browser.js(SWAP)
    below = [
        browser.js(
            "return document.getElementById(arguments[0]).getBoundingClientRect().bottom", one
        )
        for one in ("board", "twin-board", "step", "last")
    ]
    assert max(below) <= 650
    hit = (
        "const at = document.getElementById('step').getBoundingClientRect();"
        "return document.elementFromPoint(at.x + at.width / 3, at.y + at.height / 2).id"
    )
    browser.become(1366, height=480)
    browser.js("scrollTo(0, 0)")
    assert browser.js(hit) == "step", "the buttons that stick below do not hide the slider"


def test_the_rules_text_is_shown_where_it_is_named(browser, pair):
    path, _ = pair
    browser.open(path, "#turn=9")
    browser.js("document.querySelector('#log a.rule').click()")
    text = "document.getElementById('rule-text')"
    assert browser.js(f"return {text}.matches(':popover-open')")
    assert browser.js(f"return /^R\\d\\.\\d [A-Z]/.test({text}.textContent)")
    assert browser.js("return location.hash") == "#turn=9"


def test_a_key_leads_to_the_next_costly_move_and_its_better_one_lies_on_the_board(
    browser, tmp_path
):
    _, [game, _] = pair_page(tmp_path, ("a", "b"))
    costs = {3: 0.2, 8: 0.1, 9: 0.01}
    judge = Judge(judge="careful-4", deals=50, seed=0)
    grades = [
        Grade(turn, turn % 2, 9, text, game.moves[20], costs.get(turn, 0.0), 0.04, 0.6)
        for turn, text in enumerate(game.moves[:12])
    ]
    with review_file(tmp_path / "run") as file:
        file.append(line_of(ReviewedGame(1, game.id, judge, REVISION, "1", [0, 1], grades)))
    path = tmp_path / "reviewed.html"
    path.write_text(game_page(Run(tmp_path / "run"), game))
    assert "arena review" not in path.read_text()
    browser.open(path, "#turn=0")
    turns = []
    for _ in range(3):
        browser.keys("k")
        turns.append(browser.text("now").split(":")[0])
    assert turns == ["Tile 4", "Tile 9", "Tile 4"]
    ghost = "return document.querySelectorAll('#board .ghost use').length"
    assert browser.js(ghost) == 0
    browser.js("document.querySelector('#now .better').focus()")
    assert browser.js(ghost) == 2
    browser.js("document.activeElement.blur()")
    assert browser.js(ghost) == 0
    assert browser.js("return document.querySelectorAll('#wins .dot').length") == 2
