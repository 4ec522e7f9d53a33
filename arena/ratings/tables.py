"""The tables for people and files, as data frames. Ratings are computed in `model`; every other
figure is computed here and nowhere else.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from arena.errors import UserError, did_you_mean
from arena.players.labels import nearest_label
from arena.ratings.columns import STANDINGS, frame_names
from arena.ratings.company import company
from arena.ratings.fit import Fit
from arena.ratings.model import (
    FEW_DEALS,
    Ratings,
    bound_interval,
    bounds_of,
    component_intervals,
    rate,
)
from arena.ratings.notes import (
    company_note,
    conditions_notes,
    detail_notes,
    forfeits_note,
    purpose_notes,
    rating_notes,
    uncounted_note,
    unplayed_note,
    without_note,
)
from arena.ratings.order import order_sentences
from arena.ratings.results import Counts, Floats, Results
from arena.ratings.sheet import Sheet
from arena.ratings.tally import score_journal, scoring_of
from arena.records.blocks import PlayedBlocks, games_in
from arena.records.journal import journal_of
from arena.records.record import DUEL, NS_PER_MS, WHOLE
from arena.records.runfile import RunInfo

ORDER = ["component", "place", "figure", "share"]
ELO = ["elo", "elo_low", "elo_high"]
OPPOSITE = {"<": ">", ">": "<", "~": "~"}


class Tables(NamedTuple):
    """All tables of a run or of a results file.

    ``standings``, ``pairs``, ``seats``  the tables of `standings_table`, `pairs_table`,
                                         `seats_table`
    ``notes``       sentences about what the reader should know: components, priors, few deals
    ``details``     the notes that a short table leaves out
    ``sentences``   which bots are clearly ahead of which, and which are too close to call
    ``groups``      for each group of bots that can be compared with each other, its name, in the
                    order of the standings
    ``clusters``    the number of deals
    ``blocks``      the blocks of all games, however the run is scored
    ``most_seats``  the size of the largest table
    ``rated_games``, ``independent_games``  the number of games between bots with a rating, and how
                                            many games without shared luck would hold as much
                                            information, None if unknown
    ``covariance``  the covariance of the ratings in Elo squared, with bots as index and columns;
                    NaN between bots that cannot be compared
    ``unit``        the word for a group of games with shared luck: deal, block or game
    ``match``       the boards of the matches that the run is scored by, empty if it is scored by
                    games. With matches, all columns called games count matches
    ``clock``       ``cpu`` or ``wall``, by which time was measured; empty if unknown
    ``without``     the bots whose games are left out of everything but ``blocks``
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
    details: frozenset[str] = frozenset()
    groups: Sequence[Sequence[str]] = ()

    @property
    def played(self) -> int:
        """The number of games played, however the run is scored."""
        return games_in(self.blocks)


def run_tables(
    folder: Path,
    info: RunInfo,
    prior: float | None = None,
    anchors: Mapping[str, float] | None = None,
    match: Sequence[str] | None = None,
    without: Sequence[str] = (),
) -> Tables:
    """The tables of the run in a folder, whose run.json is ``info``. ``match`` scores it otherwise
    than the run says. Games in which a bot of ``without`` sat are left out.

    Raises RunError, NoAnswerError, and UserError for anchors, boards or bots that are not in the
    run.
    """
    boards = scoring_of(info, match)
    names = [bot.name for bot in info.bots]
    without, anchors = _as_named(names, without, anchors)
    score = score_journal(journal_of(folder), boards, own_decks=info.has_own_decks)
    counts = score.counted.counts(names, without)
    blocks = score.games.blocks()
    left_out = without_note(without, names, counts.results.games, len(score.counted.outcome))
    tables = make_tables(counts, prior, blocks, anchors, match=boards, without=without)
    notes = [
        *unplayed_note(folder),
        *left_out,
        *tables.notes,
        *conditions_notes(info, score.hosts),
        *purpose_notes(folder, info, anchored=bool(anchors)),
    ]
    return tables._replace(notes=notes, clock=info.clock, most_seats=score.games.most_seats)


