"""What the steps of `arena check` work with: `Bench`, the bot under check and what is known about
it, and the games it plays against players in this process. Players that use the protocol in unusual
ways are in `arena.match.unusual`.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import NamedTuple, Self, TypeVar

from msgspec.structs import replace

from arena.errors import ArenaError, BusyMachineError, Forfeit, Void
from arena.faults import FaultKind
from arena.match.referee import GamePlan, Referee, Wait
from arena.players.bot import BotPlayer, Speech
from arena.players.channel import Flooded, LongLine, OutputEnded, TimedOut
from arena.players.decoding import shown
from arena.players.endings import Ending
from arena.players.failures import CRASHED
from arena.players.folder import Bot
from arena.players.labels import odds_of
from arena.players.messages import Start, encode
from arena.players.player import InProcessPlayer, Player, first_move, random_move
from arena.players.process import BotProcess, moments
from arena.players.sandbox.tiers import Sandbox
from arena.players.timekeeper import IdleTime, patience
from arena.players.views import turn_view
from arena.records.notes import MAX_NAME, Loss, Note, losses, note_of
from arena.records.record import NS_PER_MS, GameRecord
from arena.records.timing import Timing
from arena.rules import State
from arena.rules.boards import Board, built_in
from arena.rules.notation import COPIES, TILES, parse_deck

FIX = "fix the error that its stderr shows, and check again"
STARTUP_MS = 10_000
SHORT_MS = 20
"""The time for a move, in ms, in most games of a check, so that a check is short even for a bot
that uses all its time.
"""
LONGER = 1.5
"""If a bot is late in a game with the short time, that is no fault: the game is played again with
this many times as much time.
"""
MOVES = 560
"""About how many moves a bot makes during a check in games with the short time. `FULL_MOVES` is the
number in games with the full time.
"""
FULL_MOVES = 7
MAX_S = 120
"""The wall-clock limit of a check in seconds, to which `thinking_s` and the time of the bot's
start-ups are added; see `Bench.most_s`.
"""
STARTS = 50
"""The most times that a check starts the bot."""
BANK_MOVES = 30
"""In a game with a bank, the bank is enough for this many moves at the full time."""
ATTEMPTS = 3
MAX_LOSSES = 10
"""The most kinds of cut or dropped parts of notes that are listed."""
LEAVES_AT = 3
QUIET_NS = 100 * NS_PER_MS
# This short time lets a bot that thinks before it reads its input finish long before it has to
# exit, even on a busy machine.
TURN_MS = 100
FIRST_TURN = 2
"""The id of the first ``turn`` request to a process; hello has the id 1."""
SMALL = Board("small", ("R.....", "......", "..V...", "....Y.", "......", ".....B"))
LARGE = Board("large", ("R" + "." * 25, *["." * 12 + "VY" + "." * 12] * 24, "." * 25 + "B"))
BOARDS = {board.name: board for board in (SMALL, LARGE)}
"""By name, the boards that only `arena check` uses."""
Variant = TypeVar("Variant", bound=Player)


class Failed(Exception):  # noqa: N818 - the outcome of a step
    """Raised when a step of a check fails.

    ``expected``  what the step expected
    ``got``       what the bot did instead
    ``problem``   a sentence that says what is wrong, made from ``expected`` and ``got`` if it is
                  not given
    ``cure``      what to do; empty: what the table of steps says
    ``stderr``    the end of the bot's stderr
    ``kind``      the kind of fault, if the bot forfeited; else None
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

    @property
    def is_too_late(self) -> bool:
        """Whether the bot forfeited because no answer came in time."""
        return self.kind is not None and self.kind.is_too_late

    @classmethod
    def at_fault(cls, kind: FaultKind, detail: str, problem: str, stderr: str) -> Self:
        """The failure for a bot's fault of this kind, in a game or at the start. ``detail`` is the
        detail of the fault; ``problem`` is a sentence that says what is wrong, ``stderr`` the end
        of the bot's stderr.
        """
        cure = FIX if CRASHED in detail else kind.cure
        return cls(kind.expected, detail, problem, cure, stderr, kind)


class CheckTimeOver(Exception):  # noqa: N818 - the end of a check
    """Raised when a check has used up its time, or is over for another reason, so that steps that
    are still being tried end; the message says how much time a check has.
    """


