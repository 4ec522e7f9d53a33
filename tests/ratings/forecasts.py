"""How often the number of blocks that a comparison still takes lies in the range of its
forecast.
"""

from typing import NamedTuple

import numpy as np

from arena.ratings.forecast import forecast
from arena.ratings.sequential import Verdict
from tests.ratings.stopping import Case, blocks

LOOKS = (1, 5, 20)
CHUNK = 200
MOST = 40_000


class Trial(NamedTuple):
    """By look, whether the number of further blocks lay in the range of the forecast; a look is
    missing if the comparison had ended before.
    """

    held: dict[int, bool]


def trial(question, spread, rng, by="wins"):
    """A comparison with this ``question`` of two bots whose difference in Elo is drawn from a
    normal distribution with the standard deviation ``spread``.
    """
    case = Case(float(rng.normal(0, spread)), question, by=by)
    test = case.test()
    said = {}
    while test.blocks < MOST and test.verdict == Verdict.UNDECIDED:
        shares, leads = blocks(case, rng, CHUNK)
        for share, lead in zip(shares.mean(axis=1).tolist(), leads.tolist(), strict=True):
            test.add(share, 1 - share, margins=(lead, [-each for each in lead]))
            if test.verdict != Verdict.UNDECIDED:
                break
            if test.blocks in LOOKS:
                said[test.blocks] = forecast(test)
    held = {at: each.low <= test.blocks - at <= each.high for at, each in said.items()}
    return Trial(held)


def forecasts(question, spread):
    """A trial: by look, whether the number of further blocks lay in the range of the forecast; NaN
    if the comparison had ended before.
    """

    def held(rng):
        found = trial(question, spread, rng).held
        return [float(found[look]) if look in found else np.nan for look in LOOKS]

    return held


def coverage(question, spread, tries, seed=1, by="wins"):
    """By look, the share of comparisons whose further blocks lay in the range, and their number."""
    rng = np.random.default_rng(seed)
    held = {look: [] for look in LOOKS}
    for _ in range(tries):
        for look, is_held in trial(question, spread, rng, by).held.items():
            held[look].append(is_held)
    return {look: (float(np.mean(of_look)), len(of_look)) for look, of_look in held.items()}
