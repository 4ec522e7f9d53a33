"""Hands that others played better: on a deal every bot meets the same tiles in the same seat, so that results can be compared."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import softmax

from arena.ratings.model import ELO, Fit
from arena.ratings.results import by_table_size

SAME_HAND = ["cluster", "seats", "seat"]


def with_expected(frame: pd.DataFrame, fits: Sequence[Fit]) -> pd.DataFrame:
    """The rows of a `frames.seat_frame` with ``expected``, the share by ratings and seats; NaN where a bot has no rating."""
    elo = np.full(len(frame["bot"].cat.categories), np.nan)
    for fit in fits:
        elo[fit.members] = fit.elo
    parts = []
    for size, rows in by_table_size(frame):
        rated = elo[rows["bot"].cat.codes.to_numpy()].reshape(-1, size)
        effects = fits[0].seats[size][0] if fits and size in fits[0].seats else np.zeros(size)
        parts.append(rows.assign(expected=softmax((rated + effects) / ELO, axis=1).ravel()))
    return pd.concat(parts) if parts else frame.assign(expected=np.nan)


def worst_hands(frame: pd.DataFrame, ids: Sequence[str], bot: str, most: int) -> pd.DataFrame:
    """The hands that a bot played worst beside other bots that held the same tiles in the same seat, worst first.

    ``frame`` is that of `with_expected`, ``ids`` the games' ids by number.

    ``seats``, ``seat``  int64, the table's size and the seat
    ``games``, ``other_games``  int64, that the bot, and that others played from there
    ``share``, ``expected``, ``other_share``, ``other_expected``  float64, means over those games; opponents' strength is in the expectation
    ``swing``  float64, by how much more the others exceeded what was expected of them
    ``left``, ``other_left``  float64, mean of pagodas left
    ``game``, ``other_game``  str, ids of the bot's worst game, and of the best of the others
    """
    held = frame[frame["expected"].notna()]
    held = held.assign(excess=held["share"] - held["expected"], own=(held["bot"] == bot).to_numpy())
    means = held.groupby([*SAME_HAND, "own"], sort=True).agg(
        games=("game", "size"), share=("share", "mean"), expected=("expected", "mean"), excess=("excess", "mean"), left=("left", "mean")
    )
    table = _one_side(means, own=True).join(_one_side(means, own=False).add_prefix("other_"), how="inner")
    table["swing"] = table["other_excess"] - table["excess"]
    table["behind"] = table["left"] - table["other_left"]
    table = table.sort_values(["swing", "behind"], ascending=False, kind="stable").head(most).reset_index()
    table["game"] = [_extreme(held, ids, key, own=True) for key in table[SAME_HAND].itertuples(index=False)]
    table["other_game"] = [_extreme(held, ids, key, own=False) for key in table[SAME_HAND].itertuples(index=False)]
    table = table.astype({"seats": "int64", "seat": "int64"})
    figures = ["share", "expected", "other_share", "other_expected", "swing", "left", "other_left"]
    return table[["seats", "seat", "games", "other_games", *figures, "game", "other_game"]]


def _one_side(means: pd.DataFrame, *, own: bool) -> pd.DataFrame:
    return means[means.index.get_level_values("own") == own].droplevel("own")


def _extreme(held: pd.DataFrame, ids: Sequence[str], key: Sequence[int], *, own: bool) -> str:
    """The id of the bot's worst game with a hand, or of the others' best one."""
    rows = held[(held[SAME_HAND] == list(key)).all(axis=1) & (held["own"] == own)]
    named = rows.assign(name=[ids[game] for game in rows["game"]])
    return str(named.sort_values(["excess", "left", "name"], ascending=[own, not own, True])["name"].iloc[0])
