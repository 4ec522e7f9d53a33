"""The cores of the rules that are installed, for tests that run on each of them or compare them."""

import os

import pytest

from arena.rules import pure

CORES = {"pure": pure.State}
try:
    from arena.rules import native

    CORES["native"] = native.State
except ImportError:
    if os.environ.get("ARENA_RULES") == "native":
        raise


@pytest.fixture(name="State", params=sorted(CORES))
def state_class(request):
    return CORES[request.param]


@pytest.fixture(scope="session")
def both():
    """The pure and the native core, for tests that compare them."""
    if len(CORES) < 2:
        pytest.skip("the native core is not built")
    return CORES["pure"], CORES["native"]
