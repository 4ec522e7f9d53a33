"""A real process under its keeper: how it ends, what it is left
with, and that nothing of it stays.
"""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from arena.players import keeper_client
from arena.players.counter import process_ns
from arena.players.endings import signal_name
from arena.players.process import BotProcess
from arena.players.processes import is_ending, is_leaving, is_stopped, stat_of, thread_count
from arena.players.sandbox.launch import plain_launch
from arena.players.sandbox.readable import readable_paths
from arena.players.sandbox.tiers import TIERS
from arena.players.usage import figures_of, opened_by, shared_fairly, shared_kb
from tests.attacks.tiers import needs
from tests.support.processes import is_alive, wait_until_dead
from tests.support.started import HIDING, PYTHON, pids_of
from tests.support.waiting import wait_for

pytestmark = pytest.mark.usefixtures("language")


def read_all(process):
    data = b""
    while chunk := os.read(process.from_bot, 65536):
        data += chunk
    return data


def test_the_exit_status_is_told(start, snapshot):
    ending = start("raise SystemExit(7)").ending(60)
    assert (ending.exit, ending.signal, str(ending)) == snapshot


def test_the_signal_is_told(start, snapshot):
    ending = start("import os; os.kill(os.getpid(), 11)").ending(60)
    assert (ending.exit, ending.signal, str(ending)) == snapshot


def test_a_missing_program_is_told(start, snapshot):
    ending = start("", "no-such-program").ending(60)
    assert str(ending) == snapshot


def test_the_cpu_time_and_the_peak_memory_are_told(start):
    ending = start("x = bytearray(80_000_000)\nfor i in range(2_000_000): pass").ending(60)
    assert 0 < ending.cpu_s < 30
    assert 80_000 < ending.peak_kb < 400_000


def test_a_running_bot_has_no_ending(start):
    assert start("import time; time.sleep(600)").ending() is None


def test_input_and_output_are_the_bot_s_own(start):
    process = start("import sys; print(sys.stdin.readline().upper(), end='')")
    os.write(process.to_bot, b"hello\n")
    assert read_all(process) == b"HELLO\n"


def test_the_tail_of_stderr_is_kept(start):
    process = start("import sys; sys.stderr.write('x' * 100_000 + 'the end')")
    process.ending(60)
    assert process.stderr_tail().endswith("the end")
    assert len(process.stderr_tail()) == 8192


@pytest.mark.skipif(not hasattr(os, "O_DIRECT"), reason="this system has no direct reads")
def test_the_arena_reads_a_stderr_that_its_bot_can_only_read_in_whole_blocks(start):
    """The kernel refuses other reads of a file that was opened for direct reads. The file's end is
    not that of a block.
    """
    size = (1 << 20) + 3
    process = start(
        "import fcntl, os, sys\n"
        f"os.write(2, b'x' * {size})\n"
        "try: fcntl.fcntl(2, fcntl.F_SETFL, os.O_DIRECT | os.O_APPEND)\n"
        "except OSError: sys.exit(77)\n"
    )
    ending = process.ending(60)
    if ending.exit == 77:
        pytest.skip("this file system has no direct reads")
    assert ending.exit == 0, process.stderr_tail()
    assert process.stderr_tail() == "x" * 8192
    process.trim_stderr()
    assert process.stderr_size() == 8192
    assert process.stderr_written() == size


def test_output_to_files_and_stderr_has_a_limit(start):
    process = start("import sys\nwhile True: sys.stderr.write('x' * 1_000_000)")
    ending = process.ending(60)
    assert ending.exit or ending.signal == signal.SIGXFSZ
    assert os.fstat(process.stderr.fileno()).st_size <= 64 * 1024 * 1024


def test_a_broken_pipe_kills_as_it_does_in_a_shell(start):
    process = start(
        "import signal; print(signal.getsignal(signal.SIGPIPE).name)",
        "bash",
        "-c",
        "trap -p PIPE; ulimit -c; ulimit -n",
    )
    assert read_all(process) == b"0\n256\n"


