"""Two bots compared: which games they play, and that what is decided does not depend on the order
in which games end.
"""

import random

import msgspec
import pytest

from arena.errors import ConfigError
from arena.players.folder import Bot
from arena.players.manifest import Manifest
from arena.records.record import VERSION, GameRecord
from arena.rules.boards import built_in
from arena.tournament.consistency import config_of, make_config
from arena.tournament.differences import differences
from arena.tournament.next_games import Block, ComparedGames, deals_for, planned_games
from arena.tournament.runs import completeness, describe_run
from arena.tournament.schedule import Schedule, opponents


def config(pool=(), **settings):
    return make_config(
        {
            "bots": ["new", "old", *pool],
            "seed": "s",
            "compare": {"new": "new", "old": "old"},
            **settings,
        }
    )


def record_of(plan, ranks):
    return GameRecord(
        VERSION,
        plan.id,
        plan.board,
        plan.deal,
        plan.seating,
        list(plan.bots),
        plan.deck,
        [],
        [0] * len(ranks),
        list(ranks),
        "last pagoda",
        [],
        [1.0] * len(ranks),
        [1.0] * len(ranks),
        40,
        "none",
        "",
        "",
    )


def results_of(schedule, seed=1):
    """A record for every game, with any results."""
    rng = random.Random(seed)
    return [
        record_of(plan, [rng.choice([1, 1, 2]) for _ in plan.bots[1:]] + [1]) for plan in schedule
    ]


def blocks_of(schedule, records, judge=lambda blocks: False):
    rounds = []

    def keep(blocks):
        rounds.append(blocks)
        return judge(blocks)

    games = ComparedGames(schedule, keep)
    for record in records:
        games.count(record)
    return rounds, games


def test_two_play_each_other_in_swapped_seats():
    schedule = Schedule(config(deals=3))
    assert {plan.seating: plan.bots for plan in schedule if plan.deal == 1} == {
        0: ("new", "old"),
        1: ("old", "new"),
    }
    assert {plan.id for plan in schedule} == {
        f"bird/new+old/{deal}/{seating}" for deal in range(3) for seating in range(2)
    }


@pytest.mark.parametrize("players", [2, 3, 4])
def test_with_a_pool_only_the_candidate_differs(players):
    """The names sort between those of the opponents, so that the
    line-ups' own order would not do.
    """
    pool = ["aa", "nm", "oo", "zz"]
    schedule = Schedule(config(pool, players=players, deals=12, boards=["bird", "lion"]))
    games = {}
    for plan in schedule:
        games.setdefault((plan.board, plan.deal, plan.seating), []).append(plan)
    assert len(games) == 12 * players * 2
    for pair in games.values():
        new, old = sorted(pair, key=lambda plan: "old" in plan.bots)
        assert (new.deck, new.seeds) == (old.deck, old.seeds)
        assert new.id != old.id
        assert tuple("old" if bot == "new" else bot for bot in new.bots) == old.bots
    for deal in range(12):
        assert {
            plan.bots.index("new") for plan in schedule if plan.deal == deal and "new" in plan.bots
        } == set(range(players))


def test_sets_of_opponents_take_turns():
    schedule = Schedule(config(["a", "b", "c"], deals=7))
    met = [
        {bot for plan in schedule if plan.deal == deal for bot in plan.bots} - {"new", "old"}
        for deal in range(7)
    ]
    assert met == [{"a"}, {"b"}, {"c"}, {"a"}, {"b"}, {"c"}, {"a"}]
    assert schedule.games == len(list(schedule)) == 7 * 2 * 2


def test_a_large_pool_is_met_in_some_sets_that_hold_everybody():
    settings = config([f"b{number:02}" for number in range(30)], players=4)
    groups = opponents(settings)
    assert len(groups) == 12
    assert len({bot for group in groups for bot in group}) == 30
    assert deals_for(settings, 13) == 24


def test_blocks_say_what_both_got():
    schedule = Schedule(config(deals=1))
    swapped = [record_of(plan, (1, 2)) for plan in schedule]
    assert blocks_of(schedule, swapped)[0] == [[Block(0.5, 0.5, 0)]]
    won = [record_of(plan, (1, 1) if plan.seating else (1, 2)) for plan in schedule]
    assert blocks_of(schedule, won)[0] == [[Block(0.75, 0.25, 0)]]
    schedule = Schedule(config(["a", "b"], players=3, deals=1))
    third = [
        record_of(
            plan,
            [1, 1, 1] if "new" in plan.bots else [1 if bot == "old" else 2 for bot in plan.bots],
        )
        for plan in schedule
    ]
    assert blocks_of(schedule, third)[0] == [[Block(1 / 3, 1, 0)]]


