"""The games of a run and their order, with ids that never change when deals or bots are added.
Pure: no clock, no files.

A game's id is ``board/line-up/deal/seating``; the line-up is its bots' names sorted and joined by
``+``.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import permutations

from arena.match.referee import GamePlan
from arena.tournament.config import Comparison, RunConfig
from arena.tournament.deals import bot_seed, deck_of
from arena.tournament.lineups import LineUp, compared, line_ups_of, opponents

DEALS_AT_ONCE = 10
"""The number of deals played with one line-up and seating before the next.

A bot's process must not meet a deal twice, because it could remember the deck. In this order a
process seldom has to be replaced, and all line-ups still grow together.
"""


def seatings(players: int, which: str) -> list[tuple[int, ...]]:
    """The seatings of a block, as the line-up's index at each seat: N rotations, or all N! with the
    rotations first.
    """
    rotations = [
        tuple((seat + first) % players for seat in range(players)) for first in range(players)
    ]
    if which == "rotations":
        return rotations
    return rotations + [order for order in permutations(range(players)) if order not in rotations]


class Schedule:
    """All games of a configuration: a pure object that knows its size and its members, and walks
    its games without listing them.

    A deal's number is its number on each board, or that of the match. ``spans`` says how many
    line-ups play which deals.
    """

    def __init__(self, config: RunConfig) -> None:
        self.config = config
        self.line_ups = line_ups_of(config)
        self.seatings = seatings(config.players, config.seatings)
        self._all_deals = range(config.deals)
        self._own_deals = _own_deals(config, self.line_ups)
        own = (
            {self._all_deals: len(self.line_ups)}
            if self._own_deals is None
            else Counter(self._own_deals.values())
        )
        self.spans = Counter[range]()
        for deals, count in own.items():
            self.spans[self._cut(deals)] += count
        self._rounds = Counter(config.rounds)
        self._boards = frozenset(config.boards)

    def __len__(self) -> int:
        return self.games

    @property
    def games(self) -> int:
        """The number of games; `len` cannot tell one above 2**63."""
        blocks = sum(len(deals) * count for deals, count in self.spans.items())
        return len(self.config.rounds) * blocks * len(self.seatings)

    @property
    def planned(self) -> int:
        """The number of games; an upper limit if it depends on the results."""
        most = len(self.config.rounds) * self.config.deals * len(self.line_ups) * len(self.seatings)
        return (
            max(most, self.games)
            if self.config.is_open and self.config.allotted is not None
            else self.games
        )

    @property
    def last_deal(self) -> int:
        """The number after that of the last deal."""
        return max((deals.stop for deals in self.spans), default=0)

    def __iter__(self) -> Iterator[GamePlan]:
        """The games in playing order."""
        return (self.game(*place) for place in self._places())

    def _places(self) -> Iterator[tuple[str, LineUp, int, int]]:
        """Board, line-up, deal and seating of each game, in playing order."""
        at_once = 1 if self.config.in_process else DEALS_AT_ONCE
        for first in range(0, self.last_deal, at_once):
            for line_up in self.line_ups:
                deals = self._cut(self._deals_of(line_up))
                numbers = [number for number in range(first, first + at_once) if number in deals]
                for board in self.config.boards:
                    rounds = self._rounds[board]
                    on_board = [
                        deal
                        for number in numbers
                        for deal in range(number * rounds, (number + 1) * rounds)
                    ]
                    for seating in range(len(self.seatings)):
                        for deal in on_board:
                            yield board, line_up, deal, seating

    def _deals_of(self, line_up: LineUp) -> range:
        return self._all_deals if self._own_deals is None else self._own_deals[line_up]

    def _cut(self, deals: range) -> range:
        """The deals up to those after which the run's question was answered."""
        settled = self.config.settled
        return (
            deals if settled is None else range(deals.start, min(settled, deals.stop), deals.step)
        )

    def missing(self, ids: Container[str]) -> Iterator[GamePlan]:
        """The games whose ids are not among these, in playing order."""
        return (self.game(*place) for place in self._places() if game_id(*place) not in ids)

    def played(self, ids: Iterable[str]) -> int:
        """The number of these different ids that are games of the plan."""
        return sum(map(self.has_game, ids))

    def has_game(self, name: str) -> bool:
        """Whether `games` counts this game."""
        block, _, seating = name.rpartition("/")
        place, _, deal = block.rpartition("/")
        if not (_is_number(deal) and _is_number(seating)):
            return False
        return int(seating) < len(self.seatings) and self.needs_block(place, int(deal))

    def has_block(self, place: str, deal: int) -> bool:
        """Whether the block of a ``board/line-up`` on a deal may be in the run; in a settled run,
        some were played ahead.
        """
        return self._is_in(place, deal, is_cut=False)

    def needs_block(self, place: str, deal: int) -> bool:
        """Whether `games` counts the games of this block."""
        return self._is_in(place, deal, is_cut=True)

    def _is_in(self, place: str, deal: int, *, is_cut: bool) -> bool:
        board, _, names = place.partition("/")
        line_up = tuple(names.split("+"))
        if board not in self._boards or line_up not in self.line_ups:
            return False
        deals = self._deals_of(line_up)
        return self.number_of(board, deal) in (self._cut(deals) if is_cut else deals)

    def number_of(self, board: str, deal: int) -> int:
        """The number of a deal on a board; a match with several rounds on a board uses that many
        deals in a row.
        """
        return deal // self._rounds[board]

    def game(self, board: str, line_up: LineUp, deal: int, seating: int) -> GamePlan:
        """One game."""
        seed, twin = self.config.seed, line_up
        if self.config.compare is not None:
            _, twin = _as_compared(self.config.compare, line_up)
        name = game_id(board, twin, deal, seating)
        return GamePlan(
            id=game_id(board, line_up, deal, seating),
            board=board,
            deal=deal,
            seating=seating,
            bots=self.seated(line_up, seating),
            deck=deck_of(seed, board, deal),
            seeds=tuple(bot_seed(seed, name, seat) for seat in range(self.config.players)),
        )

    def seated(self, line_up: LineUp, seating: int) -> tuple[str, ...]:
        """A line-up's bots by seat."""
        order = (
            line_up
            if self.config.compare is None
            else _as_compared(self.config.compare, line_up)[0]
        )
        return tuple(order[index] for index in self.seatings[seating])


