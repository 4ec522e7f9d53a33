"""The native core keeps no object and no memory that nobody needs: not when it works, not when it
refuses, not when memory runs out.
"""

import copy
import gc
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from arena.errors import ArenaError
from arena.rules.boards import Board, built_in
from tests.rules.positions import full_deck, middle_of_a_game, random_move, state_text
from tests.rules.twins import outcome

pytestmark = pytest.mark.long
ROOT = Path(__file__).parents[2]
GAMES = {"arena.rules.native": 20, "arena.rules.pure": 5}
"""The core in Python, whose references Python counts, is as slow as it is unlikely to lose one."""


def use_everything(state_class, board, deck):
    """A game in which every method is called, and most are refused once."""
    rng = random.Random(8)
    state = state_class(board, 3, deck)
    while state.end is None:
        state.play(random_move(state, rng), [])
        assert state == state.copy() == copy.deepcopy(state)
        assert state != 1
        state_text(state)
        state.placements(range(6))
        outcome(state.play, 1 << 40)
        outcome(state.play, state.legal_moves()[:1], 7)
        outcome(state.rollouts, state.mover, 1, 1, "uniform", state.legal_moves()[:1])
        outcome(state.rollouts, state.mover, 1, 1, "uniform", [1 << 40])
        outcome(state.rollouts, state.mover, 1 << 40, 1)
        outcome(state.choice, 1, "careful", 2)
        outcome(state.choice, 1, "clever")
        outcome(state.set_hand, 0, ["x"])
        outcome(state.set_pile, [9])
        outcome(state.nth, -1)
    provinces = [
        (colour, area.mask, area.owner, area.pagodas) for colour, area in state.provinces()
    ]
    spaces = [state.spaces(colour) for colour in range(3)]
    outcome(
        state_class.set_up, board, spaces, provinces, state.villages, [1, 2, 3], state.hands, deck
    )
    outcome(
        state_class.set_up,
        board,
        spaces,
        provinces * 2,
        state.villages,
        [1, 2, 3],
        state.hands,
        deck,
    )
    outcome(state_class, board, 9, [])
    outcome(state_class, board, 2, [7])


@pytest.mark.skipif(not sys.getallocatedblocks(), reason="this Python counts no blocks")
def test_no_object_is_lost(State):
    """What is lost in every turn would be hundreds of objects; Python's own stores of free ones are
    full after some games.
    """
    counts = []
    for _ in range(2):
        for _ in range(GAMES[State.__module__]):
            use_everything(State, built_in("lion"), full_deck())
        gc.collect()
        counts.append(sys.getallocatedblocks())
    assert counts[1] - counts[0] < 200


def test_shared_objects_are_held_just_as_often_as_before(State):
    board, deck = Board("own", built_in("lion").rows), tuple(full_deck())
    use_everything(State, board, deck)
    shared = [board, vars(board).get("_native"), deck, State, full_deck, ArenaError]
    gc.collect()
    before = [sys.getrefcount(thing) for thing in shared]
    for _ in range(GAMES[State.__module__]):
        use_everything(State, board, deck)
    gc.collect()
    assert [sys.getrefcount(thing) for thing in shared] == before


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="from Python 3.12 these are never counted")
def test_objects_that_all_share_are_held_about_as_often_as_before(State):
    shared = [None, True, False, ()]
    use_everything(State, built_in("lion"), full_deck())
    before = [sys.getrefcount(thing) for thing in shared]
    for _ in range(GAMES[State.__module__]):
        use_everything(State, built_in("lion"), full_deck())
    gc.collect()
    assert [
        abs(sys.getrefcount(thing) - count) < 100
        for thing, count in zip(shared, before, strict=True)
    ] == [True] * 4


def test_a_state_holds_its_board_and_its_deck_once(both):
    _, native = both
    board = Board("own", built_in("bird").rows)
    native(board, 2, [0])
    alone = sys.getrefcount(board)
    states = [native(board, 2, [0]) for _ in range(10)]
    states += [states[0].copy() for _ in range(10)]
    held, geometry = sys.getrefcount(board), vars(board)["_native"]
    held_geometry = sys.getrefcount(geometry)
    states.clear()
    assert held == alone + 20
    assert sys.getrefcount(board) == alone
    assert sys.getrefcount(geometry) == held_geometry - 20


