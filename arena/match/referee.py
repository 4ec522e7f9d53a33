"""The referee of one game: asks the seat whose turn it is, judges the answer, informs all seats
about the move, and makes the record of the game.
"""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import zip_longest
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from arena.errors import Forfeit, MoveError, Void
from arena.faults import FaultKind
from arena.match.clock import Clock
from arena.players.messages import End, Start, encode
from arena.players.player import Answer, Evidence, Player
from arena.players.views import played_view
from arena.records.notes import Note, NoteEntry
from arena.records.record import FORFEIT, NS_PER_MS, VERSION, Fault, GameRecord
from arena.records.timing import Timing
from arena.records.voids import SoFar
from arena.rules import State
from arena.rules.boards import Board
from arena.rules.notation import PASS, legal_move, move_text, parse_deck, parse_move
from arena.rules.terms import PAGODAS, Event, final_ranks
from arena.values import Value

MoveListener = Callable[[State, int, int, list[Event], Note | None], None]
"""A callback after each move. Its arguments are the state after the move, the seat that moved, the
move, its events, and the bot's note on the move, None without a note.
"""

LONG_START_NS = 1_000_000_000
"""A bot that is idle for longer than this while it starts is a `SlowStart`."""


class GamePlan(Struct, frozen=True):
    """A game to be played: everything that determines it except the bots' answers. The game's
    ``id`` and ``board``, the numbers of its ``deal`` and ``seating``, and the text of its ``deck``
    are those of its record. By seat: the labels of the ``bots``, their ``seeds``, and ``settings``,
    the values of options that differ from game to game (empty if none do).

    A game may continue another game: ``past`` are the moves that are taken over, including passes,
    and ``gone`` the faults by which seats had left the other game.

    ``ends_deal`` says that, when the batch of this game has been played, no game on its deal is
    left to play in the run. What a bot's process knows of the deal is then of no use to anybody.
    """

    id: str
    board: str
    deal: int
    seating: int
    bots: tuple[str, ...]
    deck: str
    seeds: tuple[int, ...]
    past: tuple[str, ...] = ()
    gone: tuple[Fault, ...] = ()
    settings: tuple[dict[str, Value], ...] = ()
    ends_deal: bool = False


class Wait(NamedTuple):
    """A bot that waited: in ``answers`` of its answers in a game it was in time by its CPU time,
    but would have been late by the wall clock because it was idle; ``idle_ns`` is its idle time in
    these answers together, in ns.
    """

    bot: str
    answers: int
    idle_ns: int

    @property
    def text(self) -> str:
        """The wait in one sentence for people."""
        seconds = self.idle_ns / self.answers / 1e9
        digits = 1 if seconds >= 1 else 2
        return (
            f"{self.bot} waits {seconds:.{digits}f} s a move beyond its CPU time; with"
            " --clock wall it would be late"
        )


class SlowStart(NamedTuple):
    """A bot that was idle for ``idle_ns``, more than `LONG_START_NS`, while it started."""

    bot: str
    idle_ns: int

    @property
    def text(self) -> str:
        """The start in one sentence for people."""
        seconds = self.idle_ns / 1e9
        idle = f"{self.bot} waits {seconds:.1f} s while it starts, without computing"
        return f"{idle}; its game waits too"


class Outcome(NamedTuple):
    """A finished game: its record, and the evidence of each fault in it.

    ``own_us``       the times in microseconds that the arena took between an answer and the next
                     request
    ``waits``        the bots that waited, see `Wait`
    ``slow_starts``  the bots that waited while they started, see `SlowStart`
    """

    record: GameRecord
    evidence: list[Evidence]
    own_us: tuple[int, ...] = ()
    waits: tuple[Wait, ...] = ()
    slow_starts: tuple[SlowStart, ...] = ()


class BrokenOff(Void):
    """A game broke off in the middle, because the machine failed or a person left. ``so_far`` is
    the part of the game that was played; None if that is not known.
    """

    def __init__(self, message: str, hint: str = "", so_far: SoFar | None = None) -> None:
        """Makes the error with a message, a hint, and the part of the game that was played."""
        super().__init__(message, hint)
        self.so_far = so_far


