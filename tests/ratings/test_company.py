"""Who else sits at the table: found where it matters, and hardly ever where it does not."""

import os
from pathlib import Path

import numpy as np
import pytest

from arena.exports.analysis import analysis_object, analysis_text
from arena.ratings.analysis import analyse_run
from arena.ratings.company import company
from arena.ratings.leavingout import chances, left_out
from arena.ratings.model import rate
from arena.ratings.notes import company_note
from arena.ratings.results import Results, count_table
from arena.ratings.tables import run_tables
from tests.ratings.alarms import MANY, company_alarms
from tests.ratings.company import drawn, kingmaker, lopsided
from tests.ratings.coverage import LUCK, repeat, world_of
from tests.ratings.worlds import play

LEAGUE = Path(__file__).parents[2] / "results" / "league-1" / "4-players"
TRIES = int(os.environ.get("ARENA_RATING_TRIES", "40"))
"""`make fuzz` raises it."""


def most_by_chance(tries, level=0.05):
    """How often a test of this level may reject; more happens once in 10,000 times."""
    return level + 3.7 * np.sqrt(level * (1 - level) / tries)


def found_in(results, most=MANY):
    return company(results, rate(results).fits, most)


@pytest.fixture(scope="module")
def league():
    return analyse_run(LEAGUE, hands=0)


def test_in_the_league_of_four_players_random_decides_whether_careful_beats_the_tree(league):
    row = league.company.largest.iloc[0]
    assert row[["bot", "opponent", "third"]].tolist() == [
        "careful-python",
        "ismcts-python",
        "random-python",
    ]
    assert row["elo_with"] == pytest.approx(123, abs=2)
    assert row["elo_without"] == pytest.approx(-196, abs=2)
    assert row["error_with"] == pytest.approx(23 * 2.2, abs=4)
    assert row["error_without"] == pytest.approx(37 * 2.2, abs=4)
    assert row["p_all"] < 0.01


def test_the_analysis_shows_the_pairs_beyond_error_and_json_has_the_same(league):
    text, shown = analysis_text(league, "league"), analysis_object(league)["company"]
    [line] = [line for line in text.splitlines() if line.startswith("careful-python    ismcts")]
    assert line.split()[2:5] == ["random-python", "123", "50"]
    assert f"{len(shown['beyond_error'])} beyond error" in text
    assert shown["p_all"] == pytest.approx(shown["beyond_error"][0]["p_all"], abs=1e-9)
    assert {"players", "third", "elo_with", "error_without"} <= set(shown["beyond_error"][0])


def test_the_standings_name_the_pair_the_third_and_the_cure(league):
    [note] = [note for note in run_tables(LEAGUE).notes if "who sits at the table" in note]
    assert "decides who is better: where random-python sits too, careful-python is 123 Elo" in note
    assert "elsewhere 197 Elo behind it" in note
    assert "--without random-python" in note


def test_both_figures_are_those_of_tables_with_the_other_games_left_out(league):
    row = league.company.largest.iloc[0]
    pairs = run_tables(LEAGUE, without=["random-python"]).pairs.set_index(["bot", "opponent"])
    alone = pairs.loc[("careful-python", "ismcts-python")]
    assert row["elo_without"] == pytest.approx(alone["elo_diff"], abs=0.1)
    half = (alone["elo_high"] - alone["elo_low"]) / 2
    assert row["error_without"] == pytest.approx(half, rel=0.2)


@pytest.mark.parametrize("luck", LUCK)
@pytest.mark.parametrize(("players", "bots", "deals"), [(3, 4, 12), (4, 5, 8)])
def test_where_company_does_not_matter_it_is_hardly_ever_said_to(players, bots, deals, luck):
    [alarms], _ = repeat(company_alarms(world_of(players, bots, luck), deals), TRIES)
    assert alarms <= most_by_chance(TRIES)


def test_strong_seats_that_the_third_bot_shifts_are_not_taken_for_company():
    rng = np.random.default_rng(4)
    alarms = [found_in(lopsided(5, 30, rng)).clear > 0 for _ in range(TRIES)]
    assert np.mean(alarms) <= most_by_chance(TRIES)


