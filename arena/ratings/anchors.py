"""Anchors: bots with a given rating, which sets the level for all bots that they can be compared
with.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from arena.errors import UserError, did_you_mean
from arena.ratings.model import Fit


def anchor_fits(
    fits: Sequence[Fit], bots: Sequence[str], anchors: Mapping[str, float]
) -> list[Fit]:
    """The fits with their anchors held at the given ratings, at most one anchor per component.
    Raises UserError.
    """
    for name in anchors:
        if name not in bots:
            known = f"{did_you_mean(name, bots)}there are {', '.join(bots) or 'none'}"
            raise UserError(
                f"expected the anchor to be a bot of these results, got {name!r}", known
            )
    anchored = [_anchor(fit, bots, anchors) for fit in fits]
    idle = sorted(set(anchors) - {bots[member] for fit in fits for member in fit.members})
    if idle:
        raise UserError(
            f"expected an anchor with a rating, got {', '.join(idle)} without a game against"
            " another bot",
            "choose another bot",
        )
    return anchored


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