def test_the_bot_inherits_no_descriptors(start):
    process = start("import os; print(sorted(int(fd) for fd in os.listdir('/proc/self/fd')))")
    assert read_all(process) in (b"[0, 1, 2, 3]\n", b"[0, 1, 2]\n")


def test_the_environment_has_no_secrets(monkeypatch, start):
    monkeypatch.setenv("API_TOKEN", "secret")
    process = start("import os; print(sorted(os.environ))")
    assert b"API_TOKEN" not in read_all(process)


def test_the_arena_s_python_comes_first_on_path():
    given = {"PATH": "/usr/bin", "HOME": "/home/x", "SECRET": "1"}
    environment = plain_launch(["x"], Path(), given, writable=False).environment
    assert environment["PATH"] == f"{Path(PYTHON).parent}:/usr/bin"
    assert "SECRET" not in environment
    assert environment["HOME"] == "/home/x"


def test_every_link_on_the_way_to_an_interpreter_can_be_read(tmp_path, monkeypatch):
    for folder in ("bin", "links", "real"):
        (tmp_path / folder).mkdir()
    (tmp_path / "real" / "runs").touch(mode=0o755)
    (tmp_path / "links" / "runs").symlink_to("../real/runs")
    (tmp_path / "bin" / "runs").symlink_to(tmp_path / "links" / "runs")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path))
    found = readable_paths(["runs"], tmp_path / "bot")
    assert {str(tmp_path / folder / "runs") for folder in ("bin", "links", "real")} <= set(found)


CLOSED = """
import os, sys
from pathlib import Path
for descriptor in {closed}:
    os.close(descriptor)
from arena.players.process import BotProcess
folder = Path(sys.argv[1])
process = BotProcess([sys.executable, "-c", "print(input())"], folder)
os.write(process.to_bot, b"hello\\n")
(folder / "answer").write_bytes(os.read(process.from_bot, 100))
process.stop()
"""


@pytest.mark.parametrize("closed", [(0,), (1,), (0, 1), (0, 1, 2)])
def test_a_bot_has_its_pipes_where_the_arena_has_no_standard_streams(tmp_path, closed):
    program = CLOSED.format(closed=closed)
    subprocess.run([PYTHON, "-c", program, tmp_path], check=True)
    assert (tmp_path / "answer").read_bytes() == b"hello\n"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a keeper inherit orphans")
def test_stopping_kills_children_and_daemons_too(start):
    process = start(HIDING)
    pids = pids_of(process)
    assert all(is_alive(pid) for pid in pids)
    process.stop()
    for pid in pids:
        wait_until_dead(pid)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a keeper inherit orphans")
def test_what_a_bot_leaves_behind_dies_with_it(start):
    process = start(HIDING.rstrip().removesuffix("time.sleep(600)") + "raise SystemExit(3)")
    pids = pids_of(process)
    assert process.ending(60).exit == 3
    for pid in pids:
        wait_until_dead(pid)


def test_a_bot_that_ignores_sigterm_is_killed(start):
    process = start(
        "import os, signal, time; signal.signal(15, signal.SIG_IGN); print(os.getpid(),"
        " flush=True); time.sleep(600)"
    )
    [pid] = pids_of(process, 1)
    process.stop()
    wait_until_dead(pid)


def test_a_bot_that_kills_its_keeper_is_killed_all_the_same(start):
    process = start(
        "import os, time; print(os.getpid(), flush=True); os.kill(os.getppid(), 9); time.sleep(600)"
    )
    [pid] = pids_of(process, 1)
    process.stop()
    wait_until_dead(pid)


OWNER = """
import sys, time
sys.path.insert(0, {root!r})
from pathlib import Path
from arena.players.process import BotProcess
import os
process = BotProcess([sys.executable, "-c", {hiding!r}], Path("/"))
print(os.read(process.from_bot, 100).decode().strip(), flush=True)
print(os.read(process.from_bot, 100).decode().strip(), flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a keeper inherit orphans")
def test_nothing_outlives_the_arena_even_when_it_is_killed(tmp_path):
    script = tmp_path / "owner.py"
    script.write_text(OWNER.format(root=str(Path(__file__).parents[2]), hiding=HIDING))
    owner = subprocess.Popen([PYTHON, str(script)], stdout=subprocess.PIPE, text=True)
    pids = []
    while len(pids) < 2:
        pids += [int(word) for word in owner.stdout.readline().split()]
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    for pid in pids:
        wait_until_dead(pid)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who uses which memory")
def test_memory_that_processes_share_counts_once(start):
    code = """
