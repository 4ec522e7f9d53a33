"""Which tests are long, how many run at once, which begin, and Hypothesis's profiles, of which
HYPOTHESIS_PROFILE chooses one.

``ci``, which is used unless told otherwise, tries the same few examples every time, so that no run
of the tests depends on luck. ``night`` tries thousands of new ones; `make fuzz` uses it.
"""

import os

import pytest
from hypothesis import HealthCheck, settings

FAIR = {"deadline": None, "suppress_health_check": list(HealthCheck)}  # a busy machine is no fault
settings.register_profile("ci", max_examples=30, derandomize=True, database=None, **FAIR)
settings.register_profile("night", max_examples=5000, **FAIR)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


FIRST = ("docs/test_pages", "e2e/test_demo", "e2e/test_cluster", "e2e/test_chaos", "e2e/test_soak")
"""Files in which one test takes half a minute: they begin, so that none of them is left to run
alone at the end.
"""
LONG = (
    "attacks/test_builds",
    "attacks/test_folders",
    "bench/",
    "docs/test_about_qin",
    "docs/test_pages",
    "e2e/test_chaos",
    "e2e/test_cluster",
    "e2e/test_deals",
    "e2e/test_demo",
    "e2e/test_engine",
    "e2e/test_fair",
    "e2e/test_in_process",
    "e2e/test_install",
    "e2e/test_kills",
    "e2e/test_kits",
    "e2e/test_ladder",
    "e2e/test_league",
    "e2e/test_learner",
    "e2e/test_loaded",
    "e2e/test_mixed",
    "e2e/test_odds",
    "e2e/test_pair_browser",
    "e2e/test_pictures_browser",
    "e2e/test_plans",
    "e2e/test_play_browser",
    "e2e/test_report_browser",
    "e2e/test_review",
    "e2e/test_soak",
    "e2e/test_stalls",
    "e2e/test_starters",
    "e2e/test_train",
    "e2e/test_tune",
    "e2e/test_until",
    "e2e/test_width",
    "github/test_compare_action",
    "ratings/test_coverage",
    "ratings/test_margins",
    "ratings/test_outside",
    "ratings/test_properties",
    "ratings/test_small_samples",
    "ratings/test_stopping",
    "rules/test_leaks",
    "web/test_live",
)
"""Files whose tests `make test` leaves to `make test-all`, beside the tests marked `long`."""
SAMPLED = (
    "attacks/",
    "e2e/",
    "match/test_decisions",
    "match/test_leaks",
    "match/test_zoo",
    "ratings/",
    "rules/test_differential",
    "web/",
)
"""Files and folders of which `make test` runs the first case of each test."""


pytest_plugins = ("tests.ledger",)


def pytest_addoption(parser):
    parser.addoption(
        "--group",
        choices=("shared", "alone"),
        help="run the tests that can share the machine, or those marked `alone`; default: both",
    )


def pytest_collection_modifyitems(config, items):
    mark_long_tests(items)
    keep_group(config, items)
    items.sort(key=lambda item: not item.nodeid.partition(".py")[0].endswith(FIRST))


def keep_group(config, items):
    """Leave only the tests of the group that the command line names."""
    if config.option.group is None:
        return
    wants_alone = config.option.group == "alone"
    others = [item for item in items if is_alone(item) != wants_alone]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if is_alone(item) == wants_alone]


def is_alone(item):
    return item.get_closest_marker("alone") is not None


def mark_long_tests(items):
    """Mark the tests that `make test` leaves out."""
    sampled = set()
    for item in items:
        place, function = (
            item.nodeid.removeprefix("tests/").partition(end)[0] for end in (".py", "[")
        )
        if place.startswith(LONG) or function in sampled:
            item.add_marker(pytest.mark.long)
        elif place.startswith(SAMPLED):
            sampled.add(function)


def pytest_xdist_auto_num_workers():
    """Twice as many as there are processors, since a third of the time is spent waiting: three of
    four are then busy on average, and two processors hardly ever idle.
    """
    return len(os.sched_getaffinity(0)) * 2 if hasattr(os, "sched_getaffinity") else None
