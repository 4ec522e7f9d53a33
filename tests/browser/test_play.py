"""Games against bots, played in a real browser: with the mouse, with the keys alone, with a
finger.
"""

import itertools
import math
import re

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin
from selenium.webdriver.support.wait import WebDriverWait

from arena.exports.verify import verify_run
from arena.tournament.run import Run
from tests.serve.games import Game, begin

STATE = """
    const over = !document.getElementById("over").hidden;
    const lights = document.querySelectorAll(".lights rect").length;
    return over ? "over" : lights ? "yours" : "";
"""
LIGHTS = """
    return [...document.querySelectorAll(".lights rect")].map((light) => {
      const box = light.getBoundingClientRect();
      return [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)];
    });
"""
AIM = """
    const tile = document.querySelector(".trial");
    return tile ? !tile.classList.contains("bad") : null;
"""
EFFECTS = "return document.querySelectorAll('#does:not([hidden]) li').length"
STEPS = "return document.querySelectorAll('#story p').length"
FOCUSED = "return document.activeElement.square ?? null"
SHIFTS = "return window.shifts.reduce((sum, shift) => sum + shift, 0)"
UNASKED_SHIFTS = "return window.unasked.reduce((sum, shift) => sum + shift, 0)"
# Bots answer within half a second of a click: what jumps then counts, too.
WATCH_SHIFTS = """
    window.shifts = [];
    window.unasked = [];
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput } of list.getEntries()) {
        shifts.push(value);
        if (!hadRecentInput) unasked.push(value);
      }
    }).observe({ type: "layout-shift", buffered: true });
"""
SLOTS = """
    const beside = document.querySelector(".play-side").scrollTop;
    return ["story", "warn", "rules-open", "leave", "hint", "seats"].map((id) => {
      const { top, bottom } = document.getElementById(id).getBoundingClientRect();
      return [id, Math.round(top + scrollY + beside), Math.round(bottom + scrollY + beside)];
    });
"""
FITS = """
    const inside = (id) => {
      const { left, top, right, bottom } = document.getElementById(id).getBoundingClientRect();
      return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
    };
    return ["ground", "tiles", "place", "hint", "seats"].filter((id) => !inside(id));
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("playing")
    (folder / ".arena-home").touch()
    return folder


@pytest.fixture(scope="module")
def server(patient_server):
    return patient_server


@pytest.fixture
def game(server, browser):
    """Opens games, and leaves them."""
    opened = []

    def open_one(width=1366, height=650, *, calm=False, scheme="light", **wanted):
        opened.append(begin(server, **{"bot": "careful-16", "seed": "browser", **wanted}))
        base = f"http://127.0.0.1:{server.port}"
        address = f"{base}{opened[-1].address}?token={server.token}"
        browser.open(address, width=width, scheme=scheme, height=height)
        if calm:
            browser.cdp(
                "Emulation.setEmulatedMedia",
                features=[{"name": "prefers-reduced-motion", "value": "reduce"}],
            )
        wait(browser, "yours")
        return opened[-1]

    yield open_one
    for one in opened:
        one.leave()


def wait(browser, *states):
    """Waits until it is the person's turn, or the game is over."""
    states = states or ("yours", "over")
    soon(browser, lambda: browser.js(STATE) in states)
    return browser.js(STATE)


def soon(browser, is_so):
    """Waits until something is so; returns it."""
    return WebDriverWait(browser.driver, 240, 0.05).until(lambda _: is_so())


def wait_for_step(browser, before):
    """Waits until more has happened than that."""
    soon(browser, lambda: browser.js(STEPS) > before)


def hover(browser, x, y):
    chain = ActionChains(browser.driver, duration=20)
    chain.w3c_actions.pointer_action.move_to_location(x, y)
    return chain


def own_turns(browser):
    """The person's turns of a whole game: for each the number of steps before it, and the middle of
    a lit square, another one on each turn. Watches the shifts of the page meanwhile.
    """
    browser.js(WATCH_SHIFTS)
    slots = browser.js(SLOTS)
    for turn in itertools.count(1):
        if wait(browser) != "yours":
            return
        assert browser.js(SLOTS) == slots, "each thing keeps its place"
        lights = browser.js(LIGHTS)
        yield browser.js(STEPS), lights[turn % len(lights)]


