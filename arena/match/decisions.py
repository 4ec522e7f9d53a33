"""The decisions of a recorded game: a bot is asked for them again, a fault is reproduced, and what
each cost is graded.

A game is replayed with the real referee: one bot is asked again for its seat's moves. Whatever it
answers, all seats play the recorded moves. So the referee sends the bot the same lines as in the
recorded game, byte for byte. The one exception is `time_ms` with a bank, because a record keeps the
times only roughly. Request ids count as in the first game of a process.

A grade is what a move cost against the one that a judge would have played. The judge plays the
moves on deals in which everything the seat cannot see is dealt again, and a built-in bot finishes
the games for all seats. All moves meet the same deals and the same luck. The best of many uncertain
figures is one that luck made look good. So the better move is chosen on some deals, and what it
gains is measured on others. Whoever plays what the judge would play loses nothing on average,
however few the deals.
"""

import re
import time
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from itertools import chain, count
from math import sqrt
from typing import Literal, NamedTuple

import msgspec

from arena.errors import ArenaError, FaultKind, Forfeit, RunError
from arena.match.referee import Referee, judged
from arena.match.replay import SEE, Script, check_script, positions
from arena.players.aftermath import with_own_paths
from arena.players.bot import BotPlayer, Speech
from arena.players.channel import Channel, Direction
from arena.players.folder import Bot
from arena.players.messages import FromArena, Hello, Start, encode
from arena.players.player import KEPT_BYTES, Answer, BuiltIn, Player, built_in
from arena.players.sandbox.tiers import Sandbox
from arena.players.timekeeper import NS_PER_MS
from arena.records.faults import KeptFault
from arena.records.grades import DECIMALS, HALF_WIDTH, Grade, Judge
from arena.records.record import Fault, GameRecord
from arena.rules import State
from arena.rules.boards import Board
from arena.rules.notation import PASSED, move_text, play_text
from arena.rules.playouts import Random

START = '{"type":"start",'
TURN = re.compile(r'\{"type":"turn","id":([0-9]{1,15}),')
HELLO_ID, FIRST_TURN_ID = 1, 2
ROUNDS = ((32, 50), (8, 17), (2, 6), (1, 3))
"""How many moves go on to the next round of the choice, and for how many of a grade's deals there
is one in the round (sequential halving; Karnin, Koren & Somekh 2013).
"""
OUTLOOKS = 1000
"""So much outlook at the end, for each other player, counts as much as a win when a move is chosen.
On the league's games the choice was twice as good with it as with wins alone, which are rarer news.
"""
CHOICES = 140
"""About how many legal moves there are."""
SAMPLE = 8


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


Verdict = Literal["same", "other", "answered"]


class Reproduction(NamedTuple):
    """The result of reproducing a fault.

    ``verdict``     ``same``: the same fault at the same turn; ``other``: another fault, or the same
                    one earlier; or the bot ``answered``
    ``decisions``   all decisions the bot was asked for; the last one is what counts; none if it
                    forfeited at the start and now starts
    ``sent``        the number of lines sent to the bot; ``compared`` of them are in the evidence;
                    ``differs`` is the first pair of these that is not equal, evidence first
    ``old_words``, ``new_words``  what the bot said after the last request, then and now
    """

    verdict: Verdict
    decisions: list[Decision]
    sent: int
    compared: int
    differs: tuple[str, str] | None
    old_words: list[str]
    new_words: list[str]
    ending: str
    stderr: str


def reproduce(
    script: Script, fault: Fault, kept: KeptFault | None, bot: Bot, sandbox: Sandbox, arena: str
) -> Reproduction:
    """Sends the bot what the seat was sent until it forfeited. ``kept`` is the evidence, if any;
    ``arena`` is the version of the run.

    Raises RunError, Void.
    """
    old = [(way, text) for way, _, text in kept.lines] if kept else []
    asked = sum(turn < fault.turn for turn in decisions_of(script.record, fault.seat))
    said: list[tuple[Direction, str]] = []
    speech = _as_in_the_run(arena, _first_id(old, asked), said)
    timing = script.timing
    is_start = fault.kind == FaultKind.STARTUP
    player = BotPlayer(bot, timing.startup_ms, sandbox, timing.clock, speech)
    # a bot that forfeited at the start is just started
    wanted = -1 if is_start else fault.turn
    times = kept.asked_ms if kept else ()
    try:
        decisions = retrace(script, fault.seat, player, wanted=wanted, asked_ms=times).decisions
        ending, _, written = player.evidence()
        stderr = with_own_paths(bot.base, bot.folder, written)
    finally:
        player.dismiss()
    last = next((decision for decision in decisions if decision.fault), None)
    is_same = last and last.fault == fault.kind and (is_start or last.turn == fault.turn)
    verdict: Verdict = "answered"
    if last is not None:
        verdict = "same" if is_same else "other"
    compared, differs = _compare(_sent(old), _sent(said))
    return Reproduction(
        verdict=verdict,
        decisions=decisions,
        sent=sum(way == "to" for way, _ in said),
        compared=compared,
        differs=differs,
        old_words=_words(old),
        new_words=_words(said),
        ending=ending,
        stderr=stderr,
    )


