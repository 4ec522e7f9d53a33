"""A keeper as the first process of a sandbox, in C and in Python: what the bot can do to it, how it
stops the bot, and what ends with it.
"""

import functools
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from arena.errors import UserError
from arena.players import keeper_client
from arena.players.counter import process_ns
from arena.players.process import BotProcess
from arena.players.processes import family, read_file, stat_of, threads_of
from arena.players.sandbox.tiers import Sandbox
from tests.attacks.tiers import needs
from tests.support.processes import states
from tests.support.waiting import wait_for

MANY_FILES = 1_100
MOMENT_NS = 2_000_000
"""More than the CPU time in which a process that gets a signal stops."""
FORKS = """
import os, time
for _ in range({number}):
    if os.fork() == 0:
        os.setsid()
        break
print("ready", flush=True)
while True:
    {work}
"""
REACHES = """
import os, signal
for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGINT):
    os.kill(1, number)
for name in ("environ", "mem", "fd/0", "maps", "root"):
    try:
        open(f"/proc/1/{name}").close()
        print("opened", name, flush=True)
    except OSError:
        pass
print(open("/proc/1/status").readline().split()[1], os.getppid(), flush=True)
import time; time.sleep(600)
"""

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap needs Linux"),
    pytest.mark.usefixtures("language"),
]


@pytest.fixture(scope="module")
def bubblewrap():
    """The sandbox of bubblewrap, where it works."""
    needs("bubblewrap")
    return Sandbox("bubblewrap")


@pytest.fixture
def start(starter, bubblewrap):
    """Starts a bot of this source in bubblewrap; all of them end with the test."""
    return functools.partial(starter, bubblewrap)


@pytest.fixture
def start_outside(starter):
    """Starts a bot of this source outside every sandbox; all of them end with the test."""
    return functools.partial(starter, Sandbox("none"))


@pytest.fixture
def starter(tmp_path):
    """Starts a bot in a sandbox, given the sandbox and the bot's source; all of them end with the
    test.
    """
    started = []

    def run(sandbox, source, command=("python3",), **limits):
        script = f"bot{len(started)}.py"
        (tmp_path / script).write_text(source)
        process = BotProcess([*command, script], tmp_path, sandbox, **limits)
        started.append(process)
        return process

    yield run
    for process in started:
        process.stop()
        os.close(process.to_bot)
        os.close(process.from_bot)


def read_line(process):
    line = b""
    while not line.endswith(b"\n"):
        piece = os.read(process.from_bot, 1)
        assert piece, f"{process.ending(wait_s=5)}; stderr: {process.stderr_tail()!r}"
        line += piece
    return line.decode().split()


def has_no_output(process):
    """Whether the bot has written nothing that was not read."""
    return not keeper_client.is_readable(process.from_bot, 0)


def test_a_bot_can_neither_signal_its_keeper_nor_read_what_it_has_open(start, language):
    process = start(REACHES)
    name, parent = read_line(process)
    assert name.startswith("keeper" if language == "native" else "python")
    assert parent == "1"
    assert process.ending() is None
    process.pause()
    assert states(process) == ["T"]


@pytest.mark.parametrize("work", ["pass", "os.kill(-1, 18)"], ids=["computes", "wakes the others"])
@pytest.mark.parametrize("number", [0, 1, pytest.param(24, marks=pytest.mark.long)])
def test_all_processes_stop_in_one_call_and_use_no_processor_time_until_they_go_on(
    start, number, work
):
    process = start(FORKS.format(number=number, work=f"try: {work}\n    except OSError: pass"))
    for _ in range(number + 1):
        assert read_line(process) == ["ready"]
    process.is_suspect = True
    for _ in range(5):
        process.pause()
        assert set(states(process)) == {"T"}
        used_ns = process.meter.used_ns()
        time.sleep(0.05)
        assert process.meter.used_ns() == used_ns
        process.go_on()
        wait_for(lambda: "T" not in states(process), "the bot to go on")
        wait_for(lambda used=used_ns: process.meter.used_ns() > used, "the bot to compute")


