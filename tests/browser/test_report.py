"""Reports and replays in a real browser."""

import re

import pytest
from msgspec.structs import replace

from arena.exports.report.animation import START_S, STEP_S, animated_picture
from arena.exports.report.game_page import game_page
from arena.exports.report.report_page import report_page
from arena.exports.scene import Film, Piece
from arena.match.replay import replay, start_state
from arena.records.grades import Grade, Judge, ReviewedGame, line_of, review_file
from arena.rules.boards import built_in
from arena.rules.positions import draw
from arena.rules.terms import REVISION
from arena.tournament.run import Run
from tests.browser.pages import HOSTILE, hostile_games, hostile_report
from tests.exports.runs import duels, game_of, write_run


@pytest.fixture(scope="module")
def games():
    return hostile_games()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return hostile_report(tmp_path_factory.mktemp("run"))


def address(game, turn):
    return f"#game={game.id}&turn={turn}".replace("+", "%2B")


STEPS = """
    const texts = (root, what) => [...root.querySelectorAll(what)].map((one) => one.textContent);
    return Array.from({ length: arguments[1] }, () => {
      document.getElementById(arguments[0]).click();
      const rows = [...document.querySelectorAll("#cells tbody tr")];
      const left = texts(document, "#players .count b").map(Number);
      return [rows.map((row) => texts(row, "td")), left];
    });
"""


def shown_left(browser):
    return [
        int(text)
        for text in browser.js(
            "return [...document.querySelectorAll('#players .count b')].map(node =>"
            " node.textContent)"
        )
    ]


def test_the_viewer_steps_through_the_recorded_positions_and_draws_all_of_them(
    browser, page, games
):
    for record in (games[0], games[-3], games[-2]):
        browser.open(page, address(record, 0))
        board = built_in(record.board)
        states = [
            [[row[:] for row in draw(step.state)], list(step.state.left)]
            for step in replay(record, board)
        ]
        assert browser.js(STEPS, "forward", len(states)) == states
        assert shown_left(browser) == record.left
        assert "The game is over: " in browser.text("now")
    browser.click("last")
    state = list(replay(record, board))[-1].state
    tiles, borders, last, pagodas = browser.js(
        "return [...document.querySelectorAll('#board .live > g')].map(layer =>"
        " [...layer.children].map(node => node.getAttribute('href') ?? node.className.baseVal))"
    )
    starts = sum(letter in "RYB" for row in state.board.rows for letter in row)
    assert (len(tiles), len(last)) == (record.turns + starts, 1)
    taken = sum(owner >= 0 for owner in state.villages)
    assert len(borders) == len(state.provinces()) + taken
    assert [sum(int(part[2]) for part in pagodas if part[3] == str(seat)) for seat in range(4)] == [
        state.placed(seat) for seat in range(4)
    ]
    assert browser.js(STEPS, "back", len(states) - 1) == states[-2::-1]


def test_keys_step_jump_and_play_and_left_and_right_do_wherever_the_focus_is(browser, page, games):
    record = games[0]
    browser.open(page, address(record, 4))
    assert browser.js("return document.activeElement.id") == "board"
    browser.keys("ArrowRight", "ArrowRight", "ArrowLeft")
    assert browser.text("now").startswith("Tile 5: ")
    browser.keys("End")
    assert "The game is over: " in browser.text("now")
    browser.keys("Home")
    assert browser.text("now").startswith("Start.")
    browser.keys("ArrowDown")
    assert "why?" in browser.text("now")
    browser.js("document.getElementById('speed').value = '300'")
    before = browser.text("now")
    browser.keys("Space")
    browser.wait("return document.getElementById('now').textContent !== arguments[0]", before)
    state = (
        "const play = document.getElementById('play');"
        "return ['aria-label', 'aria-pressed'].map((name) => play.getAttribute(name))"
    )
    assert browser.js(state) == ["Pause", "true"]
    browser.keys("Space")
    assert browser.js(state) == ["Play", "false"]
    browser.open(page, address(record, 4))
    browser.js("document.activeElement.blur()")
    browser.keys("ArrowRight")
    assert browser.text("now").startswith("Tile 5: ")
    browser.js("document.getElementById('play').focus()")
    browser.keys("ArrowLeft")
    assert browser.text("now").startswith("Tile 4: ")
    browser.js("scrollTo({top: 0, behavior: 'instant'}); document.activeElement.blur()")
    browser.keys("ArrowRight")
    assert browser.text("now").startswith("Tile 4: ")


