"""Chooses the next line-up of a league: the one whose games give the most information. Uses no
clock and no files.

A candidate plays benchmarks near its estimated rating until it is placed, and then its neighbours
in the ranking. Benchmarks also play each other, which keeps the scale precise.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, permutations
from math import exp, inf, log, pi, sqrt
from typing import Literal

from msgspec import Struct

from arena.tournament.lineups import LineUp

ELO = 400 / log(10)
"""Elo points per unit of log odds."""
TWO_SIDED = 1.96
"""The number of standard errors in the half-width of a 95 % interval."""
PLACED_ELO = 50.0
"""A candidate counts as placed once its 95 % interval reaches at most this many Elo to either side,
and enough deals tell of it for that interval to be reliable.
"""
PLACING_GAMES = 400
"""A candidate counts as placed after this many games, however wide its interval is."""
FOUNDER_ELO = 70.0
FOUNDER_GAMES = 150
FOUNDER_LEAST_GAMES = 40
FOUNDER_SHARE = 0.9
"""The scale of a league begins once each benchmark has `FOUNDER_LEAST_GAMES` games, and the
benchmarks that are known well enough have at least `FOUNDER_SHARE` of the weight of all. A
benchmark is known well enough if its 95 % interval reaches at most `FOUNDER_ELO` Elo to either
side, or after `FOUNDER_GAMES` games, however wide its interval is.

