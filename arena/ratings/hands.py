"""Hands that others played better: on one deal every bot gets the same tiles in the same seat, so
results can be compared.
"""

from array import array
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from arena.ratings.components import Floats, Ints
from arena.ratings.expectation import expected_wins
from arena.ratings.model import Ratings
from arena.ratings.results import Column
from arena.ratings.tally import GameList

SAME_HAND = ["cluster", "seats", "seat"]
DIGITS = 9
"""Hands that agree to this many decimals are equal; the rest is rounding."""


class _HeldGames(NamedTuple):
    """The games (n,) with k players: ``number`` in the journal, ``cluster``, ``outcome`` (a row of
    the arrays below), ``left`` (n, k).

    ``bots`` (O, k) numbers, ``share`` (O, k), and ``expected`` (O, k) by ratings and seats, NaN if
    a bot has no rating
    """

    number: Ints
    cluster: Ints
    outcome: Column
    left: Ints
    bots: Ints
    share: Floats
    expected: Floats


class Hands:
    """The hands of counted games; ``left`` are the pagodas left by game and seat, ``bots`` are the
    bots of the ratings.
    """

    def __init__(
        self, games: GameList, left: "array[int]", bots: Sequence[str], ratings: Ratings
    ) -> None:
        self._bots = list(bots)
        known, outcome = list(games.outcomes), np.array(games.outcome, dtype=np.int32)
        _, cluster = np.unique(games.board_deals(), return_inverse=True)
        sizes = np.array([len(seated) for _, seated, _ in known], dtype=np.int64)
        starts = np.cumsum(sizes[outcome]) - sizes[outcome]
        number = {name: place for place, name in enumerate(bots)}
        self._tables = []
        for size in sorted(set(sizes.tolist())):
            rows, held = np.flatnonzero(sizes == size), np.flatnonzero(sizes[outcome] == size)
            seats = np.array([[number[bot] for bot in known[row][1]] for row in rows.tolist()])
            won = np.array([known[row][2] for row in rows.tolist()]) == 1
            self._tables.append(
                _HeldGames(
                    number=held,
                    cluster=cluster[held],
                    outcome=np.searchsorted(rows, outcome[held]).astype(np.int32),
                    left=np.asarray(left)[starts[held][:, None] + np.arange(size)],
                    bots=seats,
                    share=won / won.sum(axis=1, keepdims=True),
                    expected=expected_wins(ratings, len(bots), seats),
                )
            )

    def candidates(self, bot: str, most: int) -> pd.DataFrame:
        """The rows that `worst_hands` needs to find this many hands: a few hands for each table
        size and seat.
        """
        me = self._bots.index(bot)
        parts = [
            _rows(table, seat, _worst(table, seat, me, most))
            for table in self._tables
            for seat in range(table.bots.shape[1])
        ]
        columns = ["game", *SAME_HAND, "bot", "share", "expected", "left"]
        frame = (
            pd.concat(parts, ignore_index=True)
            if parts
            else pd.DataFrame({name: [] for name in columns}, dtype=np.int64)
        )
        return frame.assign(bot=np.array([*self._bots, ""], dtype=object)[frame["bot"]])


def _worst(table: _HeldGames, seat: int, me: int, most: int) -> Ints:
    """The clusters whose hands a bot played worst in a seat, compared with others."""
    excess = (table.share - table.expected)[:, seat]
    rated = ~np.isnan(excess)
    deals = int(table.cluster.max(initial=-1)) + 1
    sums = []
    for own in (True, False):
        counts = rated & ((table.bots[:, seat] == me) == own)
        games = np.flatnonzero(counts[table.outcome])
        cluster, outcome = table.cluster[games], table.outcome[games]
        values = (None, excess[outcome], table.left[games, seat])
        sums.append([np.bincount(cluster, value, deals) for value in values])
    with np.errstate(invalid="ignore", divide="ignore"):
        (own_excess, own_left), (other_excess, other_left) = (
            [total / games for total in totals] for games, *totals in sums
        )
    swing, behind = (
        np.round(other_excess - own_excess, DIGITS),
        np.round(own_left - other_left, DIGITS),
    )
    order = np.lexsort((-behind, -swing))
    return order[: min(most, int((~np.isnan(swing)).sum()))]


