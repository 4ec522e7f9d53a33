"""Gains shrunk towards the others: against closed forms, and on gains drawn by lot."""

import numpy as np
import pytest

from arena.ratings.gains import MIN_GAINS, mean_gain, shrunk
from arena.ratings.intervals import NORMAL_QUANTILE


def test_with_equal_errors_each_gain_moves_by_the_share_of_variance_that_is_error():
    gains, error = np.array([-30.0, 0.0, 30.0, 60.0]), 20.0
    mean, spread = gains.mean(), gains.var(ddof=1) - error**2
    kept = spread / (spread + error**2)
    halves = np.full(4, NORMAL_QUANTILE * error)
    assert shrunk(gains, halves) == pytest.approx(mean + kept * (gains - mean))


def test_a_gain_below_the_mean_becomes_larger():
    gains, halves = np.array([20.0, 60.0, 100.0]), np.full(3, 30.0)
    assert mean_gain(gains, halves) == pytest.approx(60)
    likely = shrunk(gains, halves)
    assert likely[0] > 20
    assert likely[2] < 100
    assert np.isnan(mean_gain(gains[:2], halves[:2]))


def test_gains_whose_errors_explain_all_differences_become_their_mean():
    assert shrunk(np.array([-10.0, 0.0, 40.0]), np.full(3, 196.0)) == pytest.approx(np.full(3, 10))


def test_a_gain_that_is_hardly_known_moves_more_and_counts_less():
    gains, halves = np.array([0.0, 50.0, 100.0, 400.0]), np.array([20.0, 20.0, 20.0, 600.0])
    likely = shrunk(gains, halves)
    assert likely[:3] == pytest.approx(gains[:3], abs=5)
    assert likely[3] < 100


def test_gains_without_an_interval_are_left_out():
    gains, halves = np.array([np.nan, 10.0, 20.0, 30.0]), np.array([5.0, 5.0, 5.0, np.nan])
    assert np.isnan(shrunk(gains, halves)).all(), f"fewer than {MIN_GAINS} have one"
    assert np.isnan(shrunk(np.empty(0), np.empty(0))).all()


def test_shrunk_gains_are_nearer_to_the_truth_and_those_that_look_best_are_right_on_average():
    rng = np.random.default_rng(1)
    off, likely_off, best = [], [], []
    for _ in range(400):
        true = rng.normal(8, 25, 15)
        error = rng.uniform(15, 40, 15)
        gains = true + rng.normal(0, error)
        likely = shrunk(gains, NORMAL_QUANTILE * error)
        off.append(((gains - true) ** 2).mean())
        likely_off.append(((likely - true) ** 2).mean())
        best.append((gains - true)[gains.argmax()] + 1j * (likely - true)[gains.argmax()])
    assert np.mean(likely_off) < 0.75 * np.mean(off)
    assert np.mean(best).real > 25
    assert abs(np.mean(best).imag) < 4
