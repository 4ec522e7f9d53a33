"""Kept games of people: their pages and their rows in lists."""

import json
from contextlib import closing
from urllib.parse import quote

import pytest
from msgspec.structs import replace

from tests.exports.runs import game_of, write_run
from tests.web.serving import Served

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


def test_a_shared_win_is_not_called_won(server):
    text = server.ask("/play", cookie=server.cookie)[2]
    past = text[text.index('<ul class="past">') :]
    assert "shared the win with" in " ".join(past.split())
    assert "You shared the win with greedy" in server.ask("/runs/played-2")[2]


def test_a_kept_game_whose_journal_is_of_other_players_has_a_page_all_the_same(server):
    assert server.ask("/runs/played-3")[0] == 200
