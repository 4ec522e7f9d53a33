"""The line-ups of a run (all possible ones, made when they are needed, or a balanced subset), and
how many deals they play. Uses no clock and no files.

In a run that decides on more deals while it plays, all allotted deals are played before more are
allotted. So a decision depends on the games on these deals alone, and not on the number of workers.
The decision is written to run.json before the deals are played, so an interrupted run continues
from there.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import chain, combinations
from math import ceil, comb
from operator import attrgetter, sub
from random import Random

import msgspec

from arena.errors import ConfigError
from arena.records.config import RunConfig

MAX_TABLES = 50_000
"""The most line-ups that can be listed in the settings of a run, which run.json contains."""
MAX_GROUPS = 12
"""The most sets of opponents that a comparison plays in turn, unless more are needed so that every
opponent plays.
"""
GOLDEN = (5**0.5 - 1) / 2
"""The golden ratio: the fractional parts of its multiples are evenly spread, however many there
are.
"""
NEAR = 12
"""The number of bots, or of a bot's line-ups, that are compared when the next one is chosen."""
DEALS_AT_ONCE = 10
"""After each computation of the ratings, line-ups get at least this many more deals."""
PART = 10
"""After each computation of the ratings, line-ups get one more deal for each ``PART`` deals they
have had, if that is more than `DEALS_AT_ONCE`.
"""

LineUp = tuple[str, ...]
"""The labels of the bots in a game, sorted."""


class LineUps:
    """A set of line-ups: the ``listed`` ones or, if that is None, all of ``size`` of the ``bots``;
    if there is a ``challenger``, all that contain it.

    The set is not stored, because it can have hundreds of millions of line-ups of four bots.
    """

    def __init__(
        self,
        bots: Collection[str],
        size: int,
        challenger: str | None = None,
        listed: Iterable[LineUp] | None = None,
    ) -> None:
        self._bots = sorted(bots)
        self._known = frozenset(bots)
        self._size = size
        self._always = () if challenger is None else (challenger,)
        self._rivals = [bot for bot in self._bots if bot != challenger]
        self._listed = None if listed is None else sorted(listed)
        self._members = None if self._listed is None else frozenset(self._listed)

    def __len__(self) -> int:
        if self._listed is not None:
            return len(self._listed)
        return comb(len(self._rivals), self._size - len(self._always))

    def __iter__(self) -> Iterator[LineUp]:
        if self._listed is not None:
            return iter(self._listed)
        return map(self._filled, combinations(self._rivals, self._size - len(self._always)))

    def _filled(self, group: LineUp) -> LineUp:
        """The line-up of the bots in ``group`` and those that are in every line-up."""
        return tuple(sorted(self._always + group))

    def in_turn(self, turn: int) -> Iterator[LineUp]:
        """The line-ups in an order in which all bots play about equally often from the start. Each
        number ``turn`` begins at another place of that order.
        """
        start = turn * GOLDEN % 1
        if self._listed is not None:
            first = int(start * len(self._evenly))
            return iter(self._evenly[first:] + self._evenly[:first])
        rivals = list(self._rivals)
        # Neighbours meet first, and names that sort beside each other are often much alike.
        Random(0).shuffle(rivals)  # noqa: S311
        first = int(start * len(rivals))
        groups = _round_robin(rivals[first:] + rivals[:first], self._size - len(self._always))
        return map(self._filled, groups)

    @cached_property
    def _evenly(self) -> list[LineUp]:
        """The listed line-ups, in such an order that the bot with the fewest games comes next."""
        waiting: dict[str, list[LineUp]] = {bot: [] for bot in self._bots}
        # Those of a bot come in no order: else its first ones all have the same opponent.
        for line_up in Random(0).sample(self._listed or [], len(self)):  # noqa: S311
            for bot in line_up:
                waiting[bot].append(line_up)
        ordered = dict[LineUp, None]()
        games = Counter[str]()
        queue = [(0, bot) for bot in self._bots]
        heapify(queue)
        while queue:
            had, bot = heappop(queue)
            if had == games[bot]:
                left = [line_up for line_up in waiting[bot][-NEAR:] if line_up not in ordered]
                del waiting[bot][-NEAR:]
                if not (left or waiting[bot]):
                    continue
                left.sort(key=lambda line_up: sum(map(games.__getitem__, line_up)), reverse=True)
                for line_up in left[-1:]:
                    ordered[line_up] = None
                    games.update(line_up)
                waiting[bot] += left[:-1]
            heappush(queue, (games[bot], bot))
        return list(ordered)

    def __contains__(self, line_up: object) -> bool:
        if self._members is not None:
            return line_up in self._members
        if not isinstance(line_up, tuple) or len(line_up) != self._size:
            return False
        is_sorted = line_up == tuple(sorted(set(line_up)))
        return is_sorted and self._known.issuperset(line_up) and set(self._always) <= set(line_up)


