"""Grades a decision of a recorded game: what the move cost against the one that a judge would have
played.

The judge plays the moves on deals in which everything the seat cannot see is dealt again, and a
built-in bot finishes the games for all seats. All moves meet the same deals and the same luck.

The best of many uncertain figures is one that luck made look good. So the better move is chosen on
some deals, and what it gains is measured on others. Whoever plays what the judge would play loses
nothing on average, however few the deals.
"""

import time
from collections.abc import Sequence
from hashlib import sha256
from math import sqrt

from arena.errors import ArenaError, RunError
from arena.match.replay import retire_faulty, start_state
from arena.players.builtin import built_in
from arena.records.record import GameRecord
from arena.records.review import DECIMALS, HALF_WIDTH, Grade, Judge
from arena.rules.game import PASSED, Board, State, move_text, play_text
from arena.rules.playouts import Random

ROUNDS = ((32, 50), (8, 17), (2, 6), (1, 3))
"""How many moves go on to the next round of the choice, and for how many of a grade's deals there
is one in the round (sequential halving; Karnin, Koren & Somekh 2013).
"""
OUTLOOKS = 1000
"""So much outlook at the end, for each other player, counts as much as a win when a move is chosen.
On the league's games the choice was twice as good with it as with wins alone, which are rarer news.
"""
CHOICES = 140
"""About how many legal moves there are."""
SAMPLE = 8


def gradable_turns(record: GameRecord, seats: set[int]) -> list[int]:
    """The turns at which these seats placed a tile, up to the first forfeit: nobody would know how
    the games of those who stay go on.
    """
    movers = [at % len(record.bots) for at, text in enumerate(record.moves) if text != PASSED]
    last = min((fault.turn for fault in record.faults), default=len(movers))
    return [turn for turn, seat in enumerate(movers[:last]) if seat in seats]


def grade(
    record: GameRecord, board: Board, turn: int, judge: Judge, advice: str | None = None
) -> Grade:
    """The grade of the move played after so many placements; ``advice`` is the better move if
    somebody else says which one that is.

    Raises RunError if the record does not follow from its deck and moves.
    """
    luck = Random(_seed_of(record.id, turn, judge))
    state, text = _before(record, board, turn)
    for_choice, for_grade = luck.next(), luck.next()
    after = state.copy()
    try:
        played = play_text(after, text)
        better = (
            best_move(state, judge, for_choice)
            if advice is None
            else play_text(state.copy(), advice)
        )
    except ArenaError as error:
        raise _broken(record, error) from error
    cost, half, win = _measured(state, played, better, judge, for_grade)
    return Grade(
        turn,
        state.mover,
        state.legal_count(),
        move_text(board, played),
        move_text(board, better),
        cost,
        half,
        win,
    )


def best_move(state: State, judge: Judge, seed: int) -> int:
    """The move that the judge would play for the mover, found by sequential halving."""
    luck, policy, others = Random(seed), built_in(judge.judge), state.players - 1
    moves = state.legal_moves()
    worth = dict.fromkeys(moves, 0.0)
    for keep, part in ROUNDS:
        if len(moves) <= keep:
            continue
        times = -(-judge.deals // part)
        _, wins, _, outlooks = state.rollouts(
            state.mover, times, luck.next(), policy.policy, moves, policy.among
        )
        for move, share, outlook in zip(moves, wins, outlooks, strict=True):
            worth[move] += share + outlook / (OUTLOOKS * others)
        moves = sorted(moves, key=lambda move: -worth[move])[:keep]
    return moves[0]


def seconds_of_a_grade(start: State, judge: Judge) -> float:
    """About how much processor time a grade takes, from some games of the judge that begin in this
    state; later ones are shorter.
    """
    policy, began = built_in(judge.judge), time.process_time()
    start.rollouts(start.mover, SAMPLE, 0, policy.policy, [start.nth(0)], policy.among)
    game = (time.process_time() - began) / SAMPLE
    sizes = [CHOICES, *(keep for keep, _ in ROUNDS)]
    games = sum(size * judge.deals / part for size, (_, part) in zip(sizes, ROUNDS, strict=False))
    return game / 2 * (games + 2 * judge.deals)


def winning_shares(record: GameRecord, board: Board, judge: Judge) -> dict[int, float]:
    """The mover's share of the win after each move up to the first forfeit, by turn: with no better
    move sought, all of a game takes less time than one grade.

    Raises RunError if the record does not follow from its deck and moves.
    """
    policy, shares = built_in(judge.judge), dict[int, float]()
    turns = set(gradable_turns(record, set(range(len(record.bots)))))
    try:
        state = start_state(record, board)
        for text in record.moves:
            retire_faulty(state, record)
            before, turn = state.copy(), state.turns
            move = play_text(state, text)
            if text != PASSED and turn in turns:
                _, [won], _, _ = before.rollouts(
                    before.mover,
                    judge.deals,
                    _seed_of(record.id, turn, judge),
                    policy.policy,
                    [move],
                    policy.among,
                )
                shares[turn] = round(won / judge.deals, DECIMALS)
    except ArenaError as error:
        raise _broken(record, error) from error
    return shares


def _measured(
    state: State, played: int, better: int, judge: Judge, seed: int
) -> tuple[float, float, float]:
    """The cost, its error, and the share of the win after the move that was played."""
    luck, policy, moves = Random(seed), built_in(judge.judge), [better, played]
    if better == played:
        _, [won], _, _ = state.rollouts(
            state.mover, judge.deals, seed, policy.policy, [played], policy.among
        )
        return 0.0, 0.0, round(won / judge.deals, DECIMALS)
    differences, won = [], 0.0
    for _ in range(judge.deals):
        _, [best, own], _, _ = state.rollouts(
            state.mover, 1, luck.next(), policy.policy, moves, policy.among
        )
        differences.append(best - own)
        won += own
    return *paired(differences), round(won / judge.deals, DECIMALS)


def paired(differences: Sequence[float]) -> tuple[float, float]:
    """The mean of paired differences of shares, and half the width of its 95 % interval.

    The interval is that of the sample with one deal more that each of the two moves wins (Bonett &
    Price 2012): if no deal tells the moves apart, that is still no proof that they are equal.
    """
    count = len(differences)
    total, squares = sum(differences), sum(one * one for one in differences)
    padded = count + 2
    variance = ((squares + 2) - total * total / padded) / (padded - 1)
    mean = round(total / count, DECIMALS) + 0.0
    return mean, round(HALF_WIDTH * sqrt(variance / padded), DECIMALS)


def _before(record: GameRecord, board: Board, turn: int) -> tuple[State, str]:
    """The state after so many placements, and the move that was played in it."""
    try:
        state = start_state(record, board)
        for text in record.moves:
            retire_faulty(state, record)
            if state.turns == turn and text != PASSED:
                return state, text
            play_text(state, text)
    except ArenaError as error:
        raise _broken(record, error) from error
    raise AssertionError(f"turn {turn} of {record.id} is one of gradable_turns")


def _broken(record: GameRecord, error: ArenaError) -> RunError:
    return RunError(
        f"{record.id}: expected moves that the rules allow, got {error}",
        "'arena verify' lists everything that is wrong in a run",
    )


def _seed_of(game: str, turn: int, judge: Judge) -> int:
    """64 bits for the deals of a decision: not those of any other, and the same for any worker."""
    digest = sha256(f"review\n{judge.seed}\n{game}\n{turn}".encode()).digest()
    return int.from_bytes(digest[:8], "big")
