"""The cores beside the slow referee on random games: same legal moves, same provinces, villages,
stocks and ends.
"""

import os
import random

import pytest

from arena.errors import IllegalMoveError
from arena.rules import pure
from arena.rules.boards import COLOURS, built_in, squares_of
from arena.rules.notation import KIND_SHIFT, PASS, TILES, split_move
from tests.rules.positions import full_deck, random_board, random_move, state_text
from tests.rules.slow import SlowGame
from tests.support.cores import CORES


def compare(state, slow):
    board = state.board
    assert state.end == slow.end
    assert state.left == slow.left
    assert [sorted(TILES[tile] for tile in hand) for hand in state.hands] == [
        sorted(hand) for hand in slow.hands
    ]
    assert state.pile == len(slow.deck)
    provinces = {
        frozenset(divmod(square, board.stride) for square in squares_of(province.mask)): [
            province.owner,
            province.pagodas,
        ]
        for _, province in state.provinces()
    }
    assert provinces == slow.provinces
    villages = {
        frozenset(divmod(square, board.stride) for square in squares_of(village)): (
            owner if owner >= 0 else None
        )
        for village, owner in zip(board.villages, state.villages, strict=True)
    }
    assert villages == slow.villages
    if state.end is None:
        assert state.mover == slow.mover
        legal = state.legal_moves()
        assert legal == sorted(set(legal))
        assert {as_placement(board, move) for move in legal} == slow.legal(slow.mover)
        assert state.legal_count() == len(legal)
        assert [state.nth(index) for index in range(len(legal))] == legal


def play_both(state_class, board, players, seed):
    rng = random.Random(seed)
    deck = full_deck()
    rng.shuffle(deck)
    state, slow = (
        state_class(board, players, deck),
        SlowGame(board.rows, players, [TILES[tile] for tile in deck]),
    )
    compare(state, slow)
    while state.end is None:
        move = random_move(state, rng)
        state.play(move)
        if move == PASS:
            slow.pass_turn()
        else:
            slow.place(as_placement(board, move))
        compare(state, slow)
    return state


GAMES = int(os.environ.get("ARENA_DIFFERENTIAL_GAMES", "3"))
"""Games of a batch; `make fuzz` raises it."""
BATCHES = 4
"""Batches of each case, which run side by side."""


@pytest.fixture(name="OneState")
def one_state_class():
    """One core, since tests/rules/test_cores.py compares the two at every step."""
    return CORES.get("native", pure.State)


def as_placement(board, move):
    first, square, second, other = split_move(board, move)
    return tuple(
        (divmod(at, board.stride), COLOURS[colour])
        for at, colour in ((square, first), (other, second))
    )


@pytest.mark.parametrize("batch", range(BATCHES))
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("name", ["bird", "lion"])
def test_printed_boards_agree_with_the_slow_referee(OneState, name, players, batch):
    for seed in range(batch * GAMES, (batch + 1) * GAMES):
        play_both(OneState, built_in(name), players, f"{name} {players} {seed}")


@pytest.mark.parametrize("batch", range(BATCHES))
@pytest.mark.parametrize("side", [4, 9, 26])
def test_random_boards_agree_with_the_slow_referee(OneState, side, batch):
    for seed in range(batch * GAMES, (batch + 1) * GAMES):
        rng = random.Random(f"board {side} {seed}")
        play_both(OneState, random_board(rng, side), rng.randint(2, 4), f"game {side} {seed}")


@pytest.mark.parametrize("name", ["bird", "lion"])
def test_no_legal_move_is_refused_and_no_other_accepted(State, name):
    rng = random.Random(name)
    board, deck = built_in(name), full_deck()
    for players in (2, 3, 4):
        rng.shuffle(deck)
        state = State(board, players, deck)
        while state.end is None:
            legal = set(state.legal_moves())
            for move in range(18 << KIND_SHIFT):
                assert state.is_legal(move) == (move in legal)
            for move in rng.sample(range(-3, 19 << KIND_SHIFT), 20):
                if move not in legal and not (move == PASS and state.must_pass()):
                    before = state_text(state)
                    with pytest.raises(IllegalMoveError, match="is illegal: "):
                        state.play(move)
                    assert state_text(state) == before
            state.play(random_move(state, rng))


def test_a_copy_shares_nothing_with_its_original(State):
    rng = random.Random(5)
    deck = full_deck()
    rng.shuffle(deck)
    state = State(built_in("lion"), 3, deck)
    while state.end is None:
        before = state_text(state)
        twin = state.copy()
        while twin.end is None:
            twin.play(random_move(twin, rng))
        assert state_text(state) == before
        state.play(random_move(state, rng))
