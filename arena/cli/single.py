"""One game at the terminal: bots and a person at their seats, drawn after each move."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from platform import node
from typing import NamedTuple

import click

from arena.cli.drawing import move_lines, move_summary
from arena.cli.human import YOU, Human
from arena.cli.mosaic import Mosaic
from arena.cli.resuming import Round, absent_players, position_shown
from arena.cli.stderr import StderrLines
from arena.cli.terminal import wait_for_key
from arena.exports.text import seat_names
from arena.match.clock import Timing
from arena.match.referee import Referee, Watch
from arena.match.resume import Resumed
from arena.players.bot import BotPlayer
from arena.players.builtin import built_in_player, is_built_in
from arena.players.folder import Bot
from arena.players.inprocess import InProcessPlayer
from arena.players.player import Player
from arena.players.process import adopt_orphans
from arena.players.sandbox.tiers import Sandbox
from arena.players.staging import staged_for_a_while
from arena.players.stderr import Stderr
from arena.players.wire import WireLog, logged_player
from arena.records.note import Note
from arena.records.record import Fault, GameRecord
from arena.rules import State
from arena.rules.notation import PASS
from arena.rules.terms import Event


def new_faults(game: Round, record: GameRecord) -> list[Fault]:
    """The faults of a game itself, without those of its past."""
    return record.faults[len(game.past.gone) if game.past else 0 :]


class SingleGame(NamedTuple):
    """Who plays, and how. ``human`` is the seat of a person, the bots take the others; ``step``
    waits for a key after each move, and ``has_stderr`` shows what bots write to stderr.
    """

    bots: Sequence[Bot]
    human: int | None
    timing: Timing
    sandbox: Sandbox
    step: bool = False
    has_stderr: bool = False

    def play(self, game: Round, log: WireLog | None, *, is_drawn: bool) -> GameRecord:
        """The record of a game, which is drawn as it is played if ``is_drawn``. Raises Void,
        click.Abort.
        """
        adopt_orphans()
        with self._staged() as bots:
            mosaic = Mosaic(game.board, game.tiles)
            players = self._players(bots, game.past, log, mosaic)
            labels = [player.name for player in players]
            names = seat_names(labels)
            plan = game.plan_of(labels)
            said = StderrLines(players if self.has_stderr else [], names)
            watches = (self._watch(names, said, mosaic),) if is_drawn else ()
            if game.past and is_drawn:
                click.echo(position_shown(game.past, names, self.human, mosaic))
            try:
                return (
                    Referee(plan, game.board, players, self._timings(labels), *watches)
                    .play(sandbox=self.sandbox.text(labels), host=node())
                    .record
                )
            finally:
                for player in players:
                    player.stop()
                said.show_rest()

    def _timings(self, labels: Sequence[str]) -> list[Timing]:
        """The time control of each seat."""
        return [self.timing.of(label) for label in labels]

    @contextmanager
    def _staged(self) -> Iterator[list[Bot]]:
        """The bots, with those that are processes copied to a temporary folder."""
        processes = [at for at, bot in enumerate(self.bots) if not is_built_in(bot)]
        with staged_for_a_while(
            *(self.bots[at] for at in processes), sandbox=self.sandbox
        ) as staged:
            there = dict(zip(processes, staged, strict=True))
            yield [there.get(at, bot) for at, bot in enumerate(self.bots)]

    def _players(
        self, bots: Sequence[Bot], past: Resumed | None, log: WireLog | None, mosaic: Mosaic
    ) -> list[Player]:
        """The players by seat."""
        seated = absent_players(past)
        free = [seat for seat in range(4) if seat != self.human and seat not in seated]
        for bot, seat in zip(bots, free, strict=False):
            seated[seat] = self._player(bot, seat, log)
        if self.human is not None:
            labels = {self.human: YOU, **{seat: player.name for seat, player in seated.items()}}
            names = seat_names([labels[seat] for seat in sorted(labels)])
            seated[self.human] = Human(names, input, mosaic)
        return [seated[seat] for seat in sorted(seated)]

    def _player(self, bot: Bot, seat: int, log: WireLog | None) -> BotPlayer | InProcessPlayer:
        """A bot's player; a process is logged if there is a log."""
        if is_built_in(bot):
            return built_in_player(bot)
        startup_ms, clock = self.timing.startup_ms, self.timing.clock
        if log:
            return logged_player(bot, startup_ms, self.sandbox, log, seat, clock)
        stderr = Stderr(at_once=True) if self.has_stderr else None
        return BotPlayer(bot, startup_ms, self.sandbox, clock, stderr=stderr)

    def _watch(self, names: Sequence[str], said: StderrLines, mosaic: Mosaic) -> Watch:
        """What is shown after each move: everything, or less if a person plays, who sees the board
        when it is their turn.
        """

        def show(
            state: State, seat: int, move: int, events: list[Event], note: Note | None
        ) -> None:
            # Not to a person who plays: a bot may speak of its hand.
            told = [] if note is None or self.human is not None else [f"note: {note}"]
            if self.human is None:
                told += said.new(seat, state.turns - (move != PASS))
            if self.human is None or state.end is not None:
                click.echo(move_lines(mosaic, state, names, seat, move, events, told))
            else:
                mosaic.lay(move)
                click.echo(move_summary(state, names, seat, move, events))
            if self.step and state.end is None:
                wait_for_key()

        return show
