r"""The games of a run and their order, with ids that never change when deals or bots are added, and
their decks and seeds. Uses no clock and no files.

A game's id is ``board/line-up/deal/seating``; the line-up is its bots' names sorted and joined by
``+``.

Decks and seeds follow from the run's seed by SHA-256, so that any language can reproduce them. The
deck of a deal is the 72 tiles sorted by ``sha256("deck\n" SEED "\n" BOARD "\n" DEAL "\n" NUMBER)``,
where the tiles are numbered from 0: twelve RR, twelve YY, and so on. Where each game has its own
deck (``--seatings single``), BOARD is followed by ``/`` and the line-up, as in the game's id. A bot
cannot work out a deck or a seed from the messages that it gets.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from hashlib import sha256
from itertools import chain, permutations
from math import inf
from zlib import crc32

from arena.match.referee import GamePlan
from arena.records.config import RunConfig
from arena.records.league import Drawn
from arena.rules.notation import deck_sorted
from arena.tournament.lineups import LineUp, compared, line_ups_of, opponents

SEED_BITS = 31
"""The number of bits of a bot's seed."""
MAX_SEATINGS = 4
"""A batch has all seatings of its deals if there are at most this many. For every further seating
the worker needs another process of each bot, because a process never plays a deal twice.
"""
NO_DEALS = range(0)
"""An empty range of deals."""


@lru_cache(maxsize=4096)
def deck_of(seed: str, board: str, deal: int) -> str:
    """The deck of a deal in a run with this seed, as text in draw order. ``board`` is the name of
    the board or, where each game has its own deck, ``board/line-up``.
    """
    prefix = sha256(f"deck\n{seed}\n{board}\n{deal}\n".encode())

    def key(number: int) -> bytes:
        """The key by which the tile with this number is sorted."""
        digest = prefix.copy()
        digest.update(str(number).encode())
        return digest.digest()

    return deck_sorted(key)


