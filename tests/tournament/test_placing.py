"""Whose games a league draws next: candidates against benchmarks near them, then neighbours."""

from collections import Counter
from math import inf

import pytest

from arena.tournament.placing import (
    Contenders,
    Rival,
    can_found,
    error_of,
    first_guess,
    information,
)

LADDER = {"b1": -300.0, "b2": -100.0, "b3": 100.0, "b4": 300.0}


def benchmarks(error=15.0):
    return [Rival(bot, is_benchmark=True, elo=elo, error=error) for bot, elo in LADDER.items()]


def field(*others, players=2, has_scale=True):
    made = Contenders(players)
    made.show([*benchmarks(), *others], has_scale=has_scale)
    return made


def drawn(made, draws):
    found = []
    for _ in range(draws):
        found.append(made.next_line_up())
        made.add(found[-1], 8)
    return found


def candidate(bot="new", elo=0.0, **known):
    return Rival(bot, elo=elo, **known)


def test_a_candidate_meets_the_benchmarks_near_its_estimate():
    new = candidate(elo=280.0, error=60.0)
    met = Counter(bot for line_up in drawn(field(new), 12) if "new" in line_up for bot in line_up)
    assert met["new"] == met["b4"] >= 8


def test_a_candidate_between_benchmarks_meets_those_on_both_sides():
    met = {bot for line_up in drawn(field(candidate()), 12) if "new" in line_up for bot in line_up}
    assert met == {"new", "b2", "b3"}


def test_a_benchmark_of_uncertain_strength_does_not_play_a_candidate_alone():
    made = Contenders(2)
    made.show([*benchmarks(error=200.0), candidate(elo=300.0, error=60.0)])
    met = {bot for line_up in drawn(made, 20) if "new" in line_up for bot in line_up}
    assert {"b3", "b4"} <= met


def test_benchmarks_go_on_meeting_while_a_candidate_is_placed():
    line_ups = drawn(field(candidate()), 16)
    among = [line_up for line_up in line_ups if set(line_up) <= set(LADDER)]
    assert 2 <= len(among) <= 6


def test_before_there_is_a_scale_every_second_draw_is_for_it():
    line_ups = drawn(field(candidate(), has_scale=False), 16)
    assert sum(set(line_up) <= set(LADDER) for line_up in line_ups) == 8


def test_a_candidate_without_games_comes_first_as_it_may_not_even_start():
    made = field(candidate("old", error=60.0), candidate("new"))
    made.add(("b1", "old"), 80)
    assert "new" in made.next_line_up()


def test_candidates_are_placed_in_the_order_of_joining_however_fast_others_come():
    made = field(candidate("old", error=60.0), candidate("new"))
    made.add(("b1", "old"), 80)
    made.add(("b1", "new"), 8)
    met = Counter(bot for line_up in drawn(made, 16) for bot in line_up)
    assert met["old"] == 12
    assert met["new"] == 0


def test_authors_take_turns_in_having_a_bot_placed():
    turns = {"a2": "2026-11-24T10:00:00Z", "a3": "2026-11-24T10:00:00Z", "c1": ""}
    made = field(*(candidate(bot, error=60.0, turn=turn) for bot, turn in turns.items()))
    for bot in turns:
        made.add(("b2", bot), 8)
    assert {bot for line_up in drawn(made, 8) for bot in line_up} - {*LADDER} == {"c1"}
    made.rivals["c1"].is_placed = True
    new = {bot for line_up in drawn(made, 8) for bot in line_up} - {*LADDER, "c1"}
    assert new == {"a2"}


def test_a_candidate_whose_first_games_are_out_waits_for_another():
    made = field(candidate("fails", is_seen=False), candidate("works"))
    made.add(("b1", "fails"), 8)
    made.add(("b1", "works"), 40)
    assert "works" in made.next_line_up()


def test_a_new_version_meets_the_one_before_it_once_both_are_placed():
    old = Rival("my@1", is_placed=True, elo=20.0, error=25.0)
    new = Rival("my@2", is_placed=True, elo=40.0, error=25.0, before="my@1")
    line_ups = drawn(field(old, new), 8)
    assert ("my@1", "my@2") in line_ups


def next_version(before="my@1", elo=0.0):
    """A candidate and the version before it, which has been placed at 0 Elo."""
    old = Rival("my@1", is_placed=True, elo=0.0, error=25.0)
    return field(old, candidate("my@2", elo=elo, error=120.0, before=before))


