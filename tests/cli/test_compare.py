"""What a comparison says while it is played."""

from itertools import pairwise

import pytest

from arena.cli.compare import is_shown


@pytest.mark.parametrize(
    ("step", "shown"),
    [(1, [1, 2, 5, 10, 20, 50, 100]), (3, [3, 6, 12, 21, 51, 102]), (60, [60, 120])],
)
def test_the_state_is_shown_once_for_each_of_1_2_5_10_blocks_and_so_on(step, shown):
    counts = range(0, 121, step)
    assert [now for before, now in pairwise(counts) if is_shown(before, now)] == shown