def test_a_link_leads_to_a_game_and_a_turn(browser, page, games):
    record = games[3]
    browser.open(page, address(record, 12))
    assert browser.text("now").startswith("Tile 12: ")
    assert browser.js("return document.getElementById('game').value") == record.id
    browser.click("forward")
    assert (
        browser.js("return [location.hash, document.getElementById('link').hash]")
        == [address(record, 13).replace("/", "%2F")] * 2
    )
    # with a bare plus, as people write it
    browser.js("location.hash = arguments[0]", f"#game={games[5].id}&turn=3")
    browser.wait("return document.getElementById('game').value === arguments[0]", games[5].id)
    assert browser.text("now").startswith("Tile 3: ")
    browser.open(page, "#game=no/such/game&turn=%E0")
    assert "The game is over: " in browser.text("now")
    assert browser.log() == []


def test_hands_are_all_shown_or_those_of_one_seat(browser, page, games):
    record = games[-2]
    browser.open(page, address(record, 6))
    tiles = "[...hand.children].map(tile => tile.getAttribute('aria-label'))"
    hands = f"return [...document.querySelectorAll('#players .hand')].map(hand => {tiles})"
    everything = browser.js(hands)
    states = {
        step.state.turns: list(step.state.hands) for step in replay(record, built_in(record.board))
    }
    assert [len(hand) for hand in everything] == [len(hand) for hand in states[6]]
    browser.js(
        "const eyes = document.getElementById('eyes'); eyes.value = '2'; eyes.dispatchEvent(new"
        " Event('change'))"
    )
    assert browser.js(hands) == [
        hand if seat == 2 else ["hidden tile"] * len(hand) for seat, hand in enumerate(everything)
    ]


BUTTONS = ("last", "back", "event-back", "first", "forward", "event-on", "play", "play", "theme")


def test_what_strangers_wrote_is_shown_and_does_nothing(browser, page, games):
    for record in (games[-1], games[-3]):
        browser.open(page, address(record, 0))
        browser.js("document.querySelectorAll('details').forEach(part => { part.open = true; })")
        for name in (*BUTTONS, "theme", "last"):
            browser.click(name)
        assert browser.js(
            "return [window.hit ?? null, document.scripts.length, document.images.length]"
        ) == [None, 2, 0]
        assert HOSTILE in browser.js("return document.body.innerText")
        assert "</script></pre></bdi><script>window.hit=3</script>" in browser.js(
            "return document.body.innerText"
        )
        assert browser.log() == []


def test_the_policy_keeps_other_scripts_from_running(browser, page):
    browser.open(page)
    attempts = (
        (
            "const added = document.createElement('script'); added.textContent = 'window.hit = 5';"
            " document.body.append(added);"
        ),
        "document.body.setAttribute('onclick', 'window.hit = 6'); document.body.click();",
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=window.hit=7>');",
        "location.href = 'javascript:window.hit=9';",
    )
    for attempt in attempts:
        browser.js(f"try {{ {attempt} }} catch {{ }}")
    assert browser.js("return window.hit ?? null") is None


def test_the_page_follows_the_system_until_the_button_says_otherwise(browser, page):
    background = "return getComputedStyle(document.body).backgroundColor"
    browser.open(page)
    browser.js("localStorage.clear()")
    browser.open(page, scheme="light")
    light = browser.js(background)
    browser.open(page, scheme="dark")
    dark = browser.js(background)
    assert light != dark
    browser.click("theme")
    assert browser.js(background) == light
    browser.open(page, scheme="dark")
    assert browser.js(background) == light
    browser.js("localStorage.clear()")


def test_a_single_game_has_a_page_of_its_own(browser, page, games):
    path = page.with_name("one.html")
    path.write_text(game_page(Run(page.parent), games[-3]))
    browser.open(path, "#turn=1", width=390, scheme="dark")
    browser.click("last")
    assert shown_left(browser) == games[-3].left
    assert browser.js("return document.getElementById('choice').checkVisibility()") is False
    assert "a forfeits" in browser.text("log") or "b forfeits" in browser.text("log")
    assert browser.log() == []
    assert browser.violations() == []


