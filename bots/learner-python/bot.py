"""Looks ahead with a value function that it learnt from games against itself: value.py judges
positions, train.py is how that was learnt, and this file is the search.

With two players it looks deeper and deeper, at fewer and fewer moves. The other's hand is hidden,
but a hand is three of only six kinds of tile. So it finds the best move with each of the six, and
ranks the six by what they are worth to the seat to move. Each counts by the chance that the seat
holds that tile and none that is better, which follows from the tiles not seen yet.

With three and four, a line of best moves hardly ever comes true. So it deals what is hidden at
random, lets all seats play on for some turns, and judges what they reach. All moves meet the same
deals, and the worse half of them drops out after each stage (sequential halving).
"""

import math
from functools import cache
from heapq import nlargest

from value import value_for

from arena.rules import State
from arena.rules.notation import UNKNOWN
from arena.sdk import Position, run

Chances = list[float]  # of each seat to win
DEEPEST, KEPT = 6, 0.4  # turns ahead; the share of the moves that is looked at once more
SELDOM = 0.08  # a tile that is the best with a lower chance is looked at no further
STARTERS = 16  # of a race


class OutOfTimeError(Exception):
    """There is no time for another position."""


def likely(state: State, most: int) -> list[int]:
    """The moves with the best outlooks: a quick look at all of them."""
    ranked = nlargest(most, zip(state.outlooks(), state.legal_moves(), strict=True))
    return [move for _, move in ranked]


def judged(position: Position) -> Chances:
    """What it has learnt to expect of a position."""
    if not position.has_time():
        raise OutOfTimeError
    return value_for(position.players)(position.state)


# with two players


@cache  # a deeper look comes by here again
def best_by_tile(position: Position) -> list[tuple[float, int, Chances, Position]]:
    """The best move with each tile that the mover may hold, the best tile first: what it is worth
    to the mover, the tile, the chances, and the position after it.
    """
    mover, probe, found = position.mover, position.state.copy(), []
    hand = set(probe.hands[mover])
    for tile in range(UNKNOWN) if UNKNOWN in hand else hand:
        probe.set_hand(mover, (tile,))
        moves = likely(probe, position.options["width"])
        tried = [(judged(after), after) for after in map(position.play, moves)]
        if tried:
            chances, after = max(tried, key=lambda each: each[0][mover])
            found.append((chances[mover], tile, chances, after))
    return sorted(found, key=lambda each: each[:2], reverse=True)


def odds(position: Position, tiles: list[int]) -> list[float]:
    """For each of the tiles: the chance that the mover holds it and none that comes before it."""
    hand, unseen = position.state.hands[position.mover], list(position.unseen().values())
    total, rest, chances = sum(unseen), 1.0, []
    others = total
    for tile in tiles:
        others -= unseen[tile]
        none = 0.0 if tile in hand else 1.0
        for drawn in range(hand.count(UNKNOWN)):
            none *= max(0, others - drawn) / max(1, total - drawn)
        chances.append(rest - min(rest, none))
        rest = min(rest, none)
    return chances


def expected(position: Position, depth: int) -> Chances:
    """What is to be expected of a position, looking so many turns ahead."""
    found = best_by_tile(position) if depth and not position.is_over else []
    chance = odds(position, [tile for _, tile, _, _ in found])
    if not sum(chance):
        return judged(position)  # the end of the line, or of the game; or the mover must pass
    sums = [0.0] * position.players
    for share, (_, _, chances, after) in zip(chance, found, strict=True):
        deeper = depth > 1 and share > SELDOM
        for seat, each in enumerate(expected(after, depth - 1) if deeper else chances):
            sums[seat] += share / sum(chance) * each
    return sums


def look_ahead(position: Position, moves: list[int]) -> tuple[float, int]:
    """The best move and what it is worth, looking deeper and deeper."""
    best_by_tile.cache_clear()
    best, after = (0.0, moves[0]), {move: position.play(move) for move in moves}
    try:
        for depth in range(DEEPEST):
            position.note(depth=depth)
            found = []
            for move in moves:
                found.append((expected(after[move], depth)[position.seat], move))
                best = max(found)
            ranked = sorted(found, reverse=True)
            moves = [move for _, move in ranked[: max(2, round(KEPT * len(moves)))]]
    except OutOfTimeError:
        pass
    return best


# with three and four


def race(position: Position, moves: list[int]) -> tuple[float, int]:
    """The best move and what it is worth, over many deals."""
    value, seat, own = value_for(position.players), position.seat, position.options
    first = {move: value(position.play(move).state)[seat] for move in moves}
    moves = nlargest(STARTERS, moves, key=first.__getitem__)
    worth, tries, stages = dict.fromkeys(moves, 0.0), 0, math.ceil(math.log2(len(moves)))
    for stage in range(stages):
        while position.has_time((stage + 1) / stages):
            deal, luck, found = position.sample(), position.rng.getrandbits(64), {}
            for move in moves:
                if not position.has_time():
                    break
                after = deal.play(move)
                after.state.playout(luck, "careful", own["among"], own["turns"])
                found[move] = value(after.state)[seat]
            else:
                tries += 1
                for move, share in found.items():
                    worth[move] += share
        moves = nlargest((len(moves) + 1) // 2, moves, key=worth.__getitem__)
    return (worth[moves[0]] / tries if tries else first[moves[0]]), moves[0]


def choose(position: Position) -> int:
    search = SEARCHES[position.options["search"]] or (look_ahead if position.players == 2 else race)
    share, move = search(position, likely(position.state, position.options["moves"]))
    position.note(share, nodes=position.nodes)
    return move


SEARCHES = {"auto": None, "ahead": look_ahead, "race": race}

if __name__ == "__main__":
    run(choose)
