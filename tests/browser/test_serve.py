"""The page of a run in a real browser, while games end."""

import re
from urllib.parse import quote

import pytest
from selenium.webdriver.support.wait import WebDriverWait

from arena.records.record import encode_record
from tests.exports.runs import duels, write_run
from tests.serve.serving import Served

GAMES = duels("abc", 4)
PROGRESS = "return document.querySelector('.progress strong')?.textContent"
HEADING = """
    document.getElementById("all-columns").click();
    const head = [...document.querySelectorAll("#standings th button")]
      .find((node) => node.textContent.trim() === "Games");
    head.focus();
    head.click();
    document.querySelector("#standings .scroll").scrollLeft = 40;
"""
STATE = """
    const { activeElement: focus } = document;
    const scroll = document.querySelector("#standings .scroll");
    const order = focus.closest("th")?.getAttribute("aria-sort");
    return [focus.textContent.trim(), order, scroll.scrollLeft];
"""


@pytest.fixture
def run(free_run, shelf):
    """A run of which the first games have ended, its address, and the server of all runs."""
    folder, address = free_run
    write_run(folder, "abc", GAMES[:12], deals=4)
    return folder, address, shelf[1]


@pytest.fixture
def own_run(tmp_path):
    """A run whose first games have ended, its address, and a server that only this test uses."""
    folder = write_run(tmp_path / "results" / "run", "abc", GAMES[:12], deals=4)
    server = Served(tmp_path)
    yield folder, f"{server.url.partition('?')[0]}runs/run", server
    server.close()


def end_games(folder, games):
    with (folder / "games.jsonl").open("ab") as file:
        file.write(b"".join(encode_record(game) + b"\n" for game in games))


def wait_for(browser, script, text):
    WebDriverWait(browser.driver, 240).until(lambda _: browser.js(script) == text)


def test_standings_live_and_keep_the_focus_the_order_and_what_is_scrolled(browser, run):
    folder, address, server = run
    browser.open(address, width=390)
    wait_for(browser, PROGRESS, "12")
    browser.js(HEADING)
    before = browser.js(STATE)
    assert before[:2] == ["Games", "descending"]
    end_games(folder, GAMES[12:18])
    wait_for(browser, PROGRESS, "18")
    assert browser.js(STATE) == before
    assert "of 24 games" in browser.text("part-progress")
    end_games(folder, GAMES[18:])
    wait_for(browser, PROGRESS, "24")
    wait_for(browser, "return document.querySelector('#ended-head').textContent", "Latest games")
    # what came new stands still until its next step
    assert browser.js("return document.querySelector('.film').animationsPaused()")
    assert browser.log() == []
    own = server.url.partition("?")[0]
    asked = {one for one in browser.requests() if not one.startswith("data:")}
    files = {one for one in asked if one.startswith(f"{own}static/arena.")}
    assert len(files) == 2, "one style and one script"
    assert asked - files == {f"{address}{end}" for end in ("", "/events")}


def test_the_links_of_a_run_lead_to_pages(browser, run):
    folder, address, server = run
    end_games(folder, GAMES[12:])
    own = server.url.partition("?")[0]
    browser.open(server.url)  # who has the token also sees links to play
    browser.open(address)
    wait_for(browser, PROGRESS, "24")
    links = browser.js(
        "return [...document.querySelectorAll('main a')]"
        ".filter((link) => link.checkVisibility()).map((link) => link.href)"
    )
    paths = {link.removeprefix(own) for link in links if "#" not in link}
    # one of each kind: a bot, a game, the games of two bots, all games
    kinds = {re.sub(r"(bots|games)/.*|=.*", r"\1", path): path for path in sorted(paths)}
    at = address.removeprefix(own)
    assert {f"{at}/bots", f"{at}/games", f"{at}/games?bot", "play?bot"} <= set(kinds)
    assert [path for path in kinds.values() if server.fetch(f"/{path}")[0] != 200] == []