def _is_number(text: str) -> bool:
    """Whether an id would write the number this way."""
    return text.isascii() and text.isdecimal() and (text[0] != "0" or text == "0")


def _own_deals(config: RunConfig, line_ups: Iterable[LineUp]) -> dict[LineUp, range] | None:
    """The deals of each line-up: those allotted to it; in a comparison, the sets of opponents take
    turns. None if all play the same.
    """
    if config.allotted is not None:
        return {line_up: range(config.allotted.get("+".join(line_up), 0)) for line_up in line_ups}
    if config.compare is None:
        return None
    groups = opponents(config)
    first = {
        line_up: turn
        for turn, group in enumerate(groups)
        for line_up in compared(config.compare, group)
    }
    return {line_up: range(first[line_up], config.deals, len(groups)) for line_up in line_ups}


def _as_compared(compare: Comparison, line_up: LineUp) -> tuple[LineUp, LineUp]:
    """The line-up with a compared bot first, so that both get the same seats; and the line-up whose
    games give both their seeds.
    """
    first = [bot for bot in line_up if bot in (compare.new, compare.old)]
    rest = [bot for bot in line_up if bot not in first]
    return (*first, *rest), tuple(sorted((compare.new, *rest))) if rest else line_up


def game_id(board: str, line_up: Sequence[str], deal: int, seating: int) -> str:
    """The id of a game."""
    return f"{board}/{'+'.join(line_up)}/{deal}/{seating}"


def single_game(seed: str, board: str, deal: int, bots: Sequence[str]) -> GamePlan:
    """A game outside a run: the bots seated as given, on a deal of the seed."""
    name = game_id(board, bots, deal, 0)
    seeds = tuple(bot_seed(seed, name, seat) for seat in range(len(bots)))
    return GamePlan(name, board, deal, 0, tuple(bots), deck_of(seed, board, deal), seeds)
