"""Replays a recorded game with the real referee: one bot is asked again for its seat's moves, and
the game goes on as recorded.

Whatever the bot answers, all seats play the recorded moves. So the referee sends the bot the same
lines as in the recorded game, byte for byte. The one exception is `time_ms` with a bank, because a
record keeps the times only roughly. Request ids count as in the first game of a process.
"""

import time
from collections.abc import Sequence
from typing import NamedTuple

from arena.errors import FaultKind, Forfeit, RunError
from arena.match.clock import NS_PER_MS, Timing
from arena.match.referee import GamePlan, Referee, judged
from arena.match.replay import audit
from arena.players.messages import Start
from arena.players.options import Value
from arena.players.player import Answer, Player
from arena.records.record import GameRecord
from arena.rules.game import PASSED, Board, State, move_text

SEE = "'arena verify' lists everything that is wrong in a run"


class Script(NamedTuple):
    """A recorded game with everything needed to replay it; ``seeds`` are the bots' seeds, by seat,
    and ``settings`` those of a `GamePlan`.
    """

    record: GameRecord
    board: Board
    seeds: tuple[int, ...]
    timing: Timing
    settings: tuple[dict[str, Value], ...] = ()

    def timings_with(self, seat: int, label: str) -> list[Timing]:
        """The time control of each seat when the bot with this label is asked for one of them: it
        has the time that the seat had, unless it names limits of its own. Raises ConfigError.
        """
        there = [self.timing.of(bot) for bot in self.record.bots]
        return [*there[:seat], there[seat].of(label), *there[seat + 1 :]]


class Decision(NamedTuple):
    """A decision that was asked for again, ``turn`` placements after the start.

    ``old`` is the recorded move, empty if the seat forfeited. ``new`` is the bot's answer in the
    same notation, empty if it committed a fault. ``spent_ms`` is how long it took. For a bot that
    does not start, the fault counts at its first decision.
    """

    turn: int
    old: str
    new: str
    spent_ms: float
    fault: str = ""
    detail: str = ""


class Recorded(Player):
    """A seat of a record as a player: it plays the recorded moves,
    and forfeits where the seat did.
    """

    def __init__(self, record: GameRecord, seat: int) -> None:
        self.name = record.bots[seat]
        self._moves = record.moves
        self._fault = next((fault for fault in record.faults if fault.seat == seat), None)
        self._ms = record.ms or [old_ms(record, seat)] * len(record.moves)
        self._played = 0

    @property
    def old(self) -> str:
        """The seat's answer; empty where it forfeited and the referee then passed for it."""
        text = self._moves[self._played] if self._played < len(self._moves) else PASSED
        return "" if text == PASSED else text

    # A record needs no announcement.
    def begin(self, start: Start) -> None:  # noqa: ARG002
        """Forfeits if the seat did so here."""
        if self._fault and self._fault.kind == FaultKind.STARTUP:
            raise self._forfeit()

    # A record is never late.
    def choose(self, state: State, budget_ns: int) -> Answer:  # noqa: ARG002
        """The recorded move and its time. In older records, which have only the sum, every answer
        took equally long.
        """
        if not self.old:
            raise self._forfeit()
        ms = self._ms[self._played] if self._played < len(self._ms) else None
        return Answer(self.old, round((ms or 0.0) * NS_PER_MS))

    # Only that there was one.
    def inform(self, line: bytes) -> None:  # noqa: ARG002
        """Counts the moves."""
        self._played += 1

    def _forfeit(self) -> Forfeit:
        assert self._fault is not None, "an audited record shows where a seat forfeits"
        return Forfeit(FaultKind(self._fault.kind), self._fault.detail)