def test_a_whole_game_is_played_with_the_mouse_to_its_end(game, browser, home):
    """The tile follows the pointer and lies in a way that is legal there, R and the wheel turn it,
    the first click aims, and the second one places it.
    """
    one = game(bot="careful", bot2="careful-16", seed="mouse")
    turns = 0
    for before, (x, y) in own_turns(browser):
        turns += 1
        hover(browser, x, y).perform()
        assert browser.js(AIM), "a lit square takes the tile"
        turn_until_legal(browser, x, y, with_wheel=turns % 2 == 0)
        assert browser.js(EFFECTS)
        hover(browser, x, y).click().perform()
        assert browser.js(STEPS) == before
        hover(browser, x, y).click().perform()
        wait_for_step(browser, before)
    assert turns > 8
    assert "won" in browser.text("ending")
    assert browser.js(SHIFTS) < 0.1, "nothing jumps"
    find_a_better_move(browser, one)
    assert browser.js(UNASKED_SHIFTS) < 0.1, "nothing jumps by itself at the end either"
    assert browser.log() == []
    (folder,) = [run for run in (home / "results").iterdir() if run.name.startswith("played")]
    assert verify_run(Run(folder)).differences == []
    assert folder.name in browser.js("return document.getElementById('look').href")
    play_on_from_a_moment(browser, one)


LATE_ANSWERS = """
    const fetchAtOnce = window.fetch;
    window.fetch = async (...asked) => {
      window.fetch = fetchAtOnce;
      await new Promise((answerNow) => { window.answerNow = answerNow; });
      const reply = await fetchAtOnce(...asked);
      setTimeout(() => { window.hasAnswered = true; }, 200);
      return reply;
    };
"""


def find_a_better_move(browser, one):
    """Goes through the first moment of a finished game: a wrong answer, the best move, a right
    answer, and back to the list.
    """
    soon(browser, lambda: "are judged" in browser.text("grading"))
    view = one.view()
    moments = browser.driver.find_elements("css selector", "#moments > li")
    assert len(moments) == len(view["moments"]) > 0
    assert browser.js("return document.querySelectorAll('#chance .dot').length") == len(moments)
    moments[0].find_element("css selector", ".ask").click()
    soon(browser, lambda: browser.js("return document.querySelectorAll('.lights rect').length"))
    assert not browser.driver.find_element("id", "lesson-best").is_enabled()
    place(browser, view["moments"][0]["played"])
    soon(browser, lambda: "That is what you played" in browser.text("lesson-said"))
    soon(browser, lambda: "placed" in browser.text("said"))
    browser.click("lesson-best")
    soon(browser, lambda: "The best move is " in browser.text("lesson-said"))
    browser.click("lesson-again")
    soon(browser, lambda: browser.js("return document.querySelectorAll('.lights rect').length"))
    _, reply = one.post("best", steps=0, at=0)
    place(browser, reply["answer"]["view"]["steps"][-1]["move"])
    soon(browser, lambda: "Right: that is the best move" in browser.text("lesson-said"))
    # The answer to this press comes when the lesson is closed, and is of no use any more.
    browser.js(LATE_ANSWERS)
    browser.click("lesson-best")
    browser.click("lesson-back")
    soon(browser, lambda: browser.driver.find_element("id", "ending").is_displayed())
    assert browser.js("return document.activeElement.className") == "ask"
    shown = browser.js(STEPS)
    browser.js("window.answerNow()")
    soon(browser, lambda: browser.js("return window.hasAnswered"))
    assert browser.js(STEPS) == shown
    assert browser.log() == []