def test_every_rule_that_is_named_is_a_link_to_its_text_and_has_it_as_its_tooltip(
    browser, page, games
):
    path = page.with_name("ruled.html")
    path.write_text(game_page(Run(page.parent), games[0]))
    browser.open(path, "#turn=1")
    links = """return [...document.querySelectorAll("a.rule")].map((a) => {
        const there = document.querySelector(a.getAttribute("href"));
        const words = there.querySelector("dd").cloneNode(true);
        words.querySelectorAll("figure").forEach((picture) => picture.remove());
        const number = there.querySelector("dt").textContent;
        return [a.dataset.rule ?? a.textContent, a.title, number, words.textContent.trim()];
    })"""
    found = browser.js(links)
    assert len(found) > 10
    assert all(number == there and tooltip == text for number, tooltip, there, text in found)
    assert {number for number, *_ in found} >= {"R5.2", "R5.3", "R6.2"}
    whys = "[...document.querySelectorAll('#log a.rule, #now a.rule')]"
    assert browser.js(f"return {whys}.filter((a) => a.textContent === 'why?').length") > 10
    spans = "[...document.querySelectorAll('#log span, #now span')]"
    cites = f"return {spans}.filter((s) => /R\\d\\.\\d/.test(s.textContent)).length"
    assert browser.js(cites) == 0, "no numbers of rules, only links"
    assert browser.js("return document.querySelectorAll('a a').length") == 0
    assert browser.log() == []
    assert browser.violations() == []


def test_notes_are_a_curve_and_a_line_and_other_seats_do_not_see_them(browser, page):
    game = game_of(("a", "b"), deal=21)
    text = HOSTILE.replace("|", "/") + " R4.4"
    notes = [
        {"turn": turn, "value": 0.5 + turn % 2 / 4, "text": text, "depth": turn}
        for turn in range(game.turns)
    ]
    times = [None if move == "pass" else 1.25 for move in game.moves]
    path = page.with_name("noted.html")
    path.write_text(game_page(Run(page.parent), replace(game, notes=notes, ms=times)))
    browser.open(path, address(game, 2))
    assert f"b notes: value 0.75, depth 1: {text}" in browser.text("now")
    assert "Thought for 0.0013\u00a0s." in browser.text("now")
    curves = "return document.querySelectorAll('#values path:not(.cursor, .back)').length"
    assert browser.js(curves) == 2
    assert browser.js("return document.querySelectorAll('#log .note').length") == game.turns
    browser.js(
        "const eyes = document.getElementById('eyes'); eyes.value = '0';"
        " eyes.dispatchEvent(new Event('change'))"
    )
    assert browser.js(curves) == 1
    assert "notes:" not in browser.text("now")
    assert "depth 1:" not in browser.text("log")
    assert "depth 2:" in browser.text("log")
    assert browser.js("return [window.hit, document.querySelectorAll('#viewer img').length]") == [
        None,
        0,
    ]
    assert browser.log() == []
    assert browser.violations() == []


def test_the_board_and_its_controls_fit_a_low_window_and_nothing_noted_is_no_curve(
    browser, page, games
):
    browser.open(page, address(games[0], 3))
    assert browser.js("return document.getElementById('values').hidden")
    browser.become(1366, height=650)
    browser.js("document.getElementById('viewer').scrollIntoView({behavior: 'instant'})")
    top, bottom = browser.js(
        "return [document.getElementById('board').getBoundingClientRect().top,"
        " document.getElementById('last').getBoundingClientRect().bottom]"
    )
    assert 0 <= top < bottom <= 650


def test_a_line_of_the_log_has_its_tile_and_lights_its_squares(browser, page, games):
    record = games[0]
    browser.open(page, address(record, 6))
    entries = "document.querySelectorAll('#log li > a')"
    tile = browser.js(f"return {entries}[3].querySelector('.domino').ariaLabel")
    assert list(tile) == re.findall("[RYB]", record.moves[2])
    lit = "return document.querySelectorAll('#board .lit').length"
    point = f"{entries}[3].dispatchEvent(new Event(arguments[0]))"
    browser.js(point, "pointerenter")
    assert browser.js(lit) >= 1
    browser.js(point, "pointerleave")
    assert browser.js(lit) == 0


