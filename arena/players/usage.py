"""What a bot's processes use, read from /proc: which processes they are, their processor time, and how long they waited for a processor.

This tells a stalled machine from a slow bot. A void game is played again, so a bot that could stall the machine could escape games it is
losing. That is why a bot's own processor time never counts as lost. A thread that sleeps or is stopped has not waited, a thread that asked
for low priority has no claim, and the other bots' time counts only beyond their fair share. A bot outside a sandbox can still stop the
worker, just as it can kill it. But each attempt names the bot that had to answer, the game is given up after the third, and the run says
that it is incomplete.

Everything here is empty or zero if there is no /proc.
"""

import os

from msgspec import Struct

TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
CPU_FIELDS = slice(11, 15)
NICE_FIELD, POLICY_FIELD = 16, 38
BATCH, IDLE = 3, 5
STEAL_FIELD = 8
BUBBLEWRAP = b"bwrap"


class Usage(Struct, frozen=True):
    """What was used up to a moment on the monotonic clock, in ns.

    ``own`` and ``others`` are the processor times of all processes of a bot, and of the worker's other bots. ``waits`` is how long each
    thread of the bot was ready to run but did not, by thread id. ``stolen`` is the processor time taken by the host of a virtual machine.
    """

    at_ns: int
    own_ns: int
    others_ns: int
    bots: int
    waits: dict[int, int]
    stolen_ns: int


def measure(at_ns: int, keeper: int, other_keepers: set[int]) -> Usage:
    """What the processes under a keeper, and those under the other keepers, have used so far."""
    tree = family(keeper)
    others = sum(cpu_ns(pid) for other in other_keepers for pid in family(other))
    return Usage(at_ns, sum(map(cpu_ns, tree)), others, 1 + len(other_keepers), waits_of(tree[1:]), stolen_ns())


def lost_ns(before: Usage, after: Usage, overslept_ns: int) -> int:
    """How much processor time a bot lost to something other than itself and the other bots' fair share.

    Either the worker, which woke this much later than asked, or a thread of the bot must have waited for it. Time that the bot's own
    processes used is never lost, whatever they did with it. Time that the other bots used is lost only beyond their fair share.
    """
    span = after.at_ns - before.at_ns
    own, others = after.own_ns - before.own_ns, after.others_ns - before.others_ns
    fair = min(others, span - span // after.bots)
    waited = max((waited - before.waits.get(thread, 0) for thread, waited in after.waits.items()), default=0)
    return max(0, min(span - own - fair, max(overslept_ns, waited + after.stolen_ns - before.stolen_ns)))


def family(root: int) -> list[int]:
    """A process and everything that it and its descendants started."""
    found = [root]
    for pid in found:
        found += [child for thread in _threads(pid) for child in map(int, _read(f"/proc/{pid}/task/{thread}/children").split())]
    return found


def cpu_ns(pid: int) -> int:
    """Processor time of a process and of its children that have ended."""
    return sum(map(int, _stat(f"/proc/{pid}/stat")[CPU_FIELDS])) * TICK_NS


def waits_of(pids: list[int]) -> dict[int, int]:
    """How long each thread was ready to run but did not, in ns; threads that asked for low priority are left out."""
    mine = os.getpriority(os.PRIO_PROCESS, 0)
    found = {}
    for pid in pids:
        for thread in _threads(pid):
            place = f"/proc/{pid}/task/{thread}"
            stat, schedule = _stat(f"{place}/stat"), _read(f"{place}/schedstat").split()
            if stat and schedule and int(stat[NICE_FIELD]) <= mine and int(stat[POLICY_FIELD]) not in (BATCH, IDLE):
                found[int(thread)] = int(schedule[1])
    return found


def stolen_ns() -> int:
    """The time that the host of a virtual machine took from a processor this process may use; the largest of these."""
    if not hasattr(os, "sched_getaffinity"):
        return 0
    names = {f"cpu{number}".encode() for number in os.sched_getaffinity(0)}
    lines = [line.split() for line in _read("/proc/stat").splitlines() if line.startswith(b"cpu")]
    return max((int(words[STEAL_FIELD]) for words in lines if words[0] in names), default=0) * TICK_NS


def has_pipe_open(pids: list[int], pipe: int) -> bool:
    """Whether one of the processes, other than the sandbox's own, holds this descriptor's pipe, or might: some cannot be inspected."""
    inode = os.fstat(pipe).st_ino
    return any(_has_open(pid, inode) for pid in pids if _read(f"/proc/{pid}/comm").strip() != BUBBLEWRAP)


def _has_open(pid: int, inode: int) -> bool:
    try:
        return any(os.stat(f"/proc/{pid}/fd/{name}").st_ino == inode for name in os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH116, PTH208
    except PermissionError:
        return True
    except OSError:
        return False


def _threads(pid: int) -> list[str]:
    return _names(f"/proc/{pid}/task")


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - for speed
    except OSError:
        return []


def _stat(path: str) -> list[bytes]:
    """The fields of a stat file, starting with the process state."""
    return _read(path).rpartition(b")")[2].split()


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - for speed
            return file.read()
    except OSError:
        return b""
