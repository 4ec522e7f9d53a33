"""A league's regression tests blame few versions that are no worse, and notice those that are."""

import os

import numpy as np
import pytest

from tests.ratings.coverage import repeat
from tests.ratings.regressions import Case, regression

TRIES = int(os.environ.get("ARENA_RATING_TRIES", "60"))
"""`make fuzz` raises it."""


def chance(share):
    """How far a share may be off in so many tries."""
    return 3 * np.sqrt(share * (1 - share) / TRIES)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_version_that_is_no_worse_is_seldom_blamed(players):
    (worse, better, held, _), _ = repeat(regression(Case(0, 240, players)), TRIES)
    assert worse <= 0.025 + chance(0.025)
    assert better <= 0.025 + chance(0.025)
    assert held >= 0.95 - chance(0.05)


@pytest.mark.parametrize(
    ("elo", "games", "least", "most"),
    [(-60, 1000, 0.97, 1), (-60, 400, 0.8, 1), (-30, 400, 0, 0.5)],
)
def test_a_large_loss_is_noticed_and_a_small_one_takes_more_games(elo, games, least, most):
    """With 2,000 tries the shares are those in docs/statistics.md."""
    (worse, better, _, _), _ = repeat(regression(Case(elo, games)), TRIES)
    assert least - chance(0.9) <= worse <= most + chance(0.5)
    assert better <= 0.05
