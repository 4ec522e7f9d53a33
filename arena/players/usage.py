"""What processes use, read from /proc: memory, threads, files, and CPU time that the kernel's
counter missed.

`Watch` is the Python twin of native/usage.c. The keeper imports this module, which therefore
imports little itself: pathlib would double the time of a bot's start.
"""

import os
import stat

from arena.players.counter import MissedTime, process_ns
from arena.players.processes import bot_processes, living_thread, names_in, read_file, stat_of
from arena.players.sandbox.confine import CALLS, libc, number_here

KCMP_VM = 1
"""The argument with which the system call kcmp compares the memory of two processes."""
COUNTED = (b"RssAnon", b"RssShmem", b"VmSwap", b"VmPTE")
"""The fields of /proc/PID/status that count as memory. Page tables are among them: they took 440 MB
where they were not counted.
"""
PIPE_KB = 64
"""The memory that a pipe is counted with, which is what it holds when full."""
SMALL = 1 << 27
"""A file system with fewer bytes than this is the sandbox's own; the machine's /tmp is larger."""
FOLDERS_IN_MEMORY = ("/tmp", "/dev/shm")  # noqa: S108 - they lie inside the sandbox
MAX_MAPPED = 2
"""A process may have shared memory of at most this many times the bot's limit mapped. Memory that
is mapped again counts again: to count it once, the kernel looks at each page of each mapping.
"""
MAX_MAPPINGS = 100_000
"""How many mappings of memory all processes may have. With more, a look would take seconds."""
SLOW_MAPPINGS = 1000
"""A look at more mappings than this takes long, so the arena stops such a bot after each answer."""
MAX_WATCHES = 200_000
"""How many watches of epoll all processes may be able to have. No figure of a process includes
their memory, 230 bytes each, and the kernel limits them by user: a bot that took all of them would
leave none to its rivals.
"""
MAX_OPEN = 4000
"""How many open files all processes may have together, except in a build. When a process ends, the
kernel compares each of its locks (flock) with those of all others: the end of 120 processes with
240 locks each took 18 s, which nobody counts.
"""


