"""Replays a recorded game and asks a bot again for the decisions of one seat.

The real referee replays the game. Whatever the bot answers, all seats play the recorded moves, so
the referee sends the bot the lines of the recorded game, byte for byte. Two things may differ:
`time_ms` in games with a bank, because a record has times only roughly, and the ids of requests,
which count as in the first game of a process.
"""

import time
from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple

from arena.errors import Forfeit, RunError
from arena.faults import FaultKind
from arena.match.referee import Referee, judged
from arena.match.replay import SEE, ReplayableGame, check_script
from arena.players.messages import Start
from arena.players.player import Answer, Player
from arena.records.record import NS_PER_MS, GameRecord, faults_of, movers_of, placed_at
from arena.rules import State
from arena.rules.notation import PASSED, move_text, moves_of_seat


class Decision(NamedTuple):
    """A decision for which a bot was asked again, ``turn`` placements after the start.

    ``old``       the recorded move; empty if the seat forfeited
    ``new``       the bot's answer in canonical notation; empty if it committed a fault
    ``spent_ms``  how long the answer took, in ms
    ``fault``     the kind of the bot's fault; empty if it answered
    ``detail``    the detail of the fault

    If the bot does not start, that is a fault in its first decision.
    """

    turn: int
    old: str
    new: str
    spent_ms: float
    fault: str = ""
    detail: str = ""


class Recorded(Player):
    """A player that repeats a seat of a record: it plays the recorded moves, and forfeits where the
    seat forfeited.
    """

    def __init__(self, record: GameRecord, seat: int) -> None:
        self.name = record.bots[seat]
        self._moves = record.moves
        faults = faults_of(record, seat)
        self._fault = faults[0] if faults else None
        self._ms = record.ms or []
        self._played = 0

    @property
    def old(self) -> str:
        """The seat's recorded answer at this point of the game; empty if the record has none,
        because the seat forfeited.
        """
        text = self._moves[self._played] if self._played < len(self._moves) else PASSED
        return "" if text == PASSED else text

    # ``start`` is not used, because the record has everything.
    def begin(self, start: Start) -> None:  # noqa: ARG002
        """Raises Forfeit if the seat forfeited at the start of the game."""
        if self._fault and self._fault.kind == FaultKind.STARTUP:
            raise self._forfeit()

    # ``budget_ns`` is not used, because a recorded answer is never late.
    def choose(self, state: State, budget_ns: int) -> Answer:  # noqa: ARG002
        """Returns the recorded move with its recorded time, or with no time if the record has none;
        ``budget_ns`` is ignored. Raises Forfeit where the seat forfeited.
        """
        if not self.old:
            raise self._forfeit()
        ms = self._ms[self._played] if self._played < len(self._ms) else None
        return Answer(self.old, round((ms or 0.0) * NS_PER_MS))

    # ``line`` is not used, because only the number of moves counts.
    def inform(self, line: bytes) -> None:  # noqa: ARG002
        """Counts a public line about a move or a pass: the moves of all seats, as in the record."""
        self._played += 1

    def _forfeit(self) -> Forfeit:
        """The exception for the fault that the seat committed."""
        assert self._fault is not None, "an audited record shows where a seat forfeits"
        return Forfeit(FaultKind(self._fault.kind), self._fault.detail)


