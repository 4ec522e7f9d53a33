"""The process that judges a person's moves while their game goes on."""

from concurrent.futures import Future

from arena.rules import State
from arena.rules.boards import built_in
from arena.web.grading import GameGrades, Grader
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
        crew = grader._process._crew
        crew.kill()
        wait_for(lambda: crew._broken, "the end of the process")
        assert grader.submit(state, move, 0, "game").result(120) == judged
    finally:
        grader.close()


def test_what_is_taken_back_leaves_the_judgements_of_the_game_before_alone():
    """A game that goes on from another one shares its judgements, which may not be ready yet."""
    state = State(built_in("bird"), 2, full_deck())
    move = state.legal_moves()[0]
    grader = _Waiting()
    before = GameGrades(grader, "before", 0)
    for step in range(4):
        before.add(step, state, move)
    before.hand_out()
    after = GameGrades(grader, "after", 0, before.first(3))
    after.add(3, state, move)
    after.hand_out()
    after.cut(1)
    assert [future.cancelled() for future in before.first(4)] == [False] * 4
    assert grader.futures[4].cancelled(), "nobody else waits for this one"


class _Waiting:
    """In the place of a `Grader`: its judgements are never ready."""

    def __init__(self):
        self.futures = []

    def submit(self, *_):
        self.futures.append(Future())
        return self.futures[-1]
