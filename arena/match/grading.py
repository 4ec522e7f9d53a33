"""Grades decisions: how much a move cost, compared with the move that a judge would have played.

Moves are tried on random deals of the tiles that the seat cannot see, and a built-in bot, the
*judge*, plays the games to their end for all seats. All moves are tried on the same deals with the
same random numbers. The best of many uncertain figures is partly lucky, so the better move is
chosen on some deals and its gain is measured on others. A seat that plays as the judge would loses
nothing on average, however few the deals.
"""

import time
from collections.abc import Sequence
from hashlib import sha256
from math import sqrt

from arena.errors import ArenaError, RunError
from arena.match.replay import SEE, positions
from arena.players.player import BuiltIn, built_in
from arena.records.grades import DECIMALS, HALF_WIDTH, Grade, Judge
from arena.records.record import GameRecord
from arena.rules import State
from arena.rules.boards import Board
from arena.rules.notation import PASSED, move_text, play_text
from arena.rules.playouts import Random

ROUNDS = ((32, 50), (8, 17), (2, 6), (1, 3))
"""The rounds in which the better move is chosen, each as (keep, part): the number of moves that are
kept after the round, and the number by which a grade's deals are divided to give the deals of the
round. The method is sequential halving (Karnin, Koren & Somekh 2013).
"""
OUTLOOKS = 1000
"""The outlook at the end of a game, per other player, that counts as much as a win when a move is
chosen. In a league's games, choosing by wins and outlooks was twice as good as by wins alone,
because wins are rarer.
"""
CHOICES = 140
"""The typical number of legal moves in a position, for an estimate of time."""
SAMPLE = 8
"""The number of games that are played to estimate how long a grade takes."""


def gradable_turns(record: GameRecord, seats: set[int]) -> list[int]:
    """The turns at which one of ``seats`` placed a tile, up to the first forfeit of any seat: later
    moves cannot be graded, because games of the judge have no forfeits.
    """
    movers = [index % len(record.bots) for index, text in enumerate(record.moves) if text != PASSED]
    last = min((fault.turn for fault in record.faults), default=len(movers))
    return [turn for turn, seat in enumerate(movers[:last]) if seat in seats]


def grade(
    record: GameRecord, board: Board, turn: int, judge: Judge, advice: str | None = None
) -> Grade:
    """Grades the move that was played after ``turn`` placements of ``record``. ``advice`` is the
    text of the better move if another bot named it; if it is None, the judge chooses the better
    move.

    Raises RunError if the record does not follow from its deck and moves.
    """
    luck = Random(_seed_of(record.id, turn, judge))
    for_choice = luck.next()
    for_grade = luck.next()
    try:
        state, text = next(
            (state, text)
            for state, text in positions(record, board)
            if state.turns == turn and text != PASSED
        )
        played = play_text(state.copy(), text)
        better = (
            best_move(state, judge, for_choice)
            if advice is None
            else play_text(state.copy(), advice)
        )
    except ArenaError as error:
        raise _broken(record, error) from error
    cost, half_width, win = _measured(state, played, better, judge, for_grade)
    return Grade(
        turn=turn,
        seat=state.mover,
        choices=state.legal_count(),
        played=move_text(board, played),
        better=move_text(board, better),
        cost=cost,
        error=half_width,
        win=win,
    )


