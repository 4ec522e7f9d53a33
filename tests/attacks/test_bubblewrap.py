"""The rights of a process in the bubblewrap sandbox, as the kernel shows them to it."""

import errno
import json
import os
import select
import signal
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from arena.players.process import BotProcess
from arena.players.sandbox.launch import DEVICES_OF_BUBBLEWRAP, bubblewrap_launch
from arena.players.sandbox.tiers import Sandbox
from arena.players.temporary import remove_abandoned
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
CHANGE_DEVICES = f"""
import errno, json, os
def outcome(change):
    try:
        change()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "changed"
print(json.dumps({{
    name: {{
        "mode": outcome(lambda: os.chmod(f"/dev/{{name}}", 0o666)),
        "times": outcome(lambda: os.utime(f"/dev/{{name}}", ns=(1, 1))),
    }}
    for name in {DEVICES_OF_BUBBLEWRAP}
}}))
"""
TOUCH_A_DEVICE = """
import json, os
found = os.stat("/dev/null").st_mtime_ns
os.utime("/dev/null")
print(json.dumps({"found": found, "left": os.stat("/dev/null").st_mtime_ns}))
"""
USE_DEVICES = """
import errno, json, os
def code(name):
    try:
        with open(name, "r+b", buffering=0) as file:
            file.write(b"x")
    except OSError as error:
        return errno.errorcode[error.errno]
    return ""
def first(name):
    with open(name, "rb") as file:
        return file.read(4)
print(json.dumps({
    "null": code("/dev/null"), "zero": first("/dev/zero")[:1].hex(), "full": code("/dev/full"),
    "random": len(first("/dev/random")), "urandom": len(first("/dev/urandom")),
    "tty": code("/dev/tty"), "stdin": os.path.samestat(os.stat("/dev/stdin"), os.fstat(0)),
    "fd": "0" in os.listdir("/dev/fd"),
}))
"""
MAKE_DEVICES = """
import os
from contextlib import ExitStack
from pathlib import Path
from arena.players.sandbox.launch import bubblewrap_launch
made = bubblewrap_launch(["true"], Path.cwd(), os.environ, undo=ExitStack(), writable=False)
print(made.temporary)
"""
PARENT = """
import json, subprocess, sys
command, environment, descriptors = json.loads(sys.argv[1])
subprocess.run(command, env=environment, pass_fds=descriptors)
"""


pytestmark = pytest.mark.skipif(bool(bubblewrap_fails()), reason=bubblewrap_fails())


def told_by(tmp_path, source):
    """The line that a bot with this source prints, read from JSON."""
    (tmp_path / "bot.py").write_text(source)
    process = BotProcess(["python3", "bot.py"], tmp_path, Sandbox("bubblewrap"))
    try:
        return json.loads(read_line(process.from_bot))
    finally:
        process.stop()
        os.close(process.to_bot)
        os.close(process.from_bot)


@pytest.fixture(scope="module")
def inside(tmp_path_factory):
    """What /proc/self tells a bot: the lines of ``status``, and in ``spaces`` its namespaces."""
    return told_by(tmp_path_factory.mktemp("probe"), PROBE)


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
    launch.clear_up()
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
        launch.clear_up()


@pytest.fixture
def devices(tmp_path):
    """Skips the test where root may make no devices, so that its bots get those of the machine."""
    launch = bubblewrap_launch(["true"], tmp_path, os.environ, undo=ExitStack(), writable=False)
    launch.close()
    launch.clear_up()
    if os.getuid() == 0 and not launch.temporary:
        pytest.skip("root may make no devices here")


@pytest.mark.usefixtures("devices")
def test_a_bot_cannot_change_the_devices_of_the_machine(tmp_path):
    refused = {"mode": "EPERM", "times": "EPERM"}
    assert told_by(tmp_path, CHANGE_DEVICES) == dict.fromkeys(DEVICES_OF_BUBBLEWRAP, refused)


@pytest.mark.usefixtures("devices")
@pytest.mark.skipif(os.getuid() != 0, reason="the bot of a plain user gets the machine's devices")
def test_what_a_bot_of_root_does_to_its_devices_ends_with_it(tmp_path):
    first = told_by(tmp_path, TOUCH_A_DEVICE)
    second = told_by(tmp_path, TOUCH_A_DEVICE)
    assert first["left"] < second["found"] < second["left"]
    launch = bubblewrap_launch(["true"], tmp_path, os.environ, undo=ExitStack(), writable=False)
    launch.close()
    assert os.path.isdir(launch.temporary)
    launch.clear_up()
    assert not os.path.exists(launch.temporary)


def test_a_bot_finds_the_devices_that_programs_use(tmp_path):
    assert told_by(tmp_path, USE_DEVICES) == {
        "null": "", "zero": "00", "full": "ENOSPC", "random": 4, "urandom": 4,
        "tty": "ENXIO", "stdin": True, "fd": True,
    }  # fmt: skip


def test_where_the_arena_may_make_no_devices_a_bot_gets_those_of_the_machine(tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError(errno.EPERM, "refused")

    monkeypatch.setattr(os, "mknod", refused)
    assert told_by(tmp_path, USE_DEVICES)["null"] == ""


@pytest.mark.usefixtures("devices")
@pytest.mark.skipif(os.getuid() != 0, reason="only root makes devices")
def test_devices_of_an_arena_that_was_killed_are_removed(tmp_path):
    made = subprocess.run(
        [sys.executable, "-c", MAKE_DEVICES], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert sorted(os.listdir(made)) == sorted(DEVICES_OF_BUBBLEWRAP)
    assert Path(made) in remove_abandoned()
    assert not Path(made).exists()
