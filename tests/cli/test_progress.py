"""The figures that a run shows when it ends."""

from collections import Counter

from arena.cli.progress import coarse, percentile


def test_times_are_kept_to_two_digits():
    assert [coarse(value) for value in (0, 7, 42, 99, 123, 4567, 99_999)] == [
        0,
        7,
        42,
        99,
        120,
        4500,
        99_000,
    ]


def test_percentiles_of_counted_values():
    counts = Counter({10: 50, 20: 49, 500: 1})
    assert [percentile(counts, share) for share in (0.5, 0.51, 0.99, 1.0)] == [10, 20, 20, 500]
    assert percentile(Counter({3: 1}), 0.99) == 3
