"""What processes use, read from /proc: memory, threads, files, and CPU time that the kernel's
counter missed.

`Watch` is the Python twin of native/usage.c. The keeper imports this module, which therefore
imports little itself: pathlib would double the time of a bot's start.
"""

import os
import stat
import time

COUNTED = (b"RssAnon", b"RssShmem", b"VmSwap", b"VmPTE")
"""The fields of /proc/PID/status that count as memory. Page tables are among them: they took 440 MB
where they were not counted.
"""
PIPE_KB = 64
"""The memory that a pipe is counted with, which is what it holds when full."""
SMALL = 1 << 27
"""A file system with fewer bytes than this is the sandbox's own; the machine's /tmp is larger."""
FOLDERS_IN_MEMORY = ("/tmp", "/dev/shm")  # noqa: S108 - they lie inside the sandbox
EXITING = 4
"""The flag in /proc/PID/stat of a process that is about to end."""
NOISE_NS = 2_000_000
"""The CPU time that the counter may seem to miss at every look, because the kernel's two clocks do
not change at the same moment.
"""
STALL_NS = 40_000_000
"""How much more the counter may seem to miss once: a stall of the machine between the readings of
the two clocks is only on one of them.
"""
COUNTED_PART = 0.4
"""The counter misses up to half of the time of a program that sleeps and wakes up all the time,
and the whole time of a process that left it. In between lies this part.
"""
MAX_MAPPINGS = 100_000
"""How many mappings of memory all processes may have. With more, a look would take seconds."""

MAX_WATCHES = 200_000
"""How many watches of epoll all processes may be able to have. No figure of a process includes
their memory, 230 bytes each, and the kernel limits them by user: a bot that took all of them would
leave none to its rivals.
"""


class Watch:
    """Looks at all processes below this one and at what they use."""

    def __init__(self, limits: dict[str, int], folders: list[str], counter: int) -> None:
        self._limits = limits
        self._folders = folders
        self._counter = counter
        self._clocks: dict[int, int] = {}
        self._counted_ns = self._missing_ns = 0
        self._at_last_look: dict[int, int] = {}
        self.sees_many = False
        """Whether the bot had more than one process or thread at the last look."""

    def excess(self) -> str:
        """Looks at the processes. Returns the first limit that they exceed as a line for the arena:
        a word of `endings.EXCESSES` and the amount, such as ``memory 1200`` in MB. Empty if they
        exceed none. Beside the given limits, the numbers of mappings of memory and of epoll's
        watches are limited, and CPU time that the counter missed counts as an excess. Updates
        ``sees_many``.
        """
        tree = bot_processes()
        excess = self._held_excess(tree) if self._has_computed(tree) else ""
        is_playing = "processes" in self._limits
        if excess or not is_playing or self._counter < 0:
            return excess
        return self._uncounted(tree)

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
        arena; empty if they exceed none. Updates ``sees_many``.
        """
        limits = self._limits
        sizes = []
        threads = 0
        shared_by_processes = 0
        for pid in tree:
            kb, threads_of_process, shared_by_process = figures_of(pid)
            sizes.append(kb)
            threads += threads_of_process
            shared_by_processes += shared_by_process
        used = {"processes": len(tree), "threads": threads}
        self.sees_many = max(used.values()) > 1
        # First what is read quickly: a bot that takes memory while the keeper reads the rest is
        # ended.
        used["memory_mb"] = self._memory_mb(tree, sizes, held_kb=0)
        excess = self._first_excess(used)
        if excess:
            return excess
        opened = list[os.stat_result]()
        watches = 0
        for pid in tree:
            files = opened_by(pid)
            watches += watches_of(files)
            opened += files
        if watches > MAX_WATCHES:
            return f"watches {watches}"
        shared, mappings = shared_kb(tree)
        if mappings > MAX_MAPPINGS:
            return f"mappings {mappings}"
        left_kb = shared - shared_by_processes  # mapped by no process
        held_kb = self._held_kb(opened) + max(0, left_kb)
        used["memory_mb"] = self._memory_mb(tree, sizes, held_kb)
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

    def _memory_mb(self, tree: list[int], sizes: list[int], held_kb: int) -> int:
        """The memory of all processes in MB, of which ``held_kb`` are in no process. The quick sum
        of the ``sizes`` counts shared memory once per process. Only if that is too much, the slow
        sum is made, which divides shared memory among the processes.
        """
        quick_mb = sum(sizes) + held_kb >> 10
        if quick_mb <= self._limits.get("memory_mb", quick_mb):
            return quick_mb
        return sum(map(shared_fairly, tree, sizes)) + held_kb >> 10

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

    def _uncounted(self, tree: list[int]) -> str:
        """CPU time that the counter missed, as a line for the arena: the living processes
        alone have used more than the counter shows. Empty if it missed none.
        """
        before_ns = self._counted_ns
        self._counted_ns = read_counter(self._counter)
        used_ns = 0
        last_clocks = self._clocks
        self._clocks = {}
        for pid in tree:
            known_ns = last_clocks.get(pid, 0)
            clock_ns = process_ns(pid)
            grown_ns = clock_ns - (known_ns if known_ns <= clock_ns else 0)
            self._clocks[pid] = clock_ns
            # the counter drops a process at its end, before its memory is returned
            used_ns += 0 if grown_ns > NOISE_NS and is_ending(pid) else grown_ns
        counted_ns = read_counter(self._counter) - before_ns
        uncounted_ns = used_ns - counted_ns if counted_ns < COUNTED_PART * used_ns else 0
        self._missing_ns = max(0, self._missing_ns + uncounted_ns - NOISE_NS)
        is_noise = self._missing_ns <= STALL_NS
        return "" if is_noise else f"uncounted {self._missing_ns // 1_000_000}"


def is_init() -> bool:
    """Whether this process is the first of a pid namespace, whose other processes are the bot's."""
    return os.getpid() == 1


