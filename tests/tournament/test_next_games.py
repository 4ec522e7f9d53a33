"""Which games are issued when: a deal is in one place at a time, and all bots keep pace."""

import random
from collections import Counter
from types import SimpleNamespace

import pytest

from arena.tournament.batches import FIRST_BATCH
from arena.tournament.consistency import make_config
from arena.tournament.lineups import fix_line_ups
from arena.tournament.next_games import (
    MAX_DEALS_AT_ONCE,
    ComparedGames,
    Games,
    as_drawn,
    in_rounds,
    planned_games,
)
from arena.tournament.schedule import Schedule

AHEAD = 2


def schedule(**settings):
    found = make_config({"bots": ["a", "b", "c", "d", "e"], "seed": "s", "deals": 12, **settings})
    return Schedule(fix_line_ups(found, None))


def source_of(plan, slots=1, ids=()):
    return Games(planned_games(plan, ids, lambda: slots))


def end(source, batch):
    for plan in batch:
        source.ended(SimpleNamespace(id=plan.id))


def drained(source, slots, room, seed=0):
    """Batches as they are handed out to workers, each with those that are out then; they come back
    in any order.
    """
    out, found, rng = [], [], random.Random(seed)
    while not source.is_over:
        while len(out) < slots * AHEAD and (batch := source.issue(room)):
            found.append((batch, list(out)))
            out.append(batch)
        assert out, "games are left, none is out, and none is issued"
        end(source, out.pop(rng.randrange(len(out))))
    return found


def deals_of(batch):
    return {(plan.board, plan.deal) for plan in batch}


def rounds_of(batch):
    """The games of a batch in parts, each of which has no deal twice."""
    rounds = [[]]
    for plan in batch:
        if plan.deck in {other.deck for other in rounds[-1]}:
            rounds.append([])
        rounds[-1].append(plan)
    return rounds


SETTINGS = [
    {},
    {"players": 3, "seatings": "all", "deals": 3},
    {"players": 4, "boards": ["bird", "lion"], "deals": 5},
    {"match": ["bird", "bird"]},
    {"players": 3, "tables": 4},
    {"challenger": "c", "deals": 40},
    {"compare": {"new": "a", "old": "b"}, "deals": 30},
    {"compare": {"new": "a", "old": "b"}, "bots": ["a", "b"], "deals": 30},
    {"until": 20, "deals": 40, "allotted": 20},
]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize(("slots", "room"), [(1, 10), (2, 3), (8, 500)])
def test_no_deal_is_out_twice_and_every_game_is_issued_once(settings, slots, room):
    plan = schedule(**settings)
    found = drained(source_of(plan, slots), slots, room)
    for batch, out in found:
        assert not deals_of(batch) & {deal for other in out for deal in deals_of(other)}
        assert len({(plan.board, *sorted(plan.bots)) for plan in batch}) == 1
        assert len(batch) <= room
        for games in rounds_of(batch):
            assert len({plan.bots for plan in games}) == 1
    assert Counter(plan.id for batch, _ in found for plan in batch) == Counter(
        game.id for game in plan
    )


@pytest.mark.parametrize("settings", [{"bots": ["a", "b"], "deals": 40}, *SETTINGS])
@pytest.mark.parametrize(("slots", "room"), [(1, 10), (2, 3), (2, 1), (8, 500)])
def test_a_deal_that_ends_with_its_batch_is_never_issued_again(settings, slots, room):
    """So a process that knows the deal can be kept. Some games come back unplayed, in groups."""
    plan = schedule(**settings)
    source, rng, out, ended = source_of(plan, slots), random.Random(1), [], set()
    while not source.is_over:
        while len(out) < slots * AHEAD and (batch := source.issue(room)):
            decks = {game.deck for game in batch}
            assert not decks & ended
            out.append(batch)
        batch = out.pop(rng.randrange(len(out)))
        played = batch[: rng.randint(1, len(batch))]
        end(source, played)
        if unplayed := batch[len(played) :]:
            source.requeue(unplayed)
        ended |= {game.deck for game in batch if game.ends_deal} - {game.deck for game in unplayed}
    assert bool(ended) == (len(plan.line_ups) == 1 or plan.config.has_own_decks)


def test_a_batch_of_a_deal_that_others_play_too_has_one_seating():
    assert all(len(rounds_of(batch)) == 1 for batch, _ in drained(source_of(schedule()), 1, 10))


@pytest.mark.parametrize(("players", "which", "rounds"), [(2, "rotations", 2), (4, "all", 1)])
def test_a_batch_has_a_round_for_each_seating_unless_there_are_many(players, which, rounds):
    bots = ["a", "b", "c", "d"][:players]
    plan = schedule(bots=bots, players=players, seatings=which, deals=40)
    batches = [batch for batch, _ in drained(source_of(plan), 1, 10)]
    assert {len(rounds_of(batch)) for batch in batches} == {rounds}


