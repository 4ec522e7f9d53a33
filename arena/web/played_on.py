"""Plays a finished game of a run on: a person takes the seat that is to move, or the seat that a
person had in that game, against the bots at the other seats.
"""

from pathlib import Path

from arena.commands.game import GameRequest, Past, own_moves_from
from arena.errors import ConfigError, RunError
from arena.match.replay import replay
from arena.players.folder import Bot, with_options
from arena.players.labels import split_options
from arena.players.player import NAME, YOU, built_in_bot
from arena.players.registry import Registry
from arena.records.journal import board_of
from arena.records.record import GameRecord
from arena.rules.boards import Board
from arena.rules.notation import PASSED, move_text
from arena.tournament.run import Run
from arena.tournament.session import new_seed


def played_on(folder: Path, game: str, turn: int, registry: Registry) -> tuple[GameRequest, Past]:
    """The request of a person to play the game with the id ``game`` of the run in ``folder`` on
    after ``turn`` tiles, and the game up to there. The person gets the seat that is to move or, in
    a game that a person played, that person's seat. The bots are built in or in the ``registry``.

    Raises RunError if the run does not have the game or its board, or is not finished. Raises
    ConfigError or BotFolderError if the game is over there, a bot had forfeited, or a bot is not
    here.
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
    board = board_of(record, run.boards)
    past, seat = _past_of(record, board, turn)
    if seat is None:
        raise ConfigError("the game is over here: go back to a tile before its end")
    first = len(past.moves)
    if YOU in record.bots:
        seat = record.bots.index(YOU)
        first = min(first, own_moves_from(run.info))
    others = [label for place, label in enumerate(record.bots) if place != seat]
    request = GameRequest(
        bots=[bot_here(registry, label) for label in others],
        seat=seat,
        board=board,
        # The run may be given more deals, which follow from its seed: the new game keeps the tiles
        # alone.
        seed=new_seed(),
        deal=record.deal,
        deck=record.deck,
        first=first,
    )
    return request, past


def bot_here(registry: Registry, label: str) -> Bot:
    """The bot with this label: built in or in the ``registry``, with the options in the label.
    Raises ConfigError, BotFolderError if there is none.

    The label may come from a stranger's run, so it is never taken for a path, which would start any
    program of this machine.
    """
    name, options = split_options(label)
    if NAME.fullmatch(name) and options is None:
        return built_in_bot(name)
    if name not in registry:
        raise ConfigError(
            f"the bot {label!r} of this game is not here",
            "'arena submit' adds a bot to those of this home",
        )
    bot = registry.get(name)
    return bot if options is None else with_options(bot, options)


def _past_of(record: GameRecord, board: Board, turn: int) -> tuple[Past, int | None]:
    """The first moves of the game of ``record``, played on ``board``, until ``turn`` tiles are
    placed, and the seat that moves next; None if the game is over there. Raises RunError.
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