def test_a_finished_game_is_looked_through_shared_and_counted(game, browser):
    one = game(seed="sitting", calm=True)
    one.play()
    wait(browser, "over")
    assert browser.text("tally") == "", "one game is no tally"
    on_board = "return document.querySelectorAll('#ground .live use').length"
    steps, whole = browser.js(STEPS), browser.js(on_board)
    browser.keys("ArrowLeft", "ArrowLeft")
    assert browser.js(on_board) < whole
    soon(browser, lambda: browser.text("looking").startswith(f"Tile {steps - 2} of {steps}. "))
    browser.keys(*["ArrowLeft"] * steps)
    soon(browser, lambda: browser.text("looking") == "The start of the game.")
    soon(browser, lambda: "are judged" in browser.text("grading"))
    assert browser.js(on_board) < whole, "news of the grading leave the step as it is"
    browser.keys(*["ArrowRight"] * (steps + 2))
    soon(browser, lambda: browser.js(on_board) == whole)
    browser.js("navigator.clipboard.writeText = async (text) => { window.copied = text; };")
    browser.click("share")
    soon(browser, lambda: browser.text("shared").startswith("The link is copied."))
    assert browser.js("return copied") == browser.js("return document.getElementById('look').href")
    address = browser.driver.current_url
    requests, has_end = browser.js(THREE_CLICKS, "[data-again=same]")
    assert (requests, has_end) == (1, True), "one click begins one game, and the wait has an end"
    soon(browser, lambda: browser.driver.current_url != address)
    wait(browser, "yours")
    other = Game(one.server, "/play/" + browser.driver.current_url.rpartition("/")[2])
    other.play()
    wait(browser, "over")
    soon(browser, lambda: browser.text("tally"))
    view = other.view()
    winners = [view["ranks"][view["seat"]] == 1, one.view()["ranks"][0] == 1]
    won = sum(winners)
    assert browser.text("tally") == f"In this sitting: you {won}, careful-16 {2 - won}."
    browser.driver.refresh()
    wait(browser, "over")
    soon(browser, lambda: browser.text("tally"))
    assert browser.text("tally").endswith(f"careful-16 {2 - won}."), "a game counts once"
    assert browser.log() == []


# In one script, because the page of the new game comes soon.
THREE_CLICKS = """
    const fetchAtOnce = window.fetch;
    window.asked = 0;
    window.fetch = (address, options) => {
      window.asked += 1;
      window.signal = options.signal;
      return fetchAtOnce(address, options);
    };
    for (const _ of "123") document.querySelector(arguments[0]).click();
    return [asked, signal instanceof AbortSignal];
"""


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (1366, 650)])
def test_the_moments_of_a_lost_game_are_in_sight_at_its_end(game, browser, width, height):
    one = game(width=width, height=height, seed="audit", calm=True)
    one.play()
    wait(browser, "over")
    soon(browser, lambda: "are judged" in browser.text("grading"))
    tops, bottoms = browser.js(
        "const boxes = [...document.querySelectorAll('#moments > li')]"
        ".map((line) => line.getBoundingClientRect());"
        "return [boxes.map(({ top }) => top), boxes.map(({ bottom }) => bottom)]"
    )
    assert len(tops) > 1
    # There may be three, and each has the same room.
    assert tops[0] + 3 * (tops[1] - tops[0]) <= height
    assert bottoms[-1] <= height
    assert browser.driver.find_elements("css selector", "#moments .retry")[-1].is_displayed()


def test_a_refusal_at_the_end_of_a_game_is_seen(game, browser):
    one = game(seed="refused", calm=True)
    one.leave()
    wait(browser, "over")
    browser.js(
        "const headers = { 'content-type': 'application/json' };"
        "const body = JSON.stringify({ problem: 'no more games' });"
        "window.fetch = async () => new Response(body, { status: 409, headers });"
    )
    browser.driver.find_element("css selector", "[data-again=new]").click()
    soon(browser, lambda: browser.text("refused") == "no more games")
    assert browser.driver.find_element("id", "refused").is_displayed()


def test_a_game_that_was_left_goes_on_with_a_click(game, browser):
    one = game(seed="left", calm=True)
    view = one.play(until=lambda view: view["state"] == "yours" and view["count"] > 3)
    soon(browser, lambda: browser.js(STEPS) == view["count"])
    one.leave()
    wait(browser, "over")
    address = browser.driver.current_url
    requests, _ = browser.js(THREE_CLICKS, "#continue")
    assert requests == 1
    soon(browser, lambda: browser.driver.current_url != address)
    wait(browser, "yours")
    assert browser.js(STEPS) == view["count"]
    further = Game(one.server, "/play/" + browser.driver.current_url.rpartition("/")[2])
    further.leave()
    assert browser.log() == []


def test_a_person_who_wants_it_is_asked_before_a_move_that_costs_much(game, browser):
    one = game(seed="caution")
    browser.driver.find_element("id", "warn").click()
    view = one.play(until=lambda view: view["state"] == "yours" and view["count"] > 9)
    soon(browser, lambda: browser.js(STEPS) == view["count"])
    wait(browser, "yours")

    costly, _ = one.costly_move(view)
    before = browser.js(STEPS)

    def ask():
        browser.js("document.getElementById('list').open = true")
        browser.js("document.getElementById('moves').value = arguments[0]", costly)
        browser.click("choose")
        soon(browser, lambda: "of your chance of winning" in browser.text("refused"))

    ask()
    assert browser.js("return document.activeElement.textContent") == "Think again"
    browser.js("document.activeElement.click()")
    soon(browser, lambda: not browser.text("refused"))
    assert browser.js(STEPS) == before
    ask()
    browser.js("document.querySelector('#refused .acts button:last-child').click()")
    wait_for_step(browser, before)
    assert browser.js("return localStorage.getItem('arena-warn')") == "yes"
    browser.js("localStorage.clear()")
    assert browser.log() == []


