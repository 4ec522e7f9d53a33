"""The rights of a process in the bubblewrap sandbox, as the kernel shows them to it."""

import json
import os
import select
import signal
import subprocess
import sys
from contextlib import ExitStack, suppress

import pytest

from arena.players.process import BotProcess
from arena.players.sandbox.launch import bubblewrap_launch
from arena.players.sandbox.tiers import Sandbox
from tests.attacks.ground import read_line
from tests.attacks.tiers import bubblewrap_fails

CAPABILITIES = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
SPACES = ("ipc", "mnt", "net", "pid", "user", "uts")
PATIENCE_S = 60
PROBE = """
import json, os
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
spaces = {name: os.readlink(f"/proc/self/ns/{name}") for name in os.listdir("/proc/self/ns")}
print(json.dumps({"status": status, "spaces": spaces}))
"""
UNSHARE = """
import ctypes, errno
NEW_USER_NAMESPACE = 0x10000000
libc = ctypes.CDLL(None, use_errno=True)
failed = libc.unshare(NEW_USER_NAMESPACE)
print(errno.errorcode[ctypes.get_errno()] if failed else "made one", flush=True)
"""
PARENT = """
import json, subprocess, sys
command, environment, descriptors = json.loads(sys.argv[1])
subprocess.run(command, env=environment, pass_fds=descriptors)
"""


pytestmark = pytest.mark.skipif(bool(bubblewrap_fails()), reason=bubblewrap_fails())


@pytest.fixture(scope="module")
def inside(tmp_path_factory):
    """What /proc/self tells a bot: the lines of ``status``, and in ``spaces`` its namespaces."""
    folder = tmp_path_factory.mktemp("probe")
    (folder / "probe.py").write_text(PROBE)
    process = BotProcess(["python3", "probe.py"], folder, Sandbox("bubblewrap"))
    try:
        return json.loads(read_line(process.from_bot))
    finally:
        process.stop()
        os.close(process.to_bot)
        os.close(process.from_bot)


def test_a_bot_has_no_capability_and_can_get_none(inside):
    found = {name: int(inside["status"][name], 16) for name in CAPABILITIES}
    assert found == dict.fromkeys(CAPABILITIES, 0)


def test_a_bot_can_gain_no_privileges_and_its_system_calls_are_filtered(inside):
    assert inside["status"]["NoNewPrivs"].strip() == "1"
    assert inside["status"]["Seccomp"].strip() == "2"


def test_a_bot_shares_no_namespace_with_the_arena(inside):
    outside = {name: os.readlink(f"/proc/self/ns/{name}") for name in SPACES}
    assert [name for name in SPACES if inside["spaces"][name] == outside[name]] == []


def test_a_bot_could_make_no_user_namespace_even_if_its_system_calls_were_not_filtered(tmp_path):
    command = ["python3", "-c", UNSHARE]
    launch = bubblewrap_launch(command, tmp_path, os.environ, undo=ExitStack(), writable=False)
    # without the keeper, which filters the system calls
    done = subprocess.run(
        [*launch.wrapper, *launch.command],
        env=launch.environment,
        pass_fds=launch.descriptors,
        capture_output=True,
        text=True,
        check=True,
    )
    launch.close()
    assert done.stdout == "ENOSPC\n"


def test_a_sandbox_ends_with_the_process_that_started_it_even_without_a_keeper(tmp_path):
    script = "echo started; exec sleep 600"
    launch = bubblewrap_launch(
        ["sh", "-c", script], tmp_path, os.environ, undo=ExitStack(), writable=False
    )
    start = json.dumps([[*launch.wrapper, *launch.command], launch.environment, launch.descriptors])
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, start],
        stdout=subprocess.PIPE,
        pass_fds=launch.descriptors,
        start_new_session=True,
    )
    launch.close()
    try:
        with parent:
            assert read_line(parent.stdout.fileno()) == "started"
            parent.kill()
            parent.wait()
            # The pipe ends once no process of the sandbox holds it any more.
            readable, _, _ = select.select([parent.stdout], [], [], PATIENCE_S)
            assert readable
            assert parent.stdout.read() == b""
    finally:
        with suppress(ProcessLookupError):
            os.killpg(parent.pid, signal.SIGKILL)
