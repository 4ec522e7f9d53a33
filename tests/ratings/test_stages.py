"""Ratings by ranks: on games of known strength they are right, and as sure as they say."""

import os

import numpy as np
import pytest

from arena.ratings.model import rate
from arena.ratings.results import Results, count_table
from arena.ratings.stages import by_ranks, rank_notes
from arena.ratings.tables import make_tables
from tests.ratings.margin_blocks import SCALE, STAGES
from tests.ratings.synthetic import counts_of, duel

ELO = np.array([150.0, 50.0, 0.0, -60.0, -140.0])
TRIES = int(os.environ.get("ARENA_RATING_TRIES", "30"))
"""`make fuzz` raises it."""


def played(players, deals, rng, elo=ELO, scales=STAGES, seat=40.0):
    """Every line-up of neighbours on every deal in all rotations; seat 0 is worth this much Elo."""
    seats, ranks, cluster = [], [], []
    for deal in range(deals):
        for first in range(len(elo)):
            group = [(first + number) % len(elo) for number in range(players)]
            for turn in range(players):
                seated = group[turn:] + group[:turn]
                utility = (elo[seated] + seat * (np.arange(players) == 0)) / SCALE
                seats.append(seated)
                ranks.append(drawn(utility, scales, rng))
                cluster.append(deal)
    table = count_table(np.array(seats), np.array(ranks), np.array(cluster))
    return Results([f"bot-{number}" for number in range(len(elo))], deals, [table])


def drawn(utility, scales, rng):
    """Ranks given out stage by stage: the first of exponential times is a choice by weight."""
    ranks, left = np.zeros(len(utility), dtype=np.int64), list(range(len(utility)))
    for stage in range(len(utility)):
        scale = scales[min(stage, len(scales) - 1)]
        times = rng.exponential(size=len(left)) / np.exp(scale * utility[left])
        ranks[left.pop(int(times.argmin()))] = stage + 1
    return ranks


def second_of(results):
    (fit,) = rate(results).fits
    return fit, by_ranks(results, fit)


@pytest.mark.parametrize("players", [3, 4])
def test_ranks_give_the_ratings_and_the_scales_that_made_them(players):
    fit, second = second_of(played(players, 300, np.random.default_rng(1)))
    assert second.fit.elo == pytest.approx(ELO, abs=3 * second.fit.half_widths().max())
    found = [second.scales[players, placed] for placed in range(1, players - 1)]
    assert found == pytest.approx(list(STAGES[1 : players - 1]), abs=0.12)
    assert second.fit.half_widths().mean() < 0.92 * fit.half_widths().mean()


@pytest.mark.parametrize("players", [3, 4])
def test_intervals_hold_the_truth_and_no_difference_is_made_up(players):
    rng, held, apart = np.random.default_rng(2), [], []
    for _ in range(TRIES):
        _, second = second_of(played(players, 30, rng))
        held.append(np.abs(second.fit.elo - ELO) <= second.fit.half_widths())
        apart.append((np.abs(second.further) > second.error).any())
    assert np.mean(held) >= 0.9
    assert np.mean(apart) <= 0.05 + 3 * (0.05 / TRIES) ** 0.5


def test_with_two_players_the_ranks_say_what_the_wins_say():
    counts = counts_of(duel(30, 20))
    fit, second = second_of(counts.results)
    assert second.fit is fit
    assert not second.scales
    notes = make_tables(counts, by="ranks").notes
    assert "with two players, the ranks say just what the wins say" in notes[0]


def test_a_table_that_ranks_all_alike_after_the_first_is_that_by_wins():
    """Whoever does not win shares rank 2: then there is nothing in the later stages."""
    rng = np.random.default_rng(3)
    results = played(3, 100, rng)
    table = results.tables[0]
    flat = count_table(
        table.seats, np.where(table.ranks > 1, 2, 1), table.cluster.astype(np.int64), table.outcome
    )
    fit, second = second_of(results._replace(tables=[flat]))
    assert np.abs(second.fit.elo).sum() < np.abs(fit.elo).sum() * 1.05
    assert np.corrcoef(second.fit.elo, fit.elo)[0, 1] > 0.999


def test_ranks_that_say_something_else_than_wins_are_told():
    """One bot comes first or last, another one always in the middle."""
    rng, seats, ranks, cluster = np.random.default_rng(4), [], [], []
    for deal in range(200):
        order = rng.permutation(3)
        rank = {0: rng.choice([1, 3]), 1: 2}
        rank[2] = 4 - rank[0]
        if rng.random() < 0.1:
            rank[1], rank[2] = rank[2], rank[1]
        seats.append(order.tolist())
        ranks.append([rank[bot] for bot in order.tolist()])
        cluster.append(deal)
    table = count_table(np.array(seats), np.array(ranks), np.array(cluster))
    results = Results(["wild", "middle", "fair"], 200, [table])
    _, second = second_of(results)
    assert (np.abs(second.further) > second.error).any()
    assert any("beyond error: " in note for note in rank_notes(results.bots, [second]))


def test_the_order_of_the_games_changes_no_digit():
    results = played(4, 20, np.random.default_rng(5))
    table = results.tables[0]
    order = np.random.default_rng(6).permutation(len(table.cluster))
    shuffled = count_table(
        table.seats, table.ranks, table.cluster[order].astype(np.int64), table.outcome[order]
    )
    _, one = second_of(results)
    _, other = second_of(results._replace(tables=[shuffled]))
    assert (one.fit.elo == other.fit.elo).all()
    assert (one.fit.covariance == other.fit.covariance).all()


def test_a_bot_that_never_wins_has_a_bound_and_moves_nobody():
    weak = played(3, 60, np.random.default_rng(7), elo=np.append(ELO, -50_000.0))
    fit, second = second_of(weak)
    assert fit.members.tolist() == [0, 1, 2, 3, 4]
    assert second.fit.elo == pytest.approx(ELO, abs=3 * second.fit.half_widths().max())
