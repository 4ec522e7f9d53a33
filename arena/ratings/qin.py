"""What the games of a run say about Qin itself, whoever played them."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from arena.players.options import nearest_label
from arena.ratings.deeds import Deeds, GameGroup
from arena.ratings.endings import Endings
from arena.ratings.model import rate
from arena.ratings.notes import without_note
from arena.ratings.openings import kinds_table, openings_table
from arena.ratings.tables import seats_table
from arena.ratings.tally import Tally
from arena.ratings.worth import doubles_table, events_table, holdings_table, luck_table
from arena.records.find import board_of, read_records
from arena.records.runfile import read_run
from arena.rules.boards import Board


class QinAnalysis(NamedTuple):
    """The result of `analyse_qin`; every table says what it is."""

    games: int
    deals: int
    notes: list[str]
    seats: pd.DataFrame
    endings: pd.DataFrame
    kinds: pd.DataFrame
    openings: pd.DataFrame
    doubles: pd.DataFrame
    luck: pd.DataFrame
    holdings: pd.DataFrame
    events: pd.DataFrame


def analyse_qin(run: Path, prior: float | None = None, without: Sequence[str] = ()) -> QinAnalysis:
    """Plays all games of a run again to see what did well in them. Games with a bot in ``without``
    are left out.

    Raises RunError.
    """
    info = read_run(run)
    names = [known.name for known in info.bots]
    without = [nearest_label(name, names) for name in without]
    boards = {name: Board(name, tuple(rows)) for name, rows in info.boards.items()}
    tally, endings, deeds = (
        Tally(own_decks=info.has_own_decks),
        Endings(),
        Deeds(own_decks=info.has_own_decks),
    )
    played, away = 0, set(without)
    for record in read_records(run):
        played += 1
        if away.isdisjoint(record.bots):
            tally.add(record)
            endings.add(record)
            deeds.add(record, board_of(record, boards))
    counts = tally.counts([name for name in names if name not in away])
    results = counts.results
    ratings = rate(results, prior)
    groups = list(deeds.groups(results.bots, ratings))
    return QinAnalysis(
        games=results.games,
        deals=results.clusters,
        notes=without_note(without, names, results.games, played) + _unseen(groups, results.games),
        seats=seats_table(counts, ratings.fits),
        endings=endings.table(),
        kinds=kinds_table(groups),
        openings=openings_table(groups),
        doubles=doubles_table(groups),
        luck=luck_table(groups),
        holdings=holdings_table(groups),
        events=events_table(groups),
    )


def _unseen(groups: Sequence[GameGroup], games: int) -> list[str]:
    away = games - sum(len(group.deal) for group in groups)
    if not away:
        return []
    where = "in which a bot committed a fault or has no rating"
    return [f"only seats and endings count the {away} games {where}"]
