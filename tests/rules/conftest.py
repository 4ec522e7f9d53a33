"""Fixtures of the rules tests: every test that takes ``State`` runs on each core that is installed."""

import pytest

from arena.rules import pure

CORES = {"pure": pure.State}


@pytest.fixture(params=sorted(CORES))
def State(request):  # noqa: N802 - it stands for the class
    return CORES[request.param]