@pytest.mark.parametrize("number", [0, 24])
@pytest.mark.usefixtures("one_core")
def test_on_one_core_all_processes_stop_before_they_run_again(start, number):
    """The keeper does not wait until each has stopped, because none of them runs before."""
    process = start(FORKS.format(number=number, work="pass"))
    for _ in range(number + 1):
        assert read_line(process) == ["ready"]
    process.is_suspect = True
    for _ in range(5):
        process.pause()
        used_ns = process.meter.used_ns()
        wait_for(lambda: set(states(process)) == {"T"}, "all to stop")
        assert process.meter.used_ns() - used_ns < (number + 1) * MOMENT_NS
        process.go_on()
        wait_for(lambda used=used_ns: process.meter.used_ns() > used + MOMENT_NS, "the bot to run")


IN_VFORK = """
import ctypes, threading, time
def compute():
    print("ready", flush=True)
    while True: pass
threading.Thread(target=compute).start()
VFORK = 0x4000
if ctypes.CDLL(None).syscall(56, VFORK | 17, 0, 0, 0, 0) == 0:
    time.sleep(600)
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="clone has another number elsewhere")
def test_threads_stop_whose_process_waits_in_its_first_one_for_what_no_signal_ends(start):
    process = start(IN_VFORK)
    assert read_line(process) == ["ready"]
    wait_for(lambda: sorted(states(process)) == ["D", "S"], "the child of vfork")
    process.is_suspect = True
    for _ in range(3):
        process.pause()
        wait_for(lambda: set(thread_states(process)) <= {"D", "T"}, "the thread to stop")
        used_ns = process.meter.used_ns()
        time.sleep(0.05)
        assert process.meter.used_ns() == used_ns
        process.go_on()
        wait_for(lambda used=used_ns: process.meter.used_ns() > used, "the bot to compute")


def thread_states(process):
    """The states of all threads of a bot's processes, such as ``["D", "T"]``."""
    return [
        stat_of(f"{pid}/task/{thread}")[0].decode()
        for pid in process.processes()
        for thread in threads_of(pid)
    ]


@pytest.mark.long
def test_a_look_at_many_processes_stops_them_only_for_a_moment(start):
    """The keeper stops more than four processes while it looks at them, every 120 to 280 ms."""
    process = start(FORKS.format(number=8, work="pass"))
    for _ in range(9):
        assert read_line(process) == ["ready"]
    for _ in range(3):
        used_ns = process.meter.used_ns()
        time.sleep(0.3)
        wait_for(lambda used=used_ns: process.meter.used_ns() > used, "the bot to compute")
    process.pause()
    used_ns = process.meter.used_ns()
    time.sleep(0.6)
    assert set(states(process)) == {"T"}
    assert process.meter.used_ns() == used_ns


def reads_of(pid):
    """How many times a process has read; 0 if this user may not know."""
    counts = re.search(rb"syscr: (\d+)", read_file(f"/proc/{pid}/io"))
    return int(counts[1]) if counts else 0


@pytest.mark.long
def test_a_look_at_an_idle_bot_reads_little(start):
    """Neither its memory nor its files are read while none of its processes computes: what the
    keeper spends on a look is taken from other bots.
    """
    process = start('print("ready", flush=True)\nimport time; time.sleep(600)')
    assert read_line(process) == ["ready"]
    [keeper] = family(process.keeper.process.pid)[1:2]
    if not reads_of(keeper):
        pytest.skip("this user may not count what the keeper reads")
    time.sleep(1)  # until a look has found the bot asleep
    before = reads_of(keeper)
    time.sleep(3)  # 10 to 25 looks, of at least 15 reads each if they read all
    assert reads_of(keeper) - before < 100