@pytest.mark.parametrize("slots", [1, 4])
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("settings", [{}, {"tables": 5}, {"boards": ["bird", "lion"]}])
def test_whenever_a_run_is_stopped_all_bots_have_played_about_equally_often(
    players, slots, settings
):
    """At most a few blocks for each batch that may be out; later, a part of what they have."""
    plan = schedule(players=players, deals=40, **settings)
    found = drained(source_of(plan, slots), slots, 10)
    games = Counter(dict.fromkeys(plan.config.bots, 0))
    for batch, _ in found:
        games.update(bot for game in batch for bot in game.bots)
        apart = max(games.values()) - min(games.values())
        assert apart <= players * len(plan.seatings) * AHEAD * slots + min(games.values())
    assert len(set(games.values())) == 1 or "tables" in settings


def test_after_a_few_games_every_bot_has_one():
    plan = schedule(bots=[f"b{number}" for number in range(10)], deals=20)
    found = drained(source_of(plan, 2), 2, 10)
    first = [game for batch, _ in found for game in batch][:31]
    assert {bot for game in first for bot in game.bots} == set(plan.config.bots)


@pytest.mark.parametrize(
    ("slots", "deals", "sizes"),
    [(1, 100, [9, 9, 9, 13, 20, 20, 20]), (2, 10, [5, 5]), (8, 40, [5, 5, 5, 5, 5, 5, 5, 5])],
)
def test_chunks_grow_with_what_was_played_and_leave_games_for_all_workers(slots, deals, sizes):
    plan = schedule(bots=["a", "b"], deals=deals)
    found = [batch for batch, _ in drained(source_of(plan, slots), slots, 500)]
    chunks = Counter()
    for batch in found:
        chunks[min(game.deal for game in batch)] = len(deals_of(batch))
    assert [chunks[first] for first in sorted(chunks)] == sizes


def test_a_run_of_20_games_between_two_bots_has_a_batch_of_whole_deals_for_each_worker():
    found = drained(source_of(schedule(bots=["a", "b"], deals=10), 2), 2, FIRST_BATCH)
    assert [len(batch) for batch, _ in found] == [10, 10]
    assert [len(deals_of(batch)) for batch, _ in found] == [5, 5]


def test_all_workers_have_games_as_long_as_there_are_deals():
    found = drained(source_of(schedule(deals=100), 4), 4, 10)
    assert sum(len(out) == 4 * AHEAD - 1 for _, out in found) > len(found) * 0.7
    idle = drained(source_of(schedule(deals=1), 4), 4, 10)
    assert all(not out for _, out in idle)
    assert schedule(deals=1).most_places == 1
    assert schedule(deals=3, boards=["bird", "lion"]).most_places == 6


def test_single_seatings_and_built_in_bots_share_no_deal_so_nothing_waits():
    for settings in ({"seatings": "single"}, {"in_process": True}):
        plan = schedule(deals=1, bots=["random", "greedy", "careful"], **settings)
        assert plan.most_places > 64
        found = drained(source_of(plan, 2), 2, 1)
        assert max(len(out) for _, out in found) == min(4, len(found)) - 1


def test_batches_of_built_in_bots_are_as_long_as_there_is_room():
    plan = schedule(in_process=True, bots=["random", "greedy", "careful"], deals=10)
    source = source_of(plan)
    assert [len(source.issue(50)) for _ in range(3)] == [50, 10, 0]
    assert not source.is_over


def test_a_slow_batch_is_cut_and_its_rest_goes_elsewhere():
    plan = schedule(bots=["a", "b"], deals=100)
    source = source_of(plan)
    for _ in range(4):
        end(source, source.issue(40))
    of_twenty_deals = source.issue(40)
    assert len(deals_of(of_twenty_deals)) == 20
    end(source, of_twenty_deals)
    first, rest = source.issue(5), source.issue(40)
    assert len(first) == 4, "whole deals"
    assert len(first + rest) == 10, "a chunk has as many deals as the first batch may have games"
    assert not deals_of(first) & deals_of(rest)


def test_where_a_batch_may_not_have_a_whole_deal_its_seatings_come_one_after_the_other():
    source = source_of(schedule(bots=["a", "b"], deals=1))
    [first] = source.issue(1)
    assert not first.ends_deal
    end(source, [first])
    [second] = source.issue(1)
    assert second.ends_deal


def test_games_that_were_played_before_are_not_issued():
    plan = schedule()
    every = [game.id for game in plan]
    played = set(random.Random(3).sample(every, 200))
    found = drained(source_of(plan, 2, played), 2, 10)
    assert sorted(game.id for batch, _ in found for game in batch) == sorted(set(every) - played)
    assert source_of(plan, 2, every).is_over


def test_a_game_that_was_given_back_waits_until_its_deal_is_free():
    source = source_of(schedule(bots=["a", "b"], deals=1))
    [first] = source.issue(1)
    assert source.issue(5) == []
    source.requeue([first])
    assert source.issue(5) == [first]
    source.requeue([first])
    [again] = source.issue(5)
    source.ended(SimpleNamespace(id=again.id))
    [second] = source.issue(5)
    source.requeue([second])
    assert not source.is_over
    end(source, source.issue(5))
    assert source.is_over


