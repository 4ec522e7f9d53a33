"""The native core beside the pure one: the same moves in the same order, texts, events, errors and
playouts.
"""

import copy
import gc
import inspect
import os
import pickle
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arena.errors import ArenaError
from arena.rules.boards import Board, built_in, parse_board
from arena.rules.notation import PASS, UNKNOWN, parse_move
from arena.rules.setup import checked_setup, parts_of
from tests.rules.positions import (
    full_deck,
    middle_of_a_game,
    position,
    random_board,
    random_move,
    state_text,
)
from tests.rules.twins import play_both

ROOT = Path(__file__).parents[2]
GAMES = int(os.environ.get("ARENA_IDENTITY_GAMES", "360"))
"""Games over all batches; `make fuzz` raises it."""
BATCHES = [0, 1, *(pytest.param(batch, marks=pytest.mark.long) for batch in range(2, 6))]


@pytest.mark.parametrize("batch", BATCHES)
def test_random_games_are_the_same_in_both_cores(both, batch):
    for seed in range(batch, GAMES, len(BATCHES)):
        rng = random.Random(f"board {seed}")
        board = [
            built_in("bird"),
            built_in("lion"),
            random_board(rng, 4),
            random_board(rng, 13),
            random_board(rng, 26),
        ][seed % 5]
        play_both(both, board, 2 + seed // 5 % 3, seed)


POLICIES = [
    ("uniform", 0, 0), ("uniform", 0, 7), ("greedy", 0, 0), ("greedy", 8, 0), ("careful", 0, 4),
    ("careful", 5, 9),
]  # fmt: skip


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_playouts_are_the_same_in_both_cores(both, players, policy):
    rng = random.Random(players)
    for seed in range(40 if policy[0] == "uniform" else 3):
        deck = full_deck()
        rng.shuffle(deck)
        one, other = (state_class(built_in("lion"), players, deck) for state_class in both)
        for _ in range(30):
            move = random_move(one, rng)
            one.play(move)
            other.play(move)
        assert one.playout(seed, *policy) == other.playout(seed, *policy)
        assert state_text(one) == state_text(other)
        for seat in range(players):
            assert one.outlook(seat) == other.outlook(seat)


def test_a_game_played_out_turn_by_turn_ends_at_the_same_turn_in_both_cores(both):
    for seed in range(8):
        deck = full_deck()
        random.Random(seed).shuffle(deck)
        one, other = (state_class(built_in("lion"), 4, deck) for state_class in both)
        while one.end is None:
            assert one.playout(seed, turns=1) == other.playout(seed, turns=1)
            assert one.end == other.end
        assert state_text(one) == state_text(other)


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_rollouts_are_the_same_in_both_cores_whatever_is_hidden(both, players, policy):
    rng = random.Random(players)
    deck = full_deck()
    rng.shuffle(deck)
    known = [state_class(built_in("bird"), players, deck) for state_class in both]
    unseen = [state_class(built_in("bird"), players, [UNKNOWN] * 72) for state_class in both]
    for _ in range(36):
        move = random_move(known[0], rng)
        for state in (*known, *unseen):
            state.play(move)
    seat = known[0].mover
    for state in unseen:
        state.set_hand(seat, known[0].hands[seat])
    name, among, turns = policy
    moves = known[0].legal_moves()[:: 6 if name == "uniform" else 60]
    results = [
        state.rollouts(seat, 2, 11, name, moves, among, turns) for state in (*known, *unseen)
    ]
    assert all(result == results[0] for result in results)
    assert results[0][0] == moves
    assert state_text(known[0]) == state_text(known[1])


def test_rollouts_that_take_long_are_the_same_in_both_cores(both):
    """The native core plays them in chunks."""
    states = [middle_of_a_game(state_class) for state_class in both]
    moves = states[0].legal_moves()[:12]
    one, other = (state.rollouts(state.mover, 100, 5, "uniform", moves) for state in states)
    assert one == other


INTERRUPTED = """
import importlib, signal, sys
from tests.rules.positions import middle_of_a_game

signal.signal(signal.SIGINT, signal.default_int_handler)
state = middle_of_a_game(importlib.import_module(sys.argv[1]).State)


def moves():
    yield from state.legal_moves()
    print("all moves read", flush=True)


try:
    state.rollouts(state.mover, 1_000_000, 1, "careful", moves())
except KeyboardInterrupt:
    print("interrupted")
"""


def test_rollouts_end_at_ctrl_c(State):
    """To play all these games would take days."""
    program = [sys.executable, "-c", INTERRUPTED, State.__module__]
    with subprocess.Popen(program, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "all moves read\n"
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=120)
        finally:
            process.kill()
    assert (process.returncode, out) == (0, "interrupted\n")


CHOOSERS = [("uniform", 0), ("greedy", 0), ("greedy", 5), ("careful", 0), ("careful", 5)]


@pytest.mark.parametrize("policy", CHOOSERS, ids=str)
@pytest.mark.parametrize("players", [2, 4])
def test_a_playout_of_one_turn_plays_what_the_policy_chooses(State, players, policy):
    for seed in range(3):
        state = middle_of_a_game(State, players, 12 * seed)
        chosen, played = state.copy(), state.copy()
        chosen.play(state.choice(seed, *policy))
        assert played.playout(seed, *policy, 1) == 1
        assert state_text(chosen) == state_text(played)


@pytest.mark.parametrize("policy", CHOOSERS, ids=str)
def test_a_choice_rests_on_nothing_that_the_seat_cannot_see(State, policy):
    """The other hands and the draw order are dealt anew, or unknown: the choice stays, and nothing
    of the state has changed.
    """
    rng = random.Random(5)
    for number in range(6):
        state = middle_of_a_game(State, 2 + number % 3, 8 * number, "lion")
        others = [seat for seat in range(state.players) if seat != state.mover]
        hidden = [tile for seat in others for tile in state.hands[seat]] + list(state.pile_tiles())
        before, chosen = state_text(state), state.choice(number, *policy)
        assert chosen in state.legal_moves()
        assert state_text(state) == before
        for tiles in (rng.sample(hidden, len(hidden)), [UNKNOWN] * len(hidden)):
            twin = state.copy()
            for place, seat in enumerate(others):
                twin.set_hand(seat, tiles[3 * place : 3 * place + len(state.hands[seat])])
            twin.set_pile(tiles[3 * len(others) :])
            assert twin.choice(number, *policy) == chosen


def test_whoever_has_no_move_chooses_to_pass(State):
    ended, retired, unknown = (middle_of_a_game(State) for _ in range(3))
    ended.playout(1)
    retired.retire(retired.mover)
    unknown.set_hand(unknown.mover, [UNKNOWN] * 3)
    assert [state.choice(1, "careful") for state in (ended, retired, unknown)] == [PASS] * 3


def test_rollouts_deal_only_what_the_seat_cannot_see(State):
    """Two states that differ only in what a seat cannot see give it the same rollouts."""
    rng = random.Random(3)
    deck = full_deck()
    rng.shuffle(deck)
    own, hidden = deck[:3], deck[3:]
    rng.shuffle(hidden)
    one, other = State(built_in("bird"), 2, deck), State(built_in("bird"), 2, own + hidden)
    moves = one.legal_moves()[:8]
    assert one.rollouts(0, 5, 1, "uniform", moves) == other.rollouts(0, 5, 1, "uniform", moves)


def test_shares_of_rollouts_add_up_and_better_moves_do_better(State):
    drawing = """
    R0 R0 R0 . . .
    V  ~  ~  ~ ~ .
    .  .  .  . . .
    """
    state = position(State, drawing, hands=("RRYYBB", "RRYYBB"), left=[1, 9], pile="RRYYBBRYYBRB")
    moves, wins, left, _ = state.rollouts(0, 40, 5)
    assert moves == state.legal_moves()
    assert all(0 <= share <= 40 for share in wins)
    best = max(range(len(moves)), key=lambda index: wins[index])
    assert wins[best] == 40
    assert left[best] == 0


NO_POLICY = "expected the policy uniform, greedy or careful, got clever"
NO_TIMES = "expected 1 to 1000000 games for each move, got "
NO_END = "expected the end last pagoda, no tiles, no space or None, got "
NO_SEATS = "expected retired or not for each of 2 seats, got "
NO_LEFT = "expected 1 to 24 pagodas left to each seat, got "
NO_NUMBERS = "expected 0 to 1000000 moves to look at and turns to play, got "


def set_up_like(state, **other):
    """A state set up with the parts of another one, some of them replaced."""
    names = inspect.signature(checked_setup).parameters
    parts = dict(zip(names, parts_of(state), strict=True))
    return type(state).set_up(**parts | other)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda state: state.rollouts(1, 1, 1), "expected the seat that is to move, got 1"),
        (lambda state: state.rollouts(0, 1, 1, "clever"), NO_POLICY),
        (lambda state: state.rollouts(0, 0, 1), f"{NO_TIMES}0"),
        (lambda state: state.rollouts(0, -(2**70), 1), f"{NO_TIMES}-{2**70}"),
        (lambda state: state.rollouts(0, 1_000_001, 1), f"{NO_TIMES}1000001"),
        (lambda state: state.rollouts(0, 2**70, 1), f"{NO_TIMES}{2**70}"),
        (lambda state: state.playout(1, "clever"), NO_POLICY),
        (lambda state: state.choice(1, "clever"), NO_POLICY),
        (lambda state: state.playout(1, "greedy", -1), f"{NO_NUMBERS}-1 and 0"),
        (lambda state: state.playout(1, "careful", 0, 2_000_000), f"{NO_NUMBERS}0 and 2000000"),
        (lambda state: state.choice(1, "greedy", -1), f"{NO_NUMBERS}-1 and 0"),
        (lambda state: state.rollouts(0, 1, 1, "uniform", [-1]), "pass is illegal: a player who"),
        (lambda state: state.set_hand(0, [9]), "expected tiles from 0 to 6, got 9"),
        (lambda state: state.set_pile([-1]), "expected tiles from 0 to 6, got -1"),
        (lambda state: state.net_gain(5), "expected a legal move"),
        (lambda state: set_up_like(state, end="bored"), f"{NO_END}'bored'"),
        (lambda state: set_up_like(state, retired=[True]), f"{NO_SEATS}[True]"),
        (lambda state: set_up_like(state, left=[0, 9]), f"{NO_LEFT}[0, 9]"),
        (lambda state: type(state)(state.board, 5, full_deck()), "expected 2 to 4 players, got 5"),
        (lambda state: type(state)(state.board, 2, [7]), "expected tiles from 0 to 6, got 7"),
    ],
)
def test_what_cannot_be_is_refused_with_the_same_words(State, call, said):
    state = State(built_in("bird"), 2, full_deck())
    before = state_text(state)
    with pytest.raises((ValueError, ArenaError)) as caught:
        call(state)
    assert said in str(caught.value)
    assert state_text(state) == before


