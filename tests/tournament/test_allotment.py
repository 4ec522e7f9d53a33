"""Who gets more deals, and that ids and games are those of any other run."""

import msgspec
import pytest

from arena.errors import ConfigError
from arena.players.folder import Bot
from arena.players.manifest import Manifest
from arena.records.runfile import RunInfo
from arena.rules.boards import built_in
from arena.tournament.allotment import fix_allotment, next_allotment
from arena.tournament.config import describe_run, make_config
from arena.tournament.differences import differences
from arena.tournament.schedule import Schedule
from arena.tournament.session import completeness, schedule_of


def config(**settings):
    return make_config({"bots": ["ann", "bob", "cy"], "seed": "s", **settings})


def grown(settings, promises=None):
    return next_allotment(settings, promises or dict.fromkeys(settings.allotted, 1.0))


def with_deals(settings, **deals):
    return msgspec.structs.replace(
        settings, allotted={name.replace("_", "+"): count for name, count in deals.items()}
    )


def test_other_runs_allot_nothing():
    assert fix_allotment(config(), None) == config()


@pytest.mark.parametrize(("deals", "first"), [(1000, 10), (20, 10), (10, 5), (3, 2), (1, 1)])
def test_every_line_up_starts_with_the_same_few_deals(deals, first):
    settings = fix_allotment(config(until=20, deals=deals), None)
    assert settings.allotted == {"ann+bob": first, "ann+cy": first, "bob+cy": first}
    assert len(Schedule(settings)) == 3 * first * 2


def test_without_a_width_half_of_the_deals_go_to_all_alike():
    assert set(fix_allotment(config(adaptive=True, deals=61), None).allotted.values()) == {31}


def test_without_adaptive_all_get_the_same_up_to_the_deals():
    settings = fix_allotment(config(until=20, deals=25), None)
    for expected in (20, 25):
        settings = msgspec.structs.replace(settings, allotted=grown(settings))
        assert set(settings.allotted.values()) == {expected}
    assert grown(settings) is None


def test_line_ups_that_came_later_catch_up_first():
    settings = with_deals(config(until=20, deals=100), ann_bob=60, ann_cy=10, bob_cy=10)
    assert grown(settings) == {"ann+bob": 60, "ann+cy": 20, "bob+cy": 20}


def test_adaptive_gives_to_those_that_promise_at_least_half_of_the_best():
    settings = with_deals(config(adaptive=True, deals=200), ann_bob=150, ann_cy=20, bob_cy=20)
    assert grown(settings, {"ann+bob": 4.0, "ann+cy": 2.0, "bob+cy": 1.9}) == {
        "ann+bob": 165,
        "ann+cy": 30,
        "bob+cy": 20,
    }


def test_adaptive_spends_all_deals_but_no_more():
    settings = with_deals(config(adaptive=True, deals=10), ann_bob=19, ann_cy=5, bob_cy=5)
    assert grown(settings, {"ann+bob": 2.0, "ann+cy": 2.1, "bob+cy": 0.1}) == {
        "ann+bob": 19,
        "ann+cy": 6,
        "bob+cy": 5,
    }
    assert grown(with_deals(settings, ann_bob=20, ann_cy=5, bob_cy=5)) is None


def test_games_are_those_of_a_run_that_has_as_many_deals():
    settings = with_deals(
        config(adaptive=True, boards=["bird", "lion"]), ann_bob=25, ann_cy=3, bob_cy=0
    )
    plans = list(Schedule(settings))
    everything = {plan.id: plan for plan in Schedule(config(boards=["bird", "lion"], deals=25))}
    assert len(plans) == len(Schedule(settings)) == 28 * 2 * 2
    assert all(everything[plan.id] == plan for plan in plans)
    assert Schedule(settings).has_block("lion/ann+bob", 24)
    assert not Schedule(settings).has_block("lion/ann+cy", 3)


def test_line_ups_by_the_million_are_not_weighed_one_by_one():
    with pytest.raises(
        ConfigError,
        match="expected at most 20,000 line-ups with --until or --adaptive, got 1,581,580",
    ) as caught:
        fix_allotment(
            config(until=20, players=4, bots=[f"b{number}" for number in range(80)]), None
        )
    assert "--tables 2000" in caught.value.hint


def test_what_a_run_allotted_is_kept_and_growth_unsettles_it():
    known = msgspec.structs.replace(
        with_deals(config(until=20, deals=50), ann_bob=30, ann_cy=30, bob_cy=30), settled=30
    )
    assert fix_allotment(config(until=20, deals=50), known) == known
    for growth in ({"until": 10}, {"deals": 60}):
        again = fix_allotment(config(**{"until": 20, "deals": 50, **growth}), known)
        assert (again.allotted, again.settled) == (known.allotted, None)
    wider = fix_allotment(config(until=20, deals=50, bots=["ann", "bob", "cy", "dee"]), known)
    assert (wider.allotted["ann+bob"], wider.allotted["ann+dee"], wider.settled) == (30, 10, None)


def info(**settings):
    made = fix_allotment(config(**settings), None)
    bots = [Bot(name, Manifest(name=name, command=["x"]), None, "1" * 64) for name in made.bots]
    return describe_run(made, {"bird": built_in("bird")}, bots, sandbox="none", started="")


def test_a_run_may_get_more_precise_but_not_less_and_not_of_another_kind():
    assert differences(info(until=20), info(until=10)) == []
    assert differences(info(until=20), info(until=30)) == [
        "until: the run has 20, asked for 30; a run can only be extended"
    ]
    assert differences(info(), info(until=30)) == ["until: the run has none, asked for 30.0"]
    assert differences(info(until=30), info(until=30, adaptive=True)) == [
        "adaptive: the run has none, asked for True"
    ]


def test_a_run_from_before_these_settings_goes_on():
    known = info()
    old = {
        key: value
        for key, value in known.config.items()
        if key not in ("until", "adaptive", "allotted", "settled", "compare")
    }
    assert differences(msgspec.structs.replace(known, config=old), known) == []


def test_until_it_is_settled_the_plan_is_the_most_there_can_be():
    known = info(until=20, deals=50)
    first = RunInfo(**{name: getattr(known, name) for name in known.__struct_fields__})
    assert completeness(schedule_of(first), {})[:2] == (3 * 50 * 2, 3 * 50 * 2)
    done = msgspec.structs.replace(first, config={**first.config, "settled": 10})
    assert completeness(schedule_of(done), {})[:2] == (3 * 10 * 2, 3 * 10 * 2)


def test_until_is_above_nothing():
    with pytest.raises(ConfigError, match="until"):
        config(until=0)
