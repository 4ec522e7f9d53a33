"""What may follow from a state: its outlook (an estimate without search), games played to the end
by simple policies, and rollouts on deals in which everything a seat cannot see is dealt again.

The native core has outlooks and playouts in C. Both cores draw the same random numbers, so the same
seed gives the same results. The outlook's weights are those that best predict how games continue: a
least-squares fit by ``python -m tests.rules.fit_outlook``, rounded.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from arena.errors import IllegalMoveError
from arena.rules.notation import COPIES, KIND_SHIFT, PASS, SQUARE_MASK, TILES, UNKNOWN
from arena.rules.terms import MAJOR, NOBODY, OwnedProvince

if TYPE_CHECKING:
    from arena.rules.pure import State
    from arena.rules.state import BoardState


PLACED = 118
"""The value of a placed pagoda. All values in this module are in hundredths of a pagoda."""
GROWTH = (0, 0, -8, 14, 50)
"""The extra value of a province by its size: a larger one becomes major sooner."""
HELD = (-100, -37, -20)
"""What is subtracted from the value of a village if its owner leads by 0, 1 or more of the pagodas
around it.
"""
WON = 300
"""The extra value of the win, which several winners share."""
POLICIES = ("uniform", "greedy", "careful")
Rollouts = tuple[list[int], list[float], list[int], list[int]]
"""Four lists: the moves, and for each move the seat's summed shares of the win, pagodas left and
outlooks.
"""
_WORD = (1 << 64) - 1
_MAX_HIDDEN = 250
_MOST = 1_000_000


def outlook(position: "BoardState", seat: int) -> int:
    """The outlook of a seat: the value of what it has, times the number of other seats, minus the
    values of the other seats.
    """
    worth = [PLACED * -left for left in position.left]
    # These attributes are private to the core; they are read directly for speed.
    provinces = [province for areas in position._areas for province in areas]  # noqa: SLF001
    for province in provinces:
        if province.size < MAJOR:
            worth[province.owner] += GROWTH[province.size]
    for beside, owner in zip(position.board.beside, position.villages, strict=True):
        if owner != NOBODY:
            lead = _lead(provinces, beside, owner, position.players)
            worth[owner] += HELD[min(lead, len(HELD) - 1)]
    if position.end is not None:
        for winner in range(position.players):
            worth[winner] += WON * twelfths_of(position.left, winner) // 12
    return position.players * worth[seat] - sum(worth)


def twelfths_of(left: Sequence[int], seat: int) -> int:
    """The seat's share of the win in twelfths, if the game ended with these pagodas left."""
    return 12 // left.count(left[seat]) if left[seat] == min(left) else 0


def _lead(provinces: Iterable[OwnedProvince], beside: int, owner: int, players: int) -> int:
    """By how many pagodas beside a village its owner leads; 0 also if another player leads.
    ``beside`` is the mask of squares around the village.
    """
    counts = [0] * players
    for province in provinces:
        if province.mask & beside:
            counts[province.owner] += province.pagodas
    lead = counts[owner]
    counts[owner] = 0
    return max(0, lead - max(counts))


class Random:
    """A random number generator with 64 bits of state, splitmix64 (Steele, Lea & Flood 2014), which
    is easy to write in both Python and C.
    """

    def __init__(self, seed: int) -> None:
        self.state = seed & _WORD

    def next(self) -> int:
        """The next 64 random bits."""
        self.state = z = self.state + 0x9E3779B97F4A7C15 & _WORD
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _WORD
        z = (z ^ z >> 27) * 0x94D049BB133111EB & _WORD
        return z ^ z >> 31

    def below(self, count: int) -> int:
        """A random number from 0 to count - 1."""
        return (self.next() >> 32) * count >> 32


class PlayoutPolicy(NamedTuple):
    """How a seat chooses its moves in a playout.

    ``name``   uniform: any legal move; greedy: the move that gains most pagodas, minus those of the
               others; careful: the move with the best outlook
    ``among``  the number of legal moves, drawn at random, to choose from; 0 means all
    ``turns``  the number of placements after which to stop; 0 plays to the end of the game
    """

    name: str = "uniform"
    among: int = 0
    turns: int = 0


def play_out(state: "State", random: Random, policy: PlayoutPolicy) -> int:
    """Plays the game on by the policy, from a state in which all tiles are known; returns the
    number of tiles placed. Raises ValueError.
    """
    check_policy(policy)
    if UNKNOWN in state.pile_tiles() or any(UNKNOWN in hand for hand in state.hands):
        message = "some tiles of this state are unknown"
        raise ValueError(f"{message}: use rollouts")
    before = state.turns
    if state.end is None:
        # Hands may have been set since the last move, so the game may be over.
        state._end_if_stuck()  # noqa: SLF001
    while state.end is None and not 0 < policy.turns <= state.turns - before:
        state.play(_chosen(state, random, policy))
    return state.turns - before


