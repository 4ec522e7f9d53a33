"""Anchors: bots with a given rating, which sets the level for all bots that they can be compared
with.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from arena.errors import UserError, did_you_mean
from arena.ratings.fit import Fit
from arena.ratings.model import Ratings
from arena.ratings.outside import bounds_of
from arena.ratings.results import Results


def anchor_ratings(ratings: Ratings, results: Results, anchors: Mapping[str, float]) -> Ratings:
    """The ratings with the anchors held at the given values, at most one per component. Raises
    UserError.
    """
    bots = results.bots
    for name in anchors:
        if name not in bots:
            known = f"{did_you_mean(name, bots)}there are {', '.join(bots) or 'none'}"
            raise UserError(
                f"expected the anchor to be a bot of these results, got {name!r}", known
            )
    fits = [part.fit for part in ratings.components if part.fit is not None]
    rated = {bots[member] for fit in fits for member in fit.members}
    idle = sorted(set(anchors) - rated)
    if idle:
        raise UserError(
            f"expected an anchor with a rating, got {', '.join(idle)} without one",
            "choose a bot that won from others and lost to them, or rate everybody with --prior 1",
        )
    components = []
    for part in ratings.components:
        fit = part.fit and _anchor(part.fit, bots, anchors)
        bounds = bounds_of(results, part.members, fit) if fit and part.bounds else part.bounds
        components.append(part._replace(fit=fit, bounds=bounds))
    return Ratings(components)


def _anchor(fit: Fit, bots: Sequence[str], anchors: Mapping[str, float]) -> Fit:
    here = [bots[member] for member in fit.members if bots[member] in anchors]
    if len(here) > 1:
        raise UserError(
            f"expected one anchor per group of comparable bots, got {' and '.join(here)}",
            "one anchor fixes the level, and the games determine the distances from it",
        )
    if not here:
        return fit
    return fit.anchored(
        int(np.flatnonzero(fit.members == list(bots).index(here[0]))[0]), anchors[here[0]]
    )