def _round_robin(bots: Sequence[str], size: int) -> Iterator[LineUp]:
    """All groups of ``size`` bots. The groups come in families: the bots stand in a circle, and a
    group is rotated around the circle until it is back at its start. After every full rotation, all
    bots have appeared equally often.
    """
    count = len(bots)
    for rest in combinations(range(1, count), size - 1):
        places = (0, *rest, count)
        gaps = list(map(sub, places[1:], places))
        turned = [gaps[first:] + gaps[:first] for first in range(size)]
        if gaps > min(turned):
            continue
        steps = sum(gaps[: turned[1:].index(gaps) + 1]) if gaps in turned[1:] else count
        # In strides of its size, the first group reaches every bot before any bot plays again.
        for start in range(size):
            for step in range(start, steps, size):
                yield tuple(bots[(place + step) % count] for place in places[:-1])


def line_ups_of(config: RunConfig) -> LineUps:
    """The line-ups of a run with these settings. If the settings limit their number (``tables``),
    they must have been chosen before, by `fix_line_ups`.
    """
    listed: Collection[LineUp] | None = None
    if config.pair is not None:
        of_groups = [compared(config.pair, group) for group in opponents(config)]
        listed = list(chain(*of_groups))
    elif config.league is not None:
        listed = {tuple(drawn.line_up.split("+")) for drawn in config.drawn}
    elif config.line_ups is not None:
        listed = [tuple(sorted(group)) for group in config.line_ups]
    return LineUps(config.bots, config.players, config.challenger, listed)


def fix_line_ups(config: RunConfig, known: RunConfig | None) -> RunConfig:
    """The settings with a list of line-ups, if they limit the number of line-ups (``tables``). The
    list includes the line-ups of ``known``, the settings of the run so far, which is None for a new
    run. Settings without a limit, or whose limit leaves out none of more than `MAX_TABLES`
    line-ups, are returned unchanged.

    Raises ConfigError if a bot would be in no line-up, or if there would be too many line-ups to
    write down.
    """
    every = len(LineUps(config.bots, config.players, config.challenger))
    if config.tables is None or (config.tables >= every > MAX_TABLES):
        return config
    if config.tables > MAX_TABLES and every > MAX_TABLES:
        raise ConfigError(
            f"--tables: expected at most {MAX_TABLES:,}, or all {every:,} line-ups, got"
            f" {config.tables:,}",
            f"ask for --tables {MAX_TABLES}, or leave it out to play all",
        )
    kept = known.line_ups if known else None
    chosen = choose_line_ups(config, config.tables, list(map(tuple, kept or ())))
    idle = sorted(set(config.bots).difference(*chosen))
    if idle:
        enough = ceil(config.tables * len(config.bots) / (len(config.bots) - len(idle)))
        raise ConfigError(
            f"--tables {config.tables} is too small: it leaves no line-up for {', '.join(idle)}",
            f"use more tables, for example --tables {enough}",
        )
    return msgspec.structs.replace(config, line_ups=list(map(list, chosen)))


def choose_line_ups(config: RunConfig, tables: int, kept: Sequence[LineUp]) -> list[LineUp]:
    """A balanced subset of ``tables`` line-ups that includes the ``kept`` ones; all line-ups if
    there are no more than ``tables``.
    """
    bots = sorted(config.bots)
    challenger = config.challenger
    all_of_them = LineUps(bots, config.players, challenger)
    every = len(all_of_them)
    if tables >= every:
        return sorted(all_of_them)
    rivals = [bot for bot in bots if bot != challenger]
    size = config.players - (challenger is not None)
    always = () if challenger is None else (challenger,)
    before = {_without(group, always) for group in kept}
    if before or tables <= every // 2:
        groups = balanced_subset(rivals, size, tables, before)
    else:
        left_out = set(balanced_subset(rivals, size, every - tables))
        groups = [group for group in combinations(rivals, size) if group not in left_out]
    return sorted(tuple(sorted(group + always)) for group in groups)


def _without(group: LineUp, left_out: LineUp) -> LineUp:
    """The bots of a group that are not in ``left_out``."""
    return tuple(bot for bot in group if bot not in left_out)


def opponents(config: RunConfig) -> list[LineUp]:
    """The sets of opponents that the compared bots, or the sides of a search, play in turn, deal by
    deal; one empty set if the two play each other. The settings must be those of a comparison or a
    search.
    """
    size = config.players - 1
    if not config.pool:
        return [()]
    pool = config.pool
    count = min(comb(len(pool), size), max(MAX_GROUPS, ceil(len(pool) / size)))
    if config.luck == "names":
        return balanced_subset(pool, size, count)
    # Which opponents take which turn must not depend on their names.
    places = [f"{place:06}" for place in range(len(pool))]
    sets = []
    for group in balanced_subset(places, size, count):
        bots = [pool[int(place)] for place in group]
        sets.append(tuple(sorted(bots)))
    return sets