PLACED = """
    const tile = document.querySelector(".trial use");
    return tile && ["href", "x", "y"].map((name) => tile.getAttribute(name)).join();
"""


def place(browser, move):
    """Places a tile with the mouse: chooses it, points at its first square, turns it, clicks."""
    colours = "".join(re.findall(r"[RYB]", move))
    squares = re.findall(r"[a-z]\d+", move)
    places = [(int(square[1:]) - 1, ord(square[0]) - ord("a")) for square in squares]
    row, column = places[0]
    side = browser.js("return Number(document.querySelector('#ground svg.board').dataset.side)")
    way = "h" if places[0][0] == places[1][0] else "v"
    wanted = f"#q{colours}{way},{column * side},{row * side}"
    x, y = browser.js(
        "const at = document.querySelectorAll('#grid [role=row]')[arguments[0]]"
        ".children[arguments[1]].getBoundingClientRect();"
        "return [Math.round(at.x + at.width / 2), Math.round(at.y + at.height / 2)]",
        row,
        column,
    )
    for key in "123":
        hover(browser, x, y).perform()
        ActionChains(browser.driver).send_keys(key).perform()
        for _ in range(8):
            if browser.js(PLACED) == wanted:
                hover(browser, x, y).click().click().perform()
                return
            ActionChains(browser.driver).send_keys("r").perform()
    raise AssertionError(f"{move} cannot be aimed")


def play_on_from_a_moment(browser, one):
    """Plays on from the last moment of a finished game, with the same tiles."""
    view = one.view()
    step = view["moments"][-1]["step"]
    address = browser.driver.current_url
    browser.driver.find_elements("css selector", "#moments .retry")[-1].click()
    soon(browser, lambda: browser.driver.current_url != address)
    wait(browser, "yours")
    assert browser.js(STEPS) == step
    browser.click("leave")


def turn_until_legal(browser, x, y, *, with_wheel):
    """Turns the tile under the pointer once, and on until it is legal there; it says why it is not
    legal in a way.
    """
    for _ in range(8):
        turn_tile(browser, x, y, with_wheel=with_wheel)
        if browser.js(AIM):
            return
        soon(browser, lambda: browser.text("refused"))
    raise AssertionError("a whole round of turns has a legal one")


def turn_tile(browser, x, y, *, with_wheel):
    """Turns the tile under the pointer."""
    chain = ActionChains(browser.driver)
    if with_wheel:
        # one turn for each pull of the wheel, however many events that makes
        chain.pause(0.15).scroll_from_origin(ScrollOrigin.from_viewport(x, y), 0, 100).perform()
    else:
        chain.send_keys("r").perform()


def test_a_whole_game_is_played_with_the_keys_alone_and_the_focus_stays(game, browser):
    game(bot="careful", bot2="careful-4", bot3="careful-16", seat="2", seed="keys", calm=True)
    while browser.js(FOCUSED) is None:
        browser.keys("Tab")
    side = browser.js("return document.querySelector('[role=gridcell]').clientWidth")
    corner = browser.js(
        "const box = document.getElementById('grid').getBoundingClientRect(); return [box.x, box.y]"
    )
    for turn in itertools.count():
        if wait(browser) == "over":
            break
        before, lights = browser.js(STEPS), browser.js(LIGHTS)
        x, y = lights[turn % len(lights)]
        wanted = [int((y - corner[1]) / side), int((x - corner[0]) / side)]
        row, column = browser.js(FOCUSED)
        browser.keys(*["ArrowDown" if wanted[0] > row else "ArrowUp"] * abs(wanted[0] - row))
        browser.keys(
            *["ArrowRight" if wanted[1] > column else "ArrowLeft"] * abs(wanted[1] - column)
        )
        assert browser.js(FOCUSED) == wanted
        for _ in range(4):
            if browser.js(AIM):
                break
            browser.keys("r")
        browser.keys("Enter")
        wait_for_step(browser, before)
        assert browser.js(FOCUSED) == wanted
    assert turn > 5
    assert "won" in browser.text("ending")
    assert browser.log() == []


