"""Plays a finished game of a run on: a person takes the seat that is to move, against the bots at
the other seats.
"""

from collections.abc import Callable
from pathlib import Path

from arena.commands.game import GameRequest, Past
from arena.errors import ConfigError, RunError
from arena.match.replay import replay
from arena.players.folder import Bot
from arena.players.player import YOU
from arena.records.record import GameRecord
from arena.rules.boards import Board
from arena.rules.notation import PASSED, move_text
from arena.tournament.run import Run


def played_on(
    folder: Path, game: str, turn: int, find: Callable[[str], Bot]
) -> tuple[GameRequest, Past]:
    """The request of a person to play the game with the id ``game`` of the run in ``folder`` on
    after ``turn`` tiles, and the game up to there. ``find`` finds the bot with a label.

    Raises RunError if the run does not have the game, or is not finished: the new game is kept with
    the run's seed, from which all its tiles follow. Raises ConfigError if nobody is to move there,
    a bot had forfeited, or a bot is not here.
    """
    run = Run(folder)
    record = run.record(game)
    if not run.secrecy().is_finished:
        raise RunError(
            "this run has games left to play, so its tiles must stay secret",
            "play on when the run is over",
        )
    if any(fault.turn <= turn for fault in record.faults):
        raise ConfigError(
            "a bot had left this game by forfeit, so it cannot be played on from here"
        )
    board = run.boards[record.board]
    past, seat = _past_of(record, board, turn)
    if seat is None:
        raise ConfigError("the game is over here: go back to a tile before its end")
    seat = record.bots.index(YOU) if YOU in record.bots else seat
    bots = [find(name) for place, name in enumerate(record.bots) if place != seat]
    request = GameRequest(bots, seat, board, run.info.seed, record.deal)
    plan = request.game.round.plan_of([])
    if plan.deck != record.deck:
        raise ConfigError("the tiles of this game cannot be dealt again")
    return request, past


def _past_of(record: GameRecord, board: Board, turn: int) -> tuple[Past, int | None]:
    """The moves of the game of ``record``, played on ``board``, up to the tile number ``turn``, and
    the seat that moves next; None if the game is over there. Raises RunError.
    """
    moves = list[str]()
    spent_ns = list[int | None]()
    for step in replay(record, board):
        if step.state.turns > turn:
            return Past(moves, spent_ns), step.seat
        text = move_text(board, step.move)
        moves.append(text)
        spent_ns.append(None if text == PASSED else round((step.ms or 0) * 1e6))
    return Past(moves, spent_ns), None
