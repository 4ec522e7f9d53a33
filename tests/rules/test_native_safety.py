"""What no caller may do to the native core: break it by odd arguments, by changing things under its
hands, or from another thread.
"""

import gc
import re
import threading
from pathlib import Path

import pytest

from arena.rules.boards import Board, built_in, parse_board
from tests.rules.positions import full_deck, middle_of_a_game, state_text
from tests.rules.twins import compare, outcome


@pytest.fixture
def native(both):
    return both[1]


def spoil(state):
    """Changes all that can be changed of a state: a longer pile, other hands, a later turn."""
    state.play(state.nth(0))
    state.set_pile([0, 1] * 400)
    for seat in range(state.players):
        state.set_hand(seat, [5] * 300)
    state.retire(0)


def test_rollouts_start_from_the_position_at_the_call_whatever_happens_while_the_moves_are_read(
    State,
):
    state = middle_of_a_game(State)
    moves = state.legal_moves()[:3]
    expected = state.copy().rollouts(state.mover, 3, 5, "uniform", moves)

    def meddle():
        spoil(state)
        yield from moves

    assert state.rollouts(state.mover, 3, 5, "uniform", meddle()) == expected


def test_a_state_may_be_changed_and_dropped_while_other_threads_roll_it_out(native):
    """The rollouts run without the interpreter's lock; each begins
    when its moves have been read.
    """
    states = [middle_of_a_game(native, 2, turns) for turns in (8, 16, 24, 32)]
    moves = [state.legal_moves()[:12] for state in states]
    expected = [
        state.copy().rollouts(state.mover, 300, 5, "uniform", own)
        for state, own in zip(states, moves, strict=True)
    ]
    begun, results = [threading.Event() for _ in states], [None] * len(states)

    def work(number, state):
        def told():
            yield from moves[number]
            begun[number].set()

        results[number] = state.rollouts(state.mover, 300, 5, "uniform", told())

    threads = [threading.Thread(target=work, args=entry) for entry in enumerate(states)]
    for thread, event, state in zip(threads, begun, list(states), strict=True):
        thread.start()
        event.wait()
        for _ in range(20):
            spoil(state.copy())
        spoil(state)
    states.clear()
    gc.collect()
    for thread in threads:
        thread.join()
    assert results == expected


def test_a_copy_lives_on_when_the_board_has_lost_its_geometry(native):
    board = Board("own", built_in("lion").rows)
    state = native(board, 2, full_deck())
    vars(board).clear()
    twin = state.copy()
    del state
    gc.collect()
    filler = [bytes(100_000) for _ in range(20)]
    while twin.end is None:
        twin.playout(1)
    assert twin.turns > 30, filler[0]


@pytest.mark.parametrize("geometry", [1, "x", object()])
def test_what_is_no_geometry_is_refused(native, geometry):
    board = Board("own", built_in("lion").rows)
    board._native = geometry
    with pytest.raises(ValueError, match="PyCapsule"):
        native(board, 2, full_deck())


@pytest.mark.parametrize(
    ("attribute", "value", "error"),
    [
        ("stride", 2**40 + 5, ValueError),
        ("stride", 1, ValueError),
        ("stride", 28, ValueError),
        ("height", 27, ValueError),
        ("height", 0, ValueError),
        ("height", None, TypeError),
        ("villages", (), ValueError),
        ("beside", (1,) * 351, ValueError),
        ("beside", (1,) * 10_000, ValueError),
        ("beside", (1.5,), TypeError),
        ("founding", (1,) * 10_000, ValueError),
        ("founding", 3, TypeError),
        ("starts", (), IndexError),
        ("grass", "much", TypeError),
    ],
)
def test_a_board_that_is_none_is_refused(native, attribute, value, error):
    board = Board("own", built_in("bird").rows)
    setattr(board, attribute, value)
    with pytest.raises(error):
        native(board, 2, full_deck())


def test_most_villages_and_most_provinces_fit(both):
    """A board like a chequered cloth has a village on every other square; one of starts in pairs
    has the most provinces.
    """
    chequered = ["".join("V."[(row + column) % 2] for column in range(26)) for row in range(26)]
    chequered[25] = "RR" + chequered[25][2:]
    pairs = ["RR.YY.BB.RR.YY.BB.RR.YY.BB"[:26], "." * 26] * 13
    for rows in (chequered, pairs):
        board = parse_board("full", "\n".join(rows))
        one, other = (state_class(board, 4, full_deck()) for state_class in both)
        provinces = [
            (colour, area, 0, 1)
            for area in board.founding
            for colour in range(3)
            if area & board.starts[colour]
        ]
        arguments = (
            board,
            board.starts,
            provinces,
            [3] * len(board.villages),
            [9] * 4,
            [[0, 3]] * 4,
            full_deck(),
        )
        compare(one, other)
        compare(*(state_class.set_up(*arguments) for state_class in both))


class OddInt(int):
    """An int whose arithmetic and bytes are nonsense."""

    def __and__(self, other):
        return OddInt(3)

    __rand__ = __and__

    def to_bytes(self, *_):
        return b"x"


def test_ints_that_lie_are_taken_at_their_value(native):
    board = built_in("bird")
    spaces = [OddInt(mask) for mask in board.starts]
    state = native.set_up(
        board, spaces, [], [-1] * len(board.villages), [9, 9], [[OddInt(0)], [1]], [OddInt(2)]
    )
    assert [state.spaces(colour) for colour in range(3)] == list(board.starts)


def test_provinces_upon_each_other_are_refused(State, refused):
    board = parse_board("pair", "RR..\n....\n..V.")
    entry = (0, board.starts[0], 0, 1)
    for provinces in ([entry] * 20, [entry, (0, board.starts[0] | 1 << 2, 1, 1)]):
        with refused(ValueError):
            State.set_up(board, board.starts, provinces, [-1], [9, 9], [[0], [0]], [])


def test_a_long_pile_and_a_long_hand_are_kept_whole(State):
    state = middle_of_a_game(State)
    state.set_hand(1, [0, 6] * 1500)
    state.set_pile([5] * 3000)
    assert state.hands[1] == (0,) * 1500 + (6,) * 1500
    assert state.pile_tiles() == (5,) * 3000
    assert outcome(state.rollouts, state.mover, 1, 1)[0] is ValueError


def test_events_go_into_a_list_or_nothing_is_played(native, refused):
    state = middle_of_a_game(native)
    before = state_text(state)
    with refused(TypeError):
        state.play(state.nth(0), 7)
    assert state_text(state) == before


def test_hands_that_were_emptied_end_a_playout_at_once(State):
    state = middle_of_a_game(State)
    for seat in (0, 1):
        state.set_hand(seat, [])
    assert state.playout(1) == 0
    assert state.end == "no tiles"


def test_one_build_serves_every_version_of_python():
    """Formats with a length work only where the headers of the build and the running Python agree
    on how it is passed.
    """
    native = Path(__file__).parents[2] / "arena" / "rules" / "native"
    sources = [*native.glob("*.c"), *native.glob("*.inc")]
    source = "\n".join(path.read_text() for path in sources)
    assert "Py_LIMITED_API 0x030B0000" in source
    assert not re.findall(r'"[a-zA-Z|$()]*#[a-zA-Z|$()]*"', source)
