"""How many games a worker gets at once."""

import threading
import time
from concurrent.futures import Future
from types import SimpleNamespace

import pytest

from arena.errors import Void
from arena.players.sandbox.tiers import OPEN
from arena.tournament import workers
from arena.tournament.batches import MAX_AT_ONCE, Batch, Pace
from arena.tournament.workers import LocalPool, Setup, play_games


def batch(games, seconds):
    return Batch([Void("played")] * games, seconds, cpu_seconds=seconds)


def test_batches_begin_with_one_game_and_grow_to_a_stretch_of_time():
    pace = Pace(1.0)
    sizes = []
    for _ in range(6):
        sizes.append(pace.games)
        pace.add(batch(pace.games, pace.games * 0.1))
    assert sizes == [1, 2, 4, 8, 10, 10]


@pytest.mark.parametrize(("seconds", "games"), [(0.5, 2), (1.0, 1), (60.0, 1), (0.0, 2)])
def test_a_long_game_is_a_batch_by_itself(seconds, games):
    pace = Pace(1.0)
    pace.add(batch(1, seconds))
    assert pace.games == games
    assert pace.is_slow == (seconds > 1)


def test_there_is_a_most_and_an_empty_batch_says_nothing():
    pace = Pace(1.0)
    for _ in range(12):
        pace.add(batch(pace.games, 1e-6))
    pace.add(batch(0, 1.0))
    assert pace.games == MAX_AT_ONCE


def played(games, seconds):
    """A batch of games that take this long each."""

    def play(_):
        time.sleep(seconds)
        raise Void("played")

    setup = SimpleNamespace(in_process=False)
    players = SimpleNamespace(end_batch=lambda _: None)
    worker = SimpleNamespace(play=play, players=players, setup=setup)
    plans = [SimpleNamespace(deck=str(number)) for number in range(games)]
    return play_games(worker, plans, lambda: False)


def test_when_games_turn_out_long_the_rest_of_a_batch_is_left(monkeypatch):
    monkeypatch.setattr(workers, "LONG_S", 0.3)
    results = played(4, 0.2).results
    assert [result is not None for result in results] == [True, True, False, False]
    pace = Pace(1.0)
    pace.add(Batch(results, seconds=60.0, cpu_seconds=0.0))
    assert pace.is_slow
    assert pace.games == 2, "no more than were played in the time"


def test_games_that_compute_much_are_left_too(monkeypatch):
    monkeypatch.setattr(workers, "LONG_CPU_S", 0.0)
    assert [result is not None for result in played(3, 0).results] == [True, False, False]


def test_a_busy_machine_does_not_make_batches_smaller():
    pace = Pace(1.0, first=8)
    pace.add(Batch([Void("played")] * 8, seconds=40.0, cpu_seconds=0.4))
    assert pace.is_slow
    assert pace.games == 16


def test_a_long_first_game_is_long_whatever_its_bots_computed(monkeypatch):
    monkeypatch.setattr(workers, "STARTS_S", 0.1)
    assert played(1, 0.3).seconds >= 0.2


def test_a_batch_that_ends_in_another_thread_counts_when_the_main_thread_asks():
    handed_out = []

    def submit(work, plans):
        handed_out.append(Future())
        return handed_out[-1]

    pool = LocalPool(Setup(OPEN, 30, in_process=True), jobs=1)
    pool._crew = SimpleNamespace(submit=submit)
    before = pool.capacity()
    pool.submit(["a game"])
    ending = threading.Thread(target=handed_out[0].set_result, args=[batch(1, 1e-6)])
    ending.start()
    ending.join()
    assert pool._pace.games == before
    assert pool.capacity() == 2 * before
    assert pool.submit(["a game"], alone=True), "no batch is pending"
