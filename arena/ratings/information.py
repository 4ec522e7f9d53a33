"""How precise a run's ratings are, and which line-ups would improve them most."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from arena.ratings.components import Floats
from arena.ratings.fit import Fit
from arena.ratings.likelihood import ELO
from arena.ratings.matches import score_journal
from arena.ratings.model import Ratings, rate
from arena.ratings.outside import FEW_DEALS
from arena.ratings.results import FEWEST_SEATS, Results
from arena.records.journal import journal_of
from arena.records.runfile import read_run

CLEAR = 0.975
"""The likelihood of superiority from which the order of two neighbours counts as settled."""


class Precision(NamedTuple):
    """How precise ratings are.

    ``widest`` is the half-width of the widest 95 % interval in Elo, infinite if a bot has none and
    it is not settled that it stays outside the core.
    ``open_pairs`` counts neighbours in the ranking whose order is not settled. ``games`` is roughly
    how many more games narrow all intervals to the wanted half-width, infinite if unknown, 0 if no
    half-width is wanted.
    """

    widest: float
    open_pairs: int
    games: float


def rate_journal(
    run: Path, bots: Sequence[str], match: Sequence[str] = ()
) -> tuple[Results, Ratings]:
    """The results in a run's folder, of games or of matches on these boards, and their ratings.
    Raises RunError.
    """
    score = score_journal(journal_of(run), match, own_decks=read_run(run).has_own_decks)
    results = score.counted.counts(bots).results
    return results, rate(results)


def precision(results: Results, ratings: Ratings, until: float | None) -> Precision:
    """How precise the ratings are, and how far they are from ``until``."""
    widths = np.full(len(results.bots), np.inf)
    widths[_settled(ratings)] = 0
    for fit in ratings.fits:
        widths[fit.members] = np.nan_to_num(fit.half_widths(), nan=np.inf)
    open_pairs = sum(len(_open_pairs(fit)) for fit in ratings.fits)
    return Precision(
        float(widths.max()), open_pairs, _games_to(results, widths, until) if until else 0.0
    )


def _settled(ratings: Ratings) -> list[int]:
    """The bots outside the core with a bound from enough deals. They may never get an interval, so
    nobody waits for one; before, they may have had bad luck.
    """
    return [
        bound.member
        for part in ratings.components
        for bound in part.bounds
        if part.fit and bound.deals >= FEW_DEALS and np.isfinite(bound.elo)
    ]


def _games_to(results: Results, widths: Floats, until: float) -> float:
    """The games needed to narrow each bot's half-width, which shrinks with the square root of its
    games.
    """
    games = results.played()
    seats = games.sum() / max(results.games, 1)
    return float((games * np.maximum((widths / until) ** 2 - 1, 0)).sum() / seats)


def promises(
    results: Results, ratings: Ratings, line_ups: Iterable[Sequence[str]], until: float | None
) -> Mapping[str, float]:
    """How much another deal with each line-up should narrow the intervals that are too wide; equal
    for all if nothing is known.

    Too wide means: with ``until``, the ratings whose half-width exceeds it; without, the
    differences of neighbours in the ranking whose order is not settled, or all ratings if there are
    none. A line-up's information A adds to the inverse of the covariance V, so a contrast's
    variance c'Vc falls by c'V A Vc to first order (the gradient of c-optimal design). Bots that are
    settled outside the core add nothing to a line-up.
    """
    fits, settled = ratings.fits, {results.bots[member] for member in _settled(ratings)}
    place = {
        name: (number, at)
        for number, fit in enumerate(fits)
        for at, name in enumerate(results.bots[member] for member in fit.members)
    }
    wanted = [_directions(fit, until) for fit in fits]
    if all(len(directions) == 0 for directions in wanted):
        wanted = [np.eye(len(fit.elo)) for fit in fits]
    found = {}
    for line_up in line_ups:
        spots = [place.get(name, (-1, -1)) for name in line_up if name not in settled]
        if len(spots) < FEWEST_SEATS:
            found["+".join(line_up)] = 0.0
            continue
        number = spots[0][0]
        is_rated = (
            number >= 0
            and all(spot[0] == number for spot in spots)
            and bool(np.isfinite(fits[number].covariance).all())
        )
        found["+".join(line_up)] = (
            _promise(fits[number], [at for _, at in spots], wanted[number]) if is_rated else np.inf
        )
    return found


def _promise(fit: Fit, members: Sequence[int], directions: Floats) -> float:
    """The reduction of the variance in all directions by one game of
    these members, ignoring seats.
    """
    chance = np.exp((fit.elo[members] - fit.elo[members].max()) / ELO)
    chance /= chance.sum()
    information = (np.diag(chance) - np.outer(chance, chance)) / ELO**2
    moved = directions @ fit.covariance[:, members]
    return float(np.einsum("ij,jk,ik->", moved, information, moved))


def _directions(fit: Fit, until: float | None) -> Floats:
    """(m, n) the contrasts that are too wide."""
    unit = np.eye(len(fit.elo))
    if until is not None:
        return np.asarray(unit[~(fit.half_widths() <= until)], dtype=np.float64)
    pairs = _open_pairs(fit)
    return np.array([unit[above] - unit[below] for above, below in pairs]).reshape(-1, len(fit.elo))


def _open_pairs(fit: Fit) -> list[tuple[int, int]]:
    """Neighbours in the ranking whose order is not settled."""
    order = np.argsort(-fit.elo, kind="stable").tolist()
    superiority = fit.superiority()
    return [
        (above, below) for above, below in pairwise(order) if not superiority[above, below] >= CLEAR
    ]
