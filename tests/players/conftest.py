"""What several tests of bots' processes need."""

import pytest

from arena.players import keeper_client
from tests.support.cores import both
from tests.support.started import start
from tests.support.timed import one_core, player

__all__ = ["both", "language", "one_core", "player", "start"]


@pytest.fixture(params=["native", "python"])
def language(request, monkeypatch):
    """The language of the keepers in a test."""
    if request.param == "native" and not keeper_client.NATIVE.exists():
        pytest.skip("there was no C compiler for the keeper")
    monkeypatch.setenv("ARENA_KEEPER", request.param)
    keeper_client.keeper_command.cache_clear()
    yield request.param
    keeper_client.keeper_command.cache_clear()
