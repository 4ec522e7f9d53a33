"""Positions as lines in the SDK: a bot's function is tried on them."""

from arena.errors import NotationError
from arena.rules.notation import UNKNOWN
from arena.sdk import position_of

LINE = "R0R0.2V/.5 1 23,24 YYYB,RRYYBB RBYBYB 1,0,0,0,0,0 -"


def test_a_line_becomes_what_the_seat_to_move_sees():
    position = position_of(LINE, time_ms=300, seed=4)
    assert (position.seat, position.mover, position.turns) == (1, 1, 1)
    assert (position.hand, position.left, position.pile) == (["RR", "YY", "BB"], [23, 24], 3)
    assert (position.time_ms, position.rng.random()) == (
        300,
        position_of(LINE, seed=4).rng.random(),
    )
    assert position.state.hands[0] == (UNKNOWN, UNKNOWN)
    assert position.unseen()["RR"] == 10
    assert position.line == LINE.replace("YYYB,", "????,").replace("RBYBYB", "3")
    assert position_of(position.line).line == position.line


def test_another_seat_may_look_and_the_line_may_be_that_seats(refused):
    assert position_of(LINE, 0).hand == ["YY", "YB"]
    of_seat_0 = position_of(LINE, 0).line
    assert position_of(of_seat_0).seat == 0
    assert position_of(LINE).play("Rc1Rd1").line.split()[3] == "????,YYBB??"
    with refused(ValueError):
        position_of(of_seat_0, 1)
    with refused(ValueError):
        position_of(LINE, 2)


def test_a_search_works_on_it():
    pile = ["YY", "BB", "RY", "YB", "RB"]
    line = f"R0R0.2V/.5 1 23,24 ??????,RRYYBB {72 - 1 - 6} 1,0,0,0,0,0 -"
    position = position_of(line)
    assert len(position.rollouts(2)) == len(position.legal_moves()) == len(position.outlooks())
    assert set(position.unseen()) == {"RR", *pile}


def test_what_is_no_position_is_refused(refused):
    with refused(NotationError):
        position_of("bird")
