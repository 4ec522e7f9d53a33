"""What dependence within a deal is worth, and anchors."""

import numpy as np
import pytest

from arena.errors import UserError
from arena.exports.files import csv_text, standings_object
from arena.exports.footer import rough
from arena.ratings.model import rate
from arena.ratings.tables import make_tables
from tests.ratings.synthetic import count_results, counts_of, duel, frame_of, standings_text
from tests.support.wording import lines_with


def opposed(deals, seed):
    """Pairs of games with seats swapped of which the first seat mostly wins both, so that a deal
    says little of chance and much of bots.
    """
    rng = np.random.default_rng(seed)
    games = []
    for deal in range(deals):
        lucky = int(rng.integers(2))
        for seated in (("a", "b"), ("b", "a")):
            winner = lucky if rng.random() < 0.9 else 1 - lucky
            games.append((deal, seated, (1, 0) if winner == 0 else (0, 1)))
    return games


def gain_of(games):
    [fit] = rate(count_results(frame_of(games))).fits
    return fit.gain


def test_games_of_a_deal_that_go_opposite_ways_are_worth_more_and_equal_ones_half():
    """Two results that correlate by -0.64 are worth 1 / (1 - 0.64) each."""
    assert gain_of(opposed(2000, 1)) == pytest.approx(1 / 0.36, rel=0.1)
    assert gain_of(duel(60, 40)) == pytest.approx(0.5, rel=0.02)


def test_games_that_share_no_luck_are_worth_themselves():
    games = [(number, seated, shares) for number, (_, seated, shares) in enumerate(opposed(100, 2))]
    assert gain_of(games) == 1


def test_the_gain_is_that_of_the_differences_of_two_ratings():
    """By its definition: the mean variance of all differences, each game for itself, over that by
    deal.
    """
    games = (
        opposed(60, 3)
        + [(deal, ("a", "c"), (1, 0) if deal % 3 else (0, 1)) for deal in range(60)] * 2
    )
    apart = [(number, seated, shares) for number, (_, seated, shares) in enumerate(games)]
    [clustered], [independent] = (
        rate(count_results(frame_of(games))).fits,
        rate(count_results(frame_of(apart))).fits,
    )
    upper = np.triu_indices(3, 1)
    variances = [(fit.difference_error()[upper] ** 2).mean() for fit in (independent, clustered)]
    assert clustered.gain == pytest.approx(variances[0] / variances[1], rel=1e-9)


def test_text_and_json_say_how_many_independent_games_it_would_take():
    tables = make_tables(counts_of(opposed(200, 4)))
    worth = tables.independent_games
    assert worth == pytest.approx(400 * gain_of(opposed(200, 4)))
    about = rough(worth)
    assert abs(about / worth - 1) <= 0.1
    assert f"\n400 games are worth about {about:,} independent games" in standings_text(tables)
    assert standings_object(tables, pairs=False)["independent_games"] == round(worth, 1)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.4, 1), (54, 50), (678, 700), (1060, 1000), (1290, 1200), (2060, 2000), (4700, 4500)],
)
def test_the_number_of_independent_games_has_the_digits_that_are_known(value, shown):
    assert rough(value) == shown


@pytest.mark.parametrize(
    "games",
    [
        duel(5, 4),
        duel(20, 0),
        duel(0, 0, 20),
        [(0, ("a", "b"), (1, 0)), (0, ("b", "a"), (1, 0)), (0, ("a", "b"), (0, 1))],
    ],
    ids=["few deals", "no rated group", "all draws", "one deal"],
)
def test_where_it_cannot_be_said_nothing_is(games):
    tables = make_tables(counts_of(games))
    assert tables.independent_games is None
    assert "are worth" not in standings_text(tables)
    assert standings_object(tables, pairs=False)["independent_games"] is None


def test_components_and_idle_bots_are_counted_each_for_itself():
    tables = make_tables(counts_of(duel(12, 8) + duel(13, 7, names=("x", "y")), bots=["idle"]))
    assert tables.independent_games == pytest.approx(40, rel=0.05)
    assert list(tables.covariance.columns) == ["a", "b", "x", "y"]
    assert np.isnan(tables.covariance.loc["a", "x"])


def three():
    rng = np.random.default_rng(6)
    games = []
    for deal in range(80):
        for one, other, chance in (("a", "b", 0.6), ("b", "c", 0.6), ("a", "c", 0.7)):
            for seated in ((one, other), (other, one)):
                wins = rng.random() < chance
                games.append((deal, seated, (1, 0) if wins == (seated[0] == one) else (0, 1)))
    return games


def test_an_anchor_decides_the_level_and_nothing_else():
    free, held = (
        make_tables(counts_of(three())),
        make_tables(counts_of(three()), anchors={"b": 1500}),
    )
    assert csv_text(free.pairs) == csv_text(held.pairs)
    assert csv_text(free.seats) == csv_text(held.seats)
    same = ["rank", "rank_low", "rank_high", "bot", "los", "games", "win_rate"]
    assert csv_text(free.standings, same) == csv_text(held.standings, same)
    one, other = free.standings.set_index("bot"), held.standings.set_index("bot")
    assert other.loc["b", ["elo", "elo_low", "elo_high"]].tolist() == [1500] * 3
    assert (other["elo"] - one["elo"]).to_numpy() == pytest.approx([1500 - one.loc["b", "elo"]] * 3)


def test_with_an_anchor_errors_are_those_of_the_distance_from_it(snapshot):
    held = make_tables(counts_of(three()), anchors={"b": 1500})
    pairs = held.pairs.set_index(["bot", "opponent"])
    row = held.standings.set_index("bot").loc["a"]
    assert row["elo_high"] - row["elo_low"] == pytest.approx(
        pairs.loc[("a", "b"), "elo_high"] - pairs.loc[("a", "b"), "elo_low"]
    )
    assert held.independent_games == make_tables(counts_of(three())).independent_games
    assert lines_with(standings_text(held), "1500 Elo") == snapshot
    assert standings_object(held, pairs=False)["anchors"] == {"b": 1500}
    assert not any("error of 0" in note for note in held.notes)


def test_each_group_that_never_met_the_others_has_an_anchor_of_its_own(refused):
    games = duel(12, 8) + duel(13, 7, names=("x", "y"))
    table = make_tables(counts_of(games), anchors={"b": 1000, "y": 2000}).standings.set_index("bot")
    assert table.loc[["b", "y"], "elo"].tolist() == [1000, 2000]
    with refused(UserError):
        make_tables(counts_of(games), anchors={"a": 1, "b": 2})


def test_an_anchor_that_is_not_there_or_never_played_is_refused(refused):
    with refused(UserError):
        make_tables(counts_of(duel(5, 5)), anchors={"z": 0})
    with refused(UserError):
        make_tables(counts_of(duel(5, 5), bots=["idle"]), anchors={"idle": 0})