def met_until_placed(made, enough=1 / 25.5**2):
    """Against whom a candidate is drawn until its place is found, and how often. Games with a rival
    tell at most what is known of that.
    """
    met, known = Counter(), 0.0
    while known < enough:
        line_up = drawn(made, 1)[0]
        if "my@2" in line_up:
            met.update(bot for bot in line_up if bot != "my@2")
        known = sum(
            1 / (1 / (8 * draws * information(-made.rivals[bot].elo, 0)) + error**2)
            for bot, draws in met.items()
            for error in [15.0 if bot in LADDER else 25.0]
        )
    return met


def test_a_new_version_meets_the_last_one_while_it_is_placed_and_that_costs_few_games():
    met = met_until_placed(next_version())
    apart = met_until_placed(next_version(before=""))
    assert met["my@1"] >= 0.15 * met.total()
    assert not apart["my@1"]
    assert met.total() <= 1.15 * apart.total()


def test_a_new_version_far_from_the_last_one_leaves_it_to_the_benchmarks():
    made = next_version(elo=400.0)
    made.rivals["my@2"].error = 50.0
    met = Counter(bot for line_up in drawn(made, 20) if "my@2" in line_up for bot in line_up)
    assert not met["my@1"]


def test_a_new_version_does_not_meet_one_that_is_not_placed_itself():
    made = next_version()
    made.rivals["my@1"].is_placed = False
    assert ("my@1", "my@2") not in drawn(made, 30)


def test_neighbours_in_the_ranking_meet_and_bots_far_apart_do_not():
    placed = [Rival(f"p{n}", is_placed=True, elo=30.0 * n, error=20.0) for n in range(10)]
    line_ups = drawn(field(*placed), 40)
    elos = {rival.bot: rival.elo for rival in [*benchmarks(), *placed]}
    among = [line_up for line_up in line_ups if not set(line_up) <= set(LADDER)]
    assert max(abs(elos[one] - elos[other]) for one, other in among) <= 250


def test_two_equals_do_not_play_each_other_for_ever():
    placed = [Rival(f"p{n}", is_placed=True, elo=60.0 * n, error=15.0) for n in range(4)]
    placed[1].elo = placed[0].elo
    made = field(*placed)
    met = Counter()
    for _ in range(40):
        made.show([*benchmarks(), *placed])  # a look finds that nothing has become clearer
        met[made.next_line_up()] += 1
        made.add(made.next_line_up(), 8)
    assert len(met) > 6
    assert max(met.values()) <= 16


@pytest.mark.parametrize("players", [3, 4])
def test_at_larger_tables_a_candidate_sits_with_benchmarks(players):
    made = field(candidate(), Rival("p", is_placed=True), players=players)
    line_up = next(each for each in drawn(made, 8) if "new" in each)
    assert len(set(line_up)) == players
    assert set(line_up) - {"new"} <= set(LADDER)


def test_nobody_is_drawn_where_too_few_play():
    made = Contenders(2)
    made.show([candidate()])
    assert made.next_line_up() is None


def test_without_benchmarks_candidates_meet_each_other():
    made = Contenders(2)
    made.show([candidate("a"), candidate("b"), candidate("c")])
    assert len(set(made.next_line_up())) == 2


def test_the_same_results_draw_the_same_games():
    def twice():
        return field(candidate("a"), candidate("b", elo=90.0), Rival("p", is_placed=True))

    assert drawn(twice(), 30) == drawn(twice(), 30)


def test_games_between_equals_tell_most_and_uncertainty_takes_from_that():
    assert information(0, 0) > information(200, 0) > information(400, 0)
    assert information(0, 0) > information(0, 200)
    # far apart by the estimate, perhaps equals in truth
    assert information(600, 300) > information(600, 0)


def test_a_next_version_is_guessed_to_be_as_good_as_the_last_one():
    elo, error = first_guess({"my@1": 250.0, "b": -50.0}, "my@1")
    assert elo == 250.0
    assert error < first_guess({"my@1": 250.0, "b": -50.0}, "")[1]


def test_one_benchmark_that_holds_the_scale_alone_has_an_error_to_draw_by():
    made = Contenders(2)
    made.show([Rival("b", is_benchmark=True, error=error_of(0.0, 40)), candidate()])
    assert drawn(made, 3) == [("b", "new")] * 3


@pytest.mark.parametrize(
    ("benchmarks", "begins"),
    [
        ([], False),
        ([(60.0, 80), (69.0, 40)], True),
        ([(60.0, 80), (69.0, 39)], False),
        ([(60.0, 80), (90.0, 40)], False),
        ([(90.0, 150), (100.0, 150)], True),
        ([(40.0, 80), (50.0, 80), (300.0, 40)], True),
        ([(40.0, 80), (inf, 40)], True),
        ([(inf, 150), (inf, 40)], False),
        ([(inf, 150), (inf, 150)], True),
    ],
)
def test_the_scale_begins_when_the_benchmarks_that_matter_are_known(benchmarks, begins):
    assert can_found(benchmarks) == begins
