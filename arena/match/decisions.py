"""The decisions of a recorded game, for which a bot is asked again.

The real referee replays the game and asks one bot again for the moves of its seat. Whatever the bot
answers, all seats play the recorded moves. So the referee sends the bot the same lines as in the
recorded game, byte for byte. The one exception is `time_ms` with a bank, because a record keeps the
times only roughly. Request ids count as in the first game of a process.
"""

import time
from collections.abc import Sequence
from typing import NamedTuple

from arena.errors import FaultKind, Forfeit, RunError
from arena.match.referee import Referee, judged
from arena.match.replay import SEE, Script, check_script
from arena.players.messages import Start
from arena.players.player import Answer, Player
from arena.records.record import NS_PER_MS, GameRecord
from arena.rules import State
from arena.rules.notation import PASSED, move_text


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
    """A seat of a record as a player: it plays the recorded moves, and forfeits where it did."""

    def __init__(self, record: GameRecord, seat: int) -> None:
        self.name = record.bots[seat]
        self._moves = record.moves
        self._fault = next((fault for fault in record.faults if fault.seat == seat), None)
        self._ms = record.ms or []
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
        """The recorded move and its time; none in games between functions."""
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
            self._fail(*self._first, 0.0, fault)
        super().begin(start)

    def choose(self, state: State, budget_ns: int) -> Answer:
        """Asks the bot, and plays the recorded move."""
        if self._wanted is not None and state.turns > self._wanted:
            self._is_asked = False
        if self._is_asked:
            known = self._asked_ms[len(self.decisions) :]
            self._ask(state, known[0] * NS_PER_MS if known else budget_ns)
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
        self.decisions.append(Decision(turn, old, "", spent_ms, fault.kind.value, fault.detail))
        if fault.kind != FaultKind.ILLEGAL_MOVE:
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
    timings = script.timings_with(seat, player.name)
    again = Referee(script.plan, script.board, players, timings).play().record
    now, then = (
        [(each.seat, each.turn, each.kind) for each in one.faults] for one in (again, record)
    )
    if again.moves != record.moves or now != then:
        raise RunError(
            f"{record.id}: expected faults that fit the moves, got others in the record", SEE
        )
    return asked


def decisions_of(record: GameRecord, seat: int) -> list[int]:
    """The turns at which a seat had to decide, including the one at which it forfeited."""
    movers = [at % len(record.bots) for at, text in enumerate(record.moves) if text != PASSED]
    forfeits = [
        fault.turn
        for fault in record.faults
        if fault.seat == seat and fault.kind != FaultKind.STARTUP
    ]
    return [turn for turn, mover in enumerate(movers) if mover == seat] + forfeits
