"""Simulated leagues: where the level of the scale goes while versions come and benchmarks change,
how often ratings hold the truth on it, and what is left of the luck in a gain after shrinking it.

The arena's own functions draw the games, rate them, freeze the scale and shrink the gains; only
the results of games are drawn by lot, from known strengths, with luck that the games on a deal
share. An author submits one version after another, each built on the one that looks best. After
every fifth version the best-looking one becomes a benchmark, and the weakest benchmark retires.
"""

from typing import NamedTuple

import numpy as np

from arena.ratings.gains import shrunk
from arena.ratings.likelihood import ELO
from arena.ratings.model import rate
from arena.ratings.results import Outcomes, counts_of
from arena.ratings.scale import frozen_scale, level_on, on_scale
from arena.records.league import LeagueScale
from arena.tournament.placing import (
    PLACED_ELO,
    PLACING_GAMES,
    Contenders,
    Rival,
    can_found,
    error_of,
    first_guess,
)
from tests.ratings.worlds import gumbel

BENCHMARKS = {f"bm{number}": 150.0 * (number - 3) for number in range(7)}
"""The true strengths of the first benchmarks, in Elo."""
EQUAL = dict.fromkeys(("bm0", "bm1", "bm2"), 0.0)
"""The benchmarks of a closed pool: three bots that are equally strong."""
DEALS = 4
LOOK_DRAWS = 6
"""The ratings are computed after so many draws."""
IDLE_GAMES = 80
"""Games between the placing of a version and the next one."""
TURNOVER = 5
"""After so many versions, a benchmark is replaced."""
KEPT = 6
"""Versions that are so many behind the newest retire."""
SEAT_STEP = -15.0
DEAL_LUCK = 0.13
"""The correlation between a bot's luck in two games on one deal. The luck of every game has the
same distribution, so the strengths are just those that a fit of very many games finds. A bonus for
each bot on each deal would make bots look closer together than they are.
"""


class Steps(NamedTuple):
    """By how much each version is better than the one it is built on, in Elo: mean and standard
    deviation.
    """

    mean: float
    sd: float


class Told(NamedTuple):
    """What is told of a version when it has been placed: its rating's error ``off``, and the
    half-width ``half`` that it is said to have; and its gain, the half-width of the gain, what is
    likely by the gains until then, and what is true (NaN for the first version).
    """

    games: int
    off: float
    half: float
    gain: float = np.nan
    gain_half: float = np.nan
    likely: float = np.nan
    true: float = np.nan


def luck_of_deal(rng, players):
    """(games, bots) the luck of each bot of a line-up in each game that it plays on a deal."""
    common = np.sqrt(DEAL_LUCK) * rng.standard_normal(players)
    own = np.sqrt(1 - DEAL_LUCK) * rng.standard_normal((players, players))
    return gumbel(common + own)


