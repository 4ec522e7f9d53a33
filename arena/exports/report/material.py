"""All that a report is made of, read from a run's folder once."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from arena.exports.report.choice import Field, Reasons, choose_games
from arena.exports.report.scan import Scan, scan_journal
from arena.exports.report.secrecy import Secrecy, judge
from arena.ratings.convergence import convergence_table
from arena.ratings.frames import read_games, seat_frame
from arena.ratings.matches import score, scoring_of
from arena.ratings.tables import Tables, make_tables
from arena.records.journal import journal_of
from arena.records.runfile import RunInfo, read_run


class Material(NamedTuple):
    """A run: what it is, its games by seat (`frames.seat_frame`), its tables, and what may be shown of it.

    ``deals`` are the frame's clusters; ``is_open`` (G,) whether a game's deal is still being played. ``tables`` and ``convergence`` count
    matches where that is the scoring.
    """

    folder: Path
    info: RunInfo
    frame: pd.DataFrame
    deals: list[tuple[str, int]]
    tables: Tables
    convergence: pd.DataFrame
    scan: Scan
    secrecy: Secrecy
    is_open: NDArray[np.bool_]

    @property
    def elo(self) -> Mapping[str, float]:
        """The rating of each bot."""
        return dict(zip(self.tables.standings["bot"], self.tables.standings["elo"], strict=True))

    @property
    def bots(self) -> list[str]:
        """The bots' names, the best first."""
        return [str(name) for name in self.tables.standings["bot"]]


def gather(folder: Path, prior: float | None = None, match: Sequence[str] | None = None) -> Material:
    """Reads a run, scored as in `matches.scoring_of`. Raises RunError, NoAnswerError, UserError."""
    info, games = read_run(folder), read_games(journal_of(folder))
    boards = scoring_of(info, match)
    frame = seat_frame(games, [bot.name for bot in info.bots])
    scored = score(frame, games, boards)
    tables = make_tables(scored.frame, prior, games.blocks(), match=boards)
    secrecy = judge(info, tables.blocks)
    open_deals = np.array([secrecy.is_open(deal) for deal in games.deals], dtype=np.bool_)
    return Material(
        folder=folder,
        info=info,
        frame=frame,
        deals=sorted(games.deals),
        tables=tables,
        convergence=convergence_table(*scored, prior),
        scan=scan_journal(folder, len(games.seating)),
        secrecy=secrecy,
        is_open=open_deals[np.array(games.deal, dtype=np.int64)],
    )


def choose(material: Material, wanted: int | list[str]) -> Reasons:
    """The games to show: as many, well chosen, or those with the given ids. Raises RunError for an unknown id."""
    if isinstance(wanted, list):
        return {game: ["asked for"] for game in material.scan.numbers(wanted)}
    return choose_games(Field(material.frame, material.scan, material.elo, ~material.is_open), wanted)
