"""The tiers of the sandbox: which of them work here, and how the command line uses one."""

import ctypes
import os
import shutil
import subprocess
import sys

import pytest

from arena.players.sandbox import confine
from arena.players.sandbox.tiers import Sandbox, failure

TIERS = ("bubblewrap", "landlock", "none")
reasons = {}


def needs(tier):
    """Skip the test where the tier does not work. Fail it where bubblewrap or Landlock works, but
    not as the arena uses it: a change that breaks the sandbox must not leave out the tests of it.
    """
    if tier == "none":
        return
    if tier not in reasons:
        reasons[tier] = failure(Sandbox(tier).launch)
    if reasons[tier]:
        if not (bubblewrap_fails() if tier == "bubblewrap" else landlock_fails()):
            pytest.fail(f"{tier} works here, but not as the arena uses it: {reasons[tier]}")
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


def landlock_fails():
    """Why Landlock cannot be tried here, whatever rules the arena gives it; empty if it can."""
    if sys.platform != "linux":
        return "Landlock needs Linux"
    if not confine.is_known():
        return "the arena has no table of system calls for this machine"
    create_ruleset, version_flag = 444, 1
    version = ctypes.CDLL(None).syscall(create_ruleset, None, ctypes.c_size_t(0), version_flag)
    if version < 6:
        return f"Landlock has version {version} here, and confines signals from version 6 on"
    return ""


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