class SimulatedLeague:
    """A league of ``players`` at a table, while it is played. If it ``is_closed``, its benchmarks
    stay the same for ever.
    """

    def __init__(self, players, steps, rng, benchmarks=BENCHMARKS, *, is_closed=False):
        self.players, self.steps, self.rng = players, steps, rng
        self.is_closed = is_closed
        self.elo = dict(benchmarks)
        self.status = dict.fromkeys(benchmarks, "benchmark")
        self.before, self.placed, self.versions = {}, set(), []
        self.seats, self.ranks, self.deal = [], [], []
        self.scale, self.known, self.field = LeagueScale(), {}, Contenders(players)
        self.draws = 0
        self.told = []

    @property
    def benchmarks(self):
        return [bot for bot, status in self.status.items() if status == "benchmark"]

    def counts(self):
        ranks, games = np.array(self.ranks), np.arange(len(self.ranks))
        played = Outcomes(np.array(self.seats), ranks, np.array(self.deal), games, {})
        return counts_of(list(self.elo), np.arange(self.deal[-1] + 1), played)

    def play(self, line_up):
        """Plays the deals of a draw, each with rotated seats."""
        bots = list(self.elo)
        numbers = np.array([bots.index(bot) for bot in line_up])
        strength = np.array([self.elo[bot] for bot in line_up])
        effects = SEAT_STEP * np.arange(self.players)
        for _ in range(DEALS):
            deal = self.deal[-1] + 1 if self.deal else 0
            luck = luck_of_deal(self.rng, self.players)
            for turn in range(self.players):
                order = np.roll(np.arange(self.players), turn)
                value = (strength[order] + effects) / ELO + luck[turn, order]
                self.seats.append(numbers[order])
                self.ranks.append((-value).argsort().argsort() + 1)
                self.deal.append(deal)
        return DEALS * self.players

    def step(self):
        """A draw, and after some draws a look at the ratings."""
        line_up = self.field.next_line_up()
        self.field.add(line_up, self.play(line_up))
        self.draws += 1
        if self.draws % LOOK_DRAWS == 0:
            self.look()

    def look(self):
        """As a league does: rates, freezes the scale if it is time, and shows who plays."""
        if self.ranks:
            counts = self.counts()
            self.known = on_scale(counts, self.benchmarks, self.scale, {})
            ratings = [self.known[bot] for bot in self.benchmarks if bot in self.known]
            known = [(rating.error, rating.games) for rating in ratings]
            is_whole = len(known) == len(self.benchmarks)
            if not self.scale and is_whole and can_found(known):
                self.scale = frozen_scale(counts, self.benchmarks, self.scale) or self.scale
        elos = {bot: rating.elo for bot, rating in self.known.items()}
        rivals = []
        for bot, status in self.status.items():
            rating, before = self.known.get(bot), self.before.get(bot, "")
            elo, error = (
                (rating.elo, error_of(rating.error, rating.games))
                if rating
                else first_guess(elos, before)
            )
            rival = Rival(bot, elo=elo, error=error, before=before, is_seen=rating is not None)
            rival.is_benchmark = status == "benchmark"
            rival.is_placed = bot in self.placed
            if status != "retired":
                rivals.append(rival)
        self.field.show(rivals, has_scale=bool(self.scale))

    def is_placed(self, bot):
        rating = self.known.get(bot)
        return rating and (rating.error <= PLACED_ELO or rating.games >= PLACING_GAMES)

    @property
    def zero(self):
        """What is added to the true strengths to have them on the scale that was founded."""
        weights = self.scale.weights
        off = [self.scale.elo[bot] - self.elo[bot] for bot in weights]
        return float(np.average(off, weights=list(weights.values())))

    def rated(self):
        """As the history has them: names, ratings, half-widths, and the fit."""
        counts = self.counts()
        fit = rate(counts.results).fits[0]
        names = [counts.results.bots[member] for member in fit.members]
        level = level_on(names, fit, self.benchmarks, self.scale)
        halves = np.array([level.error_of(index) for index in range(len(names))])
        return names, fit.elo + level.shift, halves, fit

    def truth(self, names):
        return np.array([self.elo[name] for name in names]) + self.zero

    def level(self):
        """How far the ratings of all bots lie above the truth, weighted by how well they are
        known.
        """
        names, elo, _, fit = self.rated()
        weights = 1 / np.maximum(np.diag(fit.covariance), 1)
        return float(np.average(elo - self.truth(names), weights=weights))

    def submit(self, bot, elo):
        """Plays until the next version is placed."""
        self.elo[bot], self.status[bot] = elo, "candidate"
        if self.versions:
            self.before[bot] = self.versions[-1]
        self.look()
        while not self.is_placed(bot):
            self.step()
        self.told.append(self.tell(bot))
        self.placed.add(bot)
        self.versions.append(bot)
        self.look()

    def tell(self, bot):
        names, elo, halves, fit = self.rated()
        at = names.index(bot)
        told = Told(self.known[bot].games, elo[at] - self.truth(names)[at], halves[at])
        if not self.versions:
            return told
        old = names.index(self.versions[-1])
        gain = fit.elo[at] - fit.elo[old]
        half = fit.difference_half_widths()[at, old]
        earlier = self.told[1:]
        likely = shrunk(
            np.array([*(each.gain for each in earlier), gain]),
            np.array([*(each.gain_half for each in earlier), half]),
        )[-1]
        true = self.elo[bot] - self.elo[self.versions[-1]]
        return told._replace(gain=gain, gain_half=half, likely=likely, true=true)

    def best(self, bots):
        return max(bots, key=lambda bot: self.known[bot].elo)

    def turn_over(self):
        """The version that looks best becomes a benchmark, and the weakest benchmark retires."""
        best = self.best(bot for bot in self.versions if self.status[bot] != "benchmark")
        self.status[best] = "benchmark"
        self.status[min(self.benchmarks, key=lambda bot: self.known[bot].elo)] = "retired"
        self.look()

    def run(self, versions, base=None):
        """Plays the league, whose first version is ``base`` Elo strong (None: by lot); the level
        after each version.
        """
        levels = []
        self.look()
        while not self.scale:
            self.step()
        if base is None:
            base = self.rng.uniform(-100, 50)
        for number in range(versions):
            elo = base + (self.rng.normal(*self.steps) if number else 0)
            self.submit(f"my{number + 1:02}", elo)
            base = self.elo[self.best(self.versions)]
            games = len(self.ranks)
            while len(self.ranks) - games < IDLE_GAMES:
                self.step()
            if number >= KEPT and self.status[self.versions[number - KEPT]] == "candidate":
                self.status[self.versions[number - KEPT]] = "retired"
            if (number + 1) % TURNOVER == 0 and not self.is_closed:
                self.turn_over()
            levels.append(self.level())
        return levels


