"""How a version moves beside the one before it: both are asked for the decisions of the older one
in some of its games.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from heapq import nlargest
from operator import itemgetter
from typing import NamedTuple

from arena.match.replay import retire_faulty, start_state
from arena.match.retrace import Decision
from arena.players.folder import Bot
from arena.players.sandbox.tiers import Sandbox
from arena.records.changes import DEEDS, MOST_EXAMPLES, STAGES, Changes, Deed, Example
from arena.records.record import GameRecord
from arena.rules.boards import Board
from arena.rules.game import PASSED, Event, State, play_text
from arena.rules.positions import position_text
from arena.tournament.regress import Compared, compare_decisions
from arena.tournament.scripts import Scripts

GAMES = 8
"""A version is asked for the decisions of so many games, some 200: they cost it a twentieth of
what it takes to place it.
"""


class Effect(NamedTuple):
    """What a move does for the seat that makes it: what it comes to, how many pagodas it
    places, and how well the seat then stands by the arena's outlook.
    """

    deeds: list[Deed]
    pagodas: int
    outlook: int


def changes_between(
    scripts: Scripts, before: Bot, new: Bot, sandbox: Sandbox, jobs: int, when: str
) -> Changes:
    """Asks both versions, which must have been staged. Raises RunError, ConfigError, Void."""
    games = games_to_ask(scripts, before.label)
    tally = Weighing()
    for compared, (record, seat) in zip(
        compare_decisions(scripts, games, new, sandbox, jobs), games, strict=True
    ):
        tally.add(compared, record, scripts.of(record).board, seat)
    again = [
        decision.new != decision.old
        for compared in compare_decisions(scripts, games, before, sandbox, jobs)
        for decision in compared.decisions
    ]
    return Changes(
        v=1,
        bot=new.label,
        before=before.label,
        when=when,
        games=len(games),
        asked=tally.asked,
        other=tally.other,
        faults=tally.faults,
        again=(len(again), sum(again)),
        moves=tally.moves,
        deeds={name: (old, now) for name, (old, now) in tally.deeds.items()},
        pagodas=(tally.pagodas[0], tally.pagodas[1]),
        examples=[example for _, example in nlargest(MOST_EXAMPLES, tally.examples, itemgetter(0))],
    )


def games_to_ask(scripts: Scripts, bot: str) -> list[tuple[GameRecord, int]]:
    """Some games of a bot with its seat, from first to last, one of a block and in all seatings in
    turn. Only such whose deal is over, and in which nobody forfeited.
    """
    blocks = defaultdict[str, list[tuple[GameRecord, int]]](list)
    for record, seat in scripts.games_of(bot):
        blocks[record.id.rpartition("/")[0]].append((record, seat))
    most = max(map(len, blocks.values()), default=0)
    whole = [games for games in blocks.values() if len(games) == most]
    fair = [games for games in whole if not any(record.faults for record, _ in games)]
    step = max(1, len(fair) // GAMES)
    return [games[at % most] for at, games in enumerate(fair[::step][:GAMES])]


class Weighing:
    """What the decisions come to; the fields are those of `Changes`. ``examples`` are one of each
    game, with how far the outlooks after the two moves are apart.
    """

    def __init__(self) -> None:
        self.asked, self.other = [0] * STAGES, [0] * STAGES
        self.faults = self.moves = 0
        self.deeds: dict[Deed, list[int]] = {name: [0, 0] for name in DEEDS}
        self.pagodas = [0, 0]
        self.examples: list[tuple[int, Example]] = []

    def add(self, compared: Compared, record: GameRecord, board: Board, seat: int) -> None:
        """Counts the decisions of a game."""
        decisions = {decision.turn: decision for decision in compared.decisions}
        best: tuple[int, Example] | None = None
        for state, decision in _states(record, board, seat, decisions):
            stage = min(STAGES * decision.turn // max(record.turns, 1), STAGES - 1)
            self.asked[stage] += 1
            self.other[stage] += decision.new != decision.old
            self.faults += bool(decision.fault)
            gap = self._weigh(state, decision)
            if gap > (best[0] if best else 0):
                best = gap, _example(record, seat, state, decision)
        self.examples += [best] if best else []

    def _weigh(self, state: State, decision: Decision) -> int:
        """Counts what the two moves do; how far their outlooks are apart."""
        if not (decision.old and decision.new):
            return 0
        effects = [_effect(state, text) for text in (decision.old, decision.new)]
        self.moves += 1
        for at, effect in enumerate(effects):
            self.pagodas[at] += effect.pagodas
            for name in effect.deeds:
                self.deeds[name][at] += 1
        return abs(effects[1].outlook - effects[0].outlook)


def _example(record: GameRecord, seat: int, state: State, decision: Decision) -> Example:
    placed = [text for text in record.moves if text != PASSED][: decision.turn]
    position = position_text(state, seat)
    return Example(record.id, seat, decision.turn, position, placed, decision.old, decision.new)


def _states(
    record: GameRecord, board: Board, seat: int, decisions: Mapping[int, Decision]
) -> Iterator[tuple[State, Decision]]:
    """The positions in which the seat decided; they go on with the record."""
    state = start_state(record, board)
    for text in record.moves:
        retire_faulty(state, record)
        if state.mover == seat and state.turns in decisions:
            yield state, decisions[state.turns]
        play_text(state, text)


def _effect(state: State, text: str) -> Effect:
    seat, after, events = state.mover, state.copy(), list[Event]()
    play_text(after, text, events)
    own = {event.name for event in events if event.seat == seat}
    deeds = [name for name in DEEDS if name in own]
    return Effect(deeds, state.left[seat] - after.left[seat], after.outlook(seat))
