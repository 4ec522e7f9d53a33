"""The games of a run and their order, with ids that never change when deals or bots are added. Pure: no clock, no files.

A game's id is ``board/line-up/deal/seating``; the line-up is its bots' names sorted and joined by ``+``.
"""

from collections import Counter
from collections.abc import Collection, Container, Iterator, Sequence
from itertools import combinations, permutations
from math import ceil, comb

import msgspec

from arena.errors import ConfigError
from arena.match.referee import GamePlan
from arena.tournament.config import Comparison, RunConfig
from arena.tournament.deals import bot_seed, deck_of

DEALS_AT_ONCE = 10
"""The number of deals played with one line-up and seating before the next.

A bot's process must not meet a deal twice, because it could remember the deck. In this order a process seldom has to be replaced, and all
line-ups still grow together.
"""

MOST_GROUPS = 12
"""The number of sets of opponents that a comparison plays in turn, unless more are needed so that every opponent plays."""

LineUp = tuple[str, ...]


def seatings(players: int, which: str) -> list[tuple[int, ...]]:
    """The seatings of a block, as the line-up's index at each seat: N rotations, or all N! with the rotations first."""
    rotations = [tuple((seat + first) % players for seat in range(players)) for first in range(players)]
    if which == "rotations":
        return rotations
    return rotations + [order for order in permutations(range(players)) if order not in rotations]


def fix_line_ups(config: RunConfig, known: RunConfig | None) -> RunConfig:
    """The configuration with the line-ups that ``tables`` chooses filled in: those of the known run, and more if it has grown.

    Raises ConfigError if that leaves a bot without a game.
    """
    if config.tables is None:
        return config
    chosen = line_ups(config, [tuple(group) for group in known.line_ups or ()] if known else [])
    idle = sorted(set(config.bots).difference(*chosen))
    if idle:
        raise ConfigError(
            f"expected a line-up for every bot, got none for {', '.join(idle)}: --tables {config.tables} is too small",
            f"use more tables, for example --tables {ceil(config.tables * len(config.bots) / (len(config.bots) - len(idle)))}",
        )
    return msgspec.structs.replace(config, line_ups=[list(group) for group in chosen])


def line_ups(config: RunConfig, kept: Sequence[LineUp] = ()) -> list[LineUp]:
    """The line-ups of a run: all possible ones, or a balanced subset of ``tables`` of them that includes the ``kept`` ones."""
    if config.compare is not None:
        return [line_up for group in opponents(config) for line_up in _compared(config.compare, group)]
    if config.line_ups is not None:
        return sorted(tuple(sorted(group)) for group in config.line_ups)
    bots, challenger = sorted(config.bots), config.challenger
    rivals = [bot for bot in bots if bot != challenger]
    size = config.players - (challenger is not None)
    every = comb(len(rivals), size)
    before = {tuple(bot for bot in group if bot != challenger) for group in kept}
    if config.tables is None or config.tables >= every:
        chosen = list(combinations(rivals, size))
    elif before or config.tables <= every // 2:
        chosen = balanced_subset(rivals, size, config.tables, before)
    else:
        left_out = set(balanced_subset(rivals, size, every - config.tables))
        chosen = [group for group in combinations(rivals, size) if group not in left_out]
    return sorted(tuple(sorted((*group, challenger) if challenger else group)) for group in chosen)


def opponents(config: RunConfig) -> list[LineUp]:
    """The sets of opponents that the compared bots meet in turn, deal by deal; a single empty set if they play each other."""
    size = config.players - 1
    if not config.pool:
        return [()]
    count = min(comb(len(config.pool), size), max(MOST_GROUPS, ceil(len(config.pool) / size)))
    return balanced_subset(config.pool, size, count)


def _compared(compare: Comparison, group: LineUp) -> list[LineUp]:
    if not group:
        return [tuple(sorted((compare.new, compare.old)))]
    return [tuple(sorted((bot, *group))) for bot in (compare.new, compare.old)]


def balanced_subset(bots: Sequence[str], size: int, count: int, kept: Collection[LineUp] = ()) -> list[LineUp]:
    """``count`` different groups of ``size`` bots, in which every bot, and as far as possible every pair, is equally frequent.

    Each group is built bot by bot: always the bot with the fewest groups so far, then with the fewest meetings with those already chosen.
    Because groups must differ, the result can be slightly uneven; swapping bots then evens it out. It includes the ``kept`` groups as
    they are.
    """
    chosen = set(kept)
    groups: Counter[str] = Counter(dict.fromkeys(bots, 0))
    meetings: Counter[tuple[str, str]] = Counter()
    for group in kept:
        groups.update(group)
        meetings.update(combinations(group, 2))
    for _ in range(count - len(kept)):
        group = next(_by_need(bots, size, (), groups, meetings, chosen))
        chosen.add(group)
        groups.update(group)
        meetings.update(combinations(group, 2))
    if not kept:
        _even_out(chosen, groups)
    return sorted(chosen)


def _by_need(
    bots: Sequence[str], size: int, group: LineUp, groups: Counter[str], meetings: Counter[tuple[str, str]], chosen: Container[LineUp]
) -> Iterator[LineUp]:
    if len(group) == size:
        whole = tuple(sorted(group))
        if whole not in chosen:
            yield whole
        return

    def need(bot: str) -> tuple[int, int, str]:
        return groups[bot], sum(meetings[min(bot, other), max(bot, other)] for other in group), bot

    for bot in sorted((bot for bot in bots if bot not in group), key=need):
        yield from _by_need(bots, size, (*group, bot), groups, meetings, chosen)


