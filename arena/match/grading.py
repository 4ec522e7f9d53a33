"""Grades decisions: how much a move cost, compared with the move that a judge would have played.

Moves are tried on random deals of the tiles that the seat cannot see, and a built-in bot, the
*judge*, plays the games to their end for all seats. All moves are tried on the same deals with the
same random numbers. Only the moves with the best outlooks are tried, in short games first. The best
of many uncertain figures is partly lucky, so the better move is chosen on some deals and its gain
is measured on others. A seat that plays as the judge would loses nothing on average, however few
the deals.
"""

import time
from collections.abc import Sequence
from hashlib import sha256
from math import sqrt
from typing import NamedTuple

from arena.errors import ArenaError, RunError
from arena.match.replay import SEE, positions
from arena.players.player import BuiltIn, built_in
from arena.records.grades import DECIMALS, HALF_WIDTH, Grade, Judge
from arena.records.record import GameRecord, movers_of
from arena.rules import State
from arena.rules.boards import Board
from arena.rules.notation import PASSED, move_text, play_text
from arena.rules.playouts import Random

DEFAULT_JUDGE = "careful-4"
"""The built-in bot that grades decisions and gives hints, if the user names none."""
DEFAULT_DEALS = 400
"""How often the unseen tiles are dealt for a grade, if the user gives no number."""
CANDIDATES = 12
"""The number of moves, those with the best outlooks, that the judge tries."""
FINALISTS = 4
"""The number of moves that are left after games of `SHORT` turns and are then tried in games to the
end.
"""
SHORT = 12
"""The number of turns after which a short game is stopped and judged by its outlook."""
SHORT_PART = 8
"""A grade's deals divided by this number are the deals on which the candidates are tried."""
LONG_PART = 2
"""A grade's deals divided by this number are the deals on which the finalists are tried."""
OUTLOOKS = 1000
"""The outlook at the end of a game, per other player, that counts as much as a win when a move is
chosen. In a league's games, choosing by wins and outlooks was twice as good as by wins alone,
because wins are rarer.
"""
TURNS = 50
"""The typical number of turns in a game, for an estimate of time."""
SAMPLE = 8
"""The number of games that are played to estimate how long a grade takes."""


def gradable_turns(record: GameRecord, seats: set[int]) -> list[int]:
    """The turns at which one of ``seats`` placed a tile, up to the first forfeit of any seat: later
    moves cannot be graded, because games of the judge have no forfeits.
    """
    movers = movers_of(record.moves, len(record.bots))
    last = min((fault.turn for fault in record.faults), default=len(movers))
    return [turn for turn, seat in enumerate(movers[:last]) if seat in seats]


def _placement(record: GameRecord, board: Board, turn: int) -> tuple[State, str]:
    """The state after ``turn`` placements of the game of ``record``, which is a state in which a
    tile was placed, and that placement as text. Raises ArenaError.
    """
    for state, text in positions(record, board):
        if state.turns == turn and text != PASSED:
            return state, text
    raise RunError(f"{record.id}: expected a turn with a placement, got {turn}")


def grade(
    record: GameRecord, board: Board, turn: int, judge: Judge, advice: str | None = None
) -> Grade:
    """Grades the move that was played after ``turn`` placements of ``record``, which must be one of
    its `gradable_turns`. ``advice`` is the text of the better move if another bot named it; if it
    is None, the judge chooses the better move.

    Raises RunError if no tile was placed then, if the record does not follow from its deck and
    moves, or if ``advice`` is no legal move.
    """
    try:
        state, text = _placement(record, board, turn)
        played = play_text(state.copy(), text)
        better = None if advice is None else play_text(state.copy(), advice)
    except ArenaError as error:
        raise _broken(record, error) from error
    return grade_move(state, played, record.id, judge, better)


def grade_move(
    state: State, played: int, game: str, judge: Judge, better: int | None = None
) -> Grade:
    """Grades ``played``, a legal move of the mover of ``state`` in the game with the id ``game``.
    ``better`` is the better move if another bot named it; if it is None, the judge chooses the
    better move.
    """
    luck = Random(_seed_of(game, state.turns, judge))
    for_choice = luck.next()
    for_grade = luck.next()
    if better is None:
        better = best_move(state, judge, for_choice)
    cost, half_width, win = measured(state, played, better, judge, for_grade)
    return Grade(
        turn=state.turns,
        seat=state.mover,
        choices=state.legal_count(),
        played=move_text(state.board, played),
        better=move_text(state.board, better),
        cost=cost,
        error=half_width,
        win=win,
    )


class RankedMove(NamedTuple):
    """A move that a judge tried, and the share of the win, from 0 to 1, that the mover gets after
    it.
    """

    move: int
    win: float