def choose(state: "State", random: Random, policy: PlayoutPolicy) -> int:
    """The move that the policy chooses from the board and the mover's hand, or PASS. Raises
    ValueError.
    """
    check_policy(policy)
    return _chosen(state, random, policy)


def roll_out(
    state: "State",
    seat: int,
    times: int,
    seed: int,
    policy: PlayoutPolicy,
    moves: Sequence[int] | None,
) -> Rollouts:
    """Plays each move on ``times`` random deals, then plays each game on by the policy. All moves
    meet the same deals and luck. Raises ValueError, IllegalMoveError.
    """
    check_policy(policy)
    if not 1 <= times <= _MOST:
        raise ValueError(f"expected 1 to {_MOST} games for each move, got {times}")
    if seat != state.mover or state.end is not None:
        raise ValueError(f"expected the seat that is to move, got {seat}")
    state = state.copy()  # so that reading the moves, which may run any code, cannot change it
    pool = _hidden_pool(state, seat)
    candidates = state.legal_moves() if moves is None else list(moves)
    for move in candidates:
        if not state.is_legal(move):
            raise IllegalMoveError(state.why_illegal(move))
    stream = Random(seed)
    twelfths, left, outlooks = ([0] * len(candidates) for _ in range(3))
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


def check_policy(policy: PlayoutPolicy) -> None:
    """Raises ValueError for an unknown policy, and for numbers that are out of its bounds."""
    if policy.name not in POLICIES:
        raise ValueError(f"expected the policy uniform, greedy or careful, got {policy.name}")
    if not 0 <= policy.among <= _MOST or not 0 <= policy.turns <= _MOST:
        got = f"{policy.among} and {policy.turns}"
        raise ValueError(f"expected 0 to {_MOST} moves to look at and turns to play, got {got}")


def outlooks(state: "State") -> list[int]:
    """The mover's outlook after each of its legal moves, in their order."""
    return [_outlook_after(state, move) for move in state.legal_moves()]


def _outlook_after(state: "State", move: int) -> int:
    """The mover's outlook after one legal move."""
    twin = state.copy()
    # The tile is placed, but no tile is drawn.
    twin._place(move >> KIND_SHIFT, move & SQUARE_MASK, None)  # noqa: SLF001
    return outlook(twin, state.mover)


def _chosen(state: "State", random: Random, policy: PlayoutPolicy) -> int:
    """The move that the policy chooses among the legal moves, or PASS."""
    count = 0 if state.retired[state.mover] else state.legal_count()
    if not count:
        return PASS
    if policy.name == "uniform":
        return state.nth(random.below(count))
    if policy.among:  # if several are equal, the first one wins
        drawn = [state.nth(random.below(count)) for _ in range(policy.among)]
        return max(drawn, key=lambda move: _value(state, move, policy))
    return _best_of_all(state, random, policy)


def _value(state: "State", move: int, policy: PlayoutPolicy) -> int:
    """The number that the policy maximises, for a move."""
    return state.net_gain(move) if policy.name == "greedy" else _outlook_after(state, move)


def _best_of_all(state: "State", random: Random, policy: PlayoutPolicy) -> int:
    """The best of all legal moves; among equal ones each is equally likely."""
    best = -_MOST
    ties = 0
    chosen = PASS
    for move in state.legal_moves():
        value = _value(state, move, policy)
        if value > best:
            best = value
            ties = 0
        if value == best:
            ties += 1
            if random.below(ties) == 0:
                chosen = move
    return chosen


def _hidden_pool(state: "State", seat: int) -> list[int]:
    """The tiles that the seat cannot see, sorted: those of the other hands and of the pile."""
    hands = [hand for other, hand in enumerate(state.hands) if other != seat]
    own_hand = state.hands[seat]
    hidden = [*chain(*hands), *state.pile_tiles()]
    pool = sorted(hidden)
    if UNKNOWN in hidden or UNKNOWN in own_hand:
        placed = state.tiles_placed()
        counts = [COPIES - placed[tile] - own_hand.count(tile) for tile in range(len(TILES))]
        pool = [tile for tile, count in enumerate(counts) for _ in range(count)]
        pool = pool if min(counts) >= 0 else []
    if UNKNOWN in own_hand or len(pool) != len(hidden) or len(pool) > _MAX_HIDDEN:
        wanted = f"seat {seat} knows its hand and what it cannot see follows from the rest"
        raise ValueError(f"expected a state in which {wanted}")
    return pool


def _redealt(state: "State", seat: int, pool: Sequence[int], random: Random) -> "State":
    """A copy of the state in which the other hands and the pile are dealt at random
    from the pool.
    """
    tiles = list(pool)
    for last in range(len(tiles) - 1, 0, -1):
        other = random.below(last + 1)
        tiles[last], tiles[other] = tiles[other], tiles[last]
    twin = state.copy()
    start = 0
    for other_seat, hand in enumerate(state.hands):
        if other_seat != seat:
            twin.set_hand(other_seat, tiles[start : start + len(hand)])
            start += len(hand)
    twin.set_pile(tiles[start:])
    return twin
