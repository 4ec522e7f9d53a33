"""Errors and degrees of freedom against the same computed the long way: game by game and deal by
deal, with dense matrices.
"""

import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from scipy.special import softmax

from arena.ratings import jackknife
from arena.ratings.likelihood import ELO
from arena.ratings.model import rate
from tests.ratings.synthetic import count_results, frame_of

STRENGTHS = np.array([0.8, 0.5, 0.1, -0.1, -0.5, -0.8])
NAMES = "abcdef"


def rotated(line_up):
    return [(*line_up[turn:], *line_up[:turn]) for turn in range(len(line_up))]


def games_on(deal, line_ups, rng):
    """One game for each seating of these line-ups."""
    games = []
    for seated in (seating for line_up in line_ups for seating in rotated(line_up)):
        chances = softmax(STRENGTHS[list(seated)] - 0.1 * np.arange(len(seated)))
        winner = rng.choice(len(seated), p=chances)
        games.append((deal, [NAMES[bot] for bot in seated], np.eye(len(seated))[winner].tolist()))
    return games


def all_line_ups(size, bots=6):
    return list(combinations(range(bots), size))


def newcomer(size, own, deals, rng):
    """The last bot plays on some of the deals only."""
    every = all_line_ups(size)
    without = [line_up for line_up in every if 5 not in line_up]
    return [
        game
        for deal in range(deals)
        for game in games_on(deal, every if deal < own else without, rng)
    ]


def uneven(size, deals, rng):
    """On every deal some line-ups, drawn at random."""
    every = all_line_ups(size)
    return [
        game
        for deal in range(deals)
        for game in games_on(deal, [every[at] for at in rng.choice(len(every), 4)], rng)
    ]


def singles(deals, rng):
    """Every game has a deal of its own, and there is no pattern in who meets whom."""
    every = [seating for line_up in all_line_ups(2) for seating in rotated(line_up)]
    return [
        (deal, seated, shares)
        for deal in range(deals)
        for _, seated, shares in games_on(deal, [every[rng.integers(len(every))]], rng)[:1]
    ]


class LongWay:
    """Scores and information by deal (C, size), (C, size, size), from the games and a fit."""

    def __init__(self, games, fit):
        sizes = sorted(fit.seats)
        first = dict(zip(sizes, 6 + np.cumsum([0, *(size - 1 for size in sizes)]), strict=False))
        self.size = 6 + sum(size - 1 for size in sizes)
        parameters = np.concatenate([fit.elo, *(fit.seats[size][0][1:] for size in sizes)]) / ELO
        deals = max(deal for deal, _, _ in games) + 1
        self.scores = np.zeros((deals, self.size))
        self.information = np.zeros((deals, self.size, self.size))
        for deal, seated, shares in games:
            rows = np.zeros((len(seated), self.size))
            for seat, bot in enumerate(seated):
                rows[seat, NAMES.index(bot)] += 1
                if seat:
                    rows[seat, first[len(seated)] + seat - 1] += 1
            chances = softmax(rows @ parameters)
            self.scores[deal] += rows.T @ (np.array(shares) - chances)
            self.information[deal] += (
                rows.T @ (np.diag(chances) - np.outer(chances, chances)) @ rows
            )
        self.all = self.information.sum(axis=0)

    def moves(self):
        """(C, size) how the parameters move without each deal, by one Newton step."""
        return np.array(
            [
                -np.linalg.pinv(self.all - own, rcond=1e-9) @ score
                for own, score in zip(self.information, self.scores, strict=True)
            ]
        )

    def freedom(self, contrast):
        """By the covariances G of the deals' parts of a contrast, if all games are independent."""
        bread = np.linalg.pinv(self.all, rcond=1e-9)
        without = [
            np.linalg.pinv(self.all - own, rcond=1e-9) @ contrast for own in self.information
        ]
        parts = np.array([own @ each for own, each in zip(self.information, without, strict=True)])
        products = np.diag([each @ part for each, part in zip(without, parts, strict=True)])
        products -= parts @ bread @ parts.T
        return np.trace(products) ** 2 / (products**2).sum()


def made(kind):
    rng = np.random.default_rng(3)
    return {
        "all alike": lambda: newcomer(2, 20, 20, rng),
        "three seats, all alike": lambda: newcomer(3, 8, 8, rng),
        "newcomer of 3": lambda: newcomer(2, 3, 30, rng),
        "newcomer of 5, three seats": lambda: newcomer(3, 5, 20, rng),
        "uneven": lambda: uneven(2, 40, rng),
        "two sizes": lambda: newcomer(2, 4, 12, rng) + uneven(3, 12, rng),
        "single games": lambda: singles(120, rng),
    }[kind]()


KINDS = (
    "all alike",
    "three seats, all alike",
    "newcomer of 3",
    "newcomer of 5, three seats",
    "uneven",
    "two sizes",
    "single games",
)