class Watch:
    """Looks at all processes below this one and at what they use."""

    def __init__(self, limits: dict[str, int], folders: list[str], counter: int) -> None:
        self._limits = limits
        self._folders = folders
        self._missed = MissedTime(counter) if counter >= 0 else None
        self._at_last_look: dict[int, int] = {}
        self.sees_many = False
        """Whether any look so far found more than one process or thread, or memory that takes long
        to count.
        """

    def excess(self, *, again: bool = False) -> str:
        """Looks at the processes. Returns the first limit that they exceed as a line for the arena:
        a word of `endings.EXCESSES` and the amount, such as ``memory 1200`` in MB. Empty if they
        exceed none. Beside the given limits, the numbers of open files, of mappings of memory and
        of epoll's watches are limited, and CPU time that the counter missed counts as an excess.
        Sets ``sees_many`` if it sees a reason. Memory that takes long to count is counted only if
        ``sees_many`` was set before.

        If no process has computed since the last look, only that CPU time is looked for, unless
        ``again`` is set.
        """
        tree = bot_processes()
        excess = self._held_excess(tree) if again or self._has_computed(tree) else ""
        return excess or self._uncounted(tree)

    def _uncounted(self, tree: list[int]) -> str:
        """The line for the arena about CPU time of the processes in ``tree`` that the counter
        missed; empty if it missed none.
        """
        is_playing = "processes" in self._limits
        missed_ms = self._missed.found_ms(tree) if self._missed and is_playing else 0
        return f"uncounted {missed_ms}" if missed_ms else ""

    def _has_computed(self, tree: list[int]) -> bool:
        """Whether a process in ``tree`` has computed since the last call. If none has, the bot
        holds no more memory, files or processes than it did then: each of these takes CPU time.
        """
        last = self._at_last_look
        self._at_last_look = {pid: process_ns(pid) for pid in tree}
        # a clock that cannot be read, which is 0, says nothing
        return self._at_last_look != last or 0 in last.values()

    def _held_excess(self, tree: list[int]) -> str:
        """The first limit that what the processes in ``tree`` hold exceeds, as a line for the
        arena; empty if they exceed none. Sets ``sees_many`` if it sees a reason. If processes
        begin or end meanwhile, the memory that they share with others may be counted more than
        once.
        """
        limits = self._limits
        figures = list(map(figures_of, tree))
        quick_kb, threads, shared_by_processes = map(sum, zip((0, 0, 0), *figures, strict=True))
        most_shared_kb = max((shared for _, _, shared in figures), default=0)
        used = {"processes": len(tree), "threads": threads}
        limit_mb = limits.get("memory_mb", quick_kb)
        is_slow = quick_kb >> 10 > limit_mb
        is_sure = len(tree) == 1 and quick_kb - shared_by_processes >> 10 > limit_mb
        saw_many = self.sees_many
        self.sees_many |= max(used.values()) > 1 or is_slow
        # First what is read quickly: a bot that takes memory while the keeper reads the rest is
        # ended.
        excess = self._first_excess(used)
        if not excess and most_shared_kb >> 10 > MAX_MAPPED * limit_mb:
            excess = f"shared {most_shared_kb >> 10}"
        # Unless the memory of a single process is surely too much, it is counted at the next look,
        # for which the bot pays.
        if excess or (is_slow and not saw_many and not is_sure):
            return excess
        used["memory_mb"] = self._memory_mb(tree, quick_kb, held_kb=0)
        excess = self._first_excess(used)
        if excess:
            return excess
        opened = list[os.stat_result]()
        watches = 0
        for pid in tree:
            files = opened_by(pid)
            watches += watches_of(files)
            opened += files
        if len(opened) > MAX_OPEN and "processes" in limits:
            return f"open {len(opened)}"
        if watches > MAX_WATCHES:
            return f"watches {watches}"
        shared, mappings = shared_kb(tree)
        self.sees_many |= mappings > SLOW_MAPPINGS
        if mappings > MAX_MAPPINGS:
            return f"mappings {mappings}"
        left_kb = shared - shared_by_processes  # mapped by no process
        held_kb = self._held_kb(opened) + max(0, left_kb)
        used["memory_mb"] = self._memory_mb(tree, quick_kb, held_kb)
        if "files_in_memory" in limits:
            used["files_in_memory"] = files_in_memory()
        if "disk_mb" in limits:
            most = limits["files_on_disk"]
            used["disk_mb"], used["files_on_disk"] = disk_use(self._folders, opened, most)
        return self._first_excess(used)

    def _first_excess(self, used: dict[str, int]) -> str:
        """The first of these figures that is above its limit, as a line for the arena; empty if
        none is.
        """
        for name, number in used.items():
            if name in self._limits and number > self._limits[name]:
                return f"{name.partition('_')[0]} {number}"
        return ""

    def _memory_mb(self, tree: list[int], quick_kb: int, held_kb: int) -> int:
        """The memory of all processes in MB, of which ``held_kb`` are in no process. The quick sum,
        ``quick_kb``, counts shared memory once per process. Only if that is too much, the slow sum
        is made, see `memory_kb`.
        """
        quick_mb = quick_kb + held_kb >> 10
        if quick_mb <= self._limits.get("memory_mb", quick_mb):
            return quick_mb
        return memory_kb(tree) + held_kb >> 10

    def _held_kb(self, opened: list[os.stat_result]) -> int:
        """The kB that the kernel may hold for the processes' sockets and pipes, which no figure of
        a process includes.
        """
        pipes = {file.st_ino for file in opened if stat.S_ISFIFO(file.st_mode)}
        sockets = len({file.st_ino for file in opened if stat.S_ISSOCK(file.st_mode)})
        if self._limits.get("has_own_network"):
            # Sockets that wait in a queue are open nowhere. The first line has the headings.
            sockets = max(sockets, len(read_file("/proc/self/net/unix").splitlines()) - 1)
        return sockets * self._limits.get("socket_kb", 0) + len(pipes) * PIPE_KB


