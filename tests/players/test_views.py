"""The full view of a position, which the native core writes as JSON itself."""

import random

import pytest

from arena.players.messages import encode
from arena.players.views import legal_json, position_json, position_view
from arena.rules.boards import built_in
from arena.rules.notation import move_text
from tests.rules.positions import full_deck, random_board, random_move


def boards():
    """The built-in boards, and random ones of all sizes."""
    rng = random.Random("boards of views")
    sides = (1, 2, 4, 8, 13, 25, 26)
    return [built_in("bird"), built_in("lion"), *(random_board(rng, side) for side in sides)]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_native_core_writes_what_the_message_would_be(both, players):
    """In each position of a game, byte for byte, until nobody can move."""
    rng = random.Random(players)
    positions = 0
    for board in boards():
        deck = full_deck()
        rng.shuffle(deck)
        pure, native = (state_class(board, players, deck) for state_class in both)
        while True:
            expected = encode([move_text(board, move) for move in pure.legal_moves()])
            assert legal_json(native) == legal_json(pure) == expected
            expected = encode(position_view(pure))
            assert position_json(native) == position_json(pure) == expected
            positions += 1
            if pure.end:
                break
            move = random_move(pure, rng)
            pure.play(move)
            native.play(move)
    assert positions > 100


def test_only_a_state_of_the_native_core_is_written(both, refused):
    native = pytest.importorskip("arena.rules.native")
    pure = both[0](built_in("bird"), 2, full_deck())
    for state in (pure, None, 3):
        for write in (native.position_json, native.legal_json):
            with refused(TypeError):
                write(state)
