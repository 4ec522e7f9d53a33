"""All that helps to see behind a run's standings."""

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from arena.errors import UserError
from arena.ratings.cycles import beats, cycles
from arena.ratings.endings import endings_table
from arena.ratings.frames import read_games, seat_frame
from arena.ratings.goodness import Goodness, goodness
from arena.ratings.hands import with_expected, worst_hands
from arena.ratings.model import rate
from arena.ratings.results import count_results
from arena.ratings.tables import pairs_table, seats_table
from arena.ratings.times import times_table
from arena.records.journal import journal_of, read_ids
from arena.records.runfile import read_run


class Analysis(NamedTuple):
    """What `analyse_run` finds; ``hands`` has the column ``bot`` in front of those of `hands.worst_hands`.

    ``fits`` are the tests of each group of bots that met, ``threes`` how many sets of three bots there are; ``opponents`` are the rows of
    `tables.pairs_table` of the bot asked for, or None.
    """

    games: int
    deals: int
    fits: list[Goodness]
    cycles: pd.DataFrame
    threes: int
    seats: pd.DataFrame
    times: pd.DataFrame
    endings: pd.DataFrame
    opponents: pd.DataFrame | None
    hands: pd.DataFrame


def analyse_run(run: Path, prior: float | None = None, bot: str | None = None, hands: int = 1) -> Analysis:
    """Analyses a run; ``hands`` are the worst ones to list for each bot, or for the one that is asked for.

    Raises RunError, NoAnswerError, UserError for a bot that is not in the run.
    """
    info, journal = read_run(run), journal_of(run)
    frame = seat_frame(read_games(journal), [known.name for known in info.bots])
    results = count_results(frame)
    if bot is not None and bot not in results.bots:
        raise UserError(f"expected a bot of the run, got {bot!r}", f"there are {', '.join(results.bots)}")
    fits = rate(results, prior)
    pairs = pairs_table(frame, results, fits)
    ids = list(dict.fromkeys(read_ids(journal)))  # the first record of an id counts
    expected = with_expected(frame, fits)
    worst = [worst_hands(expected, ids, name, hands).assign(bot=name) for name in ([bot] if bot else results.bots)]
    listed = pd.concat(worst, ignore_index=True)
    count = len(results.bots)
    return Analysis(
        games=results.games,
        deals=results.clusters,
        fits=[goodness(results, fit) for fit in fits],
        cycles=cycles(beats(frame)),
        threes=count * (count - 1) * (count - 2) // 6,
        seats=seats_table(frame, fits),
        times=times_table(journal, results.bots),
        endings=endings_table(journal),
        opponents=None if bot is None else pairs[pairs["bot"] == bot].reset_index(drop=True),
        hands=listed[["bot", *(name for name in listed.columns if name != "bot")]],
    )
