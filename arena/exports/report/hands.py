"""The hands that tell most of a bot: those that nobody could have won with, and those with which
others did better.
"""

from typing import Any

import numpy as np
from scipy.special import softmax

from arena.exports.report.material import Material
from arena.exports.report.scan import Scan
from arena.ratings.components import Ints
from arena.ratings.fortunes import Fortunes, Holding
from arena.ratings.likelihood import ELO
from arena.records.record import MOST_SEATS

MOST = 3
MOST_GAMES = 200_000
"""The last ones of the journal."""
UNLUCKY = "Unlucky hands", "Others with the same tiles in the same seat fell short too."
OUTPLAYED = "Hands that others played better", "What to learn from."


class TellingHands:
    """The hands of the games whose deals are over. Where line-ups do not play the same deals,
    nobody held the same hand.
    """

    def __init__(self, material: Material) -> None:
        scan, info = material.scan, material.info
        self._scan = scan
        self._number = scan.bot_numbers()
        is_told = bool(self._number) and not info.has_own_decks
        self._fortunes = _fortunes_of(material) if is_told else None
        self._game = (
            np.repeat(np.arange(len(scan.turns), dtype=np.int32), scan.sizes())
            if self._number
            else np.zeros(0)
        )

    def of(self, bot: str) -> list[tuple[str, str, list[dict[str, Any]]]]:
        """The unlucky hands of a bot, and those that others played better, as (title, note,
        hands).
        """
        number = self._number.get(bot)
        if self._fortunes is None or number is None:
            return []
        return [
            (*UNLUCKY, [self._told(held) for held in self._fortunes.unlucky(number, MOST)]),
            (*OUTPLAYED, [self._told(held) for held in self._fortunes.outplayed(number, MOST)]),
        ]

    def _told(self, held: Holding) -> dict[str, Any]:
        game = int(self._game[held.worst])
        board, bots, _ = self._scan.outcomes[self._scan.outcome[game]]
        first = int(np.searchsorted(self._game, game))
        return {
            **held._asdict(),
            "game": game,
            "best": int(self._game[held.best]),
            "board": board,
            "deal": int(self._scan.deal[game]),
            "seat": held.worst - first,
            "players": len(bots),
        }


def _fortunes_of(material: Material) -> Fortunes:
    scan = material.scan
    expected = scan.shares(_expected(material))
    # Open deals are left out: the page does not tell one hand of them from another. So are the
    # first games of a huge run: with a million games of two bots, all hands took 300 MB.
    is_early = np.arange(len(scan.turns)) < len(scan.turns) - MOST_GAMES
    expected[np.repeat(material.is_open | is_early, scan.sizes())] = np.nan
    return Fortunes(_hands(scan), scan.bots(), scan.won(), expected)


def _expected(material: Material) -> list[list[float]]:
    """The expected shares of the win for each outcome, by ratings and seats."""
    effects = {
        (int(seats), int(seat)): float(elo)
        for seats, seat, elo in material.tables.seats[["seats", "seat", "elo"]].to_numpy()
    }
    return [
        softmax(
            [
                (material.elo[bot] + np.nan_to_num(effects.get((len(bots), seat), 0.0))) / ELO
                for seat, bot in enumerate(bots)
            ]
        ).tolist()
        for _, bots, _ in material.scan.outcomes
    ]


def _hands(scan: Scan) -> Ints:
    """(N,) a number for each hand: the same tiles in the same seat at a table of the same size."""
    table = scan.places() * (MOST_SEATS + 1) + scan.sizes()
    return np.asarray(np.repeat(table, scan.sizes()) * MOST_SEATS + scan.seats())