def test_a_change_of_the_pagodas_is_a_chip_and_those_that_go_home_fly(browser, page, games):
    record = games[0]
    browser.open(page, address(record, 0))
    browser.cdp(
        "Emulation.setEmulatedMedia",
        features=[{"name": "prefers-reduced-motion", "value": "no-preference"}],
    )
    board = built_in(record.board)
    states = [
        (list(step.state.left), any(event.home for event in step.events))
        for step in replay(record, board)
    ]
    first = next(turn for turn, (_, home) in enumerate(states) if home)
    before = [24, 24]
    for left, home in states[: first + 5]:
        browser.click("forward")
        chips = [
            f"{now - then:+}".replace("-", "\u2212")
            for now, then in zip(left, before, strict=True)
            if now != then
        ]
        shown, flying = browser.js(
            "return [[...document.querySelectorAll('.chip')].map(chip => chip.textContent),"
            " document.querySelectorAll('#board .live > use').length]"
        )
        assert shown == chips
        assert bool(flying) == home or not home
        before = left


def test_only_the_frame_of_the_last_tile_is_drawn_in_its_colour(browser, tmp_path):
    board, record = built_in("bird"), game_of((HOSTILE, "b"))
    path = tmp_path / "game.svg"
    path.write_text(animated_picture(record, board))
    browser.open(path)
    highlighted = browser.js("""
        const isGold = (node) => getComputedStyle(node).stroke === "rgb(255, 171, 0)";
        return [...document.querySelectorAll("svg use")].filter(isGold).length;
    """)
    assert highlighted == 0, "the colour stands on the frame itself, which <use> refers to"


def test_an_animated_picture_shows_every_position_in_its_time(browser, tmp_path):
    board, record = built_in("bird"), game_of((HOSTILE, "b"), faults=[(0, 41, "exit", "gone")])
    film = Film(board)
    film.add(start_state(record, board))
    for step in replay(record, board):
        film.add(step.state, step.move)
    path = tmp_path / "game.svg"
    path.write_text(animated_picture(record, board))
    browser.open(path)
    browser.js("document.documentElement.pauseAnimations()")
    visible = """
        document.documentElement.setCurrentTime(arguments[0]);
        const isSeen = (node) => getComputedStyle(node).visibility === "visible";
        const groups = [...document.querySelectorAll("svg > g")];
        const board = groups.find((one) => one.querySelector("use"));
        return [...board.querySelectorAll("use")].filter(isSeen).map((one) => one.href.baseVal);
    """
    ground = browser.js(visible, 0)[: -len(film.frames[0])]
    for number in (0, 1, 20, len(film.frames) - 1):
        shown = browser.js(visible, START_S + (number - 0.5) * STEP_S if number else START_S / 2)
        elements = [film.elements[at] for at in film.frames[number]]
        parts = [f"#{one.part}" for one in elements if isinstance(one, Piece)]
        assert sorted(shown) == sorted([*ground, *parts])
    last = shown
    browser.become(1280, is_calm=True)
    for moment in (0, START_S, START_S + 9.5 * STEP_S):  # whoever wants no motion sees the end
        assert sorted(browser.js(visible, moment)) == sorted(last)
    assert browser.log() == []
    assert browser.requests() == [path.as_uri()]


def test_a_page_begins_with_a_sentence_and_a_game_that_plays_itself(browser, page):
    browser.open(page)
    headline = browser.js("return document.querySelector('.headline').textContent")
    assert re.search("ahead|behind|best|leads|close", headline)
    podium = "return document.querySelectorAll('.podium').length"
    assert browser.js(podium) == 0, "even the first bot may really be the last"
    caption = browser.js("return document.querySelector('figcaption').textContent")
    assert re.search(r" (beats|upsets|share the win)\b.*, (Bird|Lion), \d+ tiles; close: ", caption)
    now = "return document.querySelector('.film').getCurrentTime()"
    for _ in range(2):
        browser.wait(f"{now} !== arguments[0]", browser.js(now))
    browser.become(1280, is_calm=True)
    browser.wait(
        "const film = document.querySelector('.film'); return film.querySelector('animate')"
        ".getSimpleDuration() - film.getCurrentTime() <= 1"
    )
    first = browser.js("return document.querySelector('.lead figure a').hash")
    browser.js("document.querySelector('.lead figure a').click()")
    browser.wait("return document.getElementById('now').textContent.startsWith('Start.')")
    assert f"#game={browser.js('return document.getElementById(`game`).value')}&turn=0" == (
        browser.js("return decodeURIComponent(arguments[0])", first)
    )
    assert browser.log() == []