def thinking_s(move_ms: int) -> float:
    """About how many seconds a check takes, without start-ups, for a bot that uses all its time, at
    ``move_ms`` ms for a move.
    """
    return (MOVES * min(move_ms, SHORT_MS) + FULL_MOVES * move_ms) / 1000


class Trial(NamedTuple):
    """A game that the checked bot has to finish without a fault.

    ``players``      the number of players
    ``seat``         the seat of the checked bot
    ``board``        the name of the board
    ``leavers``      how many of the other players forfeit early
    ``deal``         a number that selects the deck
    ``has_bank``     the bot also gets a bank of time
    ``is_full``      the bot gets the full time for a move, which the user set, not the short one
    ``may_be_late``  if the bot is late, the game is not repeated with more time: that is a failure
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
    """Counts a bot's notes (``count``) and collects their parts that the arena cuts or drops:
    ``lost`` has them by the name of the part and what was expected, for at most `MAX_LOSSES` such
    pairs.
    """

    def __init__(self) -> None:
        self.count = 0
        self.lost: dict[tuple[str, str], list[Loss]] = {}

    def add(self, note: object) -> Note | None:
        """Counts ``note``, a note as the bot sent it, and returns the part of it that the arena
        keeps; None if nothing is kept.
        """
        self.count += 1
        for loss in losses(note):
            key = loss.part[:MAX_NAME], loss.expected
            # A bot may invent any number of names, so the number of entries is limited.
            if key in self.lost or len(self.lost) < MAX_LOSSES:
                self.lost.setdefault(key, []).append(loss)
        return note_of(note)


class Bench:
    """One bot under check, and what is known about it so far.

    ``player``      the bot's usual process, which plays most games
    ``games``       the number of games that this process has played
    ``slowest_ms``  the time of its slowest answer in games with the full time
    ``move_ms``     the full time for a move, in ms
    ``short_ms``    the time for a move in other games, which grows if the bot is late
    ``start_ns``    the time that its last start-up took
    ``notes``       what was wrong with the notes of the usual process
    ``wait``        how long the bot waited beyond its CPU time in the last game at the full time;
                    None if it did not, or before that game
    ``odds``        the limits in the bot's own label, which override ``move_ms`` and the usual bank
    ``is_over``     whether no result is wanted any more, so that steps that are being tried end
    """

    def __init__(self, bot: Bot, move_ms: int, sandbox: Sandbox) -> None:
        self.bot = bot
        self.odds = odds_of(bot.label)
        self.move_ms = self.odds.move_ms or move_ms
        self.short_ms = min(self.move_ms, SHORT_MS)
        self.sandbox = sandbox
        self.notes = NoteLosses()
        speech = Speech(note=self.notes.add)
        self.player = BotPlayer(bot, STARTUP_MS, sandbox, speech=speech)
        self.slowest_ms = 0.0
        self.wait: Wait | None = None
        self._began_s = time.monotonic()
        self.start_ns = 0
        self.games = 0
        self.is_over = False

    @property
    def most_s(self) -> float:
        """The wall-clock limit of this check in seconds: a fixed time, the time that the bot may
        think, and that of its start-ups.
        """
        return MAX_S + thinking_s(self.move_ms) + STARTS * self.start_ns / 1e9

    def expect_time(self) -> None:
        """Raises CheckTimeOver if the check has taken longer than `most_s`, or if ``is_over``."""
        if self.is_over or time.monotonic() - self._began_s > self.most_s:
            raise CheckTimeOver(f"a check takes at most {self.most_s:.0f} s")

    def game(self, trial: Trial, player: Player | None = None) -> GameRecord:
        """Plays the game ``trial`` with ``player`` (None: the usual one), and repeats it with more
        time if the bot is late, unless the trial forbids that or the bot had the full time. Raises
        Failed for the player's fault, Void if the machine fails three times, BusyMachineError, and
        CheckTimeOver.
        """
        voids = 0
        while True:
            had_ms = self.move_ms if trial.is_full else self.short_ms
            try:
                return self._game(trial, player or self.player, had_ms)
            except Void:
                voids += 1
                if voids == ATTEMPTS:
                    raise
            except Failed as failure:
                may_grow = not trial.may_be_late and had_ms < self.move_ms
                if not failure.is_too_late or not may_grow:
                    raise
                # Games are played side by side, and another one may have had more time already.
                longer_ms = min(self.move_ms, int(LONGER * had_ms))
                self.short_ms = max(self.short_ms, longer_ms)

    def _game(self, trial: Trial, player: Player, move_ms: int) -> GameRecord:
        """Plays the game ``trial`` once with ``player``, who has ``move_ms`` for a move. Raises
        Failed for the player's fault, Void, BusyMachineError, and CheckTimeOver.
        """
        seated = [_other(seat, leaves=seat < trial.leavers) for seat in range(trial.players - 1)]
        seated.insert(trial.seat, player)
        board = BOARDS.get(trial.board) or built_in(trial.board)
        kinds = len(TILES)
        deck = "".join(TILES[(number * 5 + trial.deal) % kinds] for number in range(COPIES * kinds))
        names = tuple(each.name for each in seated)
        seeds = tuple(range(1, trial.players + 1))
        plan = GamePlan("check", board.name, trial.deal, 0, names, deck, seeds)
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
        """A context manager that yields a player made by ``make``, with its own process, for one
        step; the process is stopped when the block ends. ``make`` gets the bot, its time for
        start-up in ms, and the sandbox.
        """
        player = make(self.bot, STARTUP_MS, self.sandbox)
        try:
            yield player
        finally:
            player.stop()

    def start(self, player: BotPlayer) -> None:
        """Starts the process of ``player`` and queues the message that announces a game, which is
        sent with the next request. Raises Failed for the bot's fault,
        and also if the sandbox cannot be made; Void or BusyMachineError if the machine fails.
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
    """The end of what the bot of ``player`` wrote to stderr; empty without a process."""
    return player.evidence()[2]


