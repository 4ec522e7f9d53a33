"""Which first placements games begin with, and how well they do."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from arena.ratings.components import Floats, Ints
from arena.ratings.deeds import GameGroup, Opening
from arena.ratings.goodness import holm
from arena.ratings.slopes import slopes
from arena.rules.notation import move_text

FEWEST = 5
"""An opening that was played less often has no figures of its own."""
MOST = 20
"""Only the most frequent openings of a board are listed."""
FIGURES = ("games", "deals", "chosen", "won", "expected", "gain", "error", "better", "off", "p_all")
Name = tuple[str | int, ...]


def openings_table(groups: Sequence[GameGroup]) -> pd.DataFrame:
    """One row for each of the most frequent first placements, by board and players.

    ``board``, ``opening`` str; ``players``, ``games``, ``deals`` int64
    ``chosen``  float64, the share of the games that began so
    ``won``, ``expected``  float64, the first seat's mean share of the win, and what ratings and
                           seats made of it
    ``gain``, ``error``    float64, ``won`` less ``expected``, and half its 95 % interval
    ``better``, ``off``    float64, how much more the first seat won beyond expectation than with
                           other first placements of the same hand, and half its 95 % interval
    ``p_all``  float64, how likely chance alone makes the clearest ``better`` of the group (Holm)

    All intervals are clustered by deal, and NaN with too few deals or games.
    """
    return _table(groups, ["opening"], lambda group, opening: (move_text(group.board, opening[0]),))


def kinds_table(groups: Sequence[GameGroup]) -> pd.DataFrame:
    """The same for kinds of first placements.

    Instead of the opening:

    ``province``  str, the spaces of the province that it founded, ``none``, or ``2+2`` for two
    ``villages``  int64, how many it connected
    """
    return _table(
        groups,
        ["province", "villages"],
        lambda _, opening: ("+".join(map(str, opening[1])) or "none", opening[2]),
    )


def _table(
    groups: Sequence[GameGroup], names: list[str], name_of: Callable[[GameGroup, Opening], Name]
) -> pd.DataFrame:
    rows = []
    for group in groups:
        named = [name_of(group, opening) for opening in group.openings]
        known = sorted(set(named))
        number = np.array([known.index(name) for name in named], dtype=np.int64)[group.opening]
        games = np.bincount(number, minlength=len(known))
        listed = np.argsort(-games, kind="stable")[: min(MOST, np.count_nonzero(games))].tolist()
        figures = [_figures(group, number == at) for at in listed]
        clear = holm(np.array([row["p"] for row in figures]))
        rows += [
            {"board": group.board.name, "players": group.players, "p_all": p_all}
            | dict(zip(names, known[at], strict=True))
            | row
            for at, row, p_all in zip(listed, figures, clear.tolist(), strict=True)
        ]
    return pd.DataFrame(rows, columns=["board", "players", *names, *FIGURES])


def _figures(group: GameGroup, began: Any) -> dict[str, float]:
    """The figures of the games (G,) that ``began`` with an opening."""
    share, expected = group.share[:, 0], group.expected[:, 0]
    rest, games = share - expected, int(began.sum())
    chosen = began * float(games >= FEWEST)
    gain = slopes(rest, chosen[:, None], group.deal)
    # Beside those who began otherwise with the same hand: so neither the hand nor the bots'
    # strength makes the difference.
    beside = slopes(_beside(rest, group.deck), _beside(chosen, group.deck)[:, None], group.deal)
    return {
        "games": games,
        "deals": len(np.unique(group.deal[began])),
        "chosen": games / len(began),
        "won": share[began].mean(),
        "expected": expected[began].mean(),
        "gain": rest[began].mean(),
        "error": gain.error[0],
        "better": beside.slope[0] if np.isfinite(beside.error[0]) else np.nan,
        "off": beside.error[0],
        "p": beside.p[0],
    }


def _beside(values: Floats, deck: Ints) -> Floats:
    """The values less their mean over the games with the same deck."""
    count = np.maximum(np.bincount(deck), 1)
    return np.asarray(values - (np.bincount(deck, values) / count)[deck], dtype=np.float64)