def test_a_finger_chooses_a_place_and_confirms_and_two_fingers_turn_the_tile(game, browser):
    game(width=390, height=844)
    assert browser.js(FITS) == []
    before = browser.js(STEPS)
    at = middle(browser, "ground")
    turned = "return document.querySelector('[aria-pressed=true] .domino').classList.value"
    first = browser.js(turned)
    two = [{"x": at[0] + aside, "y": at[1]} for aside in (-40, 40)]
    for kind, points in (("Start", two), ("End", [])):
        browser.cdp("Input.dispatchTouchEvent", type=f"touch{kind}", touchPoints=points)
    soon(browser, lambda: browser.js(turned) != first)
    # near the middle several places cover a square
    x, y = min(browser.js(LIGHTS), key=lambda light: math.dist(light, at))
    tap(browser, x, y)
    tile = "return document.querySelector('.trial:not(.bad)')?.innerHTML"
    first = soon(browser, lambda: browser.js(tile))
    assert browser.js(EFFECTS)
    for _ in range(8):
        tap(browser, *middle(browser, "turn"))
        if browser.js(tile) not in (None, first):
            break
    assert browser.js(tile) not in (None, first)
    assert browser.js(STEPS) == before
    tap(browser, x, y)
    wait_for_step(browser, before)


def test_nothing_jumps_while_a_whole_game_is_played_with_a_finger_on_a_phone(game, browser):
    # A name that takes two lines.
    game(width=390, height=844, bot="lookahead-python", seed="finger")
    turns = 0
    for before, (x, y) in own_turns(browser):
        turns += 1
        tap(browser, x, y)
        soon(browser, lambda: browser.js(AIM))
        tap(browser, x, y)
        wait_for_step(browser, before)
    assert turns > 8
    assert browser.js(SHIFTS) < 0.1, "nothing jumps"
    assert browser.log() == []


def test_the_words_beside_the_board_fit_a_phone_at_a_table_of_four(game, browser):
    """What the page waits for is always in sight; of what happened, the latest is."""
    bots = {"bot": "lookahead-python", "bot2": "careful-16", "bot3": "greedy", "seat": "2"}
    one = game(width=390, height=844, calm=True, seed="clip2", **bots)
    fits = (
        "const box = document.querySelector('.slot').getBoundingClientRect();"
        "return document.getElementById('said').getBoundingClientRect().bottom <= box.bottom"
    )
    hidden = "return document.querySelectorAll('#said .unseen').length"
    hidden_steps = []
    for _ in range(4):
        assert browser.js(fits), browser.text("said")
        assert "ou move" in browser.text("said") or "Your move" in browser.text("said")
        hidden_steps.append(browser.js(hidden))
        view = one.view()
        one.post("move", move=view["legal"][0], steps=view["count"])
        soon(browser, lambda before=view["count"]: browser.js(STEPS) > before + 1)
        wait(browser, "yours")
    assert max(hidden_steps) > 1, "the texts are too long for the slot"


def tap(browser, x, y):
    for kind, points in (("Start", [{"x": x, "y": y}]), ("End", [])):
        browser.cdp("Input.dispatchTouchEvent", type=f"touch{kind}", touchPoints=points)


def middle(browser, name):
    return browser.js(
        "const box = document.getElementById(arguments[0]).getBoundingClientRect();"
        "return [box.x + box.width / 2, box.y + box.height / 2]",
        name,
    )


def test_hints_are_on_the_board_a_move_is_chosen_from_the_list_and_a_refusal_names_the_rule(
    game, browser
):
    game()
    browser.keys("h")
    soon(browser, lambda: browser.js("return document.querySelectorAll('.hint-mark').length") > 2)
    assert "3 good moves" in browser.text("said")
    browser.click("hint")
    soon(browser, lambda: browser.js("return document.querySelectorAll('.hinted').length") == 1)
    assert "The best move is " in browser.text("said")
    assert "Click it to aim at it." in browser.text("said")
    assert click_the_hint(browser), "a click on the hint aims its tile in its way"
    before = browser.js(STEPS)
    browser.js("document.getElementById('list').open = true")
    words = browser.js("return document.getElementById('moves').selectedOptions[0].textContent")
    assert words.split()[0].count("-") == 1
    browser.click("choose")
    wait_for_step(browser, before)
    wait(browser, "yours")
    assert f"You placed {words}" in browser.text("said")
    x, y = browser.js(
        "const box = document.querySelector('[role=gridcell]').getBoundingClientRect();"
        "return [box.x + 9, box.y + 9]"
    )
    hover(browser, x, y).click().perform()
    soon(browser, lambda: "beside a coloured square" in browser.text("refused"))
    assert not re.search(r"R\d|[a-m]\d", browser.text("refused")), "no number and no square"
    browser.driver.find_element("css selector", "#refused .rule").click()
    assert browser.js("return document.activeElement.id") == "r42"


