"""Anything at all, put into both cores: they must take it alike or refuse it with the same words,
and never break.
"""

import random

from hypothesis import given
from hypothesis import strategies as st

from arena.errors import ArenaError, BoardError, InvalidMoveError, NotationError
from arena.rules.boards import Board, built_in, parse_board
from arena.rules.notation import deck_text, move_text, parse_deck, parse_move, parse_square
from arena.rules.positions import read_cells
from tests.rules.positions import full_deck, state_text
from tests.rules.twins import compare, outcome, play_both, play_on

numbers = st.one_of(st.integers(-3, 9), st.integers(-3, 20_000), st.integers(-(2**70), 2**70))
tiles = st.lists(st.one_of(st.integers(0, 6), st.integers(-2, 8)), max_size=8)


def rows_of(width):
    return st.lists(
        st.text(alphabet="....RYBV~", min_size=width, max_size=width), min_size=1, max_size=26
    )


board_texts = st.one_of(
    st.text(alphabet=".V~RYB\n", min_size=1, max_size=60),
    st.integers(1, 26).flatmap(rows_of).map("\n".join),
)


def exactly(size, values):
    return st.lists(values, min_size=size, max_size=size)


def new_pair(both, players=2, seed=0, name="bird"):
    deck = full_deck()
    random.Random(seed).shuffle(deck)
    return [state_class(built_in(name), players, deck) for state_class in both]


@given(board_texts, st.integers(2, 4), st.integers(0, 99))
def test_any_board_text_is_refused_or_played_alike(both, text, players, seed):
    try:
        board = parse_board("any", text)
    except ArenaError:
        return
    play_both(both, board, players, seed)


@given(numbers)
def test_any_number_is_a_legal_move_in_both_cores_or_in_neither(both, number):
    one, other = new_pair(both)
    assert one.is_legal(number) == other.is_legal(number)
    assert outcome(one.play, number) == outcome(other.play, number)
    assert state_text(one) == state_text(other)


@given(st.text(alphabet="RYBabcdefghijklm0123456789 pas", max_size=9), st.integers(0, 99))
def test_any_text_is_played_alike_or_is_no_move(both, text, seed):
    one, other = new_pair(both, seed=seed)
    try:
        move = parse_move(one.board, text)
    except InvalidMoveError:
        return
    assert parse_move(one.board, move_text(one.board, move)) == move
    assert outcome(one.play, move) == outcome(other.play, move)
    compare(one, other)


@given(st.text(alphabet="abcz0129A ", max_size=4), st.integers(1, 26), st.integers(1, 26))
def test_any_text_is_a_square_of_the_board_or_refused(text, width, height):
    board = Board("any", ("R" * width,) * height)
    try:
        square = parse_square(board, text)
    except NotationError:
        return
    assert board.name_of(square) == text
    assert divmod(square, board.stride) < (height, width)


@given(
    st.one_of(
        st.text(alphabet="RYB", max_size=150),
        st.permutations(full_deck()).map(lambda deck: deck_text(tuple(deck))),
    )
)
def test_any_text_is_a_deck_or_refused(text):
    try:
        deck = parse_deck(text)
    except NotationError:
        return
    assert sorted(deck) == full_deck()
    assert parse_deck(deck_text(deck)) == deck


cells = st.sampled_from(
    [".", ".", "~", "V", "V0", "V1", "R", "R0", "R0", "R1", "Y", "Y1", "B0", "B3", "R9", "G", "0R"]
)


@given(
    st.integers(1, 7).flatmap(
        lambda width: st.lists(exactly(width, cells), min_size=1, max_size=7)
    ),
    tiles,
)
def test_any_drawing_is_set_up_alike_or_refused(both, rows, hand):
    text = "\n".join(" ".join(row) for row in rows)
    try:
        board, spaces, provinces, villages = read_cells("drawn", text)
    except (BoardError, NotationError):
        return
    one, other = (
        outcome(core.set_up, board, spaces, provinces, villages, [9] * 4, [hand] * 4, [0, 3, 5, 1])
        for core in both
    )
    if isinstance(one, tuple):
        assert one == other
    else:
        play_on(one, other, random.Random(len(text)))


