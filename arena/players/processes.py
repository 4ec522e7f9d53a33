"""Processes and their threads, as /proc shows them: who is there, and who runs, has stopped or is
ending. native/processes.c is its twin.

The keeper, a small process beside each bot, uses this module, which therefore imports little.
"""

import os

EXITING = 4
"""The flag in /proc/PID/stat of a process that is about to end."""


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
        for thread in threads_of(pid):
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


def has_pipe_open(pids: list[int], pipe: int) -> bool:
    """Whether one of the processes ``pids`` has the pipe open of which the descriptor ``pipe`` is
    our end; True, too, if the open files of such a process cannot be examined.
    """
    inode = os.fstat(pipe).st_ino
    return any(_has_open(pid, inode) for pid in pids)


def _has_open(pid: int, inode: int) -> bool:
    """Whether a process has the file with this inode open, or cannot be examined."""
    try:
        names = os.listdir(f"/proc/{pid}/fd")  # noqa: PTH208
        stats = (os.stat(f"/proc/{pid}/fd/{name}") for name in names)  # noqa: PTH116
        return any(stat.st_ino == inode for stat in stats)
    except OSError as error:
        return isinstance(error, PermissionError)
