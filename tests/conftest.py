"""Hypothesis's profiles, for all tests: HYPOTHESIS_PROFILE chooses one.

``ci``, which is used unless told otherwise, tries the same few examples every time, so that no run
of the tests depends on luck. ``night`` tries thousands of new ones; `make fuzz` uses it.
"""

import os

from hypothesis import HealthCheck, settings

FAIR = {"deadline": None, "suppress_health_check": list(HealthCheck)}  # a busy machine is no fault
settings.register_profile("ci", max_examples=60, derandomize=True, database=None, **FAIR)
settings.register_profile("night", max_examples=5000, **FAIR)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
