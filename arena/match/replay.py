"""Replays a recorded game by the rules: move by move for display, only to check its result against
its deck and moves, or up to a turn from which the game is played on.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, repeat, zip_longest
from typing import Any, NamedTuple

from msgspec.structs import replace

from arena.errors import ArenaError, RunError
from arena.faults import FaultKind
from arena.match.referee import GamePlan
from arena.players.labels import timing_for
from arena.records.notes import Note, kept_notes
from arena.records.record import FORFEIT, Fault, GameRecord, placed_at
from arena.records.strict import Wrong
from arena.records.timing import Timing
from arena.rules import State
from arena.rules.boards import Board
from arena.rules.notation import PASS, PASSED, move_text, moves_of_seat, parse_deck, play_text
from arena.rules.terms import Event, final_ranks
from arena.values import Value

SEE = "'arena verify' lists everything that is wrong in a run"


class ReplayableGame(NamedTuple):
    """A recorded game with everything needed to replay it: the record, its ``board``, the bots'
    ``seeds`` by seat, the time control of the run (``timing``), and ``settings``, by seat the
    values of options that differ from game to game (empty if none do).
    """

    record: GameRecord
    board: Board
    seeds: tuple[int, ...]
    timing: Timing
    settings: tuple[dict[str, Value], ...] = ()

    @property
    def plan(self) -> GamePlan:
        """The plan with which the recorded game was played."""
        record = self.record
        return GamePlan(
            id=record.id,
            board=record.board,
            deal=record.deal,
            seating=record.seating,
            bots=tuple(record.bots),
            deck=record.deck,
            seeds=self.seeds,
            settings=self.settings,
        )

    def timings_with(self, seat: int, label: str) -> list[Timing]:
        """The time control of each seat if the bot ``label`` takes the seat ``seat``. That bot gets
        the time of the recorded bot, unless its label sets limits. Raises ConfigError.
        """
        there = [timing_for(bot, self.timing) for bot in self.record.bots]
        return [*there[:seat], timing_for(label, there[seat]), *there[seat + 1 :]]


class Step(NamedTuple):
    """A move of a record, replayed.

    ``state``   the state after the move; it is one object that changes from step to step
    ``seat``    the seat that moved
    ``move``    the move
    ``events``  its events
    ``ms``      the time of the answer in ms; None for a pass, or if the record has no times
    ``note``    the bot's note on the move; None without a note
    """

    state: State
    seat: int
    move: int
    events: list[Event]
    ms: float | None
    note: Note | None


def replay(record: GameRecord, board: Board) -> Iterator[Step]:
    """Replays the moves of ``record`` on ``board`` one by one, then checks its result.

    Raises RunError if the record does not follow from its deck and moves, and NotationError if its
    deck is none.
    """
    state = start_state(record, board)
    notes = kept_notes(record.notes)
    # The journal may come from anybody and have fewer times than moves.
    times = chain(record.ms or (), repeat(None))
    for number, (text, ms) in enumerate(zip(record.moves, times, strict=False), 1):
        retire_faulty(state, record.faults)
        seat = state.mover
        turn = state.turns
        events = list[Event]()
        try:
            move = play_text(state, text, events)
        except ArenaError as error:
            raise RunError(f"{record.id}, move {number} breaks the rules: {error}") from error
        note = None if move == PASS else notes.get(turn)
        yield Step(state, seat, move, events, ms, note)
    wrong = _wrong_result(record, state)
    if wrong:
        raise RunError(
            f"{record.id}: expected {wrong.field} {wrong.expected} by the rules, got {wrong.got} in"
            " the record"
        )


def audit(record: GameRecord, board: Board) -> Wrong | None:
    """The first field of ``record`` that does not follow from its deck, moves and faults; None if
    all do. Raises NotationError if the deck is none.
    """
    state = start_state(record, board)
    may_retire = bool(record.faults)
    for number, text in enumerate(record.moves):
        if may_retire:
            retire_faulty(state, record.faults)
        try:
            move = play_text(state, text)
        except ArenaError as error:
            return Wrong(f"moves[{number}]", "a move that the rules allow", f"{text}: {error}")
        if move_text(board, move) != text:
            return Wrong(f"moves[{number}]", move_text(board, move), text)
    return _wrong_result(record, state)


def start_state(record: GameRecord, board: Board) -> State:
    """The state before the first move of ``record``. Raises NotationError if its deck is none."""
    return State(board, len(record.bots), parse_deck(record.deck))


def positions(record: GameRecord, board: Board) -> Iterator[tuple[State, str]]:
    """Yields the state before each move of ``record``, and the text of the move. It is one state
    object, on which the move is then played.

    Raises ArenaError for a move that the rules do not allow, or a deck that is none.
    """
    state = start_state(record, board)
    for text in record.moves:
        retire_faulty(state, record.faults)
        yield state, text
        play_text(state, text)


def retire_faulty(state: State, faults: Sequence[Fault]) -> None:
    """Retires the seat to move if it has forfeited by this turn, according to ``faults``."""
    if state.retired[state.mover]:
        return
    if any(fault.seat == state.mover and fault.turn <= state.turns for fault in faults):
        state.retire(state.mover)


def _wrong_result(record: GameRecord, state: State) -> Wrong | None:
    """The first field of the result in ``record`` that differs from the result by the rules;
    ``state`` is the state after its last move. None if all fields agree.
    """
    forfeited = [fault.seat for fault in record.faults]
    is_forfeit = len(forfeited) >= len(record.bots) - 1
    for seat in () if is_forfeit else forfeited:
        state.retire(seat)
    result: dict[str, Any] = {
        "left": state.left,
        "ranks": final_ranks(state.left, forfeited),
        "end": state.end or (FORFEIT if is_forfeit else "not over"),
        "turns": state.turns,
    }
    for field, expected in result.items():
        if getattr(record, field) != expected:
            return Wrong(field, str(expected), str(getattr(record, field)))
    return None


def old_ms(record: GameRecord, seat: int) -> float:
    """The average time in ms of the answers of ``seat`` in the recorded game; 0 if it gave none."""
    answers = len(placed_at(moves_of_seat(record.moves, seat, len(record.bots))))
    return record.think_ms[seat] / answers if answers else 0.0


def ms_at(record: GameRecord, turn: int) -> float | None:
    """The time in ms of the answer after ``turn`` placements; None if the record has no time for
    it, as in games of built-in bots.
    """
    times = record.ms or ()
    placed = placed_at(record.moves[: len(times)])
    return times[placed[turn]] if turn < len(placed) else None


def check_script(script: ReplayableGame) -> None:
    """Raises RunError if the record of ``script`` does not follow from its deck and moves, or has
    an unknown kind of fault; NotationError if its deck is none.
    """
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


class Resumed(NamedTuple):
    """A recorded game up to a turn, from which it can be played on.

    ``script``  the recorded game
    ``turn``    the number of placements after which the game is played on
    ``past``    the moves before that, including passes
    ``gone``    the faults by which seats had left the game before that
    ``state``   the position, before the mover is asked or passes
    """

    script: ReplayableGame
    turn: int
    past: tuple[str, ...]
    gone: tuple[Fault, ...]
    state: State

    @property
    def absent(self) -> list[int]:
        """The seats that had left the game before ``turn``, in ascending order."""
        return sorted(fault.seat for fault in self.gone)

    def plan(self, bots: Sequence[str], seeds: Sequence[int] | None = None) -> GamePlan:
        """The plan of a game that continues from here, between ``bots`` by seat. The bots get the
        recorded seeds unless ``seeds`` are given.
        """
        record = self.script.record
        return replace(
            self.script.plan,
            id=resumed_id(record, self.turn, bots),
            bots=tuple(bots),
            seeds=tuple(seeds or self.script.seeds),
            past=self.past,
            gone=self.gone,
            settings=self.script.settings if list(bots) == record.bots else (),
        )


def resumed(script: ReplayableGame, turn: int) -> Resumed:
    """The recorded game after ``turn`` placements. Raises RunError if the record does not follow
    from its deck and moves, or if no move is left to play; NotationError if its deck is none.
    """
    check_script(script)
    record = script.record
    # A seat that forfeited after the last placement was still to move.
    has_late_fault = any(fault.turn == record.turns for fault in record.faults)
    last = record.turns if has_late_fault else record.turns - 1
    if not 0 <= turn <= last:
        raise RunError(
            f"{record.id}: expected a turn from 0 to {last}, got {turn}",
            f"the game was over after {record.turns} placements"
            if last >= 0
            else "the game was over before its first move",
        )
    placed = placed_at(record.moves)
    past = record.moves[: placed[turn - 1] + 1] if turn else []
    gone = [fault for fault in record.faults if fault.turn < turn]
    played = replace(record, faults=gone, moves=past)
    state = start_state(played, script.board)
    for state, _ in positions(played, script.board):  # noqa: B007 - as it is after the last
        pass
    for fault in gone:
        state.retire(fault.seat)
    return Resumed(script, turn, tuple(past), tuple(gone), state)


def resumed_id(record: GameRecord, turn: int, bots: Sequence[str]) -> str:
    """The id of the game that continues ``record`` after ``turn`` placements between ``bots``, such
    as ``bird@20/greedy+my-bot/3/1``.
    """
    return f"{record.board}@{turn}/{'+'.join(bots)}/{record.deal}/{record.seating}"


def first_difference(old: GameRecord, new: GameRecord) -> int | None:
    """The number of placements after which the moves of ``new`` first differ from those of ``old``,
    a game with the same start; None if they never do.
    """
    placements = 0
    for then, now in zip_longest(old.moves, new.moves):
        if then != now:
            return placements
        if then != PASSED:
            placements += 1
    return None
