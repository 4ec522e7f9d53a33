"""The page of each bot in a report."""

import re

import pytest

from arena.exports.report.choice import GamesToShow, choose, feats
from arena.exports.report.material import gather
from arena.exports.report.meetings import meetings_of, opponents_of
from arena.exports.report.page import OnePage, ids_of
from arena.exports.report.places import headline, lead
from arena.exports.report.profiles import Profiles
from arena.exports.report.report_page import report_page
from arena.tournament.run import Run
from tests.exports.runs import data_of, duels, game_of, write_run
from tests.support.frames import with_standings


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    bots = ["a", "a:depth=2", "b", "c"]
    late = game_of(("a", "b"), deal=5, faults=[(0, 2, "late", "the hand was RR")])
    return write_run(
        tmp_path_factory.mktemp("runs") / "run", bots, [*duels(bots, 5), late], deals=6
    )


@pytest.fixture(scope="module")
def material(folder):
    return gather(Run(folder))


@pytest.fixture(scope="module")
def page(folder):
    return report_page(Run(folder), 10).text


def profile_of(material, name, games=()):
    meetings = meetings_of(games)
    made = Profiles(material, opponents_of(material, meetings), meetings)
    return next(one for one in made if one["name"] == name)


def test_every_bot_has_a_page_and_every_table_leads_to_it(page):
    for bot in ("a", "a:depth=2", "b", "c"):
        assert f'<section class="bot" id="bot/{bot}"' in page
        assert page.count(f'<a class="quiet" href="#bot/{bot}">') >= 8


def test_it_has_the_figures_of_the_standings(material, page):
    profile, table = profile_of(material, "b"), material.tables.standings
    row = table[table["bot"] == "b"].iloc[0]
    shown = page[page.index('id="bot/b"') :]
    for term, said in (
        ("Games", row["games"]),
        ("Won", row["wins"]),
        ("Rank", f"{row['rank']} of 4"),
    ):
        assert f"<dt>{term}</dt><dd>{said}</dd>" in shown[: shown.index("</section>")]
    assert sum(one["games"] for one in profile["boards"]) == row["games"]
    assert sum(one["games"] for one in profile["seats"]) == row["games"]
    assert {one["opponent"] for one in profile["opponents"]} == {"a", "a:depth=2", "c"}


def test_a_cell_of_head_to_head_leads_to_the_games_of_both(page):
    games = [game for game in data_of(page)["games"] if sorted(game["bots"]) == ["b", "c"]]
    assert games
    assert '<a href="#bot/b/c">' in page
    row = page[page.index('<tr id="bot/b/c">') :]
    row = row[: row.index("</tr>")]
    listed = re.findall(r'<a href="#game=[^"]*" title="([^"]*)">(won|lost|equal)</a>', row)
    assert {name for name, _ in listed} == {game["id"] for game in games}
    for name, word in listed:
        [game] = [game for game in games if game["id"] == name]
        assert (word == "won") == (game["ranks"][game["bots"].index("b")] == 1)
    assert f"{10 - len(games)} more" in row
    assert "arena report run --only b+OTHER --to games.html" in page


def test_other_settings_of_a_bot_are_named(material):
    assert profile_of(material, "a")["kin"] == ["a:depth=2"]
    assert profile_of(material, "b")["kin"] == []


def test_a_fault_is_told_with_its_reason_once_its_deal_is_over(material):
    [fault] = profile_of(material, "a")["faults"]
    assert (fault["kind"], fault["count"]) == ("late", 1)
    assert fault["detail"] == ""  # deal 5 is still being played


def test_of_faults_of_one_kind_the_latest_game_is_named(tmp_path):
    late = [game_of(("a", "b"), deal=deal, faults=[(0, 2, "late", "")]) for deal in (5, 6)]
    run = Run(write_run(tmp_path / "run", "ab", [*duels("ab", 5), *late], deals=7))
    [fault] = profile_of(gather(run), "a")["faults"]
    assert (fault["count"], fault["game"]) == (2, late[-1].id)