def click_the_hint(browser):
    """Clicks on the tile of the hint; whether that tile is aimed then."""
    x, y = browser.js(
        "const box = document.querySelector('.hinted').getBoundingClientRect();"
        "return [box.x + box.width / 2, box.y + box.height / 4]"
    )
    hover(browser, x, y).click().perform()
    return browser.js(
        "const at = (name) => ['x', 'y', 'width', 'height'].map((side) =>"
        " document.querySelector(`.${name} rect`).getAttribute(side)).join();"
        "return at('hinted') === at('trial')"
    )


def test_the_chart_of_pagodas_is_drawn_from_the_first_move_on(game, browser):
    game(calm=True)
    drawn = "return document.querySelectorAll('#pace path').length"
    assert browser.js(drawn) == 0
    assert "from the first move on" in browser.text("pace")
    browser.click("choose")
    soon(browser, lambda: browser.js(drawn))
    assert "from the first move on" not in browser.text("pace")


def test_the_wheel_zooms_and_scrolls_the_page_unless_it_turns_a_tile(game, browser):
    game(calm=True)
    is_taken = (
        "const ctrlKey = Boolean(arguments[0]);"
        "const init = { bubbles: true, cancelable: true, ctrlKey, deltaY: 100 };"
        "const event = new WheelEvent('wheel', init);"
        "document.getElementById('grid').dispatchEvent(event);"
        "return event.defaultPrevented"
    )
    assert not browser.js(is_taken, 0), "nothing is aimed"
    hover(browser, *browser.js(LIGHTS)[0]).click().perform()
    assert browser.js(is_taken, 0)
    assert not browser.js(is_taken, 1)


def test_the_last_move_is_taken_back_with_a_key_or_the_button(game, browser):
    game()
    disabled = "return document.getElementById('undo').disabled"
    assert browser.js(disabled)
    for press in (lambda: browser.keys("u"), lambda: browser.click("undo")):
        tiles = browser.js("return document.querySelectorAll('.live use').length")
        before = browser.js(STEPS)
        browser.click("choose")
        wait_for_step(browser, before + 1)
        wait(browser, "yours")
        assert not browser.js(disabled)
        press()
        soon(browser, lambda before=before: browser.js(STEPS) == before)
        wait(browser, "yours")
        assert browser.js("return document.querySelectorAll('.live use').length") == tiles
    assert browser.log() == []


def test_a_game_is_left_at_the_second_press_and_its_end_is_in_sight(game, browser):
    one = game(width=390, height=844)
    words = browser.text("leave")
    button = browser.driver.find_element("id", "leave")
    browser.js("arguments[0].scrollIntoView({ behavior: 'instant', block: 'center' })", button)
    button.click()
    assert browser.text("leave") == "Really leave?"
    browser.js("document.activeElement.blur()")
    assert browser.text("leave") == words
    assert one.view()["state"] == "yours"
    button.click()
    button.click()
    wait(browser, "over")
    box = "return document.getElementById('ending').getBoundingClientRect().toJSON()"
    soon(browser, lambda: browser.js(box)["top"] >= 0 and browser.js(box)["bottom"] <= 844)
    assert browser.log() == []


def test_a_page_that_is_not_in_view_gives_its_connection_back(game, browser):
    """A browser opens six connections to a server: with more pages than that none could move."""
    script = browser.cdp("Page.addScriptToEvaluateOnNewDocument", source=KEPT)
    game()
    browser.cdp("Page.removeScriptToEvaluateOnNewDocument", **script)
    hide = (
        "const value = Boolean(arguments[0]);"
        "Object.defineProperty(document, 'hidden', { configurable: true, value });"
        "document.dispatchEvent(new Event('visibilitychange'));"
    )
    assert browser.js("return source.readyState") == 1
    browser.js(hide, 1)
    assert browser.js("return source.readyState") == 2
    browser.js("window.source = undefined")
    browser.js(hide, 0)
    soon(browser, lambda: browser.js("return source?.readyState") == 1)
    before = browser.js(STEPS)
    browser.click("choose")
    wait_for_step(browser, before)


