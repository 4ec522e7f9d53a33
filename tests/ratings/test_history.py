"""The scale of a league, and what its versions gained: from games drawn by known strengths."""

import numpy as np
import pytest

from arena.exports.history_text import history_text, likely_text
from arena.exports.report.sections import versions
from arena.ratings.history import History, history_table
from arena.ratings.scale import MIN_VARIANCE, frozen_scale, level_on, on_scale
from arena.records.league import Joined, League, LeagueScale, PlaceFound, Scaled, StatusChanged
from tests.ratings.synthetic import fit_of
from tests.tournament.placing_games import World

WHEN = "2026-11-22T12:00:00Z"
STRENGTHS = {"b1@1": -150.0, "b2@1": 0.0, "b3@1": 150.0, "my@1": 20.0, "my@2": 80.0}


def played(blocks, strengths=STRENGTHS, seed=1):
    world = World(strengths, seed)
    bots = list(strengths)
    for number, one in enumerate(bots):
        for other in bots[number + 1 :]:
            for _ in range(blocks):
                world.play(one, other)
    return world.counts()


def league_of(*bots, scale=None, weights=None):
    league = League()
    for bot in bots:
        status = "benchmark" if bot.startswith("b") else "candidate"
        league.add(Joined(bot, status, WHEN))
    if scale:
        league.add(Scaled(WHEN, scale, weights or {}))
    return league


@pytest.fixture(scope="module")
def counts():
    return played(80)


def test_each_version_has_its_rating_and_what_it_gained(counts, snapshot):
    table = history_table(counts, league_of(*STRENGTHS))
    row = table.set_index("version").loc["my@2"]
    assert (row["bot"], row["before"], row["games"]) == ("my", "my@1", 640)
    assert row["gain"] == pytest.approx(60, abs=2 * row["gain_error"])
    assert row["elo_low"] < row["elo"] < row["elo_high"]
    assert table["gain"].notna().sum() == 1
    (sentence,) = History(table).sentences
    assert sentence.startswith("my@2 is +")
    assert sentence == snapshot


def test_the_error_of_a_gain_is_that_of_the_difference_in_the_joint_fit(counts):
    table = history_table(counts, league_of(*STRENGTHS)).set_index("version")
    halves = (table["elo_high"] - table["elo_low"]) / 2
    apart = np.hypot(halves["my@1"], halves["my@2"])
    # both are compared with the same benchmarks, whose luck cancels only in part
    assert 0.5 * apart < table.loc["my@2", "gain_error"] < 1.5 * apart
    later = history_table(played(320), league_of(*STRENGTHS)).set_index("version")
    ratio = table.loc["my@2", "gain_error"] / later.loc["my@2", "gain_error"]
    assert ratio == pytest.approx(2, rel=0.15)


def test_benchmarks_hold_the_scale_with_the_ratings_they_had(counts):
    held = {"b1@1": 850.0, "b2@1": 1000.0, "b3@1": 1150.0}
    table = history_table(counts, league_of(*STRENGTHS, scale=held)).set_index("version")
    for bot, elo in STRENGTHS.items():
        assert table.loc[bot, "elo"] == pytest.approx(1000 + elo, abs=60)


def test_a_benchmark_that_retires_goes_on_holding_the_scale(counts):
    held = {"b1@1": 850.0, "b2@1": 1000.0, "b3@1": 1150.0}
    league = league_of(*STRENGTHS, scale=held)
    before = history_table(counts, league)
    league.add(StatusChanged("b2@1", "retired", WHEN, "me"))
    assert (history_table(counts, league)["elo"] == before["elo"]).all()


def test_newcomers_far_off_do_not_move_the_scale():
    held = {"b1@1": 850.0, "b2@1": 1000.0, "b3@1": 1150.0}
    counts = played(80, {**STRENGTHS, "weak@1": -900.0})
    found = on_scale(counts, [*held], LeagueScale(held), {})
    assert found["my@1"].elo == pytest.approx(1020, abs=60)
    assert found["weak@1"].elo < 700
    assert found["my@1"].error < 60


