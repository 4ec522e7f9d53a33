"""The fixtures of tests that look at pages."""

import itertools

import pytest

from tests.serve.serving import Served, patient_server, server
from tests.support.commandline import arena, browser

__all__ = ["arena", "browser", "patient_server", "server"]
NUMBERS = itertools.count(1)
"""The numbers of the runs on the `shelf`."""


@pytest.fixture(scope="session")
def shelf(tmp_path_factory):
    """A home to which tests add runs with names of their own, and one server of it for all: a
    server and its process for pages take longer to start than most tests.
    """
    folder = tmp_path_factory.mktemp("shelf")
    (folder / ".arena-home").touch()
    started = Served(folder)
    yield folder, started
    started.close()


@pytest.fixture
def free_run(shelf):
    """The folder that a test's own run on the `shelf` will have, and its address without the
    token.
    """
    folder, started = shelf
    name = f"run-{next(NUMBERS)}"
    return folder / "results" / name, f"{started.url.partition('?')[0]}runs/{name}"