def test_what_a_bot_takes_after_it_was_idle_is_found(start):
    """A bot that sleeps through many looks and then takes memory is ended by a later look."""
    process = start(
        'print("ready", flush=True)\nimport time; time.sleep(2)\n'
        "taken = bytearray(400 << 20); time.sleep(600)",
        memory_mb=200,
    )
    assert read_line(process) == ["ready"]
    wait_for(lambda: process.ending() is not None, "the keeper to end the bot")
    assert "memory" in str(process.ending())


@pytest.mark.parametrize("shell", ["sh", pytest.param("bash", marks=pytest.mark.long)])
def test_a_shell_that_waits_for_its_children_sees_none_of_them_stopped(start, shell):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    loops = "while :; do :; done & " * 8
    process = start(f"set -m\n{loops} wait; echo ended", command=[shell])
    for _ in range(4):
        time.sleep(0.2)
        process.pause()
        assert set(states(process)) == {"T"}
        process.go_on()
    assert process.ending() is None
    assert has_no_output(process)


def test_a_bot_can_arm_no_timer_that_would_wake_it(start):
    process = start(
        "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "timer = ctypes.c_void_p()\nfailed = libc.timer_create(1, None, ctypes.byref(timer))\n"
        "print(failed, os.strerror(ctypes.get_errno()), flush=True)"
    )
    assert read_line(process) == ["-1", "Operation", "not", "permitted"]


def test_more_than_one_process_is_noticed_and_one_is_not(start):
    alone = start("print('ready', flush=True)\nimport time; time.sleep(600)")
    several = start(FORKS.format(number=1, work="time.sleep(600)"))
    wait_for(lambda: several.ending() or several.may_compute, "the keeper to see both processes")
    assert several.ending() is None
    assert read_line(alone) == ["ready"]
    assert alone.ending() is None
    assert not alone.may_compute


def test_more_than_one_thread_is_noticed(start):
    threads = start(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()\n"
        "time.sleep(600)"
    )
    wait_for(lambda: threads.ending() or threads.may_compute, "the keeper to see both threads")
    assert threads.ending() is None


@pytest.mark.parametrize(
    ("source", "limits", "words"),
    [
        ("block = b'x' * (200 << 20)", {"memory_mb": 100}, r"used \d+ MB of memory"),
        (FORKS.format(number=6, work="time.sleep(600)"), {"processes": 5}, "it had 7 processes"),
        (
            FORKS.format(number=20, work="kept = [os.dup(0) for n in range(240)]; time.sleep(600)"),
            {"processes": 32},
            r"had \d+ open files",
        ),
        ("for n in range(20_100): open(f'/tmp/{n}', 'w').close()", {}, r"it had \d+ files"),
        (
            "import socket\nkept = [socket.socketpair() for _ in range(100)]",
            {"memory_mb": 30},
            r"used \d+ MB of memory",
        ),
        (
            "import mmap\nkept = mmap.mmap(-1, 200 << 20)\nkept.write(b'x' * (200 << 20))",
            {"memory_mb": 100},
            r"used \d+ MB of memory",
        ),
    ],
    ids=["memory", "processes", "open", "files", "sockets", "mapped"],
)
def test_a_bot_that_uses_too_much_is_ended_with_the_reason(start, source, limits, words):
    process = start(f"import time\n{source}\ntime.sleep(600)", **limits)
    ending = process.ending(240)
    assert ending is not None
    assert ending.excess is not None
    assert re.search(words, str(ending)), str(ending)


# All processes together never have much more than the 150 MB of the table, which they share.
LARGE_TABLE = """
import os, subprocess, time
table = b"x" * (150 << 20)
print("ready", flush=True)
end = time.monotonic() + 3
while time.monotonic() < end:
    {work}
print("done", flush=True)
time.sleep(600)
"""
THREE_CHILDREN = """children = []
    for number in range(3):
        child = os.fork()
        if not child:
            time.sleep(0.003)
            os._exit(0)
        children.append(child)
    for child in children: os.waitpid(child, 0)"""