@given(numbers, st.lists(st.one_of(st.integers(-1, 7), numbers), max_size=80))
def test_any_deck_is_dealt_alike_or_refused(both, players, deck):
    one, other = (outcome(state_class, built_in("lion"), players, deck) for state_class in both)
    if isinstance(one, tuple):
        assert one == other
    else:
        compare(one, other)


def call(state, name, first, second, some):
    """One call of a state with arguments out of what was drawn."""
    policy = ["uniform", "greedy", "careful", "x"][first % 4]
    moves = state.legal_moves()
    arguments = {
        "set_hand": (first, some),
        "set_pile": (some,),
        "placements": (some,),
        "choice": (second, policy, second % 5 - 1),
        "outlooks": (),
        "playout": (second, policy, second % 4, first % 9),
        "rollouts": (first, second % 3, 7, "uniform", moves[:2] or None, 0, second % 9),
    }.get(name, (first,))
    if name == "play_nth":
        return outcome(state.play, moves[first % len(moves)] if moves else -1, [])
    return outcome(getattr(state, name), *arguments)


CALLS = [
    "can_move", "choice", "is_legal", "net_gain", "nth", "outlook", "outlooks", "placed",
    "placements", "play", "playout", "retire", "play_nth", "play_nth", "play_nth", "rollouts",
    "set_hand", "set_pile", "spaces", "why_illegal",
]  # fmt: skip
calls = st.lists(st.tuples(st.sampled_from(CALLS), numbers, numbers, tiles), max_size=30)


@given(st.sampled_from(["bird", "lion"]), st.integers(2, 4), st.integers(0, 99), calls)
def test_any_calls_in_any_order_are_answered_alike(both, name, players, seed, made):
    one, other = new_pair(both, players, seed, name)
    for which, first, second, some in made:
        assert call(one, which, first, second, some) == call(other, which, first, second, some)
        compare(one, other)


@st.composite
def positions(draw):
    """The arguments of set_up, most of them fitting: areas of a random board as provinces, now and
    then something else.
    """
    row = st.text(alphabet="....RRYBV~", min_size=6, max_size=6)
    rows = draw(st.lists(row, min_size=3, max_size=6))
    board = parse_board("any", "\n".join(["R.....", *rows]))
    players = draw(st.integers(2, 4))
    provinces = [
        (colour, area, draw(st.integers(0, players - 1)), 2 if area.bit_count() >= 5 else 1)
        for area in board.founding
        for colour, start in enumerate(board.starts)
        if area & start and draw(st.integers(0, 3))
    ]
    arguments = {
        "board": board,
        "spaces": list(board.starts),
        "provinces": provinces,
        "villages": draw(exactly(len(board.villages), st.integers(-1, players - 1))),
        "left": draw(exactly(players, st.integers(1, 15))),
        "hands": draw(exactly(players, st.lists(st.integers(0, 5), min_size=2, max_size=3))),
        "pile": draw(st.lists(st.integers(0, 5), max_size=12)),
        "mover": draw(st.integers(0, players - 1)),
        "placed": draw(exactly(6, st.integers(0, 12))),
    }
    odd = draw(st.sampled_from([*arguments, *["nothing"] * 8]))
    entry = st.tuples(
        st.integers(-1, 3), st.integers(-1, 2**60), st.integers(-1, 4), st.integers(-1, 3)
    )
    if odd == "spaces":
        arguments[odd] = draw(exactly(3, st.integers(-1, 2**50)))
    elif odd in ("villages", "left", "pile", "placed"):
        arguments[odd] = draw(st.lists(numbers, max_size=5))
    elif odd == "provinces":
        arguments[odd] = draw(
            st.one_of(st.lists(entry, max_size=12), st.just(provinces * 2), st.just([(1, 2)]))
        )
    elif odd == "hands":
        arguments[odd] = draw(st.lists(tiles, max_size=5))
    elif odd == "mover":
        arguments[odd] = draw(numbers)
    return arguments


@given(positions(), st.integers(0, 99))
def test_any_position_is_set_up_alike_or_refused(both, arguments, seed):
    one, other = (outcome(state_class.set_up, **arguments) for state_class in both)
    if isinstance(one, tuple):
        assert one == other
    else:
        play_on(one, other, random.Random(seed))
