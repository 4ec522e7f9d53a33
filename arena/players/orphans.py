"""Kills the processes that a bot leaves behind if its keeper, the process that watches over it, is
killed. On Linux, this process adopts such orphans as long as it has bots.

Not every child of this process belongs to a bot: a notebook, for example, starts programs of its
own. A child is taken for a bot's if it is in the session in which the keeper started the bot, if
its environment names the keeper, or if it descends from such a process. No other child is killed.
The workers of a run are an exception: they start nothing but keepers, and say so with
`expect_only_keepers`. There every child that is no keeper counts as an orphan, and is killed.
"""

import ctypes
import os
import signal
import sys
import threading
import time
from contextlib import suppress

from arena.players.keeper import MARK, SUBREAPER
from arena.players.processes import children, family, read_file, stat_of

IS_SUBREAPER = 37
PATIENCE_S = 3.0
SESSION_FIELD = 3


class Adoption:
    """Makes this process the parent of all orphans below it (on Linux), as long as it has bots.

    ``keepers``           the process ids of the keepers that run
    ``has_only_keepers``  whether this process starts no children but keepers
    """

    def __init__(self) -> None:
        self.keepers = set[int]()
        self.has_only_keepers = False
        self._lock = threading.Lock()
        self._bots = 0
        self._was_subreaper = False

    def begin(self) -> None:
        """Counts a bot that is about to start. With the first one, this process begins to adopt
        orphans.
        """
        with self._lock:
            if self._bots == 0:
                self._was_subreaper = is_subreaper()
                _set_subreaper(adopts=True)
            self._bots += 1

    def end(self) -> None:
        """Counts a bot that has ended. After the last one, this process adopts orphans only if it
        did so before.
        """
        with self._lock:
            self._bots -= 1
            if self._bots == 0:
                _set_subreaper(adopts=self._was_subreaper)


adoption = Adoption()
"""The one count of this process, because adopting orphans is a property of the whole process."""


def expect_only_keepers() -> None:
    """Declares that this process starts no children but keepers. From now on, `kill_orphans` takes
    every other child for a bot's orphan.
    """
    adoption.has_only_keepers = True


def is_subreaper() -> bool:
    """Whether this process adopts the orphans among its descendants; False except on Linux."""
    answer = ctypes.c_int(0)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(IS_SUBREAPER, ctypes.byref(answer), 0, 0, 0)
    return bool(answer.value)


def kill_orphans(keeper: int, session: int | None) -> None:
    """Kills what the bot of a killed keeper left behind, generation by generation, for at most
    `PATIENCE_S` seconds. ``keeper`` is the keeper's process id. ``session`` is the session in which
    the keeper started the bot, None if it had not started it yet. Except on Linux, only the
    processes in the session's first process group are killed.
    """
    if sys.platform != "linux":
        if session is not None:
            _kill_session(session)
        return
    known = set[int]()
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        orphans = [pid for pid in children() if pid in known or _is_of_bot(pid, keeper, session)]
        if not orphans:
            return
        for pid in orphans:
            known.update(family(pid))
        # No other session can get this number as long as one of its processes exists.
        if session is not None and session in map(_session_of, orphans):
            _kill_session(session)
        for pid in orphans:
            with suppress(ProcessLookupError, PermissionError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def _is_of_bot(pid: int, keeper: int, session: int | None) -> bool:
    """Whether the child ``pid`` of this process is an orphan of the bot with this keeper and
    session.
    """
    if pid in adoption.keepers:
        return False
    if adoption.has_only_keepers:
        return True
    if session is not None and _session_of(pid) == session:
        return True
    return f"{MARK}={keeper}".encode() in read_file(f"/proc/{pid}/environ").split(b"\0")


def _session_of(pid: int) -> int | None:
    """The session of a process, None if the process does not exist any more."""
    fields = stat_of(pid)
    return int(fields[SESSION_FIELD]) if fields else None


def _kill_session(session: int) -> None:
    """Kills the processes in the first process group of a session."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(session, signal.SIGKILL)


def _set_subreaper(*, adopts: bool) -> None:
    """Makes this process adopt the orphans among its descendants, or not."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SUBREAPER, int(adopts), 0, 0, 0)
