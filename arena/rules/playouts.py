"""Plays games to the end with simple policies, and does rollouts on deals in which everything a
seat cannot see is dealt again.

The native core has the same functions in C. Both draw the same random numbers, so the same seed
gives the same results.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from arena.errors import IllegalMoveError
from arena.rules.notation import COPIES, KIND_SHIFT, PASS, SQUARE_MASK, TILES, UNKNOWN
from arena.rules.outlook import outlook, twelfths_of

if TYPE_CHECKING:
    from arena.rules.pure import State

POLICIES = ("uniform", "greedy", "careful")
Rollouts = tuple[list[int], list[float], list[int], list[int]]
"""Moves, and for each the seat's summed shares of the win, pagodas left and outlooks."""

_WORD = (1 << 64) - 1
_MOST_HIDDEN = 250
_MOST = 1_000_000


class Random:
    """splitmix64 (Steele, Lea & Flood 2014), a generator that two languages share easily; ``state``
    is 64 bits.
    """

    def __init__(self, seed: int) -> None:
        self.state = seed & _WORD

    def next(self) -> int:
        """The next 64 bits."""
        self.state = z = self.state + 0x9E3779B97F4A7C15 & _WORD
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _WORD
        z = (z ^ z >> 27) * 0x94D049BB133111EB & _WORD
        return z ^ z >> 31

    def below(self, count: int) -> int:
        """A number from 0 to count - 1."""
        return (self.next() >> 32) * count >> 32


class Policy(NamedTuple):
    """How a seat chooses its move.

    ``name``   uniform: any legal move; greedy: the move that gains most pagodas, net of the others;
               careful: the one with the best outlook
    ``among``  how many legal moves, drawn at random, to choose from; 0 means all
    ``turns``  after how many placements to stop; 0 plays to the end of the game
    """

    name: str = "uniform"
    among: int = 0
    turns: int = 0


def play_out(state: "State", random: Random, policy: Policy) -> int:
    """Plays on from a state in which all tiles are known; returns how many tiles were placed.
    Raises ValueError.
    """
    check_policy(policy)
    if UNKNOWN in state.pile_tiles() or any(UNKNOWN in hand for hand in state.hands):
        raise ValueError(
            "expected all tiles to be known, got a state with unknown ones: use rollouts"
        )
    before = state.turns
    if state.end is None:
        # Hands may have been set since the last move.
        state._end_if_stuck()  # noqa: SLF001
    while state.end is None and not 0 < policy.turns <= state.turns - before:
        state.play(_chosen(state, random, policy))
    return state.turns - before


def choose(state: "State", random: Random, policy: Policy) -> int:
    """The policy's move for the mover, based only on the board and its hand; PASS if it has none.
    Raises ValueError.
    """
    check_policy(policy)
    return _chosen(state, random, policy)


def roll_out(
    state: "State", seat: int, times: int, seed: int, policy: Policy, moves: Sequence[int] | None
) -> Rollouts:
    """Plays every move on ``times`` deals and then continues by the policy; all moves get the same
    deals and the same luck.
    """
    check_policy(policy)
    if seat != state.mover or state.end is not None:
        raise ValueError(f"expected the seat that is to move, got {seat}")
    state = state.copy()  # so that nothing that happens while the moves are read can change it
    pool = _hidden_pool(state, seat)
    candidates = state.legal_moves() if moves is None else list(moves)
    for move in candidates:
        if not state.is_legal(move):
            raise IllegalMoveError(state.why_illegal(move))
    stream, twelfths, left, outlooks = (
        Random(seed),
        [0] * len(candidates),
        [0] * len(candidates),
        [0] * len(candidates),
    )
    for _ in range(times):
        random = Random(stream.next())
        dealt = _redealt(state, seat, pool, random)
        for index, move in enumerate(candidates):
            work = dealt.copy()
            work.play(move)
            play_out(work, Random(random.state), policy)
            twelfths[index] += twelfths_of(work.left, seat) if work.end is not None else 0
            left[index] += work.left[seat]
            outlooks[index] += outlook(work, seat)
    return candidates, [share / 12 for share in twelfths], left, outlooks


