"""How many tests run at once, which begin, and Hypothesis's profiles, of which HYPOTHESIS_PROFILE
chooses one.

``ci``, which is used unless told otherwise, tries the same few examples every time, so that no run
of the tests depends on luck. ``night`` tries thousands of new ones; `make fuzz` uses it.
"""

import os

from hypothesis import HealthCheck, settings

FAIR = {"deadline": None, "suppress_health_check": list(HealthCheck)}  # a busy machine is no fault
settings.register_profile("ci", max_examples=30, derandomize=True, database=None, **FAIR)
settings.register_profile("night", max_examples=5000, **FAIR)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


LONG = ("docs/test_pages", "e2e/test_demo", "e2e/test_cluster", "e2e/test_chaos", "e2e/test_soak")
"""Files in which one test takes half a minute: they begin, so that none of them is left to run
alone at the end.
"""


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: not item.nodeid.partition(".py")[0].endswith(LONG))


def pytest_xdist_auto_num_workers():
    """Twice as many as there are processors, since a third of the time is spent waiting: three of
    four are then busy on average, and two processors hardly ever idle.
    """
    return len(os.sched_getaffinity(0)) * 2 if hasattr(os, "sched_getaffinity") else None
