"""What tiles, holdings and events go with: how much of a win, where ratings and seats are equal."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from arena.ratings.components import Floats, Ints
from arena.ratings.deeds import EVENTS, HOLDINGS, GameGroup
from arena.ratings.reviews import mean_by_cluster
from arena.ratings.slopes import Slopes, slopes
from arena.rules.terms import HAND

FEWEST_LONG = 0.5
"""A round that fewer games reach has no row: those that do are not like the others."""


def events_table(groups: Sequence[GameGroup]) -> pd.DataFrame:
    """One row for each kind of event, by board and players.

    ``board``, ``event`` str; ``players``, ``games`` int64
    ``winners``, ``others``  float64, how often a seat did it in a game, if it won and if not; a
                             shared win counts as a part of one
    ``gain``, ``error``      float64, the share of a win that goes with one more than the others
                             have on average, and half its 95 % interval
    """
    rows = []
    for group in groups:
        lost = 1 - group.share
        for at, event in enumerate(EVENTS):
            did = group.events[:, :, at]
            one = _weighed(group, np.arange(len(did)), _ahead(did[:, :, None]))
            winners = (did * group.share).sum() / group.share.sum()
            others = (did * lost).sum() / lost.sum()
            figures = (winners, others, one.slope[0], one.error[0])
            rows.append((group.board.name, group.players, event, len(did), *figures))
    names = ["board", "players", "event", "games", "winners", "others", "gain", "error"]
    return pd.DataFrame(rows, columns=names)


def holdings_table(groups: Sequence[GameGroup]) -> pd.DataFrame:
    """One row for each number of rounds, by board and players: what holding one more of something
    is worth than the others do on average, if all else that is held is equal.

    ``board`` str; ``players``, ``round``, ``games`` int64, the games that went on after this round
    ``small``, ``major``, ``village``  float64, the share of a win for each of `HOLDINGS`
    ``small_error`` and so on          float64, half of their 95 % intervals
    """
    rows = []
    for group in groups:
        for after, (games, held) in group.standing.items():
            if len(games) >= FEWEST_LONG * len(group.deal):
                each = _weighed(group, games, _ahead(held))
                figures = [
                    part[at] for at in range(len(HOLDINGS)) for part in (each.slope, each.error)
                ]
                rows.append((group.board.name, group.players, after, len(games), *figures))
    figures = [name for held in HOLDINGS for name in (held, f"{held}_error")]
    return pd.DataFrame(rows, columns=["board", "players", "round", "games", *figures])


def doubles_table(groups: Sequence[GameGroup]) -> pd.DataFrame:
    """One row for each number of doubles among a seat's first tiles, by board and players.

    ``board`` str; ``players``, ``doubles``, ``hands`` int64, as often as they were played
    ``won``, ``expected``, ``gain``, ``error``  float64, as in `openings_table`
    """
    rows = []
    for group in groups:
        rest, deal = group.share - group.expected, np.repeat(group.deal, group.players)
        for doubles in range(HAND + 1):
            held = group.doubles == doubles
            if held.any():
                [error] = slopes(rest.ravel(), held.reshape(-1, 1).astype(float), deal).error
                won, expected = group.share[held].mean(), group.expected[held].mean()
                figures = (int(held.sum()), won, expected, won - expected, error)
                rows.append((group.board.name, group.players, doubles, *figures))
    names = ["board", "players", "doubles", "hands", "won", "expected", "gain", "error"]
    return pd.DataFrame(rows, columns=names)


def luck_table(groups: Sequence[GameGroup]) -> pd.DataFrame:
    """How much the tiles decide, by board and players.

    ``board`` str; ``players``, ``games`` int64
    ``luck``, ``error``  float64, of what ratings and seats leave open, the share that is common to
                         all who play the same tiles from the same seat, and half its 95 % interval
    """
    rows = [
        (group.board.name, group.players, len(group.deal), *_alike_by_deck(group))
        for group in groups
    ]
    return pd.DataFrame(rows, columns=["board", "players", "games", "luck", "error"])


def _ahead(counts: Ints) -> Floats:
    """(n, k, m) by how many each seat has more than the others have on average."""
    players = counts.shape[1]
    mean = counts.mean(axis=1, keepdims=True)
    return np.asarray((counts - mean) * (players / (players - 1)), dtype=np.float64)


def _weighed(group: GameGroup, games: Ints, by: Floats) -> Slopes:
    """The slopes of the share of the win by columns (n, k, m) of these games' seats, where ratings
    and seats are equal.
    """
    share, expected = group.share[games], group.expected[games]
    # Strong bots hold more, and their wins are expected: so the expectation has a column too.
    known = (expected - 1 / group.players)[:, :, None]
    columns = np.concatenate([by, known], axis=2) if known.any() else by
    deal = np.repeat(group.deal[games], group.players)
    return slopes((share - expected).ravel(), columns.reshape(len(deal), -1), deal)


def _alike_by_deck(group: GameGroup) -> tuple[float, float]:
    """The intraclass correlation of the seats' results with one deck, over deals."""
    rest, count = group.share - group.expected, np.bincount(group.deck).astype(np.float64)
    sums = np.stack([np.bincount(group.deck, seat) for seat in rest.T], axis=-1)
    squares = np.stack([np.bincount(group.deck, seat**2) for seat in rest.T], axis=-1)
    often = count > 1
    if not often.any():
        return np.nan, np.nan
    pairs = (sums**2 - squares).sum(axis=1)[often] / (count[often] - 1)
    return mean_by_cluster(pairs, squares.sum(axis=1)[often])
