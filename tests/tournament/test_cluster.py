"""Which worker of a cluster gets which games; the workers are scripted, since real ones break off
when they like.
"""

import threading
from concurrent.futures import BrokenExecutor, Future
from types import SimpleNamespace

import pytest

from arena.errors import ClusterError, Void
from arena.match.referee import GamePlan
from arena.players.sandbox.tiers import OPEN
from arena.tournament import cluster
from arena.tournament.batches import Batch
from arena.tournament.workers import Setup, versions


class Executor:
    """Answers questions at once; what it is to play waits in ``played`` for the test to end it."""

    def __init__(self, admission):
        self.admission = admission
        self.played = []

    def submit(self, function, *arguments):
        future = Future()
        if function is eval:
            future.set_result(versions())
        elif function is cluster.admit:
            future.set_result(self.admission)
        elif function is cluster.play:
            self.played.append((arguments[1], future))
        else:
            future.set_result(None)
        return future


class Scripted:
    """A scripted cluster: the admission of each address."""

    address, slots = "tcp://scripted:1", 1

    def __init__(self, **admissions):
        self.executors = {
            f"tcp://{name}:1": Executor(admission) for name, admission in admissions.items()
        }
        self.client = SimpleNamespace(
            status="running",
            get_executor=lambda workers, **_: self.executors[workers[0]],
            scheduler=SimpleNamespace(ncores=None),
            sync=lambda *_, **__: dict.fromkeys(self.executors, self.slots),
        )


def admitted(host, speed=1000):
    return cluster.Admission(host, "", speed, "none")


@pytest.fixture
def make(monkeypatch):
    """A pool on a scripted cluster whose workers have been asked, and what it told."""
    monkeypatch.setattr(cluster, "LOOK_S", 0.0)

    def made(**admissions):
        told, scripted = [], Scripted(**admissions)
        made_pool = cluster.ClusterPool(
            scripted.client, scripted.address, Setup(OPEN, 30, in_process=True), [], told.append
        )
        for _ in range(3):
            made_pool.look()
        return made_pool, scripted.executors, told

    return made


def plans(*names):
    return [GamePlan(name, "bird", 0, 0, ("a", "b"), "", (1, 2)) for name in names]


def end(executor, result):
    games, future = executor.played.pop(0)
    if isinstance(result, Exception):
        future.set_exception(result)
    else:
        future.set_result(Batch([result] * len(games), 1.0, 1.0))


def test_a_worker_that_breaks_off_three_games_in_a_row_gets_no_more_and_they_go_elsewhere(
    make, snapshot
):
    made, executors, told = make(a=admitted("a"), b=admitted("b"))
    sick, well = executors["tcp://a:1"], executors["tcp://b:1"]
    # it keeps the well one busy, so that the sick one has more capacity
    made._failed_at["decoy"].add("tcp://a:1")
    for name in ("x", "y", "z"):
        made.submit(plans("decoy"))
        future = made.submit(plans(name))
        end(sick, BrokenExecutor("no memory"))
        assert isinstance(future.exception(), BrokenExecutor)
        assert made.submit(plans(name)), "the same game again"
        assert not sick.played, "it goes to the other worker"
        end(well, None)
        end(well, None)
    made.look()
    assert told[-2].text == snapshot
    assert made.slots == 1


def test_voids_count_against_a_worker_too_and_a_finished_game_for_it(make):
    made, executors, told = make(a=admitted("a"))
    worker = executors["tcp://a:1"]
    for result in (Void("no pids"), Void("no pids"), None, Void("no pids"), Void("no pids")):
        made.submit(plans(f"game {id(result)} {len(told)}"))
        end(worker, result)
        made.look()
    assert made.slots == 1
    made.submit(plans("one more"))
    end(worker, Void("no pids"))
    made.look()
    assert made.slots == 0


def test_a_batch_that_ends_in_a_thread_of_dask_counts_when_the_main_thread_looks(make):
    made, executors, _ = make(a=admitted("a"))
    future = made.submit(plans("x"))
    ending = threading.Thread(target=end, args=[executors["tcp://a:1"], Void("no pids")])
    ending.start()
    ending.join()
    assert future.done(), "whoever waits for the batch is woken at once"
    assert not made._failed_at
    made.look()
    assert made._failed_at == {"x": {"tcp://a:1"}}


def test_a_worker_that_answers_with_something_else_than_games_is_named(make):
    made, executors, _ = make(a=admitted("a"))
    future = made.submit(plans("x"))
    _, theirs = executors["tcp://a:1"].played.pop()
    theirs.set_result(None)
    error = future.exception()
    assert isinstance(error, ClusterError)
    assert str(error) == (
        "expected games from the worker tcp://a:1 (a @ 1000/s), got NoneType: another version may"
        " be installed there"
    )
    assert error.hint.startswith("pip install 'qin-arena[cluster]==")
    made.look()


def test_a_process_that_dies_with_all_games_of_a_worker_makes_it_not_sick(make, monkeypatch):
    monkeypatch.setattr(Scripted, "slots", 4)
    made, executors, _ = make(a=admitted("a"))
    for _ in range(2):
        for name in "wxyz":
            made.submit(plans(name))
        for _ in range(4):
            end(executors["tcp://a:1"], BrokenExecutor("its worker died"))
        made.look()
    assert made.slots == 4


def test_a_game_that_has_to_be_alone_waits_for_an_idle_worker_and_keeps_others_away(make):
    made, executors, _ = make(a=admitted("a"))
    assert made.submit(plans("x"))
    assert made.submit(plans("suspect"), alone=True) is None
    end(executors["tcp://a:1"], None)
    assert made.submit(plans("suspect"), alone=True)
    assert made.capacity() == 0
    assert made.submit(plans("y")) is None


def test_each_machine_that_plays_is_said_with_its_speed(make, snapshot):
    _, _, told = make(a=admitted("pi", 1000), b=admitted("nas", 500))
    assert sorted(event.text for event in told) == snapshot


def test_without_a_worker_that_may_play_it_is_said_and_then_given_up(
    make, monkeypatch, refused, snapshot
):
    made, _, told = make()
    monkeypatch.setattr(cluster, "NOTICE_S", -1.0)
    made.look()
    [waits] = told
    assert waits.text == snapshot
    monkeypatch.setattr(cluster, "PATIENCE_S", -1.0)
    with refused(ClusterError):
        made.look()
    monkeypatch.setattr(cluster, "REFUSED_S", -1.0)
    with refused(ClusterError):
        make(a=cluster.Admission("a", "no walls"))
