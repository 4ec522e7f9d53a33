"""Games played on from a position: the tiles that a seat has not seen and a deal of them, what came
of each move, and the state that one game reaches.
"""

import random
from collections.abc import Iterable
from typing import NamedTuple

from arena.rules import State
from arena.rules.notation import COPIES, TILES, UNKNOWN


class Rollout(NamedTuple):
    """What came of one move in the games that `Position.rollouts` played on from it.

    Attributes:
        move: The move.
        games: How many games were played.
        wins: This seat's wins, from 0 to ``games``: 1 for a win alone, 1/k for a win shared by k
            seats.
        left: This seat's pagodas left, summed over the games. Fewer is better.
        outlook: This seat's `Position.outlook` at the end of the games, summed. More is better.
    """

    move: int
    games: int
    wins: float
    left: int
    outlook: float


class Manner(NamedTuple):
    """How all seats play on: ``policy`` is theirs, ``among`` how many moves drawn at random they
    look at, 0 for all, and ``turns`` how many placements there are, 0 for a whole game.
    """

    policy: str
    among: int
    turns: int


def tried(
    state: State, seat: int, times: int, moves: Iterable[int] | None, manner: Manner, seed: int
) -> list[Rollout]:
    """Plays each of the moves, or of all legal ones, so many times. Raises what `State.rollouts`
    does, and ValueError for no times.
    """
    if times < 1:
        raise ValueError(f"expected at least 1 game for each move, got {times}")
    chosen = None if moves is None else list(moves)
    found = state.rollouts(seat, times, seed, manner.policy, chosen, manner.among, manner.turns)
    unit = outlook_unit(state)
    return [
        Rollout(move, times, won, stock, outlook / unit)
        for move, won, stock, outlook in zip(*found, strict=True)
    ]


def played_on(state: State, seat: int, manner: Manner, seed: int) -> State:
    """The state that one game reaches, on tiles dealt as the seat may expect them."""
    # For play, not for secrets.
    luck = random.Random(seed)  # noqa: S311
    twin = dealt(state, seat, luck)
    twin.playout(luck.getrandbits(64), *manner)
    return twin


def outlook_unit(state: State) -> int:
    """What a pagoda is worth in the outlooks of the rules."""
    return 100 * (state.players - 1)


def unseen(state: State, seat: int) -> list[int]:
    """How many of each tile are neither placed nor in the seat's hand."""
    hand, placed = state.hands[seat], state.tiles_placed()
    return [COPIES - placed[tile] - hand.count(tile) for tile in range(len(TILES))]


def dealt(state: State, seat: int, luck: random.Random) -> State:
    """A copy of the state in which no tile is unknown; those that an earlier deal has made known
    stay.
    """
    twin = state.copy()
    pile = twin.pile_tiles()
    known = [
        *pile,
        *(tile for other, hand in enumerate(twin.hands) if other != seat for tile in hand),
    ]
    hidden = [
        tile
        for tile, count in enumerate(unseen(state, seat))
        for _ in range(count - known.count(tile))
    ]
    luck.shuffle(hidden)
    for other, hand in enumerate(twin.hands):
        if UNKNOWN in hand:
            twin.set_hand(other, [hidden.pop() if tile == UNKNOWN else tile for tile in hand])
    twin.set_pile([hidden.pop() if tile == UNKNOWN else tile for tile in pile])
    return twin