@pytest.mark.parametrize("kind", KINDS)
def test_errors_and_their_freedom_are_those_of_leaving_out_each_deal_by_one_step(kind):
    games = made(kind)
    [fit] = rate(count_results(frame_of(games))).fits
    long_way = LongWay(games, fit)
    moves, unit = long_way.moves(), np.eye(long_way.size)
    expected = (len(moves) - 1) / len(moves) * (moves.T @ moves) * ELO**2
    found = fit.difference_error()
    for one, other in combinations(range(6), 2):
        contrast = unit[one] - unit[other]
        assert found[one, other] == pytest.approx(np.sqrt(contrast @ expected @ contrast), rel=1e-5)
        assert fit.freedom[one, other] == pytest.approx(long_way.freedom(contrast), rel=1e-5)
    for bot in range(6):
        contrast = unit[bot].copy()
        contrast[:6] -= fit.is_known / fit.is_known.sum()
        assert fit.freedom[bot, bot] == pytest.approx(long_way.freedom(contrast), rel=1e-5)
    for column, size in enumerate(sorted(fit.seats)):
        at = 6 + sum(each - 1 for each in sorted(fit.seats)[:column])
        assert fit.seats[size][1][1] == pytest.approx(np.sqrt(expected[at, at]), rel=1e-5)


def test_the_step_is_close_to_fitting_again_without_each_deal():
    games = newcomer(2, 8, 30, np.random.default_rng(5))
    [fit] = rate(count_results(frame_of(games))).fits
    others = []
    for left_out in range(30):
        kept = [(deal - (deal > left_out), *rest) for deal, *rest in games if deal != left_out]
        [without] = rate(count_results(frame_of(kept))).fits
        others.append(without.elo)
    moves = np.array(others) - fit.elo
    exact = 29 / 30 * moves.T @ moves
    variance = np.diag(exact)
    expected = np.sqrt(variance[:, None] + variance - 2 * exact)[np.triu_indices(6, 1)]
    assert fit.difference_error()[np.triu_indices(6, 1)] == pytest.approx(expected, rel=0.1)


def test_a_bot_with_one_or_two_deals_has_no_error_bar_and_leaves_those_of_the_others_alone():
    rng = np.random.default_rng(9)
    established = newcomer(2, 0, 60, rng)
    [before] = rate(count_results(frame_of(established))).fits
    for own in (1, 2):
        games = established + [
            (deal, seated, shares)
            for deal in range(own)
            for seated, shares in (("af", (1, 0)), ("fa", (0.5, 0.5)))
        ]
        [fit] = rate(count_results(frame_of(games))).fits
        assert np.isnan(fit.half_widths()[5])
        assert np.isnan(fit.difference_half_widths()[5, :5]).all()
        assert np.isnan(fit.superiority()[5, :5]).all()
        assert fit.half_widths()[:5] == pytest.approx(before.half_widths(), rel=0.03)
        assert fit.is_few.tolist() == [False] * 5 + [True]


def test_a_bot_that_only_one_deal_links_to_the_others_has_no_error_bar_toward_them():
    """Each has played enough, but what is between them rests on a single deal."""
    rng = np.random.default_rng(10)
    games = [
        (deal, [NAMES[bot] for bot in seated], np.eye(2)[rng.integers(2)].tolist())
        for deal in range(30)
        for pair in ((0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5))
        for seated in rotated(pair)
    ]
    games += [(0, "ad", [1, 0]), (0, "da", [1, 0])]
    [fit] = rate(count_results(frame_of(games))).fits
    half = fit.difference_half_widths()
    assert np.isfinite(half[:3, :3]).all()
    assert np.isfinite(half[3:, 3:]).all()
    assert np.isnan(half[:3, 3:]).all()


@pytest.mark.parametrize(("own", "is_few"), [(3, True), (9, True), (10, False), (30, False)])
def test_fewer_than_ten_deals_are_marked(own, is_few):
    [fit] = rate(count_results(frame_of(newcomer(2, own, 30, np.random.default_rng(own))))).fits
    assert fit.deals[5] == pytest.approx(own)
    assert fit.deals[:5] == pytest.approx(30, rel=0.2)
    assert fit.is_few.tolist() == [False] * 5 + [is_few]
    assert np.isfinite(fit.half_widths()).all()


def test_errors_of_many_bots_need_memory_for_their_games_not_for_games_times_bots(monkeypatch):
    """Each game of a round robin of 80 bots is a design of its own. Portions are small, so that
    they take little of the memory.
    """
    monkeypatch.setattr(jackknife, "FIGURES_AT_ONCE", 1 << 14)
    bots = [f"bot-{number:02}" for number in range(80)]
    rng = np.random.default_rng(1)
    games = [
        (0, list(pair), np.eye(2)[rng.integers(2)].tolist())
        for one, other in combinations(bots, 2)
        for pair in ((one, other), (other, one))
    ]
    results = count_results(frame_of(games))
    rate(results)
    tracemalloc.start()
    rate(results)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert results.games == 6320
    assert peak < 1500 * results.games
