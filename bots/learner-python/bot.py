"""Looks ahead with a value function that it learnt from games against itself.

The hands of the others are hidden, but a hand is three of only six kinds of tile. So for each of
the six it finds the best move, and ranks the six by what they are worth to the seat to move. Each
counts by the chance that the seat holds that tile and none that is better, which follows from the
tiles not seen yet. It looks deeper and deeper, at fewer and fewer moves, until its time is up. The
positions at the end of a line are judged by value.py; train.py is how that was learnt.
"""

from heapq import nlargest

from value import value_for

from arena.rules import State
from arena.rules.notation import UNKNOWN
from arena.sdk import Position, run

Chances = list[float]  # of each seat to win
DEEPEST = 6


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
    """What is to be expected of a position, looking so many moves ahead."""
    found = best_by_tile(position) if depth and not position.is_over else []
    chance = odds(position, [tile for _, tile, _, _ in found])
    if not sum(chance):
        return judged(position)  # the end of the line, or of the game; or the mover must pass
    sums = [0.0] * position.players
    for share, (_, _, chances, after) in zip(chance, found, strict=True):
        deeper = depth > 1 and share > position.options["seldom"]
        for seat, each in enumerate(expected(after, depth - 1) if deeper else chances):
            sums[seat] += share / sum(chance) * each
    return sums


def choose(position: Position) -> int:
    own, seat, depth = position.options, position.seat, 0
    lines = [(0.0, move) for move in likely(position.state, own["moves"])]
    best, after = lines[0], {move: position.play(move) for _, move in lines}
    try:
        for depth in range(DEEPEST):
            seen = []
            for _, move in lines:
                seen.append((expected(after[move], depth)[seat], move))
                best = max(seen)
            lines = sorted(seen, reverse=True)[: max(2, round(own["keep"] * len(seen)))]
    except OutOfTimeError:
        pass
    position.note(best[0], depth=depth, nodes=position.nodes)
    return best[1]


if __name__ == "__main__":
    run(choose)