def league(players, steps, versions):
    """A trial of a league: the figures of `FIGURES` in `tests.ratings.rows`."""

    def trial(rng):
        played = SimulatedLeague(players, steps, rng)
        levels = played.run(versions)
        names, elo, halves, _ = played.rated()
        own = [names.index(bot) for bot in played.versions]
        off = (elo - played.truth(names))[own]
        told = np.array(played.told)
        games, placed_off, placed_half, gain, gain_half, likely, true = told.T
        from_third = ~np.isnan(likely)
        better = from_third & (gain > gain_half)
        return (
            np.mean(np.abs(placed_off) <= placed_half),
            np.mean(np.abs(off) <= halves[own]),
            games.mean(),
            len(played.ranks),
            (levels[-1] - levels[0]) ** 2,
            off[np.argmax(elo[own])],
            np.mean((gain - true)[from_third] ** 2),
            np.mean((likely - true)[from_third] ** 2),
            *(values[better].mean() if better.any() else np.nan for values in (gain, likely, true)),
        )

    return trial


def closed_pool(players, versions):
    """A trial of a closed pool of three equal bots, which versions as strong as they are join one
    after another: how often ratings held the truth, when the versions were placed and in the end;
    games; how far the level moved; the mean error of the versions' ratings in the end; and how
    often a version was called better than the one before it, and worse.
    """

    def trial(rng):
        played = SimulatedLeague(players, Steps(0, 0), rng, EQUAL, is_closed=True)
        levels = played.run(versions, 0.0)
        names, elo, halves, _ = played.rated()
        own = [names.index(bot) for bot in played.versions]
        off = (elo - played.truth(names))[own]
        told = np.array(played.told)
        games, placed_off, placed_half, gain, gain_half, _, _ = told.T
        later = slice(1, None)
        return (
            np.mean(np.abs(placed_off) <= placed_half),
            np.mean(np.abs(off) <= halves[own]),
            games.mean(),
            (levels[-1] - levels[0]) ** 2,
            np.mean(off),
            np.mean(gain[later] > gain_half[later]),
            np.mean(gain[later] < -gain_half[later]),
        )

    return trial
