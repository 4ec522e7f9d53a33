"""What the arena says of runs is true about as often as it says, whatever luck the games on a deal
share.
"""

import os

import numpy as np
import pytest

from tests.ratings.coverage import LUCK, apart, repeat, world_of
from tests.ratings.rows import TABLES

TRIES = int(os.environ.get("ARENA_RATING_TRIES", "30"))
"""`make fuzz` raises it."""
EVERY = 18
"""Of so many rows of the printed table one is tried, unless `make fuzz` asks for more tries."""
ROWS = [
    pytest.param(table, trial_of, id=f"{table.key}: {' '.join(labels)}")
    for table in TABLES
    for labels, trial_of in table.rows
    if table.tries is None  # the others take minutes
]


@pytest.mark.parametrize(("table", "trial_of"), ROWS if TRIES > 1000 else ROWS[::EVERY])
def test_a_row_of_the_printed_table_is_right_as_often_as_it_should_be(table, trial_of):
    means, errors = repeat(trial_of(), TRIES)
    for column, mean, error in zip(table.columns, means, errors, strict=True):
        chance = max(2 * error, 1 / TRIES)
        if column.kind in {"held", "all"} and not np.isnan(mean):
            assert mean + chance >= table.least, column.head
        if column.kind == "false" and not np.isnan(mean):
            assert mean - chance <= table.most, column.head


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize(("luck", "least", "most"), [("nothing", 0.9, 1), ("bots", 0.3, 0.89)])
def test_errors_of_games_that_share_luck_are_wrong_unless_they_are_clustered(
    players, luck, least, most
):
    (by_deal, by_game), _ = repeat(apart(world_of(players, 6, luck), 60), TRIES)
    assert by_deal > 0.9
    assert least <= by_game <= most


def test_luck_of_seats_cancels_out_in_games_with_rotated_seats():
    (by_deal, by_game), _ = repeat(apart(world_of(2, 6, "seats"), 60), TRIES)
    assert 0.9 < by_deal <= by_game


@pytest.mark.parametrize("luck", LUCK)
def test_tries_do_not_depend_on_each_other_or_on_the_day(luck):
    [first, second] = [repeat(apart(world_of(2, 6, luck), 10), 5, seed=7)[0] for _ in range(2)]
    assert first.tolist() == second.tolist()
