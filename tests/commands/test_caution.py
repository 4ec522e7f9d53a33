"""The caution before a move that costs much: when it comes, and what it rests on."""

import pytest

from arena.commands.caution import LEAST_COST, caution_before
from arena.players.player import built_in
from arena.rules import State
from arena.rules import boards as known_boards
from arena.rules.notation import parse_deck
from arena.tournament.schedule import single_game

NAMES = ["human", "careful"]


def cautions(choose, seed="d"):
    """The cautions before the moves of a person who plays as ``choose`` does, with the states."""
    deck = parse_deck(single_game(seed, "bird", 0, NAMES).deck)
    state = State(known_boards.built_in("bird"), 2, deck)
    found = []
    while state.end is None:
        move = choose(state)
        if state.mover == 0 and state.legal_count():
            found.append((state.copy(), move, caution_before(state, move, NAMES, state.turns)))
        state.play(move)
    return found


@pytest.mark.long
def test_a_careless_person_is_cautioned_in_words_and_a_careful_one_hardly_ever():
    careless = cautions(lambda state: built_in("random").choose(state, 3))
    told = [caution for _, _, caution in careless if caution]
    assert len(told) > 2
    assert all(caution.cost >= LEAST_COST for caution in told)
    assert all(caution.words.endswith(".") for caution in told)
    careful = cautions(lambda state: built_in("careful").choose(state, 3))
    assert sum(caution is not None for _, _, caution in careful) <= len(careful) // 4


def test_a_caution_tells_nothing_of_hidden_tiles():
    """With other tiles in the hand of the other player and in the pile, it is the same."""
    for state, move, caution in cautions(lambda state: built_in("random").choose(state, 3))[:6]:
        other = state.copy()
        tiles = [*state.pile_tiles(), *state.hands[1]]
        other.set_hand(1, tiles[:3])
        other.set_pile(tiles[3:])
        assert caution_before(other, move, NAMES, state.turns) == caution