SEEN = (
    "return [...document.querySelectorAll('main > section, .bot')]"
    ".filter(one => one.checkVisibility()).map(one => one.id)"
)


def test_a_cell_of_head_to_head_opens_the_page_of_a_bot_at_the_opponent(browser, page):
    browser.open(page)
    assert "standings" in browser.js(SEEN)
    browser.js("document.querySelector('.heat tbody tr:nth-child(2) td a').focus()")
    link = browser.js("return decodeURIComponent(document.activeElement.hash.slice(1))")
    browser.keys("Enter")
    _, bot, opponent = link.split("/")
    assert browser.js(SEEN) == [f"bot/{bot}"]
    row = f"document.getElementById('{link}')"
    assert browser.js(f"return {row}.cells[0].textContent") == opponent
    game = f"{row}.querySelector('.listed a')"
    name = browser.js(f"return {game}.title")
    browser.js(f"{game}.click()")
    browser.wait("return document.getElementById('game').value === arguments[0]", name)
    assert "standings" in browser.js(SEEN)
    assert browser.js("return document.activeElement.id") == "board"
    browser.open(page, f"#bot/{bot}", width=390)
    assert browser.js(SEEN) == [f"bot/{bot}"]
    assert browser.js("return document.documentElement.scrollWidth <= innerWidth")
    assert browser.violations() == []
    assert browser.log() == []


def test_arrows_lead_through_head_to_head_and_the_tab_key_past_it(browser, page):
    browser.open(page)
    stops = "return [...document.querySelectorAll('.heat td > a')].filter(a => !a.tabIndex).length"
    assert browser.js(stops) == 1
    browser.js("document.querySelector('.heat td > a').focus()")
    place = (
        "const cell = document.activeElement.parentNode;"
        "return [cell.parentNode.rowIndex, cell.cellIndex]"
    )
    assert browser.js(place) == [1, 2]
    browser.keys("ArrowRight", "ArrowDown")
    assert browser.js(place) == [2, 3]
    browser.keys("ArrowUp", "ArrowLeft", "ArrowLeft")
    assert browser.js(place) == [1, 2]  # a bot does not meet itself, and there is the edge
    assert browser.js(stops) == 1


def test_a_heading_sorts_its_column_and_says_so_and_the_rating_is_in_sight_on_a_phone(
    browser, page
):
    browser.open(page)
    browser.js("document.getElementById('all-columns').click()")
    column = (
        "return [...document.querySelectorAll('#standings tbody tr')]"
        ".map(row => row.cells[arguments[0]].textContent)"
    )
    heads = browser.js(
        "return [...document.querySelectorAll('#standings th[scope=col]')]"
        ".map(head => head.textContent)"
    )
    games, bot = heads.index("Games"), heads.index("Bot")
    order = browser.js(column, bot)
    button = f"document.querySelectorAll('#standings th[scope=col]')[{games}].firstChild"
    browser.js(f"{button}.focus()")
    browser.keys("Space")
    sort = f"return {button}.parentNode.getAttribute('aria-sort')"
    assert browser.js(sort) == "descending"
    figures = [int(text) for text in browser.js(column, games)]
    assert figures == sorted(figures, reverse=True)
    browser.keys("Space")
    assert browser.js(sort) == "ascending"
    assert [int(text) for text in browser.js(column, games)] == figures[::-1]
    browser.js("document.querySelector('#standings th.figure button').click()")  # the places
    assert browser.js(column, bot) == order
    assert browser.js("return document.querySelectorAll('#standings [aria-sort]').length") == 1
    browser.js("document.getElementById('all-columns').click()")
    browser.become(390)
    rating = "return document.querySelector('#standings tbody .strong').getBoundingClientRect()"
    assert browser.js(f"{rating}.right") <= 390


