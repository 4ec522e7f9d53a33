"""Everything that goes into a report, read once from a run's folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from arena.exports.report.choice import Field, Reasons, choose_games
from arena.exports.report.scan import Scan, scan_journal
from arena.exports.report.secrecy import Secrecy, judge
from arena.ratings.convergence import COLUMNS, convergence_table
from arena.ratings.matches import Score, scoring_of, timed_hosts
from arena.ratings.notes import grants_note, machines_note
from arena.ratings.results import Counts
from arena.ratings.tables import Tables, make_tables
from arena.records.runfile import RunInfo, read_run


class Material(NamedTuple):
    """A run: its settings, its games, its tables, and what may be shown.

    ``is_open`` (G,) says whether a game's deal is still being played. ``tables`` and
    ``convergence`` count matches if the run is scored so.
    """

    folder: Path
    info: RunInfo
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
        """The bots' names, best first."""
        return [str(name) for name in self.tables.standings["bot"]]


def gather(
    folder: Path, prior: float | None = None, match: Sequence[str] | None = None
) -> Material:
    """Reads a run, scored as in `matches.scoring_of`. Raises RunError, NoAnswerError, UserError."""
    info = read_run(folder)
    boards = scoring_of(info, match)
    score = Score(boards, own_decks=info.has_own_decks)
    scan = scan_journal(folder, score)
    counts = score.counted.counts(bot.name for bot in info.bots)
    found = rated(folder, info, boards, score, scan, counts, prior)
    return found._replace(convergence=convergence_table(counts, prior))


def rated(
    folder: Path,
    info: RunInfo,
    match: Sequence[str],
    score: Score,
    scan: Scan,
    counts: Counts,
    prior: float | None = None,
) -> Material:
    """A run whose games are scanned, scored and counted, without how its ratings settled, which
    takes most of the time. Raises NoAnswerError.
    """
    blocks = score.games.blocks()
    tables, secrecy = make_tables(counts, prior, blocks, match=match), judge(info, blocks)
    return Material(
        folder=folder,
        info=info,
        tables=tables._replace(
            notes=[*tables.notes, *machines_note(timed_hosts(info, score)), *grants_note(info)]
        ),
        convergence=pd.DataFrame(columns=COLUMNS),
        scan=scan,
        secrecy=secrecy,
        is_open=_open_games(scan, secrecy),
    )


def _open_games(scan: Scan, secrecy: Secrecy) -> NDArray[np.bool_]:
    is_open = np.empty(len(scan.deal), dtype=np.bool_)
    for board in {board for board, _, _ in scan.outcomes}:
        here = np.flatnonzero(scan.by_game(name == board for name, _, _ in scan.outcomes))
        is_open[here] = secrecy.is_open(board, scan.deal[here])
    return is_open


def choose(material: Material, wanted: int | list[str]) -> Reasons:
    """The games to show: this many well-chosen ones, or those with the given ids. Raises RunError
    for an unknown id.
    """
    if isinstance(wanted, list):
        return {game: ["requested"] for game in material.scan.numbers(wanted)}
    return choose_games(Field(material.scan, material.elo, ~material.is_open), wanted)
