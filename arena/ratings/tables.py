"""The tables for people and files, as data frames; every figure in them is computed here and
nowhere else.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from arena.players.options import nearest_label
from arena.ratings.anchors import anchor_ratings
from arena.ratings.caveats import rating_notes
from arena.ratings.columns import STANDINGS, frame_names
from arena.ratings.company import company
from arena.ratings.fit import Fit
from arena.ratings.foreign import Sheet
from arena.ratings.matches import score_journal, scoring_of, timed_hosts
from arena.ratings.model import Component, Ratings, rate
from arena.ratings.notes import (
    company_note,
    comparison_note,
    forfeits_note,
    grants_note,
    league_note,
    machines_note,
    uncounted_note,
    without_note,
)
from arena.ratings.outside import FEW_DEALS, bound_interval
from arena.ratings.pairs import pairs_table
from arena.ratings.ranks import component_intervals
from arena.ratings.results import NS_PER_MS, WHOLE, Counts, Results, count_frame, frame_without
from arena.ratings.sentences import order_sentences
from arena.ratings.stages import ratings_by_ranks
from arena.ratings.tally import PlayedBlocks, games_in
from arena.ratings.voids import void_notes, void_table
from arena.records.journal import journal_of
from arena.records.record import DUEL
from arena.records.runfile import RunInfo, read_run

PLACES, UNKNOWN = {">": 0, "<": 2}, 3
"""Where bots outside the core stand in a component, by mark; the core's place is 1."""
ORDER = ["component", "place", "figure"]
MOST_TESTS = 8
"""How many tests of company the note may cost; 'arena analyse' makes more."""
Opinion = Literal["wins", "ranks"]
"""What ratings go by; ranks are a second opinion."""


