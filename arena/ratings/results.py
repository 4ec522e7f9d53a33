"""Counted results: the figures that the tables and the rating model need from the games, as arrays
that do not depend on the order in which the games were played.
"""

from collections.abc import Iterable, Mapping
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.ratings.table_data import TableData
from arena.records.record import NS_PER_MS, WHOLE

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ints32 = NDArray[np.int32]
RANKS = 4
MIN_SEATS = 2


class Summed(NamedTuple):
    """A value that each seat has in a game, and that is summed over the games.

    ``field``  its name in the records of games, and in the columns of a CSV file of games
    ``total``  the name of the sum in `Counts.totals`
    ``games``  the name, there, of the number of games that have the value
    ``parts``  the number of parts of the value's unit in which the sum counts, so that it is a
               whole number; 1 for values that are whole numbers
    """

    field: str
    total: str
    games: str
    parts: int = 1


SUMS = (
    Summed("left", "left", "left_games"),
    Summed("think_ms", "think_ns", "think_games", NS_PER_MS),
)
"""The values that are summed, whether they come from a journal or a CSV file. `tally` adds up those
of a journal in a loop of its own for each, because it may read millions of games.

Sums are of whole numbers: they do not depend on the order of the games, as sums of floats do.
"""


class Results(NamedTuple):
    """The counted games between n ``bots``: G games on ``clusters`` deals. Games with the same bots
    in the same seats and the same ranks have one *outcome*; there are O outcomes, sorted. Arrays by
    seat have K columns, the seats of the largest table; smaller tables have empty seats.

    ``seats`` (O, K)    the bots' numbers; n for an empty seat, or for a bot that is left out, see
                        `restrict`
    ``players`` (O,)    the number of players in the game
    ``ranks`` (O, K)    the rank of each seat
    ``share`` (O, K)    the share of the win of each seat, 0 for an empty one
    ``times`` (O,)      how many games had the outcome
    ``cluster`` (G,)    the number of each game's deal; games are sorted by deal, then by outcome
    ``outcome`` (G,)    the number of each game's outcome
    """

    bots: list[str]
    clusters: int
    seats: Ints
    players: Ints
    ranks: Ints
    share: Floats
    times: Floats
    cluster: Ints32
    outcome: Ints32

    @property
    def games(self) -> int:
        """The number of counted games, G."""
        return len(self.cluster)

    def names_of(self, members: Iterable[int]) -> list[str]:
        """The names of the bots with the numbers ``members``, in their order."""
        return [self.bots[member] for member in members]

    def played(self) -> Floats:
        """(n,) the number of games of each bot; a bot in two seats of a game counts twice."""
        count = len(self.bots)
        width = self.seats.shape[1]
        games = np.bincount(self.seats.ravel(), np.repeat(self.times, width), count + 1)
        return np.asarray(games[:count], dtype=np.float64)

    def meetings(self) -> Ints:
        """(3, n, n) for each two different bots: [0] in how many games they met, [1] in how many
        the row's bot ranked better than the column's, and [2] in how many they ranked equal.
        """
        count = len(self.bots)
        width = len(self.bots) + 1
        counted = np.zeros((3, width * width))
        for one, other in permutations(range(self.seats.shape[1]), 2):
            pair = self.seats[:, one] * width + self.seats[:, other]
            ranks = self.ranks[:, one]
            others = self.ranks[:, other]
            for row, which in enumerate((True, ranks < others, ranks == others)):
                counted[row] += np.bincount(pair, self.times * which, width * width)
        met = counted.reshape(3, width, width)[:, :count, :count].astype(np.int64)
        return np.where(np.eye(count, dtype=np.bool_), 0, met)

    def deals(self) -> Ints:
        """(n,) on how many deals each bot played."""
        deals = np.zeros(len(self.bots) + 1, dtype=np.int64)
        step = 1 << 16
        for first in range(0, self.clusters, step):
            played = np.zeros((step, len(deals)), dtype=np.bool_)
            games = slice(*np.searchsorted(self.cluster, (first, first + step)))
            deal = self.cluster[games] - first
            bots = self.seats[self.outcome[games]]
            for seat in range(self.seats.shape[1]):
                played[deal, bots[:, seat]] = True
            deals += played.sum(axis=0)
        return deals[:-1]

    def only(self, kept: Flags) -> "Results":
        """The results with only the outcomes for which ``kept`` (O,) is True, and the games and
        deals that have them.
        """
        games = kept[self.outcome]
        used = np.zeros(self.clusters, dtype=np.bool_)
        used[self.cluster[games]] = True
        deal = (np.cumsum(used) - 1).astype(np.int32)
        row = (np.cumsum(kept) - 1).astype(np.int32)
        return Results(
            bots=self.bots,
            clusters=int(used.sum()),
            seats=self.seats[kept],
            players=self.players[kept],
            ranks=self.ranks[kept],
            share=self.share[kept],
            times=self.times[kept],
            cluster=deal[self.cluster[games]],
            outcome=row[self.outcome[games]],
        )

    def on_deals(self, kept: Flags) -> "Results":
        """The results with only the games on the deals for which ``kept`` (``clusters``,) is
        True.
        """
        games = kept[self.cluster]
        outcome = self.outcome[games]
        times = np.bincount(outcome, minlength=len(self.times)).astype(np.float64)
        part = self._replace(times=times, cluster=self.cluster[games], outcome=outcome)
        return part.only(times > 0)


