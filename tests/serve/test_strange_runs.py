"""Folders that strangers made: one of them never takes the others' pages away."""

import json
import os
import shutil
from contextlib import closing
from urllib.parse import quote

import pytest

from tests.exports.runs import duels, write_run
from tests.serve.serving import Served

HOLE = 10 << 40


@pytest.fixture(scope="module")
def strange(tmp_path_factory):
    """A home with one good run among strange ones, and its server."""
    home = tmp_path_factory.mktemp("strange")
    results = home / "results"
    games = duels("ab", 1)
    write_run(results / "good", "ab", games, deals=1)

    def copy(name):
        shutil.copytree(results / "good", results / name)
        return results / name

    for number, started in enumerate(("0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59")):
        info = copy(f"when{number}") / "run.json"
        lines = info.read_text().split('"started": "', 1)
        assert len(lines) == 2
        info.write_text(f'{lines[0]}"started": "{started}{lines[1][lines[1].index(chr(34)) :]}')
    header = "rank,bot,games,elo,elo_low,elo_high,mark,forfeits\n"
    tables = ("1,a\n", f"1,{'a' * 200_000},1,0,0,0,,0\n", "\0" * 9, '1,"a\n')
    for number, rows in enumerate(tables):
        (copy(f"table{number}") / "standings.csv").write_text(header + rows)
    os.truncate(copy("hole") / "games.jsonl", HOLE)
    info = copy("board") / "run.json"
    text = json.loads(info.read_text())
    info.write_text(json.dumps({**text, "boards": {name: ["...."] for name in text["boards"]}}))
    bots = ["a\u202eb", "c"]  # a character that reverses the rest of the line
    write_run(results / "reversed", bots, duels(bots, 1))
    copy("raw").rename(results / "raw\udcff")
    rows = "1,greedy-python,12,40,10,70,,0\n2,greedy-python:width=2,9,-40,-70,-10,,3\n"
    (results / "good" / "standings.csv").write_text(header + rows)
    server = Served(home)
    with closing(server):
        yield server


@pytest.mark.parametrize("path", ["/", "/bots", "/bots/greedy-python", "/play", "/runs/good"])
def test_pages_are_there_whatever_a_run_holds(strange, path):
    status, _, text = strange.ask(path, cookie=strange.cookie)
    assert (status, "good" in text or path.startswith(("/bots", "/play"))) == (200, True)


def test_the_page_of_a_bot_leads_to_its_games_and_faults_in_each_run(strange):
    text = strange.ask("/bots/greedy-python")[2]
    label = "greedy-python%3Awidth%3D2"
    assert f'<a href="/runs/good/games?bot={label}">9</a>' in text
    assert f'<a class="warn" href="/runs/good/bots/{label}">3</a>' in text
    assert '<a href="/runs/good/games?bot=greedy-python">12</a></td>\n<td class="figure">0<' in text


def test_a_journal_without_an_end_is_counted_a_part_at_a_time(strange):
    for _ in range(3):
        text = strange.ask()[2]
        assert "/runs/hole" in text
        assert "counting" in text


def test_a_game_has_a_page_whatever_its_id_holds(strange):
    game = quote("bird/a\u202eb+c/0/0")
    status, _, text = strange.ask(f"/runs/reversed/games/{game}")
    assert (status, "\u202e" in text, "bird/a\\\\u202eb+c/0/0" in text) == (200, False, True)


@pytest.mark.parametrize(("name", "begin"), [("hole", "problem"), ("board", "parts")])
def test_the_stream_of_a_run_that_cannot_be_read_says_so_and_one_without_a_board_is_shown(
    strange, name, begin
):
    assert strange.ask(f"/runs/{name}/events")[2].startswith(f"event: {begin}\n")
