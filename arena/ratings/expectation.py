"""What ratings and seats make of a game before it is played."""

import numpy as np
from scipy.special import softmax

from arena.ratings.components import Floats, Ints
from arena.ratings.likelihood import ELO
from arena.ratings.model import Ratings


def expected_wins(ratings: Ratings, bots: int, seats: Ints, *, bounds: bool = True) -> Floats:
    """(O, k) shares of the win that are expected with these bots, by number, in the seats (O, k);
    NaN if one of them has no rating, nor a bound if ``bounds`` count. There are ``bots`` in all.
    """
    elo, size, fits = np.full(bots, np.nan), seats.shape[1], ratings.fits
    for fit in fits:
        elo[fit.members] = fit.elo
    # What is most likely may be far beyond a bound, but this will do.
    for bound in ratings.bounds if bounds else ():
        elo[bound.member] = bound.elo
    effects = fits[0].seats[size][0] if fits and size in fits[0].seats else np.zeros(size)
    return np.asarray(softmax((elo[seats] + effects) / ELO, axis=1), dtype=np.float64)
