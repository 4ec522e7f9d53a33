"""Information-set tree search: grows one tree over all deals that fit what it sees (Cowling, Powley
& Whitehouse 2012).

On each deal, dealt at random, every move still in the race is tried once. Below it the tree is
walked down by what did best so far (UCB1) among the moves that the deal allows, and widened slowly,
by the best outlook first (progressive widening). From the new leaf all seats play on for some
turns, each the best outlook of a few moves drawn at random, and the outlook reached is what the
leaf is worth to each seat. At the root half of the moves drop out after each stage (sequential
halving), so that time goes to those in question.
"""

import math

from arena.sdk import PASS, Position, run


class Node:
    """A move in the tree: tries, what came of them for the seat that plays it, and the replies."""

    __slots__ = ("ahead", "replies", "total", "tries")

    def __init__(self) -> None:
        self.tries = 0
        self.ahead = 0
        self.total = 0.0
        self.replies: dict[int, Node] = {}

    def mean(self) -> float:
        """What came of it on average."""
        return self.total / self.tries if self.tries else -math.inf


def reply_to(node: Node, position: Position, moves: list[int]) -> int:
    """The move to try next: a new one as long as the node may grow, else the most promising."""
    own = position.options
    known = [move for move in moves if move in node.replies]
    if len(known) < min(len(moves), own["width"] * (node.tries + 1) ** own["grows"]):
        new = [
            entry
            for entry in zip(position.outlooks(), moves, strict=True)
            if entry[1] not in node.replies
        ]
        return max(new)[1]
    explore = own["explore"] ** 2 * math.log(node.tries + 1)
    return max(
        known,
        key=lambda move: node.replies[move].mean() + math.sqrt(explore / node.replies[move].tries),
    )


def try_once(position: Position, node: Node, seed: int) -> None:
    """Walks from a root move to a new leaf, plays on, and tells every node on the way what came of
    it.
    """
    own, path = position.options, [(position.seat, node)]
    while node.tries and len(path) <= own["depth"] and not position.is_over:
        moves = position.legal_moves()
        if moves:
            move = reply_to(node, position, moves)
            node = node.replies.setdefault(move, Node())
            path.append((position.mover, node))
            position = position.play(move)
        else:
            position = position.play(PASS)
    position = position.play_on(policy="careful", among=own["among"], turns=own["turns"], seed=seed)
    for seat, passed in path:
        passed.tries += 1
        passed.total += (outlook := position.outlook(seat))
        passed.ahead += outlook > 0


def choose(position: Position) -> int:
    own = position.options
    ranked = sorted(zip(position.outlooks(), position.legal_moves(), strict=True), reverse=True)
    race = {move: Node() for _, move in ranked[: own["moves"]]}
    stages = math.ceil(math.log2(len(race)))
    for stage in range(stages):
        while position.has_time((stage + 1) / stages):
            deal, seed = position.sample(), position.rng.getrandbits(64)
            for move, node in race.items():
                if not position.has_time():
                    break
                try_once(deal.play(move), node, seed)
        best = sorted(race, key=lambda move: race[move].mean(), reverse=True)
        race = {move: race[move] for move in best[: (len(best) + 1) // 2]}
    move, node = next(iter(race.items()))
    position.note(
        node.ahead / node.tries if node.tries else None, tries=node.tries, nodes=position.nodes
    )
    return move


run(choose)