@pytest.mark.parametrize(("pool", "players"), [((), 2), (("a", "b", "c"), 2), (("a", "b", "c"), 3)])
def test_blocks_and_where_it_ends_do_not_depend_on_the_order_of_the_games(pool, players):
    schedule = Schedule(config(pool, players=players, deals=12, boards=["bird", "lion"]))
    records = results_of(schedule)

    def judge(blocks):
        return blocks[0].new > 0.6

    expected, gathered = blocks_of(schedule, records, judge)
    assert gathered.round_size == len(expected[0])
    for seed in range(20):
        random.Random(seed).shuffle(records)
        rounds, again = blocks_of(schedule, records, judge)
        assert (rounds, again.settled) == (expected, gathered.settled)


def test_a_block_that_lacks_a_game_holds_up_those_after_it():
    schedule = Schedule(config(deals=4))
    records = [record for record in results_of(schedule) if record.id != "bird/new+old/1/1"]
    assert len(blocks_of(schedule, records)[0]) == 1


def test_a_comparison_is_over_once_it_is_settled_though_games_are_out():
    schedule = Schedule(config(deals=4))
    _, compared = blocks_of(schedule, [], lambda blocks: True)
    games = compared.games(planned_games(schedule, [], lambda: 2))
    first, ahead = games.issue(1), games.issue(1)
    for plan in first:
        games.ended(record_of(plan, (1, 2)))
    assert not games.is_over
    for plan in games.issue(1):
        games.ended(record_of(plan, (1, 2)))
    assert (ahead[0].deal, compared.settled, games.is_over) == (1, 1, True)


def test_a_comparison_is_over_when_a_block_cannot_be_completed():
    schedule = Schedule(config(deals=4))
    _, compared = blocks_of(schedule, [])
    games = compared.games(planned_games(schedule, [], lambda: 2))
    [plan] = games.issue(1)
    games.requeue([plan])
    assert games.issue(1) == [plan]
    assert not games.is_over
    games.give_up(plan)
    assert games.is_over


def test_games_beyond_the_last_deal_are_not_looked_at():
    long = Schedule(config(deals=9))
    assert len(blocks_of(Schedule(config(deals=4)), results_of(long))[0]) == 4


def test_a_settled_comparison_is_complete_without_the_deals_after_it():
    settings = msgspec.structs.replace(config(["a", "b"], deals=10), settled=4)
    schedule = Schedule(settings)
    assert {plan.deal for plan in schedule} == {0, 1, 2, 3}
    assert schedule.needs_block("bird/a+new", 2)
    assert not schedule.needs_block("bird/a+new", 4)
    assert schedule.needs_block("bird/a+new", 4, is_cut=False), (
        "it may have been played before the others settled it"
    )
    assert not schedule.needs_block("bird/a+new", 3, is_cut=False), (
        "these opponents have other turns"
    )
    info = info_of(["new", "old", "a", "b"], settings)
    assert completeness(
        Schedule(config_of(info)),
        {(plan.id.rsplit("/", 2)[0], (plan.deal,), (2,)) for plan in schedule},
    ) == (16, 0, 0)


def info_of(names, settings):
    bots = [Bot(name, Manifest(name=name, command=["x"]), None, "1" * 64) for name in names]
    return describe_run(settings, {"bird": built_in("bird")}, bots, sandbox="none", started="")


def test_another_question_or_pool_is_a_difference_and_more_blocks_are_none(snapshot):
    known = info_of(["new", "old", "a"], config(["a"], deals=10))
    assert differences(known, info_of(["new", "old", "a"], config(["a"], deals=20))) == []
    other = config(["a"], compare={"new": "new", "old": "old", "elo1": 20})
    assert differences(known, info_of(["new", "old", "a"], other)) == snapshot
    wider = info_of(["new", "old", "a", "b"], config(["a", "b"]))
    assert differences(known, wider) == snapshot
    league = info_of(["new", "old", "a"], make_config({"bots": ["new", "old", "a"], "seed": "s"}))
    assert [line.partition(":")[0] for line in differences(known, league)] == ["compare"]


@pytest.mark.parametrize(
    "settings",
    [
        {"players": 3, "pool": ["a"]},
        {"players": 4, "pool": ["a", "b"]},
        {"compare": {"new": "new", "old": "old", "elo0": 5, "elo1": 5}},
        {"compare": {"new": "new", "old": "old", "alpha": 0.5}},
    ],
)
def test_a_question_that_cannot_be_put_is_refused(settings, refused):
    with refused(ConfigError):
        config(**settings)


def test_a_tournament_is_no_comparison(refused):
    with refused(ConfigError):
        blocks_of(Schedule(make_config({"bots": ["a", "b"], "seed": "s"})), [])


def test_a_comparison_of_single_seatings_is_refused(refused):
    with refused(ConfigError):
        config(seatings="single")
