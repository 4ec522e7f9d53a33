"""A position as one line of text: through it and back on both cores, and what is no position."""

import random
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import BoardError, NotationError
from arena.rules import State as InUse
from arena.rules.boards import built_in, parse_board
from arena.rules.notation import UNKNOWN
from arena.rules.positions import MAX_CHARACTERS, parse_position, position_text
from arena.sdk.areas import dealt
from tests.protocol.vectors import BOARDS
from tests.rules.positions import full_deck, random_move, state_text

PARTS = "R..V/.~.. 0 24,23 RRYB,- YBRB 1,0,0,0,0,0 -"
GAMES = st.tuples(
    st.sampled_from(["bird", "lion", "pond", "twins", "gap"]),
    st.integers(2, 4),
    st.integers(0, 70),
    st.integers(0, 999),
)


def reached(state_class, name, players, turns, seed):
    """A position of a random game, the last one in which somebody was to move."""
    rng, deck = random.Random(seed), full_deck()
    rng.shuffle(deck)
    state = state_class(parse_board(name, "\n".join(BOARDS[name])), players, deck)
    if seed % 3 == 0:
        state.retire(seed % players)
    before = state
    while state.end is None and state.turns < turns:
        before = state.copy()
        state.play(random_move(state, rng))
    return before if state.end else state


@given(GAMES)
def test_a_position_goes_through_text_and_is_played_alike(both, game):
    texts = set()
    for state_class in both:
        state = reached(state_class, *game)
        text = position_text(state)
        again = parse_position(text, state_class)
        assert (position_text(again), state_text(again)) == (text, state_text(state))
        assert (again.retired, again.tiles_placed()) == (state.retired, state.tiles_placed())
        seen = parse_position(position_text(state, state.mover), state_class)
        if not state.must_pass():
            moves = state.legal_moves()[:2]
            tried = [some.rollouts(state.mover, 1, 5, moves=moves) for some in (state, again, seen)]
            assert tried[0] == tried[1] == tried[2]
        assert again.playout(3) == state.playout(3)
        assert state_text(again) == state_text(state)
        texts.add(text)
    assert len(texts) == 1


@given(GAMES)
def test_what_a_seat_cannot_tell_apart_has_one_text(game):
    state = reached(InUse, *game)
    for seat in range(state.players):
        text = position_text(state, seat)
        assert position_text(parse_position(text, InUse), seat) == text
        other = parse_position(text, InUse)
        assert other.hands[seat] == state.hands[seat]
        hidden = [tile for own, hand in enumerate(other.hands) if own != seat for tile in hand]
        assert {*hidden, *other.pile_tiles()} <= {UNKNOWN}
        assert position_text(dealt(other, seat, random.Random(1)), seat) == text


def test_a_finished_game_is_shown_but_not_read(State):
    state = reached(State, "bird", 2, 70, 1)
    while state.end is None:
        state.play(random_move(state, random.Random(1)))
    text = position_text(state)
    assert text.split()[1] == "-"
    with pytest.raises(NotationError, match="the game of this position is over"):
        parse_position(text, State)
    stuck = "RYB 0 24,24 RR,BB - 0,0,0,0,0,0 -"
    with pytest.raises(NotationError, match="the game of this position is over"):
        parse_position(stuck, State)


def test_the_opening_of_bird_is_one_short_line():
    state = InUse(built_in("bird"), 2, [0] * 6 + [UNKNOWN] * 66)
    text = position_text(state, 0)
    assert text.endswith(" 0 24,24 RRRRRR,?????? 66 0,0,0,0,0,0 -")
    assert len(text) < 140


