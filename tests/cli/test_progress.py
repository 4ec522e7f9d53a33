"""The figures that a run shows when it ends."""

from collections import Counter
from types import SimpleNamespace

from arena.cli.progress import Progress, coarse, percentile


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


def test_a_comparison_does_not_say_what_all_its_games_would_take():
    config = SimpleNamespace(compare=object(), is_open=False)
    shown = SimpleNamespace(_session=SimpleNamespace(config=config), _played=5)
    assert "as soon as it is clear" in Progress._left_text(shown, 50_000)
    assert " h" not in Progress._left_text(shown, 50_000)
    config.compare = None
    assert "about 14 h to go" in Progress._left_text(shown, 14 * 3600)
