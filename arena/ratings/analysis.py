"""An analysis of what lies behind a run's standings."""

from array import array
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from arena.errors import UserError, did_you_mean
from arena.players.options import nearest_label
from arena.ratings.calibration import Calibration
from arena.ratings.company import Company, company
from arena.ratings.cycles import beats, cycles
from arena.ratings.endings import Endings
from arena.ratings.goodness import Goodness, goodness
from arena.ratings.hands import Hands, worst_hands
from arena.ratings.model import rate
from arena.ratings.notes import without_note
from arena.ratings.pairs import pairs_table
from arena.ratings.reunions import reunions_table
from arena.ratings.tables import seats_table, standings_table
from arena.ratings.tally import Row, Tally, WholeRow, row_decoder
from arena.ratings.tempo import Tempo
from arena.ratings.times import Machines, Times
from arena.ratings.voids import void_table
from arena.records.journal import journal_of, read_rows
from arena.records.runfile import read_run

MOST_TESTS = 400
"""How many tests of company are worked out by deal."""


class Analysis(NamedTuple):
    """The result of `analyse_run`; ``hands`` has a column ``bot`` before those of
    `hands.worst_hands`.

    ``fits`` are the tests of each group of bots that met, and ``threes`` is the number of sets of
    three bots. ``company`` tests whether a third bot at the table matters. ``notes`` say what is
    left out. ``opponents`` are the rows of `pairs.pairs_table` for the requested bot, or None.
    """

    games: int
    deals: int
    notes: list[str]
    fits: list[Goodness]
    company: Company
    cycles: pd.DataFrame
    threes: int
    seats: pd.DataFrame
    met_again: pd.DataFrame
    times: pd.DataFrame
    tempo: pd.DataFrame
    calibration: pd.DataFrame
    endings: pd.DataFrame
    machines: pd.DataFrame
    voids: pd.DataFrame
    opponents: pd.DataFrame | None
    hands: pd.DataFrame


def analyse_run(
    run: Path,
    prior: float | None = None,
    bot: str | None = None,
    hands: int = 1,
    without: Sequence[str] = (),
) -> Analysis:
    """Analyses a run; ``hands`` is the number of worst hands to list for each bot, or for the
    requested one. Games with a bot in ``without`` are left out.

    Raises RunError, NoAnswerError, UserError for a bot that is not in the run.
    """
    info, journal = read_run(run), journal_of(run)
    names = [known.name for known in info.bots]
    without = [nearest_label(name, names) for name in without]
    bot = bot and nearest_label(bot, names)
    games, left = Tally(own_decks=info.has_own_decks), array("b")
    times, endings, machines = Times(), Endings(), Machines()
    move_ms = info.config.get("move_ms")
    tempo = Tempo(move_ms if isinstance(move_ms, int) else None)
    calibration = Calibration(own_decks=info.has_own_decks)
    played, away = 0, set(without)
    adders = [games.add, times.add, tempo.add, calibration.add, endings.add, machines.add]
    for _, row in read_rows(journal, row_decoder(WholeRow)):
        played += 1
        if not away.isdisjoint(row.bots):
            continue
        left.extend(row.left)
        for add in adders:
            add(row)
    counts = games.counts([name for name in names if name not in away])
    results = counts.results
    notes = without_note(without, names, results.games, played)
    if bot is not None and bot not in results.bots:
        known = f"{did_you_mean(bot, results.bots)}there are {', '.join(results.bots)}"
        raise UserError(f"expected a bot of the run, got {bot!r}", known)
    ratings = rate(results, prior)
    fits, pairs = ratings.fits, pairs_table(results, ratings)
    held, count = Hands(games, left, results.bots, ratings), len(results.bots)
    return Analysis(
        games=results.games,
        deals=results.clusters,
        notes=notes,
        fits=[goodness(results, fit) for fit in fits],
        company=company(results, fits, MOST_TESTS),
        cycles=cycles(beats(results)),
        threes=count * (count - 1) * (count - 2) // 6,
        seats=seats_table(counts, fits),
        met_again=reunions_table(games, results.bots),
        times=times.table(results.bots),
        tempo=_of(tempo.table(), bot),
        calibration=_of(calibration.table(), bot),
        endings=endings.table(),
        machines=machines.table(),
        voids=void_table(run, standings_table(counts, ratings), results.games, without),
        opponents=None if bot is None else pairs[pairs["bot"] == bot].reset_index(drop=True),
        hands=_hands_table(journal, held, [bot] if bot else results.bots, hands, away),
    )


def _of(table: pd.DataFrame, bot: str | None) -> pd.DataFrame:
    """The rows of the requested bot, or all."""
    return table if bot is None else table[table["bot"] == bot].reset_index(drop=True)


def _hands_table(
    journal: Path, held: Hands, bots: Sequence[str], most: int, away: AbstractSet[str]
) -> pd.DataFrame:
    """The worst hands of each bot; reads the journal a second time for the ids of their games."""
    frames = {bot: held.candidates(bot, most) for bot in bots}
    wanted = {game for frame in frames.values() for game in frame["game"].tolist()}
    ids = (
        {
            number: row.id
            for number, row in enumerate(
                row for _, row in read_rows(journal, row_decoder(Row)) if away.isdisjoint(row.bots)
            )
            if number in wanted
        }
        if wanted
        else {}
    )
    listed = pd.concat(
        [worst_hands(frame, ids, bot, most).assign(bot=bot) for bot, frame in frames.items()],
        ignore_index=True,
    )
    return listed[["bot", *(name for name in listed.columns if name != "bot")]]
