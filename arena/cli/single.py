"""One game at the terminal: bots and a person at their seats, drawn after each move."""

from collections.abc import Sequence
from typing import NamedTuple

import click

from arena.cli.drawing import move_lines, move_summary
from arena.cli.human import Human
from arena.cli.mosaic import Mosaic
from arena.cli.resuming import laid, position_shown
from arena.cli.stderr import StderrLines
from arena.cli.terminal import wait_for_key
from arena.commands.single import Round, SingleGame
from arena.exports.text import seat_names
from arena.match.referee import Outcome, Watch
from arena.players.process import adopt_orphans
from arena.players.wire import WireLog
from arena.records.note import Note
from arena.records.record import Fault, GameRecord
from arena.rules import State
from arena.rules.notation import PASS
from arena.rules.terms import Event


def new_faults(game: Round, record: GameRecord) -> list[Fault]:
    """The faults of a game itself, without those of its past."""
    return record.faults[len(game.past.gone) if game.past else 0 :]


class ShownGame(NamedTuple):
    """A game and how it is shown: ``step`` waits for a key after each move."""

    single: SingleGame
    step: bool = False

    def play(self, game: Round, log: WireLog | None, *, is_drawn: bool) -> Outcome:
        """A game, which is drawn as it is played if ``is_drawn``. Raises Void, click.Abort."""
        adopt_orphans()
        single, mosaic = self.single, Mosaic(game.board, laid(game.past))
        with single.seated(game.past, lambda names: Human(names, input, mosaic), log) as players:
            names = seat_names([player.name for player in players])
            said = StderrLines(players if single.has_stderr else [], names)
            watch = self._watch(names, said, mosaic) if is_drawn else None
            if game.past and is_drawn:
                click.echo(position_shown(game.past, names, single.human, mosaic))
            try:
                return single.play(single.referee(game, players, watch))
            finally:
                for player in players:
                    player.stop()
                said.show_rest()

    def _watch(self, names: Sequence[str], said: StderrLines, mosaic: Mosaic) -> Watch:
        """What is shown after each move: everything, or less if a person plays, who sees the board
        when it is their turn.
        """
        has_human = self.single.human is not None

        def show(
            state: State, seat: int, move: int, events: list[Event], note: Note | None
        ) -> None:
            # Not to a person who plays: a bot may speak of its hand.
            told = [] if note is None or has_human else [f"note: {note}"]
            if not has_human:
                told += said.new(seat, state.turns - (move != PASS))
            if not has_human or state.end is not None:
                click.echo(move_lines(mosaic, state, names, seat, move, events, told))
            else:
                mosaic.lay(move)
                click.echo(move_summary(state, names, seat, move, events))
            if self.step and state.end is None:
                wait_for_key()

        return show