def rate_sheet(
    sheet: Sheet,
    prior: float | None = None,
    anchors: Mapping[str, float] | None = None,
    *,
    seats: bool = True,
    without: Sequence[str] = (),
) -> Tables:
    """The tables of a results file; values that the file does not have are missing in them. Games
    in which a bot of ``without`` sat are left out. Raises NoAnswerError, UserError.
    """
    without, anchors = _as_named(sheet.names, without, anchors)
    counts = sheet.counts(without)
    unit = "block" if sheet.has_blocks else "game"
    notes = without_note(without, sheet.names, counts.results.games, len(sheet.bots))
    tables = make_tables(counts, prior, (), anchors, seats=seats, unit=unit, without=without)
    if not sheet.has_ranks:
        tables.standings["avg_rank"] = np.nan
    return tables._replace(notes=[*notes, *sheet.notes, *tables.notes])


def make_tables(
    counts: Counts,
    prior: float | None = None,
    blocks: Sequence[PlayedBlocks] = (),
    anchors: Mapping[str, float] | None = None,
    *,
    seats: bool = True,
    unit: str = "deal",
    match: Sequence[str] = (),
    without: Sequence[str] = (),
) -> Tables:
    """The tables of counted games or matches; with ``seats`` False, seats have no effect. The
    counts already leave out the games of the bots in ``without``. Raises NoAnswerError, UserError.
    """
    results = counts.results
    ratings = anchor_ratings(rate(results, prior, seats=seats), results, anchors or {})
    fits = ratings.fits
    standings = standings_table(counts, ratings)
    return Tables(
        standings=standings,
        pairs=pairs_table(results, ratings),
        seats=seats_table(counts, fits),
        faults=faults_table(counts),
        games=results.games,
        clusters=results.clusters,
        notes=[
            *([] if without else uncounted_note(results, blocks, match)),
            *company_note(company(results, fits)),
            *rating_notes(results, ratings, unit),
            *forfeits_note(standings, "matches" if match else "games"),
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
        details=frozenset(detail_notes(results, ratings, unit)),
        groups=[[results.bots[bot] for bot in part.members] for part in ratings.components],
    )


def _as_named(
    names: Sequence[str], without: Sequence[str], anchors: Mapping[str, float] | None
) -> tuple[list[str], dict[str, float]]:
    """The bots to leave out and the anchors, under the names that they have in the results; the
    user may have written the options of a bot in another order.
    """
    held = {nearest_label(name, names): elo for name, elo in (anchors or {}).items()}
    return [nearest_label(name, names) for name in without], held


def independent_games(fits: list[Fit]) -> float | None:
    """How many games without shared luck would give errors this small: the games of each component
    times its gain. None without games, with fewer than FEW_DEALS deals, or if the gain of a
    component is unknown.
    """
    worth = [fit.games * fit.gain if fit.clusters >= FEW_DEALS else np.nan for fit in fits]
    return float(sum(worth)) if worth and np.isfinite(worth).all() else None


def _covariance_table(results: Results, fits: list[Fit]) -> pd.DataFrame:
    """The covariance of the ratings, with one row and one column per rated bot, by name."""
    covariance = _square(results, np.nan)
    for fit in fits:
        covariance[np.ix_(fit.members, fit.members)] = fit.covariance
    rated = sorted(member for fit in fits for member in fit.members)
    names = pd.Index(results.bots)
    return pd.DataFrame(covariance, names, names).iloc[rated, rated]


def _square(results: Results, value: float) -> Floats:
    """(n, n) an array filled with the value, for figures of every two bots."""
    return np.full((len(results.bots),) * 2, value)


def standings_table(counts: Counts, ratings: Ratings) -> pd.DataFrame:
    """One row per bot, the best first, with the columns of `columns.STANDINGS`: figures float64,
    counts and ranks int64, texts str.

    Equal ratings share a rank. Bots outside the core rank above or below it, ordered by who beat
    whom, then by their bounds. Bots of smaller components, and bots without games, come last. Ranks
    have a simultaneous 95 % interval within the component. ``elo_low`` or ``elo_high`` is NaN at
    the open side of a bound, and all three are NaN without a rating. ``los`` is NaN in the last
    row, and if one of the two bots has no rating or is in another component.
    """
    results = counts.results
    parts = ratings.components
    table = _by_bot(counts).reindex(range(len(results.bots))).rename_axis(index=None)
    whole = ["games", "wins", "shared", "losses", "forfeits"]
    table[whole] = table[whole].fillna(0).astype("int64")
    table = table.assign(
        bot=results.bots, deals=results.deals(), component=len(parts), place=0, mark="~",
        elo=np.nan, elo_low=np.nan, elo_high=np.nan, rank_low=1, rank_high=len(table), los=np.nan,
    )  # fmt: skip
    for number, part in enumerate(parts):
        columns = np.full(len(part.members), number), part.places, *component_intervals(part)
        names = ["component", "place", "rank_low", "rank_high"]
        table.loc[part.members, names] = np.column_stack(columns)
        fit = part.fit
        if fit is not None:
            half = fit.half_widths()
            table.loc[fit.members, ELO] = np.column_stack([fit.elo, fit.elo - half, fit.elo + half])
            table.loc[fit.members, "mark"] = np.where(fit.is_few, "?", "").astype(object)
            table.loc[fit.members[list(fit.by_prior)], "mark"] = "~"
        for bound in part.bounds:
            table.loc[bound.member, "mark"] = bound.side
            table.loc[bound.member, ELO] = bound_interval(bound.elo, bound.side)
    # Without a rating there are only shares of wins to sort by.
    table["share"] = table["win_rate"].where(table["elo"].isna()).fillna(0)
    table["figure"] = table["elo"].fillna(-np.inf)
    ascending = [True, True, False, False, True]
    table = table.sort_values([*ORDER, "bot"], ascending=ascending, kind="stable")
    is_new = table[ORDER].ne(table[ORDER].shift()).any(axis=1)
    table["rank"] = np.maximum.accumulate(np.where(is_new, np.arange(1, len(table) + 1), 0))
    superiority = _square(results, np.nan)
    for fit in ratings.fits:
        superiority[np.ix_(fit.members, fit.members)] = fit.superiority()
    place = table.index.to_numpy()
    table.loc[place[:-1], "los"] = superiority[place[:-1], place[1:]]
    return table[frame_names(STANDINGS)].reset_index(drop=True)


def pairs_table(results: Results, ratings: Ratings) -> pd.DataFrame:
    """One row per ordered pair of different bots that played together, sorted by name, with the
    columns of `columns.PAIRS`: figures float64, counts int64, texts str.

    The difference comes from all games, and may be a bound as in `standings_table`; ``mark`` is
    then ``<`` or ``>``, and ``~`` if the difference depends on the prior.
    """
    elo, low, high, los = (_square(results, np.nan) for _ in range(4))
    mark = np.full(elo.shape, "", dtype=object)
    for fit in ratings.fits:
        pairs = np.ix_(fit.members, fit.members)
        half = fit.difference_half_widths()
        elo[pairs] = fit.elo[:, None] - fit.elo
        low[pairs] = elo[pairs] - half
        high[pairs] = elo[pairs] + half
        los[pairs] = fit.superiority()
        mark[pairs] = np.where(fit.marks == "", "", "~")
    for bound in ratings.bounds:
        bot = bound.member
        rivals = bound.rivals
        side = bound.side
        above = (bot, rivals, 1, side)
        below = (rivals, bot, -1, OPPOSITE[side])
        for one, other, sign, of in (above, below):
            found = bound_interval(sign * bound.differences, of)
            elo[one, other], low[one, other], high[one, other] = found
            mark[one, other] = of
    games, wins, shared = results.meetings()
    pairs = np.nonzero(games)
    names = pd.Index(results.bots)
    return pd.DataFrame(
        {
            "bot": names[pairs[0]],
            "opponent": names[pairs[1]],
            "games": games[pairs],
            "wins": wins[pairs],
            "shared": shared[pairs],
            "losses": (games - wins - shared)[pairs],
            "score": (wins[pairs] + shared[pairs] / 2) / games[pairs],
            "elo_diff": elo[pairs],
            "elo_low": low[pairs],
            "elo_high": high[pairs],
            "los": los[pairs],
            "mark": mark[pairs],
        }
    )


def seats_table(counts: Counts, fits: list[Fit]) -> pd.DataFrame:
    """One row per table size and seat, with the columns of `columns.SEATS`: counts int64, the
    others float64.

    ``elo`` and ``elo_error`` come from the largest component. Both are NaN if only the prior keeps
    the effect finite; the error is also NaN if the deals do not differ in it.
    """
    sums = counts.totals.groupby(["seats", "seat"], sort=True).sum().reset_index()
    table = sums[["seats", "seat", "games"]].assign(
        wins=sums["wins"].astype("int64"), shared=sums["shared"].astype("int64")
    )
    table["win_rate"] = sums["parts"] / (WHOLE * sums["games"])
    table["avg_left"] = sums["left"] / sums["left_games"]
    table["elo"] = np.nan
    table["elo_error"] = np.nan
    for size, (effects, _) in fits[0].seats.items() if fits else ():
        if size not in fits[0].open_seats:
            rows = table["seats"] == size
            table.loc[rows, "elo"] = effects
            table.loc[rows, "elo_error"] = fits[0].seat_half_widths(size)
    return table


def faults_table(counts: Counts) -> pd.DataFrame:
    """One row per bot with games, by name: ``games``, ``forfeits`` int64, ``rate`` float64."""
    table = _by_bot(counts)[["games", "forfeits"]].reset_index()
    table["bot"] = pd.Index(counts.results.bots)[table["bot"]]
    table["rate"] = table["forfeits"] / table["games"]
    return table


def _by_bot(counts: Counts) -> pd.DataFrame:
    """The counted columns of the standings for bots with games, by the bot's number; integers
    except for the means.
    """
    sums = counts.totals.groupby("bot", sort=True).sum()
    table = sums[["games", "wins", "shared", "forfeits"]].astype("int64")
    table["losses"] = table["games"] - table["wins"] - table["shared"]
    table["win_rate"] = sums["parts"] / (WHOLE * sums["games"])
    table["avg_rank"] = sums["ranks"] / sums["games"]
    table["avg_left"] = sums["left"] / sums["left_games"]
    table["think_ms"] = sums["think_ns"] / NS_PER_MS / sums["think_games"]
    return table


def anchor_ratings(ratings: Ratings, results: Results, anchors: Mapping[str, float]) -> Ratings:
    """The ratings, in which the anchors are held at the given values, at most one per component.
    Raises UserError.
    """
    bots = results.bots
    parts = ratings.components
    for name in anchors:
        if name not in bots:
            known = f"{did_you_mean(name, bots)}there are {', '.join(bots) or 'none'}"
            raise UserError(
                f"expected the anchor to be a bot of these results, got {name!r}", known
            )
    held = [[] if part.fit is None else [bots[at] for at in part.fit.members] for part in parts]
    idle = sorted(set(anchors).difference(*held))
    if idle:
        raise UserError(
            f"expected an anchor with a rating, got {', '.join(idle)} without one",
            "choose a bot that won from others and lost to them, or rate everybody with --prior 1",
        )
    components = list(parts)
    for number, (part, names) in enumerate(zip(parts, held, strict=True)):
        here = [at for at, name in enumerate(names) if name in anchors]
        if len(here) > 1:
            raise UserError(
                "expected one anchor per group of comparable bots, got"
                f" {' and '.join(names[at] for at in here)}",
                "one anchor fixes the level, and the games determine the distances from it",
            )
        if here and part.fit:
            fit = part.fit.anchored(here[0], anchors[names[here[0]]])
            bounds = part.bounds and bounds_of(results, part.members, fit)
            components[number] = part._replace(fit=fit, bounds=bounds)
    return Ratings(components)