@pytest.mark.parametrize("players", [3, 4])
def test_a_kingmaker_is_found_with_what_it_is_worth(players):
    found = found_in(kingmaker(players, 6, 200, np.random.default_rng(7), elo=200))
    rows = found.table[found.table["third"] == "bot-05"]
    assert set(rows["bot"]) == {"bot-00"}
    off = rows["elo_with"] - rows["elo_without"] - 200
    assert (off.abs() < rows["error_with"] + rows["error_without"]).all()
    assert found.largest["third"].iloc[0] == "bot-05"
    [note] = company_note(found)
    assert "bot-00" in note
    assert "--without bot-05" in note


def test_a_third_bot_that_lost_everything_may_be_the_kingmaker():
    """It has no rating, and needs none."""
    seats = np.array([[0, 1, 3], [1, 0, 3], [0, 1, 2], [1, 0, 2], [0, 2, 3], [1, 2, 3]])
    strength = np.where(seats == 0, 2.0 * (seats == 3).any(axis=1, keepdims=True), 0.0)
    strength = np.where(seats == 3, -60.0, strength)
    weights = np.exp(strength)
    results = drawn(
        weights / weights.sum(axis=1, keepdims=True), seats, 4, 150, np.random.default_rng(3)
    )
    row = found_in(results).largest.iloc[0]
    assert (row["bot"], row["third"]) == ("bot-00", "bot-03")


def test_one_bot_that_never_loses_in_company_is_found_though_it_has_no_rating_there():
    seats = np.array([[0, 1, 2], [1, 0, 2], [0, 1, 3], [1, 0, 3], [2, 3, 0], [3, 2, 1]])
    chances = np.full((6, 3), 1 / 3)
    chances[:2] = [[1, 0, 0], [0, 1, 0]]
    found = found_in(drawn(chances, seats, 4, 60, np.random.default_rng(8), luck=0.0))
    assert found.clear
    assert "who sits at the table" in company_note(found)[0]


def test_at_tables_of_two_there_is_no_company_and_few_deals_say_nothing():
    rng = np.random.default_rng(1)
    for players, bots, deals in ((2, 4, 20), (4, 5, 1), (3, 4, 2)):
        found = found_in(play(world_of(players, bots), deals, rng).results())
        assert found.clear == 0
        assert company_note(found) == []


def test_bots_that_sit_twice_at_a_table_are_counted_once():
    rng = np.random.default_rng(2)
    seats = np.array([[0, 0, 1], [0, 1, 1], [0, 1, 2], [2, 2, 0], [1, 2, 2]])
    found = found_in(drawn(np.full(seats.shape, 1 / 3), seats, 3, 40, rng))
    assert found.clear == 0


def test_pairs_are_tested_among_the_best_bots_and_every_bot_may_be_the_third():
    rng = np.random.default_rng(6)
    seats = np.array([rng.permutation(30)[:3] for _ in range(800)])
    found = found_in(drawn(np.full(seats.shape, 1 / 3), seats, 30, 60, rng), most=4)
    assert (found.bots, found.all_bots) == (24, 30)
    assert found.tests <= 24 * 23 // 2 * 28


def test_the_order_of_games_and_the_names_of_bots_change_nothing():
    rng = np.random.default_rng(9)
    results = kingmaker(3, 4, 30, rng, elo=150)
    [table] = results.tables
    order = rng.permutation(len(table.cluster))
    turned = 3 - table.seats
    mixed = count_table(turned, table.ranks, table.cluster[order], table.outcome[order])
    one, other = found_in(results), found_in(Results(results.bots[::-1], 30, [mixed]))
    assert one.table["p"].to_numpy() == pytest.approx(other.table["p"].to_numpy(), rel=1e-9)
    assert (one.tests, one.clear) == (other.tests, other.clear)
    assert one.clear


def test_with_deals_alike_the_error_is_that_of_a_paired_t_test():
    rng = np.random.default_rng(11)
    values = rng.normal(size=(20, 2))
    means = values.mean(axis=0)
    added = (values - means) / 20
    deals = np.stack([added, np.full((20, 2), 1 / 20)], axis=2)[..., None]
    [error], [freedom] = left_out([deals[:7], deals[7:]], np.ones((2, 1)))
    gaps = values[:, 0] - values[:, 1]
    assert error == pytest.approx(gaps.std(ddof=1) / np.sqrt(20))
    assert freedom == pytest.approx(19)


def test_one_deal_that_decides_all_gives_no_answer():
    deals = np.zeros((5, 2, 2, 1))
    deals[:, 0, 1], deals[0, 1, 1] = 0.2, 1.0
    error, freedom = left_out([deals], np.ones((2, 1)))
    assert freedom[0] == 0
    assert chances(np.array([5.0]), error, freedom)[0] == 1
