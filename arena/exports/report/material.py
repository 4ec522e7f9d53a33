"""Everything that goes into a report, read once from a run's folder."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from arena.errors import UserError, did_you_mean
from arena.exports.report.choice import Field, Reasons, choose_games
from arena.exports.report.scan import Scan, scan_journal
from arena.exports.report.secrecy import Secrecy, judge
from arena.players.options import nearest_label
from arena.ratings.convergence import COLUMNS, convergence_table
from arena.ratings.history import History, history_of
from arena.ratings.matches import Score, scoring_of, timed_hosts
from arena.ratings.notes import grants_note, machines_note
from arena.ratings.results import Counts
from arena.ratings.tables import Tables, make_tables
from arena.records.runfile import RunInfo, read_run


class Material(NamedTuple):
    """A run: its settings, its games, its tables, and what may be shown.

    ``history`` is that of a league, else None. ``is_open`` (G,) says whether a game's deal is still
    being played. ``tables`` and
    ``convergence`` count matches if the run is scored so.
    """

    folder: Path
    info: RunInfo
    tables: Tables
    convergence: pd.DataFrame
    scan: Scan
    secrecy: Secrecy
    is_open: NDArray[np.bool_]
    history: History | None = None

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
        history=history_of(folder, counts) if info.config.get("league") else None,
    )


def _open_games(scan: Scan, secrecy: Secrecy) -> NDArray[np.bool_]:
    is_open = np.empty(len(scan.deal), dtype=np.bool_)
    for board in {board for board, _, _ in scan.outcomes}:
        here = np.flatnonzero(scan.by_game(name == board for name, _, _ in scan.outcomes))
        is_open[here] = secrecy.is_open(board, scan.deal[here])
    return is_open


def choose(material: Material, wanted: int | list[str]) -> Reasons:
    """The games to show: this many well-chosen ones, those with the given ids, or those of bots
    that are given as ``one+other``. Raises RunError for an unknown id, UserError for a bot.
    """
    if isinstance(wanted, int):
        return choose_games(Field(material.scan, material.elo, ~material.is_open), wanted)
    meetings = [text for text in wanted if "/" not in text]
    chosen = {game: ["requested"] for text in meetings for game in _games_of(material, text)}
    ids = [text for text in wanted if "/" in text]
    return chosen | {game: ["requested"] for game in material.scan.numbers(ids)}


def _games_of(material: Material, meeting: str) -> Iterator[int]:
    """The games in which these bots met, the latest first."""
    bots = [nearest_label(name, material.bots) for name in meeting.split("+")]
    for bot in bots:
        if bot not in material.bots:
            known = f"{did_you_mean(bot, material.bots)}there are {', '.join(material.bots)}"
            raise UserError(f"expected a bot of the run, got {bot!r}", known)
    sought = Counter(bots)
    met = material.scan.by_game(
        sought <= Counter(seated) for _, seated, _ in material.scan.outcomes
    )
    yield from np.flatnonzero(met & ~material.is_open)[::-1].tolist()
