"""Before and after: positions drawn as text, moves in notation."""

import random

from arena.rules.boards import COLOURS, Board, built_in
from arena.rules.notation import COPIES, PASS, TILES, move_text, parse_move, parse_tile
from arena.rules.positions import draw, position_text, read_cells
from arena.rules.terms import PAGODAS


def position(state_class, drawing, *, hands=("RRYYBB", "RRYYBB"), left=None, pile="", mover=0):
    """A state from a drawing; each seat has the hand given, and as many pagodas as its start less
    those on the drawing.
    """
    board, spaces, provinces, villages = read_cells("drawn", drawing)
    players = len(hands)
    if left is None:
        left = [PAGODAS[players]] * players
        for _, _, owner, pagodas in provinces:
            left[owner] -= pagodas
        for owner in villages:
            if owner >= 0:
                left[owner] -= 1
    return state_class.set_up(
        board,
        spaces,
        provinces,
        villages,
        left,
        [read_hand(hand) for hand in hands],
        read_hand(pile or "-"),
        mover,
    )


def read_hand(text):
    """The tiles of a hand written RRYB or RR YB; - is empty."""
    letters = "".join(text.split()).strip("-")
    return tuple(parse_tile(letters[at : at + 2]) for at in range(0, len(letters), 2))


def state_text(state):
    """Everything about a state: equal states have equal texts, in either core."""
    placed = [state.placed(seat) for seat in range(state.players)]
    return f"{position_text(state)} placed {placed} turns {state.turns} end {state.end}"


def drawing(state):
    return "\n".join(" ".join(row) for row in draw(state))


def tidy(text):
    return "\n".join(" ".join(line.split()) for line in text.strip().splitlines())


def check(state_class, before, move, after, *, left=None, events=None, **setting):
    """Plays one move on a drawing and compares the drawing that results, the pagodas left, and the
    events as 'name at seat'.
    """
    state = position(state_class, before, **setting)
    happened = []
    state.play(parse_move(state.board, move), happened)
    assert drawing(state) == tidy(after)
    if left is not None:
        assert state.left == left
    if events is not None:
        assert [
            f"{event.name} {state.board.name_of(event.square)} {event.seat}" for event in happened
        ] == events
    return state


def legal(state):
    return {move_text(state.board, move) for move in state.legal_moves()}


def full_deck():
    return [tile for tile in range(len(TILES)) for _ in range(COPIES)]


def random_move(state, rng):
    count = state.legal_count()
    return state.nth(rng.randrange(count)) if count else PASS


def middle_of_a_game(state_class, players=2, turns=20, name="bird"):
    rng, deck = random.Random(8), full_deck()
    rng.shuffle(deck)
    state = state_class(built_in(name), players, deck)
    for _ in range(turns):
        state.play(random_move(state, rng))
    return state


def random_board(rng, side):
    """A board of at most ``side`` rows and columns, with villages, water and starting tiles."""
    width, height = rng.randint(1, side), rng.randint(1, side)
    letters = rng.choices(
        [".", "V", "~", "R", "Y", "B"],
        [80, rng.randint(0, 12), rng.randint(0, 12), 2, 2, 2],
        k=width * height,
    )
    letters[rng.randrange(width * height)] = rng.choice(COLOURS)
    return Board(
        "random", tuple("".join(letters[row * width : (row + 1) * width]) for row in range(height))
    )