def test_a_line_is_read_in_other_orders_and_written_in_one():
    other = "R..V/.~.. 0 24,23 BYRR,- BYRB 1,0,0,0,0,0 -"
    assert position_text(parse_position(other, InUse)) == PARTS.replace("..", ".2")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (PARTS, "", "expected 7 fields"),
        (" -", "", "expected 7 fields"),
        (" -", " - -", "expected 7 fields"),
        (" 0 ", "  0 ", "expected 7 fields|seat to move"),
        (
            PARTS,
            "R" * (MAX_CHARACTERS + 1),
            r"expected 7 fields .*, got 'R{40}'\.\.\. \(2001 characters\)",
        ),
        (PARTS, "\x1b[31m", r"got '\\x1b\[31m'"),
        ("R..V", "R.1V", "cells such as . .13 ~ R V0 in row 1 of the board, got '1V'"),
        ("R..V", "R.27V", "in row 1 of the board, got '7V'"),
        ("R..V", "R.26V", "row 1, column 27: expected at most 26 columns"),
        ("R..V", "G..V", "in row 1 of the board, got 'G..V'"),
        ("R..V", "R4..V", "in row 1 of the board, got '4..V'"),
        ("R..V", "", "in row 1 of the board, got 'nothing'"),
        ("R..V", "R...V", "row 2, column 5: expected 5 squares as in row 1, got 4"),
        ("R..V", "...V", "expected at least one start"),
        ("R..V", "R0..V", "a1: expected a province of two or more spaces"),
        ("R..V", "R0R1.V", "expected R0 as in the rest of its area on the board, got 'R1'"),
        ("R..V", "R2R2.V", "expected provinces as"),
        ("/.~", "/" * 30 + ".~", "in row 2 of the board, got 'nothing'"),
        (" 0 ", " 2 ", "expected a mover from 0 to 1, got 2"),
        (" 0 ", " 4 ", "expected the seat to move, 0 to 3, got '4'"),
        (" 0 ", " - ", "the game of this position is over"),
        ("24,23", "24", "expected 2 to 4 players, got 1"),
        ("24,23", "24,023", "expected numbers in the field left"),
        ("24,23", "24,2³", "expected numbers in the field left"),
        ("24,23", "24,25", "expected 1 to 24 pagodas left"),
        ("24,23", "24,0", "expected 1 to 24 pagodas left"),
        ("RRYB,-", "RRYB", "expected 2 hands, got 1"),
        ("RRYB,-", "RRYB,", "expected tiles such as RRYB in the field hands, or -, got 'RRYB,'"),
        ("RRYB,-", "RRY,-", "expected tiles such as RRYB in the field hands"),
        ("RRYB,-", "RRRG,-", "expected a tile out of RR YY BB RY YB RB, got 'RG'"),
        ("RRYB,-", "RRRRRRRR,-", "expected hands of up to 3 tiles, got '4'"),
        ("YBRB", "9999", "expected tiles such as|a tile out of"),
        ("YBRB", "72", "expected at most 72 tiles, got '75'"),
        ("YBRB", "YB" * 12, "expected at most 12 tiles YB, got '13'"),
        ("YBRB", "0" * 3, "expected tiles such as RRYB in the field pile"),
        ("1,0,0,0,0,0", "1,0,0,0,0", "expected 0 to 12 placed for each of 6 tiles"),
        ("1,0,0,0,0,0", "13,0,0,0,0,0", "expected 0 to 12 placed for each of 6 tiles"),
        ("1,0,0,0,0,0", "12,0,0,0,0,0", "expected at most 12 tiles RR, got '13'"),
        ("1,0,0,0,0,0", "-1,0,0,0,0,0", "expected numbers in the field placed"),
        (" -", " 10", "expected the seats that have left"),
        (" -", " 2", "expected a seat from 0 to 1, got 2"),
        (" -", " 01", "the game of this position is over"),
    ],
)
def test_what_is_no_position_gets_a_sentence(old, new, told, State):
    assert old in PARTS
    text = new.join(PARTS.rsplit(old, 1))
    with pytest.raises((NotationError, BoardError), match=told):
        parse_position(text, State)


@given(st.data())
def test_a_line_with_a_mistake_is_refused_or_has_its_one_text(data):
    text = position_text(reached(InUse, *data.draw(GAMES)))
    at = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(at, min(len(text), at + 3)))
    other = data.draw(st.text(alphabet="RYBV.~/,-? 0123456789", max_size=3) | st.text(max_size=3))
    wrong = text[:at] + other + text[end:]
    with suppress(NotationError, BoardError):
        meant = position_text(parse_position(wrong, InUse))
        assert position_text(parse_position(meant, InUse)) == meant