@pytest.mark.parametrize("start_in", ["start", "start_outside"])
@pytest.mark.parametrize(
    "work",
    [
        THREE_CHILDREN,
        'subprocess.run(["./true"])',
        'os.waitpid(os.posix_spawn("./true", ["./true"], {}), 0)',
    ],
    ids=["fork", "subprocess", "spawn"],
)
def test_memory_that_a_bot_shares_with_short_lived_children_counts_once(
    request, tmp_path, start_in, work
):
    shutil.copy("/bin/true", tmp_path)
    start = request.getfixturevalue(start_in)
    process = start(LARGE_TABLE.format(work=work), memory_mb=250)
    assert [read_line(process), read_line(process)] == [["ready"], ["done"]]


# Its first process computes, so it does not stop at once. Threads of its child look whether the
# first process is about to stop, and then give the child's memory back.
SHEDS_MEMORY = """
import mmap, os, threading, time
first = os.getpid()
if os.fork():
    while True: pass
block = mmap.mmap(-1, 60 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
status = os.open(f"/proc/{first}/status", os.O_RDONLY)
print("ready", flush=True)
def is_stopping():
    text = os.pread(status, 4096, 0)
    waiting = int(text.partition(b"ShdPnd:")[2].split(None, 1)[0], 16)
    return waiting >> 18 & 1 or b"State:\\tT" in text
def watch():
    global filled
    while True:
        if is_stopping():
            block.madvise(mmap.MADV_DONTNEED)
            filled = 0
            print("seen", flush=True)
filled = 0
for _ in range(12): threading.Thread(target=watch, daemon=True).start()
while True:
    if filled < len(block):
        block[filled:filled + (1 << 20)] = b"x" * (1 << 20)
        filled += 1 << 20
    else: time.sleep(0.001)
"""


@pytest.mark.usefixtures("one_core")
def test_a_bot_with_too_much_memory_cannot_give_it_back_while_it_is_counted_once_more(start):
    """It may see now and then that it is to be stopped, between two system calls of the keeper, but
    not as it would if its first process were stopped before the others: then it sees that more
    than ten thousand times.
    """
    seen = 0
    for _ in range(3):
        process = start(SHEDS_MEMORY, memory_mb=60)
        assert read_line(process) == ["ready"]
        assert process.ending(240).excess[0] == "memory"
        seen += os.read(process.from_bot, 1 << 16).count(b"seen")
    assert seen < 500


HEADLESS = """
import ctypes, mmap, os, select, threading, time
def go_on():
    while ") Z" not in open("/proc/self/stat").read(): time.sleep(0.01)
    {work}
    time.sleep(600)
threading.Thread(target=go_on).start()
ctypes.CDLL(None).pthread_exit(None)
"""
# Without the process that has lost its first thread, they could have 190,000 watches.
FOUR_WITH_EPOLLS = """kept = [select.epoll() for n in range(248)]
    for n in range(3):
        if os.fork() == 0: break"""


@pytest.mark.parametrize(
    ("work", "limits", "words"),
    [
        ("kept = b'x' * (200 << 20)", {"memory_mb": 100}, r"used \d+ MB of memory"),
        (FOUR_WITH_EPOLLS, {}, r"\d+ watches"),
        (
            "kept = mmap.mmap(-1, 200 << 20)\n    kept.write(b'x' * len(kept))",
            {"memory_mb": 100},
            r"used \d+ MB of memory",
        ),
    ],
    ids=["memory", "watches", "shared"],
)
def test_what_a_bot_uses_is_seen_after_the_end_of_its_first_thread(start, work, limits, words):
    process = start(HEADLESS.format(work=work), **limits)
    ending = process.ending(240)
    assert ending is not None
    assert re.search(words, str(ending)), str(ending)


def test_what_a_bot_leaves_behind_ends_with_it(start):
    process = start(
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    print('child', flush=True)\n"
        "    time.sleep(600)\nprint('bot', flush=True)\ntime.sleep(0.3)\nos._exit(3)"
    )
    read_line(process)
    inside = process.processes()
    assert inside
    ending = process.ending(240)
    assert ending is not None
    assert ending.exit == 3
    wait_for(lambda: not any(read_file(f"/proc/{pid}/stat") for pid in inside), "all to end")


