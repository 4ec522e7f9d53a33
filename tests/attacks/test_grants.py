"""What a bot can do that was granted something: that, and nothing else of what attackers try."""

import contextlib
import os
import secrets
import socket
import sys
from pathlib import Path

import pytest

from arena.players.process import BotProcess
from arena.players.sandbox import grants
from arena.players.sandbox.grants import Grants
from tests.attacks.ground import read_line
from tests.attacks.table import ATTACKS, BLOCKED, OPEN

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the tiers exist on Linux only")

OPENED = ("dials a TCP port", "dials a TCP port by IPv6", "sends a datagram")
STILL_CLOSED = (
    "reads an ssh key",
    "reads the journal",
    "reads a rival's source",
    "reads a rival's memory",
    "traces a rival",
    "reads the referee's environment",
    "takes a referee's descriptor",
    "kills the referee",
    "leaves its processor",
    "moves a rival to another processor",
    "dials a Unix socket",
    "dials an abstract socket",
    "opens a raw socket",
    "listens to all packets",
    "opens a socket to the virtual machine's host",
    "makes memory that nobody counts",
    "keeps filters of sockets",
    "uses io_uring",
    "makes a user namespace",
    "inherits descriptors",
    "has a terminal of its own",
)


CONFINED = pytest.mark.parametrize("ground", ["bubblewrap", "landlock"], indirect=True)


@pytest.fixture
def granted(ground):
    """The ground, where the attacker was granted all that a machine without a GPU has."""
    place = ground.path / "granted"
    place.mkdir()
    (place / "data").write_text(f"granted {ground.word}")
    ground["granted"] = str(place)
    ground.grants = Grants(network=True, cpus=len(grants.CORES), read=(str(place),))
    return ground


@CONFINED
@pytest.mark.parametrize("name", [*OPENED, *STILL_CLOSED])
def test_a_grant_opens_what_it_says_and_nothing_else(granted, name):
    attack = ATTACKS[name]
    granted.patience_s = 60 if name in OPENED else 0.3
    said = granted.attack(attack.line)
    result = OPEN if attack.judge(granted, said) else BLOCKED
    assert result == (OPEN if name in OPENED else BLOCKED), said


@CONFINED
def test_what_is_granted_is_read_only_and_holds_no_way_out(granted):
    """A socket or a pipe in a folder would lead to whoever listens there."""
    place = granted["granted"]
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{place}/s")
        listener.listen()
        granted.grants = Grants(read=(place,))
        assert granted.word in granted.attack(f"files.py read {place}/data")
        assert granted.attack(f"files.py append {place}/data forged").startswith("blocked")
        assert granted.attack(f"files.py create {place}/new").startswith("blocked")
        assert granted.attack(f"network.py unix {place}/s x").startswith("blocked")


@CONFINED
def test_what_became_a_link_since_it_was_granted_is_not_followed(granted, refused):
    place = granted.path / "granted"
    place.rename(granted.path / "moved")
    place.symlink_to(granted.home / ".ssh")
    with refused(Exception):
        granted.attack("files.py read {secret}")


def test_the_value_of_a_variable_is_in_no_command_line_and_goes_to_no_build(ground, monkeypatch):
    word = secrets.token_hex(16)
    monkeypatch.setenv("OWN_KEY", word)
    ground.grants = Grants(env=("OWN_KEY",))
    ground.attack("inherited.py descriptors")
    process = ground.process
    lines = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            lines.append(entry.read_bytes())
    assert not [line for line in lines if word.encode() in line]
    process.stop()
    command = ["python3", "-c", "import os; print(os.environ.get('OWN_KEY', 'no key'))"]
    for building, expected in ((False, word), (True, "no key")):
        grants = {} if building else {"grants": ground.grants}
        other = BotProcess(command, ground.own, ground.sandbox, building=building, **grants)
        assert read_line(other.from_bot) == expected
        ground._stop(other)


def test_a_bot_computes_on_as_many_processors_as_it_was_granted(ground):
    cores = sorted(os.sched_getaffinity(0))
    command = ["python3", "-c", "import os; print(len(os.sched_getaffinity(0)))"]
    os.sched_setaffinity(0, cores[:1])
    try:
        for number in {1, len(cores)}:
            grants = Grants(cpus=number)
            process = BotProcess(command, ground.own, ground.sandbox, grants=grants)
            assert read_line(process.from_bot) == str(number)
            ground._stop(process)
    finally:
        os.sched_setaffinity(0, cores)


GPU = """
import fcntl, os
def tried(request):
    with open("{device}", "r+b", buffering=0) as device:
        try:
            fcntl.ioctl(device, request, bytearray(128))
        except OSError as error:
            return os.strerror(error.errno)
print([tried(each) for each in (0xC020462A, 0xC0406400, 0x80004B01, 27, 0x30000001)])
"""


@CONFINED
def test_a_gpu_opens_its_devices_and_the_requests_of_its_drivers(ground, monkeypatch):
    """Without a GPU, another device stands for one, whose driver knows none of the requests."""
    monkeypatch.setattr(grants, "GPU_DEVICES", ("/dev/fuse", "/dev/vsock"))
    mine = [path for path in grants.gpu_devices() if os.access(path, os.R_OK | os.W_OK)]
    if not mine:
        pytest.skip("no device that this user may open to stand for a GPU")
    (ground.own / "gpu.py").write_text(GPU.format(device=mine[0]))
    for granted in (Grants(gpu=True), Grants()):
        process = BotProcess(["python3", "gpu.py"], ground.own, ground.sandbox, grants=granted)
        said = read_line(process.from_bot)
        ground._stop(process)
        if granted.gpu:
            assert set(eval(said)) <= {"Inappropriate ioctl for device", "Invalid argument"}
        else:
            assert said == ""
