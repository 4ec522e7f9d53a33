"""Where a run's games come from: one loop decides what is played next, for every kind of run, and
a few functions open further games for it. A deal is played in one place at a time.

Bots can leave word for each other on a machine in ways that no sandbox closes (docs/security.md).
Whoever has played a deal knows the hands and the pile. So a batch has the games of one line-up on
one board in one seating, on different deals, and workers play it with processes of its own; and
while a deal is being played, no other batch has a game on it. Pure: no clock, no files.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Container, Iterator, Sequence
from itertools import count, islice
from math import ceil
from typing import NamedTuple

from arena.errors import ConfigError
from arena.match.referee import GamePlan
from arena.records.record import NO_MARGINS, GameRecord, Margins, margins, shares
from arena.tournament.config import RunConfig
from arena.tournament.lineups import opponents
from arena.tournament.schedule import Schedule
from arena.tournament.settings import MOST_DEALS

MOST_DEALS_AT_ONCE = 20
"""The most deals in a batch, of games so quick that it takes about a second. It starts the bots'
processes, which costs as much as a few of these games.
"""
MOST_COMPARED = 10
"""The same in a comparison, where the games that are out when it is settled were played in vain."""
DEALS_A_DRAW = 4
"""Deals that a league draws a line-up for at a time, on all boards together: a batch of so many
games is worth the start of its bots' processes, and a few of these place a candidate.
"""
WHOLE = 12
"""A win in integer parts, which 1, 2, 3 or 4 winners can share evenly."""


class Lane:
    """Batches that wait, in the order in which they are wanted; ``rest`` gives the next ones once
    these are gone. Those that ``share`` their deals need not be apart from others.
    """

    def __init__(
        self,
        batches: Sequence[list[GamePlan]] = (),
        rest: Iterator[list[list[GamePlan]]] | None = None,
        *,
        share: bool = False,
    ) -> None:
        self.waiting = list(batches)
        self._rest = rest or iter(())
        self._share = share

    def has_more(self) -> bool:
        """Whether there are batches left to take."""
        self.waiting = self.waiting or next(self._rest, [])
        return bool(self.waiting)

    def take(self, room: int, decks_out: Container[str]) -> list[GamePlan]:
        """The first batch, or its beginning, that has no deal that is out; empty if none."""
        if self.has_more():
            for place, batch in enumerate(self.waiting):
                if self._share or not any(plan.deck in decks_out for plan in batch):
                    self.waiting[place : place + 1] = [batch[room:]] if batch[room:] else []
                    return batch[:room]
        return []


class Games:
    """The games of a session: issues them until each has ended or was given up.

    ``more`` opens another lane, asked only if no batch of the open ones can be played now; None if
    there is none, for now. ``count`` hears of every game in the journal. ``ends`` says whether the
    session is over before all has been played. ``room`` is that of the last batch, and ``out`` has
    the deck of each game that is being played; ``has_gaps`` if one was given up.
    """

    def __init__(
        self,
        more: "More",
        count: Callable[[GameRecord], object] = lambda _: None,
        ends: Callable[["Games"], bool] = lambda _: False,
    ) -> None:
        self._more, self._count, self._ends = more, count, ends
        self._returned = Lane()
        self.lanes: list[Lane] = []
        # Games on the same deal have the same deck, and no others have.
        self.out: dict[str, str] = {}
        self._decks_out: set[str] = set()
        self._barred: set[str] = set()
        self.room = 1
        self.has_gaps = False

    @property
    def is_over(self) -> bool:
        """Whether no more games are needed, not even those that are out."""
        return self._ends(self) or not (self.out or self._has_waiting())

    def _has_waiting(self) -> bool:
        while not any(lane.has_more() for lane in (self._returned, *self.lanes)):
            if not self._open_lane():
                return False
        return True

    def _open_lane(self) -> bool:
        self.lanes = [lane for lane in self.lanes if lane.has_more()]
        lane = self._more(self)
        self.lanes += [lane] if lane else []
        return lane is not None

    def issue(self, room: int, is_stopping: Callable[[], bool] = lambda: False) -> list[GamePlan]:
        """A batch for one worker, of at most ``room`` games; empty means none for now. A plan may
        have millions for a bot that plays no more: meanwhile it looks whether all ``is_stopping``.
        """
        self.room = room
        while not (is_stopping() or self._ends(self)) and (batch := self._next(room)):
            games = [plan for plan in batch if self._barred.isdisjoint(plan.bots)]
            self.has_gaps |= len(games) < len(batch)
            if games:
                self.out |= {plan.id: plan.deck for plan in games}
                self._decks_out |= {plan.deck for plan in games}
                return games
        return []

    def _next(self, room: int) -> list[GamePlan]:
        for lane in (self._returned, *self.lanes):
            if batch := lane.take(room, self._decks_out):
                return batch
        while self._open_lane():
            if batch := self.lanes[-1].take(room, self._decks_out):
                return batch
        return []

    def ended(self, record: GameRecord) -> None:
        """A game is in the journal: its deal may be played elsewhere."""
        self._is_back(record.id)
        self._count(record)

    def give_back(self, batch: Sequence[GamePlan]) -> None:
        """Games were not played: they are the next."""
        for plan in batch:
            self._is_back(plan.id)
        self._returned.waiting.append(list(batch))

    def give_up(self, plan: GamePlan) -> None:
        """A game cannot be played in this session."""
        self._is_back(plan.id)
        self.has_gaps = True

    def bar(self, bot: str) -> None:
        """A bot plays no more: its games are given up."""
        self._barred.add(bot)

    def _is_back(self, name: str) -> None:
        # A game that two workers played, because one was thought lost, comes back twice.
        self._decks_out.discard(self.out.pop(name, ""))


More = Callable[[Games], Lane | None]


def lanes_of(schedule: Schedule, ids: Container[str], places: Callable[[], int]) -> More:
    """The games of a plan whose ids are not among these. ``places`` says how many workers there
    are. Bots of the arena, without processes, cannot remember: they play game by game, in order.
    """
    if not schedule.config.in_process:
        return in_chunks(schedule, ids, places)
    plans = schedule.missing(ids)

    def more(games: Games) -> Lane | None:
        batch = list(islice(plans, games.room))
        return Lane([batch], share=True) if batch else None

    return more


def in_chunks(
    schedule: Schedule,
    ids: Container[str],
    places: Callable[[], int],
    first: int = 0,
    planned: Callable[[GamePlan], GamePlan] = lambda plan: plan,
) -> More:
    """Games in chunks of deals, which all line-ups play before the next chunk; in a chunk, the
    batches of one line-up are all played before the next line-up's.

    A chunk is one deal at first, then at most half as many as there were before, so that all
    line-ups have played about the same number of games whenever a run is stopped. There are about
    as many open ones as workers. Where sets of opponents take turns, the deals of each set are a
    chunk. The deals before the ``first`` one have been played. ``planned`` has the last word on
    each game.
    """
    ahead, begun, turns, last = deque[range](), first, schedule.turns, schedule.last_deal
    opened, deals = count(first), ceil(last / turns)
    most = MOST_DEALS_AT_ONCE if schedule.config.compare is None else MOST_COMPARED

    def more(games: Games) -> Lane | None:
        nonlocal begun
        if not ahead and begun < deals:
            workers, left = max(1, places()), deals - begun
            idle = max(1, workers - len(games.lanes))
            size = min(most, games.room, begun // 2, ceil(deals / workers), ceil(left / idle))
            numbers = range(begun * turns, min(last, (begun + max(1, size)) * turns))
            begun = min(begun + max(1, size), deals)
            ahead.extend(filter(None, (numbers[turn::turns] for turn in range(turns))))
        if not ahead:
            return None
        line_ups = schedule.batches(ahead.popleft(), ids, next(opened))
        return Lane(rest=([[*map(planned, batch)] for batch in batches] for batches in line_ups))

    return more


def in_rounds(first: More, decide: Callable[[], More | None]) -> More:
    """Rounds of games: when all of one have ended, so that the answer does not depend on the number
    of workers, ``decide`` gives those of the next, or None at the end. A round that cannot be
    completed is the last.
    """
    current: More | None = first

    def more(games: Games) -> Lane | None:
        nonlocal current
        while current:
            lane = current(games)
            if lane or games.out:
                return lane
            current = None if games.has_gaps else decide()
            games.room = 1  # each round begins with small chunks
        return None

    return more


def as_drawn(
    before: Sequence[list[GamePlan]], draw: Callable[[], Sequence[list[GamePlan]]]
) -> More:
    """Games of a league: some batches were drawn ``before`` and not played, and ``draw`` gives
    those of a line-up on fresh deals, none if the league ends or nobody can play.
    """
    waiting = list(before)

    def more(_: Games) -> Lane | None:
        batches = waiting.copy() or draw()
        waiting.clear()
        return Lane(batches) if batches else None

    return more


class Block(NamedTuple):
    """One deal on one board, played by both bots in the same seats: each bot's mean share of the
    win, and the set of opponents; for a test by margin also both bots' sorted margins.
    """

    new: float
    old: float
    group: int
    margins: Margins = NO_MARGINS


_Got = tuple[int, float | None]
"""A bot's share of a game in parts of `WHOLE`, so that order does not matter, and its margin."""