def figures_of(pid: int) -> tuple[int, int, int]:
    """The figures of a process: kB not backed by files, threads, and kB of shared memory."""
    kb = threads = shared = 0
    for line in read_file(f"/proc/{living_thread(pid)}/status").splitlines():
        if line.startswith(COUNTED):
            kb += int(line.split()[1])
            shared = int(line.split()[1]) if line.startswith(b"RssShmem") else shared
        elif line.startswith(b"Threads"):
            threads = int(line.split()[1])
    return kb, threads, shared


def memory_kb(tree: list[int]) -> int:
    """The memory of the processes ``tree`` in kB, where what several of them share counts once.
    This is slower to read than `figures_of`.
    """
    return sum(shared_fairly(pid) for pid in tree if not has_memory_of_parent(pid, tree))


def has_memory_of_parent(pid: int, tree: list[int]) -> bool:
    """Whether a process has no memory of its own but that of its parent, which is one of ``tree``:
    a child of vfork has, until it executes a program.
    """
    number = number_here(CALLS["kcmp"])
    fields = stat_of(pid)
    parent = int(fields[1]) if fields else 0
    if number is None or parent not in tree:
        return False
    threads = living_thread(parent), living_thread(pid)
    return not libc.syscall(number, *threads, KCMP_VM, 0, 0)


def shared_fairly(pid: int) -> int:
    """The memory of a process in kB, where shared memory is divided among the processes that share
    it, unless the kernel does not say that.
    """
    thread = living_thread(pid)
    divided = read_file(f"/proc/{thread}/smaps_rollup")
    status = read_file(f"/proc/{thread}/status")
    if not divided or not status:
        return figures_of(pid)[0]
    wanted = (b"Pss_Anon", b"Pss_Shmem", b"SwapPss", b"VmPTE")
    lines = (divided + status).splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(wanted))


def opened_by(pid: int) -> list[os.stat_result]:
    """The open files of a process, as far as they can be seen; a bot in a sandbox cannot
    hide them.
    """
    opened = []
    folder = f"/proc/{living_thread(pid)}/fd"
    for name in names_in(folder):
        try:
            opened.append(os.stat(f"{folder}/{name}"))  # noqa: PTH116
        except OSError:
            continue
    return opened


def watches_of(opened: list[os.stat_result]) -> int:
    """How many watches of epoll a process with these open files can have: as many as it has pairs
    of a nameless file, which may be an epoll, and another file.
    """
    nameless = [file for file in opened if not stat.S_IFMT(file.st_mode)]
    return len(nameless) * len(opened)


def shared_kb(tree: list[int]) -> tuple[int, int]:
    """The kB of memory that the processes share without a file, and the number of all their
    mappings of memory, which stops above `MAX_MAPPINGS`. What a process wrote into shared memory
    stays there after it is unmapped.
    """
    sizes: dict[bytes, int] = {}
    mappings = 0
    for pid in tree:
        mine: dict[bytes, int] = {}
        lines = []
        if mappings <= MAX_MAPPINGS:
            lines = read_file(f"/proc/{living_thread(pid)}/maps").splitlines()
        mappings += len(lines)
        for line in lines:
            if b"/dev/zero (deleted)" in line:  # the name of shared memory without a file
                place, _, _, _, inode = line.split()[:5]
                start, end = place.split(b"-")
                mine[inode] = mine.get(inode, 0) + (int(end, 16) - int(start, 16) >> 10)
        for inode, size in mine.items():
            sizes[inode] = max(size, sizes.get(inode, 0))
    return sum(sizes.values()), mappings


def files_in_memory() -> int:
    """The number of files in the sandbox's file systems in memory; there, only their size is
    limited.
    """
    count = 0
    for folder in FOLDERS_IN_MEMORY:
        try:
            room = os.statvfs(folder)
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
            entries = os.scandir(waiting.pop())
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            hidden = most
            continue
        for entry in entries:
            try:
                files.append(entry.stat(follow_symlinks=False))
            except OSError:
                continue  # it was removed meanwhile
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
    blocks_by_file = {(file.st_dev, file.st_ino): file.st_blocks for file in files}
    blocks = sum(blocks_by_file.values())
    return blocks >> 11, len(files) + hidden + bool(hidden)
