"""What the steps of a check work with: one bot, games against players in this process, and players
that speak to it in unusual ways.
"""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any, NamedTuple, Self, TypeVar

import msgspec
from msgspec.structs import replace

from arena.errors import ArenaError, BusyMachineError, FaultKind, Forfeit, Void
from arena.match.referee import GamePlan, Referee, Wait
from arena.players.aftermath import CRASHED
from arena.players.bot import BotPlayer, Speech
from arena.players.channel import Channel, Flooded, LongLine, OutputEnded, TimedOut
from arena.players.folder import Bot
from arena.players.labels import odds_of
from arena.players.messages import Start, encode, shown, turn_view
from arena.players.player import Answer, InProcessPlayer, Player, first_move, random_move
from arena.players.process import BotProcess, Ending, moments
from arena.players.sandbox.tiers import Sandbox
from arena.players.timekeeper import IdleTime, patience
from arena.records.notes import MOST_NAME, Loss, Note, losses, note_of
from arena.records.record import NS_PER_MS, GameRecord
from arena.records.timing import Timing
from arena.rules import State
from arena.rules.boards import Board, built_in
from arena.rules.notation import COPIES, TILES, parse_deck

FIX = "fix the error that its stderr shows, and check again"
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
MOST_S = 120
"""How many seconds a check may take by the wall, beyond `thinking_s` and the starts of the bot."""
STARTS = 50
"""How often a check starts the bot, at most."""
BANK_MOVES = 30
"""How many full moves the bank of a game lasts for."""
ATTEMPTS = 3
MOST_LOSSES = 10
"""Parts of notes that are cut or dropped are listed up to so many."""
LEAVES_AT = 3
QUIET_NS = 100 * NS_PER_MS
# Little of processor time, so that even on a busy machine a bot that thinks before it looks at its
# input is done long before it has to exit.
TURN_MS = 100
FIRST_TURN = 2
"""The id of a process's first turn, after that of hello."""
SMALL = Board("small", ("R.....", "......", "..V...", "....Y.", "......", ".....B"))
LARGE = Board("large", ("R" + "." * 25, *["." * 12 + "VY" + "." * 12] * 24, "." * 25 + "B"))
BOARDS = {board.name: board for board in (SMALL, LARGE)}
"""Those of a check alone."""
TOO_LATE = (FaultKind.LATE, FaultKind.SILENT)

Variant = TypeVar("Variant", bound=Player)


class Failed(Exception):  # noqa: N818 - the outcome of a step
    """A step failed: what was expected and what came, as a sentence if there is no better one, and
    the cure if the step knows a better one than the table. ``kind`` is that of a fault in a game.
    """

    def __init__(
        self,
        expected: str,
        got: str,
        problem: str = "",
        cure: str = "",
        stderr: str = "",
        kind: FaultKind | None = None,
    ) -> None:
        self.problem = problem or f"expected {expected}, got {got}"
        super().__init__(self.problem)
        self.expected = expected
        self.got = got
        self.cure = cure
        self.stderr = stderr
        self.kind = kind

    @classmethod
    def at_fault(cls, kind: FaultKind, detail: str, problem: str, stderr: str) -> Self:
        """The bot's fault of this kind, in a game or before it."""
        cure = FIX if CRASHED in detail else kind.cure
        return cls(kind.expected, detail, problem, cure, stderr, kind)


class CheckTimeOver(Exception):  # noqa: N818 - the end of a check
    """The check has taken as long as it may. The text says how long that is."""


def thinking_s(move_ms: int) -> float:
    """How long a check takes a bot that uses all its time, roughly, in seconds."""
    return (MOVES * min(move_ms, SHORT_MS) + FULL_MOVES * move_ms) / 1000


class Trial(NamedTuple):
    """A game that the checked bot has to get through. ``leavers`` other seats forfeit early.

    ``is_full``      the bot gets all the time for a move that the check was asked for
    ``has_bank``     the bot gets a bank of time as well
    ``may_be_late``  the game is not played again with more time if the bot is late
    """

    players: int
    seat: int
    board: str = SMALL.name
    leavers: int = 0
    deal: int = 0
    has_bank: bool = False
    is_full: bool = False
    may_be_late: bool = False


class NoteLosses:
    """What a bot says of its moves: how many notes there were, and how each part of one was cut or
    dropped, every time.
    """

    def __init__(self) -> None:
        self.heard = 0
        self.lost: dict[tuple[str, str], list[Loss]] = {}

    def hear(self, said: object) -> Note | None:
        """Count a note of the bot, and return the part of it that is kept."""
        self.heard += 1
        for loss in losses(said):
            key = loss.part[:MOST_NAME], loss.expected
            # A bot may make up any number of names.
            if key in self.lost or len(self.lost) < MOST_LOSSES:
                self.lost.setdefault(key, []).append(loss)
        return note_of(said)