In simulated leagues of 20 versions, beginning after 40 games of each took as many games in all, and
let the level move by 12 Elo (standard deviation) instead of 8. A benchmark far above or below all
others is not waited for: it has hardly any weight, and its games say little.
"""
UNKNOWN_ELO, RELATED_ELO = 250.0, 120.0
"""The standard errors, in Elo, of guessed ratings: `UNKNOWN_ELO` of a bot about which nothing is
known, and `RELATED_ELO` of a new version, which is guessed to be as strong as the version before
it.
"""
MIN_ELO = 1.0
"""The smallest standard error, in Elo, that a rating is taken to have."""
WINDOW = 3
"""Bots are neighbours if their ranks differ by at most this much."""
VERSIONS = 4.0
"""The factor by which a game between two successive versions is worth more than one between other
neighbours, because authors ask whether their new version is better.
"""
CLEAR, SETTLED = 3.0, 0.1
"""If the ratings of two bots differ by more than `CLEAR` standard errors, their order is clear, and
the worth of games between them is multiplied by `SETTLED`.
"""
Purpose = Literal["place", "neighbours", "benchmarks"]
"""What a pair of bots is drawn for: to place a candidate, to order neighbours in the ranking, or to
relate benchmarks to each other.
"""
WHILE_PLACING: Sequence[Purpose] = (
    *("place", "place", "place", "benchmarks"),
    *("place", "place", "place", "neighbours"),
)
"""The purposes of draws, in turn, while a candidate is being placed."""
WITHOUT_SCALE: Sequence[Purpose] = ("benchmarks", "place")
"""The purposes of draws, in turn, before benchmarks fix the scale."""
WHEN_PLACED: Sequence[Purpose] = ("neighbours", "neighbours", "neighbours", "benchmarks")
"""The purposes of draws, in turn, while no candidate is being placed."""


class Rival(Struct):
    """A member of a league for which games are drawn, as its results show it.

    ``is_placed``  whether it has been placed, or need not be
    ``is_seen``    whether the last computation of the ratings had games of it
    ``elo``        its rating in Elo
    ``error``      the standard error in Elo that is expected after the games drawn so far
    ``games``      the number of games drawn for it so far
    ``before``     the label of the version before it; empty for a first version
    ``turn``       when its author last had a bot placed, in UTC; empty if never, or if the author
                   is unknown
    """

    bot: str
    is_benchmark: bool = False
    is_placed: bool = False
    is_seen: bool = True
    elo: float = 0.0
    error: float = UNKNOWN_ELO
    games: int = 0
    before: str = ""
    turn: str = ""

    @property
    def has_rating(self) -> bool:
        """Whether its rating counts as known: that of a benchmark or of a placed bot."""
        return self.is_benchmark or self.is_placed


class Contenders:
    """Chooses line-ups of ``players`` bots among the members of a league that play.

    ``rivals``  the members by label
    ``met``     for each pair of labels, the number of games drawn with both
    ``games``   the number of games drawn for each label
    ``turn``    the number of draws so far
    """

    def __init__(self, players: int) -> None:
        self._players = players
        self.rivals: dict[str, Rival] = {}
        self.met = Counter[tuple[str, str]]()
        self.games = Counter[str]()
        self.turn = 0
        self._has_scale = True

    def show(self, rivals: Iterable[Rival], *, has_scale: bool = True) -> None:
        """Replaces the members by ``rivals``, which have current ratings; the numbers of games
        drawn stay. ``has_scale`` says whether benchmarks fix the league's scale already.
        """
        self._has_scale = has_scale
        self.rivals = {rival.bot: rival for rival in rivals}
        for bot, rival in self.rivals.items():
            rival.games = self.games[bot]

    def add(self, line_up: LineUp, games: int) -> None:
        """Counts ``games`` games that were drawn for a line-up, and lowers the standard errors of
        its bots by what these games are expected to show. Called when games are drawn, before they
        are played.
        """
        self.turn += 1
        for pair in combinations(sorted(line_up), 2):
            self.met[pair] += games
        self.games.update(dict.fromkeys(line_up, games))
        here = [self.rivals[bot] for bot in line_up if bot in self.rivals]
        # The errors from before these games count, whatever the order of the bots.
        gained = dict.fromkeys(line_up, 0.0)
        for one, other in permutations(here, 2):
            difference = one.elo - other.elo
            gained[one.bot] += _information_gained(difference, one.error, other.error, games)
        for one in here:
            one.games += games
            one.error = 1 / sqrt(1 / one.error**2 + gained[one.bot])

    def next_line_up(self) -> LineUp | None:
        """The line-up to draw next; None if there are fewer bots than a game has players, or no
        suitable pair. It begins with a pair for the purpose whose turn it is or, if that purpose
        has no pair, for another purpose. Other bots take the seats that are left.
        """
        if len(self.rivals) < self._players:
            return None
        purposes = WHILE_PLACING if self._has_scale else WITHOUT_SCALE
        purposes = purposes if self._to_place() else WHEN_PLACED
        first = purposes[self.turn % len(purposes)]
        for purpose in (first, *WHILE_PLACING):
            pair = self._pair(purpose)
            if pair:
                line_up = [rival.bot for rival in self._filled(pair)]
                return tuple(sorted(line_up))
        return None

    def line_up_with(self, one: str, other: str) -> LineUp | None:
        """A line-up with these two bots, which need not be among the members that play. Other seats
        go to the members whose ratings are nearest to that of ``one``, because games say most about
        bots of similar strength. None if there are fewer bots than a game has players.
        """
        elo = self.rivals[one].elo if one in self.rivals else 0.0
        others = [rival for rival in self.rivals.values() if rival.bot not in (one, other)]
        others.sort(key=lambda rival: (abs(rival.elo - elo), rival.bot))
        line_up = [one, other, *(rival.bot for rival in others[: self._players - 2])]
        return tuple(sorted(line_up)) if len(line_up) == self._players else None

    @property
    def is_placing(self) -> bool:
        """Whether there is a candidate that has not been placed yet."""
        return bool(self._to_place())

    def _to_place(self) -> list[Rival]:
        """The candidates that have not been placed yet."""
        return [rival for rival in self.rivals.values() if not rival.has_rating]

    def _pair(self, purpose: Purpose) -> tuple[Rival, Rival] | None:
        """The most informative pair for a purpose; None if there is none."""
        if purpose == "place":
            return self._candidate()
        pairs = self._neighbours() if purpose == "neighbours" else self._scale()
        best = max(pairs, default=None)
        return best and (self.rivals[best[1]], self.rivals[best[2]])

    def _candidate(self) -> tuple[Rival, Rival] | None:
        """A candidate to be placed, and the opponent whose games say most about it: a benchmark, or
        the version before it; None if no candidate is to be placed. Games against the version
        before also measure the gain. Giving them double worth would make placing take 80 % longer,
        by simulation.

        A newcomer without games comes first. It then waits until its first games have been rated,
        because it may do nothing but forfeit. Otherwise authors take turns, each with the version
        that joined first. If the candidate with the fewest games always came next, and versions
        came faster than they can be placed, none would ever be placed.
        """
        waiting = self._to_place()
        if not waiting:
            return None
        candidate = min(
            waiting, key=lambda one: (one.games > 0 and not one.is_seen, one.games > 0, one.turn)
        )
        others = [rival for rival in self.rivals.values() if rival is not candidate]
        opponents = [rival for rival in others if rival.is_benchmark]
        before = self.rivals.get(candidate.before)
        if before and before.is_placed and not before.is_benchmark:
            opponents.append(before)
        return candidate, max(opponents or others, key=lambda rival: self._worth(candidate, rival))

    def _worth(self, candidate: Rival, rival: Rival) -> tuple[float, str]:
        """How much another game against ``rival`` says about ``candidate``, and the rival's label,
        which decides between equal values. It follows from this: n games with information i each,
        against a rival whose rating has variance v, leave a variance of 1/(n i) + v.
        """
        each = information(candidate.elo - rival.elo, candidate.error)
        had = self.met[_key(candidate, rival)] * each * rival.error**2
        return each / (1 + had) ** 2, rival.bot

    def _scale(self) -> Iterator[tuple[float, str, str]]:
        """The pairs of benchmarks, each with the worth of another game between the two and their
        labels.
        """
        benchmarks = [rival for rival in self.rivals.values() if rival.is_benchmark]
        for one, other in combinations(benchmarks, 2):
            each = information(one.elo - other.elo, _spread(one, other))
            yield each / (1 + self.met[_key(one, other)]), one.bot, other.bot

    def _neighbours(self) -> Iterator[tuple[float, str, str]]:
        """The pairs of neighbours in the ranking, and of each version with the one before it. Each
        pair comes as the worth of another game between the two, and their labels.
        """
        placed = [rival for rival in self.rivals.values() if rival.has_rating]
        placed.sort(key=lambda rival: (-rival.elo, rival.bot))
        for at, one in enumerate(placed):
            for other in placed[at + 1 : at + 1 + WINDOW]:
                yield self._gain(one, other), one.bot, other.bot
            before = self.rivals.get(one.before)
            if before and before.is_placed:
                yield VERSIONS * self._gain(one, before), one.bot, before.bot

    def _gain(self, one: Rival, other: Rival) -> float:
        """How much a game between two bots would shrink the variance of the difference of their
        ratings. Games that they have played count; without that, two equal bots would play nobody
        else.
        """
        difference = one.elo - other.elo
        error = _spread(one, other)
        each = information(difference, error)
        variance = 1 / (1 / error**2 + self.met[_key(one, other)] * each)
        return variance**2 * each * (SETTLED if abs(difference) > CLEAR * error else 1.0)

    def _filled(self, pair: tuple[Rival, Rival]) -> list[Rival]:
        """The bots of a line-up: this pair, and as many others as fit, those first whose games say
        most about the first bot of the pair. While that bot is being placed, benchmarks come before
        others.
        """
        table = list(pair)
        first = pair[0]
        is_placing = not (first.is_placed or first.is_benchmark)

        def nearness(rival: Rival) -> tuple[bool, float, str]:
            is_wanted = rival.is_benchmark or not is_placing
            return is_wanted, self._worth(first, rival)[0], rival.bot

        others = [rival for rival in self.rivals.values() if rival not in pair]
        others.sort(key=nearness, reverse=True)
        return table + others[: self._players - len(table)]


def information(difference: float, error: float) -> float:
    """The information, in 1/Elo squared, of one game between two bots whose ratings differ by
    ``difference`` Elo, where the difference has the standard error ``error``. It is the mean of p
    (1 - p) over the places where the difference may lie, by MacKay's approximation.
    """
    shrink = 1 / sqrt(1 + pi / 8 * (error / ELO) ** 2)
    chance = 1 / (1 + exp(-difference / ELO * shrink))
    return shrink**2 * chance * (1 - chance) / ELO**2


def _information_gained(difference: float, error: float, of_other: float, games: int) -> float:
    """By how much ``games`` games increase the precision (1/variance, in 1/Elo squared) of a bot's
    rating. The opponent's rating is ``difference`` Elo away. ``error`` and ``of_other`` are the
    standard errors of the bot and of the opponent.
    """
    each = information(difference, sqrt(error**2 + of_other**2))
    return 1 / (1 / (games * each) + of_other**2)


def _spread(one: Rival, other: Rival) -> float:
    """The standard error, in Elo, of the difference between the ratings of two bots."""
    return sqrt(one.error**2 + other.error**2)


def _key(one: Rival, other: Rival) -> tuple[str, str]:
    """The labels of two bots, sorted."""
    return (one.bot, other.bot) if one.bot < other.bot else (other.bot, one.bot)


def first_guess(elos: Mapping[str, float], before: str) -> tuple[float, float]:
    """The guessed rating in Elo of a bot without games, and its standard error. ``elos`` has the
    known ratings by label; the guess is that of ``before``, the version before the bot, or else the
    mean (0 if none is known).
    """
    if before in elos:
        return elos[before], RELATED_ELO
    return (sum(elos.values()) / len(elos) if elos else 0.0), UNKNOWN_ELO


def can_found(benchmarks: Sequence[tuple[float, int]]) -> bool:
    """Whether a league's scale can begin with its present benchmarks, given for each of them the
    half-width in Elo of its 95 % interval (infinite if unknown) and its number of games. False
    without benchmarks.
    """
    if not benchmarks:
        return False
    weights = []
    known_weights = []
    for half_width, games in benchmarks:
        if games < FOUNDER_LEAST_GAMES:
            return False
        weight = 1 / max(half_width, MIN_ELO) ** 2
        weights.append(weight)
        if half_width <= FOUNDER_ELO or games >= FOUNDER_GAMES:
            known_weights.append(weight)
    if len(known_weights) == len(weights):
        return True
    return sum(known_weights) >= FOUNDER_SHARE * sum(weights) > 0


def error_of(half_width: float, games: int) -> float:
    """The standard error, in Elo, of a rating whose 95 % interval has this half-width. It is at
    most the error that is expected after ``games`` games against equal bots, which also stands for
    a half-width that is unknown (infinite). It is at least `MIN_ELO`, because the rating of a bot
    that fixes the scale alone has no error.
    """
    known = half_width / TWO_SIDED if half_width < inf else inf
    error = min(known, 1 / sqrt(1 / UNKNOWN_ELO**2 + games * information(0.0, 0.0)))
    return max(error, MIN_ELO)