def restrict(results: Results, members: Ints) -> Results:
    """The results among the ``members`` alone, which get the numbers 0, 1, ... in their order: the
    games in which at least two members played and one of them got a share of the win, with the
    seats of other bots emptied.

    In the rating model the odds between two bots do not depend on who else is in the game. So
    leaving out a seat takes nothing from what the game says about the others.
    """
    if len(members) == len(results.bots):
        return results
    number = np.full(len(results.bots) + 1, len(members), dtype=np.int64)
    number[members] = np.arange(len(members))
    seats = number[results.seats]
    inside = seats < len(members)
    won = (results.share * inside).sum(axis=1, keepdims=True)
    share = np.divide(results.share * inside, won, where=won > 0, out=np.zeros(seats.shape))
    names = results.names_of(members)
    kept = (inside.sum(axis=1) >= MIN_SEATS) & (won[:, 0] > 0)
    return results._replace(bots=names, seats=seats, share=share).only(kept)


class Outcomes(NamedTuple):
    """Games as they were read: O outcomes in any order, and for each of G games its deal and its
    outcome.

    ``seats`` (O, K)  the bots' numbers; the number of bots for an empty seat
    ``ranks`` (O, K)  the rank of each seat, 1 is best
    ``cluster`` (G,)  the number of each game's deal
    ``outcome`` (G,)  the index of each game's outcome
    ``sums``          by name, arrays (O, K) that are summed over the games with the outcome:
                      ``forfeits`` and the totals of `SUMS`. If some games do not have a value of
                      `SUMS`, also the number of games that do, such as ``left_games``
    """

    seats: Ints
    ranks: Ints
    cluster: Ints
    outcome: Ints | Ints32
    sums: Mapping[str, NDArray[Any]]


class Counts(NamedTuple):
    """The counted games, and the sums over them that the tables need.

    ``results``     the counted games
    ``deals`` (C,)  the number, on its board, of each of the C deals of ``results``
    ``totals``      a table, sorted, with a row for each number of players, seat and bot with games
                    there

    The first four columns of ``totals`` are int64, the others float64; values that a file of
    results does not have are left out of the sums:

    ``seats``, ``seat``, ``bot``  the number of players, the seat, and the bot's number
    ``games``                     the number of games
    ``wins``, ``shared``          games that the bot won alone, and whose win it shared
    ``parts``                     the sum of its shares of the win, in parts of `WHOLE`
    ``ranks``, ``forfeits``       sums over these games
    the totals of `SUMS`          sums over the games that have the value, such as ``left`` over
                                  ``left_games`` games
    """

    results: Results
    deals: Ints
    totals: TableData


def counts_of(bots: list[str], deals: Ints, played: Outcomes) -> Counts:
    """Counts the ``played`` games between these bots; ``deals`` has, for each deal (the clusters of
    ``played``), its number on its board.
    """
    results = count_games(bots, len(deals), *played[:4])
    return Counts(results, deals, _totals(played, len(bots)))


def count_games(
    bots: list[str],
    clusters: int,
    seats: Ints,
    ranks: Ints,
    cluster: Ints,
    outcome: Ints | Ints32 | None = None,
) -> Results:
    """Counts games between ``bots`` on ``clusters`` deals; the arrays are those of `Outcomes`. If
    ``outcome`` is None, each game has its own row of ``seats`` and ``ranks``.
    """
    places = np.arange(seats.shape[1])
    inside = seats < len(bots)
    codes = (seats @ (len(bots) + 1) ** places) * RANKS ** len(places)
    codes += np.where(inside, ranks - 1, 0) @ RANKS**places
    distinct, first, number = np.unique(codes, return_index=True, return_inverse=True)
    # Sorted by deal and outcome, whatever the journal's order: the last digits of float sums depend
    # on the order, and a table must not depend on which worker was faster.
    order = cluster * max(len(distinct), 1)
    order += number if outcome is None else number[outcome]
    order.sort()
    of_game = (order % max(len(distinct), 1)).astype(np.int32)
    won = (inside & (ranks == 1))[first]
    return Results(
        bots=bots,
        clusters=clusters,
        seats=seats[first],
        players=inside[first].sum(axis=1),
        ranks=ranks[first],
        share=won / np.maximum(won.sum(axis=1, keepdims=True), 1),
        times=np.bincount(of_game, minlength=len(distinct)).astype(np.float64),
        cluster=(order // max(len(distinct), 1)).astype(np.int32),
        outcome=of_game,
    )


def _totals(played: Outcomes, bots: int) -> TableData:
    """Computes `Counts.totals` from the games ``played`` between ``bots`` bots. The sums are of
    whole numbers, so that they do not depend on the order of the games.
    """
    inside = played.seats < bots
    width = played.seats.shape[1]
    won = inside & (played.ranks == 1)
    players = inside.sum(axis=1, keepdims=True)
    winners = won.sum(axis=1, keepdims=True)
    games = np.bincount(played.outcome, minlength=len(won))[:, None]
    columns: dict[str, NDArray[Any]] = {
        "games": games,
        "wins": games * (won & (winners == 1)),
        "shared": games * (won & (winners > 1)),
        "parts": games * won * (WHOLE // np.maximum(winners, 1)),
        "ranks": games * played.ranks,
        "forfeits": games * 0,
        **{summed.total: games * 0 for summed in SUMS},
        **{summed.games: games for summed in SUMS},
        **played.sums,
    }
    place = ((players * width + np.arange(width)) * bots + played.seats)[inside]
    held = np.flatnonzero(np.bincount(place))
    sums = {}
    for name, values in columns.items():
        of_seats = np.broadcast_to(values, won.shape)[inside]
        sums[name] = np.bincount(place, of_seats)[held]
    seat = held // max(bots, 1)
    bot = held % max(bots, 1)
    sums["games"] = sums["games"].astype(np.int64)
    return TableData({"seats": seat // width, "seat": seat % width, "bot": bot, **sums})
