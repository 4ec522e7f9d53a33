"""The ground in each tier, small limits, and the command line's arena."""

import os
import shutil
import subprocess
import sys

import pytest

from arena.players import process
from arena.players.sandbox import launch
from arena.players.sandbox.tiers import Sandbox, failure
from tests.attacks.ground import Ground
from tests.support.commandline import arena  # noqa: F401 - a fixture

TIERS = ("bubblewrap", "landlock", "none")
reasons = {}


def needs(tier):
    """Skip the test where the tier does not work. Fail it where bubblewrap works, but not as the
    arena starts it: a change that breaks the sandbox must not leave out the tests of it.
    """
    if tier == "none":
        return
    if tier not in reasons:
        reasons[tier] = failure(Sandbox(tier).launch)
    if reasons[tier]:
        if tier == "bubblewrap" and not bubblewrap_fails():
            pytest.fail(f"bubblewrap works here, but not as the arena starts it: {reasons[tier]}")
        pytest.skip(
            f"{tier} does not work here: {reasons[tier]}; 'arena doctor' tells how to get it"
        )


def bubblewrap_fails():
    """Why bubblewrap cannot be tried here, whatever options the arena gives it; empty if it can."""
    if sys.platform != "linux" or shutil.which("bwrap") is None:
        return "bubblewrap is not installed: apt install bubblewrap"
    command = ["bwrap", "--unshare-all", "--unshare-user", "--disable-userns"]
    command += ["--ro-bind", "/", "/", "true"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return f"bubblewrap does not work here: {done.stderr.strip()}" if done.returncode else ""


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


@pytest.fixture
def tiers_command(tmp_path, monkeypatch):
    """Options that make the command line use a tier: Landlock by a bubblewrap that is broken, as it
    often is.
    """

    def options(tier):
        needs(tier)
        if tier == "landlock":
            folder = tmp_path / "broken"
            folder.mkdir()
            (folder / "bwrap").write_text("#!/bin/sh\nexit 1\n")
            (folder / "bwrap").chmod(0o755)
            monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        return ["--sandbox", "off"] if tier == "none" else ["--sandbox", "require"]

    return options
