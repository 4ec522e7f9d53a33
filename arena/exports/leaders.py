"""Who leads a run while it is played, in a few lines."""

import time
from pathlib import Path
from typing import Any, NamedTuple

from arena.errors import counted, printable
from arena.exports.grid import Strip
from arena.exports.text import number
from arena.ratings.columns import STANDINGS, in_whole_elo
from arena.ratings.matches import score_journal, scoring_of
from arena.ratings.model import rate
from arena.ratings.tables import standings_table
from arena.records.journal import journal_of
from arena.records.runfile import read_run


class Leading(NamedTuple):
    """The best bots of a run, the columns that tell of them, and how many ``seconds`` it took to
    find out.
    """

    fields: list[Strip]
    seconds: float


def leading(folder: str, most: int) -> Leading:
    """The best so many bots of the run in a folder. Raises RunError."""
    began, run = time.process_time(), Path(folder)
    info = read_run(run)
    score = score_journal(journal_of(run), scoring_of(info), own_decks=info.has_own_decks)
    counts = score.counted.counts(bot.name for bot in info.bots)
    table = standings_table(counts, rate(counts.results)).head(most)
    rows: list[dict[Any, Any]] = table.to_dict("records")
    rank, elo, error = (
        in_whole_elo(column) for column in STANDINGS if column.name in {"rank", "elo", "error"}
    )
    told = [
        (
            str(rank.value(row)),
            printable(row["bot"]),
            elo.written(row, number),
            f"+/- {error.written(row, number)}",
            f"{row['games']} {'matches' if info.config.get('match') else 'games'}",
            _faults_text(row["forfeits"]),
        )
        for row in rows
    ]
    columns = list(zip(*told, strict=True)) or [()] * 6
    fields = [
        Strip(["", *cells], is_text=at == 1, is_name=at == 1) for at, cells in enumerate(columns)
    ]
    return Leading(fields, time.process_time() - began)


def _faults_text(forfeits: int) -> str:
    return counted(forfeits, "fault") if forfeits else ""
