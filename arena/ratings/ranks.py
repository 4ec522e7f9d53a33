"""Simultaneous 95 % intervals for ranks by the max-t method (Mogstad, Romano, Shaikh & Wilhelm)."""

import numpy as np

from arena.ratings.components import Floats, Ints
from arena.ratings.model import COVERAGE, Fit

DRAWS = 10_000
CHUNK = 500


def rank_intervals(fit: Fit) -> tuple[Ints, Ints]:
    """The best and the worst rank of each bot of a fit; without errors they are 1 and the number of bots."""
    count, error = len(fit.elo), fit.difference_error()
    if not np.isfinite(error).all():
        return np.ones(count, dtype=np.int64), np.full(count, count, dtype=np.int64)
    bound = _critical_value(fit.covariance, error) * error
    above = fit.elo[None, :] - fit.elo[:, None]
    return 1 + (above > bound).sum(axis=1), count - (-above > bound).sum(axis=1)


def _critical_value(covariance: Floats, error: Floats) -> float:
    """The 95 % quantile of ``max |z_i - z_j| / se_ij`` for z ~ N(0, V), from a fixed sample."""
    safe = np.where(error > 0, error, np.inf)
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0))
    generator = np.random.default_rng(1)
    largest = []
    for _ in range(0, DRAWS, CHUNK):
        draws = generator.standard_normal((CHUNK, len(covariance))) @ root.T
        largest.append((np.abs(draws[:, :, None] - draws[:, None, :]) / safe).max(axis=(1, 2)))
    return float(np.quantile(np.concatenate(largest), COVERAGE))