import os, time
block = bytearray(b"x") * (60 << 20)
for _ in range(20):
    if os.fork() == 0:
        time.sleep(600)
print("ready", flush=True)
time.sleep(600)
"""
    process = start(code)
    assert os.read(process.from_bot, 100) == b"ready\n"
    assert process.ending(1.0) is None


def test_unknown_signals_have_a_name_too():
    assert signal_name(9) == "signal 9 (SIGKILL)"
    assert signal_name(250) == "signal 250"


def test_many_starts_leave_no_descriptors_open(tmp_path):
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0
    for _ in range(10):
        process = BotProcess([PYTHON, "-c", "pass"], tmp_path)
        process.ending(60)
        process.stop()
        os.close(process.to_bot)
        os.close(process.from_bot)
    after = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0
    assert after == before


FEW_DESCRIPTORS = """
import json, os, resource, sys, tempfile
from pathlib import Path
from arena.errors import Void
from arena.players.orphans import is_subreaper
from arena.players.temporary import remove_abandoned
from arena.players.process import BotProcess
from arena.players.sandbox.tiers import Sandbox

def open_now():
    return sorted(map(int, os.listdir("/proc/self/fd")))[:-1]

tempfile.gettempdir()
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
outcomes = []
for left in range(30):
    before = open_now()
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[-1] + 1 + left, hard))
    try:
        process = BotProcess([sys.executable, "-c", "pass"], Path.cwd(), Sandbox(sys.argv[1]))
    except Void as void:
        outcomes.append(void.hint)
    else:
        outcomes.append("started")
        process.stop()
        os.close(process.to_bot)
        os.close(process.from_bot)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    assert open_now() == before, (left, before, open_now())
    assert not is_subreaper(), left
