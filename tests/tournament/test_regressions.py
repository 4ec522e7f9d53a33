"""Which versions of a league are due for a regression test."""

import pytest

from arena.records.league import (
    Joined,
    League,
    PlaceFound,
    RegressionBegun,
    RegressionRule,
    StatusChanged,
)
from arena.tournament.placing import Contenders, Rival
from arena.tournament.regressions import due_regressions

WHEN = "2026-11-22T12:00:00Z"


def league_of(versions, every=2, **gains):
    """A league with placed versions ``my@1``, ``my@2`` ...; ``gains`` at placing by label, each
    known to 30 Elo.
    """
    league = League()
    if every is not None:
        league.add(RegressionRule(every, 400, WHEN, "me"))
    for number in range(1, versions + 1):
        bot = f"my@{number}"
        league.add(Joined(bot, "candidate", WHEN))
        gain = gains.get(f"my{number}", 10.0)
        league.add(PlaceFound(bot, WHEN, 0.0, 45.0, 200, gain, 30.0))
    return league


def due(league):
    return [*due_regressions(league)]


@pytest.mark.parametrize("versions", [1, 2])
def test_no_test_is_due_before_so_many_versions_are_accepted(versions):
    assert due(league_of(versions)) == []


def test_the_newest_version_is_tested_against_the_one_so_many_back():
    assert due(league_of(3)) == [("my@3", "my@1")]
    assert due(league_of(9)) == [("my@9", "my@7")], "of a league that gets the rule late"


@pytest.mark.parametrize("every", [None, 0])
def test_without_a_rule_nothing_is_tested(every):
    assert due(league_of(9, every)) == []


def test_the_next_test_is_due_so_many_versions_after_the_last():
    league = league_of(4)
    league.add(RegressionBegun("my@3", "my@1", 400, WHEN))
    assert due(league) == []
    league = league_of(5)
    league.add(RegressionBegun("my@3", "my@1", 400, WHEN))
    assert due(league) == [("my@5", "my@3")]


def test_who_is_clearly_worse_set_aside_withdrawn_or_not_placed_is_not_accepted():
    league = league_of(5, my2=-40.0)
    assert due(league) == [("my@5", "my@3")]
    for bot, status in (("my@3", "aside"), ("my@4", "withdrawn")):
        league.add(StatusChanged(bot, status, WHEN, "me"))
    assert due(league) == [], "my@1 and my@5 are left"
    league.add(Joined("my@6", "candidate", WHEN))
    assert due(league) == [], "my@6 is not placed"
    league.add(Joined("my@7", "benchmark", WHEN))
    assert due(league) == [("my@7", "my@1")], "a benchmark need not be placed"


def test_a_retired_version_may_be_the_old_one():
    league = league_of(3)
    league.add(StatusChanged("my@1", "retired", WHEN, "me"))
    assert due(league) == [("my@3", "my@1")]


@pytest.mark.parametrize(("players", "others"), [(2, []), (3, ["near"]), (4, ["far", "near"])])
def test_other_seats_of_a_test_go_to_bots_of_similar_strength(players, others):
    field = Contenders(players)
    elos = {"new": 100.0, "near": 120.0, "far": 300.0, "farthest": -400.0}
    field.show([Rival(bot, elo=elo) for bot, elo in elos.items()])
    assert field.line_up_with("new", "retired") == tuple(sorted(["new", "retired", *others]))


def test_too_few_bots_for_a_table_play_no_test():
    field = Contenders(4)
    field.show([Rival("new"), Rival("other")])
    assert field.line_up_with("new", "retired") is None
