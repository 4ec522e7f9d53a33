"""How strong the hints are for a person who plays: the games of somebody who always plays the first
hint against the built-in bot careful, what a hint costs, and what a review says of these moves.
"""

import multiprocessing
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from arena.commands.hints import JUDGE, hints_for
from arena.match.grading import gradable_turns, grade
from arena.match.referee import play_alone
from arena.players.player import built_in
from arena.records.record import GameRecord
from arena.rules import State
from arena.rules.boards import BUILT_IN
from arena.rules.boards import built_in as built_in_board
from arena.rules.notation import PASS
from arena.tournament.schedule import single_game
from tests.bench.figures import Figure

AIMS = {2: 60, 3: 50}
"""By number of players, the games of 100 that the hints are to win."""
RIVAL = "careful"
HINTS = "hints"
BLUNDER = 0.1
"""The cost in shares of the win from which a review calls a move a blunder."""


class Task(NamedTuple):
    """A game with the hints at one seat; ``number`` says which of the games on this board."""

    board: str
    players: int
    number: int
    is_reviewed: bool

    @property
    def seat(self) -> int:
        """The seat that plays the hints: each has its turn on each deal."""
        return self.number % self.players


class Played(NamedTuple):
    """The share of the win, the CPU time per hint in seconds, and, of a game that was reviewed, the
    number of moves and how many of them the review calls blunders.
    """

    won: float
    hint_s: float
    reviewed: int
    blunders: int


def measure(*, quick: bool) -> Iterator[Figure]:
    """The figures by board and number of players; ``quick`` plays one game for each seat."""
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        for board in BUILT_IN:
            for players, aim in AIMS.items():
                games = players if quick else -(-100 // players) * players
                reviewed = 1 if quick else 2 * players
                tasks = [Task(board, players, n, n < reviewed) for n in range(games)]
                yield from figures_of(board, players, aim, list(pool.map(play, tasks)))


def figures_of(board: str, players: int, aim: int, played: list[Played]) -> Iterator[Figure]:
    """The figures of the games on a board; ``aim`` is how many of 100 are to be won."""
    key = f"hints.{board}.{players}_players"
    who = f"{board}, {players} players"
    games = len(played)
    won = 100 * sum(game.won for game in played) / games
    yield Figure(f"{key}.won", f"{who}: won against {RIVAL}, {games} games", won, "%", f"{aim}")
    hint_s = sum(game.hint_s for game in played) / games
    yield Figure(f"{key}.hint_s", f"{who}: a hint", hint_s, "s", "0.5")
    moves = sum(game.reviewed for game in played)
    blunders = 100 * sum(game.blunders for game in played) / moves
    name = f"{who}: blunders by a review, {moves} moves"
    yield Figure(f"{key}.blunders", name, blunders, "%", "10")


def play(task: Task) -> Played:
    """Plays a game, and reviews the moves of the hints if the task says so."""
    seconds = []

    def choose(state: State, seed: int) -> int:
        began = time.process_time()
        hints = hints_for(state, names, seed + state.turns)
        seconds.append(time.process_time() - began)
        return hints[0].move if hints else PASS

    names = [f"{RIVAL}-{seat}" for seat in range(task.players)]
    names[task.seat] = HINTS
    plan = single_game("hints", task.board, task.number // task.players, names)
    choosers = [built_in(RIVAL).choose] * task.players
    choosers[task.seat] = choose
    record = play_alone(plan, built_in_board(task.board), choosers, "here")
    blunders, moves = reviewed(record, task.seat) if task.is_reviewed else (0, 0)
    is_best = record.ranks[task.seat] == 1
    won = 1 / record.ranks.count(1) if is_best else 0.0
    return Played(won, sum(seconds) / len(seconds), moves, blunders)


def reviewed(record: GameRecord, seat: int) -> tuple[int, int]:
    """How many moves of a seat the review calls blunders, and the number of its moves."""
    board = built_in_board(record.board)
    turns = gradable_turns(record, {seat})
    grades = [grade(record, board, turn, JUDGE) for turn in turns]
    return sum(found.cost >= BLUNDER for found in grades), len(turns)