def _rows(table: _HeldGames, seat: int, clusters: Ints) -> pd.DataFrame:
    """One row for each game with these clusters' hands in a seat."""
    games = np.flatnonzero(np.isin(table.cluster, clusters))
    outcome = table.outcome[games]
    return pd.DataFrame(
        {
            "game": table.number[games],
            "cluster": table.cluster[games],
            "seats": table.bots.shape[1],
            "seat": seat,
            "bot": table.bots[outcome, seat],
            "share": table.share[outcome, seat],
            "expected": table.expected[outcome, seat],
            "left": table.left[games, seat],
        }
    )


def worst_hands(frame: pd.DataFrame, ids: Mapping[int, str], bot: str, most: int) -> pd.DataFrame:
    """The hands that a bot played worst, compared with other bots that held the same tiles in the
    same seat; worst first.

    ``frame`` has one row for each game and seat; ``ids`` are the games' ids by number:

    ``game``, ``cluster``, ``seats``, ``seat``  int64; ``bot`` str; ``share``, ``expected`` float64,
                                                NaN without a rating; ``left`` int64

    The table:

    ``seats``, ``seat``  int64, the number of players and the seat
    ``games``, ``other_games``  int64, played from there by the bot, and by others
    ``share``, ``expected``, ``other_share``, ``other_expected``  float64, means over these games;
                                                                  expectations include opponents'
                                                                  strength
    ``swing``  float64, how much more than the bot the others exceeded their expectation
    ``left``, ``other_left``  float64, mean number of pagodas left
    ``game``, ``other_game``  str, ids of the bot's worst game, and of the best of the others
    """
    held = frame[frame["expected"].notna()]
    held = held.assign(excess=held["share"] - held["expected"], own=(held["bot"] == bot).to_numpy())
    means = held.groupby([*SAME_HAND, "own"], sort=True).agg(
        games=("game", "size"),
        share=("share", "mean"),
        expected=("expected", "mean"),
        excess=("excess", "mean"),
        left=("left", "mean"),
    )
    table = _one_side(means, own=True).join(
        _one_side(means, own=False).add_prefix("other_"), how="inner"
    )
    table["swing"] = (table["other_excess"] - table["excess"]).round(DIGITS)
    table["behind"] = (table["left"] - table["other_left"]).round(DIGITS)
    table = (
        table.sort_values(["swing", "behind"], ascending=False, kind="stable")
        .head(most)
        .reset_index()
    )
    table["game"] = [
        _extreme(held, ids, key, own=True) for key in table[SAME_HAND].itertuples(index=False)
    ]
    table["other_game"] = [
        _extreme(held, ids, key, own=False) for key in table[SAME_HAND].itertuples(index=False)
    ]
    table = table.astype({"seats": "int64", "seat": "int64"})
    figures = ["share", "expected", "other_share", "other_expected", "swing", "left", "other_left"]
    return table[["seats", "seat", "games", "other_games", *figures, "game", "other_game"]]


def _one_side(means: pd.DataFrame, *, own: bool) -> pd.DataFrame:
    return means[means.index.get_level_values("own") == own].droplevel("own")


def _extreme(held: pd.DataFrame, ids: Mapping[int, str], key: Sequence[int], *, own: bool) -> str:
    """The id of the bot's worst game with a hand, or of the others' best one."""
    rows = held[(held[SAME_HAND] == list(key)).all(axis=1) & (held["own"] == own)]
    named = rows.assign(name=[ids[game] for game in rows["game"]])
    return str(
        named.sort_values(["excess", "left", "name"], ascending=[own, not own, True])["name"].iloc[
            0
        ]
    )