class Bench:
    """One bot under check.

    ``player`` is its process for most games, and ``games`` counts these; ``slowest_ms`` is over the
    games at ``move_ms``. The others are at ``short_ms``, which grows if the bot is late.
    ``start_ns`` is its last start-up. ``notes`` are those of its usual process. ``wait`` says
    whether the bot waits long, once it has played at ``move_ms``. The limits that the bot's own
    label names count over ``move_ms`` and the usual bank.
    """

    def __init__(self, bot: Bot, move_ms: int, sandbox: Sandbox) -> None:
        self.bot = bot
        self.odds = odds_of(bot.label)
        self.move_ms = self.odds.move_ms or move_ms
        self.short_ms = min(self.move_ms, SHORT_MS)
        self.sandbox = sandbox
        self.notes = NoteLosses()
        speech = Speech(note=self.notes.hear)
        self.player = BotPlayer(bot, STARTUP_MS, sandbox, speech=speech)
        self.slowest_ms = 0.0
        self.wait: Wait | None = None
        self._began_s = time.monotonic()
        self.start_ns = 0
        self.games = 0

    @property
    def most_s(self) -> float:
        """How long the check may take by the wall, in seconds."""
        return MOST_S + thinking_s(self.move_ms) + STARTS * self.start_ns / 1e9

    def expect_time(self) -> None:
        """Raises CheckTimeOver once the check has taken too long."""
        if time.monotonic() - self._began_s > self.most_s:
            raise CheckTimeOver(f"a check takes at most {self.most_s:.0f} s")

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
                may_grow = not (trial.is_full or trial.may_be_late or self.short_ms == self.move_ms)
                if failure.kind not in TOO_LATE or not may_grow:
                    raise
                self.short_ms = min(self.move_ms, int(LONGER * self.short_ms))

    def _game(self, trial: Trial, player: Player) -> GameRecord:
        seated = [_other(seat, leaves=seat < trial.leavers) for seat in range(trial.players - 1)]
        seated.insert(trial.seat, player)
        board = BOARDS.get(trial.board) or built_in(trial.board)
        kinds = len(TILES)
        deck = "".join(TILES[(at * 5 + trial.deal) % kinds] for at in range(COPIES * kinds))
        names = tuple(each.name for each in seated)
        seeds = tuple(range(1, trial.players + 1))
        plan = GamePlan("check", board.name, trial.deal, 0, names, deck, seeds)
        move_ms = self.move_ms if trial.is_full else self.short_ms
        timing = Timing(move_ms=move_ms, startup_ms=STARTUP_MS)
        if trial.has_bank:
            bank_ms = self.odds.game_ms or BANK_MOVES * move_ms
            more_ms = self.odds.increment_ms
            timing = replace(timing, game_ms=bank_ms, increment_ms=more_ms or 0)
        referee = Referee(plan, board, seated, timing, watch=lambda *_: self.expect_time())
        outcome = referee.play()
        record = outcome.record
        evidence = outcome.evidence
        for fault, kept in zip(record.faults, evidence, strict=True):
            if fault.seat == trial.seat:
                problem = f"{fault.kind} after {fault.turn} placements: {fault.detail}"
                raise Failed.at_fault(FaultKind(fault.kind), fault.detail, problem, kept.stderr)
        if trial.is_full:
            self.wait = next((wait for wait in outcome.waits if wait.bot == player.name), None)
        if player is self.player:
            self.games += 1
            if move_ms == self.move_ms:
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
        """Starts the player's process and announces a game. Raises Failed, and Void or
        BusyMachineError where the machine is at fault.
        """
        try:
            player.begin(
                Start(players=2, seat=0, board=SMALL.rows, pagodas=24, seed=1, move_ms=self.move_ms)
            )
        except Forfeit as fault:
            kind = FaultKind.STARTUP
            words = last_words(player)
            raise Failed.at_fault(kind, fault.detail, fault.detail, words) from None
        except (Void, BusyMachineError):
            raise
        except ArenaError as error:
            raise Failed("", "", str(error), error.hint) from None


def last_words(player: Player) -> str:
    """The end of the bot's stderr."""
    return player.evidence()[2]


def _other(seat: int, *, leaves: bool) -> Player:
    """A player to sit with the bot, by turns at random and the first move; one that leaves forfeits
    when asked for the third time.
    """
    asked = count(1)

    def leave(state: State, seed: int) -> int:
        if next(asked) == LEAVES_AT:
            raise Forfeit(FaultKind.EXIT, "forfeits because the check asks it to")
        return random_move(state, seed)

    if leaves:
        return InProcessPlayer(f"leaver-{seat}", leave)
    if seat % 2:
        return InProcessPlayer("first", first_move)
    return InProcessPlayer("random", random_move)


