"""Run by test_leaks.py in a process of its own: what the native core does when memory runs out, at
every place where it can.

Each call is made with its first allocation failing, then with its second, and so on. It must raise
MemoryError or succeed, leave the state whole, and lose nothing when it is repeated.
"""

import _testcapi
import gc
import sys

from arena.errors import IllegalMoveError
from arena.rules.boards import Board
from arena.rules.native import State
from arena.rules.setup import checked_setup
from tests.rules.positions import full_deck, middle_of_a_game, state_text

MOST = 5000
ENOUGH = 12
"""So many successes one after another mean that there are no more allocations to fail; the odd one
is made good by Python itself.
"""
CALLS = 20
INTERPRETERS_OWN = "error return without exception set"
"""What CPython 3.11 says when a frame of plain Python finds no memory; a C function that forgets
its exception reads differently.
"""


def succeeds(work, failing):
    """Makes the call with one allocation failing."""
    _testcapi.set_nomemory(failing, failing + 1)
    try:
        work()
    except MemoryError:
        return False
    except SystemError as error:
        if str(error) != INTERPRETERS_OWN:
            raise
        return False
    finally:
        _testcapi.remove_mem_hooks()
    return True


def loses(work, failing):
    """Whether every repetition costs memory; what Python keeps for later use comes to an end."""
    for _ in range(40):
        before = sys.getallocatedblocks()
        for _ in range(CALLS):
            succeeds(work, failing)
        if (
            sys.getallocatedblocks() - before < CALLS
            or (gc.collect(), sys.getallocatedblocks() - before)[1] < CALLS
        ):
            return False
    return True


def starve(name, work, first=0):
    """Lets each allocation of the call fail; returns how many there are. ``first`` passes over
    those that are Python's own.
    """
    row = 0
    for failing in range(first, MOST):
        row = row + 1 if succeeds(work, failing) else 0
        if row == ENOUGH:
            return failing + 1 - ENOUGH
        assert not loses(work, failing), f"{name} loses memory when allocation {failing} fails"
    raise AssertionError(f"{name} never got through")


def refused(work):
    try:
        work()
    except (ValueError, IllegalMoveError):
        return


def new_board(board):
    """A state on a board that has no geometry yet."""
    vars(board).pop("_native", None)
    return State(board, 2, [0])


def works(state):
    """The calls, and how many allocations at their beginning are not the core's."""
    board, deck, own = state.board, full_deck(), Board("own", state.board.rows)
    twin = state.copy()
    moves, areas = state.legal_moves()[:2], state.provinces()
    spaces = [state.spaces(colour) for colour in range(3)]
    provinces = [(colour, area.mask, area.owner, area.pagodas) for colour, area in areas]
    held = (state.villages, state.left, state.hands, state.pile_tiles(), state.mover)
    setup = (board, spaces, provinces, *held)
    checking = starve_quietly(lambda: checked_setup(*setup))
    return {
        "new on a new board": (lambda: new_board(own), 0),
        "new": (lambda: State(board, 2, deck), 0),
        "set_up": (lambda: State.set_up(*setup), checking),
        "copy": (state.copy, 0),
        "equality": (lambda: state == twin, 0),
        "play": (lambda: state.copy().play(moves[0], []), 0),
        "an illegal move": (lambda: refused(lambda: state.play(moves[0] ^ 1)), 0),
        "bad players": (lambda: refused(lambda: State(board, 9, deck)), 0),
        "a bad deck": (lambda: refused(lambda: State(board, 2, [77] * 9)), 0),
        "provinces": (state.provinces, 0),
        "legal_moves": (state.legal_moves, 0),
        "placements": (lambda: state.placements(range(6)), 0),
        "net_gain": (lambda: state.net_gain(moves[0]), 0),
        "choice": (lambda: state.choice(1, "careful", 4), 0),
        "playout": (lambda: state.copy().playout(1, "greedy"), 0),
        "rollouts": (lambda: state.rollouts(state.mover, 1, 1, "greedy", moves), 0),
        "outlooks": (state.outlooks, 0),
        "set_hand": (lambda: state.copy().set_hand(0, [1, 2]), 0),
        "set_pile": (lambda: state.copy().set_pile([1, 2]), 0),
        "attributes": (
            lambda: [
                getattr(state, name) for name in ("hands", "left", "villages", "retired", "free")
            ],
            0,
        ),
        "lists": (lambda: [state.ranks(), state.tiles_placed(), state.nth(0)], 0),
        "counts": (lambda: [state.pile_tiles(), state.placed(1), state.spaces(1)], 0),
    }


def starve_quietly(work):
    """How many allocations a call of plain Python makes."""
    row = 0
    for failing in range(MOST):
        row = row + 1 if succeeds(work, failing) else 0
        if row == ENOUGH:
            return failing + 1 - ENOUGH
    raise AssertionError("the check of positions never got through")


def main():
    state = middle_of_a_game(State, 3, 40, "lion")
    before = state_text(state)
    counts = {name: starve(name, work, first) for name, (work, first) in works(state).items()}
    assert state_text(state) == before
    print("survived", counts)


if __name__ == "__main__":
    main()