def _as_in_the_run(arena: str, first: int, said: list[tuple[Direction, str]]) -> Speech:
    """Greets the bot with the run's version of the arena, gives its requests the ids that they had
    (1 for hello, then from the ``first`` of the game), and keeps all lines in ``said``.
    """

    def in_its_version(message: FromArena) -> bytes:
        is_hello = isinstance(message, Hello)
        return encode(msgspec.structs.replace(message, arena=arena) if is_hello else message)

    def keep(direction: Direction, text: bytes, _: int, /, *, unread: bool = False) -> None:
        if not unread:
            lines = text.rstrip(b"\n").split(b"\n")
            said.extend(
                (direction, line[:KEPT_BYTES].decode(errors="backslashreplace")) for line in lines
            )

    return Speech(
        encode=in_its_version,
        numbers=lambda: chain([HELLO_ID], count(first)),
        connect=partial(Channel, tap=keep),
    )


def _first_id(old: Sequence[tuple[str, str]], asked: int) -> int:
    """The id of the game's first turn, worked out from the last id in the evidence, before which
    there were ``asked`` others.

    Unasked output is noticed before the request is sent. In that case the evidence ends with two
    lines from the bot.
    """
    ids = [int(match[1]) for way, text in old if way == "to" and (match := TURN.match(text))]
    unasked = [way for way, _ in old[-2:]] == ["from", "from"]
    return max(FIRST_TURN_ID, ids[-1] - asked + unasked) if ids else FIRST_TURN_ID


def _sent(said: Sequence[tuple[str, str]]) -> list[str]:
    """The lines to the bot since the last start, or all of them."""
    lines = [text for way, text in said if way == "to"]
    starts = [at for at, text in enumerate(lines) if text.startswith(START)]
    return lines[starts[-1] :] if starts else lines


def _compare(old: Sequence[str], new: Sequence[str]) -> tuple[int, tuple[str, str] | None]:
    """How many lines of the evidence were sent again, and the first one that differs."""
    if not old:
        return 0, None
    first = new.index(old[0]) if old[0] in new else 0
    pairs = list(zip(old, new[first:], strict=False))
    return len(pairs), next((pair for pair in pairs if pair[0] != pair[1]), None)


def _words(said: Sequence[tuple[str, str]]) -> list[str]:
    """What the bot said after the last line to it."""
    last = max((at for at, (way, _) in enumerate(said) if way == "to"), default=-1)
    return [text for _, text in said[last + 1 :]]


def gradable_turns(record: GameRecord, seats: set[int]) -> list[int]:
    """The turns at which these seats placed a tile, up to the first forfeit: nobody would know how
    the games of those who stay go on.
    """
    movers = [at % len(record.bots) for at, text in enumerate(record.moves) if text != PASSED]
    last = min((fault.turn for fault in record.faults), default=len(movers))
    return [turn for turn, seat in enumerate(movers[:last]) if seat in seats]


def grade(
    record: GameRecord, board: Board, turn: int, judge: Judge, advice: str | None = None
) -> Grade:
    """Grade the move played after ``turn`` placements. ``advice`` is the better move if an adviser
    names it; otherwise the judge finds it.

    Raises RunError if the record does not follow from its deck and moves.
    """
    luck = Random(_seed_of(record.id, turn, judge))
    for_choice = luck.next()
    for_grade = luck.next()
    try:
        state, text = next(
            (state, text)
            for state, text in positions(record, board)
            if state.turns == turn and text != PASSED
        )
        played = play_text(state.copy(), text)
        better = (
            best_move(state, judge, for_choice)
            if advice is None
            else play_text(state.copy(), advice)
        )
    except ArenaError as error:
        raise _broken(record, error) from error
    cost, error, win = _measured(state, played, better, judge, for_grade)
    return Grade(
        turn=turn,
        seat=state.mover,
        choices=state.legal_count(),
        played=move_text(board, played),
        better=move_text(board, better),
        cost=cost,
        error=error,
        win=win,
    )