def best_moves(state: State, judge: Judge, seed: int) -> list[RankedMove]:
    """At most `FINALISTS` moves for the mover of ``state``, the best first, as the judge ranks them
    on deals that follow from ``seed``: it tries the moves with the best outlooks in short games,
    and the best of those in games to the end. Empty if the mover must pass.
    """
    luck = Random(seed)
    policy = built_in(judge.judge)
    candidates = _by_outlook(state)[:CANDIDATES]
    if len(candidates) > FINALISTS:
        deals = -(-judge.deals // SHORT_PART)
        values = _values(state, policy, candidates, deals=deals, seed=luck.next(), turns=SHORT)
        candidates = sorted(candidates, key=lambda move: -values[move].value)[:FINALISTS]
    deals = -(-judge.deals // LONG_PART)
    values = _values(state, policy, candidates, deals=deals, seed=luck.next())
    candidates.sort(key=lambda move: -values[move].value)
    return [RankedMove(move, values[move].win) for move in candidates]


def best_move(state: State, judge: Judge, seed: int) -> int:
    """The move that the judge would play for the mover of ``state``, which must have a legal move:
    the first of `best_moves`. ``seed`` determines the random games that the judge plays.
    """
    return best_moves(state, judge, seed)[0].move


def _by_outlook(state: State) -> list[int]:
    """The legal moves of ``state``, those with the best outlooks first."""
    moves = state.legal_moves()
    outlooks = dict(zip(moves, state.outlooks(), strict=True))
    return sorted(moves, key=lambda move: -outlooks[move])


class _Value(NamedTuple):
    """What a move is worth to the mover, the more the better: by wins and outlooks (``value``), and
    by wins alone, the share of the win from 0 to 1 (``win``).
    """

    value: float
    win: float


def _values(
    state: State, policy: BuiltIn, moves: Sequence[int], *, deals: int, seed: int, turns: int = 0
) -> dict[int, _Value]:
    """The value of each of ``moves``, from games of ``policy`` on ``deals`` deals that follow from
    ``seed``. A game is stopped after ``turns`` placements; with 0 it is played to its end.
    """
    wins, outlooks = _rolled(state, policy, deals, seed, moves, turns)
    others = state.players - 1
    values = {}
    for move, win, outlook in zip(moves, wins, outlooks, strict=True):
        value = (win + outlook / (OUTLOOKS * others)) / deals
        values[move] = _Value(value, win / deals)
    return values


def seconds_of_a_grade(start: State, judge: Judge) -> float:
    """About how many seconds of CPU time a grade by ``judge`` takes, measured with a few games from
    ``start``, the first state of a game; games from later states are shorter.
    """
    policy = built_in(judge.judge)
    began = time.process_time()
    _rolled(start, policy, SAMPLE, 0, [start.nth(0)])
    game = (time.process_time() - began) / SAMPLE
    short_games = CANDIDATES * judge.deals / SHORT_PART
    long_games = FINALISTS * judge.deals / LONG_PART
    # A game from the middle of a game is half as long as a whole one.
    whole = game / 2 * (long_games + 2 * judge.deals)
    return whole + game * SHORT / TURNS * short_games


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
    state: State, policy: BuiltIn, times: int, seed: int, moves: Sequence[int], turns: int = 0
) -> tuple[Sequence[float], Sequence[float]]:
    """The mover's shares of the win and its outlooks after each of ``moves``, summed over ``times``
    deals that follow from ``seed``. ``policy`` plays each game on for ``turns`` placements; with 0
    to its end.
    """
    _, wins, _, outlooks = state.rollouts(
        state.mover, times, seed, policy.policy, moves, policy.among, turns
    )
    return wins, outlooks


def measured(
    state: State, played: int, better: int, judge: Judge, seed: int
) -> tuple[float, float, float]:
    """The cost of the move ``played`` against the move ``better``, half the width of the cost's 95
    % interval, and the expected share of the win after ``played``. The cost is how much smaller the
    mover's expected share of the win, from 0 to 1, is after ``played``. The deals follow from
    ``seed``.
    """
    luck = Random(seed)
    policy = built_in(judge.judge)
    if better == played:
        [won], _ = _rolled(state, policy, judge.deals, seed, [played])
        return 0.0, 0.0, round(won / judge.deals, DECIMALS)
    moves = [better, played]
    shares = []
    differences = []
    for _ in range(judge.deals):
        [of_better, of_played], _ = _rolled(state, policy, 1, luck.next(), moves)
        shares.append(of_played)
        differences.append(of_better - of_played)
    cost, error = paired(differences)
    return cost, error, round(sum(shares) / judge.deals, DECIMALS)


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