def test_a_page_that_is_loaded_again_goes_on_with_the_game(game, browser):
    game(seat="1")
    seats, story = browser.text("seats"), browser.text("story")
    assert "careful-16" in story
    browser.driver.refresh()
    wait(browser, "yours")
    assert (browser.text("seats"), browser.text("story")) == (seats, story)


KEPT = """
    const Plain = EventSource;
    window.EventSource = class extends Plain {
      constructor(address) { super(address); window.source ??= this; }
    };
"""
LOST = "source.close(); source.dispatchEvent(new Event('error'));"
FOUND = """
    const again = new EventSource(source.url);
    const pass = ({ type, data }) => source.dispatchEvent(new MessageEvent(type, { data }));
    for (const kind of ["open", "message"]) again.addEventListener(kind, pass);
"""


def test_after_a_lost_connection_the_page_shows_the_present_state(game, browser):
    """A browser that connects anew hears everything again, from the start."""
    script = browser.cdp("Page.addScriptToEvaluateOnNewDocument", source=KEPT)
    one = game()
    browser.cdp("Page.removeScriptToEvaluateOnNewDocument", **script)
    browser.js(LOST)
    assert browser.text("refused")
    view = one.play(until=lambda view: view["count"] > 5 and view["state"] == "yours")
    assert browser.js(STEPS) == 0
    browser.js(FOUND)
    soon(browser, lambda: browser.js(STEPS) == view["count"])
    assert not browser.text("refused")
    before = browser.js(STEPS)
    browser.click("choose")
    wait_for_step(browser, before + 1)
    assert browser.log() == []


def test_board_hand_and_seats_fit_the_window(game, browser):
    game(board="lion")
    for width, height in ((1366, 650), (390, 844)):
        browser.become(width, height=height)
        assert browser.js(FITS) == []
        wide, high = browser.js(
            "const { scrollWidth, scrollHeight } = document.documentElement;"
            "return [scrollWidth, scrollHeight]"
        )
        assert wide == width
        # on a laptop nothing scrolls but the list of what happened
        assert width < height or high == height


def test_a_click_on_an_opponent_starts_a_game_against_it(browser, server):
    browser.open(f"http://127.0.0.1:{server.port}/play?token={server.token}", width=390)
    requests, has_end = browser.js(THREE_CLICKS, ".rungs button[value=greedy]")
    assert (requests, has_end) == (1, True), "one click begins one game, and the wait has an end"
    heading = "return document.querySelector('h1').textContent"
    browser.wait("return document.getElementById('playing') !== null")
    assert browser.js(heading) == "You against greedy"
    address = browser.js("return location.pathname")
    status, _, _ = server.ask(f"{address}/leave", "POST", b'{"steps": 0}', cookie=server.cookie)
    assert status == 200


def test_enter_in_the_form_starts_the_game_of_the_form(browser, server):
    browser.open(f"http://127.0.0.1:{server.port}/play?token={server.token}")
    browser.js(
        "for (const more of document.querySelectorAll('details')) more.open = true;"
        "document.getElementById('bot').value = 'careful';"
        "document.getElementById('seed').focus();"
    )
    for kind in ("rawKeyDown", "char", "keyUp"):
        browser.cdp(
            "Input.dispatchKeyEvent", type=kind, key="Enter", text="\r", windowsVirtualKeyCode=13
        )
    browser.wait("return document.getElementById('playing') !== null")
    assert browser.js("return document.querySelector('h1').textContent") == "You against careful"
    address = browser.js("return location.pathname")
    status, _, _ = server.ask(f"{address}/leave", "POST", b'{"steps": 0}', cookie=server.cookie)
    assert status == 200


HAND = """
    return [...document.querySelectorAll("#tiles button")].map((button) =>
      `${button.ariaLabel} ${button.querySelector(".domino")?.classList.value}`);
"""


