"""Finding out whether a sandbox works, and leaving nothing behind."""

import os
import select
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from arena.players.sandbox import tiers
from arena.players.sandbox.launch import Launch
from tests.attacks.tiers import needs


def test_a_probe_that_takes_too_long_ends_with_all_it_started(monkeypatch, tmp_path, refused):
    monkeypatch.setattr(tiers, "PATIENCE_S", 0.5)
    ours, theirs = os.pipe()

    def start_another(_command, _folder):
        return Launch(["sh", "-c", "sleep 1000 & wait"], dict(os.environ), [theirs])

    with refused(ValueError):
        tiers.look_around(start_another, tmp_path)
    # the pipe ends once nobody holds its other side
    ended, _, _ = select.select([ours], [], [], 60)
    os.close(ours)
    assert ended


ROOT = Path(__file__).parents[2]
FOUND = """
from arena.players.sandbox.tiers import choose
print(choose("require", accept_none=False))
"""


@pytest.fixture
def unshare():
    """A command that runs another one in a pid namespace of its own, with the old /proc."""
    for command in (["unshare", "-pf", "--kill-child"], ["unshare", "-Urpf", "--kill-child"]):
        with suppress(OSError):
            if not subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
                return command
    return pytest.skip("this system lets nobody make a pid namespace (unshare)")


def run_as(pid, unshare, *command):
    """What a command prints as this process of a pid namespace."""
    ended_before = "true & wait; " * (pid - 2)
    shell = ["bash", "-c", ended_before + '"$@"; exit $?', "bash"] if pid > 1 else []
    done = subprocess.run(
        [*unshare, "--mount-proc", *shell, *command],
        capture_output=True, text=True, cwd=ROOT, check=True,
    )  # fmt: skip
    return done.stdout


@pytest.mark.parametrize("pid", [1, 2, 3])
def test_the_first_processes_of_a_container_find_the_sandbox_that_later_ones_find(unshare, pid):
    assert run_as(pid, unshare, "bash", "-c", "echo $$") == f"{pid}\n"
    found = run_as(pid, unshare, sys.executable, "-c", FOUND)
    assert found == run_as(20, unshare, sys.executable, "-c", FOUND)


def test_a_child_that_may_signal_its_parent_is_not_confined(tmp_path):
    assert not tiers.look_around(tiers.OPEN.launch, tmp_path)["processes"]


def test_a_pid_namespace_with_a_proc_that_shows_the_processes_outside_is_not_confined(
    unshare, tmp_path
):
    def start(command, _folder):
        return Launch(command, dict(os.environ), wrapper=unshare)

    processes = False
    with suppress(ValueError):  # the keeper may end it for what the machine's processes use
        processes = tiers.look_around(start, tmp_path)["processes"]
    assert not processes


@pytest.mark.parametrize("tier", tiers.TIERS)
@pytest.mark.usefixtures("language")
def test_the_keepers_of_both_languages_confine(tier):
    needs(tier)
    assert tiers.failure(tiers.Sandbox(tier).launch) == ""


def test_a_program_that_is_missing_is_named_without_an_errno(snapshot):
    def start_missing(_command, _folder):
        return Launch(["true"], dict(os.environ), wrapper=["no-such-program"])

    assert tiers.failure(start_missing) == snapshot