remove_abandoned()
print(json.dumps(outcomes))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="descriptors are counted in /proc")
@pytest.mark.parametrize("tier", ["none", *TIERS])
def test_a_start_without_enough_descriptors_has_a_cure_and_leaves_nothing_open(tmp_path, tier):
    needs(tier)
    passing = tmp_path / "passing"
    passing.mkdir()
    child = subprocess.run(
        [PYTHON, "-c", FEW_DESCRIPTORS, tier],
        cwd=tmp_path, env={**os.environ, "TMPDIR": str(passing)},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert child.returncode == 0, child.stderr
    outcomes = json.loads(child.stdout)
    failed = [outcome for outcome in outcomes if outcome != "started"]
    assert len(failed) > 5
    assert all("ulimit -n" in hint for hint in failed)
    assert outcomes[len(failed) :] == ["started"] * (len(outcomes) - len(failed))
    assert outcomes[-1] == "started"
    assert not list(passing.iterdir())


def test_a_long_stderr_is_cut_between_games_and_the_bot_may_write_on(start):
    process = start(
        "import sys\nfor line in sys.stdin:\n    sys.stderr.write('x' * 30_000_000 + line)\n   "
        " sys.stderr.flush(); print(flush=True)"
    )
    for number in range(4):  # 120 MB in all, which is more than a file may hold
        os.write(process.to_bot, b"%d\n" % number)
        os.read(process.from_bot, 10)
        assert process.stderr_tail().endswith(f"x{number}\n")
        process.trim_stderr()
        assert process.stderr_size() < 10_000
    assert process.stderr_written() >= 120_000_000
    assert process.ending() is None


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a keeper inherit orphans")
def test_a_worker_that_dies_while_a_bot_starts_leaves_nothing(tmp_path):
    """Nobody reads what the keeper tells any more: it clears up all the same."""
    ours, theirs = socket.socketpair()
    pids = tmp_path / "pids"
    code = (
        f"import os, time\nif os.fork() == 0: os.setsid()\nopen({str(pids)!r},"
        " 'a').write(f'{os.getpid()} ')\ntime.sleep(600)"
    )
    ours.shutdown(socket.SHUT_RD)
    keeper = [*keeper_client.keeper_command(), str(theirs.fileno()), "--"]
    with subprocess.Popen(
        [*keeper, PYTHON, "-c", code], pass_fds=(theirs.fileno(),), start_new_session=True
    ) as process:
        theirs.close()
        wait_for(
            lambda: pids.exists() and len(pids.read_text().split()) == 2,
            "the ids of both processes",
        )
        ours.close()
        assert process.wait(240) == 0
    for pid in pids.read_text().split():
        wait_until_dead(int(pid))


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_that_forks_share_counts_once(tmp_path):
    code = (
        "import os, time\ntable = b'x' * 60_000_000\nfor _ in range(6):\n    if os.fork() == 0:"
        " break\ntime.sleep(600)"
    )
    process = BotProcess([PYTHON, "-c", code], tmp_path, memory_mb=150)
    try:
        assert process.ending(1.5) is None
        assert 60 < process.memory_mb() < 150
    finally:
        process.stop()
        os.close(process.to_bot)
        os.close(process.from_bot)


HEADLESS = """
import ctypes, mmap, os, threading, time
def go_on():
    kept = mmap.mmap(-1, 64 << 20, flags=mmap.MAP_PRIVATE)
    kept.write(b"x" * len(kept))
    pipe = os.pipe()
    print("here", flush=True)
    time.sleep(600)
threading.Thread(target=go_on).start()
ctypes.CDLL(None).pthread_exit(None)
"""


@pytest.fixture
def headless():
    """A process whose first thread has ended; the second has 64 MB, a pipe and a mapping."""
    with subprocess.Popen(
        [PYTHON, "-c", HEADLESS],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as started:
        assert started.stdout.readline() == b"here\n"
        wait_for(lambda: stat_of(started.pid)[0] == b"Z", "the end of the first thread")
        yield started.pid
        started.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="by /proc")
def test_a_process_is_ending_only_if_no_thread_of_it_goes_on(headless):
    assert not is_ending(headless), "its thread goes on"
    os.kill(headless, signal.SIGKILL)
    os.waitid(os.P_PID, headless, os.WEXITED | os.WNOWAIT)
    assert is_ending(headless)
    assert not is_ending(os.getpid())


@pytest.mark.skipif(sys.platform != "linux", reason="by /proc")
def test_what_a_process_uses_is_seen_after_the_end_of_its_first_thread(headless):
    kb, threads, _ = figures_of(headless)
    assert 64 << 10 < kb < 200 << 10
    assert threads == 2
    assert 64 << 10 < shared_fairly(headless) < 200 << 10
    assert sum(stat.S_ISFIFO(file.st_mode) for file in opened_by(headless)) == 3
    assert shared_kb([headless])[1] > 10, "mappings of memory"
    assert process_ns(headless) > 0


@pytest.mark.skipif(sys.platform != "linux", reason="by /proc")
def test_a_process_is_stopped_only_if_the_thread_that_goes_on_is(headless):
    assert not is_stopped(headless)
    os.kill(headless, signal.SIGSTOP)
    wait_for(lambda: is_stopped(headless), "the second thread to stop")
    assert not is_ending(headless)


RETURNS_MEMORY = """
import mmap, os, threading, time
block = mmap.mmap(-1, 400 << 20, flags=mmap.MAP_PRIVATE)
block.madvise(mmap.MADV_NOHUGEPAGE)
block.write(b"x" * len(block))
for _ in range(20):
    threading.Thread(target=time.sleep, args=(600,)).start()
os._exit(0)
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="by /proc")
def test_a_process_is_ending_while_its_last_thread_returns_its_memory():
    for _ in range(20):
        with subprocess.Popen([PYTHON, "-c", RETURNS_MEMORY]) as started:
            wait_for(lambda: is_ending(started.pid), "the end", interval_s=0.0001)
            was_leaving = is_leaving(started.pid)
            state, threads = stat_of(started.pid)[0], thread_count(stat_of(started.pid))
            if state == b"Z" and threads > 1:
                assert was_leaving
                return
    pytest.fail("no process was seen to return its memory after the end of its first thread")