def resident_kb():
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


def calls_that_repeat(native):
    state, deck = middle_of_a_game(native, 3, 30, "lion"), full_deck()
    moves, twin = state.legal_moves()[:1], state.copy()
    provinces = [
        (colour, area.mask, area.owner, area.pagodas) for colour, area in state.provinces()
    ]
    setup = (
        state.board,
        [state.spaces(colour) for colour in range(3)],
        provinces,
        state.villages,
        state.left,
        state.hands,
        deck,
    )
    return {
        "copies": (20_000, state.copy),
        "deep copies": (1_000, lambda: copy.deepcopy(state)),
        "comparisons": (1_000, lambda: state == twin),
        "games": (4_000, lambda: native(state.board, 2, deck).playout(1)),
        "greedy games": (50, lambda: native(state.board, 2, deck).playout(1, "greedy")),
        "choices": (4_000, lambda: state.choice(1, "careful", 2)),
        "refused choices": (20_000, lambda: outcome(state.choice, 1, "careful", -1)),
        "outlooks": (4_000, state.outlooks),
        "rollouts": (4_000, lambda: state.rollouts(state.mover, 1, 1, "uniform", moves)),
        "refused rollouts": (
            20_000,
            lambda: outcome(state.rollouts, state.mover, 1, 1, "uniform", [*moves, "x"]),
        ),
        "new piles": (20_000, lambda: state.set_pile(deck)),
        "refused piles": (20_000, lambda: outcome(state.set_pile, [0, 9])),
        "positions": (4_000, lambda: native.set_up(*setup)),
        "refused positions": (10_000, lambda: outcome(native.set_up, *setup[:-1], [9])),
        "states of nine": (20_000, lambda: outcome(native, state.board, 9, deck)),
        "states of no tiles": (20_000, lambda: outcome(native, state.board, 2, [0, "x"])),
        "states on no board": (20_000, lambda: outcome(native, None, 2, deck)),
        "new boards": (300, lambda: native(Board("new", state.board.rows), 2, deck)),
        "illegal moves": (10_000, lambda: outcome(state.play, 1 << 40)),
    }


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(),
    reason="this system does not say how much memory is resident",
)
@pytest.mark.skipif(
    "asan" in os.environ.get("LD_PRELOAD", ""), reason="the address sanitizer keeps what is freed"
)
def test_memory_does_not_grow_however_often_a_call_is_made(both):
    """A call that loses memory loses it in every round, so one round of three without growth is
    enough: in the first one Python's own stores of free objects still fill up.

    Python counts all it gives out in blocks of up to 512 bytes, so one that is lost in each call
    shows at once. What is larger shows as two megabytes after 4,000 calls.
    """
    grown = {}
    for name, (times, work) in calls_that_repeat(both[1]).items():
        rounds = []
        for _ in range(3):
            kilobytes, blocks = growth_in_one_round(times, work)
            rounds.append((kilobytes, blocks))
            if kilobytes <= 1024 and blocks <= 100:
                break
        else:
            grown[name] = rounds
    assert grown == {}


def growth_in_one_round(times, work):
    """The kilobytes of resident memory and the blocks that `times` calls of `work` leave behind."""
    gc.collect()
    kilobytes, blocks = resident_kb(), sys.getallocatedblocks()
    for _ in range(times):
        outcome(work)
    gc.collect()
    return resident_kb() - kilobytes, sys.getallocatedblocks() - blocks


@pytest.mark.skipif(
    sys.version_info >= (3, 12),
    reason="from Python 3.12 the interpreter itself crashes when its own code finds no memory",
)
def test_when_memory_runs_out_nothing_breaks_and_nothing_is_lost(both):
    pytest.importorskip("_testcapi")
    program = [sys.executable, "-X", "faulthandler", str(Path(__file__).with_name("starved.py"))]
    done = subprocess.run(
        program,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("survived")
