"""Makes the tables of a run or of a results file, with the notes and sentences that are shown under
them. What the tables contain is computed in `column_values`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arena.errors import UserError, did_you_mean
from arena.players.labels import nearest_label
from arena.ratings.bounds import bounds_of
from arena.ratings.column_values import (
    Covariance,
    covariance_of,
    faults_table,
    pairs_table,
    seats_table,
    standings_table,
)
from arena.ratings.company import company
from arena.ratings.fit import Fit
from arena.ratings.model import FEW_DEALS, Ratings, rate
from arena.ratings.notes import (
    company_note,
    conditions_notes,
    detail_notes,
    forfeits_note,
    leader_note,
    purpose_notes,
    rating_notes,
    uncounted_note,
    unplayed_note,
    without_note,
)
from arena.ratings.order import order_sentences
from arena.ratings.results import Counts, Results
from arena.ratings.table_data import TableData
from arena.ratings.tally import score_journal, scoring_of
from arena.records.blocks import PlayedBlocks, games_in
from arena.records.journal import journal_of
from arena.records.record import DUEL
from arena.records.runfile import RunInfo

if TYPE_CHECKING:
    import pandas as pd

    from arena.ratings.sheet import Sheet


class Tables(NamedTuple):
    """The tables of a run or of a results file.

    ``data``         the tables ``standings``, ``pairs``, ``seats`` and ``faults`` of
                     `column_values`, by these names, which are also the names of the same tables
                     as data frames
    ``games``        the number of counted games, or matches
    ``clusters``     the number of deals on which these games were played; without deals, of the
                     groups of games that ``unit`` names
    ``notes``        sentences about what the reader should know, such as priors or few deals
    ``blocks``       the blocks of all games, also of those that do not count
    ``most_seats``   the largest number of players in a game of the run; 2 for a results file
    ``rated_games``  the number of games between bots with a rating
    ``independent_games``  how many games without shared luck would hold as much information as the
                           rated games; None if unknown
    ``covariances``  the covariance of the ratings in Elo squared, see `column_values.covariance_of`
    ``anchors``      the ratings at which the user held bots, by name
    ``unit``         the word for a group of games with shared luck: deal, block or game
    ``match``        the boards of the matches by which the run is scored; empty if it is scored by
                     games. With matches, columns called games count matches
    ``clock``        ``cpu`` or ``wall``, by which time was measured; empty if unknown
    ``sentences``    which bots are clearly ahead of which, and which are too close to call
    ``without``      the bots whose games are left out of all figures but ``blocks``
    ``details``      those of the ``notes`` that a short table leaves out
    ``groups``       for each group of bots that met, directly or through others, their names,
                     sorted; the largest group comes first
    """

    data: Mapping[str, TableData]
    games: int
    clusters: int
    notes: list[str]
    blocks: Sequence[PlayedBlocks]
    most_seats: int
    rated_games: int
    independent_games: float | None
    covariances: Covariance
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
        """The number of games played, including games that do not count."""
        return games_in(self.blocks)

    @property
    def standings(self) -> "pd.DataFrame":
        """The table of `column_values.standings_table` as a data frame. This loads pandas, as do
        the other data frames.
        """
        return self.data["standings"].frame

    @property
    def pairs(self) -> "pd.DataFrame":
        """The table of `column_values.pairs_table` as a data frame."""
        return self.data["pairs"].frame

    @property
    def seats(self) -> "pd.DataFrame":
        """The table of `column_values.seats_table` as a data frame."""
        return self.data["seats"].frame

    @property
    def faults(self) -> "pd.DataFrame":
        """The table of `column_values.faults_table` as a data frame."""
        return self.data["faults"].frame

    @property
    def covariance(self) -> "pd.DataFrame":
        """The covariance of the ratings in Elo squared, with bots as index and columns; NaN between
        bots that cannot be compared.
        """
        import pandas as pd  # noqa: PLC0415 - tables on a terminal need no data frame

        names = pd.Index(self.covariances.bots)
        return pd.DataFrame(self.covariances.values, names, names)


def run_tables(
    folder: Path,
    info: RunInfo,
    prior: float | None = None,
    anchors: Mapping[str, float] | None = None,
    match: Sequence[str] | None = None,
    without: Sequence[str] = (),
) -> Tables:
    """Makes the tables of the run in a folder, whose run.json is ``info``. ``prior`` is the weight
    of a prior that gives every bot a rating (None: no prior); ``anchors`` has ratings in Elo at
    which bots are held, by name. ``match`` are the boards of the matches to score by; None means
    what run.json says, an empty list means single games. Games in which a bot of ``without`` played
    are left out.

    Raises RunError if the run cannot be read, NoAnswerError if no finite ratings fit the results,
    and UserError for anchors, boards or bots that are not in the run.
    """
    boards = scoring_of(info, match)
    names = info.bot_names
    without, anchors = _as_named(names, without, anchors)
    score = score_journal(journal_of(folder), boards, own_decks=info.has_own_decks)
    counts = score.counted.counts(names, without)
    blocks = score.games.blocks()
    left_out = without_note(without, names, counts.results.games, len(score.counted.outcome))
    hosts = score.hosts
    most_seats = score.games.most_seats
    # For 300 bots the tallies take 60 MB, which the computation of the errors needs next.
    del score
    tables = make_tables(counts, prior, blocks, anchors, match=boards, without=without)
    notes = [
        *unplayed_note(folder),
        *left_out,
        *tables.notes,
        *conditions_notes(info, hosts),
        *purpose_notes(folder, info, anchored=bool(anchors)),
    ]
    return tables._replace(notes=notes, clock=info.clock, most_seats=most_seats)


def rate_sheet(
    sheet: "Sheet",
    prior: float | None = None,
    anchors: Mapping[str, float] | None = None,
    *,
    seats: bool = True,
    without: Sequence[str] = (),
) -> Tables:
    """Makes the tables of a results file; values that the file does not have are NaN in them.
    ``prior`` is the weight of a prior that gives every bot a rating (None: no prior), ``anchors``
    has ratings in Elo at which bots are held, by name, and ``seats`` says whether seats have
    effects. Games in which a bot of ``without`` played are left out. Raises NoAnswerError if no
    finite ratings fit, and UserError for anchors or bots that the file does not have.
    """
    without, anchors = _as_named(sheet.names, without, anchors)
    counts = sheet.counts(without)
    unit = "block" if sheet.has_blocks else "game"
    notes = without_note(without, sheet.names, counts.results.games, len(sheet.bots))
    tables = make_tables(counts, prior, (), anchors, seats=seats, unit=unit, without=without)
    if not sheet.has_ranks:
        standings = tables.data["standings"]
        unknown = np.full(len(standings), np.nan)
        data = {**tables.data, "standings": standings.replaced(avg_rank=unknown)}
        tables = tables._replace(data=data)
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
    """Makes the tables of counted games or matches.

    ``prior``    the weight of a prior that gives every bot a rating, see `model.rate`; None: no
                 prior
    ``blocks``   the blocks of all games, also of those that are not in ``counts``
    ``anchors``  ratings in Elo at which bots are held, by name; None: no anchors
    ``seats``    False: the rating model has no effects of seats
    ``unit``     the word for a group of games with shared luck: deal, block or game
    ``match``    the boards of the matches that ``counts`` has counted; empty for games
    ``without``  the bots whose games are already left out of ``counts``

    Raises NoAnswerError if no finite ratings fit, and UserError for anchors that `anchor_ratings`
    refuses.
    """
    results = counts.results
    ratings = anchor_ratings(rate(results, prior, seats=seats), results, anchors or {})
    fits = ratings.fits
    standings = standings_table(counts, ratings)
    groups = [results.names_of(part.members) for part in ratings.components]
    return Tables(
        data={
            "standings": standings,
            "pairs": pairs_table(results, ratings),
            "seats": seats_table(counts, fits),
            "faults": faults_table(counts),
        },
        games=results.games,
        clusters=results.clusters,
        notes=[
            *([] if without else uncounted_note(results, blocks, match)),
            *company_note(company(results, fits)),
            *rating_notes(results, ratings, unit),
            *leader_note(standings, groups, anchors or {}),
            *forfeits_note(standings, "matches" if match else "games"),
        ],
        blocks=blocks,
        most_seats=DUEL,
        rated_games=sum(fit.games for fit in fits),
        independent_games=independent_games(fits),
        covariances=covariance_of(results, fits),
        anchors=anchors or {},
        unit=unit,
        match=match,
        sentences=order_sentences(results.bots, ratings, unit),
        without=without,
        details=frozenset(detail_notes(results, ratings, unit)),
        groups=groups,
    )


def _as_named(
    names: Sequence[str], without: Sequence[str], anchors: Mapping[str, float] | None
) -> tuple[list[str], dict[str, float]]:
    """The labels in ``without`` and the keys of ``anchors``, replaced by the labels among ``names``
    that mean the same bots: the user may have written a bot's options in another order.
    """
    held = {}
    for name, elo in (anchors or {}).items():
        held[nearest_label(name, names)] = elo
    return [nearest_label(name, names) for name in without], held


def independent_games(fits: list[Fit]) -> float | None:
    """How many games without shared luck would give errors as small as those of the ``fits``: for
    each fit its games times its `Fit.gain`, summed. None without a fit, and if a fit has fewer than
    `FEW_DEALS` deals or an unknown gain.
    """
    if not fits or any(fit.clusters < FEW_DEALS for fit in fits):
        return None
    total = sum(fit.games * fit.gain for fit in fits)
    return float(total) if np.isfinite(total) else None


def anchor_ratings(ratings: Ratings, results: Results, anchors: Mapping[str, float]) -> Ratings:
    """The ratings, moved so that each bot in ``anchors`` has the rating in Elo given there; ratings
    of components without an anchor stay. Raises UserError for an unknown bot, a bot without a
    rating, and two anchors among bots that can be compared.
    """
    bots = results.bots
    parts = ratings.components
    for name in anchors:
        if name not in bots:
            known = f"{did_you_mean(name, bots)}there are {', '.join(bots) or 'none'}"
            raise UserError(f"the anchor {name!r} is not a bot of these results", known)
    held: list[list[str]] = []
    for part in parts:
        members = part.fit.members if part.fit else ()
        held.append(results.names_of(members))
    idle = sorted(set(anchors).difference(*held))
    if idle:
        raise UserError(
            f"an anchor needs a rating, which {', '.join(idle)} does not have",
            "choose a bot that won from others and lost to them, or rate everybody with --prior 1",
        )
    components = list(parts)
    for number, (part, names) in enumerate(zip(parts, held, strict=True)):
        here = [name for name in names if name in anchors]
        if len(here) > 1:
            raise UserError(
                "bots that can be compared share one scale and one anchor, got"
                f" {' and '.join(here)}",
                "name one of them: the games determine the distances from it",
            )
        if here and part.fit:
            fit = part.fit.anchored(names.index(here[0]), anchors[here[0]])
            bounds = part.bounds and bounds_of(results, part.members, fit)
            components[number] = part._replace(fit=fit, bounds=bounds)
    return Ratings(components)
