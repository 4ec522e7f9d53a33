"""What the steps of a check work with: players for one bot, and games against players in this
process.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from arena.errors import ArenaError, FaultKind, Forfeit, Void
from arena.match.checks.step import Failed
from arena.match.clock import Timing
from arena.match.referee import GamePlan, Referee
from arena.players.bot import BotPlayer, Speech
from arena.players.folder import Bot
from arena.players.inprocess import InProcessPlayer, first_move, random_move
from arena.players.messages import Start
from arena.players.odds import odds_of
from arena.players.player import Player
from arena.players.sandbox.tiers import Sandbox
from arena.records.note import MOST_NAME, Loss, Note, losses, note_of
from arena.records.record import GameRecord
from arena.rules import State
from arena.rules.boards import Board
from arena.rules.notation import COPIES, TILES

STARTUP_MS = 10_000
SHORT_MS = 20
"""The time for a move in most games of a check, so that the check is short even for a bot that uses
all its time.
"""
LONGER = 1.5
"""A bot that is late in such a game is no worse for it: it gets that many times as long."""
MOVES = 560
"""About how many moves a bot makes in such games, and `FULL_MOVES` at the full time."""
FULL_MOVES = 7
BANK_MOVES = 30
"""How many full moves the bank of a game lasts for."""
ATTEMPTS = 3
MOST_LOSSES = 10
"""Parts of notes that are cut or dropped are listed up to so many."""
SMALL = Board("small", ("R.....", "......", "..V...", "....Y.", "......", ".....B"))

Variant = TypeVar("Variant", bound=Player)


class Trial(NamedTuple):
    """A game that the bot has to get through: the board, the number of players, the bot's seat, and
    how many others forfeit early.

    ``is_full`` gives the bot all the time for a move that the check was asked for, ``has_bank`` a
    bank besides. ``may_be_late``: a bot that is late gets no longer time.
    """

    board: Board
    players: int
    seat: int
    leavers: int = 0
    deal: int = 0
    has_bank: bool = False
    is_full: bool = False
    may_be_late: bool = False


class Notes:
    """What a bot says of its moves: how many notes there were, how often each part of one was cut
    or dropped, and what came the first time.
    """

    def __init__(self) -> None:
        self.heard = 0
        self.lost = Counter[tuple[str, str]]()
        self.first: dict[tuple[str, str], Loss] = {}

    def hear(self, said: object) -> Note | None:
        """What is kept of a note."""
        self.heard += 1
        for loss in losses(said):
            key = loss.part[:MOST_NAME], loss.expected
            # A bot may make up any number of names.
            if key in self.lost or len(self.lost) < MOST_LOSSES:
                self.lost[key] += 1
                self.first.setdefault(key, loss)
        return note_of(said)


class Bench:
    """One bot under check.

    ``player`` is its process for most games, and ``games`` counts these; ``slowest_ms`` is over the
    games at ``move_ms``. The others are at ``short_ms``, which grows if the bot is late.
    ``start_ns`` is its last start-up. ``notes`` are those of its usual process. The limits that the
    bot's own label names count over ``move_ms`` and the usual bank.
    """

    def __init__(self, bot: Bot, move_ms: int, sandbox: Sandbox) -> None:
        self.bot = bot
        self.odds = odds_of(bot.label)
        self.move_ms = self.odds.move_ms or move_ms
        self.short_ms = min(self.move_ms, SHORT_MS)
        self.sandbox = sandbox
        self.notes = Notes()
        speech = Speech(note=self.notes.hear)
        self.player = BotPlayer(bot, STARTUP_MS, sandbox, speech=speech)
        self.slowest_ms = 0.0
        self.start_ns = 0
        self.games = 0

    def game(self, trial: Trial, player: Player | None = None) -> GameRecord:
        """Plays a game with the player, by default the usual one. Raises Failed for its fault, Void
        if the machine stalls repeatedly.
        """
        voids = 0
        while True:
            try:
                return self._game(trial, player or self.player)
            except Void:
                voids += 1
                if voids == ATTEMPTS:
                    raise
            except Failed as failure:
                if (
                    failure.kind not in (FaultKind.LATE, FaultKind.SILENT)
                    or trial.is_full
                    or trial.may_be_late
                    or self.short_ms == self.move_ms
                ):
                    raise
                self.short_ms = min(self.move_ms, int(LONGER * self.short_ms))

    def _game(self, trial: Trial, player: Player) -> GameRecord:
        others: list[Player] = [
            _leaver(seat) if seat < trial.leavers else _other(seat)
            for seat in range(trial.players - 1)
        ]
        seated = [*others[: trial.seat], player, *others[trial.seat :]]
        deck = "".join(
            TILES[(index * 5 + trial.deal) % len(TILES)] for index in range(COPIES * len(TILES))
        )
        names = tuple(each.name for each in seated)
        plan = GamePlan(
            "check",
            trial.board.name,
            trial.deal,
            0,
            names,
            deck,
            tuple(range(1, trial.players + 1)),
        )
        move_ms = self.move_ms if trial.is_full else self.short_ms
        timing = Timing(move_ms=move_ms, startup_ms=STARTUP_MS)
        if trial.has_bank:
            bank_ms, more_ms = self.odds.game_ms or BANK_MOVES * move_ms, self.odds.increment_ms
            timing = replace(timing, game_ms=bank_ms, increment_ms=more_ms or 0)
        outcome = Referee(plan, trial.board, seated, timing).play()
        record = outcome.record
        for fault, kept in zip(record.faults, outcome.evidence, strict=True):
            if fault.seat == trial.seat:
                problem = f"{fault.kind} after {fault.turn} placements: {fault.detail}"
                raise Failed.at_fault(FaultKind(fault.kind), fault.detail, problem, kept.stderr)
        self.games += player is self.player
        if player is self.player and timing.move_ms == self.move_ms:
            self.slowest_ms = max(self.slowest_ms, record.slowest_ms[trial.seat])
        return record

    @contextmanager
    def started(self, make: Callable[[Bot, int, Sandbox], Variant]) -> Iterator[Variant]:
        """A separate player for one step, stopped when the step ends."""
        player = make(self.bot, STARTUP_MS, self.sandbox)
        try:
            yield player
        finally:
            player.stop()

    def start(self, player: BotPlayer) -> None:
        """Starts the player's process and announces a game. Raises Failed."""
        try:
            player.begin(
                Start(players=2, seat=0, board=SMALL.rows, pagodas=24, seed=1, move_ms=self.move_ms)
            )
        except Forfeit as fault:
            kind, words = FaultKind.STARTUP, last_words(player)
            raise Failed.at_fault(kind, fault.detail, fault.detail, words) from None
        except ArenaError as error:
            raise Failed(str(error), error.hint) from None


def last_words(player: Player) -> str:
    """The end of the bot's stderr."""
    return player.evidence()[2]


def _other(seat: int) -> InProcessPlayer:
    return (
        InProcessPlayer("first", first_move) if seat % 2 else InProcessPlayer("random", random_move)
    )


def _leaver(seat: int) -> InProcessPlayer:
    """Plays at random, and forfeits when asked for the third time."""
    asked = count(1)

    def leave(state: State, seed: int) -> int:
        if next(asked) == 3:  # noqa: PLR2004 - any early turn would do
            raise Forfeit(FaultKind.EXIT, "forfeits because the check asks it to")
        return random_move(state, seed)

    return InProcessPlayer(f"leaver-{seat}", leave)
