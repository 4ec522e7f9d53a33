"""How a seat's chance of winning changed in a game, and how much of the result came from its own
mistakes, from the moves of the others, and from the tiles that were dealt and drawn.

A chance is the share of the win that a seat gets on average if a built-in bot, the *judge*, plays
on for all seats. All hands count as known, and the order of the draw pile as unknown. So a draw
changes the chance if the tile that came is better or worse than others: that is luck. What a move
of the seat cost is measured against the best move, see `arena.match.grading`. The rest of the
result comes from the moves of the others.
"""

from collections.abc import Sequence
from hashlib import sha256
from itertools import pairwise
from random import Random as Shuffler
from typing import NamedTuple

from arena.match.grading import grade_move
from arena.players.player import built_in
from arena.records.grades import Grade, Judge
from arena.records.record import shares
from arena.rules import CORE, State
from arena.rules.notation import PASS

DEALS = 600 if CORE == "native" else 12
"""The number of games that the judge plays on for a chance."""


class StepChances(NamedTuple):
    """A seat's chances of winning, from 0 to 1, right ``before`` a move and right ``after`` it,
    before the mover draws a tile.
    """

    before: float
    after: float


class JudgedStep(NamedTuple):
    """A move as a judge sees it: the ``chances`` of the seat that is asked about, and the ``grade``
    of the move if that seat made it; None for other seats and for a pass.
    """

    chances: StepChances
    grade: Grade | None


class Sources(NamedTuple):
    """What made the difference between an equal share of the win and the share that a seat won: its
    ``own`` moves, compared with the best ones, the moves of its ``rivals``, and the ``tiles``. Each
    part is a share of the win: above 0 it is a gain for the seat, below 0 a loss. The parts add up
    to the difference.
    """

    own: float
    rivals: float
    tiles: float


def judged_step(state: State, move: int, seat: int, game: str, judge: Judge) -> JudgedStep:
    """What ``judge`` says about ``move``, a legal move or a pass in ``state``, for ``seat``.
    ``game`` is the id of the game; the random numbers follow from it and from ``state``.
    """
    is_own = move != PASS and state.mover == seat
    seed = sha256(f"chances\n{game}\n{state.turns}\n{state.mover}".encode()).digest()
    chances = step_chances(state, move, seat, judge, int.from_bytes(seed[:8], "big"))
    return JudgedStep(chances, grade_move(state, move, game, judge) if is_own else None)


def step_chances(
    state: State, move: int, seat: int, judge: Judge, seed: int, deals: int = DEALS
) -> StepChances:
    """The chances of ``seat`` before and after ``move``, a legal move or a pass in ``state``, from
    ``deals`` games of the judge. The random numbers follow from ``seed``.
    """
    policy = built_in(judge.judge)
    luck = Shuffler(seed)  # noqa: S311 - no secret
    pile = list(state.pile_tiles())
    before = after = 0.0
    for _ in range(deals):
        luck.shuffle(pile)
        start = state.copy()
        start.set_pile(pile)
        moved = start.copy()
        moved.play(move)
        of_game = luck.getrandbits(63)
        for twin in (start, moved):
            twin.playout(of_game, policy.policy, policy.among)
        before += shares(start.ranks())[seat]
        after += shares(moved.ranks())[seat]
    return StepChances(before / deals, after / deals)


def sources_of(steps: Sequence[JudgedStep], ranks: Sequence[int], seat: int) -> Sources:
    """Where the difference between an equal share of the win and the result of ``seat`` came from.
    ``steps`` are all moves of the game, including passes, judged for ``seat``; there is at least
    one. ``ranks`` are the ranks at the end of the game, by seat.
    """
    equal = 1 / len(ranks)
    result = shares(ranks)[seat]
    own = -sum(step.grade.cost for step in steps if step.grade)
    tiles = steps[0].chances.before - equal
    for step, following in pairwise(steps):
        tiles += following.chances.before - step.chances.after
    return Sources(own, result - equal - own - tiles, tiles)
