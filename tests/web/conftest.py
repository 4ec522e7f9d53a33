"""A home that is served."""

import pytest

from tests.exports.runs import duels, write_run
from tests.web.serving import Served


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """A home with one finished run."""
    folder = tmp_path_factory.mktemp("home")
    write_run(folder / "results" / "done", "abc", duels("abc", 2), deals=2)
    return folder


@pytest.fixture(scope="session")
def served(home):
    """One server for all tests that leave it as it is."""
    server = Served(home)
    yield server
    server.close()
