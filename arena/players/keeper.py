"""Runs as the parent of one bot: starts it, and when the arena lets go or the bot ends, kills
everything the bot left behind.

    python -I -S keeper.py LIFELINE STATUS LIMITS [FOLDER]... -- COMMAND...

LIFELINE is a descriptor that reaches its end when the arena's worker closes it or dies. Then the
keeper kills everything. It reports on STATUS, one line each: ``counter DESCRIPTOR`` if the kernel
counts the processor time of everything the bot starts, ``started PID``, and when the bot ends
``exit N``, ``signal N`` (with CPU seconds and peak memory in kB) or ``failed REASON``. If it ends
the bot because all its processes together use too much, ``memory MB``, ``processes N``, ``threads
N``, ``disk MB`` or ``files N`` comes first, or ``uncounted MS`` or ``unseen PID`` if their
processor time cannot be counted. LIMITS are ``name=number`` pairs joined by commas. Some are for
setrlimit, the others are for the whole tree: ``memory_mb``, ``processes``, ``threads``, ``disk_mb``
and ``disk_files`` in the FOLDERs, and ``files_in_memory`` in the sandbox's own /tmp. ``cores`` are
the bot's processors, as bits. ``counter=0`` does without the kernel's counter. Exit status 1 means
that some process of the bot could not be killed. It imports little, because it delays every start,
and of the arena only what lies beside it.
"""

import ctypes
import fcntl
import os
import resource
import select
import sys
import time

if __name__ == "__main__":  # started by its path, without the package: what it needs lies beside it
    # Pathlib would double the start-up time.
    sys.path.append(os.path.dirname(__file__))  # noqa: PTH120
    import holdings  # type: ignore[import-not-found]
else:
    from arena.players import holdings

DEATH_SIGNAL, SUBREAPER = 1, 36
PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
SOFTWARE, TASK_CLOCK, ATTRIBUTE_BYTES, CLOSE_ON_EXEC = 1, 1, 112, 8
INHERIT, NO_KERNEL, NO_HYPERVISOR = 1 << 1, 1 << 5, 1 << 6
KILL, PIPE, FILE_SIZE = 9, 13, 25
PATIENCE_S = 2.0
LIMITS = {
    "core": resource.RLIMIT_CORE,
    "files": resource.RLIMIT_NOFILE,
    "file_bytes": resource.RLIMIT_FSIZE,
}
WORDS = {
    "memory_mb": "memory",
    "files_in_memory": "files",
    "disk_mb": "disk",
    "disk_files": "files",
}
LOOK_MS = 120, 280
"""The shortest and the longest time between two looks: a bot that knew the moment of the next one
could hide from it.
"""
UNCOUNTED_NS, NOISE_NS = 50_000_000, 5_000_000
"""How much processor time may escape the count altogether, and between two looks: the two clocks
are not read at the same moment.
"""


