"""How a seat's chance of winning changed in a game: by its own moves, by the moves of the others, and
by the tiles that were dealt and drawn.

A chance is the share of the win that a seat gets on average if a built-in bot, the *judge*, plays
on for all seats. All hands count as known, and the order of the draw pile as unknown. The chance
changes with a move if the judge would have chosen another move, and with a draw because the tile
that came is better or worse than others. All changes of a game together lead from an equal share of
the win to the result.
"""

from collections.abc import Sequence
from hashlib import sha256
from random import Random as Shuffler
from typing import NamedTuple

from arena.match.grading import grade_move
from arena.players.player import built_in
from arena.records.grades import Grade, Judge
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
    """By how much a seat's chance of winning grew in a game through its ``own`` moves, through the
    moves of its ``rivals``, and through the ``tiles``; negative if it shrank.
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
    luck = Shuffler(seed)
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
        before += share_of_win(start.ranks(), seat)
        after += share_of_win(moved.ranks(), seat)
    return StepChances(before / deals, after / deals)


def share_of_win(ranks: Sequence[int], seat: int) -> float:
    """The share of the win of ``seat`` in a game with these ``ranks``: 0, 1, or less than 1 if
    several seats share the first rank.
    """
    return 1 / ranks.count(1) if ranks[seat] == 1 else 0.0


def sources_of(
    chances: Sequence[StepChances], movers: Sequence[int], ranks: Sequence[int], seat: int
) -> Sources:
    """Where the difference between an equal share of the win and the result of ``seat`` came from.
    ``chances`` has the chances of ``seat`` at each move of the game, ``movers`` the seat that made
    the move, and ``ranks`` the ranks at the end of the game.
    """
    own = rivals = 0.0
    tiles = chances[0].before - 1 / len(ranks)
    later = [step.before for step in chances[1:]]
    later.append(share_of_win(ranks, seat))
    for step, mover, following in zip(chances, movers, later, strict=True):
        if mover == seat:
            own += step.after - step.before
        else:
            rivals += step.after - step.before
        tiles += following - step.after
    return Sources(own, rivals, tiles)
