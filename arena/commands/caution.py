"""Cautions a person before a move that costs much, and says in words what the reply could be."""

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random as Shuffler
from typing import NamedTuple

from arena.exports.effects import LAST, effects_of, takes_back
from arena.match.grading import DEFAULT_JUDGE, best_move, measured
from arena.players.player import built_in
from arena.records.grades import Judge
from arena.rules import CORE, State

LEAST_COST = 0.15
"""A move that costs a smaller share of the win, from 0 to 1, gets no caution."""
JUDGE = Judge(DEFAULT_JUDGE, 200 if CORE == "native" else 10, 0)
"""The judge of cautions. It tries half as many deals as that of hints, because a person waits."""
REPLY_DEALS = 16
"""How often the unseen tiles are dealt to find a reply to the move."""
LEAST_REPLIES = 4
"""A reply is told if it is played on this many more of the deals than after the better move."""


class Caution(NamedTuple):
    """A caution: the share of the win that the move costs (``cost``, from 0 to 1), and what could
    happen then (``words``), one or two sentences.
    """

    cost: float
    words: str


def caution_before(state: State, move: int, names: Sequence[str], seed: int) -> Caution | None:
    """The caution before ``move``, a legal placement of the mover of ``state``. None if the move
    costs less than `LEAST_COST`, or less than the error of that figure. ``names`` are the names of
    the seats; the mover is called "you". What the mover cannot see is dealt at random, from
    ``seed``.
    """
    better = best_move(state, JUDGE, seed)
    if better == move:
        return None
    cost, half_width, _ = measured(state, move, better, JUDGE, seed)
    if cost < max(LEAST_COST, half_width):
        return None
    replies = Counter[str]()
    for deal in range(REPLY_DEALS):
        dealt = _dealt(state, Shuffler(f"{seed} {deal}"))  # noqa: S311 - no secret
        replies.update(set(_harm(dealt.copy(), move, names, deal)))
        # What happens after the better move, too, is no reason for a caution.
        replies.subtract(set(_harm(dealt, better, names, deal)))
    words, count = max(replies.items(), key=lambda one: one[1], default=("", 0))
    if count >= LEAST_REPLIES:
        return Caution(cost, f"Then this can happen: {words}")
    return Caution(cost, "Another tile, or another place, does much better.")


def _dealt(state: State, luck: Shuffler) -> State:
    """A copy of ``state`` in which the tiles that its mover cannot see are dealt anew."""
    dealt = state.copy()
    rivals = [seat for seat in range(len(state.left)) if seat != state.mover]
    unseen = list(state.pile_tiles())
    for seat in rivals:
        unseen += state.hands[seat]
    # Sorted, so that where a tile really is makes no difference.
    unseen.sort()
    luck.shuffle(unseen)
    for seat in rivals:
        count = len(state.hands[seat])
        dealt.set_hand(seat, unseen[:count])
        del unseen[:count]
    dealt.set_pile(unseen)
    return dealt


def _harm(state: State, move: int, names: Sequence[str], seed: int) -> Iterator[str]:
    """Plays ``move`` and the replies of the other seats until it is the mover's turn again, in
    ``state`` itself. Yields a sentence for each thing that they take from the mover, and for each
    village that they take. ``seed`` decides what replies they choose.
    """
    seat = state.mover
    policy = built_in(DEFAULT_JUDGE)
    state.play(move)
    while state.end is None and state.mover != seat:
        reply = policy.choose(state, seed)
        effects = effects_of(state, reply, names, seat).effects
        has_lost = takes_back(effects, seat)
        for effect in effects:
            is_theirs = effect.seat != seat
            is_swallowed = effect.kind == "absorb" and has_lost
            if is_theirs and (is_swallowed or effect.kind in {"conquer", "connect", LAST}):
                who = f"{names[effect.seat]} swallows your province. " if is_swallowed else ""
                yield f"{who}{effect.words}"
        state.play(reply)