def compared(pair: tuple[str, str], group: LineUp) -> list[LineUp]:
    """The line-ups of a pair of bots with one set of opponents, ``group``: one for each bot, or a
    single one with both if the group is empty.
    """
    if not group:
        return [tuple(sorted(pair))]
    return [tuple(sorted((bot, *group))) for bot in pair]


def balanced_subset(
    bots: Sequence[str], size: int, count: int, kept: Collection[LineUp] = ()
) -> list[LineUp]:
    """``count`` different groups of ``size`` bots, in which bots, and as far as possible pairs of
    bots, appear equally often. The ``kept`` groups are among them.

    Because no group may appear twice, bots can end up with unequal numbers of groups; if no groups
    are kept, swapping bots then evens that out.
    """
    needs = _Needs(bots, kept)
    for _ in range(count - len(kept)):
        needs.add(needs.next_group(size))
    if not kept:
        _even_out(needs.chosen, needs.groups)
    return sorted(needs.chosen)


class _Needs:
    """Chooses groups of bots one by one. ``chosen`` has the groups so far, and ``groups`` counts
    the groups of each bot.
    """

    def __init__(self, bots: Collection[str], kept: Collection[LineUp]) -> None:
        self.chosen: set[LineUp] = set()
        self.groups = dict.fromkeys(sorted(bots), 0)
        self._meetings = {bot: Counter[str]() for bot in bots}
        self._waiting = list(self.groups)
        # The same line-ups whenever the same are asked for.
        self._random = Random(0)  # noqa: S311
        for group in kept:
            self.add(group)

    def add(self, group: LineUp) -> None:
        """Adds a group to the chosen ones."""
        self.chosen.add(group)
        for bot in group:
            self.groups[bot] += 1
            self._meetings[bot].update(group)

    def next_group(self, size: int) -> LineUp:
        """A new group of ``size`` bots: those with the fewest groups so far and, among these, those
        that have been in a group together least often.
        """
        # Looking at every bot for each seat took 15 s for 30,000 groups of 300 bots. Drawn ones
        # meet more evenly than the first ones, which follow each other in the same order again and
        # again.
        self._waiting.sort(key=self.groups.__getitem__)
        fewest = bisect_right(
            self._waiting, self.groups[self._waiting[0]], key=self.groups.__getitem__
        )
        near = self._waiting[: max(fewest, NEAR)]
        some = near if len(near) <= NEAR else self._random.sample(near, NEAR)
        return next(self._by_need(some, size, ()), None) or next(
            self._by_need(self._waiting, size, ())
        )

    def _by_need(self, bots: Sequence[str], size: int, group: LineUp) -> Iterator[LineUp]:
        """The groups of ``size`` bots that begin with ``group``, are filled up with some of
        ``bots``, and have not been chosen yet. The groups of the bots with the fewest groups come
        first.
        """
        if len(group) == size:
            whole = tuple(sorted(group))
            if whole not in self.chosen:
                yield whole
            return
        met = [self._meetings[bot] for bot in group]

        def need(bot: str) -> tuple[int, int, str]:
            """A sort key: the bot's number of groups, how often it has met the bots of the group,
            and its label.
            """
            return self.groups[bot], sum(meetings[bot] for meetings in met), bot

        for bot in sorted(set(bots).difference(group), key=need):
            yield from self._by_need(bots, size, (*group, bot))


def _even_out(chosen: set[LineUp], groups: dict[str, int]) -> None:
    """Replaces bots in the ``chosen`` groups, the most frequent one by the rarest, until the
    numbers of groups of all bots (``groups``) differ by at most one. Both arguments are changed.

    There is always a group where such a swap works: the frequent bot has more groups without the
    rare one than the rare one has without it, so not all swaps can lead to groups that exist
    already.
    """
    while True:
        *_, frequent = ordered = sorted(groups, key=lambda bot: (groups[bot], bot))
        rare = ordered[0]
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


def fix_allotment(config: RunConfig, known: RunConfig | None) -> RunConfig:
    """The settings of a run with ``until``, with the number of deals to play before the ratings are
    computed next: that of ``known``, the settings of the run so far, or a few deals for a new run.
    If the run has grown, it counts as unfinished again. Settings without ``until`` are returned
    unchanged.
    """
    if config.until is None:
        return config
    first = min(DEALS_AT_ONCE, ceil(config.deals / 2))
    allotted = known.allotted if known and known.allotted is not None else first
    config = msgspec.structs.replace(config, allotted=allotted)
    what_grows = attrgetter("deals", "until", "bots", "line_ups")
    settled = None
    if known and what_grows(known) == what_grows(config):
        settled = known.settled
    return msgspec.structs.replace(config, settled=settled)


def next_allotment(config: RunConfig) -> int | None:
    """The next, larger number of deals that all line-ups are to play in a run with ``until``; None
    if they already play the most deals that the settings allow.
    """
    assert config.allotted is not None, "a run that looks at its error bars"
    more = max(DEALS_AT_ONCE, config.allotted // PART)
    return min(config.allotted + more, config.deals) if config.allotted < config.deals else None