def test_a_new_tile_takes_the_empty_place_of_the_hand_and_each_keeps_its_way(game, browser):
    one = game(seed="hand")
    browser.keys("1", "r")
    browser.keys("2", "r", "r")
    first, second, third = browser.js(HAND)
    assert (first[-4:], second[-4:], third[-4:]) == ("way1", "way2", "way0")
    tile = browser.js("return document.querySelectorAll('#tiles button')[1].ariaLabel")
    held = re.findall("red|yellow|blue", tile)
    colours = {"red": "R", "yellow": "Y", "blue": "B"}
    letters = sorted(colours[name] for name in held)
    view = one.view()
    move = next(move for move in view["legal"] if sorted(re.findall("[RYB]", move)) == letters)
    before = browser.js(STEPS)
    place(browser, move)
    wait_for_step(browser, before + 1)
    wait(browser, "yours")
    now = browser.js(HAND)
    assert (now[0], now[2]) == (first, third)
    assert now[1][-4:] == "way0"


def test_a_turn_goes_clockwise_round_the_half_that_is_aimed(game, browser):
    """Also through ways that are not legal, which then say why."""
    game(seed="turning")
    x, y = browser.js(LIGHTS)[0]
    hover(browser, x, y).click().perform()
    side = browser.js("return Number(document.querySelector('#ground svg.board').dataset.side)")
    corner = browser.js(
        "const box = document.getElementById('grid').getBoundingClientRect(); return [box.x, box.y]"
    )
    cell = browser.js("return document.querySelector('[role=gridcell]').clientWidth")
    aimed = [int((x - corner[0]) / cell), int((y - corner[1]) / cell)]
    ways = []
    for _ in range(5):
        href, left, top = browser.js(PLACED).split(",")
        column, row = int(left) // side, int(top) // side
        other = [(column + 1, row), (column, row + 1)][href[-1] == "v"]
        (away,) = {(column, row), other} - {tuple(aimed)}
        ways.append((away[0] - aimed[0], away[1] - aimed[1]))
        if not browser.js(AIM):
            soon(browser, lambda: browser.text("refused"))
        browser.keys("r")
    clockwise = [(1, 0), (0, 1), (-1, 0), (0, -1)]
    start = clockwise.index(ways[0])
    assert ways == [clockwise[(start + turn) % 4] for turn in range(5)]
    assert browser.log() == []


def test_the_keys_act_wherever_the_focus_is_in_the_game_but_in_no_field(game, browser):
    game(seed="focus")
    turned = "return document.querySelector('[aria-pressed=true] .domino').classList.value"
    browser.js("document.getElementById('list').open = true")
    for name in ("turn", "rules-open", "warn", "story"):
        before = browser.js(turned)
        browser.js("document.getElementById(arguments[0]).focus()", name)
        browser.keys("r")
        assert browser.js(turned) != before, name
    browser.js("document.getElementById('moves').focus()")
    before = browser.js(turned)
    browser.keys("r")
    assert browser.js(turned) == before
    browser.js("document.querySelector('.topbar a[href=\"/rules\"]').click()")
    browser.keys("r")
    assert browser.js(turned) == before, "the rules lie over the game"
    assert "/play/" in browser.driver.current_url


def test_a_hint_goes_with_the_move_that_is_placed(game, browser):
    game(seed="old hint")
    browser.keys("h")
    soon(browser, lambda: "good moves are marked" in browser.text("said"))
    browser.click("hint")
    soon(browser, lambda: "The best move is " in browser.text("said"))
    assert "If all play equally well from here" in browser.text("said")
    before = browser.js(STEPS)
    assert click_the_hint(browser)
    browser.js(
        "window.seen = [];"
        "new MutationObserver(() => seen.push(["
        "  document.querySelectorAll('#story p').length,"
        "  document.querySelectorAll('.hinted').length,"
        "  document.getElementById('said').textContent,"
        "])).observe(document.body, { subtree: true, childList: true });"
    )
    browser.click("place")
    wait_for_step(browser, before + 1)
    wait(browser, "yours")
    seen = [one for one in browser.js("return seen") if one[0] == before + 1]
    assert seen
    assert not [one for one in seen if one[1] or "best move" in one[2]]


def test_the_lit_squares_look_unlike_a_yellow_tile_and_the_words_fit_the_finger(game, browser):
    game(width=390, height=844)
    fill = browser.js("return getComputedStyle(document.querySelector('.lights rect')).fill")
    red, green, blue = map(int, re.findall(r"\d+", fill)[:3])
    assert red == green == blue
    assert "Tap a lit square" in browser.text("said")
    assert "R or" not in browser.text("said")
