"""The games of a run in the order in which they are played. `Games` decides for every kind of run
which batch comes next; for each kind of run there is a function that opens queues of batches.

Bots can leave messages for each other on a machine in ways that no sandbox closes
(docs/security.md), and a bot that has played a deal knows its hands and its draw pile. So a batch
has games of one line-up on one board, a round of them for each seating; in a round each game is on
another deal. A worker plays a batch with processes of its own. While a game on a deal is in flight
(issued and not ended), no other batch has a game on that deal. `Games` tells the worker for each
game whether its deal ends with the batch; only then may a process that knows the deal live on. The
module uses no clock and no files.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Container, Sequence
from itertools import count, islice, product
from math import ceil
from typing import NamedTuple

from msgspec.structs import replace

from arena.errors import ConfigError
from arena.match.referee import GamePlan
from arena.records.config import RunConfig
from arena.records.record import DEALS, NO_MARGINS, WHOLE, GameRecord, Margins, margins, shares
from arena.tournament.batch_queue import BatchQueue
from arena.tournament.lineups import opponents
from arena.tournament.schedule import Schedule

MAX_DEALS_AT_ONCE = 20
"""The most deals in a batch. Quick games on so many deals take about a second. Starting the bots'
processes, which a batch needs once, costs as much as a few of the games.
"""
MAX_COMPARED = 10
"""The most deals in a batch of a comparison. It is small because games that are in flight when the
comparison is decided have been played in vain.
"""
CHUNK_GAMES = 18
"""About the number of games in the first chunks of deals of a run, so that bots' processes, which
start anew for every batch, play a few games each.
"""
DEALS_A_DRAW = 4
"""The number of deals that a league draws for a line-up at a time, on all boards together. So many
games are worth the start of the bots' processes; and a few such draws place a candidate.
"""


class Games:
    """Issues the games of a session. A game that fails can be issued again, until it has ended or
    is given up.

    ``opener``     opens a further queue of batches; called only if no batch of the open queues can
                   be played now; returns None if there is none for now
    ``count``      called with the record of every game that has ended
    ``ends``       called with this object; returns whether the session is over before all games are
                   played
    ``queues``     the open queues
    ``capacity``   the number of games that were asked for last
    ``in_flight``  the deck of each game that has been issued and has not ended, by its id
    ``has_gaps``   whether a game was given up, or left out because its bot is excluded
    """

    def __init__(
        self,
        opener: "QueueOpener",
        count: Callable[[GameRecord], object] = lambda _: None,
        ends: Callable[["Games"], bool] = lambda _: False,
    ) -> None:
        self._opener = opener
        self._count = count
        self._ends = ends
        self._requeued = BatchQueue()
        self.queues: list[BatchQueue] = []
        # Games on one deal have the same deck, and games on different deals never do.
        self.in_flight: dict[str, str] = {}
        self._decks_in_flight = Counter[str]()
        self._barred: set[str] = set()
        self.capacity = CHUNK_GAMES
        self.has_gaps = False

    @property
    def is_over(self) -> bool:
        """Whether the session needs no more games, not even those that are in flight."""
        return self._ends(self) or not (self.in_flight or self._has_waiting())

    def _has_waiting(self) -> bool:
        """Whether an open queue has a batch; opens further queues to find one."""
        while not any(queue.has_more() for queue in (self._requeued, *self.queues)):
            if not self._open_queue():
                return False
        return True

    def _open_queue(self) -> bool:
        """Opens another queue, and drops those whose games have all ended. Returns False if there
        was no queue to open.
        """
        self.queues = [queue for queue in self.queues if not self._has_ended(queue)]
        queue = self._opener(self)
        if queue is None:
            return False
        self.queues.append(queue)
        return True

    def _has_ended(self, queue: BatchQueue) -> bool:
        """Whether all games of a queue have ended."""
        return not queue.has_more() and self.in_flight.keys().isdisjoint(queue.issued)

    def issue(
        self, capacity: int, is_stopping: Callable[[], bool] = lambda: False
    ) -> list[GamePlan]:
        """Issues a batch of at most ``capacity`` games to one worker; an empty list if there is
        none for now.

        Games of excluded bots are skipped, and a plan may have millions of them. So ``is_stopping``
        is called from time to time; when it returns True, no batch is issued.
        """
        self.capacity = capacity
        while not (is_stopping() or self._ends(self)):
            batch = self._next(capacity)
            if not batch:
                break
            games = [plan for plan in batch if self._barred.isdisjoint(plan.bots)]
            self.has_gaps |= len(games) < len(batch)
            if games:
                self._take_off(games)
                return self._with_ends(games)
        return []

    def _take_off(self, games: list[GamePlan]) -> None:
        """Notes that these games are in flight from now on."""
        for plan in games:
            self._land(plan.id)  # a game that is issued twice counts once
            self.in_flight[plan.id] = plan.deck
            self._decks_in_flight[plan.deck] += 1

    def _with_ends(self, games: list[GamePlan]) -> list[GamePlan]:
        """Copies of ``games`` in which ``ends_deal`` is False if other games on the deal wait."""
        if not any(plan.ends_deal for plan in games):
            return games
        waiting = self._requeued.waiting_decks()
        for queue in self.queues:
            waiting |= queue.waiting_decks()
        plans = []
        for plan in games:
            ends_deal = plan.ends_deal and plan.deck not in waiting
            plans.append(replace(plan, ends_deal=ends_deal))
        return plans

    def _next(self, capacity: int) -> list[GamePlan]:
        """The next games to play, at most ``capacity``, all of one batch: from the games that were
        put back, from the open queues, or else from further queues, which are opened until one has
        a batch that can be played now. An empty list if there are none for now.
        """
        for queue in (self._requeued, *self.queues):
            if batch := queue.take(capacity, self._decks_in_flight):
                return batch
        while self._open_queue():
            if batch := self.queues[-1].take(capacity, self._decks_in_flight):
                return batch
        return []

    def ended(self, record: GameRecord) -> None:
        """Notes that a game has ended and is in the journal, so that other games on its deal may be
        issued.
        """
        self._land(record.id)
        self._count(record)

    def requeue(self, batch: Sequence[GamePlan]) -> None:
        """Puts back games that were issued but not played; they are issued before all others."""
        for plan in batch:
            self._land(plan.id)
        self._requeued.waiting.append(list(batch))

    def give_up(self, plan: GamePlan) -> None:
        """Notes that this game will not be played in this session."""
        self._land(plan.id)
        self.has_gaps = True

    def bar(self, bot: str) -> None:
        """Excludes the bot labelled ``bot``: none of its games are issued any more."""
        self._barred.add(bot)

    def _land(self, name: str) -> None:
        """Notes that the game with this id is no longer in flight. Its deal is free when no other
        game on the deal is in flight.
        """
        # A game comes back twice if two workers played it, because one was thought lost.
        deck = self.in_flight.pop(name, None)
        if deck is None:
            return
        self._decks_in_flight[deck] -= 1
        if not self._decks_in_flight[deck]:
            del self._decks_in_flight[deck]


QueueOpener = Callable[[Games], BatchQueue | None]
"""A function that opens the next queue of batches for a session, or returns None if there is none
for now.
"""


def planned_games(
    schedule: Schedule, played: Container[str], slots: Callable[[], int]
) -> QueueOpener:
    """Returns a function that opens the queues for the games of a plan whose ids are not in
    ``played``. ``slots`` returns how many games can be played at the same time. If all bots are
    built in, the games come one after the other in the order of the plan, because such bots cannot
    remember a deal.
    """
    if not schedule.config.in_process:
        return in_chunks(schedule, played, slots)
    plans = schedule.missing(played)

    def opener(games: Games) -> BatchQueue | None:
        """Opens a queue with the next games of the plan."""
        batch = list(islice(plans, games.capacity))
        return BatchQueue([batch], share=True) if batch else None

    return opener


def in_chunks(
    schedule: Schedule,
    played: Container[str],
    slots: Callable[[], int],
    first: int = 0,
    planned: Callable[[GamePlan], GamePlan] = lambda plan: plan,
) -> QueueOpener:
    """Returns a function that opens a queue for each chunk of deals, from the deal ``first`` on.
    All line-ups play a chunk before the next one; within a chunk, all batches of one line-up are
    played before the next line-up's.

    A chunk has at most half as many deals as there were before it (or the deals that make
    `CHUNK_GAMES` games, if that is more), so that whenever a run is stopped, all line-ups have
    played about the same number of games. Chunks are smaller if that keeps more workers busy. A
    comparison, which may be decided after a few deals, begins with single deals. There are about as
    many open chunks as ``slots`` returns. Where sets of opponents take turns, the deals of each set
    are a chunk. Games whose ids are in ``played`` are left out; ``planned`` may change each of the
    others.
    """
    config = schedule.config
    turns = schedule.turns
    last = schedule.last_deal
    rounds = ceil(last / turns)  # with one set of opponents, a round is a deal
    if config.compare is None:
        most = MAX_DEALS_AT_ONCE
        least = max(1, CHUNK_GAMES * last // max(1, schedule.games))
    else:
        most = MAX_COMPARED
        least = 1
    ahead = deque[range]()
    begun = first // turns
    number_of_chunk = count(first)

    def planned_batches(batches: list[list[GamePlan]]) -> list[list[GamePlan]]:
        return [list(map(planned, batch)) for batch in batches]

    def opener(games: Games) -> BatchQueue | None:
        """Opens a queue with the next chunk of deals."""
        nonlocal begun
        if not ahead and begun < rounds:
            workers = max(1, slots())
            idle = max(1, workers - len(games.queues))
            left = rounds - begun
            fair = max(least, begun // 2)
            size = min(most, games.capacity, fair, ceil(rounds / workers), ceil(left / idle))
            end = begun + max(1, size)
            numbers = range(max(first, begun * turns), min(last, end * turns))
            begun = min(end, rounds)
            chunks = (numbers[turn::turns] for turn in range(turns))
            ahead.extend(filter(None, chunks))
        if not ahead:
            return None
        line_ups = schedule.batches(ahead.popleft(), played, next(number_of_chunk))
        return BatchQueue(refill=map(planned_batches, line_ups))

    return opener


def in_rounds(first: QueueOpener, decide: Callable[[], QueueOpener | None]) -> QueueOpener:
    """Returns a function that opens the queues of rounds of games, beginning with those of
    ``first``. When all games of a round have ended, ``decide`` returns the opener of the next
    round, or None at the end. So what it decides does not depend on the number of workers. A round
    in which a game was given up is the last one.
    """
    current: QueueOpener | None = first

    def opener(games: Games) -> BatchQueue | None:
        """Opens the next queue of this round, or of the next one when all games of this round have
        ended.
        """
        nonlocal current
        while current:
            queue = current(games)
            if queue or games.in_flight:
                return queue
            current = None if games.has_gaps else decide()
            games.capacity = CHUNK_GAMES  # each round begins with small chunks
        return None

    return opener


def as_drawn(
    before: Sequence[list[GamePlan]], draw: Callable[[], Sequence[list[GamePlan]]]
) -> QueueOpener:
    """Returns a function that opens the queues of a league: first one with the batches that were
    drawn ``before`` and not played, then one for each call of ``draw``. ``draw`` draws a line-up
    with fresh deals and returns its batches; none if the league ends or too few bots can play.
    """
    waiting = list(before)

    def opener(_: Games) -> BatchQueue | None:
        """Opens a queue with the batches of the next draw."""
        batches = waiting.copy() or draw()
        waiting.clear()
        return BatchQueue(batches) if batches else None

    return opener


class Block(NamedTuple):
    """One deal on one board, which both compared bots played in the same seats against the same
    opponents: the mean share of the win of the ``new`` bot and of the ``old`` one, and the number
    of their set of opponents (``group``).

    In a test by margin, ``margins`` has two tuples, that of the new bot and then that of the old
    one: by how much the bot won or lost each of its games (see `records.record.margins`), in
    ascending order. In a test by wins both are empty.
    """

    new: float
    old: float
    group: int
    margins: Margins = NO_MARGINS


class _GameScore(NamedTuple):
    """A bot's share of a game in parts of `WHOLE`, and its margin; None in a test
    that counts wins.
    """

    parts: int
    margin: int | None


class ComparedGames:
    """The blocks of a comparison, counted game by game, until its test is decided. Raises
    ConfigError if the run is no comparison.

    ``is_decided`` is called with one round of blocks at a time and returns whether the test is
    decided now. A round has one block for each board and set of opponents; rounds come in the order
    of their deals. So a comparison gives the same answer after the same block, in whatever order
    games happen to end. Once the test is decided, the function is not called again.

    ``block_size``  the number of games in a block
    ``round_size``  the number of blocks in a round
    ``settled``     the number of deals on which the test is based; None until it is decided
    ``same_blocks`` the number of blocks in which the two bots played the same moves, see
                    `_is_same_block`
    """

    def __init__(self, schedule: Schedule, is_decided: Callable[[Sequence[Block]], bool]) -> None:
        config = schedule.config
        if config.compare is None:
            raise ConfigError("this run is a tournament, not a comparison", "choose another --out")
        self._config = config
        self._compare = config.compare
        self._is_decided = is_decided
        self._groups = schedule.turns
        self.block_size = config.games_a_block
        self.round_size = self._groups * len(config.boards)
        self._parts_of_block = schedule.block_size * WHOLE
        # By board and deal: the scores of the new bot and the old one in each game.
        self._open = defaultdict[tuple[str, int], list[tuple[_GameScore, _GameScore]]](list)
        self._records = defaultdict[tuple[str, int], list[GameRecord]](list)
        self._looked_at = 0
        self.settled: int | None = None
        self.same_blocks = 0

    def games(self, opener: QueueOpener) -> Games:
        """The games to play, from the queues of ``opener``, until the test is decided, or until a
        game is given up: its block cannot be completed, and later blocks do not count without it.
        """
        return Games(opener, self.count, lambda games: self.settled is not None or games.has_gaps)

    def count(self, record: GameRecord) -> None:
        """Counts a game that was played in this or an earlier session."""
        new = self._score(record, self._compare.new)
        old = self._score(record, self._compare.old)
        self._open[record.board, record.deal].append((new, old))
        self._records[record.board, record.deal].append(record)
        while self.settled is None and self._looked_at < self._config.deals:
            deals = range(self._looked_at, self._looked_at + self._groups)
            places = [(board, deal) for deal, board in product(deals, self._config.boards)]
            games_of_places = {len(self._open.get(place, ())) for place in places}
            if games_of_places != {self.block_size}:
                break
            self._looked_at = deals.stop
            if self._is_decided(list(map(self._block, places))):
                self.settled = self._looked_at

    def _is_same_block(self, records: Sequence[GameRecord]) -> bool:
        """Whether the two bots played alike in the games of a block, ``records``: without a pool,
        every game of the block has the same moves; with a pool, the games of the two bots in one
        seating have. A block with a forfeit does not count as one.
        """
        if any(record.faults or not record.moves for record in records):
            return False
        played = defaultdict[int, set[tuple[str, ...]]](set)
        for record in records:
            seating = record.seating if self._config.pool else 0
            played[seating].add(tuple(record.moves))
        return set(map(len, played.values())) == {1}

    def _score(self, record: GameRecord, bot: str) -> _GameScore:
        """The score of one of the two compared bots in a game; no share and no margin if the bot
        did not play in it, as in comparisons with a pool of opponents.
        """
        if bot not in record.bots:
            return _GameScore(0, None)
        seat = record.bots.index(bot)
        parts = round(shares(record.ranks)[seat] * WHOLE)
        margin = margins(record)[seat] if self._compare.by != "wins" else None
        return _GameScore(parts, margin)

    def _block(self, place: tuple[str, int]) -> Block:
        """The complete block at ``place``, a board and a deal. Its scores are then forgotten."""
        games = self._open.pop(place)
        if self._is_same_block(self._records.pop(place)):
            self.same_blocks += 1
        new, old = zip(*games, strict=True)
        _, deal = place
        return Block(
            new=self._share_of_block(new),
            old=self._share_of_block(old),
            group=deal % self._groups,
            margins=(_sorted_margins(new), _sorted_margins(old)),
        )

    def _share_of_block(self, scores: Sequence[_GameScore]) -> float:
        """The share of a block that one of the two bots won, given its scores in the games."""
        return sum(score.parts for score in scores) / self._parts_of_block


def _sorted_margins(scores: Sequence[_GameScore]) -> tuple[int, ...]:
    """The margins in these scores, in ascending order."""
    margins = [score.margin for score in scores if score.margin is not None]
    return tuple(sorted(margins))


def deals_for(config: RunConfig, blocks: int) -> int:
    """How many deals on each board make ``blocks`` blocks of a comparison, rounded up to complete
    rounds. Raises ConfigError for more deals than a board has.
    """
    groups = len(opponents(config))
    deals = ceil(blocks / (groups * len(config.boards))) * groups
    if deals > DEALS:
        raise ConfigError(
            f"{blocks:,} blocks need {deals:,} deals on a board, and a run has at most {DEALS:,}",
            "use a smaller --games",
        )
    return deals
