"""The tables for people and files, as data frames; every figure in them is computed here and
nowhere else.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise, permutations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from arena.ratings.anchors import anchor_fits
from arena.ratings.columns import STANDINGS, frame_names
from arena.ratings.foreign import Sheet
from arena.ratings.matches import score_journal, scoring_of, timed_hosts
from arena.ratings.model import Fit, rate
from arena.ratings.notes import FEW_DEALS, fit_notes, machines_note, uncounted_note
from arena.ratings.ranks import rank_intervals
from arena.ratings.results import NS_PER_MS, WHOLE, Counts, Results, count_frame
from arena.ratings.sentences import order_sentences
from arena.ratings.tally import PlayedBlocks
from arena.ratings.voids import void_notes, void_table
from arena.records.journal import journal_of
from arena.records.runfile import RunInfo, read_run

DUEL = 2


class Tables(NamedTuple):
    """All tables of a run.

    ``notes`` are sentences about what the reader should know: components, priors, few deals.
    ``clusters`` is the number of deals. ``blocks`` are those of all games, however the run is
    scored, and ``most_seats`` is the size of the largest table. ``independent_games`` is the number
    of games without shared luck that would tell as much as these; None if unknown. ``covariance``
    is that of the ratings in Elo squared, with bots as index and columns, and NaN between bots that
    cannot be compared. ``unit`` is the name for a group of games that share luck: deal, block or
    game. ``match`` are the boards of the matches that the run is scored by, none if it is scored by
    games. With matches, all columns called games count matches. ``clock`` is what time was measured
    by, ``cpu`` or ``wall``; empty if unknown. ``sentences`` say who is clearly ahead of whom, and
    what is too close to call.
    """

    standings: pd.DataFrame
    pairs: pd.DataFrame
    seats: pd.DataFrame
    faults: pd.DataFrame
    games: int
    clusters: int
    notes: list[str]
    blocks: Sequence[PlayedBlocks]
    most_seats: int
    independent_games: float | None
    covariance: pd.DataFrame
    anchors: Mapping[str, float]
    unit: str
    match: Sequence[str]
    clock: str = ""
    sentences: Sequence[str] = ()


def run_tables(
    run: Path,
    prior: float | None = None,
    anchors: Mapping[str, float] | None = None,
    match: Sequence[str] | None = None,
    info: RunInfo | None = None,
) -> Tables:
    """The tables of a run's folder, scored as in the run unless ``match`` differs; ``info`` is its
    run.json, if the caller has read it.

    Raises RunError, NoAnswerError, UserError for anchors or boards that do not fit.
    """
    info = info or read_run(run)
    boards = scoring_of(info, match)
    score = score_journal(journal_of(run), boards, own_decks=info.has_own_decks)
    counts = score.counted.counts(bot.name for bot in info.bots)
    tables = make_tables(
        counts,
        prior,
        score.games.blocks(),
        anchors,
        match=boards,
        most_seats=score.games.most_seats,
    )
    voids = void_notes(void_table(run, tables.standings, tables.games))
    clock = "" if info.config.get("in_process") else str(info.config.get("clock", "wall"))
    machines = machines_note(timed_hosts(info, score))
    return tables._replace(clock=clock, notes=[*voids, *tables.notes, *machines])


def make_tables(
    counts: Counts,
    prior: float | None = None,
    blocks: Sequence[PlayedBlocks] = (),
    anchors: Mapping[str, float] | None = None,
    *,
    seats: bool = True,
    unit: str = "deal",
    match: Sequence[str] = (),
    most_seats: int = DUEL,
) -> Tables:
    """The tables of counted games or matches; with ``seats`` False, seats have no effect. Raises
    NoAnswerError, UserError.
    """
    results = counts.results
    fits = anchor_fits(rate(results, prior, seats=seats), results.bots, anchors or {})
    return Tables(
        standings=standings_table(counts, fits),
        pairs=pairs_table(results, fits),
        seats=seats_table(counts, fits),
        faults=faults_table(counts),
        games=results.games,
        clusters=results.clusters,
        notes=[*uncounted_note(results, blocks, match), *fit_notes(results, fits, unit)],
        blocks=blocks,
        most_seats=most_seats,
        independent_games=independent_games(fits),
        covariance=_covariance_table(results, fits),
        anchors=anchors or {},
        unit=unit,
        match=match,
        sentences=order_sentences(results.bots, fits, unit),
    )


def rate_sheet(
    sheet: Sheet,
    prior: float | None = None,
    anchors: Mapping[str, float] | None = None,
    *,
    seats: bool = True,
) -> Tables:
    """The tables of a results file; values that the file does not have are missing. Raises
    NoAnswerError, UserError.
    """
    tables = make_tables(
        count_frame(sheet.frame),
        prior,
        (),
        anchors,
        seats=seats,
        unit="block" if sheet.has_blocks else "game",
    )
    notes = [sheet.uneven] if sheet.uneven else []
    if not sheet.has_ranks:
        tables.standings["avg_rank"] = np.nan
        if (sheet.frame["seats"] > DUEL).any():
            notes.append(
                "the file has no ranks: between two bots that did not win, the result counts as"
                " equal"
            )
    return tables._replace(notes=[*notes, *tables.notes])


def independent_games(fits: list[Fit]) -> float | None:
    """The number of games without shared luck that would make the errors as small as they are: each
    component's games times its gain.

    None without games, with fewer than FEW_DEALS deals, and if the gain of a component is not
    known.
    """
    worth = [fit.games * fit.gain if fit.clusters >= FEW_DEALS else np.nan for fit in fits]
    return float(sum(worth)) if worth and np.isfinite(worth).all() else None


def _covariance_table(results: Results, fits: list[Fit]) -> pd.DataFrame:
    """One row and one column per bot with a rating, by name."""
    table = pd.DataFrame(np.nan, index=pd.Index(results.bots), columns=pd.Index(results.bots))
    for fit in fits:
        names = table.index[fit.members]
        table.loc[names, names] = fit.covariance
    rated = sorted(results.bots[member] for fit in fits for member in fit.members)
    return table.loc[rated, rated]


def standings_table(counts: Counts, fits: list[Fit]) -> pd.DataFrame:
    """One row per bot, best first.

    ``rank``       int64; equal ratings share a rank; bots of a smaller component, or without games,
                   rank below
    ``rank_low``, ``rank_high``  int64, simultaneous 95 % interval within the component
    ``bot``        str
    ``mark``       ``>`` the bot's group gave the others nothing, so its rating is a lower bound;
                   ``<`` it got nothing from them; ``~`` it is open both ways, and only the prior
                   links it to the others; else empty
    ``elo``, ``elo_low``, ``elo_high``  float64, 95 % interval; NaN without games, or without error
                                        bars
    ``los``        float64, likelihood of superiority over the next row; NaN in the last and across
                   components
    ``games``, ``wins``, ``shared``, ``losses``, ``forfeits``  int64; ``wins`` are alone at rank 1,
                                                               ``shared`` together with others
    ``win_rate``   float64, a win shared by k counts 1/k; ``avg_rank``, ``avg_left`` float64
    ``think_ms``   float64, mean time spent per game
    """
    table = _by_bot(counts).reindex(counts.results.bots)
    for column in ("games", "wins", "shared", "losses", "forfeits"):
        table[column] = table[column].fillna(0).astype("int64")
    for column in ("elo", "elo_low", "elo_high", "los"):
        table[column] = np.nan
    table["component"], table["mark"] = len(fits), ""
    table["rank_low"], table["rank_high"] = 1, len(table)
    for number, fit in enumerate(fits):
        rows = table.index[fit.members]
        half = fit.half_widths()
        low, high = rank_intervals(fit)
        table.loc[rows, ["elo", "elo_low", "elo_high"]] = np.column_stack(
            [fit.elo, fit.elo - half, fit.elo + half]
        )
        table.loc[rows, "component"] = number
        table.loc[rows, "mark"] = fit.bot_marks()
        table.loc[rows, "rank_low"], table.loc[rows, "rank_high"] = low, high
    table["bot"] = table.index
    table = table.rename_axis(index=None)
    table = table.sort_values(
        ["component", "elo", "bot"], ascending=[True, False, True], kind="stable"
    )
    table["rank"] = _ranks(table)
    _fill_superiority(table, fits)
    return table[frame_names(STANDINGS)].reset_index(drop=True)


def pairs_table(results: Results, fits: list[Fit]) -> pd.DataFrame:
    """One row per ordered pair of different bots that played together, by name.

    ``games``; ``wins``, ``shared``, ``losses``  int64, by who ranked better in the game, whoever
                                                 won it
    ``score``     float64, wins plus half of shared, per game
    ``elo_diff``, ``elo_low``, ``elo_high``  float64, the bot's rating minus the opponent's, from
                                             all games, with its 95 % interval
    ``los``       float64, the likelihood that the bot is the stronger one
    ``mark``      if only the prior keeps the difference finite: ``>`` the games bound it from
                  below, ``<`` from above, ``~`` not at all; else empty
    """
    table = _meetings(results)
    table["score"] = (table["wins"] + table["shared"] / 2) / table["games"]
    table[["elo_diff", "elo_low", "elo_high", "los"]] = np.nan
    table["mark"] = ""
    number = {name: at for at, name in enumerate(results.bots)}
    one, other = (
        table[column].map(number).to_numpy(dtype=np.int64) for column in ("bot", "opponent")
    )
    for fit in fits:
        place = np.full(len(results.bots), -1, dtype=np.int64)
        place[fit.members] = np.arange(len(fit.members))
        rows = (place[one] >= 0) & (place[other] >= 0)
        at = (place[one[rows]], place[other[rows]])
        difference, half = (
            fit.elo[at[0]] - fit.elo[at[1]],
            fit.quantile * fit.difference_error()[at],
        )
        values = np.column_stack(
            [difference, difference - half, difference + half, fit.superiority()[at]]
        )
        table.loc[rows, ["elo_diff", "elo_low", "elo_high", "los"]] = values
        table.loc[rows, "mark"] = fit.marks[at].astype(object)
    return table


def _meetings(results: Results) -> pd.DataFrame:
    """Games, wins, shared and losses of each ordered pair of different bots that met."""
    names, count = pd.Index(results.bots), len(results.bots)
    counted = np.zeros((3, count * count))
    for table in results.tables:
        for one, other in permutations(range(table.size), 2):
            pair, ranks, others = (
                table.seats[:, one] * count + table.seats[:, other],
                table.ranks[:, one],
                table.ranks[:, other],
            )
            for row, which in enumerate((True, ranks < others, ranks == others)):
                counted[row] += np.bincount(pair, table.games * which, count * count)
    games, wins, shared = counted.astype(np.int64)
    met = np.flatnonzero((games > 0) & ~np.eye(count, dtype=np.bool_).ravel())
    pair_of = {"bot": names[met // count], "opponent": names[met % count]}
    columns = {
        "games": games[met],
        "wins": wins[met],
        "shared": shared[met],
        "losses": (games - wins - shared)[met],
    }
    return pd.DataFrame({**pair_of, **columns})


def seats_table(counts: Counts, fits: list[Fit]) -> pd.DataFrame:
    """One row per table size and seat.

    ``seats``, ``seat`` int64; ``games``, ``wins``, ``shared`` int64; ``win_rate``, ``avg_left``
    float64
    ``elo``, ``elo_error``  float64, effect compared with seat 0 and half-width of its 95 %
                            interval, from the largest component. Both are
    NaN if only the prior keeps the effect finite; the error is also NaN if the deals do not differ
    in it
    """
    sums = counts.totals.groupby(["seats", "seat"], sort=True).sum().reset_index()
    table = sums[["seats", "seat", "games"]].assign(
        wins=sums["wins"].astype("int64"), shared=sums["shared"].astype("int64")
    )
    table["win_rate"] = sums["parts"] / (WHOLE * sums["games"])
    table["avg_left"] = sums["left"] / sums["left_games"]
    table["elo"], table["elo_error"] = np.nan, np.nan
    for size, (effects, errors) in fits[0].seats.items() if fits else ():
        if size not in fits[0].open_seats:
            rows = table["seats"] == size
            table.loc[rows, "elo"], table.loc[rows, "elo_error"] = (
                effects,
                errors * fits[0].quantile,
            )
    return table


def faults_table(counts: Counts) -> pd.DataFrame:
    """One row per bot with games, by name: ``games``, ``forfeits`` int64, ``rate`` float64."""
    table = _by_bot(counts)[["games", "forfeits"]].rename_axis(index="bot").reset_index()
    table["rate"] = table["forfeits"] / table["games"]
    return table


def _by_bot(counts: Counts) -> pd.DataFrame:
    """The counted columns of the standings, by the names of the bots with games; integers except
    for the means.
    """
    sums = counts.totals.groupby("bot", sort=True).sum()
    sums.index = pd.Index([counts.results.bots[bot] for bot in sums.index], dtype="str")
    table = sums[["games", "wins", "shared", "forfeits"]].astype("int64")
    table["losses"] = table["games"] - table["wins"] - table["shared"]
    table["win_rate"] = sums["parts"] / (WHOLE * sums["games"])
    table["avg_rank"] = sums["ranks"] / sums["games"]
    table["avg_left"] = sums["left"] / sums["left_games"]
    table["think_ms"] = sums["think_ns"] / NS_PER_MS / sums["think_games"]
    return table


def _ranks(table: pd.DataFrame) -> list[int]:
    """Ranks of a sorted table: equal ratings in one component share a rank, and so do bots without
    a rating.
    """
    ranks: list[int] = []
    keys = [
        (int(component), None if np.isnan(elo) else float(elo))
        for component, elo in zip(table["component"], table["elo"], strict=True)
    ]
    for place, key in enumerate(keys):
        ranks.append(ranks[-1] if place and key == keys[place - 1] else place + 1)
    return ranks


def _fill_superiority(table: pd.DataFrame, fits: list[Fit]) -> None:
    for number, fit in enumerate(fits):
        rows = table.index[table["component"] == number]
        place = {name: at for at, name in enumerate(sorted(rows))}
        superiority = fit.superiority()
        for name, next_name in pairwise(rows):
            table.loc[name, "los"] = superiority[place[name], place[next_name]]
