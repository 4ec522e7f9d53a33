"""What decisions cost, by the grades of a review: of each decision, and of each bot."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from arena.ratings.components import Floats
from arena.ratings.freedom import quantile
from arena.records.record import GameRecord
from arena.records.review import Grade

BLUNDER = 0.1
"""A decision that costs this share of the win or more, and more than its error, is a blunder."""
LEAST_DEALS = 2
COLUMNS = (
    "game",
    "board",
    "deal",
    "turn",
    "seat",
    "bot",
    "choices",
    "played",
    "better",
    "cost",
    "error",
    "sure",
    "win",
)

Graded = tuple[GameRecord, Mapping[int, Grade]]
"""A game and its grades by turn."""


def decisions_table(games: Iterable[Graded]) -> pd.DataFrame:
    """One row for each decision that had a choice, in the order of the games and their turns.

    ``game``, ``board``, ``bot``, ``played``, ``better`` str; ``deal``, ``turn``, ``seat``,
    ``choices`` int64
    ``cost``, ``error``, ``sure``, ``win``  float64, as in `records.review.Grade`; ``sure`` is NaN
                                            where the better move is the one that was played
    """
    rows = [
        (
            record.id,
            record.board,
            record.deal,
            grade.turn,
            grade.seat,
            record.bots[grade.seat],
            grade.choices,
            grade.played,
            grade.better,
            grade.cost,
            grade.error,
            float("nan") if grade.sure is None else grade.sure,
            grade.win,
        )
        for record, grades in games
        for _, grade in sorted(grades.items())
        if grade.choices > 1
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def worst_decisions(decisions: pd.DataFrame, most: int) -> pd.DataFrame:
    """The decisions that cost most, by what they cost at least: the cost less its error. Those that
    cost nothing beyond that are left out.
    """
    # Of many uncertain figures the largest ones are those that luck made large.
    least = decisions["cost"] - decisions["error"]
    order = least[least > 0].sort_values(ascending=False, kind="stable").index
    return decisions.loc[order[:most]].reset_index(drop=True)


def bots_table(decisions: pd.DataFrame, *, own_decks: bool = False) -> pd.DataFrame:
    """One row for each bot, the one whose decisions cost least first.

    ``bot`` str; ``games``, ``deals``, ``decisions``, ``blunders`` int64
    ``cost``, ``error``  float64, the mean cost of a decision, and half the width of its 95 %
                         interval, clustered by deal; NaN with one deal
    ``agreed``  float64, the share of the decisions in which the judge would have played the same
    """
    rows = [
        {"bot": bot, **_summary(own, own_decks=own_decks)} for bot, own in decisions.groupby("bot")
    ]
    columns = ["bot", "games", "deals", "decisions", "cost", "error", "blunders", "agreed"]
    table = pd.DataFrame(rows, columns=columns)
    return table.sort_values(["cost", "bot"], kind="stable").reset_index(drop=True)


def _summary(own: pd.DataFrame, *, own_decks: bool) -> dict[str, float]:
    line_up = own["game"].str.split("/").str[1] if own_decks else ""
    deals = own["cost"].groupby([own["board"] + "/" + line_up, own["deal"]])
    is_blunder = (own["cost"] >= BLUNDER) & (own["cost"] > own["error"])
    cost, error = mean_by_cluster(
        deals.sum().to_numpy(), deals.size().to_numpy().astype(np.float64)
    )
    return {
        "games": own["game"].nunique(),
        "deals": deals.ngroups,
        "decisions": len(own),
        "cost": cost,
        "error": error,
        "blunders": int(is_blunder.sum()),
        "agreed": float((own["played"] == own["better"]).mean()),
    }


def mean_by_cluster(sums: Floats, sizes: Floats) -> tuple[float, float]:
    """A mean over clusters that are independent of each other, from the sum and the number of
    values in each, and half the width of its 95 % interval: the sandwich of a ratio, NaN with one
    cluster.
    """
    clusters, total = len(sums), sizes.sum()
    mean = float(sums.sum() / total)
    if clusters < LEAST_DEALS:
        return mean, float("nan")
    rest = sums - mean * sizes
    variance = clusters / (clusters - 1) * np.square(rest).sum() / total**2
    return mean, float(quantile(clusters - 1) * np.sqrt(variance))