class Retraced(Recorded):
    """A recorded seat at which a bot (``player``) is asked, too. The game continues with the
    recorded moves, whatever the bot answers. The bot is asked until it commits a fault, or up to
    the turn ``wanted``; None asks it to the end of the game, and -1 only starts it.

    An illegal move does not end the questions, because the dialogue continues as recorded anyway.
    ``asked_ms`` are the times in ms that the bot gets for its first answers; for later ones it gets
    what the referee's clock allows. ``decisions`` are the bot's answers, and ``is_broken`` says
    that it committed a fault other than an illegal move.
    """

    def __init__(
        self,
        record: GameRecord,
        seat: int,
        player: Player,
        wanted: int | None,
        asked_ms: Sequence[int],
    ) -> None:
        super().__init__(record, seat)
        self.player = player
        self.decisions: list[Decision] = []
        self.is_broken = False
        self._wanted = wanted
        self._asked_ms = asked_ms
        self._is_asked = True
        own_moves = moves_of_seat(record.moves, seat, len(record.bots))
        placed = placed_at(own_moves)
        first_move = own_moves[placed[0]] if placed else ""
        self._first = next(iter(decisions_of(record, seat)), 0), first_move

    def begin(self, start: Start) -> None:
        """Starts a game with the bot; a fault of the bot becomes its decision. Raises Forfeit if
        the seat forfeited at the start of the recorded game.
        """
        try:
            self.player.begin(start)
        except Forfeit as fault:
            self._fail(*self._first, 0.0, fault)
        super().begin(start)

    def choose(self, state: State, budget_ns: int) -> Answer:
        """Asks the bot for a move, for which it has ``budget_ns`` ns, and keeps its answer in
        ``decisions``, unless it has committed a fault or the turn ``wanted`` is over. Returns the
        recorded move with the recorded time in either case, as `Recorded.choose` does.
        """
        if self._wanted is not None and state.turns > self._wanted:
            self._is_asked = False
        if self._is_asked:
            known = self._asked_ms[len(self.decisions) :]
            self._ask(state, known[0] * NS_PER_MS if known else budget_ns)
            self._is_asked = not self.is_broken and state.turns != self._wanted
        return super().choose(state, budget_ns)

    def inform(self, line: bytes) -> None:
        """Counts the move, and passes the line on to the bot if it is still to be asked."""
        super().inform(line)
        if self._is_asked:
            self.player.inform(line)

    def finish(self) -> None:
        """Tells the bot that the game is over, unless its questions ended earlier: with a fault
        other than an illegal move, or when the wanted turn was over.
        """
        if self._is_asked:
            self.player.finish()

    def _ask(self, state: State, budget_ns: int) -> None:
        """Asks the bot for its move in ``state``, with ``budget_ns`` for the answer, and stores the
        decision.
        """
        began_ns = time.monotonic_ns()
        turn = state.turns
        try:
            answer = self.player.choose(state, budget_ns)
            new = move_text(state.board, judged(state, answer.move))
            self.decisions.append(
                Decision(turn, self.old, new, round(answer.spent_ns / NS_PER_MS, 3))
            )
        except Forfeit as fault:
            self._fail(
                turn, self.old, round((time.monotonic_ns() - began_ns) / NS_PER_MS, 3), fault
            )

    def _fail(self, turn: int, old: str, spent_ms: float, fault: Forfeit) -> None:
        """Stores the bot's fault as its decision at this turn, and stops asking unless the fault is
        an illegal move. ``old`` is the recorded move.
        """
        self.decisions.append(Decision(turn, old, "", spent_ms, fault.kind.value, fault.detail))
        if fault.kind != FaultKind.ILLEGAL_MOVE:
            self._is_asked = False
            self.is_broken = True


def retrace(
    script: ReplayableGame,
    seat: int,
    player: Player,
    *,
    wanted: int | None = None,
    asked_ms: Sequence[int] = (),
) -> Retraced:
    """Replays the game ``script`` and asks ``player`` for the moves of ``seat``, up to the turn
    ``wanted`` (None: to the end; -1: only starts the bot). ``asked_ms`` are the times in ms that
    the player gets for its first answers; the clock of the replayed game gives the others. Returns
    the seat with the bot's decisions, and leaves the player's process running.

    Raises RunError if the record does not follow from its deck and moves, NotationError if its deck
    is none, Void if the machine fails, and BusyMachineError.
    """
    record = script.record
    check_script(script)
    players = [Recorded(record, other_seat) for other_seat in range(len(record.bots))]
    players[seat] = asked = Retraced(record, seat, player, wanted, asked_ms)
    timings = script.timings_with(seat, player.name)
    again = Referee(script.plan, script.board, players, timings).play().record
    parts = attrgetter("seat", "turn", "kind")
    are_same_faults = list(map(parts, again.faults)) == list(map(parts, record.faults))
    if again.moves != record.moves or not are_same_faults:
        raise RunError(f"{record.id}: the faults in the record do not fit its moves", SEE)
    return asked


def decisions_of(record: GameRecord, seat: int) -> list[int]:
    """The turns (numbers of placements) at which ``seat`` had to decide, including the one at which
    it forfeited, unless that was at the start.
    """
    movers = movers_of(record.moves, len(record.bots))
    turns = [turn for turn, mover in enumerate(movers) if mover == seat]
    for fault in faults_of(record, seat):
        if fault.kind != FaultKind.STARTUP:
            turns.append(fault.turn)
    return turns
