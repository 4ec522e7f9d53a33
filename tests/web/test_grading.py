"""The process that judges a person's moves while their game goes on."""

from arena.rules import State
from arena.rules.boards import built_in
from arena.web.grading import Grader
from tests.rules.positions import full_deck
from tests.support.waiting import wait_for


def test_a_process_that_died_is_replaced():
    """Else no later game on the server could be graded."""
    state = State(built_in("bird"), 2, full_deck())
    move = state.legal_moves()[0]
    grader = Grader()
    try:
        first = grader.submit(state, move, 0, "game")
        judged = first.result(120)
        grader._crew.kill()
        wait_for(lambda: grader._crew._broken, "the end of the process")
        assert grader.submit(state, move, 0, "game").result(120) == judged
    finally:
        grader.close()
