"""What a bot's processes hold, read from /proc: memory, what the kernel keeps for them, threads,
files.

The keeper adds it up several times a second. This file imports little, because the keeper delays
every start.
"""

import os
import stat

COUNTED = ("RssAnon", "RssShmem", "VmSwap", "VmPTE")
"""Of /proc/PID/status: page tables too, which took 440 MB where they were not counted."""
SOCKET_KB, PIPE_KB = 208, 64
"""What each holds when it is full, by itself, and is counted with:
nothing tells what it holds now.
"""
SOCKET_BYTES = "/proc/sys/net/core/wmem_default"
"""Where a machine says that its sockets hold more."""
SHARED_FILE = "/dev/zero (deleted)"
"""How memory that processes share without a file is called in /proc/PID/maps."""
CHILD_SIGNAL_BIT = 1 << 16
IN_MEMORY = ("tmp", "dev/shm")
SMALL = 1 << 27
"""A file system smaller than this, in bytes, is the sandbox's own: the machine's /tmp is larger."""


def figures_of(pid: int) -> tuple[int, int, bool, int]:
    """A process's memory in kB not backed by a file, its threads, whether it ignores SIGCHLD, and
    how much of the memory is shared.
    """
    kb, threads, ignores, shared = 0, 0, False, 0
    try:
        # Pathlib would double the start-up time.
        with open(f"/proc/{pid}/status") as file:  # noqa: PTH123
            for line in file:
                if line.startswith(COUNTED):
                    kb += int(line.split()[1])
                    shared = int(line.split()[1]) if line.startswith("RssShmem") else shared
                elif line.startswith("Threads"):
                    threads = int(line.split()[1])
                elif line.startswith("SigIgn"):
                    ignores = bool(int(line.split()[1], 16) & CHILD_SIGNAL_BIT)
    except OSError:
        pass
    return kb, threads, ignores, shared


def shared_fairly(pid: int, otherwise: int) -> int:
    """The same memory in kB, with shared memory divided among the processes that share it; this is
    slower to read.
    """
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:  # noqa: PTH123
            kb = sum(
                int(line.split()[1])
                for line in file
                if line.startswith(("Pss_Anon", "Pss_Shmem", "SwapPss"))
            )
        with open(f"/proc/{pid}/status") as file:  # noqa: PTH123
            return kb + sum(int(line.split()[1]) for line in file if line.startswith("VmPTE"))
    except OSError:
        return otherwise


def held_kb(tree: list[int], opened: list[os.stat_result]) -> int:
    """Memory in kB that the kernel may hold for processes in sockets and pipes, which is in no
    figure of theirs.
    """
    pipes = {file.st_ino for file in opened if stat.S_ISFIFO(file.st_mode)}
    sockets = {file.st_ino for file in opened if stat.S_ISSOCK(file.st_mode)}
    count = max([len(sockets), *map(sockets_of_network, tree)])
    return count * (socket_kb() if count else 0) + len(pipes) * PIPE_KB


def socket_kb() -> int:
    """The most that a socket may hold for a slow reader, in KB."""
    try:
        with open(SOCKET_BYTES) as file:  # noqa: PTH123
            return max(SOCKET_KB, int(file.read()) >> 10)
    except OSError:
        return SOCKET_KB


def opened_by(pid: int) -> list[os.stat_result]:
    """The open files of a process, as far as they can be seen: a bot
    in a sandbox cannot hide them.
    """
    found = []
    try:
        names = os.listdir(f"/proc/{pid}/fd")  # noqa: PTH208
    except OSError:
        return []
    for name in names:
        try:
            found.append(os.stat(f"/proc/{pid}/fd/{name}"))  # noqa: PTH116
        except OSError:
            continue
    return found


def sockets_of_network(pid: int) -> int:
    """How many sockets a private network has, those included that wait in a queue, where no process
    has them open.
    """
    try:
        own, its = (os.stat(f"/proc/{of}/ns/net") for of in ("self", pid))  # noqa: PTH116
        if its.st_ino == own.st_ino:
            return 0
        with open(f"/proc/{pid}/net/unix") as file:  # noqa: PTH123
            return sum(1 for _ in file) - 1
    except OSError:
        return 0


def shared_kb(tree: list[int]) -> int:
    """Size in kB of the memory that processes share without a file: what one wrote stays there when
    it lets go of it.
    """
    sizes: dict[str, int] = {}
    for pid in tree:
        mine: dict[str, int] = {}
        try:
            with open(f"/proc/{pid}/maps") as file:  # noqa: PTH123
                for line in file:
                    if SHARED_FILE in line:
                        place, _, _, _, inode = line.split()[:5]
                        start, end = place.split("-")
                        mine[inode] = mine.get(inode, 0) + (int(end, 16) - int(start, 16) >> 10)
        except OSError:
            continue
        sizes.update({inode: max(size, sizes.get(inode, 0)) for inode, size in mine.items()})
    return sum(sizes.values())


def files_in_memory(pid: int) -> int:
    """The number of files a sandboxed process has in file systems that live in memory; those limit
    the size, not the number.
    """
    count = 0
    for name in IN_MEMORY:
        try:
            room = os.statvfs(f"/proc/{pid}/root/{name}")
        except OSError:
            continue
        count += room.f_files - room.f_ffree if room.f_blocks * room.f_frsize < SMALL else 0
    return count


def disk_use(folders: list[str], opened: list[os.stat_result], most: int) -> tuple[int, int]:
    """MB and number of the files in the folders, and of deleted ones still open.

    Stops counting above ``most``. A folder that cannot be read counts as too many.
    """
    found = [file for file in opened if stat.S_ISREG(file.st_mode) and not file.st_nlink]
    hidden, waiting = 0, folders.copy()
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
