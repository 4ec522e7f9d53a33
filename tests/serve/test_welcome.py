"""The first page: what the arena is, the ladder of the published league, and games worth a look."""

import re

from arena.commands.published import published_league
from arena.web.welcome import welcome
from tests.exports.runs import duels, write_run
from tests.serve.serving import Served


def texts(page, tags):
    """The texts of the elements with these tags."""
    found = re.findall(rf"<({tags})\b[^>]*>(.*?)</\1>", page, re.DOTALL)
    return [" ".join(re.sub("<[^>]*>", "", text).split()) for _, text in found]


def headings(page):
    return texts(page, "h1|h2")


def paragraphs(page):
    return texts(page[page.index("<main") : page.index("</main>")], "p")


def test_an_empty_home_shows_the_published_league_and_lets_the_person_play(tmp_path, snapshot):
    server = Served(tmp_path)
    try:
        text = server.ask(cookie=server.cookie)[2]
        assert headings(text) == snapshot
        assert 'href="/play?bot=engine-cpp"' in text
        for game in published_league().worth:
            assert f'href="/shown/{game.key}"' in text
            status, _, page = server.ask(f"/shown/{game.key}")
            assert (status, "games-data" in page) == (200, True)
        assert server.ask("/shown/nothing")[0] == 404
        assert 'href="/play' not in server.ask()[2].partition("<main")[2], "without the token"
    finally:
        server.close()


def test_the_menu_leads_to_what_its_words_say_in_an_empty_home(tmp_path, snapshot):
    server = Served(tmp_path)
    try:
        for game in published_league().worth:
            assert f'href="/shown/{game.key}"' in server.ask("/runs")[2], "a game to watch"
        assert headings(server.ask("/bots")[2]) == snapshot
        for bot in ("engine-cpp", "greedy"):
            assert paragraphs(server.ask(f"/bots/{bot}")[2]) == snapshot(name=bot)
    finally:
        server.close()


def test_the_published_league_has_a_report_in_every_home(tmp_path):
    server = Served(tmp_path)
    try:
        for path in ("/", "/runs", "/bots", "/shown/close"):
            assert 'href="/league"' in server.ask(path)[2], path
        assert 'href="/league/4-players"' in server.ask("/shown/four")[2]
        status, _, text = server.ask("/league")
        assert status == 200
        assert "<h1>League 2, two at a table</h1>" in text
        assert "10 bots, 1,260 games" in text
        assert 'href="/league/3-players"' in text
        assert "arena report" not in text, "the reader has no such run"
        assert server.ask("/league/4-players")[0] == 200
        for other in ("5-players", "02-players", f"{'1' * 5000}-players", "x"):
            assert server.ask(f"/league/{other}")[0] == 404
    finally:
        server.close()


def test_the_ladder_has_the_leagues_own_scale():
    rows = welcome()["ladder"]
    assert rows[0]["bot"] == "engine-cpp"
    assert rows[0]["places"] == "1\N{EN DASH}2"
    low, middle, high = rows[0]["bar"]
    assert 0 < low < middle < high <= 200
    assert [row["bot"] for row in rows if row["bar"] is None] == [
        "greedy-python",
        "first-js",
        "random-python",
    ]
    assert all(row["sentence"] for row in rows)


def test_runs_in_a_folder_below_results_are_found_and_have_pages(tmp_path):
    write_run(tmp_path / "results" / "own", "ab", duels("ab", 1))
    write_run(tmp_path / "results" / "league" / "two", "abc", duels("abc", 2), deals=2)
    server = Served(tmp_path)
    try:
        text = server.ask()[2]
        assert 'href="/runs/own"' in text
        assert 'href="/runs/league%3Atwo"' in text
        game = duels("abc", 2)[0]
        for path in ("", "/report", "/games", "/bots/a", f"/games/{game.id}"):
            status, _, page = server.ask(f"/runs/league%3Atwo{path}")
            assert status == 200, path
            assert 'href="/runs/two' not in page
        assert server.ask("/runs/two")[0] == 404
    finally:
        server.close()


def test_no_column_has_ratings_of_two_runs(tmp_path):
    for name in ("one", "two"):
        write_run(tmp_path / "results" / name, "ab", duels("ab", 2), deals=2)
    server = Served(tmp_path)
    try:
        for path in ("/", "/runs", "/bots"):
            text = server.ask(path)[2]
            tables = re.findall("<table.*?</table>", text, re.DOTALL)
            with_elo = [table for table in tables if "Elo" in table]
            assert all("League" in text and 'class="ladder' in table for table in with_elo)
    finally:
        server.close()
