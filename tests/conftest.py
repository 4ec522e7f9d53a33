"""Which tests are long, how many run at once, which begin, and Hypothesis's profiles, of which
HYPOTHESIS_PROFILE chooses one.

``ci``, which is used unless told otherwise, tries the same few examples every time, so that no run
of the tests depends on luck. ``night`` tries thousands of new ones; `make fuzz` uses it.
"""

import gc
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.groups import FIRST, LONG

FAIR = {"deadline": None, "suppress_health_check": list(HealthCheck)}  # a busy machine is no fault
settings.register_profile("ci", max_examples=30, derandomize=True, database=None, **FAIR)
settings.register_profile("night", max_examples=5000, **FAIR)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


TESTS = Path(__file__).parent


pytest_plugins = ("tests.support.ledger", "tests.support.wording")


def pytest_addoption(parser):
    parser.addoption(
        "--group",
        choices=("shared", "alone"),
        help="run the tests that can share the machine, or those marked `alone`; default: both",
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config, items):
    """Mark long tests before pytest applies ``-m``, and leave tests out after syrupy has seen all
    of them: else it would take the snapshots of those left out for unused, which is a failure.
    """
    mark_long_tests(items)
    result = yield
    keep_group(config, items)
    items.sort(key=lambda item: not item.nodeid.partition(".py")[0].endswith(FIRST))
    return result


def pytest_collection_finish(session):
    """What thousands of tests and their modules are made of stays: `gc.collect` in a test need not
    go through all of it.
    """
    gc.collect()
    gc.freeze()


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
    """Mark the tests in the folders that `make test` leaves out."""
    for item in items:
        if item.path.relative_to(TESTS).parts[0] in LONG:
            item.add_marker(pytest.mark.long)


def pytest_xdist_auto_num_workers(config):
    """Twice as many as there are processors, since tests wait for a third of their time. If the
    long tests are left out, three times as many: the others wait more. With the long tests, three
    times as many gained nothing.
    """
    if not hasattr(os, "sched_getaffinity"):
        return None
    each = 3 if config.option.markexpr == "not long" else 2
    return len(os.sched_getaffinity(0)) * each