def _even_out(chosen: set[LineUp], groups: Counter[str]) -> None:
    """Replaces a more frequent bot with a rarer one until all counts differ by at most one.

    There is always a group where this works: the frequent bot has more groups without the rare one than the rare one has without it, so
    not every swap can lead to a group that already exists.
    """
    while True:
        frequent, rare = max(groups, key=lambda bot: (groups[bot], bot)), min(groups, key=lambda bot: (groups[bot], bot))
        if groups[frequent] - groups[rare] <= 1:
            return
        for group in sorted(chosen):
            if frequent in group and rare not in group:
                changed = tuple(sorted({*group, rare} - {frequent}))
                if changed not in chosen:
                    chosen.remove(group)
                    chosen.add(changed)
                    break
        groups[frequent] -= 1
        groups[rare] += 1


class Schedule:
    """All games of a configuration. ``deals`` are those of each line-up: on each board, or of the match."""

    def __init__(self, config: RunConfig) -> None:
        self.config = config
        self.line_ups = line_ups(config)
        self.seatings = seatings(config.players, config.seatings)
        self._possible = deals_of(config, self.line_ups)
        self.deals = self._possible if config.settled is None else _until(config.settled, self._possible)
        self._rounds = Counter(config.rounds)
        self._line_ups_on_boards = {f"{board}/{'+'.join(line_up)}": line_up for board in config.boards for line_up in self.line_ups}

    def __len__(self) -> int:
        return len(self.config.rounds) * sum(map(len, self.deals.values())) * len(self.seatings)

    @property
    def planned(self) -> int:
        """The number of games; an upper limit if it depends on the results."""
        most = len(self.config.rounds) * self.config.deals * len(self.line_ups) * len(self.seatings)
        return max(most, len(self)) if self.config.is_open and self.config.allotted is not None else len(self)

    def __iter__(self) -> Iterator[GamePlan]:
        """The games in playing order."""
        return (self.game(*place) for place in self._places())

    def _places(self) -> Iterator[tuple[str, LineUp, int, int]]:
        """Board, line-up, deal and seating of each game, in playing order."""
        for first in range(0, max(deals.stop for deals in self.deals.values()), DEALS_AT_ONCE):
            for board in self.config.boards:
                rounds = self._rounds[board]
                for line_up in self.line_ups:
                    deals = [
                        deal for deal in range(first * rounds, (first + DEALS_AT_ONCE) * rounds) if deal // rounds in self.deals[line_up]
                    ]
                    for seating in range(len(self.seatings)):
                        for deal in deals:
                            yield board, line_up, deal, seating

    def missing(self, ids: Container[str]) -> Iterator[GamePlan]:
        """The games whose ids are not among these, in playing order."""
        return (self.game(*place) for place in self._places() if game_id(*place) not in ids)

    def played(self, ids: Container[str]) -> int:
        """The number of games that are among the ids."""
        return sum(game_id(*place) in ids for place in self._places())

    def has_game(self, name: str) -> bool:
        """Whether `__len__` counts this game."""
        block, _, seating = name.rpartition("/")
        place, _, deal = block.rpartition("/")
        if not (_is_number(deal) and _is_number(seating)):
            return False
        return int(seating) < len(self.seatings) and self.needs_block(place, int(deal))

    def has_block(self, place: str, deal: int) -> bool:
        """Whether the block of a ``board/line-up`` on a deal may be in the run; in a settled run, some were played ahead."""
        return self._is_in(self._possible, place, deal)

    def needs_block(self, place: str, deal: int) -> bool:
        """Whether `__len__` counts the games of this block."""
        return self._is_in(self.deals, place, deal)

    def _is_in(self, deals: dict[LineUp, range], place: str, deal: int) -> bool:
        line_up = self._line_ups_on_boards.get(place)
        return line_up is not None and self.number_of(place.partition("/")[0], deal) in deals[line_up]

    def number_of(self, board: str, deal: int) -> int:
        """The number in `deals` of a deal on a board; a match with several rounds on a board uses that many deals in a row."""
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
        order = line_up if self.config.compare is None else _as_compared(self.config.compare, line_up)[0]
        return tuple(order[index] for index in self.seatings[seating])


def _is_number(text: str) -> bool:
    """Whether an id would write the number this way."""
    return text.isascii() and text.isdecimal() and (text[0] != "0" or text == "0")


def deals_of(config: RunConfig, chosen: Sequence[LineUp]) -> dict[LineUp, range]:
    """The deals that each line-up may play: those allotted to it; in a comparison, the sets of opponents take turns."""
    if config.allotted is not None:
        return {line_up: range(config.allotted.get("+".join(line_up), 0)) for line_up in chosen}
    if config.compare is None:
        return dict.fromkeys(chosen, range(config.deals))
    groups = opponents(config)
    first = {line_up: turn for turn, group in enumerate(groups) for line_up in _compared(config.compare, group)}
    return {line_up: range(first[line_up], config.deals, len(groups)) for line_up in chosen}


def _until(settled: int, possible: dict[LineUp, range]) -> dict[LineUp, range]:
    return {line_up: range(deals.start, min(settled, deals.stop), deals.step) for line_up, deals in possible.items()}


def _as_compared(compare: Comparison, line_up: LineUp) -> tuple[LineUp, LineUp]:
    """The line-up with a compared bot first, so that both get the same seats; and the line-up whose games give both their seeds."""
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
