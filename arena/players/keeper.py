"""A script that runs as the parent of one bot: it starts the bot, watches what its processes use,
and kills everything the bot left behind when the bot ends or the arena closes the lifeline.

    python -I -S keeper.py LIFELINE STATUS LIMITS [FOLDER]... -- COMMAND...

LIFELINE is a descriptor that reaches its end when the arena's worker closes it or dies; then the
keeper kills everything. The keeper reports on the descriptor STATUS, one line each:

    counter DESCRIPTOR   the kernel counts the CPU time of everything the bot starts
    started PID          the bot has been started
    exit N               the bot ended with this status
    signal N             a signal ended it; with CPU seconds and peak memory in kB
    failed REASON        the bot could not be started

If the keeper ends the bot because all its processes together use too much, a line ``memory MB``,
``processes N``, ``threads N``, ``disk MB`` or ``files N`` comes first, or ``uncounted MS`` for CPU
time that the counter missed.

LIMITS are ``name=number`` pairs joined by commas: ``RLIMIT_...`` for setrlimit; for all processes
together ``memory_mb``, ``processes``, ``threads``, ``disk_mb`` and ``files_on_disk`` in the
FOLDERs, and ``files_in_memory`` in the sandbox's own /tmp; ``cores``, the bot's processors as bits;
``counter=0`` to do without the kernel's counter.

Exit status 1 means that some process of the bot could not be killed. This file stands alone and
imports little, because it delays every start: pathlib would double that.
"""

import ctypes
import os
import resource
import select
import stat
import sys
import time

PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
SOFTWARE = 1
TASK_CLOCK = 1
ATTRIBUTE_BYTES = 112
CLOSE_ON_EXEC = 8
INHERIT = 1 << 1
NO_KERNEL = 1 << 5
NO_HYPERVISOR = 1 << 6
COUNTED = (b"RssAnon", b"RssShmem", b"VmSwap", b"VmPTE")
"""The fields of /proc/PID/status that count as memory. Page tables are among them: they took 440 MB
where they were not counted.
"""
SOCKET_KB = 208
"""The memory that a socket is counted with, which is what it holds when full: the kernel does not
say how much it holds now.
"""
PIPE_KB = 64
"""The memory that a pipe is counted with, which is what it holds when full."""
SMALL = 1 << 27
"""A file system with fewer bytes than this is the sandbox's own; the machine's /tmp is larger."""
DEATH_SIGNAL = 1
SUBREAPER = 36
MARK = "ARENA_KEEPER"
"""The environment variable that tells a bot's processes apart: its value is the number of their
keeper, by which the arena finds them if the keeper is killed.
"""
KILL = 9
PIPE = 13
FILE_SIZE = 25
EXITING = 4
"""The flag in /proc/PID/stat of a process that is about to end."""
PATIENCE_S = 2.0
MIN_LOOK_MS = 120
MAX_LOOK_MS = 280
"""The time between two looks is random, from MIN_LOOK_MS to MAX_LOOK_MS. A bot that knew when the
next look comes could hide from it.
"""
NOISE_NS = 2_000_000
"""The CPU time that the counter may seem to miss at every look, because the kernel's two clocks do
not change at the same moment.
"""
STALL_NS = 40_000_000
"""How much more the counter may seem to miss once: a stall of the machine between the readings of
the two clocks is only on one of them.
"""


def start_bot(
    command: list[str], limits: dict[str, int], status: int, libc: ctypes.CDLL
) -> tuple[int, int]:
    """Starts the bot in a session of its own. Returns its process id and the descriptor of its
    counter, -1 if there is none.
    """
    keeper = os.getpid()
    gate, opener = os.pipe()
    child = os.fork()
    if child:
        counter = count_processor_time(child, libc) if limits.get("counter", 1) else -1
        if counter >= 0:
            tell(status, f"counter {counter}")
        tell(status, f"started {child}")
        os.close(opener)
        os.close(gate)
        return child, counter
    try:
        os.close(opener)
        # waits until the counter exists, because it counts only what starts after it
        os.read(gate, 1)
        os.setsid()
        if sys.platform == "linux":
            libc.prctl(DEATH_SIGNAL, KILL, 0, 0, 0)
            if os.getppid() != keeper:
                os._exit(127)
        # Python ignores these signals; without a reset the bot would, too
        for number in (PIPE, FILE_SIZE):
            libc.signal(number, None)
        cores = limits.get("cores", 0)
        if cores:
            os.sched_setaffinity(0, [bit for bit in range(cores.bit_length()) if cores >> bit & 1])
        for name in [name for name in limits if name.startswith("RLIMIT_")]:
            kind = getattr(resource, name)
            number = limits[name]
            _, hard = resource.getrlimit(kind)
            most = number if hard == resource.RLIM_INFINITY else min(number, hard)
            resource.setrlimit(kind, (most, most))
        os.environ[MARK] = str(keeper)
        # Without a shell in between: the command must not be interpreted again.
        os.execvp(command[0], command)  # noqa: S606
    # After any error, this process must not continue as a second keeper.
    except BaseException as error:  # noqa: BLE001
        tell(status, f"failed {error}")
    os._exit(127)


