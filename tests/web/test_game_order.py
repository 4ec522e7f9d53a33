"""The orders of a list of games: upsets come first where the page has several bots."""

import pytest

from arena.exports.report.choice import margins
from arena.exports.report.material import gather
from arena.tournament.run import Run
from arena.web.game_order import games_in_order, order_named
from tests.exports.runs import duels, games_won, write_run


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    games = [*games_won("a", "b", 4), *games_won("b", "c", 4)[1:], *duels("ac", 1)]
    seen = {game.id: game for game in games}
    return gather(Run(write_run(tmp_path_factory.mktemp("order") / "run", "abc", seen.values())))


def test_upsets_come_first_the_largest_of_all_before_the_others(material):
    order = games_in_order(material, (), "upsets", "")
    sizes = margins(material.scan, material.elo)[order].tolist()
    assert sizes == sorted(sizes, reverse=True)
    assert len(order) == len(material.scan.deal)


def test_without_a_wish_the_games_of_two_bots_begin_with_upsets_and_others_with_the_latest():
    assert order_named("", ("a", "b")) == "upsets"
    assert order_named("", ("a",)) == "latest"
    assert order_named("closest", ("a",)) == "closest"