@pytest.mark.parametrize(("by", "named"), [("", ""), ("fst 12ab", ", named by fst")])
def test_a_review_is_a_curve_and_marks_the_costly_moves(browser, page, by, named):
    game = game_of(("a", "b"), deal=22)
    judge = Judge(judge="careful-4", deals=50, seed=0, by=by)
    grades = [
        Grade(turn, turn % 2, 9, text, game.moves[0], cost, 0.04, 0.6)
        for turn, (text, cost) in enumerate(zip(game.moves, (0.0, 0.182, 0.03), strict=False))
    ]
    with review_file(page.parent) as file:
        file.append(line_of(ReviewedGame(1, game.id, judge, REVISION, "1", [0, 1], grades)))
    path = page.with_name("reviewed.html")
    path.write_text(game_page(Run(page.parent), game))
    (page.parent / "review.jsonl").unlink()
    browser.open(path, address(game, 2))
    said = browser.js("return document.querySelector('#now .key').textContent")
    assert said.replace("\u00a0", " ") == (
        f"costs 18.2 % \u00b1 4.0 % of the chance to win; better: {game.moves[0]}{named}"
    )
    assert browser.js("return document.querySelectorAll('#log .key').length") == 1
    drawn = "return ['own', 'dot'].map(name => document.querySelectorAll(`#wins .${name}`).length)"
    assert browser.js(drawn) == [1, 1]
    assert browser.log() == []
    assert browser.violations() == []


LISTED = """
    const rows = [...document.querySelectorAll(".catalogue tbody tr")];
    return rows.filter((row) => row.checkVisibility()).map((row) => JSON.parse(row.dataset.bots));
"""
CHOOSE = """
    const select = document.getElementById(arguments[0]);
    select.value = arguments[1];
    select.dispatchEvent(new Event("change"));
"""


def test_the_list_of_games_names_the_players_by_their_places(browser, page):
    browser.open(page)
    cells = browser.js(
        "return [...document.querySelectorAll('.catalogue tbody td:nth-child(5)')]"
        ".map((cell) => cell.textContent)"
    )
    assert len(cells) > 5
    for text in cells:
        places = re.findall(r"(\d)\. ", text)
        assert places == sorted(places), text


def test_the_list_of_games_can_be_filtered_and_an_address_names_two_bots(browser, page, games):
    browser.open(page)
    assert not browser.js(LISTED)
    browser.js("document.querySelector('.catalogue').open = true")
    assert len(browser.js(LISTED)) == len(games)
    browser.js(CHOOSE, "list-bot", "a")
    browser.js(CHOOSE, "list-other", "b")
    of_both = [list(game.bots) for game in games if {"a", "b"} <= {*game.bots}]
    assert sorted(browser.js(LISTED)) == sorted(of_both)
    browser.js(CHOOSE, "list-winner", "b")
    won = sum(
        {"a", "b"} <= {*game.bots} and game.ranks[game.bots.index("b")] == 1 for game in games
    )
    assert len(browser.js(LISTED)) == won
    status = "return document.querySelector('.catalogue [role=status]').textContent"
    assert browser.js(status) == f"{won} of {len(games)} games"
    browser.open(page, "#games=b&with=a")
    assert sorted(browser.js(LISTED)) == sorted(of_both)
    assert browser.log() == []


def test_on_a_phone_a_game_of_the_list_has_its_name_whole_and_nothing_scrolls(browser, tmp_path):
    bots = ["lookahead-python", "somebodys-first-bot@12", "greedy-16"]
    run = write_run(tmp_path / "run", bots, duels(bots, 2))
    path = run / "report.html"
    path.write_text(report_page(Run(run), 100).text)
    browser.open(path, width=390)
    browser.js("document.querySelector('.catalogue').open = true")
    wide = "const box = document.querySelector('.catalogue .scroll'); return box.scrollWidth"
    assert browser.js(wide) <= browser.js(f"{wide} && box.clientWidth")
    parts = browser.js(
        "return [...document.querySelectorAll('.catalogue .game span')]"
        ".map((part) => [part.textContent, part.getClientRects().length, part.offsetHeight])"
    )
    assert any(text == "somebodys-first-bot@12/" for text, _, _ in parts)
    assert {(rects, height < 30) for _, rects, height in parts} == {(1, True)}
