"""Waiting for what a test can observe, in place of a sleep that is long enough most of the time."""

import time

import pytest

INTERVAL_S = 0.02


def happens(condition, *, seconds, interval_s=INTERVAL_S):
    """Call `condition` every `interval_s` seconds until it returns something true, for at most
    `seconds`. Return its last value.
    """
    deadline = time.monotonic() + seconds
    while not (value := condition()) and time.monotonic() < deadline:
        time.sleep(interval_s)
    return value


def wait_for(condition, awaited, *, seconds=240, interval_s=INTERVAL_S):
    """Return once `condition` returns something true. Fail the test if that takes longer than
    `seconds`, with a message that names what was `awaited`.
    """
    if not happens(condition, seconds=seconds, interval_s=interval_s):
        pytest.fail(f"after {seconds} s still waiting for {awaited}")
