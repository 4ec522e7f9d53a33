"""Estimates of what follows from a state: the *outlook* (a value of the position without search),
*playouts* (games played on by simple policies), and *rollouts* (playouts of each move on random
deals of the tiles that a seat cannot see).

The native core computes outlooks and playouts in C. Both cores draw the same random numbers, so a
seed gives the same results in both. The weights of the outlook predict best how games continue: a
least-squares fit by ``python -m tests.rules.fit_outlook``, rounded.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from arena.errors import IllegalMoveError
from arena.rules.notation import COPIES, KIND_SHIFT, PASS, SQUARE_MASK, TILES, UNKNOWN
from arena.rules.terms import MAJOR, NOBODY, OwnedProvince

if TYPE_CHECKING:
    from arena.rules.board_state import BoardState
    from arena.rules.pure import State


PLACED = 118
"""The value of a placed pagoda, in hundredths of a pagoda, as all values in this module."""
GROWTH = (0, 0, -8, 14, 50)
"""``GROWTH[size]`` is added to the value of a province of that size below five: a larger province
becomes major sooner.
"""
HELD = (-100, -37, -20)
"""A village adds one of these negative numbers to its owner's value: the first if the owner leads
by 0 pagodas on the provinces around the village, the second for a lead of 1, the last for more.
"""
WON = 300
"""What a won game adds to a seat's value; several winners share it."""
POLICIES = ("uniform", "greedy", "careful")
Rollouts = tuple[list[int], list[float], list[int], list[int]]
"""Four lists of equal length: the moves, and for each move three sums over all deals: the seat's
shares of the win, its pagodas left, and its outlooks.
"""
_WORD = (1 << 64) - 1
_MAX_HIDDEN = 250
_MOST = 1_000_000


