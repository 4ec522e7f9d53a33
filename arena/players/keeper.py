"""Runs as the parent of one bot: starts it, and when the arena lets go or the bot ends, kills everything the bot left behind.

    python -I -S keeper.py LIFELINE STATUS LIMITS [FOLDER]... -- COMMAND...

LIFELINE is a descriptor that reaches its end when the arena's worker closes it or dies. Then the keeper kills everything. It reports on
STATUS, one line each: ``started PID``, and when the bot ends ``exit N``, ``signal N`` (with CPU seconds and peak memory in kB) or
``failed REASON``. If it ends the bot because all its processes together use too much, ``memory MB``, ``processes N``, ``disk MB`` or
``files N`` comes first. LIMITS are ``name=number`` pairs joined by commas. Some are for setrlimit, the others are for the whole tree:
``memory_mb``, ``processes`` (with their threads), ``disk_mb`` and ``disk_files`` in the FOLDERs, and ``files_in_memory`` in the sandbox's
own /tmp. Exit status 1 means that some process of the bot could not be killed.
This file stands alone and imports little, because it delays every start.
"""

import ctypes
import fcntl
import os
import resource
import select
import stat
import sys
import time

DEATH_SIGNAL, SUBREAPER = 1, 36
KILL, PIPE, FILE_SIZE = 9, 13, 25
PATIENCE_S = 2.0
LIMITS = {
    "core": resource.RLIMIT_CORE,
    "files": resource.RLIMIT_NOFILE,
    "file_bytes": resource.RLIMIT_FSIZE,
}
WORDS = {"memory_mb": "memory", "processes": "processes", "files_in_memory": "files", "disk_mb": "disk", "disk_files": "files"}
LOOK_MS = 200
IN_MEMORY = ("tmp", "dev/shm")
SMALL = 1 << 27
"""A file system smaller than this, in bytes, is the sandbox's own: the machine's /tmp is larger."""


def start_bot(command: list[str], limits: dict[str, int], status: int, libc: ctypes.CDLL) -> int:
    """Starts the bot and returns its process id. The bot has its own session and the keeper's standard streams."""
    keeper = os.getpid()
    child = os.fork()
    if child:
        tell(status, f"started {child}")
        return child
    try:
        os.setsid()
        if sys.platform == "linux":
            libc.prctl(DEATH_SIGNAL, KILL, 0, 0, 0)
            if os.getppid() != keeper:
                os._exit(127)
        for number in (PIPE, FILE_SIZE):  # Python ignores these signals, and the bot would inherit that
            libc.signal(number, None)
        for name, number in limits.items():
            if name not in LIMITS:
                continue
            _, hard = resource.getrlimit(LIMITS[name])
            most = number if hard == resource.RLIM_INFINITY else min(number, hard)
            resource.setrlimit(LIMITS[name], (most, most))
        os.execvp(command[0], command)  # noqa: S606 - a shell is what must not come between
    except BaseException as error:  # noqa: BLE001 - whatever it is, this process must not go on as a second keeper
        tell(status, f"failed {error}")
    os._exit(127)


def wait_for_end(child: int, lifeline: int, status: int, limits: dict[str, int], folders: list[str]) -> None:
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
    while not poll.poll(LOOK_MS):
        excess = too_much(limits, folders)
        if excess:
            tell(status, excess)
            return


def too_much(limits: dict[str, int], folders: list[str]) -> str:
    """The first limit that the processes below this one exceed, as a line for STATUS; empty if there is none."""
    tree = descendants()
    figures = [figures_of(pid) for pid in tree]
    used = {"processes": sum(threads for _, threads in figures), "memory_mb": sum(kb for kb, _ in figures) >> 10}
    if used["memory_mb"] > limits.get("memory_mb", used["memory_mb"]):
        used["memory_mb"] = sum(shared_fairly(pid, kb) for pid, (kb, _) in zip(tree, figures, strict=True)) >> 10
    if "files_in_memory" in limits:
        used["files_in_memory"] = max(map(files_in_memory, tree), default=0)
    if "disk_mb" in limits:
        used["disk_mb"], used["disk_files"] = disk_use(folders, tree, limits["disk_files"])
    for name, number in used.items():
        if name in limits and number > limits[name]:
            return f"{WORDS[name]} {number}"
    return ""