def test_a_state_with_unknown_tiles_is_not_played_out(State, refused):
    with refused(ValueError):
        State(built_in("bird"), 2, [UNKNOWN] * 72).playout(1)
    with refused(ValueError):
        State(built_in("bird"), 2, [UNKNOWN] * 72).rollouts(0, 1, 1)


def test_boards_of_every_size_are_played_alike(both):
    for width, height in ((1, 2), (26, 1), (1, 26), (26, 26), (13, 13), (12, 15), (2, 2), (3, 21)):
        rows = [["."] * width for _ in range(height)]
        rows[0][0], rows[-1][-1] = "R", "B"
        play_both(
            both, Board("sized", tuple("".join(row) for row in rows)), 2, width * 100 + height
        )


def finished(State, players, board="bird"):
    """The state at the end of a random game, in which one seat has left."""
    state = middle_of_a_game(State, players, 20, board)
    state.retire(players - 1)
    state.playout(players)
    return state


COPIES = {
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
    "pickle": lambda state: pickle.loads(pickle.dumps(state)),
    "State.copy": lambda state: state.copy(),
}


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES)
def test_a_copy_is_equal_until_one_of_the_two_changes(State, make):
    for turns in (0, 1, 20, 50):
        state = middle_of_a_game(State, 3, turns, "lion")
        twin = make(state)
        assert type(twin) is State
        assert twin == state
        before = state_text(state)
        twin.play(twin.nth(0))
        assert twin != state
        assert state_text(state) == before
        state.play(state.nth(0))
        assert twin == state
        assert twin.playout(1) == state.playout(1)
        assert state_text(twin) == state_text(state)


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES)
def test_a_game_that_has_ended_is_copied_with_its_end(State, make):
    ends = {"last pagoda": finished(State, 2), "no space": finished(State, 3, "lion")}
    tiny = State(Board("tiny", ("R...~~",)), 2, full_deck())
    tiny.playout(1)
    for state in (*ends.values(), tiny):
        assert state.end is not None
        twin = make(state)
        assert twin == state
        assert state_text(twin) == state_text(state)
        assert twin.retired == state.retired


