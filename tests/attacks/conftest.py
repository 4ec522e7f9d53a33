"""The ground in each tier, small limits, and the command line's arena."""

import pytest

from arena.players import process
from arena.players.sandbox import launch
from tests.attacks.ground import Ground
from tests.attacks.tiers import TIERS, needs, tiers_command
from tests.support.commandline import arena

__all__ = ["arena", "ground", "tiers_command"]


@pytest.fixture(params=TIERS)
def ground(request, tmp_path, monkeypatch):
    """A place to attack, in one tier."""
    needs(request.param)
    made = Ground(tmp_path, request.param)
    cache = str(tmp_path / "cache")  # builds that are kept are no spoil of an attack
    for name, value in {
        "HOME": made["home"],
        "TMPDIR": made["folder"],
        "API_TOKEN": made.word,
        "XDG_CACHE_HOME": cache,
    }.items():
        monkeypatch.setenv(name, value)
    for name, value in {"DISK_MB": 48, "DISK_FILES": 2000, "FILES_IN_MEMORY": 2000}.items():
        monkeypatch.setattr(launch, name, value)
    monkeypatch.setattr(
        process, "BUILD_LIMITS", process.BUILD_LIMITS | {"disk_mb": 48, "files_on_disk": 2000}
    )
    monkeypatch.setattr(process, "BUILD_MEMORY_MB", 256)
    yield made
    made.close()