def test_a_signal_is_told_as_the_kernel_tells_it(start):
    ending = start("import os\nos.kill(os.getpid(), 11)").ending(240)
    assert ending is not None
    assert (ending.exit, ending.signal) == (None, signal.SIGSEGV)


def test_a_closed_output_is_seen_while_the_bot_runs(start):
    process = start("import os, time\nos.close(1)\ntime.sleep(600)")
    assert os.read(process.from_bot, 10) == b""
    assert process.ending() is None
    assert not process.has_output_open()


def test_a_killed_keeper_takes_the_sandbox_with_it(start):
    process = start("print('ready', flush=True)\nimport time; time.sleep(600)")
    read_line(process)
    inside = process.processes()
    os.kill(process.keeper.process.pid, signal.SIGKILL)
    ending = process.ending(240)
    assert ending is not None
    assert ending.unwatched
    wait_for(lambda: not any(read_file(f"/proc/{pid}/stat") for pid in inside), "the bot to end")


def test_a_keeper_that_does_not_exist_is_named(monkeypatch, refused):
    monkeypatch.setenv("ARENA_KEEPER", "rust")
    with refused(UserError):
        keeper_client.keeper_command.__wrapped__()


WAKES = """
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
DEATH_SIGNAL = 1
{call}
print(failed, ctypes.get_errno(), flush=True)
"""


@pytest.mark.parametrize(
    "call",
    [
        "failed = libc.prctl(DEATH_SIGNAL, signal.SIGCONT, 0, 0, 0)",
        "failed = libc.syscall(56, signal.SIGCONT, 0, 0, 0, 0)",
    ],
    ids=["the death of a parent", "the end of a child"],
)
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="clone has another number elsewhere")
def test_no_end_of_a_process_can_send_the_signal_that_wakes_another(start, call):
    assert read_line(start(WAKES.format(call=call))) == ["-1", "1"]


def test_a_bot_gets_no_terminal_whose_hang_up_would_wake_it(start):
    process = start(
        "import os\ntry:\n    os.openpty()\nexcept OSError:\n    print('none', flush=True)"
    )
    assert read_line(process) == ["none"]


LEAVES = """
import os, signal, sys, time
size = 300 << 20
if os.fork() == 0:  # the session leader's child, whose group is orphaned when its parent ends
    os.setpgid(0, 0)
    print("ready", flush=True)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    while True: pass
block = bytearray(b"x") * size  # to end takes long, because this is returned first
sys.stdin.readline()
print("leaving", flush=True)
os._exit(0)
"""


def test_what_is_ending_while_it_is_stopped_wakes_nothing(start):
    process = start(
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n"
        + "".join(f"    {line}\n" for line in LEAVES.strip().splitlines())
        + "time.sleep(600)",
        memory_mb=2000,
    )
    assert read_line(process) == ["ready"]
    os.write(process.to_bot, b"go\n")
    assert read_line(process) == ["leaving"]
    process.is_suspect = True
    process.pause()
    used_ns = process.meter.used_ns()
    time.sleep(0.3)
    assert process.meter.used_ns() == used_ns


def test_a_bot_with_too_many_mappings_of_memory_is_ended_before_it_slows_the_keeper(
    start, snapshot
):
    process = start(
        "import mmap, os, time\nkept = [mmap.mmap(-1, 4096) for _ in range(30_000)]\n"
        "for _ in range(4):\n    if os.fork() == 0: break\ntime.sleep(600)"
    )
    ending = process.ending(240)
    assert ending is not None
    assert re.sub(r"\d{6}", "150000", str(ending)) == snapshot  # Python has some of its own