def bot_processes() -> list[int]:
    """The ids of the bot's processes: in a pid namespace of their own all but this one, elsewhere
    this process's descendants, parents first.
    """
    if is_init():
        pids = map(int, filter(str.isdigit, names_in("/proc")))
        return [pid for pid in pids if pid != 1]
    return descendants()


def children() -> list[int]:
    """The ids of this process's children. As a subreaper it inherits every orphan of the bot."""
    me = os.getpid()
    if lists_children():
        return list(map(int, read_file(f"/proc/self/task/{me}/children").split()))
    return [pid for pid, parent in parents().items() if parent == me]


def descendants() -> list[int]:
    """The ids of all processes that this process and its descendants have started, parents
    first.
    """
    if lists_children():
        return family(os.getpid())[1:]
    below: dict[int, list[int]] = {}
    for pid, parent in parents().items():
        below.setdefault(parent, []).append(pid)
    tree = below.get(os.getpid(), [])
    for pid in tree:
        tree += below.get(pid, [])
    return tree


def lists_children() -> bool:
    """Whether the kernel lists the children of each thread in /proc. That takes no time, however
    many processes there are; without it all processes of the machine have to be looked at.
    """
    return os.path.exists(f"/proc/self/task/{os.getpid()}/children")  # noqa: PTH110 - for speed


def family(root: int) -> list[int]:
    """The ids of the process ``root`` and of all processes that it and its descendants started."""
    tree = [root]
    for pid in tree:
        for thread in names_in(f"/proc/{pid}/task"):
            tree += map(int, read_file(f"/proc/{pid}/task/{thread}/children").split())
    return tree


def parents() -> dict[int, int]:
    """The parent of each process on this machine by process id; empty without /proc."""
    parent_of = {}
    for pid in filter(str.isdigit, names_in("/proc")):
        fields = stat_of(pid)
        if fields:
            parent_of[int(pid)] = int(fields[1])
    return parent_of


def read_counter(counter: int) -> int:
    """The CPU time in ns that the kernel has counted so far for a bot and everything that it
    started. ``counter`` is the descriptor that `keeper.count_processor_time` returned.
    """
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
    """The fields of /proc/PID/stat of a process or a thread, from its state on; empty if it does
    not exist.
    """
    return read_file(f"/proc/{pid}/stat").rpartition(b")")[2].split()


