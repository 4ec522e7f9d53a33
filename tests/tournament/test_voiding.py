"""What makes a game void, and how often a void game is tried again."""

import pytest

from arena.errors import BusyMachineError, UserError, Void
from arena.match.referee import BrokenOff, GamePlan
from arena.records.voids import SoFar, read_voids
from arena.tournament.voiding import (
    ATTEMPTS,
    VoidAttempts,
    is_our_error,
    void_of,
    void_of_dead_worker,
)

PLAN = GamePlan(
    id="bird/a+b/0/0", board="bird", deal=0, seating=0, bots=("a", "b"), deck="", seeds=(1, 2)
)
SO_FAR = SoFar(moves=["pass"], left=[14, 15], mover=1, used_ms=[1.0, 2.0])


@pytest.mark.parametrize(
    ("error", "is_ours"),
    [
        (ValueError("a mistake in the arena"), True),
        (MemoryError(), True),
        (Void("no process can be started"), False),
        (BrokenOff("no process can be started"), False),
        (UserError("there is no such bot"), False),
        (BusyMachineError("the machine is too busy"), False),
        (KeyboardInterrupt(), False),
    ],
)
def test_only_an_unexpected_exception_is_made_a_void(error, is_ours):
    assert is_our_error(error) == is_ours


def test_each_attempt_is_written_and_the_last_one_gives_the_game_up(tmp_path):
    attempts = VoidAttempts(tmp_path)
    errors = [void_of(ValueError("odd"), SO_FAR), void_of_dead_worker(), OSError("lost")]
    events = [attempts.add(PLAN, error) for error in errors]
    assert [event.given_up for event in events] == [False, False, True]
    voids = read_voids(tmp_path)
    assert [void.attempt for void in voids] == [*range(1, ATTEMPTS + 1)]
    assert [void.so_far for void in voids] == [SO_FAR, None, None]
    assert [void.reason for void in voids] == [event.reason for event in events]
    assert voids[0].reason == "ValueError('odd')"