def check_policy(policy: Policy) -> None:
    """Raises ValueError for an unknown policy."""
    if policy.name not in POLICIES:
        raise ValueError(f"expected the policy uniform, greedy or careful, got {policy.name}")
    if not 0 <= policy.among <= _MOST or not 0 <= policy.turns <= _MOST:
        raise ValueError(
            f"expected 0 to {_MOST} moves to look at and turns to play, got {policy.among} and"
            f" {policy.turns}"
        )


def outlooks(state: "State") -> list[int]:
    """The mover's outlook after each of its legal moves, in order."""
    return [_outlook_after(state, move) for move in state.legal_moves()]


def _outlook_after(state: "State", move: int) -> int:
    twin = state.copy()
    # What the tile does, without the draw.
    twin._place(move >> KIND_SHIFT, move & SQUARE_MASK, None)  # noqa: SLF001
    return outlook(twin, state.mover)


def _chosen(state: "State", random: Random, policy: Policy) -> int:
    count = 0 if state.retired[state.mover] else state.legal_count()
    if not count:
        return PASS
    if policy.name == "uniform":
        return state.nth(random.below(count))
    return (
        _best_of_few(state, random, policy, count)
        if policy.among
        else _best_of_all(state, random, policy)
    )


def _value(state: "State", move: int, policy: Policy) -> int:
    """The value that the policy maximises."""
    return state.net_gain(move) if policy.name == "greedy" else _outlook_after(state, move)


def _best_of_few(state: "State", random: Random, policy: Policy, count: int) -> int:
    """The best of some moves drawn at random; the first one if several are equal."""
    drawn = [state.nth(random.below(count)) for _ in range(policy.among)]
    return max(drawn, key=lambda move: _value(state, move, policy))


def _best_of_all(state: "State", random: Random, policy: Policy) -> int:
    """The best of all moves; equal ones are equally likely."""
    best, ties, chosen = -_MOST, 0, PASS
    for move in state.legal_moves():
        value = _value(state, move, policy)
        if value > best:
            best, ties = value, 0
        if value == best:
            ties += 1
            if random.below(ties) == 0:
                chosen = move
    return chosen


def _hidden_pool(state: "State", seat: int) -> list[int]:
    """The tiles that the seat cannot see, sorted: the other hands and the pile."""
    hidden = [
        tile for other, hand in enumerate(state.hands) if other != seat for tile in hand
    ] + list(state.pile_tiles())
    own = state.hands[seat]
    if UNKNOWN in hidden or UNKNOWN in own:
        counts = [
            COPIES - placed - own.count(tile) for tile, placed in enumerate(state.tiles_placed())
        ]
        pool = (
            [tile for tile in range(len(TILES)) for _ in range(counts[tile])]
            if min(counts) >= 0
            else []
        )
    else:
        pool = sorted(hidden)
    if UNKNOWN in own or len(pool) != len(hidden) or len(pool) > _MOST_HIDDEN:
        raise ValueError(
            f"expected a state in which seat {seat} knows its hand and what it cannot see follows"
            " from the rest"
        )
    return pool


def _redealt(state: "State", seat: int, pool: Sequence[int], random: Random) -> "State":
    """A copy of the state with the other hands and the pile dealt from the pool."""
    tiles = list(pool)
    for last in range(len(tiles) - 1, 0, -1):
        other = random.below(last + 1)
        tiles[last], tiles[other] = tiles[other], tiles[last]
    twin, start = state.copy(), 0
    for own, hand in enumerate(state.hands):
        if own != seat:
            twin.set_hand(own, tiles[start : start + len(hand)])
            start += len(hand)
    twin.set_pile(tiles[start:])
    return twin
