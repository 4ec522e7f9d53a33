"""The pages of runs, of those that strangers made, too."""

import asyncio
import re
from urllib.parse import quote, unquote, urlencode

import pytest

from arena.exports.report.report_page import report_page
from arena.tournament.run import Run
from arena.web.run_list import MAX_OWN, MAX_RUNS, RunList
from tests.exports.runs import duels, write_run
from tests.serve.serving import HALF


def test_a_run_a_game_and_a_report_have_their_pages(served):
    assert served.ask("/runs/done/events")[0] == 200, "from now on it is known how the run is"
    game = duels("abc", 2)[0]
    for path, words in (
        ("/runs/done", "12</strong> of 12 games"),
        (f"/runs/done/games/{game.id}", "Replay"),
        ("/runs/done/report", "Thinking time"),
        ("/runs/done/games", "12 games, the latest first"),
        ("/runs/done/games?bot=a&bot=b&page=7", "4 games, the largest upsets first"),
        ("/runs/done/games?bot=nobody", "0 games"),
        ("/runs/done/bots/a", "Share of the wins"),
        ("/bots", 'href="/bots/greedy-python"'),
        ("/bots/greedy-python", "from the ladder"),
        ("/rules", 'id="r44"'),
    ):
        status, _, text = served.ask(path)
        assert (status, words in text) == (200, True), text
        assert '<a class="brand" href="/">' in text


def test_every_page_has_one_bar_that_leads_to_play_watch_ladder_and_rules(served):
    for path in ("/", "/runs", "/runs/done/report", "/rules"):
        text = served.ask(path)[2]
        bar = text[text.index('<nav class="site"') : text.index("</nav>")]
        links = re.findall('<a href="([^"]+)">([^<]+)</a>', bar)
        words = " ".join(name for _, name in links)
        assert words == "Play Watch Ladder Rules Write a bot →"
        assert [served.ask(to)[0] for to, _ in links[1:-1]] == [200] * 3, "and Play needs the token"
        assert links[-1][0].startswith("https://github.com/"), "the documentation"


def test_a_report_in_a_file_has_the_bar_without_links(tmp_path):
    folder = write_run(tmp_path / "run", "ab", duels("ab", 2))
    text = report_page(Run(folder)).text
    bar = text[text.index('<div class="topbar">') : text.index('<div class="head wide">')]
    assert "qin-arena" in bar
    assert "<a " not in bar


def test_a_game_leads_to_its_run_its_bots_and_the_games_beside_it(served):
    first, second, third, *_ = duels("abc", 2)
    pages = {game.id: served.ask(f"/runs/done/games/{game.id}")[2] for game in (first, second)}

    def link(game, words):
        return f'<a href="/runs/done/games/{quote(game.id)}" rel="{words}">'

    for text in pages.values():
        assert 'of run <a href="/runs/done">' in text
        assert text.count('class="quiet" href="/runs/done/bots/') == 2
    assert "Previous game" not in pages[first.id]
    assert link(second, "next") in pages[first.id]
    assert link(first, "prev") in pages[second.id]
    assert link(third, "next") in pages[second.id]


def test_no_game_leads_to_one_whose_deal_is_still_played(served):
    shut = [game for game in HALF if served.ask(f"/runs/half/games/{game.id}")[0] == 404]
    text = served.ask(f"/runs/half/games/{HALF[0].id}")[2]
    assert shut
    assert not [game.id for game in shut if f"games/{quote(game.id)}" in text]


def test_the_built_in_bots_are_listed_before_the_ladder_and_have_pages(served):
    text = served.ask("/bots")[2]
    assert 0 < text.index('href="/bots/careful"') < text.index('href="/bots/greedy-python"')
    status, _, text = served.ask("/bots/careful")
    assert (status, "built in" in text, "the best outlook" in text) == (200, True, True)


@pytest.mark.parametrize(
    "path",
    [
        "/runs/..",
        "/runs/%2e%2e",
        "/runs/../../etc",
        "/runs/..%2f..%2fetc",
        "/runs/done%2f..%2fdone",
        "/runs/done%00",
        "/runs/link",
        "/runs/nothing",
        "/runs/done/games/..%2f..%2frun.json",
        "/runs/done/games/nothing",
        "/runs/done/bots/nobody",
        "/bots/..%2fresults",
        "/bots/nobody",
        "/runs/.",
        "/runs/done/run.json",
    ],
)
def test_nothing_but_a_run_in_results_is_found(served, path):
    status, _, text = served.ask(path)
    assert status == 404, text
    assert "root:" not in text


def test_a_game_is_shown_once_its_deal_is_over(served):
    assert served.ask(f"/runs/half/games/{HALF[0].id}")[0] == 200
    assert served.ask(f"/runs/half/games/{HALF[7].id}")[0] == 404
    for path in ("/runs/half", "/runs/half/report", f"/runs/half/games/{HALF[7].id}"):
        assert HALF[7].deck[40:100] not in served.ask(path)[2]


def test_what_strangers_wrote_does_nothing(served):
    names = ("broken", "deep", "torn/report", "piped/report", "%3Cb%3Ex/report")
    pages = [served.ask(f"/runs/{name}") for name in names]
    assert [status for status, _, _ in pages] == [404, 404, 404, 404, 200]
    streams = [served.ask(f"/runs/{name}/events") for name in ("torn", "piped")]
    begins = [text.partition("\n")[0] for _, _, text in streams]
    assert begins == ["event: problem", "event: problem"]
    for _, _, text in [*pages, *streams, served.ask(), served.ask("/runs/%3Cb%3Ex")]:
        assert "<img src=x" not in text
        assert "\u202e" not in text
        assert "<b>x" not in text


def test_games_of_people_are_listed_apart_and_crowd_no_run_out(tmp_path):
    write_run(tmp_path / "results" / "cup", "ab", duels("ab", 1), deals=1)
    run_list = RunList(tmp_path)
    for number in range(MAX_RUNS + 2):
        folder = tmp_path / "results" / f"played-{number}"
        write_run(folder, "ab", duels("ab", 1)[:1], deals=1)
        info = folder / "run.json"
        game = '"config": {"game": {"seats": ["a", "b"], "deal": 0},'
        text = info.read_text().replace('"config": {', game, 1)
        info.write_text(text)
    rows = asyncio.run(run_list.rows())
    assert [row["run"] for row in rows if not row["is_game"]] == ["cup"]
    assert len(rows) == 1 + MAX_OWN


def test_the_games_of_two_bots_are_listed_in_any_order_and_by_their_winner(served):
    games = {game.id: game for game in duels("abc", 2) if set(game.bots) == {"a", "b"}}

    def listed(**asked):
        text = served.ask("/runs/done/games?bot=a&bot=b&" + urlencode(asked))[2]
        return [unquote(name) for name in re.findall(r'href="/runs/done/games/([^"]+)"', text)]

    assert sorted(listed()) == sorted(games)
    turns = [games[name].turns for name in listed(order="longest")]
    assert turns == sorted(turns, reverse=True)
    latest = listed(order="latest")
    assert latest == list(games)[::-1]
    leads = [abs(games[name].left[0] - games[name].left[1]) for name in listed(order="closest")]
    assert leads == sorted(leads)
    won = {name for name, game in games.items() if game.ranks[game.bots.index("a")] == 1}
    assert set(listed(winner="a")) == won
    assert listed(order="nonsense", winner="nobody") == listed()