class ComparedGames:
    """The blocks of a comparison, counted game by game, until its judge has seen enough.

    ``judge`` gets one round of blocks at a time, one block for each board and set of opponents, in
    the order of deals and boards, and says whether that is enough. So a comparison gives the same
    answer at the same block, in whatever order games happen to end. After that it is not asked
    again, and ``settled`` is the number of deals it looked at; until then it is None.
    ``block_size`` is the number of games in a block, ``round_size`` that of blocks in a round.
    """

    def __init__(self, schedule: Schedule, judge: Callable[[Sequence[Block]], bool]) -> None:
        config = schedule.config
        if config.compare is None:
            raise ConfigError(
                "expected a run that compares two bots, got a tournament", "choose another --out"
            )
        self._config, self._compare, self._judge = config, config.compare, judge
        self._groups = schedule.turns
        self.block_size = schedule.block_size * (2 if config.pool else 1)
        self.round_size = self._groups * len(config.boards)
        self._whole = schedule.block_size * WHOLE
        self._open = defaultdict[tuple[str, int], list[tuple[_Got, _Got]]](list)
        self._looked_at = 0
        self.settled: int | None = None

    def games(self, more: More) -> Games:
        """What is to be played, until no game can change the answer: it is there, or a block cannot
        be completed, and those after it do not count without it.
        """
        return Games(more, self.count, lambda games: self.settled is not None or games.has_gaps)

    def count(self, record: GameRecord) -> None:
        """Counts a game of this or an earlier session."""
        won = dict(zip(record.bots, shares(record.ranks), strict=True))
        by_margin = self._compare.by != "wins"
        margin = dict(zip(record.bots, margins(record), strict=True)) if by_margin else {}
        new, old = (
            (round(won.get(bot, 0) * WHOLE), margin.get(bot))
            for bot in (self._compare.new, self._compare.old)
        )
        self._open[record.board, record.deal].append((new, old))
        while self.settled is None and self._looked_at < self._config.deals:
            deals = range(self._looked_at, self._looked_at + self._groups)
            places = [(board, deal) for deal in deals for board in self._config.boards]
            if any(len(self._open.get(place, ())) != self.block_size for place in places):
                break
            self._looked_at = deals.stop
            if self._judge([*map(self._block, places)]):
                self.settled = self._looked_at

    def _block(self, place: tuple[str, int]) -> Block:
        new, old = zip(*self._open.pop(place), strict=True)
        won = [sum(won for won, _ in of_bot) / self._whole for of_bot in (new, old)]
        known = [sorted(by for _, by in of_bot if by is not None) for of_bot in (new, old)]
        return Block(won[0], won[1], place[1] % self._groups, (tuple(known[0]), tuple(known[1])))


def deals_for(config: RunConfig, blocks: int) -> int:
    """The deals on each board for this many blocks, rounded up to complete rounds. Raises
    ConfigError for too many.
    """
    groups = len(opponents(config))
    deals = ceil(blocks / (groups * len(config.boards))) * groups
    if deals > MOST_DEALS:
        raise ConfigError(
            f"expected at most {MOST_DEALS:,} deals on a board, got {deals:,} for"
            f" {blocks:,} blocks",
            "use a smaller --games",
        )
    return deals