CHANGES = {
    "another pile": lambda state: state.set_pile(state.pile_tiles()[::-1]),
    "a shorter pile": lambda state: state.set_pile(state.pile_tiles()[1:]),
    "another hand": lambda state: state.set_hand(1, [0, 0, 0]),
    "a seat that has left": lambda state: state.retire(1),
    "another mover": lambda state: (state.retire(0), state.play(PASS)),
    "another move": lambda state: state.play(state.nth(1)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_states_that_differ_in_anything_are_not_equal(State, change):
    state = middle_of_a_game(State)
    twin = state.copy()
    change(twin)
    assert twin != state


def test_two_orders_of_the_same_moves_lead_to_equal_states(State):
    """The states keep their provinces in different orders."""
    board = Board("row", ("R....R....R..",))
    moves = [parse_move(board, text) for text in ("Yb1Yc1", "Yg1Yh1", "Yl1Ym1")]
    one, other = (State(board, 2, [1] * 72) for _ in range(2))
    for move in moves:
        one.play(move)
    for move in reversed(moves):
        other.play(move)
    assert one.turns == 3
    assert one == other


def test_a_state_has_no_hash_no_order_and_equals_nothing_but_a_state(State, refused):
    state = middle_of_a_game(State)
    with pytest.raises(TypeError, match="unhashable"):
        hash(state)
    with refused(TypeError):
        state < state.copy()  # noqa: B015
    for other in (None, 1, state_text(state), state.board):
        assert state != other


def test_states_of_the_two_cores_are_not_equal(both):
    one, other = (middle_of_a_game(state_class) for state_class in both)
    assert state_text(one) == state_text(other)
    assert one != other


def test_a_state_keeps_its_board_and_its_deck_alive(State):
    state = State(parse_board("short-lived", "R...\n...."), 2, list(full_deck()))
    gc.collect()
    state.play(parse_move(state.board, "Rb1Rc1"))
    assert state.board.name == "short-lived"
    assert state.pile == 65


def test_the_native_core_lists_provinces_without_running_python_code(both):
    """Bots list the provinces after every move that they try."""
    state = both[1](Board("row", ("R....R....R..",)), 2, [1] * 72)
    state.play(parse_move(state.board, "Yb1Yc1"))
    called = []
    sys.setprofile(lambda frame, event, _: called.append(frame) if event == "call" else None)
    try:
        provinces = state.provinces()
    finally:
        sys.setprofile(None)
    assert len(provinces) == 1
    assert called == []