class Tables(NamedTuple):
    """All tables of a run.

    ``notes`` are sentences about what the reader should know: components, priors, few deals.
    ``clusters`` is the number of deals. ``blocks`` are those of all games, however the run is
    scored, and ``most_seats`` is the size of the largest table. ``independent_games`` is the number
    of games without shared luck that would tell as much as the ``rated_games``, those between bots
    with a rating; None if unknown. ``covariance``
    is that of the ratings in Elo squared, with bots as index and columns, and NaN between bots that
    cannot be compared. ``unit`` is the name for a group of games that share luck: deal, block or
    game. ``match`` are the boards of the matches that the run is scored by, none if it is scored by
    games. With matches, all columns called games count matches. ``clock`` is what time was measured
    by, ``cpu`` or ``wall``; empty if unknown. ``sentences`` say who is clearly ahead of whom, and
    what is too close to call. ``without`` are bots whose games are left out of everything but
    ``blocks``.
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
    rated_games: int
    independent_games: float | None
    covariance: pd.DataFrame
    anchors: Mapping[str, float]
    unit: str
    match: Sequence[str]
    clock: str = ""
    sentences: Sequence[str] = ()
    without: Sequence[str] = ()

    @property
    def played(self) -> int:
        """How many games were played, however the run is scored."""
        return games_in(self.blocks)


def run_tables(
    run: Path,
    prior: float | None = None,
    anchors: Mapping[str, float] | None = None,
    match: Sequence[str] | None = None,
    info: RunInfo | None = None,
    without: Sequence[str] = (),
    by: Opinion = "wins",
) -> Tables:
    """The tables of a run's folder, scored as in the run unless ``match`` differs; ``info`` is its
    run.json, if the caller has read it. Games with a bot in ``without`` are left out. ``by`` is
    what the ratings go by.

    Raises RunError, NoAnswerError, UserError for anchors, boards or bots that do not fit.
    """
    info = info or read_run(run)
    boards = scoring_of(info, match)
    score = score_journal(journal_of(run), boards, own_decks=info.has_own_decks)
    names = [bot.name for bot in info.bots]
    without, anchors = _as_named(names, without, anchors)
    counts = score.counted.counts(names, without)
    left_out = without_note(without, names, counts.results.games, len(score.counted.outcome))
    tables = make_tables(
        counts, prior, score.games.blocks(), anchors, match=boards, without=without, by=by
    )
    voids = void_notes(void_table(run, tables.standings, tables.games, without))
    machines = machines_note(timed_hosts(info, score))
    return tables._replace(
        clock=info.clock,
        most_seats=score.games.most_seats,
        notes=[
            *left_out,
            *voids,
            *tables.notes,
            *machines,
            *comparison_note(info),
            *grants_note(info),
            *league_note(run, anchors),
        ],
    )


def make_tables(  # noqa: PLR0913 - what a table depends on
    counts: Counts,
    prior: float | None = None,
    blocks: Sequence[PlayedBlocks] = (),
    anchors: Mapping[str, float] | None = None,
    *,
    seats: bool = True,
    unit: str = "deal",
    match: Sequence[str] = (),
    without: Sequence[str] = (),
    by: Opinion = "wins",
) -> Tables:
    """The tables of counted games or matches; with ``seats`` False, seats have no effect. The
    counts leave the games of the bots in ``without`` out already. Raises NoAnswerError, UserError.
    """
    results = counts.results
    ratings, opinion = rate(results, prior, seats=seats), list[str]()
    if by == "ranks":
        ratings, opinion = ratings_by_ranks(results, ratings)
    ratings = anchor_ratings(ratings, results, anchors or {})
    fits, standings = ratings.fits, standings_table(counts, ratings)
    noun = "matches" if match else "games"
    return Tables(
        standings=standings,
        pairs=pairs_table(results, ratings),
        seats=seats_table(counts, fits),
        faults=faults_table(counts),
        games=results.games,
        clusters=results.clusters,
        notes=[
            *opinion,
            *([] if without else uncounted_note(results, blocks, match)),
            *company_note(company(results, fits, MOST_TESTS)),
            *rating_notes(results, ratings, unit),
            *forfeits_note(standings, noun),
        ],
        blocks=blocks,
        most_seats=DUEL,
        rated_games=sum(fit.games for fit in fits),
        independent_games=independent_games(fits),
        covariance=_covariance_table(results, fits),
        anchors=anchors or {},
        unit=unit,
        match=match,
        sentences=order_sentences(results.bots, ratings, unit),
        without=without,
    )


def _as_named(
    names: Sequence[str], without: Sequence[str], anchors: Mapping[str, float] | None
) -> tuple[list[str], dict[str, float]]:
    """Bots to leave out and anchors by the names they have in the results, which the user may write
    with options in another order.
    """
    held = {nearest_label(name, names): elo for name, elo in (anchors or {}).items()}
    return [nearest_label(name, names) for name in without], held


def rate_sheet(
    sheet: Sheet,
    prior: float | None = None,
    anchors: Mapping[str, float] | None = None,
    *,
    seats: bool = True,
    without: Sequence[str] = (),
) -> Tables:
    """The tables of a results file; values that the file does not have are missing. Games with a
    bot in ``without`` are left out. Raises NoAnswerError, UserError.
    """
    names = list(sheet.frame["bot"].cat.categories)
    without, anchors = _as_named(names, without, anchors)
    kept = frame_without(sheet.frame, without)
    left_out = without_note(without, names, kept["game"].nunique(), sheet.frame["game"].nunique())
    tables = make_tables(
        count_frame(kept),
        prior,
        (),
        anchors,
        seats=seats,
        unit="block" if sheet.has_blocks else "game",
        without=without,
    )
    notes = [*left_out, *([sheet.uneven] if sheet.uneven else [])]
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


def standings_table(counts: Counts, ratings: Ratings) -> pd.DataFrame:
    """One row per bot, best first.

    ``rank``       int64; equal ratings share a rank; bots with a lower bound rank above the core,
                   those with an upper bound below it, and those of a smaller component, or without
                   games, at the end
    ``rank_low``, ``rank_high``  int64, simultaneous 95 % interval within the component
    ``bot``        str
    ``mark``       ``<`` or ``>`` the bot is outside the core: ``elo`` is a bound that its rating is
                   below, or above, with 95 % confidence; ``~`` it has no rating, or only the prior
                   gives it one; else empty
    ``elo``, ``elo_low``, ``elo_high``  float64, 95 % interval; NaN at the open side of a bound, and
                                        without a rating or error bars
    ``los``        float64, likelihood of superiority over the next row; NaN in the last, and if one
                   of the two has no rating or is of another component
    ``games``, ``wins``, ``shared``, ``losses``, ``forfeits``  int64; ``wins`` are alone at rank 1,
                                                               ``shared`` together with others
    ``win_rate``   float64, a win shared by k counts 1/k; ``avg_rank``, ``avg_left`` float64
    ``think_ms``   float64, mean time spent per game
    ``deals``      int64, on how many it played
    """
    table = _by_bot(counts).reindex(counts.results.bots)
    table["deals"] = counts.results.deals()
    for column in ("games", "wins", "shared", "losses", "forfeits"):
        table[column] = table[column].fillna(0).astype("int64")
    for column in ("elo", "elo_low", "elo_high", "los"):
        table[column] = np.nan
    table["component"], table["mark"] = len(ratings.components), "~"
    table["rank_low"], table["rank_high"] = 1, len(table)
    for number, part in enumerate(ratings.components):
        rows = table.index[part.members]
        table.loc[rows, "component"] = number
        table.loc[rows, "rank_low"], table.loc[rows, "rank_high"] = component_intervals(part)
        _fill_ratings(table, part)
    table["bot"] = table.index
    table = table.rename_axis(index=None)
    # Without a rating there are only shares of wins to sort by.
    table["place"] = table["mark"].map(PLACES).fillna(1).where(table["elo"].notna(), UNKNOWN)
    table["figure"] = table["elo"].fillna(table["win_rate"]).fillna(0)
    table = table.sort_values([*ORDER, "bot"], ascending=[True, True, False, True], kind="stable")
    table["rank"] = _ranks(table)
    _fill_superiority(table, counts.results.bots, ratings.fits)
    return table[frame_names(STANDINGS)].reset_index(drop=True)


def _fill_ratings(table: pd.DataFrame, part: Component) -> None:
    """Ratings, bounds and marks of a component."""
    columns = ["elo", "elo_low", "elo_high"]
    if part.fit is not None:
        rows, half = table.index[part.fit.members], part.fit.half_widths()
        table.loc[rows, columns] = np.column_stack(
            [part.fit.elo, part.fit.elo - half, part.fit.elo + half]
        )
        table.loc[rows, "mark"] = np.where(part.fit.is_few, "?", "").astype(object)
        table.loc[rows[list(part.fit.by_prior)], "mark"] = "~"
    for bound in part.bounds:
        row = table.index[bound.member]
        table.loc[row, "mark"] = bound.side
        table.loc[row, columns] = bound_interval(bound.elo, bound.side)


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
    for size, (effects, _) in fits[0].seats.items() if fits else ():
        if size not in fits[0].open_seats:
            rows = table["seats"] == size
            table.loc[rows, "elo"] = effects
            table.loc[rows, "elo_error"] = fits[0].seat_half_widths(size)
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
    """Ranks of a sorted table: bots of one component with equal figures share a rank."""
    ranks: list[int] = []
    keys = list(table[ORDER].itertuples(index=False, name=None))
    for place, key in enumerate(keys):
        ranks.append(ranks[-1] if place and key == keys[place - 1] else place + 1)
    return ranks


def _fill_superiority(table: pd.DataFrame, bots: Sequence[str], fits: list[Fit]) -> None:
    for fit in fits:
        place = {bots[member]: at for at, member in enumerate(fit.members.tolist())}
        superiority = fit.superiority()
        for name, next_name in pairwise(name for name in table.index if name in place):
            table.loc[name, "los"] = superiority[place[name], place[next_name]]