class Referee:
    """Runs the game ``plan`` on ``board`` between ``players``, given by seat. ``watch`` is called
    after each move.

    ``timing`` is one time control for all seats, or a list with one for each. ``seated`` are the
    seats whose game has begun and that have not forfeited. ``past_ns`` are the times, in
    nanoseconds, of the moves of the plan's past, None for a pass; set them before `play`.
    """

    def __init__(
        self,
        plan: GamePlan,
        board: Board,
        players: Sequence[Player],
        timing: Timing | Sequence[Timing],
        watch: MoveListener | None = None,
    ) -> None:
        self.plan = plan
        self.players = players
        self.timings = [timing] * len(players) if isinstance(timing, Timing) else list(timing)
        self.watch = watch
        self.state = State(board, len(players), parse_deck(plan.deck))
        self.clock = Clock(self.timings)
        self.moves: list[str] = []
        self.spent_ns: list[int | None] = []
        self.past_ns: Sequence[int | None] = ()
        self.notes: list[NoteEntry] = []
        self.seated: list[int] = []
        self.forfeited: list[int] = []
        self.faults: list[Fault] = []
        self.evidence: list[Evidence] = []
        self.own_us: list[int] = []
        self.waits: dict[int, Wait] = {}
        self.slow_starts: list[SlowStart] = []
        self._asked_ms: list[list[int]] = [[] for _ in players]
        self._answered_ns = 0
        self._began_ns = time.monotonic_ns()
        self._asked = 0
        for player in players:
            player.meanwhile = self._rest_the_others

    def play(self, *, sandbox: str = "none", host: str = "") -> Outcome:
        """Plays the game to its end; can be called once. ``sandbox`` and ``host`` are texts for the
        record, see `GameRecord`. Raises BrokenOff if the game cannot go on for a reason outside the
        bots: the machine fails, or a person leaves. Raises BusyMachineError if the machine is too
        busy to judge a bot, and whatever ``watch`` raises.
        """
        try:
            past = self._catch_up()
            self._begin()
            for line in past:
                self._tell(line)
            while not self._is_over():
                self._turn()
        except Void as void:
            raise BrokenOff(str(void), void.hint, self.so_far()) from void
        return Outcome(
            self._close(sandbox, host),
            self.evidence,
            tuple(self.own_us),
            tuple(self.waits.values()),
            tuple(self.slow_starts),
        )

    def so_far(self) -> SoFar:
        """The part of the game that has been played so far."""
        used_ms = [round(spent_ms, 1) for spent_ms in self.clock.think_ms()]
        return SoFar(self.moves, list(self.state.left), self.state.mover, used_ms)

    def _catch_up(self) -> list[bytes]:
        """Plays the moves of the plan's past. Returns the public lines about them, which are then
        sent to the seats as if the moves were played now.
        """
        lines = []
        for text, spent_ns in zip_longest(self.plan.past, self.past_ns):
            self._let_go()
            seat = self.state.mover
            lines.append(self._advance(parse_move(self.state.board, text)))
            if spent_ns is not None:
                self.spent_ns[-1] = spent_ns
                self.clock.spend(seat, spent_ns)
        self._let_go()
        return lines

    def _let_go(self) -> None:
        """Retires the seats that had left the continued game by this turn."""
        for fault in self.plan.gone:
            if fault.turn <= self.state.turns and fault.seat not in self.forfeited:
                self.faults.append(fault)
                self.forfeited.append(fault.seat)
                self.state.retire(fault.seat)

    def _begin(self) -> None:
        """Informs each seat that the game starts, and of its own time control. A seat that fails
        forfeits.
        """
        settings = self.plan.settings
        for seat, player in enumerate(self.players):
            if seat in self.forfeited:
                continue
            timing = self.timings[seat]
            start = Start(
                players=len(self.players),
                seat=seat,
                board=self.state.board.rows,
                pagodas=PAGODAS[len(self.players)],
                seed=self.plan.seeds[seat],
                move_ms=timing.move_ms,
                game_ms=timing.game_ms,
                increment_ms=timing.increment_ms,
                clock=self.clock.kind,
                options=settings[seat] if settings else {},
            )
            self._asked = seat
            try:
                player.begin(start)
                self.seated.append(seat)
                if player.start_idle_ns > LONG_START_NS:
                    self.slow_starts.append(SlowStart(player.name, player.start_idle_ns))
            except Forfeit as fault:
                self._forfeit(seat, fault)
                if self._is_over():
                    return

    def _is_over(self) -> bool:
        """Whether the game has ended by the rules, or all seats but one have forfeited."""
        return self.state.end is not None or len(self.forfeited) >= len(self.players) - 1

    def _turn(self) -> None:
        """Passes for the seat to move, or asks it for its move and plays that move. A seat at fault
        forfeits.
        """
        state = self.state
        seat = self.state.mover
        if state.must_pass():
            self._carry_out(PASS)
            return
        self._asked = seat
        budget_ns = self.clock.budget_ns(seat)
        self._asked_ms[seat].append(budget_ns // NS_PER_MS)
        try:
            answer = self.players[seat].choose(state, budget_ns)
            self.clock.spend(seat, answer.spent_ns)
            if self._answered_ns:
                self.own_us.append((answer.asked_ns - self._answered_ns) // 1000)
            self._answered_ns = answer.answered_ns
            self._note_wait(seat, answer, budget_ns)
            self._carry_out(judged(state, answer.move), answer)
        except Forfeit as fault:
            self._forfeit(seat, fault)

    def _note_wait(self, seat: int, answer: Answer, budget_ns: int) -> None:
        """Counts ``answer`` of ``seat`` if it would have been late by the wall clock, against
        ``budget_ns``, only because the bot was idle.
        """
        is_long = answer.idle_ns > answer.spent_ns
        if is_long and answer.spent_ns + answer.idle_ns > budget_ns:
            before = self.waits.get(seat, Wait(self.players[seat].name, 0, 0))
            idle_ns = before.idle_ns + answer.idle_ns
            self.waits[seat] = Wait(before.bot, before.answers + 1, idle_ns)

    def _rest_the_others(self, *, must_stop: bool = False) -> None:
        """Pauses the bots of other players that compute while one bot is asked, so that only that
        bot computes. With ``must_stop`` it pauses all of them.
        """
        for seat, player in enumerate(self.players):
            if seat != self._asked and seat not in self.forfeited:
                player.rest(must_stop=must_stop)

    def _carry_out(self, move: int, answer: Answer | None = None) -> None:
        """Plays ``move``, informs the seats and the callback of it, and stores the bot's note.
        ``answer`` is None for a pass by the referee.
        """
        state = self.state
        seat = self.state.mover
        note = answer.note if answer else None
        if note:
            self.notes.append(note.entry(state.turns))
        events: list[Event] = []
        self._tell(self._advance(move, answer, events))
        if self.watch:
            self.watch(state, seat, move, events, note)

    def _advance(
        self, move: int, answer: Answer | None = None, events: list[Event] | None = None
    ) -> bytes:
        """Plays ``move`` and appends it to the moves and times of the record; ``answer`` is None if
        no bot was asked. Appends the events to ``events``. Returns the public line about the move.
        """
        state = self.state
        seat = self.state.mover
        happened = [] if events is None else events
        state.play(move, happened)
        played = played_view(state, seat, move, happened, forfeited=seat in self.forfeited)
        self.moves.append(played.move)
        self.spent_ns.append(answer.spent_ns if answer else None)
        return encode(played)

    def _tell(self, line: bytes) -> None:
        """Sends a public line to all seats that are in the game."""
        for seat in self.seated:
            self.players[seat].inform(line)

    def _forfeit(self, seat: int, fault: Forfeit) -> None:
        """Takes ``seat``, which committed ``fault``, out of the game, and stores the evidence. With
        two players that ends the game; with more, the others play on.
        """
        # The wait for a late bot is not time that the arena took between an answer and a request.
        self._answered_ns = 0
        player = self.players[seat]
        turn = self.state.turns
        after_ms = round((time.monotonic_ns() - self._began_ns) / NS_PER_MS, 1)
        ending, lines, stderr = player.evidence()
        self.faults.append(Fault(seat=seat, turn=turn, kind=fault.kind.value, detail=fault.detail))
        self.evidence.append(
            Evidence(
                bot=player.name,
                seat=seat,
                turn=turn,
                after_ms=after_ms,
                kind=fault.kind.value,
                detail=fault.detail,
                ending=ending,
                lines=lines,
                stderr=stderr,
                asked_ms=self._asked_ms[seat],
            )
        )
        self.forfeited.append(seat)
        if seat in self.seated:
            self.seated.remove(seat)
        player.dismiss()
        if not self._is_over():
            self.state.retire(seat)

    def _close(self, sandbox: str, host: str) -> GameRecord:
        """Makes the record of the finished game and informs the seats of the result. ``sandbox``
        and ``host`` are texts for the record.
        """
        record = record_of(
            self.plan,
            self.state,
            self.moves,
            self.clock,
            forfeited=self.forfeited,
            faults=self.faults,
            sandbox=sandbox,
            host=host,
        )
        times = [None if ns is None else tenths_of_ms(ns) for ns in self.spent_ns]
        record = replace(record, ms=times or None, notes=self.notes or None)
        self._tell(encode(End(record.end, record.left, record.ranks)))
        for seat in self.seated:
            self.players[seat].finish()
        return record


def record_of(
    plan: GamePlan,
    state: State,
    moves: list[str],
    clock: Clock,
    forfeited: Sequence[int] = (),
    faults: Sequence[Fault] = (),
    sandbox: str = "none",
    host: str = "",
) -> GameRecord:
    """Makes the record of a game that has just ended. ``forfeited`` are the seats that forfeited,
    in that order, ``faults`` their faults; ``sandbox`` and ``host`` are texts for the record.
    """
    left = list(state.left)
    return GameRecord(
        v=VERSION,
        id=plan.id,
        board=plan.board,
        deal=plan.deal,
        seating=plan.seating,
        bots=list(plan.bots),
        deck=plan.deck,
        moves=moves,
        left=left,
        ranks=final_ranks(left, forfeited),
        end=state.end or FORFEIT,
        faults=list(faults),
        think_ms=clock.think_ms(),
        slowest_ms=clock.slowest_ms(),
        turns=state.turns,
        sandbox=sandbox,
        host=host,
        ended=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        clock="cpu" if clock.kind == "cpu" else None,
    )


def tenths_of_ms(nanoseconds: int) -> float:
    """Converts nanoseconds to ms with one decimal; a half is rounded down."""
    # Three times as fast as round(), and never more than round() gives for the slowest answer.
    return (nanoseconds + 49_999) // 100_000 / 10


def judged(state: State, text: str) -> int:
    """The legal move that ``text``, a bot's answer, stands for. Raises Forfeit (ILLEGAL_MOVE) if it
    is no legal move.
    """
    try:
        return legal_move(state, text)
    except MoveError as error:
        raise Forfeit(FaultKind.ILLEGAL_MOVE, str(error)) from None


ChooseFunction = Callable[[State, int], int]
"""A function that takes a state and the seat's seed, and returns the mover's move, PASS if there is
none. It must not change the state.
"""


def play_alone(
    plan: GamePlan, board: Board, choosers: Sequence[ChooseFunction], host: str = ""
) -> GameRecord:
    """Plays the game ``plan`` between functions, one for each seat, in this process and without
    time limits. Apart from the measured times, the host and the time of its end, the record does
    not depend on the machine.
    """
    state = State(board, len(choosers), parse_deck(plan.deck))
    clock = Clock([Timing(clock="wall")] * len(choosers))
    moves: list[str] = []
    while state.end is None:
        seat = state.mover
        asked_ns = time.monotonic_ns()
        move = choosers[seat](state, plan.seeds[seat])
        if move != PASS:
            clock.spend(seat, time.monotonic_ns() - asked_ns)
        moves.append(move_text(board, move))
        state.play(move)
    return record_of(plan, state, moves, clock, host=host)