def figures_of(pid: int) -> tuple[int, int]:
    """A process's number of threads, and its memory in kB not backed by a file (its own, shared, and swapped out), memory first."""
    kb, threads = 0, 0
    try:
        with open(f"/proc/{pid}/status") as file:  # noqa: PTH123 - pathlib would double the start-up time
            for line in file:
                if line.startswith(("RssAnon", "RssShmem", "VmSwap")):
                    kb += int(line.split()[1])
                elif line.startswith("Threads"):
                    threads = int(line.split()[1])
    except OSError:
        pass
    return kb, threads


def shared_fairly(pid: int, otherwise: int) -> int:
    """The same memory in kB, with shared memory divided among the processes that share it; this is slower to read."""
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:  # noqa: PTH123
            return sum(int(line.split()[1]) for line in file if line.startswith(("Pss_Anon", "Pss_Shmem", "SwapPss")))
    except OSError:
        return otherwise


def files_in_memory(pid: int) -> int:
    """The number of files a sandboxed process has in file systems that live in memory; those limit the size, not the number."""
    count = 0
    for name in IN_MEMORY:
        try:
            room = os.statvfs(f"/proc/{pid}/root/{name}")
        except OSError:
            continue
        count += room.f_files - room.f_ffree if room.f_blocks * room.f_frsize < SMALL else 0
    return count


def disk_use(folders: list[str], tree: list[int], most: int) -> tuple[int, int]:
    """The size in MB and the number of the files in the folders, including deleted files that are still open.

    Stops counting above ``most``. A folder that cannot be read counts as too many.
    """
    found, hidden, waiting = deleted_files(tree), 0, folders.copy()
    while waiting and not hidden and len(found) <= most:
        try:
            for entry in os.scandir(waiting.pop()):
                found.append(entry.stat(follow_symlinks=False))
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
        except FileNotFoundError:
            continue
        except OSError:
            hidden = most
    blocks = sum({(file.st_dev, file.st_ino): file.st_blocks for file in found}.values())
    return blocks >> 11, len(found) + hidden + bool(hidden)


def deleted_files(tree: list[int]) -> list[os.stat_result]:
    """Files that processes still hold open but that are in no folder any more."""
    found = []
    for pid in tree:
        try:
            opened = [os.stat(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd")]  # noqa: PTH116, PTH208
        except OSError:
            continue
        found += [file for file in opened if stat.S_ISREG(file.st_mode) and not file.st_nlink]
    return found


def report(child: int, status: int) -> None:
    """Writes how the bot ended, if it has."""
    pid, how, usage = os.wait4(child, os.WNOHANG)
    if pid:
        code = os.waitstatus_to_exitcode(how)
        text = f"exit {code}" if code >= 0 else f"signal {-code}"
        tell(status, f"{text} {usage.ru_utime + usage.ru_stime:.3f} {usage.ru_maxrss}")


def tell(status: int, line: str) -> None:
    """Writes a line to the worker. If the worker is gone, nobody is left to tell, and the keeper goes on to clear up."""
    try:  # noqa: SIM105 - contextlib would delay every start
        os.write(status, f"{line}\n".encode())
    except OSError:
        pass


def children() -> list[int]:
    """Process ids whose parent is this process: as a subreaper it inherits every orphan of the bot's processes."""
    me = os.getpid()
    try:
        with open(f"/proc/self/task/{me}/children") as file:  # noqa: PTH123 - and in no time, however many processes there are
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
    """Kills the bot's group, then its orphans generation by generation. Returns whether none is left."""
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
    """Goes before the bot's processes, where this user may: root has no limit of processes, and sixty that fork and exit outrun an equal.

    Measured without a sandbox: unhurried, this gave up after two seconds, and the machine had 26,000 processes soon after.
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
    limits = {name: int(number) for name, _, number in (pair.partition("=") for pair in sys.argv[3].split(",") if pair)}
    libc = ctypes.CDLL(None)
    if sys.platform == "linux":
        libc.prctl(SUBREAPER, 1, 0, 0, 0)
    for descriptor in (lifeline, status):
        fcntl.fcntl(descriptor, fcntl.F_SETFD, fcntl.FD_CLOEXEC)
    end = sys.argv.index("--")
    child = start_bot(sys.argv[end + 1 :], limits, status, libc)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    wait_for_end(child, lifeline, status, limits, sys.argv[4:end])
    report(child, status)
    return 0 if kill_all(child) else 1


if __name__ == "__main__":
    raise SystemExit(main())