def test_an_uncertain_benchmark_does_not_make_everybody_uncertain():
    # b9 loses nearly everything: its own rating is known to some 200 Elo
    counts = played(40, {**STRENGTHS, "b9@1": -1200.0})
    without, beside = (
        on_scale(counts, benchmarks, LeagueScale(), {})
        for benchmarks in (["b1@1", "b2@1", "b3@1"], ["b1@1", "b2@1", "b3@1", "b9@1"])
    )
    assert beside["b9@1"].error > 150
    assert beside["my@1"].error < 1.3 * without["my@1"].error


def test_members_without_games_are_in_the_history_without_a_rating(counts):
    league = league_of(*STRENGTHS, "my@3")
    league.add(PlaceFound("my@2", WHEN, 50.0, 45.0, 200))
    table = history_table(counts, league).set_index("version")
    assert table.loc["my@3", "mark"] == "~"
    assert np.isnan(table.loc["my@3", "elo"])
    assert table.loc["my@3", "games"] == 0
    assert table.loc["my@2", "placed_games"] == 200


def test_the_history_of_a_bot_has_its_versions_only(counts):
    history = History(history_table(counts, league_of(*STRENGTHS)))
    assert list(history.of("my").table["version"]) == ["my@1", "my@2"]
    assert list(history.of("my@1").table["version"]) == ["my@1"]


def test_a_scale_that_rests_on_one_benchmark_is_said():
    strengths = {"b1@1": -9000.0, "b2@1": 0.0, "my@1": 20.0}
    counts, scale = played(40, strengths), {"b1@1": -400.0, "b2@1": 0.0}
    history = History(history_table(counts, league_of(*strengths, scale=scale)), LeagueScale(scale))
    text = history_text(history)
    assert "only b2@1 has a rating: the scale rests on it alone" in text
    assert "<: it won nothing from the rated bots" in text
    assert "rests on" not in history_text(history.of("b2"))
    both = {name: strengths[name] for name in ("b2@1", "my@1")}
    held = History(history_table(counts, league_of(*strengths, scale=both)), LeagueScale(both))
    assert "rests on" not in history_text(held)


def test_a_benchmark_weighs_more_the_better_it_is_known_up_to_a_limit():
    names, errors = ["sure", "sure-too", "vague"], [0.01, MIN_VARIANCE**0.5, 2.0]
    level = level_on(names, fit_of([0, 0, 0], errors), (), LeagueScale(dict.fromkeys(names, 0.0)))
    assert level.weights == pytest.approx(np.array([4, 4, 1]) / 9)


FOUNDED = LeagueScale({"b1@1": 850.0, "b2@1": 1000.0, "b3@1": 1150.0})


def test_the_weighted_mean_of_the_founders_stays_where_it_was_however_many_games_follow(counts):
    founded = frozen_scale(counts, [*FOUNDED.elo], LeagueScale())
    assert sum(founded.weights.values()) == pytest.approx(1, abs=1e-5)
    mean = sum(founded.weights[bot] * founded.elo[bot] for bot in founded.elo)
    assert mean == pytest.approx(0, abs=0.1), "before, the benchmarks' mean was 0"
    # b4 has become a benchmark, and one founder plays far more than before
    later = played(80, {**STRENGTHS, "b4@1": 200.0}, seed=2)
    table = on_scale(later, [*FOUNDED.elo, "b4@1"], founded, {})
    now = sum(founded.weights[bot] * table[bot].elo for bot in founded.elo)
    assert now == pytest.approx(mean, abs=0.01)


def test_a_benchmark_that_joins_later_has_no_part_in_the_scale(counts):
    founded = frozen_scale(counts, [*FOUNDED.elo], LeagueScale())
    league = league_of(*STRENGTHS, scale=founded.elo, weights=founded.weights)
    before = history_table(counts, league)["elo"]
    league.add(StatusChanged("my@2", "benchmark", WHEN, "me"))
    league.add(Scaled(WHEN, {"my@2": 500.0}))  # as an earlier version of the arena adds it
    assert league.scale == founded
    assert (history_table(counts, league)["elo"] == before).all()