def _other(seat: int, *, leaves: bool) -> Player:
    """An opponent of the bot. With an odd ``seat`` it always plays the first legal move, else at
    random. If it ``leaves``, it plays at random and forfeits when it is asked for the third time.
    """
    asked = count(1)

    def leave(state: State, seed: int) -> int:
        """Plays at random, and forfeits at the third request."""
        if next(asked) == LEAVES_AT:
            raise Forfeit(FaultKind.EXIT, "forfeits because the check asks it to")
        return random_move(state, seed)

    if leaves:
        return InProcessPlayer(f"leaver-{seat}", leave)
    if seat % 2:
        return InProcessPlayer("first", first_move)
    return InProcessPlayer("random", random_move)


def expect_quiet(player: BotPlayer, when: str, for_ns: int = QUIET_NS) -> None:
    """Waits for ``for_ns`` ns, and raises Failed if the bot of ``player`` sends a line, although it
    was not asked. ``when`` says in the message at what point of the dialogue.
    """
    try:
        line = player.channel.read_line(time.monotonic_ns() + for_ns)
    except (TimedOut, OutputEnded):
        return
    except (LongLine, Flooded) as error:
        line = error.partial
    raise Failed(f"nothing {when}", shown(line), stderr=last_words(player))


def ending_in_time(process: BotProcess, most_ns: int) -> Ending | None:
    """Waits for the end of the bot's process and returns how it ended; None if it still runs after
    ``most_ns`` of CPU time, or after it was idle for that long. Raises Void if a busy machine gave
    the bot no time to end.
    """
    meter = process.meter
    began_ns = meter.used_ns()
    idle = IdleTime(meter)
    for moment_ns in moments(patience(most_ns)):
        slice_began_ns = time.monotonic_ns()
        ending = process.ending((moment_ns - slice_began_ns) / 1e9)
        if ending:
            return ending
        idle.add(moment_ns - slice_began_ns)
        if idle.so_far_ns >= most_ns or meter.used_ns() - began_ns >= most_ns:
            return None
    raise Void("this machine is too busy to give a bot the time to exit")


def ask_for_a_move(bench: Bench, player: BotPlayer) -> None:
    """Starts a game with ``player`` and queues the first request for a move without sending it."""
    bench.start(player)
    state = State(SMALL, 2, parse_deck("".join(TILES) * COPIES))
    player.inform(encode(turn_view(state, FIRST_TURN, TURN_MS, full=player.has_full_view)))
