"""When a bot that searches has to stop. The clocks are set by hand, as how busy a machine is cannot
be.
"""

import math
import random
from types import SimpleNamespace

import pytest

from arena.players.messages import Start
from arena.rules import State
from arena.rules.boards import built_in
from arena.rules.notation import DECK_SIZE, UNKNOWN
from arena.sdk import Position, timemanager
from arena.sdk.timemanager import TimeManager


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
        timemanager,
        "time",
        SimpleNamespace(monotonic_ns=made.monotonic_ns, process_time_ns=made.process_time_ns),
    )
    return made


def manager_of(**control):
    manager = TimeManager()
    named = {"players": 2, "seat": 0, "board": (), "pagodas": 24, "seed": 1, "move_ms": 1000}
    manager.begin(Start(**named | control))
    return manager


def position(time_ms, **control):
    state = State(built_in("bird"), 2, (UNKNOWN,) * DECK_SIZE)
    state.set_hand(0, [0, 1, 2])
    watch = manager_of(**control).watch(time_ms, state.left)
    return Position(state, 0, random.Random(1), time_ms, watch=watch)


def thought(seen, clocks, *, work=1.0, wait=0.0, share=1.0):
    """How many ms pass, in pieces of some work and some waiting, until there is no more time."""
    while seen.has_time(share):
        clocks.work(work)
        clocks.wait(wait)
    return clocks.passed


@pytest.mark.parametrize(("clock", "most"), [("cpu", 950), ("wall", 725)])
def test_on_a_quiet_machine_a_search_uses_its_time(clocks, clock, most):
    assert most - 2 <= thought(position(1000, clock=clock), clocks) <= most


def test_a_share_of_the_time_ends_a_stage(clocks):
    seen = position(1000)
    assert 473 <= thought(seen, clocks, share=0.5) <= 475
    assert 948 <= thought(seen, clocks) <= 950


def test_time_that_others_had_costs_nothing(clocks):
    assert 1896 <= thought(position(1000), clocks, wait=1.0) <= 1900


def test_by_the_wall_clock_time_that_others_had_counts_twice(clocks):
    """Half of the processor: after 2/3 of the time to think, a third of it was spent waiting."""
    assert 470 <= thought(position(1000, clock="wall"), clocks, wait=1.0) <= 484


def test_a_piece_of_work_is_not_begun_that_would_end_too_late(clocks):
    assert thought(position(1000), clocks, work=320) == 640


def test_what_comes_before_the_first_look_is_not_expected_again(clocks):
    seen = position(1000)
    clocks.work(300)
    assert 948 <= thought(seen, clocks) <= 950


def test_what_was_used_since_the_last_answer_is_charged(clocks):
    clocks.work(100)
    watch = timemanager.Stopwatch(200, "cpu", since_ns=0)
    clocks.work(50)
    assert watch.elapsed_ms == 150
    assert not watch.allows(0.75)
    assert watch.allows(0.76)


def test_the_positions_that_are_tried_share_one_clock(clocks):
    seen = position(1000)
    sampled = seen.sample(1)
    clocks.work(990)
    assert not sampled.has_time()
    assert sampled.elapsed_ms == seen.elapsed_ms == 990


@pytest.mark.parametrize("time_ms", [1, 20, 70, 72])
def test_of_a_short_time_a_good_part_is_used(time_ms):
    assert 0.39 * time_ms < position(time_ms).think_ms < time_ms


def test_pieces_far_shorter_than_a_look_at_the_clock_are_not_timed_one_by_one(clocks):
    seen, pieces = position(10), 0
    looks = timemanager.time.process_time_ns = Counted(clocks.process_time_ns)
    while seen.has_time():
        clocks.work(0.001)
        pieces += 1
    assert 7900 < pieces <= 8020, "80 % of 10 ms"
    assert looks.calls <= pieces / 19
    assert not seen.has_time(0.5)


class Counted:
    """A function that counts its calls."""

    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self):
        self.calls += 1
        return self.function()


def test_what_came_too_late_is_kept_in_reserve_and_slowly_forgotten(clocks):
    manager, meant = manager_of(), []
    for late in (0, 40, 0, 0, 60, *[0] * 40):
        watch = manager.watch(1000, (24, 24))
        clocks.work(watch.think_ms + late)
        manager.answered(watch)
        meant.append(watch.think_ms)
    assert meant[:4] == [950, 950, 910, 918]
    assert meant[5] == 890
    assert meant[-1] > 949


def test_however_late_it_was_a_bot_thinks_for_two_fifths_of_its_time(clocks):
    manager = manager_of()
    watch = manager.watch(100, (24, 24))
    clocks.work(300)
    manager.answered(watch)
    assert manager.watch(100, (24, 24)).think_ms == 40


@pytest.mark.parametrize(("moves", "most_left"), [(18, 1000), (24, 700), (33, 500)])
def test_a_bank_lasts_however_long_the_game_is_and_most_of_it_is_used(clocks, moves, most_left):
    bank, manager = 3000.0, manager_of(game_ms=3000, move_ms=3000)
    for to_come in range(moves, 0, -1):
        fewest = math.ceil(24 * to_come / moves)
        watch = manager.watch(int(bank), (fewest, 24))
        clocks.work(watch.think_ms)
        manager.answered(watch)
        bank -= watch.think_ms
    assert 100 < bank < most_left


def test_a_bank_that_is_larger_than_a_move_may_take_is_remembered(clocks):
    """`time_ms` is then the limit of the move, and says nothing of the bank."""
    manager, meant = manager_of(game_ms=6000, move_ms=200), []
    for time_ms in (200, 200, 150):
        watch = manager.watch(time_ms, (17, 20))
        clocks.work(watch.think_ms + 1000)
        manager.answered(watch)
        meant.append(watch.think_ms)
    assert meant[0] == 185, "no less than without a bank"
    assert meant[2] == 150 / 20, "what the arena says of the bank counts"


def test_an_increment_is_thought_away(clocks):
    manager = manager_of(game_ms=200, move_ms=200, increment_ms=50)
    assert manager.watch(200, (17, 20)).think_ms == 10 + 50


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
    seen = position(1000, options={"nodes": 10})
    move, tries = seen.legal_moves()[0], []
    for share in (0.35, 1.0):
        while seen.has_time(share):
            seen.play(move)
            clocks.work(5000)
        tries.append(seen.nodes)
    assert tries == [4, 10]