def test_a_deal_is_free_when_the_last_of_its_games_in_flight_has_ended():
    """As after the death of a worker: the games of its batch come back one by one."""
    source = source_of(schedule(bots=["a", "b", "c"], players=3, deals=1))
    first, second = source.issue(2)
    end(source, [first])
    assert source.issue(2) == []
    end(source, [first])
    assert source.issue(2) == [], "a game that comes back twice frees its deal once"
    end(source, [second])
    [third] = source.issue(2)
    assert third.deck == first.deck


def test_slow_games_are_on_all_deals_of_a_batch_before_another_batch_is_begun():
    """Slow games are issued one at a time. If the rest of a batch waited for the first of them,
    each worker would begin a batch of its own, and a league would draw as many line-ups.
    """
    plan, draws = schedule(bots=["a", "b"], deals=80), []

    def draw():
        draws.append(len(draws))
        deals = range(4 * draws[-1], 4 * draws[-1] + 4)
        return [[plan.game("bird", ("a", "b"), n, seating) for seating in (0, 1) for n in deals]]

    source = Games(as_drawn([], draw))
    games = [source.issue(1)[0] for _ in range(8)]
    assert [game.deal for game in games] == list(range(8))
    assert len(draws) == 2
    end(source, games[2:3])
    [again] = source.issue(1)
    assert (again.deal, again.seating, len(draws)) == (2, 1, 2)
    assert not any(game.ends_deal for game in games)
    assert again.ends_deal


def test_a_game_that_was_given_up_leaves_a_gap():
    source = source_of(schedule(bots=["a", "b"], deals=1))
    [first] = source.issue(1)
    source.give_up(first)
    assert source.has_gaps
    end(source, source.issue(5))
    assert source.is_over


def test_a_further_round_is_decided_when_all_games_of_the_last_have_ended():
    rounds, played = [2, 1], set()

    def games():
        return planned_games(schedule(deals=rounds.pop()), played, lambda: 1)

    source = Games(in_rounds(games(), lambda: games() if rounds else None))
    for deals in (1, 2):
        assert not source.is_over
        for _ in range(20):
            [plan] = source.issue(10)
            assert plan.deal == deals - 1
            end(source, [plan])
            played.add(plan.id)
    assert source.issue(10) == []
    assert source.is_over


def test_a_round_with_a_gap_is_the_last():
    source = Games(in_rounds(planned_games(schedule(deals=1), [], lambda: 1), pytest.fail))
    [plan] = source.issue(1)
    source.give_up(plan)
    drained(source, 1, 10)
    assert source.is_over


def test_compared_blocks_are_played_in_the_order_in_which_they_are_looked_at():
    plan = schedule(compare={"new": "a", "old": "b"}, deals=200)
    compared = ComparedGames(plan, lambda _: False)
    source = compared.games(planned_games(plan, [], lambda: 2))
    issued, ahead = [], 0
    while not source.is_over:
        batch = source.issue(10)
        issued += batch
        for game in batch:
            source.ended(
                SimpleNamespace(
                    id=game.id,
                    board="bird",
                    deal=game.deal,
                    seating=0,
                    bots=game.bots,
                    ranks=[1, 2],
                    faults=[],
                    moves=["Rc4Yd4"],
                )
            )
        done = Counter(game.deal for game in issued)
        complete = next(deal for deal in range(201) if done[deal] < compared.block_size)
        ahead = max(ahead, len(done) - complete)
    assert ahead <= 3 * MAX_DEALS_AT_ONCE
    assert len(issued) == plan.games


def test_games_of_a_bot_that_plays_no_more_are_given_up():
    source = source_of(schedule(bots=["a", "b", "c"], deals=2))
    source.bar("c")
    found = []
    while batch := source.issue(10):
        found += batch
        end(source, batch)
    assert {game.bots for game in found} == {("a", "b"), ("b", "a")}
    assert source.is_over
    assert source.has_gaps


def test_a_league_draws_when_no_batch_can_be_played_and_ends_when_it_is_told_to():
    plan, drawn, ends = schedule(bots=["a", "b"], deals=9), [], []

    def draw():
        drawn.append(len(drawn))
        return [[plan.game("bird", ("a", "b"), len(drawn), seating)] for seating in (0, 1)]

    before = [[plan.game("bird", ("a", "b"), 0, 0)]]
    source = Games(as_drawn(before, draw), ends=lambda _: bool(ends))
    deals = [source.issue(1)[0].deal for _ in range(3)]
    assert deals == [0, 1, 2], "what was drawn before is the first; two games of a deal are apart"
    end(source, [plan.game("bird", ("a", "b"), 1, 0)])
    [second] = source.issue(1)
    assert (second.deal, second.seating, len(drawn)) == (1, 1, 2)
    ends.append(True)
    assert source.issue(1) == []
    assert source.is_over