def test_the_best_win_is_against_the_best_rated_by_the_widest_lead(material):
    elo = {"a": 900.0, "a:depth=2": 0.0, "b": 500.0, "c": 100.0}
    field = GamesToShow(material.scan, elo, ~material.is_open)
    told = feats(field, 3)["c"]
    best = told.wins[0]
    assert best.rivals == ("a",)
    assert [one.elo for one in told.wins] == sorted((one.elo for one in told.wins), reverse=True)
    games = material.scan.records(field.clean)
    won = [
        game
        for game in games.values()
        if sorted(game.bots) == ["a", "c"] and game.ranks[game.bots.index("c")] == 1
    ]
    assert best.lead == max(max(game.left) - min(game.left) for game in won)
    assert len({one.rivals for one in told.wins}) == len(told.wins)


def test_games_are_chosen_for_being_the_best_or_the_worst_of_a_bot(material):
    reasons = [reason for reasons in choose(material, 40).values() for reason in reasons]
    assert {"best win of a", "worst loss of b"} <= set(reasons)


def test_the_headline_names_the_leader_and_who_may_be_better(material, snapshot):
    table = material.tables.standings.assign(rank=[1, 2, 3, 4], mark="")
    table = table.assign(elo=[300.0, 10, 0, -9], elo_low=[290.0, 0, -9, -20], elo_high=310.0)
    said = {}
    for case, best in (("clear", [1, 2, 2, 4]), ("two", [1, 1, 2, 4]), ("many", [1, 1, 1, 4])):
        tables = with_standings(material.tables, table.assign(rank_low=best))
        said[case] = headline(material._replace(tables=tables))
    first, second = table["bot"][:2]
    assert first in said["clear"]
    assert second in said["two"]
    assert said["clear"] == snapshot
    assert said["two"] == snapshot
    assert said["many"] == snapshot


def test_a_leader_that_lost_nothing_stands_on_the_podium_and_in_the_headline(tmp_path):
    games = []
    for deal in range(6):
        for pair in (("a", "b"), ("b", "a"), ("a", "c"), ("c", "a")):
            lucks = (game_of(pair, deal=deal, luck=luck) for luck in range(100))
            games.append(next(game for game in lucks if game.ranks[pair.index("a")] == 1))
        games += [game_of(("b", "c"), deal=deal), game_of(("c", "b"), deal=deal)]
    run = Run(write_run(tmp_path / "run", "abc", games))
    begins = lead(gather(run), {})
    assert '<li class="p1"><b>1</b>' in report_page(run).text
    rank, bot, elo = begins["podium"][0]
    assert (rank, bot, elo[:2]) == (1, "a", "> ")
    assert {bot for _, bot, _ in begins["podium"][1:]} == {"b", "c"}
    assert begins["sentence"].startswith("a ")


def test_while_even_the_first_bot_may_be_the_last_there_is_no_podium(tmp_path):
    material = gather(Run(write_run(tmp_path / "run", "abc", duels("abc", 2), deals=2)))
    rows = material.tables.standings.to_dict("records")
    assert rows[0]["rank_high"] == 3
    assert lead(material, {})["podium"] == []


def test_names_that_look_alike_have_pages_of_their_own():
    ids = ids_of(["a b", "a_b", "a\u202e", "a\\u202e"])
    assert len(set(ids.values())) == 4
    assert not any(re.search(r"\s", one) for one in ids.values())
    addresses = OnePage("run", ids, {"a b": ["a_b"]}, [])
    assert addresses.bot("a b") == "#bot/a_b"
    assert addresses.meeting("a b", "a_b") == "#bot/a_b/a_b~2"
    assert addresses.bot("a_b") == addresses.game("x") == ""


def test_many_bots_have_pages_with_their_neighbours_only(tmp_path):
    bots = [f"bot-{number:02}" for number in range(70)]
    games = [game_of(bots[1::-1], deal=deal) for deal in range(2)]
    material = gather(Run(write_run(tmp_path / "run", bots, games)))
    found = opponents_of(material, {})
    assert len(found) == 60
    assert found["bot-00"] == ["bot-01"]
