"""When a bot that searches has to stop. The clocks are set by hand, as how busy a machine is cannot
be.
"""

import random
from types import SimpleNamespace

import pytest

from arena.rules import State
from arena.rules.boards import built_in
from arena.rules.notation import DECK_SIZE, UNKNOWN
from arena.sdk import Position, stopwatch


class Clocks:
    """Milliseconds that passed, and those that this process worked."""

    def __init__(self):
        self.passed = self.worked = 0.0

    def work(self, milliseconds):
        self.passed += milliseconds
        self.worked += milliseconds

    def wait(self, milliseconds):
        self.passed += milliseconds

    def monotonic_ns(self):
        return int(self.passed * 1e6)

    def process_time_ns(self):
        return int(self.worked * 1e6)


@pytest.fixture
def clocks(monkeypatch):
    made = Clocks()
    monkeypatch.setattr(
        stopwatch,
        "time",
        SimpleNamespace(monotonic_ns=made.monotonic_ns, process_time_ns=made.process_time_ns),
    )
    return made


def position(time_ms, *, has_bank=False, clock="cpu", nodes=0):
    state = State(built_in("bird"), 2, (UNKNOWN,) * DECK_SIZE)
    state.set_hand(0, [0, 1, 2])
    watch = stopwatch.Stopwatch(clock, most_nodes=nodes)
    return Position(state, 0, random.Random(1), time_ms, has_bank=has_bank, watch=watch)


def thought(seen, clocks, *, work=1.0, wait=0.0, share=1.0):
    """How many ms pass, in pieces of some work and some waiting, until there is no more time."""
    while seen.has_time(share):
        clocks.work(work)
        clocks.wait(wait)
    return clocks.passed


@pytest.mark.parametrize(("clock", "most"), [("cpu", 895), ("wall", 725)])
def test_on_a_quiet_machine_a_search_uses_its_time(clocks, clock, most):
    assert most - 2 <= thought(position(1000, clock=clock), clocks) <= most


def test_a_share_of_the_time_ends_a_stage(clocks):
    seen = position(1000)
    assert 445 <= thought(seen, clocks, share=0.5) <= 448
    assert 893 <= thought(seen, clocks) <= 895


def test_time_that_others_had_costs_nothing(clocks):
    assert 1786 <= thought(position(1000), clocks, wait=1.0) <= 1790


def test_by_the_wall_clock_time_that_others_had_counts_twice(clocks):
    """Half of the processor: after 2/3 of the time to think, a third of it was spent waiting."""
    assert 470 <= thought(position(1000, clock="wall"), clocks, wait=1.0) <= 484


def test_a_piece_of_work_is_not_begun_that_would_end_too_late(clocks):
    assert thought(position(1000), clocks, work=300) == 600


def test_what_comes_before_the_first_look_is_not_expected_again(clocks):
    seen = position(1000)
    clocks.work(300)
    assert 893 <= thought(seen, clocks) <= 895


def test_what_was_used_since_the_last_answer_is_charged(clocks):
    clocks.work(100)
    watch = stopwatch.Stopwatch("cpu", since_ns=0)
    clocks.work(50)
    assert watch.elapsed_ms == 150
    assert not watch.allows(150)
    assert watch.allows(151)


def test_the_positions_that_are_tried_share_one_clock(clocks):
    seen = position(1000)
    sampled = seen.sample(1)
    clocks.work(900)
    assert not sampled.has_time()
    assert sampled.elapsed_ms == seen.elapsed_ms == 900


@pytest.mark.parametrize("time_ms", [1, 20, 70, 72])
def test_of_a_short_time_a_good_part_is_used(time_ms):
    assert 0.39 * time_ms < position(time_ms).think_ms < time_ms


def test_a_bank_lasts_for_many_moves():
    left = 3000.0
    for _ in range(40):
        left -= position(int(left), has_bank=True).think_ms
    assert left > 300


def test_positions_are_counted_however_they_are_made():
    seen = position(1000)
    moves = seen.legal_moves()[:4]
    after = seen.play(moves[0])
    assert (seen.nodes, after.nodes) == (1, 1)
    after.play_on(turns=2)
    seen.playout()
    seen.rollouts(3, moves, turns=1)
    seen.sample()
    seen.outlooks()
    assert seen.nodes == 3 + 3 * 4


def test_with_nodes_the_work_says_when_to_stop_and_no_clock(clocks):
    seen = position(1000, nodes=10)
    move, tries = seen.legal_moves()[0], []
    for share in (0.35, 1.0):
        while seen.has_time(share):
            seen.play(move)
            clocks.work(5000)
        tries.append(seen.nodes)
    assert tries == [4, 10]