def wait_for_end(child: int, lifeline: int, status: int, watch: "Watch") -> None:
    """Returns once the bot has ended or used too much, or the lifeline has ended."""
    try:
        handle = os.pidfd_open(child)
    except (AttributeError, OSError):
        while not select.select([lifeline], [], [], 0.02)[0]:
            if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                return
        return
    poll = select.poll()
    for descriptor in (handle, lifeline):
        poll.register(descriptor, select.POLLIN)
    while not poll.poll(MIN_LOOK_MS + os.urandom(1)[0] * (MAX_LOOK_MS - MIN_LOOK_MS) // 255):
        excess = watch.excess()
        if excess:
            tell(status, excess)
            return


class Watch:
    """Looks at all processes below this one and at what they use."""

    def __init__(self, limits: dict[str, int], folders: list[str], counter: int) -> None:
        self._limits = limits
        self._folders = folders
        self._counter = counter
        self._clocks: dict[int, int] = {}
        self._counted_ns = self._missing_ns = 0

    def excess(self) -> str:
        """The first limit that the processes exceed, as a line for STATUS; empty if they exceed
        none.
        """
        tree = descendants()
        figures = [figures_of(pid) for pid in tree]
        opened = [file for pid in tree for file in opened_by(pid)]
        sizes = [kb for kb, _, _ in figures]
        let_go = shared_kb(tree) - sum(shared for _, _, shared in figures)
        held = held_kb(tree, opened) + max(0, let_go)
        used = {"processes": len(tree), "threads": sum(each[1] for each in figures)}
        used["memory_mb"] = sum(sizes) + held >> 10
        limits = self._limits
        # The quick sum counts shared memory once per process. Only if that is too much, the slow
        # sum is made, which divides shared memory among the processes.
        if used["memory_mb"] > limits.get("memory_mb", used["memory_mb"]):
            used["memory_mb"] = sum(map(shared_fairly, tree, sizes)) + held >> 10
        if "files_in_memory" in limits:
            used["files_in_memory"] = max(map(files_in_memory, tree), default=0)
        if "disk_mb" in limits:
            most = limits["files_on_disk"]
            used["disk_mb"], used["files_on_disk"] = disk_use(self._folders, opened, most)
        for name, number in used.items():
            if name in limits and number > limits[name]:
                return f"{name.partition('_')[0]} {number}"
        is_playing = "processes" in limits
        return self._uncounted(tree) if is_playing and self._counter >= 0 else ""

    def _uncounted(self, tree: list[int]) -> str:
        """CPU time that the counter missed, as a line for STATUS: the living processes alone have
        used more than the counter shows. Empty if it missed none.
        """
        before_ns = self._counted_ns
        self._counted_ns = read_counter(self._counter)
        used_ns = 0
        for pid in tree:
            known_ns = self._clocks.get(pid, 0)
            clock_ns = process_ns(pid)
            grown_ns = clock_ns - (known_ns if known_ns <= clock_ns else 0)
            self._clocks[pid] = clock_ns
            # the counter drops a process at its end, before its memory is returned
            used_ns += 0 if grown_ns > NOISE_NS and is_ending(pid) else grown_ns
        uncounted_ns = max(0, used_ns - (read_counter(self._counter) - before_ns))
        self._missing_ns = max(0, self._missing_ns + uncounted_ns - NOISE_NS)
        is_noise = self._missing_ns <= STALL_NS
        return "" if is_noise else f"uncounted {self._missing_ns // 1_000_000}"


def tell(status: int, line: str) -> None:
    """Writes a line to the worker. If the worker does not exist any more, nothing is written, and
    the keeper goes on to clear up.
    """
    try:  # noqa: SIM105 - contextlib would delay every start
        os.write(status, f"{line}\n".encode())
    except OSError:
        pass


def children() -> list[int]:
    """The ids of this process's children. As a subreaper it inherits every orphan of the bot."""
    me = os.getpid()
    quick = f"/proc/self/task/{me}/children"
    if os.path.exists(quick):  # noqa: PTH110 - in no time, however many processes there are
        return [int(pid) for pid in read_file(quick).split()]
    return [pid for pid, parent in parents().items() if parent == me]


def descendants() -> list[int]:
    """The ids of all processes that this process and its descendants have started."""
    below: dict[int, list[int]] = {}
    for pid, parent in parents().items():
        below.setdefault(parent, []).append(pid)
    tree = below.get(os.getpid(), [])
    for pid in tree:
        tree += below.get(pid, [])
    return tree


def parents() -> dict[int, int]:
    """The parent of each process on this machine by process id; empty without /proc."""
    pids = filter(str.isdigit, names_in("/proc"))
    stats = {int(pid): stat_of(pid) for pid in pids}
    return {pid: int(fields[1]) for pid, fields in stats.items() if fields}


def kill_all(child: int) -> bool:
    """Kills the bot's process group, then its orphans generation by generation. Returns whether
    none is left.
    """
    # The keeper gets a higher priority than the bot's processes, if this user may do that. Root has
    # no limit of processes, and sixty that fork and exit outrun a process of equal priority.
    # Without this, the keeper gave up after two seconds, and the machine soon had 26,000 processes.
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except (AttributeError, OSError):
        try:  # noqa: SIM105 - contextlib would delay every start
            os.setpriority(os.PRIO_PROCESS, 0, -20)
        except OSError:
            pass
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        for kill, target in [(os.killpg, child)] + [(os.kill, pid) for pid in children()]:
            try:  # noqa: SIM105 - contextlib would delay every start
                kill(target, KILL)
            except (ProcessLookupError, PermissionError):
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return True
        time.sleep(0.001)
    return False


def main() -> int:
    """Starts the bot, waits until the bot or the arena ends, and kills what is left. Returns 0, or
    1 if a process could not be killed.
    """
    lifeline = int(sys.argv[1])
    status = int(sys.argv[2])
    pairs = [pair.partition("=") for pair in sys.argv[3].split(",") if pair]
    limits = {name: int(number) for name, _, number in pairs}
    libc = ctypes.CDLL(None)
    # Orphans of the bot become children of the keeper. So no process can hide by leaving its
    # parent, and the CPU time of ended processes is booked where the arena reads it.
    if sys.platform == "linux":
        libc.prctl(SUBREAPER, 1, 0, 0, 0)
    for descriptor in (lifeline, status):
        os.set_inheritable(descriptor, False)  # noqa: FBT003 - it takes no keyword
    end = sys.argv.index("--")
    child, counter = start_bot(sys.argv[end + 1 :], limits, status, libc)
    # The keeper closes the bot's pipes, or the arena would never see their end.
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    wait_for_end(child, lifeline, status, Watch(limits, sys.argv[4:end], counter))
    pid, how, used = os.wait4(child, os.WNOHANG)
    if pid:
        code = os.waitstatus_to_exitcode(how)
        text = f"exit {code}" if code >= 0 else f"signal {-code}"
        tell(status, f"{text} {used.ru_utime + used.ru_stime:.3f} {used.ru_maxrss}")
    return 0 if kill_all(child) else 1


# The CPU time and the memory of processes; empty or zero without /proc.


def count_processor_time(pid: int, libc: ctypes.CDLL) -> int:
    """A descriptor from which the CPU time, in ns, of a process and of everything that it will
    start can be read; -1 if the kernel does not allow it.

    The kernel adds up all of these processes, whichever process waits for them and whatever
    sessions they make. Measured: 1.1 us per reading. Only one thing stops it: a process that runs a
    program which it may not read. `Watch` finds such processes.
    """
    number = PERF_EVENT_OPEN.get(os.uname().machine)
    if sys.platform != "linux" or number is None:
        return -1
    words = ctypes.c_uint64 * (ATTRIBUTE_BYTES // 8)
    attribute = words(SOFTWARE | ATTRIBUTE_BYTES << 32, TASK_CLOCK)
    attribute[5] = INHERIT | NO_KERNEL | NO_HYPERVISOR
    return int(libc.syscall(number, attribute, pid, -1, -1, CLOSE_ON_EXEC))


def read_counter(counter: int) -> int:
    """The value of the counter, in ns."""
    return int.from_bytes(os.read(counter, 8), "little")


def process_ns(pid: int) -> int:
    """The CPU time of a process by its own clock, including ended threads, in ns; 0 if the process
    has ended.
    """
    try:
        return time.clock_gettime_ns(~pid << 3 | 2)
    except OSError:
        return 0


def stat_of(pid: int | str) -> list[bytes]:
    """The fields of a process's /proc/PID/stat, from its state on; empty if the process does not
    exist.
    """
    return read_file(f"/proc/{pid}/stat").rpartition(b")")[2].split()


def is_ending(pid: int) -> bool:
    """Whether a process is returning its memory, or has done so. A process whose first thread ended
    before the others is not ending.
    """
    fields = stat_of(pid)
    return not fields or (int(fields[6]) & EXITING > 0 and int(fields[17]) <= 1)


def figures_of(pid: int) -> tuple[int, int, int]:
    """The figures of a process: kB not backed by files, threads, and kB of shared memory."""
    kb = threads = shared = 0
    for line in read_file(f"/proc/{pid}/status").splitlines():
        if line.startswith(COUNTED):
            kb += int(line.split()[1])
            shared = int(line.split()[1]) if line.startswith(b"RssShmem") else shared
        elif line.startswith(b"Threads"):
            threads = int(line.split()[1])
    return kb, threads, shared


def shared_fairly(pid: int, otherwise: int) -> int:
    """The memory of a process in kB, where shared memory is divided among the processes that share
    it; ``otherwise`` if the kernel does not say. This is slower to read than `figures_of`.
    """
    divided = read_file(f"/proc/{pid}/smaps_rollup")
    status = read_file(f"/proc/{pid}/status")
    if not divided or not status:
        return otherwise
    wanted = (b"Pss_Anon", b"Pss_Shmem", b"SwapPss", b"VmPTE")
    lines = (divided + status).splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(wanted))


def held_kb(tree: list[int], opened: list[os.stat_result]) -> int:
    """The kB that the kernel may hold for the processes' sockets and pipes, which no figure of a
    process includes.
    """
    pipes = {file.st_ino for file in opened if stat.S_ISFIFO(file.st_mode)}
    count = len({file.st_ino for file in opened if stat.S_ISSOCK(file.st_mode)})
    for pid in tree:  # a private network also has sockets that wait in a queue and are open nowhere
        try:
            own_network = os.stat("/proc/self/ns/net").st_ino  # noqa: PTH116
            its_network = os.stat(f"/proc/{pid}/ns/net").st_ino  # noqa: PTH116
        except OSError:
            continue
        if its_network != own_network:
            count = max(count, len(read_file(f"/proc/{pid}/net/unix").splitlines()) - 1)
    # the limit of a socket for a slow reader, if it is larger on this machine
    more = int(read_file("/proc/sys/net/core/wmem_default") or 0) >> 10 if count else 0
    return count * max(SOCKET_KB, more) + len(pipes) * PIPE_KB


def opened_by(pid: int) -> list[os.stat_result]:
    """The open files of a process, as far as they can be seen; a bot in a sandbox cannot
    hide them.
    """
    opened = []
    for name in names_in(f"/proc/{pid}/fd"):
        try:
            opened.append(os.stat(f"/proc/{pid}/fd/{name}"))  # noqa: PTH116
        except OSError:
            continue
    return opened


def shared_kb(tree: list[int]) -> int:
    """The kB of memory that the processes share without a file. What one wrote stays there after it
    is unmapped.
    """
    sizes: dict[bytes, int] = {}
    for pid in tree:
        mine: dict[bytes, int] = {}
        for line in read_file(f"/proc/{pid}/maps").splitlines():
            if b"/dev/zero (deleted)" in line:  # the name of shared memory without a file
                place, _, _, _, inode = line.split()[:5]
                start, end = place.split(b"-")
                mine[inode] = mine.get(inode, 0) + (int(end, 16) - int(start, 16) >> 10)
        sizes.update({inode: max(size, sizes.get(inode, 0)) for inode, size in mine.items()})
    return sum(sizes.values())


def files_in_memory(pid: int) -> int:
    """The number of files in memory file systems of a sandboxed process; there, only their size is
    limited.
    """
    count = 0
    for name in ("tmp", "dev/shm"):
        try:
            room = os.statvfs(f"/proc/{pid}/root/{name}")
        except OSError:
            continue
        count += room.f_files - room.f_ffree if room.f_blocks * room.f_frsize < SMALL else 0
    return count


def disk_use(folders: list[str], opened: list[os.stat_result], most: int) -> tuple[int, int]:
    """The MB and the number of the files in the folders, and of deleted files that are still open.

    Counting stops above ``most`` files. A folder that cannot be read counts as too many.
    """
    files = [file for file in opened if stat.S_ISREG(file.st_mode) and not file.st_nlink]
    hidden = 0
    waiting = folders.copy()
    while waiting and not hidden and len(files) <= most:
        try:
            for entry in os.scandir(waiting.pop()):
                files.append(entry.stat(follow_symlinks=False))
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
        except FileNotFoundError:
            continue
        except OSError:
            hidden = most
    blocks = sum({(file.st_dev, file.st_ino): file.st_blocks for file in files}.values())
    return blocks >> 11, len(files) + hidden + bool(hidden)


def names_in(folder: str) -> list[str]:
    """The names in a folder; empty if this process may not list it."""
    try:
        return os.listdir(folder)  # noqa: PTH208 - for speed
    except OSError:
        return []


def read_file(path: str) -> bytes:
    """The content of a file; empty if this process may not read it."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - for speed
            return file.read()
    except OSError:
        return b""


if __name__ == "__main__":
    raise SystemExit(main())