def test_an_address_with_a_tile_opens_the_game_there_and_follows_the_steps(browser, run):
    folder, address, _ = run
    end_games(folder, GAMES[12:])
    game = next(game for game in GAMES if game.turns > 12)
    page = f"{address}/games/{quote(game.id)}"
    shown = "return document.getElementById('link').getAttribute('href')"
    browser.open(f"{page}?t=12")
    assert browser.js(shown) == "?t=12"
    assert browser.js("return document.querySelectorAll('#board .live use').length") > 12
    browser.js("document.getElementById('forward').click()")
    assert browser.js("return location.href") == f"{page}?t=13"
    browser.open(f"{page}?t=12#t5")
    assert browser.js(shown) == "?t=5", "a fragment is the reader's own"
    assert browser.log() == []


def test_a_page_says_that_its_server_has_gone(browser, own_run):
    _, address, server = own_run
    browser.open(address)
    wait_for(browser, PROGRESS, "12")
    server.stop()
    wait_for(
        browser,
        "return document.getElementById('problem').textContent",
        "The connection is lost. Trying again.",
    )


FAKE_STREAM = """
    window.EventSource = class extends EventTarget {
      constructor() { super(); window.stream = this; this.readyState = 1; }
      close() {}
    };
"""
WITHOUT_THE_LAST_COLUMN = """
    for (const row of document.querySelectorAll("#standings tr")) [...row.cells].at(-1).remove();
"""
CLICK_HEADINGS = """
    const heads = [...document.querySelectorAll(arguments[0])];
    return heads.filter((head) => {
      head.querySelector("button.sort").click();
      return !head.hasAttribute("aria-sort");
    }).map((head) => head.textContent.trim());
"""


def test_a_heading_that_comes_with_an_update_sorts_its_table(browser, run):
    folder, address, _ = run
    browser.open(address)
    wait_for(browser, PROGRESS, "12")
    columns = len(browser.js("return [...document.querySelectorAll('#standings th.more')]"))
    browser.js(WITHOUT_THE_LAST_COLUMN)
    end_games(folder, GAMES[12:18])
    wait_for(browser, PROGRESS, "18")
    assert len(browser.js("return [...document.querySelectorAll('#standings th.more')]")) == columns
    assert browser.js(CLICK_HEADINGS, "#standings th.more") == []


def test_the_folder_of_a_broken_bot_leaves_no_heading_dead(browser, own_run):
    folder, _, server = own_run
    broken = folder.parent.parent / "bots" / "broken"
    broken.mkdir(parents=True)
    (broken / "bot.toml").write_text("name = [")
    browser.open(f"{server.url.partition('?')[0]}bots")
    assert "broken" in browser.text("bots")
    assert browser.js(CLICK_HEADINGS, "#bots th[scope=col]:has(button)") == []
    assert browser.log() == []


@pytest.mark.parametrize("message", ["{", '{"nothing of this page": "text"}', "7"])
def test_a_page_says_that_it_cannot_read_a_message(browser, run, message):
    _, address, _ = run
    source = browser.cdp("Page.addScriptToEvaluateOnNewDocument", source=FAKE_STREAM)
    browser.open(address)
    browser.js("stream.dispatchEvent(new MessageEvent('parts', { data: arguments[0] }))", message)
    browser.cdp("Page.removeScriptToEvaluateOnNewDocument", **source)
    assert "cannot read: load the page again" in browser.text("problem")
    assert browser.js("return document.getElementById('problem').checkVisibility()")


def test_the_first_page_keeps_its_links_while_a_run_is_being_played(browser, tmp_path):
    write_run(tmp_path / "results" / "run", "abc", duels("ab", 1), planned="abc")
    server = Served(tmp_path)
    try:
        browser.open(server.url)
        assert browser.js("return document.querySelector('.state').textContent") == "playing"
        assert browser.js("return document.querySelector('.guide').checkVisibility()")
    finally:
        server.close()


def test_the_ladder_fits_a_phone_and_keeps_the_names_of_bots_whole(browser, own_run):
    _, _, server = own_run
    browser.open(server.url, width=390)
    lines = "return [...document.querySelectorAll('.ladder tbody bdi')].map(name =>"
    heights = browser.js(f"{lines} name.getClientRects().length)")
    assert set(heights) == {1}
    right = "const box = document.querySelector('table.ladder'); const edge = box.parentNode;"
    right += "return [box, edge].map((one) => one.getBoundingClientRect().right)"
    table, card = browser.js(right)
    assert table <= card
