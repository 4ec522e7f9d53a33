"""Comparison of the observations of the environment for training."""

import numpy as np


def same(one, other):
    """Whether two observations of the environment have equal planes and masks."""
    return all(np.array_equal(one[key], other[key]) for key in ("observation", "action_mask"))
