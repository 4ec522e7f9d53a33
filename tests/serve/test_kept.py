"""Kept games of people: their pages and their rows in lists."""

import json
import re
from contextlib import closing
from urllib.parse import quote

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from arena.cli.runs import runs
from arena.exports.report.report_page import report_page
from arena.tournament.run import Run
from tests.exports.runs import game_of, write_run
from tests.serve.serving import Served

BOTS = ("human", "greedy")


def keep(folder, record):
    """Writes the kept game of ``record`` between a person and greedy."""
    run = write_run(folder, BOTS, [record])
    info = json.loads((run / "run.json").read_text())
    info["config"]["game"] = {"seats": list(BOTS), "deal": 0}
    (run / "run.json").write_text(json.dumps(info))
    return run


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server of a home with a kept game in a collection, one in which the win is shared, and one
    whose journal is of another game.
    """
    home = tmp_path_factory.mktemp("kept")
    record = game_of(BOTS)
    keep(home / "results" / "old" / "played-1", record)
    keep(home / "results" / "played-2", replace(record, ranks=[1, 1], left=[4, 4]))
    keep(home / "results" / "played-3", game_of(("random", "greedy")))
    started = Served(home)
    with closing(started):
        yield started


def test_a_kept_game_in_a_collection_leads_to_its_own_pages(server):
    game = quote(game_of(BOTS).id)
    status, _, text = server.ask("/runs/old:played-1")
    assert (status, f'href="/runs/old%3Aplayed-1/games/{game}"' in text) == (200, True)
    assert server.ask(f"/runs/old%3Aplayed-1/games/{game}")[0] == 200


def test_a_shared_win_is_not_called_won(server, snapshot):
    text = server.ask("/play", cookie=server.cookie)[2]
    past = text[text.index('<ul class="past">') :]
    [told] = re.findall(r'<a href="/runs/played-2[^>]*>(.*?)</li>', past, re.DOTALL)
    words = " ".join(re.sub("<[^>]*>", " ", told).split())
    assert re.sub(r"\d+ \w+ \d+:\d+", "TIME", words) == snapshot
    assert re.findall("<h1>(.*)</h1>", server.ask("/runs/played-2")[2]) == snapshot


def test_a_kept_game_whose_journal_is_of_other_players_has_a_page_all_the_same(server):
    assert server.ask("/runs/played-3")[0] == 200


def test_lists_show_a_kept_game_as_a_game_without_ratings(server, snapshot):
    text = server.ask("/runs")[2]
    own = text[text.index('id="own-games"') :]
    assert re.findall('<a href="/runs/played-2">(.*)</a>', own) == snapshot
    assert "Leader" not in own


def test_the_report_of_a_kept_game_is_the_page_of_the_game(server, tmp_path):
    text = server.ask("/runs/old:played-1/report")[2]
    assert re.search("<h1>You (won against|lost to) greedy", text)
    assert "Elo" not in text[text.index("<body>") :]
    alone = report_page(Run(keep(tmp_path / "played-1", game_of(BOTS)))).text
    assert "<h1>You " in alone
    assert "<style>" in alone


def test_arena_runs_says_how_a_kept_game_ended(tmp_path, snapshot):
    keep(tmp_path / "results" / "played-1", replace(game_of(BOTS), ranks=[1, 1], left=[4, 4]))
    table = CliRunner().invoke(runs, [], obj=tmp_path).output
    [row] = json.loads(CliRunner().invoke(runs, ["--json"], obj=tmp_path).output)
    assert row["title"] == snapshot
    assert row["title"] in table
    assert row["leader"] is None