def outlook(position: "BoardState", seat: int) -> int:
    """An estimate, without search, of how well ``seat`` stands in ``position``; higher is better
    for ``seat``. For each seat, its pagodas placed, its provinces and villages, and its share of
    the win if the game is over are given a value in hundredths of a pagoda. The outlook is the sum,
    over all other seats, of the value of ``seat`` minus that of the other seat.
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
    """The share of the win, in twelfths, that ``seat`` gets if the game ends with ``left`` pagodas
    left to the seats; 0 if another seat has fewer left.
    """
    return 12 // left.count(left[seat]) if left[seat] == min(left) else 0


def _lead(provinces: Iterable[OwnedProvince], beside: int, owner: int, players: int) -> int:
    """By how many pagodas on the provinces beside a village ``owner`` leads the next player; 0 if
    another player has as many or more. ``beside`` is the mask of the squares around the village,
    ``players`` the number of seats.
    """
    counts = [0] * players
    for province in provinces:
        if province.mask & beside:
            counts[province.owner] += province.pagodas
    lead = counts[owner]
    counts[owner] = 0
    return max(0, lead - max(counts))


class Random:
    """The random number generator splitmix64 (Steele, Lea & Flood 2014), which gives the same
    numbers in Python and in C. The lowest 64 bits of ``seed`` determine all its numbers.
    """

    def __init__(self, seed: int) -> None:
        self.state = seed & _WORD

    def next(self) -> int:
        """Returns the next 64 random bits as an int."""
        self.state = z = self.state + 0x9E3779B97F4A7C15 & _WORD
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _WORD
        z = (z ^ z >> 27) * 0x94D049BB133111EB & _WORD
        return z ^ z >> 31

    def below(self, count: int) -> int:
        """Returns a random int from 0 to ``count`` - 1; ``count`` is from 1 to 2**32."""
        return (self.next() >> 32) * count >> 32


class PlayoutPolicy(NamedTuple):
    """How seats choose their moves in a playout.

    ``name``   ``uniform``: each legal move is equally likely; ``greedy``: the move with the highest
               `State.net_gain`; ``careful``: the move after which the mover's outlook is highest
    ``among``  the number of legal moves, drawn at random with repetition, of which the best is
               chosen; 0 means all legal moves; ``uniform`` ignores it
    ``turns``  the number of placements after which a playout stops; 0 plays to the end of the game
    """

    name: str = "uniform"
    among: int = 0
    turns: int = 0


def play_out(state: "State", random: Random, policy: PlayoutPolicy) -> int:
    """Plays ``state`` on for all seats by the policy, with random choices from ``random``, until
    the game ends or ``policy.turns`` placements are made; returns the number of placements.
    ``state`` changes. Raises ValueError if a tile in a hand or the draw pile is unknown, and as
    `check_policy` does.
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
    """The move that the policy chooses for the mover of ``state``, from the board and the mover's
    hand; PASS if the mover has no legal placement or has left the game. Random choices come from
    ``random``; ``state`` does not change. Raises ValueError as `check_policy` does.
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
    """Plays each of ``moves`` (None: each legal move) on ``times`` random deals of the tiles that
    ``seat``, the mover, cannot see, then plays each game on by the policy; the random numbers
    follow from ``seed``. All moves are tried on the same deals with the same random numbers.
    ``state`` does not change.

    Returns the moves, and for each move three sums over the deals: the shares of the win that
    ``seat`` got (0 in a game that ``policy.turns`` stopped), its pagodas left, and its outlooks
    when the games stopped. Raises IllegalMoveError for a move that is not legal, and ValueError if
    ``seat`` is not to move, if ``times`` is not from 1 to 1,000,000, if the tiles that the seat
    cannot see do not follow from those that it sees, and as `check_policy` does.
    """
    check_policy(policy)
    if not 1 <= times <= _MOST:
        raise ValueError(f"expected 1 to {_MOST} games for each move, got {times}")
    if seat != state.mover or state.end is not None:
        raise ValueError(f"expected the seat that is to move, got {seat}")
    # a copy, because reading the moves may run any code, which could change the state
    state = state.copy()
    pool = _hidden_pool(state, seat)
    candidates = state.legal_moves() if moves is None else list(moves)
    for move in candidates:
        if not state.is_legal(move):
            raise IllegalMoveError(state.why_illegal(move))
    stream = Random(seed)
    twelfths = [0] * len(candidates)
    left = [0] * len(candidates)
    outlooks = [0] * len(candidates)
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
    """Raises ValueError if the policy's name is not one of `POLICIES`, or if ``among`` or ``turns``
    is not from 0 to 1,000,000.
    """
    if policy.name not in POLICIES:
        raise ValueError(f"expected the policy uniform, greedy or careful, got {policy.name}")
    if not 0 <= policy.among <= _MOST or not 0 <= policy.turns <= _MOST:
        got = f"{policy.among} and {policy.turns}"
        raise ValueError(f"expected 0 to {_MOST} moves to look at and turns to play, got {got}")


def outlooks(state: "State") -> list[int]:
    """For each legal move of the mover of ``state``, in ascending order of moves: the mover's
    `outlook` when the tile has been placed and no new tile has been drawn. Higher is better for the
    mover. ``state`` does not change.
    """
    return [_outlook_after(state, move) for move in state.legal_moves()]


def _outlook_after(state: "State", move: int) -> int:
    """The mover's `outlook` when it has made the legal placement ``move`` and has not yet drawn a
    tile; higher is better for the mover. ``state`` does not change.
    """
    twin = state.copy()
    # The tile is placed, but no tile is drawn.
    twin._place(move >> KIND_SHIFT, move & SQUARE_MASK, None)  # noqa: SLF001
    return outlook(twin, state.mover)


def _chosen(state: "State", random: Random, policy: PlayoutPolicy) -> int:
    """The move that the policy chooses among the mover's legal placements; PASS if there are none
    or the mover has left the game.
    """
    count = 0 if state.retired[state.mover] else state.legal_count()
    if not count:
        return PASS
    if policy.name == "uniform":
        return state.nth(random.below(count))
    if policy.among:  # of several best moves, max returns the one drawn first
        drawn = [state.nth(random.below(count)) for _ in range(policy.among)]
        return max(drawn, key=lambda move: _value(state, move, policy))
    return _best_of_all(state, random, policy)


def _value(state: "State", move: int, policy: PlayoutPolicy) -> int:
    """The figure by which the policies greedy and careful compare legal moves, higher is better:
    the mover's net gain by ``move`` in pagodas (greedy), or its outlook after ``move`` (careful).
    """
    return state.net_gain(move) if policy.name == "greedy" else _outlook_after(state, move)


def _best_of_all(state: "State", random: Random, policy: PlayoutPolicy) -> int:
    """The legal move with the highest value by the policy; if several have it, each is equally
    likely to be chosen.
    """
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
    """The tiles in the other hands and the draw pile, which ``seat`` cannot see, sorted. If
    ``state`` does not know some of them, they are computed from the tiles placed and the seat's own
    hand. Raises ValueError if that is not possible, or if there are more than 250 of them.
    """
    hands = [hand for other, hand in enumerate(state.hands) if other != seat]
    own_hand = state.hands[seat]
    hidden = [*chain(*hands), *state.pile_tiles()]
    pool = sorted(hidden)
    if UNKNOWN in hidden or UNKNOWN in own_hand:
        placed = state.tiles_placed()
        counts = [COPIES - placed[tile] - own_hand.count(tile) for tile in range(len(TILES))]
        pool = []
        for tile, count in enumerate(counts):
            pool += [tile] * count
        pool = pool if min(counts) >= 0 else []
    if UNKNOWN in own_hand or len(pool) != len(hidden) or len(pool) > _MAX_HIDDEN:
        wanted = f"seat {seat} knows its hand and what it cannot see follows from the rest"
        raise ValueError(f"expected a state in which {wanted}")
    return pool


def _redealt(state: "State", seat: int, pool: Sequence[int], random: Random) -> "State":
    """A copy of ``state`` in which the hands of all seats but ``seat`` and the draw pile are dealt
    at random from ``pool``, the tiles that the seat cannot see.
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
