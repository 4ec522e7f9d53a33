"""The page of a run as a broadcast, in a real browser, while a real run is played."""

import json
import re
import signal
from contextlib import suppress
from time import sleep

import pytest

from arena.records.record import encode_record
from tests.exports.runs import duels, games_won, write_run
from tests.serve.serving import Served

WATCH_SHIFTS = """
    window.shifted = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.shifted += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
"""
MOST_SHIFT = 0.1
GAMES = (
    "return Number("
    "(document.querySelector('.progress strong')?.textContent ?? '0').replaceAll(',', ''))"
)
FILM = "return document.querySelector('#part-board .film') !== null"


@pytest.mark.long
def test_a_real_run_moves_a_board_and_nothing_else_jumps(browser, arena):
    bots = ("careful-16", "careful-4", "greedy", "random")
    source = browser.cdp("Page.addScriptToEvaluateOnNewDocument", source=WATCH_SHIFTS)
    server = Served(arena.home)
    run = arena.start("run", *bots, "--deals", 100_000, "--out", "live", "--jobs", 1)
    try:
        while server.ask("/runs/live")[0] != 200:
            assert run.poll() is None
            sleep(0.05)
        for width, height in ((1366, 768), (390, 844)):
            browser.open(f"{server.url.partition('?')[0]}runs/live", width=width, height=height)
            check_that_only_the_board_moves(browser, width)
    finally:
        browser.cdp("Page.removeScriptToEvaluateOnNewDocument", **source)
        run.send_signal(signal.SIGINT)
        with suppress(TimeoutError):
            run.communicate(timeout=60)
        server.close()


def check_that_only_the_board_moves(browser, width):
    browser.wait(FILM)
    seen = browser.js(GAMES)
    time = "return document.querySelector('.film').getCurrentTime()"
    browser.wait(f"{time} !== arguments[0]", browser.js(time))
    left = "return document.querySelector('.shown .left').textContent"
    browser.wait(f"{left} !== arguments[0]", browser.js(left))
    browser.wait(f"{GAMES} > arguments[0]", seen + 20)
    assert browser.js("return document.title") == "live: playing"
    assert browser.js("return window.shifted") < MOST_SHIFT
    assert browser.js("return document.documentElement.scrollWidth") <= width
    assert browser.log() == []


def test_before_a_deal_is_over_the_board_is_empty_and_says_why(browser, free_run):
    folder, address = free_run
    games = duels("abc", 4)
    write_run(folder, "abc", games[:4], deals=4)
    browser.open(address)
    browser.wait(f"{GAMES} === 4")
    assert not browser.js(FILM)
    assert browser.js("return document.querySelectorAll('#part-board .board').length") == 1
    assert "tiles that are still to come" in browser.text("part-board")
    journal = folder / "games.jsonl"
    with journal.open("ab") as file:
        file.write(b"".join(encode_record(game) + b"\n" for game in games[4:6]))
    browser.wait(FILM)
    assert browser.js("return document.querySelectorAll('.shown .seats li').length") == 2


def test_before_anything_is_rated_there_is_an_open_dot_and_no_number_and_no_medal(
    browser, free_run
):
    folder, address = free_run
    write_run(folder, "abc", games_won("a", "b", 2)[:2], deals=4)
    browser.open(address)
    browser.wait(f"{GAMES} === 2")
    assert browser.js("return document.querySelectorAll('#standings .open-dot').length") == 3
    elo = "return [...document.querySelectorAll('#standings tbody .elo')].map(one => one.innerText)"
    assert [re.search(r"\d", text) for text in browser.js(elo)] == [None] * 3
    assert "Too early to say who leads" in browser.text("part-sentence")
    browser.open(f"{address}/report")
    assert browser.js("return document.querySelectorAll('.podium').length") == 0


def test_a_run_that_ends_says_so_in_the_page_and_its_title(browser, free_run):
    folder, address = free_run
    games = duels("abc", 2)
    write_run(folder, "abc", games[:6], deals=2)
    browser.open(address)
    browser.wait(f"{GAMES} === 6")
    with (folder / "games.jsonl").open("ab") as file:
        file.write(b"".join(encode_record(game) + b"\n" for game in games[6:]))
    browser.wait("return document.title === `${arguments[0]}: finished`", folder.name)
    assert "finished" in browser.text("part-progress")
    browser.open(address)
    assert browser.js("return document.title") == f"{folder.name}: finished"


def test_the_page_of_a_comparison_says_its_verdict_and_counts_no_games_that_are_not_needed(
    browser, free_run
):
    folder, address = free_run
    write_run(folder, "ab", games_won("a", "b", 9), deals=100)
    info = json.loads((folder / "run.json").read_text())
    info["config"] |= {"compare": {"new": "a", "old": "b", "elo0": 0, "elo1": 100}, "settled": 7}
    (folder / "run.json").write_text(json.dumps(info))
    browser.open(address)
    browser.wait(f"{GAMES} === 18")
    assert re.search(r"a is .* b: better", browser.text("part-sentence"))
    assert " of " not in browser.text("part-progress")
    browser.open(f"{address}/report")
    assert "better" in browser.js("return document.querySelector('.headline').textContent")
