"""What bots expected, by the values of their notes, against what came of it.

Values of one deal hang together: a bot says nearly the same thing twenty times in a game, and plays
the same tiles in several games. So all errors cluster by deal.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from msgspec import Struct

from arena.ratings.reviews import mean_by_cluster
from arena.ratings.tally import WholeRow
from arena.records.note import kept_notes
from arena.records.record import shares
from arena.rules.notation import PASSED

BINS = 10

Deal = tuple[str, tuple[str, ...], int]
"""The board, the line-up if each has decks of its own, and the number."""


class _Said(Struct):
    """Sums over the notes of a bot in one bin and deal. ``squares`` are those of the differences,
    ``won_squares`` those of the shares.
    """

    notes: int = 0
    value: float = 0.0
    won: float = 0.0
    squares: float = 0.0
    won_squares: float = 0.0


class Calibration:
    """Adds up what bots expected while games are read. Games with a forfeit are left out: no bot
    expects one.
    """

    def __init__(self, *, own_decks: bool = False) -> None:
        self._own_decks = own_decks
        self._said: defaultdict[str, list[dict[Deal, _Said]]] = defaultdict(
            lambda: [{} for _ in range(BINS)]
        )

    def add(self, game: WholeRow) -> None:
        """Adds the notes of a game."""
        if not game.notes or game.faults:
            return
        line_up = tuple(sorted(game.bots)) if self._own_decks else ()
        deal, won = (game.board, line_up, game.deal), shares(game.ranks)
        movers = [at % len(game.bots) for at, move in enumerate(game.moves) if move != PASSED]
        for turn, note in kept_notes(game.notes).items():
            if note.value is not None and 0 <= turn < len(movers):
                seat = movers[turn]
                of_bot = self._said[game.bots[seat]][min(int(note.value * BINS), BINS - 1)]
                _count(of_bot.setdefault(deal, _Said()), note.value, won[seat])

    def table(self) -> pd.DataFrame:
        """One row for each bot that said what it expected, by name.

        ``bot`` str; ``notes``, ``deals`` int64, the values said, and the deals they are from
        ``value``, ``won``  float64, the mean share of the win that it expected and got
        ``gap``, ``error``  float64, ``won`` less ``value``, and half the width of the 95 % interval
                            of that, clustered by deal; NaN with one deal
        ``brier``  float64, the mean square of the difference between value and share: 0 is perfect
        ``brier_flat``  float64, the same if it had always said ``won``
        ``bins``   list of the same columns but bot, brier, brier_flat and bins, for each tenth that
                   ``low`` begins and in which it said something
        """
        columns = ["bot", "notes", "deals", "value", "won", "gap", "error"]
        rows = [_bot_row(bot, bins) for bot, bins in sorted(self._said.items())]
        return pd.DataFrame(rows, columns=[*columns, "brier", "brier_flat", "bins"])


def _count(said: _Said, value: float, won: float) -> None:
    said.notes += 1
    said.value += value
    said.won += won
    said.squares += (won - value) ** 2
    said.won_squares += won**2


def _bot_row(bot: str, bins: list[dict[Deal, _Said]]) -> dict[str, Any]:
    deals: defaultdict[Deal, _Said] = defaultdict(_Said)
    for one in bins:
        for deal, said in one.items():
            for name in _Said.__struct_fields__:
                setattr(deals[deal], name, getattr(deals[deal], name) + getattr(said, name))
    row = _summary(deals)
    squares, won_squares = (
        sum(getattr(said, name) for said in deals.values()) for name in ("squares", "won_squares")
    )
    return {
        "bot": bot,
        **row,
        "brier": squares / row["notes"],
        "brier_flat": max(0.0, won_squares / row["notes"] - row["won"] ** 2),
        "bins": [{"low": at / BINS, **_summary(one)} for at, one in enumerate(bins) if one],
    }


def _summary(deals: Mapping[Deal, _Said]) -> dict[str, Any]:
    """The means over the notes of all deals, and the error of what they differ by."""
    notes, value, won = (
        np.array([getattr(said, name) for said in deals.values()], dtype=np.float64)
        for name in ("notes", "value", "won")
    )
    total, clusters = notes.sum(), len(notes)
    gap, error = mean_by_cluster(won - value, notes)
    return {
        "notes": int(total),
        "deals": clusters,
        "value": float(value.sum() / total),
        "won": float(won.sum() / total),
        "gap": gap,
        "error": error,
    }