MAPS = """
import mmap, os, time
file = open("/tmp/x", "w+b")
file.write(b"x" * (50 << 20))
file.flush()
for _ in range({processes} - 1):
    if os.fork() == 0: break
kept = []
for _ in range({mappings}):
    kept.append(mmap.mmap(file.fileno(), 50 << 20, prot=mmap.PROT_READ))
    for page in range(0, 50 << 20, 4096): kept[-1][page]
print("ready", flush=True)
while True: {work}
"""
A_LOOK_NS = 20_000_000
"""Less CPU time than it takes to count the memory of that bot, whose pages are many."""


def test_the_keeper_does_not_look_at_a_bot_that_is_stopped(start):
    """The look would take the processor from the rival."""
    process = start(MAPS.format(processes=3, mappings=30, work="pass"))
    for _ in range(3):
        assert read_line(process) == ["ready"]

    def is_seen():
        process.keeper.read()
        return process.keeper.has_many

    wait_for(is_seen, "the keeper to look")
    keeper = process.processes()[0]
    keeper = int(stat_of(keeper)[1])
    looks = process_ns(keeper)
    wait_for(lambda: process_ns(keeper) > looks + A_LOOK_NS, "the keeper to look again")
    process.pause()
    looks = process_ns(keeper)
    time.sleep(1)
    assert process_ns(keeper) < looks + A_LOOK_NS
    process.go_on()
    wait_for(lambda: process_ns(keeper) > looks + A_LOOK_NS, "the keeper to look")
    assert process.ending() is None


GIVES_BACK = """
import mmap, signal
SIZE = 300 << 20
def take():
    area = mmap.mmap(-1, SIZE)
    area.madvise(mmap.MADV_HUGEPAGE)
    for page in range(0, SIZE, 4096): area[page] = 1
    return [area]
kept = take()
signal.signal(signal.SIGCONT, lambda *_: kept.pop().close() if kept else None)
print("took", flush=True)
while True: signal.pause()
"""


def test_memory_that_a_bot_had_when_it_was_stopped_is_counted_before_it_can_give_it_back(start):
    process = start(GIVES_BACK, memory_mb=200)
    ending = process.ending(0)
    while ending is None and process.stderr_size() == 0:
        if keeper_client.is_readable(process.from_bot, 0.01):
            process.pause()
            time.sleep(0.4)
            process.go_on()
            ending = process.ending(20)
            break
        ending = process.ending(0)
    assert ending is not None
    assert ending.excess[0] == "memory"


def test_a_process_that_maps_its_memory_again_and_again_is_ended(start):
    process = start(MAPS.format(processes=1, mappings=60, work="time.sleep(1)"))
    ending = process.ending(60)
    assert ending is not None
    assert ending.excess[0] == "shared"
    assert "shared memory mapped: map each part once" in str(ending)


@pytest.mark.long
def test_threads_that_sleep_and_wake_all_the_time_are_no_uncounted_time(start):
    process = start(
        "import queue, threading, time\nlines = queue.Queue()\n"
        "def work():\n    while True: lines.get()\n"
        "for _ in range(3): threading.Thread(target=work, daemon=True).start()\n"
        "end = time.monotonic() + 3\nwhile time.monotonic() < end:\n    lines.put(1)\n"
        "    time.sleep(0.0001)\nprint('done', flush=True)\ntime.sleep(600)",
        processes=2,
    )
    assert read_line(process) == ["done"]
    assert process.ending() is None


FIRST_TO_GO = """
path = "/proc/self/oom_score_adj"
print(open(path).read().strip(), flush=True)
try:
    with open(path, "w") as file: file.write("0")
except OSError:
    print("kept", flush=True)
"""


def test_when_memory_runs_out_a_bot_goes_before_the_arena_and_cannot_change_that(start):
    process = start(FIRST_TO_GO)
    assert [read_line(process), read_line(process)] == [["1000"], ["kept"]]
    ours = Path(f"/proc/{process.keeper.process.pid}/oom_score_adj").read_text()
    assert ours == Path("/proc/self/oom_score_adj").read_text()


RUNS = """
import os, subprocess
if os.getuid() == 0:  # who may read every file
    os.setgid(65534)
    os.setuid(65534)
subprocess.run({command}, stdout=subprocess.DEVNULL)
"""


