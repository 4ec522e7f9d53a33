"""Both cores side by side: whatever is asked of them, they must answer alike."""

import random

from arena.errors import ArenaError
from arena.rules.notation import KIND_SHIFT, PASS
from tests.rules.positions import full_deck, state_text


def outcome(function, *arguments, **keywords):
    """What a call returns or raises, in a form to compare."""
    try:
        return function(*arguments, **keywords)
    except (ArenaError, ValueError, IndexError, TypeError, AttributeError) as error:
        return type(error), str(error)


def compare(one, other):
    assert state_text(one) == state_text(other)
    moves = one.legal_moves()
    assert moves == other.legal_moves()
    assert one.legal_count() == other.legal_count() == len(moves)
    assert one.placements(range(6)) == other.placements(range(6))
    assert one.provinces() == other.provinces()
    assert [one.hands, one.left, one.villages, one.retired, one.ranks()] == [
        other.hands,
        other.left,
        other.villages,
        other.retired,
        other.ranks(),
    ]
    assert [one.pile, one.pile_tiles(), one.free, one.end, one.mover, one.turns, one.players] == [
        other.pile, other.pile_tiles(), other.free, other.end, other.mover, other.turns,
        other.players,
    ]  # fmt: skip
    assert one.tiles_placed() == other.tiles_placed()
    assert [one.can_move(seat) for seat in range(one.players)] == [
        other.can_move(seat) for seat in range(one.players)
    ]
    return moves


def strange_move(rng):
    return rng.choice(
        [
            PASS,
            -2,
            18 << KIND_SHIFT,
            2**70,
            -(2**70),
            rng.randrange(18 << KIND_SHIFT),
            rng.randrange(18 << KIND_SHIFT),
        ]
    )


def compare_strange_move(one, other, moves, rng):
    strange = strange_move(rng)
    assert one.is_legal(strange) == other.is_legal(strange)
    assert outcome(one.why_illegal, strange) == outcome(other.why_illegal, strange)
    if strange not in moves and not (strange == PASS and one.must_pass()):
        assert outcome(one.copy().play, strange) == outcome(other.copy().play, strange)


def chosen_move(one, other, moves, rng):
    if not moves:
        return PASS
    index = rng.randrange(len(moves))
    assert one.nth(index) == other.nth(index) == moves[index]
    assert one.net_gain(moves[index]) == other.net_gain(moves[index])
    if rng.random() < 0.1:
        choice = (
            rng.getrandbits(64),
            rng.choice(["uniform", "greedy", "careful"]),
            rng.randint(1, 4),
        )
        assert one.choice(*choice) == other.choice(*choice)
    return moves[index]


def play_on(one, other, rng):
    """Plays two equal states to the end, comparing all there is to see after every move."""
    while True:
        moves = compare(one, other)
        compare_strange_move(one, other, moves, rng)
        if one.end is not None:
            return
        move = chosen_move(one, other, moves, rng)
        happened, also = [], []
        one.play(move, happened)
        other.play(move, also)
        assert happened == also
        if rng.random() < 0.03:
            seat = rng.randrange(one.players)
            one.retire(seat)
            other.retire(seat)
        if rng.random() < 0.1:
            one, other = one.copy(), other.copy()


def play_both(both, board, players, seed):
    rng = random.Random(seed)
    deck = full_deck()
    rng.shuffle(deck)
    if rng.random() < 0.1:
        deck = deck[: rng.randint(0, 72)]
    one, other = (state_class(board, players, deck) for state_class in both)
    play_on(one, other, rng)