def start_bot(
    command: list[str], limits: dict[str, int], status: int, libc: ctypes.CDLL
) -> tuple[int, int]:
    """Starts the bot; returns its process id and its counter, see `count_processor_time`.

    The bot has its own session and the keeper's standard streams.
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
        # waits until the counter is there, which counts only what is started after it
        os.read(gate, 1)
        os.setsid()
        if sys.platform == "linux":
            libc.prctl(DEATH_SIGNAL, KILL, 0, 0, 0)
            if os.getppid() != keeper:
                os._exit(127)
        # Python ignores these signals, and the bot would inherit that
        for number in (PIPE, FILE_SIZE):
            libc.signal(number, None)
        cores = limits.get("cores", 0)
        if cores:
            os.sched_setaffinity(0, [bit for bit in range(cores.bit_length()) if cores >> bit & 1])
        for name, number in limits.items():
            if name not in LIMITS:
                continue
            _, hard = resource.getrlimit(LIMITS[name])
            most = number if hard == resource.RLIM_INFINITY else min(number, hard)
            resource.setrlimit(LIMITS[name], (most, most))
        # A shell is what must not come between.
        os.execvp(command[0], command)  # noqa: S606
    # Whatever it is, this process must not go on as a second keeper.
    except BaseException as error:  # noqa: BLE001
        tell(status, f"failed {error}")
    os._exit(127)


def count_processor_time(pid: int, libc: ctypes.CDLL) -> int:
    """A descriptor that reads as the processor time, in ns, of a process and all that it will
    start; -1 where there is none.

    The kernel adds up threads, children and their children, whoever reaps them and whatever session
    they make: nothing that a process does to its parent, its signals or its name takes time off
    this count. Measured: 1.1 us a read. One thing stops it: a process that runs a program which it
    may not read. `Watch` finds those.
    """
    number = PERF_EVENT_OPEN.get(os.uname().machine)
    if sys.platform != "linux" or number is None:
        return -1
    attribute = (ctypes.c_uint64 * (ATTRIBUTE_BYTES // 8))(
        SOFTWARE | ATTRIBUTE_BYTES << 32, TASK_CLOCK
    )
    attribute[5] = INHERIT | NO_KERNEL | NO_HYPERVISOR
    return int(libc.syscall(number, attribute, pid, -1, -1, CLOSE_ON_EXEC))


def wait_for_end(child: int, lifeline: int, status: int, watch: "Watch") -> None:
    """Returns once the bot has ended, uses too much, or the lifeline has ended."""
    try:
        handle = os.pidfd_open(child)
    except (AttributeError, OSError):
        while not select.select([lifeline], [], [], 0.02)[0]:
            if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                return
        return
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    poll.register(lifeline, select.POLLIN)
    shortest, longest = LOOK_MS
    while not poll.poll(shortest + os.urandom(1)[0] * (longest - shortest) // 255):
        excess = watch.excess()
        if excess:
            tell(status, excess)
            return


class Watch:
    """Looks at all processes below this one and at what they use. ``counter`` is that of
    `count_processor_time`.
    """

    def __init__(self, limits: dict[str, int], folders: list[str], counter: int) -> None:
        self._limits = limits
        self._folders = folders
        self._counter = counter
        self._clocks: dict[int, int] = {}
        self._counted_ns = self._missing_ns = 0

    def excess(self) -> str:
        """The first limit that the processes exceed, as a line for
        STATUS; empty if there is none.
        """
        tree = descendants()
        figures = [holdings.figures_of(pid) for pid in tree]
        opened = [file for pid in tree for file in holdings.opened_by(pid)]
        held = holdings.held_kb(tree, opened) + max(
            0, holdings.shared_kb(tree) - sum(shared for _, _, _, shared in figures)
        )
        used = {
            "processes": len(tree),
            "threads": sum(threads for _, threads, _, _ in figures),
            "memory_mb": sum(kb for kb, _, _, _ in figures) + held >> 10,
        }
        limits = self._limits
        # The quick sum counts shared memory once for each process. Only if that is too much is the
        # slow look worth it, which divides it.
        if used["memory_mb"] > limits.get("memory_mb", used["memory_mb"]):
            used["memory_mb"] = (
                sum(
                    holdings.shared_fairly(pid, kb)
                    for pid, (kb, _, _, _) in zip(tree, figures, strict=True)
                )
                + held
                >> 10
            )
        if "files_in_memory" in limits:
            used["files_in_memory"] = max(map(holdings.files_in_memory, tree), default=0)
        if "disk_mb" in limits:
            used["disk_mb"], used["disk_files"] = holdings.disk_use(
                self._folders, opened, limits["disk_files"]
            )
        for name, number in used.items():
            if name in limits and number > limits[name]:
                return f"{WORDS.get(name, name)} {number}"
        if "processes" not in limits:
            return ""
        return self._uncounted(tree) if self._counter >= 0 else unseen(tree, figures)

    def _uncounted(self, tree: list[int]) -> str:
        """The processor time that processes used and the counter did not count, if it is more than
        a little.

        The counter cannot have counted less than the processes that still live.
        """
        before_ns = self._counted_ns
        self._counted_ns = read_counter(self._counter)
        used_ns = 0
        for pid in tree:
            clock_ns = process_ns(pid)
            known_ns = self._clocks.get(pid, 0)
            used_ns += clock_ns - (known_ns if known_ns <= clock_ns else 0)
            self._clocks[pid] = clock_ns
        missing_ns = used_ns - (read_counter(self._counter) - before_ns)
        self._missing_ns += missing_ns if missing_ns > NOISE_NS else 0
        return (
            f"uncounted {self._missing_ns // 1_000_000}" if self._missing_ns > UNCOUNTED_NS else ""
        )


def read_counter(counter: int) -> int:
    """What the counter says, in ns."""
    return int.from_bytes(os.read(counter, 8), "little")


def process_ns(pid: int) -> int:
    """The processor time of a process by its own clock, including
    ended threads; 0 once it is gone.
    """
    try:
        return time.clock_gettime_ns(~pid << 3 | 2)
    except OSError:
        return 0


def unseen(tree: list[int], figures: list[tuple[int, int, bool, int]]) -> str:
    """A process that ignores the end of its children, so that nobody would book their processor
    time.
    """
    for pid, (_, _, ignores, _) in zip(tree, figures, strict=True):
        if ignores:
            return f"unseen {pid}"
    return ""


def report(child: int, status: int) -> None:
    """Writes how the bot ended, if it has."""
    pid, how, usage = os.wait4(child, os.WNOHANG)
    if pid:
        code = os.waitstatus_to_exitcode(how)
        text = f"exit {code}" if code >= 0 else f"signal {-code}"
        tell(status, f"{text} {usage.ru_utime + usage.ru_stime:.3f} {usage.ru_maxrss}")


def tell(status: int, line: str) -> None:
    """Writes a line to the worker. If the worker is gone, nobody is left to tell, and the keeper
    goes on to clear up.
    """
    try:  # noqa: SIM105 - contextlib would delay every start
        os.write(status, f"{line}\n".encode())
    except OSError:
        pass


def children() -> list[int]:
    """Process ids whose parent is this process: as a subreaper it inherits every orphan of the
    bot's processes.
    """
    me = os.getpid()
    try:
        # And in no time, however many processes there are.
        with open(f"/proc/self/task/{me}/children") as file:  # noqa: PTH123
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return [pid for pid, parent in parents().items() if parent == me]


def descendants() -> list[int]:
    """Process ids of everything this process and its descendants have started."""
    below: dict[int, list[int]] = {}
    for pid, parent in parents().items():
        below.setdefault(parent, []).append(pid)
    found = below.get(os.getpid(), [])
    for pid in found:
        found += below.get(pid, [])
    return found


def parents() -> dict[int, int]:
    """The parent of each process on this machine; empty if there is no /proc."""
    found = {}
    for name in os.listdir("/proc") if sys.platform == "linux" else []:  # noqa: PTH208
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as file:  # noqa: PTH123
                    found[int(name)] = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                continue
    return found


def kill_all(child: int) -> bool:
    """Kills the bot's group, then its orphans generation by generation. Returns whether none is
    left.
    """
    hurry()
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


def hurry() -> None:
    """Goes before the bot's processes, where this user may: root has no limit of processes, and
    sixty that fork and exit outrun an equal.

    Measured without a sandbox: unhurried, this gave up after two seconds, and the machine had
    26,000 processes soon after.
    """
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except (AttributeError, OSError):
        try:  # noqa: SIM105
            os.setpriority(os.PRIO_PROCESS, 0, -20)
        except OSError:
            pass


def main() -> int:
    """Starts the bot, waits until the bot or the arena ends, and clears up."""
    lifeline, status = int(sys.argv[1]), int(sys.argv[2])
    limits = {
        name: int(number)
        for name, _, number in (pair.partition("=") for pair in sys.argv[3].split(",") if pair)
    }
    libc = ctypes.CDLL(None)
    # What the bot leaves behind becomes the keeper's child. So nothing can hide by leaving its
    # parent, and the processor time of the dead is booked where the arena reads it.
    if sys.platform == "linux":
        libc.prctl(SUBREAPER, 1, 0, 0, 0)
    for descriptor in (lifeline, status):
        fcntl.fcntl(descriptor, fcntl.F_SETFD, fcntl.FD_CLOEXEC)
    end = sys.argv.index("--")
    child, counter = start_bot(sys.argv[end + 1 :], limits, status, libc)
    # The keeper lets go of the bot's pipes, or the arena would never see their end.
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    wait_for_end(child, lifeline, status, Watch(limits, sys.argv[4:end], counter))
    report(child, status)
    return 0 if kill_all(child) else 1


if __name__ == "__main__":
    raise SystemExit(main())
