"""What `arena play --from` adds to a game: the past that it takes over, and what came in its stead
in the recorded game.
"""

from collections.abc import Sequence
from functools import partial, wraps
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple, cast

import click
from click.core import ParameterSource

from arena.cli.asking import named_game
from arena.cli.drawing import end_line
from arena.cli.mosaic import Mosaic
from arena.cli.options import Command
from arena.cli.terminal import screen_folded
from arena.commands.single import Round
from arena.errors import printable
from arena.exports.pictures.scene import Pair, pair_of
from arena.exports.text import seat_names
from arena.match.referee import GamePlan
from arena.match.resume import Resumed, first_difference, reshuffled, resumed, resumed_id
from arena.records.record import GameRecord
from arena.rules.notation import PASSED, parse_move
from arena.tournament.deals import bot_seed
from arena.tournament.scripts import Scripts

OTHER_DEALS = ("board", "match", "deal")
"""Options that choose tiles or a board, which a recorded game has already."""


class ResumeChoice(NamedTuple):
    """What the user says of the game to play on from, if there is one."""

    words: tuple[str, str] | None
    turn: int | None
    is_reshuffled: bool

    def find(self, home: Path) -> Resumed | None:
        """The game at its turn. Raises UsageError, RunError."""
        if self.words is None:
            if self.turn is not None or self.is_reshuffled:
                option = "--turn" if self.turn is not None else "--reshuffle"
                raise click.UsageError(
                    f"expected --from RUN GAME with {option}: it names the game to play on from"
                )
            return None
        context = click.get_current_context()
        for name in OTHER_DEALS:
            if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                raise click.UsageError(
                    f"expected --from without --{name}, because the game has its board and tiles"
                )
        folder, record = named_game(home, self.words)
        return resumed(Scripts(folder).of(record), self.turn or 0)

    def round_of(self, game: Resumed, seed: str | None) -> Round:
        """The game to play, dealt anew if that is wanted. Raises RunError."""
        if self.is_reshuffled:
            game = reshuffled(game, str(seed))
        return Round(game.script.board, partial(_plan_on, game, seed), game)

    def again(self, seed: str | None) -> str:
        """The options that lead to the same tiles again."""
        words = [*(self.words or ()), "--turn", str(self.turn or 0)]
        words += ["--seed", seed] if seed else []
        words += ["--reshuffle"] if self.is_reshuffled else []
        return f"the same tiles again: --from {printable(' '.join(map(quote, words)))}"


def resume_options(command: Command) -> Command:
    """``--from``, ``--turn`` and ``--reshuffle``, as one argument ``resume``."""

    @wraps(command)
    def wrapped(
        *args: Any,
        source: tuple[str, str] | None,
        turn: int | None,
        reshuffle: bool,
        **options: Any,
    ) -> Any:
        return command(*args, resume=ResumeChoice(source, turn, reshuffle), **options)

    for option in (
        click.option(
            "--reshuffle",
            is_flag=True,
            help="With --from: deal anew what the seat to move has not seen.",
        ),
        click.option(
            "--turn",
            type=click.IntRange(0),
            help="With --from: play on after this many placements.  [default: 0, the start]",
        ),
        click.option(
            "--from",
            "source",
            nargs=2,
            metavar="RUN GAME",
            help="Play on from a game of a run; see above.",
        ),
    ):
        wrapped = option(wrapped)
    return cast("Command", wrapped)


def _plan_on(game: Resumed, seed: str | None, bots: Sequence[str]) -> GamePlan:
    """The plan of a game that goes on; with a seed the bots draw other random numbers than in the
    recorded game.
    """
    if seed is None:
        return game.plan(bots)
    name = resumed_id(game.script.record, game.turn, bots)
    return game.plan(bots, [bot_seed(seed, name, seat) for seat in range(len(bots))])


def refuse_other_tables(game: Resumed, bots: Sequence[str], human: int | None) -> None:
    """Raises UsageError unless there is a player for each seat that is still in the game."""
    names = seat_names(game.script.record.bots)
    seats = [seat for seat in range(len(names)) if seat not in game.absent]
    if human is not None and human not in seats:
        raise click.UsageError(
            f"expected --human to be one of {_listed(seats)}, got {human}{_left(game, names)}"
        )
    wanted = [seat for seat in seats if seat != human]
    if len(bots) != len(wanted):
        raise click.UsageError(
            f"expected a bot for each of the seats {_listed(wanted)}, got {len(bots)};"
            f" {printable(', '.join(names[seat] for seat in wanted))} played the game"
            f"{_left(game, names)}"
        )


def _left(game: Resumed, names: Sequence[str]) -> str:
    return "".join(
        f"; {printable(names[fault.seat])} had left it at turn {fault.turn} (seat {fault.seat},"
        f" {fault.kind})"
        for fault in game.gone
    )


def _listed(seats: Sequence[int]) -> str:
    return ", ".join(map(str, seats))


def laid(game: Resumed | None) -> list[Pair]:
    """The tiles that lay before the game went on."""
    if game is None:
        return []
    board = game.script.board
    placed = [parse_move(board, text) for text in game.past if text != PASSED]
    return [pair for move in placed for pair in pair_of(board, move)]


def position_shown(game: Resumed, names: Sequence[str], human: int | None, mosaic: Mosaic) -> str:
    """Where the game goes on, before its first new move."""
    record, state = game.script.record, game.state
    head = screen_folded(
        f"turn {game.turn} of {printable(record.id)}: {names[state.mover]} is to move"
    )
    if human is not None:
        return f"{head}\n"
    return f"{head}\n{mosaic.board(state)}\n{mosaic.seats(state, names)}\n"


def compared(game: Resumed, new: GameRecord) -> str:
    """How the recorded game ended, and where the new one left it."""
    old = game.script.record
    turn = first_difference(old, new)
    ending = end_line(old.end, seat_names(old.bots), old.left, old.ranks)
    parts = (
        "both games are the same, move by move"
        if turn is None
        else f"the games part at turn {turn}"
    )
    return f"in the record: {printable(ending)}\n{parts}"
