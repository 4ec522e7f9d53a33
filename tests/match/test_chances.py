"""What a judge says of the chances in a game, and where the result of a seat came from."""

from functools import partial

import msgspec
import pytest

from arena.match import chances
from arena.match.chances import JudgedStep, StepChances, judged_step, sources_of, step_chances
from arena.match.grading import grade
from arena.match.replay import positions, start_state
from arena.records.grades import Judge
from arena.records.record import shares
from arena.rules.notation import PASSED, play_text
from tests.support.graded import BIRD, GAMES, game_of

QUICK = Judge("random", 50, 1)
RECORD = GAMES[0]


def steps_of(record):
    """The state before each move of a record, and the move."""
    return [
        (state.copy(), play_text(state.copy(), text)) for state, text in positions(record, BIRD)
    ]


@pytest.mark.parametrize("names", [("random", "greedy-8"), ("greedy", "random", "careful-2")])
def test_the_sources_of_all_seats_lead_from_an_equal_share_to_the_result(names, monkeypatch):
    monkeypatch.setattr(chances, "step_chances", partial(step_chances, deals=20))
    record = game_of(*names)
    for seat in range(len(names)):
        steps = [
            judged_step(state, move, seat, record.id, Judge("random", 4, 1))
            for state, move in steps_of(record)
        ]
        sources = sources_of(steps, record.ranks, seat)
        result = shares(record.ranks)[seat]
        assert sum(sources) == pytest.approx(result - 1 / len(names))
        assert steps[-1].chances.after == result
        assert sources.own == pytest.approx(-sum(step.grade.cost for step in steps if step.grade))


def test_a_draw_counts_for_the_tiles_and_a_cost_for_the_seat_s_own_moves():
    grade_of_own = grade(RECORD, BIRD, 4, QUICK)
    figures = [StepChances(0.5, 0.5), StepChances(0.4, 0.7), StepChances(0.8, 0.0)]
    grades = [msgspec.structs.replace(grade_of_own, cost=0.3), None, None]
    steps = [JudgedStep(*pair) for pair in zip(figures, grades, strict=True)]
    own, rivals, tiles = sources_of(steps, [2, 1], 0)
    assert own == -0.3
    assert tiles == pytest.approx(-0.1 + 0.1)
    assert rivals == pytest.approx(-0.5 + 0.3)


def test_a_step_is_judged_the_same_wherever_and_its_grade_is_that_of_the_finished_game():
    at, (state, move) = next(
        (at, step) for at, step in enumerate(steps_of(RECORD)) if step[0].mover == 0 and at > 8
    )
    judged = judged_step(state, move, 0, RECORD.id, QUICK)
    assert judged == judged_step(state, move, 0, RECORD.id, QUICK)
    turn = sum(text != PASSED for text in RECORD.moves[:at])
    assert judged.grade == grade(RECORD, BIRD, turn, QUICK)
    of_rival = judged_step(state, move, 1, RECORD.id, QUICK)
    assert of_rival.grade is None
    assert of_rival.chances.before == pytest.approx(1 - judged.chances.before)


def test_the_order_of_the_pile_does_not_change_a_chance():
    state = start_state(RECORD, BIRD)
    turned = state.copy()
    turned.set_pile(state.pile_tiles()[::-1])
    move = state.legal_moves()[3]
    one = step_chances(state, move, 0, QUICK, 3, 400)
    other = step_chances(turned, move, 0, QUICK, 3, 400)
    assert one.before == pytest.approx(other.before, abs=0.12)
    assert one.after == pytest.approx(other.after, abs=0.12)
