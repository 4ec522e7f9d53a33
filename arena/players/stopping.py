"""Stops all processes of a bot, lets them go on, and kills them. The Python twin of
native/stopping.c.

The keeper imports this module, which therefore imports little itself.
"""

import _signal as signal  # type: ignore[import-not-found]
import os
import time

from arena.players.processes import bot_processes, is_init, is_leaving, is_stopped, threads_of
from arena.players.sandbox import confine

TGKILL = (234, 131)
"""The numbers of the system call tgkill on x86_64 and aarch64."""
KILL = 9
MAX_STOP_MS = 2000
MAX_FIRST_MS = 50
QUICK_ROUNDS = 3
"""How long the keeper looks whether the processes that it stopped have stopped, and how many times
it does not sleep in between.
"""


def now_ms() -> int:
    """The time on the monotonic clock, in ms."""
    return time.monotonic_ns() // 1_000_000


def stop_bot(*, has_more_cores: bool) -> None:
    """Stops all processes of the bot. Without ``has_more_cores``, the keeper and the bot share one
    processor. Then nothing of the bot runs until the keeper waits again, so one call is enough,
    unless a process is ending. Otherwise the keeper looks until nothing runs.
    """
    if is_init() and not has_more_cores:
        send(-1, signal.SIGSTOP)
        tree = bot_processes()
        stop_further_threads(tree)
        if not any(map(is_leaving, tree)):
            return
    known: list[int] = []
    deadline_ms = now_ms() + MAX_STOP_MS
    number = 0
    while now_ms() < deadline_ms:
        tree = bot_processes()
        # parents first: a shell that saw its child stop would end
        for target in [-1] if is_init() else tree:
            send(target, signal.SIGSTOP)
        stop_further_threads(tree)
        if tree == known and all(map(is_stopped, tree)):
            return
        known = tree
        give_way(number)
        number += 1


def stop_further_threads(tree: list[int]) -> None:
    """Sends SIGSTOP to each thread of the processes ``tree`` but the first ones. The kernel gives a
    signal for a process to its first thread. If that thread waits for something that only SIGKILL
    ends, such as a child of vfork, the others would run on.
    """
    number = confine.number_here(TGKILL)
    if number is None:
        return
    for pid in tree:
        for thread in threads_of(pid):
            if thread != pid:
                confine.libc.syscall(number, pid, thread, signal.SIGSTOP)


def give_way(number: int) -> None:
    """Lets other processes run for a moment, between two checks whether stopped processes have come
    to a stop. ``number`` counts the checks so far, from 0: after the first `QUICK_ROUNDS` ones the
    keeper only yields the processor, later it sleeps for 0.1 ms.
    """
    if number < QUICK_ROUNDS:
        os.sched_yield()
    else:
        time.sleep(0.0001)


def stop_first(child: int) -> None:
    """Stops the bot's first process, ``child``, before its children are stopped, and waits up to
    `MAX_FIRST_MS` until it has stopped. Does nothing if the bot has no other process.

    A shell that minds its children would end if it saw one of them stopped. It sees that even while
    SIGSTOP waits for it, if the kernel is just then looking for a child that has ended, so only a
    shell that has stopped is safe.
    """
    if len(bot_processes()) < 2:  # noqa: PLR2004 - the first and one more
        return
    send(child, signal.SIGSTOP)
    deadline_ms = now_ms() + MAX_FIRST_MS
    number = 0
    while not is_stopped(child) and now_ms() < deadline_ms:
        give_way(number)
        number += 1


def resume_bot(*, has_more_cores: bool) -> None:
    """Resumes all processes of the bot, each before its parent: a shell that saw its child stopped
    would end. One call for all of them would begin with the parents. Without ``has_more_cores``,
    the keeper and the bot share one processor, so that none of them runs before that call is over.
    """
    if is_init() and not has_more_cores:
        send(-1, signal.SIGCONT)
        return
    for pid in reversed(bot_processes()):
        send(pid, signal.SIGCONT)


def kill_bot() -> None:
    """Sends SIGKILL to all processes of this keeper's bot, and does not wait for their end."""
    for target in [-1] if is_init() else bot_processes():
        send(target, KILL)


def send(target: int, number: int) -> None:
    """Sends the signal ``number`` to the process with the id ``target``, which may have ended; to
    all processes but this one if ``target`` is -1.
    """
    try:  # noqa: SIM105 - contextlib would delay every start
        os.kill(target, number)
    except (ProcessLookupError, PermissionError):
        pass