@pytest.fixture
def open_folder():
    """A new folder that every user may enter."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("yes", []), ("env", ["python3", "-c", "while True: pass"])],
    ids=["stays in it", "runs another program"],
)
def test_a_process_that_ran_a_program_which_it_may_not_read_is_found(
    start_outside, open_folder, name, arguments
):
    program = open_folder / name
    shutil.copy(shutil.which(name), program)
    program.chmod(0o111)
    source = RUNS.format(command=[str(program), *arguments])
    ending = start_outside(source, processes=4).ending(240)
    assert ending is not None
    text = r"was killed because its processes used \d+ ms of CPU time that could not be counted: "
    assert re.match(text, str(ending))


HELPERS = """
import mmap, os, threading, time
for _ in range({number}):
    if os.fork() == 0:
        for _ in range(4): threading.Thread(target=time.sleep, args=(600,)).start()
        block = mmap.mmap(-1, 800 << 20, flags=mmap.MAP_PRIVATE)
        block.madvise(mmap.MADV_NOHUGEPAGE)
        for _ in range(50): block.write(b"x" * (16 << 20))
        os._exit(0)
    os.wait()
print("done", flush=True)
time.sleep(600)
"""


@pytest.mark.long
def test_the_end_of_a_large_process_with_threads_is_no_uncounted_time(start):
    process = start(HELPERS.format(number=6), processes=8, memory_mb=1500)
    assert read_line(process) == ["done"], process.ending()
    assert process.ending() is None


def test_a_bot_outlives_the_thread_that_started_it(start):
    started = []
    thread = threading.Thread(
        target=lambda: started.append(start("print('ready', flush=True)\ninput()"))
    )
    thread.start()
    thread.join()
    [process] = started
    assert read_line(process) == ["ready"]
    assert process.ending(0.5) is None
    os.write(process.to_bot, b"\n")
    ending = process.ending(240)
    assert ending is not None
    assert ending.exit == 0


@pytest.mark.parametrize("folder", ["", "."])
def test_the_sandbox_program_is_not_looked_for_in_the_bots_folder(tmp_path, monkeypatch, folder):
    own = tmp_path / "bwrap"
    own.write_text("#!/bin/sh\ntouch ran\n")
    own.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    launch = Sandbox("bubblewrap").launch(["true"], tmp_path)
    launch.close()
    launch.clear_up()
    assert launch.wrapper[0].startswith("/")
    assert launch.wrapper[0] != str(own)


def test_a_late_answer_to_a_stop_is_not_taken_for_that_to_the_next(start, monkeypatch):
    process = start("print('ready', flush=True)\nimport time; time.sleep(600)")
    assert read_line(process) == ["ready"]
    monkeypatch.setattr(keeper_client, "PAUSE_S", 0.2)
    monkeypatch.setattr(process.keeper, "_kill", lambda: None)
    [keeper] = family(process.keeper.process.pid)[1:2]
    os.kill(keeper, signal.SIGSTOP)
    process.keeper.stop_bot(at_once=True)
    os.kill(keeper, signal.SIGCONT)
    wait_for(lambda: states(process) == ["T"], "the late stop")
    process.keeper.resume_bot()
    os.kill(keeper, signal.SIGSTOP)
    began = time.monotonic()
    process.keeper.stop_bot(at_once=True)
    assert time.monotonic() - began >= 0.2
    os.kill(keeper, signal.SIGCONT)


def test_the_end_of_a_bot_is_seen_by_an_arena_with_many_open_files(start):
    """A descriptor from 1,024 on, which select() refuses."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < MANY_FILES + 100:
        pytest.skip("this user may not open so many files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (MANY_FILES + 100, hard))
    opened = []
    try:
        opened += [os.open(os.devnull, os.O_RDONLY) for _ in range(MANY_FILES)]
        ending = start("import time; time.sleep(0.3); raise SystemExit(5)").ending(240)
    finally:
        for descriptor in opened:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert ending is not None
    assert ending.exit == 5