def best_move(state: State, judge: Judge, seed: int) -> int:
    """The move that the judge would play for the mover, found by sequential halving."""
    luck = Random(seed)
    policy = built_in(judge.judge)
    others = state.players - 1
    moves = state.legal_moves()
    worth = dict.fromkeys(moves, 0.0)
    for keep, part in ROUNDS:
        if len(moves) <= keep:
            continue
        wins, outlooks = _rolled(state, policy, -(-judge.deals // part), luck.next(), moves)
        for move, share, outlook in zip(moves, wins, outlooks, strict=True):
            worth[move] += share + outlook / (OUTLOOKS * others)
        moves = sorted(moves, key=lambda move: -worth[move])[:keep]
    return moves[0]


def seconds_of_a_grade(start: State, judge: Judge) -> float:
    """About how much processor time a grade takes, from some games of the judge that begin in this
    state; later ones are shorter.
    """
    policy = built_in(judge.judge)
    began = time.process_time()
    _rolled(start, policy, SAMPLE, 0, [start.nth(0)])
    game = (time.process_time() - began) / SAMPLE
    sizes = [CHOICES, *(keep for keep, _ in ROUNDS)]
    games = sum(size * judge.deals / part for size, (_, part) in zip(sizes, ROUNDS, strict=False))
    return game / 2 * (games + 2 * judge.deals)


def winning_shares(record: GameRecord, board: Board, judge: Judge) -> dict[int, float]:
    """The mover's share of the win after each move up to the first forfeit, by turn: with no better
    move sought, all of a game takes less time than one grade.

    Raises RunError if the record does not follow from its deck and moves.
    """
    policy = built_in(judge.judge)
    shares = dict[int, float]()
    turns = set(gradable_turns(record, set(range(len(record.bots)))))
    try:
        for state, text in positions(record, board):
            if text != PASSED and state.turns in turns:
                move = play_text(state.copy(), text)
                seed = _seed_of(record.id, state.turns, judge)
                [won], _ = _rolled(state, policy, judge.deals, seed, [move])
                shares[state.turns] = round(won / judge.deals, DECIMALS)
    except ArenaError as error:
        raise _broken(record, error) from error
    return shares


def _rolled(
    state: State, policy: BuiltIn, times: int, seed: int, moves: list[int]
) -> tuple[Sequence[float], Sequence[float]]:
    """The wins and the outlooks of the mover after each of these moves, summed over ``times``
    deals.
    """
    _, wins, _, outlooks = state.rollouts(
        state.mover, times, seed, policy.policy, moves, policy.among
    )
    return wins, outlooks


def _measured(
    state: State, played: int, better: int, judge: Judge, seed: int
) -> tuple[float, float, float]:
    """The cost, its error, and the share of the win after the move that was played."""
    luck = Random(seed)
    policy = built_in(judge.judge)
    if better == played:
        [won], _ = _rolled(state, policy, judge.deals, seed, [played])
        return 0.0, 0.0, round(won / judge.deals, DECIMALS)
    moves = [better, played]
    shares = [_rolled(state, policy, 1, luck.next(), moves)[0] for _ in range(judge.deals)]
    won = sum(own for _, own in shares)
    return *paired([best - own for best, own in shares]), round(won / judge.deals, DECIMALS)


def paired(differences: Sequence[float]) -> tuple[float, float]:
    """The mean of paired differences of shares, and half the width of its 95 % interval.

    The interval is that of the sample with one deal more that each of the two moves wins (Bonett &
    Price 2012): if no deal tells the moves apart, that is still no proof that they are equal.
    """
    count = len(differences)
    total = sum(differences)
    squares = sum(one * one for one in differences)
    padded = count + 2
    variance = ((squares + 2) - total * total / padded) / (padded - 1)
    mean = round(total / count, DECIMALS) + 0.0
    return mean, round(HALF_WIDTH * sqrt(variance / padded), DECIMALS)


def _broken(record: GameRecord, error: ArenaError) -> RunError:
    return RunError(f"{record.id}: expected moves that the rules allow, got {error}", SEE)


def _seed_of(game: str, turn: int, judge: Judge) -> int:
    """64 bits for the deals of a decision: not those of any other, and the same for any worker."""
    digest = sha256(f"review\n{judge.seed}\n{game}\n{turn}".encode()).digest()
    return int.from_bytes(digest[:8], "big")