def expect_quiet(player: BotPlayer, when: str, for_ns: int = QUIET_NS) -> None:
    """Raises Failed when a line comes, which none should at that time."""
    try:
        line = player.channel.read_line(time.monotonic_ns() + for_ns)
    except (TimedOut, OutputEnded):
        return
    except (LongLine, Flooded) as error:
        line = error.partial
    raise Failed(f"nothing {when}", shown(line), stderr=last_words(player))


def ending_in_time(process: BotProcess, most_ns: int) -> Ending | None:
    """How the bot's process ends, or None if it is still running after it has used ``most_ns`` of
    processor time, or has been idle for that long. Raises Void where a busy machine gave the bot
    no time to end.
    """
    meter = process.meter
    began_ns = meter.used_ns()
    idle = IdleTime(meter)
    for moment_ns in moments(patience(most_ns)):
        slice_began_ns = time.monotonic_ns()
        if ending := process.ending((moment_ns - slice_began_ns) / 1e9):
            return ending
        idle.add(moment_ns - slice_began_ns)
        if idle.so_far_ns >= most_ns or meter.used_ns() - began_ns >= most_ns:
            return None
    raise Void("expected a machine that gives a bot the time to exit, got one that is too busy")


def ask_for_a_move(bench: Bench, player: BotPlayer) -> None:
    """Starts a game and queues the first turn."""
    bench.start(player)
    state = State(SMALL, 2, parse_deck("".join(TILES) * COPIES))
    player.inform(encode(turn_view(state, FIRST_TURN, TURN_MS, full=player.has_full_view)))


EXTRA = {"since": 2, "mood": None, "weather": {"rain": [0.5, True, "später"], "type": "move"}}
STRANGER = b'{"type":"weather","forecast":["rain",{"type":"turn"}],"id_of_nothing":7}'
LARGEST_ID, GAP, MOST_REQUESTS = 2**53 - 1, 1_000_003, 80
PAUSE_S = 0.3
PIECE = 5
GAP_S = 0.0002


class Unusual(BotPlayer):
    """Speaks in ways that the protocol allows. It makes a ``change`` to every message; it sends a
    ``stranger``, a message of a type that no version has, between all others; ``is_prompt`` sends
    each public line as soon as it is known, instead of with the next turn; and the bot waits for
    ``pause_s`` between the start of its first game and its first turn.
    """

    def __init__(
        self,
        bot: Bot,
        startup_ms: int,
        sandbox: Sandbox,
        *,
        change: Callable[[dict[str, Any]], dict[str, Any]] = lambda message: message,
        separators: tuple[str, str] = (",", ":"),
        stranger: bytes = b"",
        is_prompt: bool = False,
        pause_s: float = 0.0,
    ) -> None:
        def changed(message: dict[str, Any]) -> bytes:
            return json.dumps(change(message), separators=separators, ensure_ascii=False).encode()

        self._changed = changed
        self._stranger = stranger
        self._is_prompt = is_prompt
        self._pause_s = pause_s
        speech = Speech(encode=lambda message: changed(msgspec.to_builtins(message)))
        super().__init__(bot, startup_ms, sandbox, speech=speech)

    def begin(self, start: Start) -> None:
        """Sends the start, and after it what is due."""
        super().begin(start)
        self._send(self._stranger)

    def inform(self, line: bytes) -> None:
        """Sends a public line, and before it what is due."""
        self._send(self._stranger, self._changed(json.loads(line)))

    def _send(self, *lines: bytes) -> None:
        for line in filter(None, lines):
            super().inform(line)
        if self._is_prompt:
            self.channel.flush()

    def choose(self, state: State, budget_ns: int) -> Answer:
        """Asks for a move, the first time after a pause."""
        time.sleep(self._pause_s)
        self._pause_s = 0.0
        return super().choose(state, budget_ns)


def with_unknown_fields(message: dict[str, Any]) -> dict[str, Any]:
    """The message with extra fields, which no version has, before and after its own."""
    return {"first": EXTRA, **message, "last": EXTRA}


def in_another_order(message: dict[str, Any]) -> dict[str, Any]:
    """The message with its fields in reverse order."""
    return dict(reversed(message.items()))


def _write_piece(to_bot: int, lines: bytes) -> int:
    """Writes a few bytes near the end of a line, where readers make mistakes, and more in between;
    then pauses, so that the bot reads them by themselves.
    """
    end = lines.find(b"\n")
    written = os.write(to_bot, lines[: PIECE if end < 2 * PIECE else min(end - PIECE, 997)])
    time.sleep(GAP_S)
    return written


JUMPING = Speech(numbers=lambda: count(LARGEST_ID - MOST_REQUESTS * GAP, GAP))
"""Numbers requests with gaps, up to the largest id, from the beginning for each process."""
IN_PIECES = Speech(connect=partial(Channel, exchange=None, write=_write_piece))
"""Sends every line in pieces; some hold the end of one line and the start of the next."""
