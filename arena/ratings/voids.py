"""Void games: which bots had a part in more of them than chance allows, and how they stood."""

import math
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from arena.records.voids import VoidGame, read_voids

LEVEL = 0.01
TESTS = 3


class _Count(NamedTuple):
    """``hits`` of ``tries``, where chance would give each with this probability."""

    hits: int
    tries: int
    chance: float

    @property
    def p(self) -> float:
        """The probability of as many hits or more."""
        return at_least(self.hits, self.tries, self.chance)


def at_least(hits: int, tries: int, chance: float) -> float:
    """The probability of ``hits`` or more of ``tries`` (binomial)."""
    if chance >= 1 or hits == 0:
        return 1.0
    return min(
        1.0,
        sum(
            math.comb(tries, count) * chance**count * (1 - chance) ** (tries - count)
            for count in range(hits, tries + 1)
        ),
    )


def void_table(
    run: Path, standings: pd.DataFrame, games: int, without: Collection[str] = ()
) -> pd.DataFrame:
    """One row per bot that had a part in void games, the most suspicious first; each game counts
    once, however often it broke off.

    ``bot``       str
    ``voids``     int64, void games with the bot, of ``of`` void games; ``share`` float64, its share
                  of the finished games
    ``to_move``   int64, those in which it was its turn, of the ``known`` ones, in which that is
                  known
    ``behind``    int64, those of the known ones in which another bot had fewer pagodas left
    ``p``         float64, the probability of figures like these by chance: in the void games at
                  all, to move, or behind; corrected for the number of tests and bots

    ``standings`` are those of `tables.standings_table` for the ``games``, those ``without`` some
    bots. Raises RunError.
    """
    voids = list(
        {
            game.id: game
            for game in sorted(read_voids(run), key=lambda game: game.so_far is not None)
            if set(without).isdisjoint(game.bots)
        }.values()
    )
    known = {row["bot"]: row for row in standings.to_dict("records")}
    bots = sorted({bot for game in voids for bot in game.bots if bot in known})
    rows = [_row(bot, voids, known[bot], games, len(bots)) for bot in bots]
    table = pd.DataFrame(
        rows, columns=["bot", "voids", "of", "share", "to_move", "behind", "known", "p"]
    )
    return table.sort_values(["p", "bot"], kind="stable").reset_index(drop=True)


def _row(
    bot: str, voids: list[VoidGame], row: dict[Any, Any], games: int, bots: int
) -> dict[str, Any]:
    mine = [game for game in voids if bot in game.bots]
    told = [(game.so_far, game.bots.index(bot)) for game in mine if game.so_far is not None]
    share = row["games"] / games if games else 1.0
    not_won = 1 - (row["wins"] + row["shared"]) / row["games"] if row["games"] else 1.0
    tries = max(1, len(told))
    moving = _Count(
        sum(so_far.mover == seat for so_far, seat in told),
        len(told),
        sum(1 / len(so_far.left) for so_far, _ in told) / tries,
    )
    behind = _Count(
        sum(so_far.left[seat] > min(so_far.left) for so_far, seat in told), len(told), not_won
    )
    sitting = _Count(len(mine), len(voids), share)
    return {
        "bot": bot,
        "voids": len(mine),
        "of": len(voids),
        "share": share,
        "to_move": moving.hits,
        "behind": behind.hits,
        "known": len(told),
        "p": min(1.0, min(sitting.p, moving.p, behind.p) * TESTS * bots),
    }


def void_notes(table: pd.DataFrame) -> Iterator[str]:
    """A sentence about each bot whose games are void more often than chance allows."""
    for row in table[table["p"] < LEVEL].to_dict("records"):
        yield (
            f"more games of {row['bot']} are void than chance allows: it sat in {row['voids']} of"
            f" {row['of']} void games (and in {row['share']:.0%} of the others), was to move in"
            f" {row['to_move']} and behind in {row['behind']} of the {row['known']} where that is"
            " known; see voids.jsonl"
        )
