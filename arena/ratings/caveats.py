"""What the reader of ratings should know of them, in sentences: who has none, priors, few deals."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from arena.ratings.columns import BOUNDS
from arena.ratings.fit import Fit
from arena.ratings.model import Component, Ratings
from arena.ratings.outside import FEW_DEALS, Bound
from arena.ratings.results import Results


def rating_notes(results: Results, ratings: Ratings, unit: str) -> Iterator[str]:
    """What keeps the ratings from being compared, and what makes them rough."""
    parts = ratings.components
    if len(parts) > 1:
        groups = "; ".join(_names(results, part.members) for part in parts)
        yield f"these groups never met, so each has its own mean of 0: {groups}"
    met = {member for part in parts for member in part.members.tolist()}
    idle = [member for member in range(len(results.bots)) if member not in met]
    if idle and results.games:
        yield f"no games against another bot: {_names(results, idle)}"
    for part in parts:
        yield from _outside_notes(results, part)
        if part.fit is not None and part.is_rated:
            yield from _fit_notes(results, part.fit, unit)


def _fit_notes(results: Results, fit: Fit, unit: str) -> Iterator[str]:
    for size in fit.open_seats:
        reason = f"with {size} players one of the seats won everything or nothing"
        yield reason if fit.prior else f"{reason}, so all seats count as equally good"
    if fit.prior:
        draws = f"{fit.prior:g} virtual draw{'' if fit.prior == 1 else 's'}"
        yield f"rated with a prior of {draws} for every bot (--prior)"
    if fit.by_prior:
        names = _names(results, fit.members[list(fit.by_prior)])
        yield f"without the prior the games do not rate {names} (~)"
    if fit.clusters < FEW_DEALS:
        units = f"{fit.clusters} {unit}{'s' if fit.clusters != 1 else ''}"
        yield f"only {units}: the error bars are rough below {FEW_DEALS}"
    elif fit.is_few.any():
        names = _names(results, fit.members[fit.is_few])
        yield f"fewer than {FEW_DEALS} {unit}s tell of {names} (?): the error bars are rough"
    yield from _alike_note(results, fit, unit)


def _outside_notes(results: Results, part: Component) -> Iterator[str]:
    """What is known of the bots without a rating, one sentence for each case."""
    known = [bound for bound in part.bounds if bound.side in BOUNDS]
    if part.fit is None:
        yield _duel_note(results, known) if known else _nothing_note(results, part)
        return
    rated = "the rated bots"
    if not part.is_rated:
        rated = results.bots[part.fit.members[0]]
        yield (
            f"no two bots won from each other, directly or in a circle, so {rated} is held at"
            f" {part.fit.elo[0]:.0f}; --prior 1 gives everybody a number"
        )
    for side, did in (("<", "won nothing from"), (">", "lost nothing to")):
        bounds = [bound for bound in known if bound.side == side]
        if bounds:
            where = "below" if side == "<" else "above"
            figure = f"{bounds[0].elo:.0f}" if len(bounds) == 1 else f"the figure after {side}"
            yield (
                f"{_names(results, [bound.member for bound in bounds])} {did} {rated}: with"
                f" 95 % confidence the rating is {where} {figure}"
            )
    unmet = [bound.member for bound in part.bounds if bound.side == "~" and not bound.deals]
    if unmet:
        yield (
            f"no rating for {_names(results, unmet)}: no game against {rated} that one of the two"
            " won"
        )
    rest = [bound.member for bound in part.bounds if bound.side == "~" and bound.deals]
    if rest:
        yield (
            f"no rating for {_names(results, rest)}: without error bars of {rated} there is no"
            " bound either"
        )


def _nothing_note(results: Results, part: Component) -> str:
    return (
        f"no rating for {_names(results, part.members)}: no two of them won from each other,"
        " directly or in a circle; --prior 1 gives everybody a number"
    )


def _duel_note(results: Results, bounds: Sequence[Bound]) -> str:
    best, worst = sorted(bounds, key=lambda bound: bound.side, reverse=True)
    return (
        f"{results.bots[best.member]} lost nothing to {results.bots[worst.member]}: with 95 %"
        f" confidence the difference is above {best.differences[0]:.0f} Elo"
    )


def _names(results: Results, members: Iterable[int]) -> str:
    return ", ".join(results.bots[member] for member in members)


def _alike_note(results: Results, fit: Fit, unit: str) -> list[str]:
    given = np.arange(len(fit.members)) == fit.anchor
    alike = [results.bots[member] for member in fit.members[(fit.half_widths() == 0) & ~given]]
    return (
        [f"every {unit} gave the same result for {', '.join(alike)}: an error of 0 means only that"]
        if alike
        else []
    )
