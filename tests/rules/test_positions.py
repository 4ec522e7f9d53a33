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


def test_a_finished_game_is_shown_but_not_read(State, refused):
    state = reached(State, "bird", 2, 70, 1)
    while state.end is None:
        state.play(random_move(state, random.Random(1)))
    text = position_text(state)
    assert text.split()[1] == "-"
    with refused(NotationError):
        parse_position(text, State)
    stuck = "RYB 0 24,24 RR,BB - 0,0,0,0,0,0 -"
    with refused(NotationError):
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
    ("old", "new"),
    [
        (PARTS, ""),
        (" -", ""),
        (" -", " - -"),
        (" 0 ", "  0 "),
        (PARTS, "R" * (MAX_CHARACTERS + 1)),
        (PARTS, "\x1b[31m"),
        ("R..V", "R.1V"),
        ("R..V", "R.27V"),
        ("R..V", "R.26V"),
        ("R..V", "G..V"),
        ("R..V", "R4..V"),
        ("R..V", ""),
        ("R..V", "R...V"),
        ("R..V", "...V"),
        ("R..V", "R0..V"),
        ("R..V", "R0R1.V"),
        ("R..V", "R2R2.V"),
        ("/.~", "/" * 30 + ".~"),
        (" 0 ", " 2 "),
        (" 0 ", " 4 "),
        (" 0 ", " - "),
        ("24,23", "24"),
        ("24,23", "24,023"),
        ("24,23", "24,2³"),
        ("24,23", "24,25"),
        ("24,23", "24,0"),
        ("RRYB,-", "RRYB"),
        ("RRYB,-", "RRYB,"),
        ("RRYB,-", "RRY,-"),
        ("RRYB,-", "RRRG,-"),
        ("RRYB,-", "RRRRRRRR,-"),
        ("YBRB", "9999"),
        ("YBRB", "72"),
        ("YBRB", "YB" * 12),
        ("YBRB", "0" * 3),
        ("1,0,0,0,0,0", "1,0,0,0,0"),
        ("1,0,0,0,0,0", "13,0,0,0,0,0"),
        ("1,0,0,0,0,0", "12,0,0,0,0,0"),
        ("1,0,0,0,0,0", "-1,0,0,0,0,0"),
        (" -", " 10"),
        (" -", " 2"),
        (" -", " 01"),
    ],
)
def test_what_is_no_position_gets_a_sentence(old, new, State, refused):
    assert old in PARTS
    text = new.join(PARTS.rsplit(old, 1))
    with refused((NotationError, BoardError)):
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