def best_move(state: State, judge: Judge, seed: int) -> int:
    """The move that the judge would play for the mover of ``state``, found by sequential halving on
    deals that follow from ``seed``.
    """
    luck = Random(seed)
    policy = built_in(judge.judge)
    others = state.players - 1
    moves = state.legal_moves()
    worth = dict.fromkeys(moves, 0.0)
    for keep, part in ROUNDS:
        if len(moves) <= keep:
            continue
        wins, outlooks = _rolled(state, policy, -(-judge.deals // part), luck.next(), moves)
        for move, share, outlook in zip(moves, wins, outlooks, strict=True):
            worth[move] += share + outlook / (OUTLOOKS * others)
        moves = sorted(moves, key=lambda move: -worth[move])[:keep]
    return moves[0]


def seconds_of_a_grade(start: State, judge: Judge) -> float:
    """About how many seconds of CPU time a grade by ``judge`` takes, measured with a few games from
    ``start``, the first state of a game; games from later states are shorter.
    """
    policy = built_in(judge.judge)
    began = time.process_time()
    _rolled(start, policy, SAMPLE, 0, [start.nth(0)])
    game = (time.process_time() - began) / SAMPLE
    sizes = [CHOICES, *(keep for keep, _ in ROUNDS)]
    games = sum(size * judge.deals / part for size, (_, part) in zip(sizes, ROUNDS, strict=False))
    return game / 2 * (games + 2 * judge.deals)


def winning_shares(record: GameRecord, board: Board, judge: Judge) -> dict[int, float]:
    """By turn, the mover's expected share of the win after each move of ``record``, up to the first
    forfeit, from games of the judge. No better move is looked for, so a whole game takes less time
    than one grade.

    Raises RunError if the record does not follow from its deck and moves.
    """
    policy = built_in(judge.judge)
    shares = dict[int, float]()
    turns = set(gradable_turns(record, set(range(len(record.bots)))))
    try:
        for state, text in positions(record, board):
            if text != PASSED and state.turns in turns:
                move = play_text(state.copy(), text)
                seed = _seed_of(record.id, state.turns, judge)
                [won], _ = _rolled(state, policy, judge.deals, seed, [move])
                shares[state.turns] = round(won / judge.deals, DECIMALS)
    except ArenaError as error:
        raise _broken(record, error) from error
    return shares


def _rolled(
    state: State, policy: BuiltIn, times: int, seed: int, moves: list[int]
) -> tuple[Sequence[float], Sequence[float]]:
    """The mover's shares of the win and its outlooks after each of ``moves``, summed over ``times``
    deals that follow from ``seed``; ``policy`` plays the games to their end.
    """
    _, wins, _, outlooks = state.rollouts(
        state.mover, times, seed, policy.policy, moves, policy.among
    )
    return wins, outlooks


def _measured(
    state: State, played: int, better: int, judge: Judge, seed: int
) -> tuple[float, float, float]:
    """The cost of the move ``played`` against the move ``better``, half the width of the cost's 95
    % interval, and the expected share of the win after ``played``.
    """
    luck = Random(seed)
    policy = built_in(judge.judge)
    if better == played:
        [won], _ = _rolled(state, policy, judge.deals, seed, [played])
        return 0.0, 0.0, round(won / judge.deals, DECIMALS)
    moves = [better, played]
    shares = [_rolled(state, policy, 1, luck.next(), moves)[0] for _ in range(judge.deals)]
    won = sum(of_played for _, of_played in shares)
    return *paired([of_better - of_played for of_better, of_played in shares]), round(
        won / judge.deals, DECIMALS
    )


def paired(differences: Sequence[float]) -> tuple[float, float]:
    """The mean of ``differences``, paired differences of shares, and half the width of its 95 %
    interval.

    The interval is computed with two extra deals, one that each of the two moves wins (Bonett &
    Price 2012): if no deal tells the moves apart, that does not prove that they are equal.
    """
    count = len(differences)
    total = sum(differences)
    squares = sum(difference * difference for difference in differences)
    padded = count + 2
    variance = ((squares + 2) - total * total / padded) / (padded - 1)
    mean = round(total / count, DECIMALS) + 0.0
    return mean, round(HALF_WIDTH * sqrt(variance / padded), DECIMALS)


def _broken(record: GameRecord, error: ArenaError) -> RunError:
    """The error for ``record``, which does not follow from its deck and moves; ``error`` says
    why.
    """
    return RunError(f"{record.id}: the record has a move that breaks the rules: {error}", SEE)


def _seed_of(game: str, turn: int, judge: Judge) -> int:
    """The seed, of 64 bits, for the deals of the decision after ``turn`` placements of a game:
    different for each decision, and equal on every worker.
    """
    digest = sha256(f"review\n{judge.seed}\n{game}\n{turn}".encode()).digest()
    return int.from_bytes(digest[:8], "big")
