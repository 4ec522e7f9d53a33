"""Which games a run has, in which order, with ids that more deals or further bots never change. Pure: no clock, no files.

A game's id is ``board/line-up/deal/seating``; the line-up is its bots' names sorted and joined by ``+``.
"""

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from itertools import combinations, permutations
from math import comb

from arena.match.referee import GamePlan
from arena.tournament.config import RunConfig
from arena.tournament.deals import bot_seed, deck_of

DEALS_AT_ONCE = 10
"""Deals that are played with one line-up and seating before the next comes.

A bot's process must not meet a deal twice, since it would remember the deck; in this order it seldom has to be replaced, and still all
line-ups grow together.
"""

LineUp = tuple[str, ...]


def seatings(players: int, which: str) -> list[tuple[int, ...]]:
    """The seatings of a block, as the line-up's index at each seat: N rotations, or all N! with the rotations first."""
    rotations = [tuple((seat + first) % players for seat in range(players)) for first in range(players)]
    if which == "rotations":
        return rotations
    return rotations + [order for order in permutations(range(players)) if order not in rotations]


def line_ups(config: RunConfig) -> list[LineUp]:
    """The line-ups of a run: all there are, or a balanced subset of ``tables`` of them."""
    bots, challenger = sorted(config.bots), config.challenger
    rivals = [bot for bot in bots if bot != challenger]
    size = config.players - (challenger is not None)
    every = comb(len(rivals), size)
    if config.tables is None or config.tables >= every:
        chosen = list(combinations(rivals, size))
    elif config.tables <= every // 2:
        chosen = balanced_subset(rivals, size, config.tables)
    else:
        left_out = set(balanced_subset(rivals, size, every - config.tables))
        chosen = [group for group in combinations(rivals, size) if group not in left_out]
    return sorted(tuple(sorted((*group, challenger) if challenger else group)) for group in chosen)


def balanced_subset(bots: Sequence[str], size: int, count: int) -> list[LineUp]:
    """``count`` different groups of ``size`` bots, in which every bot, and as far as it goes every pair, is equally frequent.

    Each group is put together bot by bot: always the one with the fewest groups so far, then the fewest meetings with those chosen.
    Since groups must differ, that can end a little uneven; exchanging bots then evens it out.
    """
    chosen: set[LineUp] = set()
    groups: Counter[str] = Counter(dict.fromkeys(bots, 0))
    meetings: Counter[tuple[str, str]] = Counter()
    for _ in range(count):
        group = next(_by_need(bots, size, (), groups, meetings, chosen))
        chosen.add(group)
        groups.update(group)
        meetings.update(combinations(group, 2))
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
    """Puts a rarer bot in the place of a more frequent one until all differ by one at most.

    There is always a group in which that can be done: the frequent bot has more groups without the rare one than the rare one has
    without it, so not all exchanges can lead to groups that are there already.
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
    """All games of a configuration."""

    def __init__(self, config: RunConfig) -> None:
        self.config = config
        self.line_ups = line_ups(config)
        self.seatings = seatings(config.players, config.seatings)
        self._line_ups_on_boards = {f"{board}/{'+'.join(line_up)}" for board in config.boards for line_up in self.line_ups}

    def __len__(self) -> int:
        return len(self.config.boards) * self.config.deals * len(self.line_ups) * len(self.seatings)

    def __iter__(self) -> Iterator[GamePlan]:
        """The games in the order in which they are to be played."""
        for first in range(0, self.config.deals, DEALS_AT_ONCE):
            deals = range(first, min(first + DEALS_AT_ONCE, self.config.deals))
            for board in self.config.boards:
                for line_up in self.line_ups:
                    for seating in range(len(self.seatings)):
                        for deal in deals:
                            yield self.game(board, line_up, deal, seating)

    def has_block(self, block: str) -> bool:
        """Whether a block, named by its games' id without the seating, is one of those that are played."""
        line_up, _, deal = block.rpartition("/")
        return line_up in self._line_ups_on_boards and int(deal) < self.config.deals

    def is_complete(self, ids: Container[str]) -> bool:
        """Whether all games are among the ids."""
        return all(plan.id in ids for plan in self)

    def game(self, board: str, line_up: LineUp, deal: int, seating: int) -> GamePlan:
        """One game."""
        game_id = f"{board}/{'+'.join(line_up)}/{deal}/{seating}"
        seed = self.config.seed
        return GamePlan(
            id=game_id,
            board=board,
            deal=deal,
            seating=seating,
            bots=tuple(line_up[index] for index in self.seatings[seating]),
            deck=deck_of(seed, board, deal),
            seeds=tuple(bot_seed(seed, game_id, seat) for seat in range(self.config.players)),
        )


def single_game(seed: str, board: str, deal: int, bots: Sequence[str]) -> GamePlan:
    """A game outside a run: the bots at their seats as given, a deal of the seed."""
    game_id = f"{board}/{'+'.join(bots)}/{deal}/0"
    seeds = tuple(bot_seed(seed, game_id, seat) for seat in range(len(bots)))
    return GamePlan(game_id, board, deal, 0, tuple(bots), deck_of(seed, board, deal), seeds)
