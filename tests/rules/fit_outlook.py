"""The weights of arena.rules.playouts, fitted anew: ``python -m tests.rules.fit_outlook
[POSITIONS]`` prints them with their errors.

Positions come from games of two in which mostly greedy moves are played. Each is played on to its
end 60 times, all that is hidden dealt anew, by the greedy policy among 16 moves; the mean of what
is then left to the other less what is left to the seat is what is explained, by least squares, by
pagodas now, provinces by size, and villages by how far their owner leads. Takes about a minute for
4,000.
"""

import random
import sys
from collections import Counter
from multiprocessing import Pool

import numpy as np

from arena.rules import State
from arena.rules.boards import built_in
from arena.rules.terms import MAJOR, NOBODY
from tests.rules.positions import full_deck, random_move

PLAYED_ON = 60
LATEST = 34


def some_position(rng):
    """A position that is not over, after so many turns as chance says; None if its game ended
    before.
    """
    deck = full_deck()
    rng.shuffle(deck)
    state = State(built_in(rng.choice(["bird", "lion"])), 2, deck)
    for _ in range(rng.randint(1, LATEST)):
        if state.end is None and not state.must_pass():
            moves = [
                state.nth(rng.randrange(state.legal_count()))
                for _ in range(rng.choice([4, 16, 64]))
            ]
            state.play(max(moves, key=state.net_gain))
        elif state.end is None:
            state.play(random_move(state, rng))
    return state if state.end is None else None


def features(state, seat):
    """What lies on the board, own as 1 and the other's as -1."""
    found = Counter(placed=state.left[1 - seat] - state.left[seat])
    provinces = state.provinces()
    for _, province in provinces:
        if province.size < MAJOR:
            found[f"province of {province.size}"] += 1 if province.owner == seat else -1
    for village, owner in enumerate(state.villages):
        if owner != NOBODY:
            around = [0, 0]
            for _, province in provinces:
                if province.mask & state.board.beside[village]:
                    around[province.owner] += province.pagodas
            lead = around[owner] - around[1 - owner]
            found[f"village led by {min(max(lead, 0), 2)}"] += 1 if owner == seat else -1
    return found


def outcome(state, seat, rng):
    """The mean lead in pagodas at the end."""
    hidden, total = [*state.hands[1 - seat], *state.pile_tiles()], 0
    for _ in range(PLAYED_ON):
        rng.shuffle(hidden)
        twin, held = state.copy(), len(state.hands[1 - seat])
        twin.set_hand(1 - seat, hidden[:held])
        twin.set_pile(hidden[held:])
        twin.playout(rng.getrandbits(63), "greedy", 16)
        total += twin.left[1 - seat] - twin.left[seat]
    return total / PLAYED_ON


def sample(seed):
    rng = random.Random(seed)
    state = some_position(rng)
    if state is None:
        return None
    seat = 1 - state.mover  # who has just moved
    return features(state, seat), outcome(state, seat, rng)


def main(positions=4000):
    with Pool() as pool:
        samples = [found for found in pool.map(sample, range(positions), chunksize=20) if found]
    names = sorted({name for found, _ in samples for name in found})
    rows = np.array([[*(found[name] for name in names), 1] for found, _ in samples], dtype=float)
    leads = np.array([lead for _, lead in samples])
    weights = np.linalg.lstsq(rows, leads, rcond=None)[0]
    rest = leads - rows @ weights
    errors = np.sqrt(np.diag(np.linalg.inv(rows.T @ rows)) * rest.var())
    for name, weight, error in zip([*names, "to move next"], weights, errors, strict=True):
        print(f"{name:20} {100 * weight:7.0f} +- {196 * error:.0f}")
    print(f"{len(samples)} positions, {1 - rest.var() / leads.var():.1%} of the variance explained")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
