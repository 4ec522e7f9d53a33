"""How long a run will take."""

from types import SimpleNamespace

import pytest

from arena.cli.progress import SEAT_MS, Forecast, late_text
from arena.exports.grid import duration_text
from arena.tournament.consistency import make_config


def forecast_of(games, slots=0, **settings):
    """The forecast after games of which each is the milliseconds that some bots took."""
    config = make_config({"bots": ["a", "b", "c"], "seed": "s", **settings})
    forecast = Forecast(config, slots)
    for game in games:
        think_ms = [ms - SEAT_MS for ms in game.values()]
        forecast.note(SimpleNamespace(bots=list(game), think_ms=think_ms))
    return forecast


ROUND = [{"a": 1000, "b": 10}, {"a": 1000, "c": 10}, {"b": 10, "c": 10}]


def test_nothing_is_known_before_every_bot_has_played_twice():
    assert not forecast_of([{"a": 1000, "b": 10}] * 9).is_known(60)
    assert not forecast_of([]).is_known(60)
    assert forecast_of(ROUND).is_known(60)
    assert not forecast_of(ROUND).is_known(4), "the start of the bots says nothing of the rest"


def test_every_bot_counts_with_what_it_took_whoever_played_first():
    slow_first = forecast_of([{"a": 1000, "b": 10}] * 5 + ROUND)
    assert slow_first.left_s(60, 300) == pytest.approx(
        60 / (5 * 1010 + 2040) * 300 * 2 * (1000 + 10 + 10) / 3
    )
    bound = forecast_of([{"a": 1000, "b": 10}]).left_s(1.01, 3)
    assert bound == pytest.approx(2.02)
    assert forecast_of([]).left_s(60, 300) == 0


def test_games_that_are_being_played_count_half():
    alone, two = forecast_of(ROUND).left_s(60, 300), forecast_of(ROUND, slots=2).left_s(60, 300)
    assert two == pytest.approx(alone * 3 / 4)


def test_the_challenger_sits_in_every_game():
    gauntlet = forecast_of([{"a": 1000, "b": 10}, {"a": 1000, "c": 30}] * 2, challenger="a")
    assert gauntlet.left_s(60, 4) == pytest.approx(60)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"move_ms": 1000}, "44 s"),
        ({"move_ms": 1000, "players": 3}, "44 s"),
        ({"game_ms": 5000, "increment_ms": 100}, "14 s"),
        ({"bots": ["a:move_ms=3000", "b:game_ms=2200"], "move_ms": 1000}, "1 min"),
        ({"move_ms": 10_000}, "7 min"),
    ],
)
def test_whoever_stops_a_run_early_hears_how_long_its_games_may_take(settings, told, snapshot):
    text = forecast_of([{"a": 12_000, "b": 10}], **settings).wait_text()
    assert text == snapshot


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (12_000, ", which takes at most about 12 s by the games so far"),
        (440_000, ", which takes at most about 7 min by the games so far"),
        (100, ""),
    ],
)
def test_whoever_stops_a_run_hears_how_long_its_games_take(ms, text):
    games = [{"a": ms, "b": 10}, {"a": 10, "c": 10}, {"b": 10, "c": 10}] * 2
    assert forecast_of(games).wait_text() == text


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


def test_late_bots_are_counted_with_a_cure(snapshot):
    assert late_text(["a", "b", "a"], 2, "wall") == snapshot
    assert late_text(["a", "a"], 1, "wall") == snapshot
    assert late_text(["a", "a"], 2, "cpu") == snapshot
    assert late_text(["a:move_ms=9"], 2, "cpu") == snapshot
    assert late_text(["a:move_ms=9", "b"], 2, "cpu") == snapshot