class Retraced(Recorded):
    """A recorded seat where a bot is asked too, until a fault breaks it off or the last ``wanted``
    turn is reached.

    An illegal move does not stop the questions, because the dialogue goes on as recorded anyway.
    ``asked_ms`` is the time for each answer, if it is known more precisely than from the record.
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
        own = (text for text in record.moves[seat :: len(record.bots)] if text != PASSED)
        self._first = next(iter(decisions_of(record, seat)), 0), next(own, "")

    def begin(self, start: Start) -> None:
        """Starts the bot."""
        try:
            self.player.begin(start)
        except Forfeit as fault:
            self._break(Decision(*self._first, "", 0.0, fault.kind.value, fault.detail))
        super().begin(start)

    def choose(self, state: State, budget_ns: int) -> Answer:
        """Asks the bot, and plays the recorded move."""
        if self._wanted is not None and state.turns > self._wanted:
            self._is_asked = False
        if self._is_asked:
            number = len(self.decisions)
            self._ask(
                state,
                self._asked_ms[number] * NS_PER_MS if number < len(self._asked_ms) else budget_ns,
            )
            self._is_asked = not self.is_broken and state.turns != self._wanted
        return super().choose(state, budget_ns)

    def inform(self, line: bytes) -> None:
        """Informs the bot as well."""
        super().inform(line)
        if self._is_asked:
            self.player.inform(line)

    def finish(self) -> None:
        """Ends the game for the bot as well."""
        if self._is_asked:
            self.player.finish()

    def _ask(self, state: State, budget_ns: int) -> None:
        began_ns, turn = time.monotonic_ns(), state.turns
        try:
            answer = self.player.choose(state, budget_ns)
            spent_ms = _ms(answer.spent_ns)
            self.decisions.append(
                Decision(
                    turn, self.old, move_text(state.board, judged(state, answer.move)), spent_ms
                )
            )
        except Forfeit as fault:
            decision = Decision(
                turn,
                self.old,
                "",
                _ms(time.monotonic_ns() - began_ns),
                fault.kind.value,
                fault.detail,
            )
            if fault.kind == FaultKind.ILLEGAL_MOVE:
                self.decisions.append(decision)
            else:
                self._break(decision)

    def _break(self, decision: Decision) -> None:
        self.decisions.append(decision)
        self._is_asked, self.is_broken = False, True


def retrace(
    script: Script,
    seat: int,
    player: Player,
    *,
    wanted: int | None = None,
    asked_ms: Sequence[int] = (),
) -> Retraced:
    """Replays the game and asks the player for the seat's moves, up to the last wanted turn. Leaves
    the process running.

    Raises RunError if the record does not follow from its deck and moves, and Void.
    """
    record = script.record
    check_script(script)
    players: list[Recorded] = [Recorded(record, at) for at in range(len(record.bots))]
    players[seat] = asked = Retraced(record, seat, player, wanted, asked_ms)
    plan = GamePlan(
        record.id,
        record.board,
        record.deal,
        record.seating,
        tuple(record.bots),
        record.deck,
        script.seeds,
        settings=script.settings,
    )
    timings = script.timings_with(seat, player.name)
    again = Referee(plan, script.board, players, timings).play().record
    if again.moves != record.moves or _faults(again) != _faults(record):
        raise RunError(
            f"{record.id}: expected faults that fit the moves, got others in the record", SEE
        )
    return asked


def check_script(script: Script) -> None:
    """Raises RunError if the record does not follow from its deck and moves."""
    record = script.record
    wrong = audit(record, script.board)
    if wrong:
        raise RunError(
            f"{record.id}, {wrong.field}: expected {wrong.expected} by the rules, got {wrong.got}",
            SEE,
        )
    kinds = {fault.kind for fault in record.faults}
    if not kinds <= set(FaultKind):
        raise RunError(
            f"{record.id}, faults: expected only the kinds {', '.join(FaultKind)}, got"
            f" {', '.join(sorted(kinds))}",
            SEE,
        )


def _faults(record: GameRecord) -> list[tuple[int, int, str]]:
    return [(fault.seat, fault.turn, fault.kind) for fault in record.faults]


def decisions_of(record: GameRecord, seat: int) -> list[int]:
    """The turns at which a seat had to decide, including the one at which it forfeited."""
    movers = [at % len(record.bots) for at, text in enumerate(record.moves) if text != PASSED]
    forfeits = [
        fault.turn
        for fault in record.faults
        if fault.seat == seat and fault.kind != FaultKind.STARTUP
    ]
    return [turn for turn, mover in enumerate(movers) if mover == seat] + forfeits


def old_ms(record: GameRecord, seat: int) -> float:
    """The average time of the seat's answers in the recorded game."""
    answers = sum(text != PASSED for text in record.moves[seat :: len(record.bots)])
    return record.think_ms[seat] / answers if answers else 0.0


def ms_at(record: GameRecord, turn: int) -> float | None:
    """The time of the answer after so many placements; None in older records."""
    times = record.ms or ()
    placed = [at for at, text in enumerate(record.moves[: len(times)]) if text != PASSED]
    return times[placed[turn]] if turn < len(placed) else None


def _ms(nanoseconds: int) -> float:
    return round(nanoseconds / NS_PER_MS, 3)