def test_a_league_of_an_earlier_version_keeps_its_founders_ratings_and_gets_weights(counts):
    old = league_of(*STRENGTHS, scale=FOUNDED.elo)
    frozen = frozen_scale(counts, [*FOUNDED.elo, "my@2"], old.scale)
    assert frozen.elo == FOUNDED.elo
    before = history_table(counts, old)["elo"]
    old.add(Scaled(WHEN, dict(frozen.elo), dict(frozen.weights)))
    after = history_table(counts, old)["elo"]
    assert after.to_numpy() == pytest.approx(before.to_numpy(), abs=0.01)


def test_the_bar_of_a_version_contains_the_error_of_its_link_to_the_founders():
    """b9 has played the founders in few games, and the new version has met only b9."""
    world = World({**STRENGTHS, "b9@1": 60.0, "new@1": 60.0}, 3)
    for one, other in (("b1@1", "b2@1"), ("b2@1", "b3@1"), ("b1@1", "b3@1")):
        for _ in range(200):
            world.play(one, other)
    founded = frozen_scale(world.counts(), [*FOUNDED.elo], LeagueScale())
    for _ in range(20):
        world.play("b2@1", "b9@1")
    for _ in range(400):
        world.play("b9@1", "new@1")
    found = on_scale(world.counts(), [*FOUNDED.elo, "b9@1"], founded, {"new@1": "b9@1"})
    assert found["new@1"].error > found["b9@1"].error > 60
    assert found["new@1"].gain_error < 30


def test_a_benchmark_that_lost_everything_is_no_founder():
    counts = played(40, {"b1@1": -9000.0, "b2@1": 0.0, "b3@1": 50.0})
    assert [*frozen_scale(counts, ["b1@1", "b2@1", "b3@1"], LeagueScale()).elo] == ["b2@1", "b3@1"]
    hopeless = played(40, {"b1@1": -9000.0, "b2@1": 0.0})
    assert frozen_scale(hopeless, ["b1@1", "b2@1"], LeagueScale()) is None


def test_who_leads_without_being_clearly_ahead_is_said_to_be_rated_too_high(counts):
    close = {**STRENGTHS, "b3@1": 80.0}
    history = History(history_table(played(20, close), league_of(*close)))
    assert history.leader in {"b3@1", "my@2"}
    assert f"{history.leader} has " in history_text(history)
    clear = History(history_table(played(80, {**STRENGTHS, "b3@1": 600.0}), league_of(*STRENGTHS)))
    assert clear.leader == ""
    assert "rated too high" not in history_text(clear)


def test_nobody_is_called_rated_too_high_while_too_little_is_known():
    close = {**STRENGTHS, "b3@1": 80.0}
    few = History(history_table(played(2, close), league_of(*close)))
    assert {*few.table["mark"]} != {""}
    assert few.leader == ""


def test_likely_gains_move_towards_the_mean_gain_that_the_text_names(snapshot):
    table = history_table(played(20, STRENGTHS), league_of(*STRENGTHS))
    text = likely_text(History(table, mean_gain=63.2))
    assert text == snapshot
    assert likely_text(History(table)) == snapshot


def test_gains_are_shrunk_once_a_league_has_three():
    strengths = {f"my@{number}": 20.0 * number for number in range(1, 5)}
    few = history_table(
        played(20, {bot: strengths[bot] for bot in [*strengths][:3]}), league_of(*strengths)
    )
    assert few["gain_likely"].isna().all()
    history = History(history_table(played(20, strengths), league_of(*strengths)))
    likely = history.table.set_index("version")["gain_likely"]
    assert likely.notna().sum() == 3
    spread = history.table["gain"].max() - history.table["gain"].min()
    assert likely.max() - likely.min() < spread
    assert f", likely {likely['my@2']:+.0f}" in history.sentences[0]
    assert "Likely: the gain, moved towards" in history_text(history)
    assert versions(history)["has_likely"]
    assert not versions(History(few))["has_likely"]


def test_the_history_fits_a_terminal_of_80_columns():
    strengths = {f"careful-python@{number}": 20.0 * number for number in range(1, 5)}
    history = History(history_table(played(20, strengths), league_of(*strengths)))
    table = history_text(history, 80).split("\n\n")[0].splitlines()
    assert max(map(len, table)) <= 80
    assert "Likely" in table[0]