def bot_seed(seed: str, game: str, seat: int) -> int:
    """The seed of the bot at ``seat`` in the game with the id ``game``, in a run whose seed is
    ``seed``; it has 31 bits, so that every language can store it.
    """
    digest = sha256(f"bot\n{seed}\n{game}\n{seat}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> (32 - SEED_BITS)


def seatings(players: int, which: str) -> list[tuple[int, ...]]:
    """The seatings for this number of players, each giving for each seat the index of a bot in the
    line-up. ``which`` is ``rotations`` or ``single`` for the N rotations, or ``all`` for the N!
    permutations, the rotations first. With ``single``, a line-up plays each deal in one of the
    rotations, which take turns.
    """
    seats = tuple(range(players))
    rotations = [seats[first:] + seats[:first] for first in seats]
    if which != "all":
        return rotations
    return list(dict.fromkeys([*rotations, *permutations(seats)]))


class Schedule:
    """All games of a run's settings. A schedule counts the games, decides which games belong to the
    run, and iterates over them without storing a list. It uses no clock and no files.

    A deal has a number on each board; in a run of matches, the number of the match. A block is the
    games of one line-up on one deal of a board, and ``block_size`` is their number: one for each
    seating. ``spans`` says for each range of deals how many line-ups play it. ``turns`` is the
    number of deals after which the same line-ups play again: more than one if sets of opponents
    take turns.
    """

    def __init__(self, config: RunConfig) -> None:
        self.config = config
        self.line_ups = line_ups_of(config)
        self.seatings = seatings(config.players, config.seatings)
        if config.game:
            seated = config.game.seats
            line_up = sorted(config.game.seats)
            self.seatings = [tuple(map(line_up.index, seated))]
        self.block_size = 1 if config.has_own_decks else len(self.seatings)
        self.turns = 1 if config.pair is None else len(opponents(config))
        self._owns_deals = config.has_own_decks or bool(config.league) or len(self.line_ups) == 1
        first = config.game.deal if config.game else 0
        deals = config.deals if config.allotted is None else config.allotted
        self._all_deals = range(first, first + deals)
        self._own_deals = _own_deals(config, self.line_ups)
        self.spans = Counter[range]()
        if self._own_deals is None:
            self.spans[self._cut(self._all_deals)] = len(self.line_ups)
        else:
            own_deals = chain.from_iterable(self._own_deals.values())
            self.spans.update(map(self._cut, own_deals))
        self._rounds = Counter(config.rounds)
        self._boards = frozenset(config.boards)

    @property
    def games(self) -> int:
        """The number of games on the deals that the run is to play by what it has decided so far.
        Such a run may decide to play more, up to `planned`.
        """
        blocks = sum(len(deals) * count for deals, count in self.spans.items())
        return len(self.config.rounds) * blocks * self.block_size

    @property
    def planned(self) -> int:
        """The number of games of the run; if it depends on the results, the most games that there
        can be.
        """
        if not self.config.is_open or self.config.allotted is None:
            return self.games
        most = len(self.config.rounds) * self.config.deals * len(self.line_ups) * self.block_size
        return max(most, self.games)

    @property
    def most_places(self) -> float:
        """The most games that can be played at the same time, given that no two may have the same
        deal. Infinite where that does not limit them: in a league, if each game has its own deck,
        and if all bots are built in.
        """
        is_limited = self.config.repeats_deals and self.config.league is None
        return self.last_deal * len(self.config.boards) if is_limited else inf

    @property
    def last_deal(self) -> int:
        """One more than the largest number of a deal; 0 without deals."""
        return max((deals.stop for deals in self.spans), default=0)

    def __iter__(self) -> Iterator[GamePlan]:
        """The games, deal by deal; in a league, draw by draw."""
        return self.missing(frozenset())

    def missing(self, ids: Container[str]) -> Iterator[GamePlan]:
        """The games whose ids are not in ``ids``, deal by deal; in a league, draw by draw."""
        return chain.from_iterable(self._missing_batches(ids))

    def _missing_batches(self, ids: Container[str]) -> Iterator[list[GamePlan]]:
        """The batches of the games whose ids are not in ``ids``, deal by deal; in a league, draw by
        draw.
        """
        if self.config.league is not None:
            for drawn in self.config.drawn:
                yield from self.drawn_batches(drawn, ids)
            return
        for deal in range(self.last_deal):
            for batches in self.batches(range(deal, deal + 1), ids, deal):
                yield from batches

    def batches(
        self, numbers: range, ids: Container[str], turn: int
    ) -> Iterator[list[list[GamePlan]]]:
        """The games on the deals ``numbers`` whose ids are not in ``ids``: a list of batches for
        each line-up. A batch has games of that line-up on one board in one seating, each on another
        deal. Where no other line-up plays the deals, a batch may have all seatings, one after the
        other (see `MAX_SEATINGS`).

        ``turn`` decides which line-up comes first, and which seating.
        """
        for line_up in self.line_ups.in_turn(turn):
            spans = [self._cut(deals) for deals in self._deals_of(line_up)]
            played = [number for number in numbers if _is_in_one(spans, number)]
            batches = self._batches(line_up, played, ids, turn)
            if batches:
                yield batches

    def drawn_games(self, drawn: Drawn) -> int:
        """The number of games of one draw of a league, on all boards and with all seatings."""
        return drawn.deals * len(self.config.rounds) * self.block_size

    def drawn_batches(self, drawn: Drawn, ids: Container[str]) -> list[list[GamePlan]]:
        """The batches of one draw of a league, without the games whose ids are in ``ids``."""
        numbers = range(drawn.first, drawn.first + drawn.deals)
        # Draws have always as many deals, so their numbers would give the same seating every time.
        turn = crc32(f"{drawn.line_up}/{drawn.first}".encode())
        return self._batches(tuple(drawn.line_up.split("+")), numbers, ids, turn)

    def _batches(
        self, line_up: LineUp, numbers: Sequence[int], ids: Container[str], turn: int
    ) -> list[list[GamePlan]]:
        """The batches of one line-up on the deals ``numbers``, without the games whose ids are in
        ``ids``. ``turn`` decides which seating comes first.
        """
        batches = []
        for board in self.config.boards:
            for places in self._seated_deals(board, numbers, turn):
                batch = []
                for deal, seating in places:
                    if game_id(board, line_up, deal, seating) not in ids:
                        batch.append(self.game(board, line_up, deal, seating))
                if batch:
                    batches.append(batch)
        return batches

    def _seated_deals(
        self, board: str, numbers: Sequence[int], turn: int
    ) -> list[list[tuple[int, int]]]:
        """The pairs of deal and seating that a line-up plays on a board, one list for each batch.
        With single seatings there is one list, in which each deal has its own seating; otherwise
        one for each seating, or one with a round of all deals for each seating.
        """
        rounds = self._rounds[board]
        count = len(self.seatings)
        deals: list[int] = []
        for number in numbers:
            deals += range(number * rounds, (number + 1) * rounds)
        if self.config.has_own_decks:
            return [[(deal, deal // rounds % count) for deal in deals]]
        # If the same seating always came first, nobody could tell a bot that is better in a seat
        # from one that remembers deals (ratings/reunions).
        rounds_of_deals = []
        for place in range(count):
            seating = (turn + place) % count
            rounds_of_deals.append([(deal, seating) for deal in deals])
        if self._owns_deals and count <= MAX_SEATINGS:
            return [list(chain.from_iterable(rounds_of_deals))]
        return rounds_of_deals

    def _deals_of(self, line_up: LineUp) -> list[range]:
        """The ranges of deals that a line-up plays."""
        return [self._all_deals] if self._own_deals is None else self._own_deals[line_up]

    def _cut(self, deals: range) -> range:
        """The part of these deals that counts: those on which the answer of the run is based, or
        all if the run has no answer yet.
        """
        settled = self.config.settled
        if settled is None:
            return deals
        return range(deals.start, min(settled, deals.stop), deals.step)

    def played(self, ids: Iterable[str]) -> int:
        """The number of games of the plan among these ids, which must differ from each other."""
        return sum(map(self.has_game, ids))

    def has_game(self, name: str) -> bool:
        """Whether the plan has a game with the id ``name``."""
        block, _, seating = name.rpartition("/")
        place, _, deal = block.rpartition("/")
        return (
            _is_number(deal)
            and _is_number(seating)
            and self.needs_block(place, int(deal))
            and self.has_seating(place, int(deal), int(seating))
        )

    def has_seating(self, place: str, deal: int, seating: int) -> bool:
        """Whether the block of ``place`` (``board/line-up``) on a deal has a game with this
        seating, given by its number. The plan must need that block.
        """
        if not self.config.has_own_decks:
            return seating < len(self.seatings)
        number = deal // self._rounds[place.partition("/")[0]]
        return seating == number % len(self.seatings)

    def needs_block(self, place: str, deal: int, *, is_cut: bool = True) -> bool:
        """Whether the plan has games of the block of ``place`` (``board/line-up``) on a deal. With
        ``is_cut`` False, whether the run may contain such games: a run that has its answer may have
        played some deals beyond those that count.
        """
        board, _, names = place.partition("/")
        line_up = tuple(names.split("+"))
        if board not in self._boards or line_up not in self.line_ups:
            return False
        # A match with several rounds on a board uses that many deals in a row.
        number = deal // self._rounds[board]
        deals = self._span_with(line_up, number)
        return number in (self._cut(deals) if is_cut else deals)

    def _span_with(self, line_up: LineUp, number: int) -> range:
        """The range of deals of a line-up that may contain the deal ``number``: the last one that
        begins at or before it. Empty if there is none.
        """
        if self._own_deals is None:
            return self._all_deals
        spans = self._sorted_spans[line_up]
        # A league may have drawn a line-up thousands of times, and this is asked for every game.
        at = bisect_right(spans, number, key=lambda deals: deals.start)
        return spans[at - 1] if at else NO_DEALS

    @cached_property
    def _sorted_spans(self) -> dict[LineUp, list[range]]:
        """For a league or a comparison, the ranges of deals of each line-up, in order and without
        overlaps.
        """
        own = self._own_deals or {}
        return {line_up: _without_overlaps(spans) for line_up, spans in own.items()}

    def game(self, board: str, line_up: LineUp, deal: int, seating: int) -> GamePlan:
        """The plan of the game of this line-up with this board, deal and seating, given by their
        numbers. Whether the run has such a game is not checked, see `has_game`; raises IndexError
        for a seating that the run does not have.
        """
        seed = self.config.seed
        name = self._name_for_seeds(board, line_up, deal, seating)
        return GamePlan(
            id=game_id(board, line_up, deal, seating),
            board=board,
            deal=deal,
            seating=seating,
            bots=self.seated(line_up, seating),
            deck=self.deck(board, line_up, deal),
            seeds=_bot_seeds(seed, name, self.config.players),
            ends_deal=self._owns_deals,
        )

    def _name_for_seeds(self, board: str, line_up: LineUp, deal: int, seating: int) -> str:
        """The text from which, with the run's seed and the seat, the seeds of the bots in a game
        follow.
        """
        order, twin = self._as_compared(line_up)
        if self.config.luck == "names":
            return game_id(board, twin, deal, seating)
        if not self.config.pool:
            # Both seatings of a deal have the same seeds by seat, so that two bots that are the
            # same program play the same game twice.
            return f"{board}/new+old/{deal}"
        places = [str(self.config.bots.index(bot)) for bot in order[1:]]
        return game_id(board, ["new", *places], deal, seating)

    def deck(self, board: str, line_up: LineUp, deal: int) -> str:
        """The deck of a deal on a board: the same for all line-ups or, with single seatings, the
        line-up's own. A game that goes on from one of another run has the deck of that game.
        """
        deck = self.config.deck_of_game
        if deck:
            return deck
        own = f"{board}/{'+'.join(line_up)}" if self.config.has_own_decks else board
        return deck_of(self.config.seed, own, deal)

    def seated(self, line_up: LineUp, seating: int) -> tuple[str, ...]:
        """The bots of a line-up by seat, in this seating."""
        order, _ = self._as_compared(line_up)
        return tuple(order[index] for index in self.seatings[seating])

    def _as_compared(self, line_up: LineUp) -> tuple[LineUp, LineUp]:
        """Two line-ups. The first is this line-up with the bot of the run's pair at the front, so
        that both bots of the pair get the same seats. The ids of games of the second one determine
        the bots' seeds if these follow from names: both bots of the pair share it. If the run has
        no pair, both are the line-up itself.
        """
        pair = self.config.pair
        if pair is None:
            return line_up, line_up
        first = [bot for bot in pair if bot in line_up]
        rest = [bot for bot in line_up if bot not in first]
        if self.config.luck == "names":
            first.sort()
        else:
            rest.sort(key=self.config.bots.index)
        return (*first, *rest), tuple(sorted((pair[0], *rest))) if rest else line_up


def _is_number(text: str) -> bool:
    """Whether a text is a number without leading zeros, as game ids write it."""
    return text.isascii() and text.isdecimal() and (text[0] != "0" or text == "0")


def _own_deals(config: RunConfig, line_ups: Iterable[LineUp]) -> dict[LineUp, list[range]] | None:
    """The ranges of deals of each line-up in a league, or in a comparison or search, where sets of
    opponents take turns. None if all line-ups play the same deals.
    """
    if config.league is not None:
        own = defaultdict[LineUp, list[range]](list)
        for drawn in config.drawn:
            deals = range(drawn.first, drawn.first + drawn.deals)
            own[tuple(drawn.line_up.split("+"))].append(deals)
        return own
    if config.pair is None:
        return None
    groups = opponents(config)
    own_deals = {}
    for first, group in enumerate(groups):
        for line_up in compared(config.pair, group):
            own_deals[line_up] = [range(first, config.deals, len(groups))]
    return {line_up: own_deals[line_up] for line_up in line_ups}


def _is_in_one(spans: Iterable[range], number: int) -> bool:
    """Whether one of these ranges of deals has the deal ``number``."""
    return any(number in deals for deals in spans)


def _without_overlaps(spans: Iterable[range]) -> list[range]:
    """The deals of ``spans`` in sorted ranges that do not overlap. A league.jsonl may come from
    anybody, so its ranges may overlap.
    """
    merged = list[range]()
    for deals in sorted(spans, key=lambda deals: deals.start):
        if merged and deals.start < merged[-1].stop:
            before = merged.pop()
            merged.append(range(before.start, max(before.stop, deals.stop)))
        else:
            merged.append(deals)
    return merged


def game_id(board: str, line_up: Sequence[str], deal: int, seating: int) -> str:
    """The id of the game of this line-up, whose bots must be sorted, with this board, deal and
    seating.
    """
    return f"{board}/{'+'.join(line_up)}/{deal}/{seating}"


def _bot_seeds(seed: str, name: str, seats: int) -> tuple[int, ...]:
    """The seeds of the bots in a game with this number of ``seats``, see `bot_seed`."""
    return tuple(bot_seed(seed, name, seat) for seat in range(seats))


def single_game(seed: str, board: str, deal: int, bots: Sequence[str]) -> GamePlan:
    """The plan of a game outside a run, on this board, with the deck that follows from ``seed`` and
    the number ``deal``. The ``bots`` sit in the order given.
    """
    name = game_id(board, bots, deal, 0)
    seeds = _bot_seeds(seed, name, len(bots))
    return GamePlan(name, board, deal, 0, tuple(bots), deck_of(seed, board, deal), seeds)