def is_exiting(fields: list[bytes]) -> bool:
    """Whether a thread with these fields of `stat_of` is exiting or has ended, so that it runs
    nothing of the bot any more. The fields of a process are those of its first thread.
    """
    return int(fields[6]) & EXITING > 0


def has_ended(fields: list[bytes]) -> bool:
    """Whether a thread with these fields of `stat_of` has ended."""
    return fields[0] in (b"Z", b"X")


def thread_count(fields: list[bytes]) -> int:
    """The number of threads of a process with these fields of `stat_of`, with those that have ended
    but still exist.
    """
    return int(fields[17])


def threads_of(pid: int) -> list[int]:
    """The ids of the threads of a process."""
    return list(map(int, names_in(f"/proc/{pid}/task")))


def living_thread(pid: int) -> int:
    """A thread of a process that has not ended, as long as there is one: the first thread, whose id
    is ``pid``, or if that is exiting, another one. If the first thread has ended, /proc/PID shows
    neither memory nor open files, but /proc/THREAD shows those of the process for each other
    thread.
    """
    fields = stat_of(pid)
    if not fields or not is_exiting(fields) or thread_count(fields) <= 1:
        return pid
    last = pid
    for thread in threads_of(pid):
        fields = stat_of(thread)
        if not fields:
            continue
        if not is_exiting(fields):
            return thread
        if not has_ended(fields):
            last = thread
    return last


def has_lost_first_thread(pid: int) -> bool:
    """Whether the first thread of a process has ended, and another one goes on."""
    return living_thread(pid) != pid and not is_ending(pid)


def is_stopped(pid: int) -> bool:
    """Whether a process that was sent SIGSTOP has stopped or ended. A process in a system call that
    nothing interrupts counts as stopped: it stops when the call ends.
    """
    fields = stat_of(pid)
    if not fields:
        return True
    if has_ended(fields) and thread_count(fields) > 1:
        # the first thread has ended before the others: the state of one of them counts
        fields = stat_of(living_thread(pid))
        if not fields or has_ended(fields):
            return False
    if fields[0] == b"D":
        return not is_exiting(fields)
    return fields[0] not in (b"R", b"S")


def is_asleep(pid: int) -> bool:
    """Whether the first thread of a process waits for something."""
    return stat_of(pid)[:1] == [b"S"]


def is_leaving(pid: int) -> bool:
    """Whether a process is ending, but has not ended. Such a process ignores SIGSTOP, and its end
    can send signals to others.
    """
    fields = stat_of(pid)
    if not fields or not is_exiting(fields):
        return False
    return not has_ended(fields) or thread_count(fields) > 1


def is_ending(pid: int) -> bool:
    """Whether all threads of a process are exiting or have ended, so that it runs nothing of the
    bot any more, and is returning its memory.
    """
    return is_seen_ending(pid) or is_seen_ending(pid)


def is_seen_ending(pid: int) -> bool:
    """Like `is_ending`, but may be False if a thread of an ending process vanished meanwhile."""
    fields = stat_of(pid)
    if not fields:
        return True
    if not is_exiting(fields):
        return False
    if thread_count(fields) <= 1:
        return True
    # A thread can start another before it exits, which the list may lack. If all threads of the
    # list were exiting before the threads were counted, and exist after it, the list was complete.
    threads = threads_of(pid)
    if not are_exiting(threads):
        return False
    fields = stat_of(pid)
    return bool(fields) and thread_count(fields) == len(threads) and are_exiting(threads)


def are_exiting(threads: list[int]) -> bool:
    """Whether all these threads still exist and are exiting."""
    stats = map(stat_of, threads)
    return all(fields and is_exiting(fields) for fields in stats)


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


def shared_fairly(pid: int, otherwise: int) -> int:
    """The memory of a process in kB, where shared memory is divided among the processes that share
    it; ``otherwise`` if the kernel does not say. This is slower to read than `figures_of`.
    """
    thread = living_thread(pid)
    divided = read_file(f"/proc/{thread}/smaps_rollup")
    status = read_file(f"/proc/{thread}/status")
    if not divided or not status:
        return otherwise
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


def names_in(folder: str) -> list[str]:
    """The names in a folder; empty if it cannot be listed, for example because it does not exist
    any more.
    """
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
