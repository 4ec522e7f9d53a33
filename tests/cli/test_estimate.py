"""How long a run will take."""

import pytest

from arena.cli.estimate import duration_text, left_s, longest_s
from arena.cli.progress import late_text
from arena.tournament.config import make_config


def config(**settings):
    return make_config({"bots": ["a", "b", "c"], "seed": "s", **settings})


def test_the_limits_of_time_bound_it():
    assert longest_s(config(move_ms=1000), games=100, places=2, processes=3) == 44 * 100 / 2
    assert (
        longest_s(config(move_ms=1000, players=3), games=100, places=2, processes=3) == 44 * 100 / 2
    )
    assert longest_s(config(move_ms=1000), games=1, places=8, processes=3) == 44
    assert longest_s(
        config(game_ms=5000, increment_ms=100), games=10, places=1, processes=3
    ) == pytest.approx(10 * 2 * (5 + 2.2))


def test_limits_of_their_own_count_for_bots_that_name_some():
    odds = config(bots=["a:move_ms=3000", "b", "c:game_ms=2200"], move_ms=1000)
    assert longest_s(odds, games=3, places=1, processes=3) == pytest.approx(2 * (22 * 3 + 22 + 2.2))


def test_built_in_bots_take_no_time():
    assert longest_s(config(), games=90, places=1, processes=1) == pytest.approx(44 * 90 / 3)
    assert longest_s(config(), games=90, places=1, processes=0) == 0


def test_the_first_games_tell_once_there_are_some():
    assert left_s(played=100, elapsed_s=4, to_go=900, places=2) is None
    assert left_s(played=3, elapsed_s=30, to_go=900, places=2) is None
    assert left_s(played=10, elapsed_s=30, to_go=900, places=2) == 2700


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (61, "1 min"),
        (200, "3 min"),
        (3500, "58 min"),
        (3590, "1 h"),
        (8400, "2 h 20 min"),
        (7200, "2 h"),
        (50_000, "14 h"),
        (400_000, "5 days"),
    ],
)
def test_a_duration_is_told_to_about_two_digits(seconds, text):
    assert duration_text(seconds) == text


def test_late_bots_are_counted_with_a_cure():
    assert (
        late_text(["a", "b", "a"], 2, "wall")
        == "2 bots answered late in 3 games: was the machine busy? Try --jobs 1 or a larger"
        " --move-ms"
    )
    assert late_text(["a", "a"], 1, "wall").endswith("Try a larger --move-ms")
    assert (
        late_text(["a", "a"], 2, "cpu")
        == "1 bot answered late in 2 games, by their own processor time: try a larger --move-ms"
    )
    assert late_text(["a:move_ms=9"], 2, "cpu").endswith("try a larger move_ms")
    assert late_text(["a:move_ms=9", "b"], 2, "cpu").endswith("try a larger --move-ms")
