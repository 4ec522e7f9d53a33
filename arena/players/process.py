"""The process of one bot under its keeper, in a session of its own. It is killed together with
everything it started.
"""

import contextlib
import errno
import fcntl
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from arena.errors import MACHINE_ERRORS, Void
from arena.players import keeper
from arena.players.keeper import figures_of, shared_fairly, stat_of
from arena.players.orphans import adoption, kill_orphans
from arena.players.sandbox.grants import NO_GRANTS, Grants
from arena.players.sandbox.launch import PROCESSES, plain_python
from arena.players.sandbox.tiers import OPEN, Sandbox
from arena.players.timekeeper import Meter, family, has_pipe_open

THREADS = 2 * PROCESSES
MAX_STDERR = 64 << 20
LIMITS = {"RLIMIT_CORE": 0, "RLIMIT_NOFILE": 256, "RLIMIT_FSIZE": MAX_STDERR, "threads": THREADS}
BUILD_LIMITS = {
    **LIMITS,
    "RLIMIT_NOFILE": 1024,
    "RLIMIT_FSIZE": 1 << 30,
    "disk_mb": 4096,
    "files_on_disk": 100_000,
}
MEMORY_MB = 1024
BUILD_MEMORY_MB = 4096
BUILD_TAIL = 2000
STDERR_TAIL = 8 * 1024
STDERR_KEPT = 1024 * 1024
STOP_S = 3.0
STEP_NS = 10_000_000
MAX_PAUSES = 8
"""How often a bot that resumes by itself is stopped before it is killed."""
MAX_ROUNDS = 50
"""How often the arena looks for new processes of a bot that it stops."""
MAX_NAPS = 20
NAP_S = 0.0005
AWAKE = (b"R", b"S", b"D")
"""The states of a process that is neither stopped nor ending."""
SIGNALLED = 128
"""What shells and bubblewrap add to a signal's number to make an exit status of it."""


EXCESSES = {
    "memory": "its processes used {} MB of memory: use less, or raise memory_mb in bot.toml",
    "processes": "it had {} processes: start fewer, or raise processes in bot.toml",
    "threads": f"its processes had {{}} threads, more than {THREADS}: start fewer",
    "disk": "its files took {} MB: write less",
    "files": "it had {} files: delete those it no longer needs",
    "uncounted": (
        "its processes used {} ms of CPU time that could not be counted: run only programs"
        " that they may read"
    ),
    "awake": (
        "its processes went on computing on another's turn, though they were stopped {} times:"
        " think only when asked, and end every process you start"
    ),
}
"""The reasons for which a bot is killed by its keeper or by `BotProcess.pause`, with their
sentences.
"""
UNWATCHED = (
    "was killed because the process that watches over it was killed: a bot must leave the arena's"
    " processes alone"
)


CURES = {
    errno.EAGAIN: "allow more processes with 'ulimit -u', or ask for fewer --jobs",
    **MACHINE_ERRORS,
}
"""What a user can do if this machine cannot start a process, by the error's number."""


class Ending(NamedTuple):
    """How a bot's process ended: an exit status, a signal's number, or the reason why it could not
    be started.

    ``unwatched``  something killed the keeper, which ends the bot, too
    ``excess``     the word of `EXCESSES` for which the bot was killed, and the amount that was too
                   much
    """

    exit: int | None = None
    signal: int | None = None
    failed: str = ""
    unwatched: bool = False
    excess: tuple[str, int] | None = None
    cpu_s: float = 0.0
    peak_kb: int = 0

    @property
    def use(self) -> str:
        """A text about the CPU time and memory that the process used, as far as known."""
        return f"{self.cpu_s:.2f} s of CPU time, at most {self.peak_kb >> 10} MB of memory"

    def __str__(self) -> str:
        if self.failed:
            return f"could not be started: {self.failed}"
        if self.excess:
            word, number = self.excess
            return "was killed because " + EXCESSES[word].format(number)
        if self.unwatched:
            return UNWATCHED
        if self.signal is not None:
            return f"was killed by {signal_name(self.signal)}"
        return f"exited with status {self.exit}"


class BotProcess:
    """A started bot. ``to_bot`` and ``from_bot`` are descriptors that the caller owns.
    ``processes`` 0 sets no limit to the number of processes. ``grants`` are what the bot may do
    beyond the sandbox.

    Raises Void if the machine cannot start another process, SandboxError for a grant that has
    changed.
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        sandbox: Sandbox = OPEN,
        memory_mb: int = MEMORY_MB,
        processes: int = 0,
        *,
        building: bool = False,
        grants: Grants = NO_GRANTS,
    ) -> None:
        self.grants = grants
        self._status_text = b""
        self._unwatched = False
        self._stderr_dropped = 0
        self._pauses = 0
        self._is_stopped = False
        self._sandbox = sandbox
        limits = {**(BUILD_LIMITS if building else LIMITS), "memory_mb": memory_mb}
        if processes:
            limits["processes"] = processes
        with ExitStack() as undo:
            self._resources = undo.enter_context(ExitStack())
            try:
                self._open(undo, command, folder, limits, building=building)
            except OSError as error:
                cure = CURES.get(error.errno or 0, "")
                raise Void(f"expected to start a process, got {error}", cure) from error
            undo.pop_all()  # the start has succeeded: `stop` closes the resources

    def _open(
        self,
        undo: ExitStack,
        command: Sequence[str],
        folder: Path,
        limits: dict[str, int],
        *,
        building: bool,
    ) -> None:
        """Start the keeper, which starts the bot. What `stop` has to end goes into the resources,
        the caller's descriptors into ``undo``. Raises OSError, SandboxError.
        """
        with ExitStack() as inherited:
            self._launch = self._sandbox.launch(
                command, folder, writable=building, grants=self.grants
            )
            inherited.callback(self._launch.close)
            self._resources.callback(self._launch.clear_up)
            self.stderr = self._resources.enter_context(tempfile.TemporaryFile())
            # It may be cut while the bot writes to it.
            fcntl.fcntl(self.stderr, fcntl.F_SETFL, os.O_APPEND)
            # The status pipe ends when the keeper does, which nobody but a bot wants.
            self._status, status_write = open_pipe(self._resources, inherited)
            os.set_blocking(self._status, False)
            # The lifeline ends when this process lets go of it, kill -9 included, and then the
            # keeper kills the bot. As a file it can be closed twice.
            lifeline_read, lifeline_write = os.pipe()
            inherited.callback(os.close, lifeline_read)
            self._lifeline = self._resources.enter_context(os.fdopen(lifeline_write, "wb", 0))
            stdin, self.to_bot = open_pipe(inherited, undo)
            self.from_bot, stdout = open_pipe(undo, inherited)
            adoption.begin()
            self._resources.callback(adoption.end)
            places = (self._launch.temporary, str(folder.resolve()) if building else None)
            words = [str(lifeline_read), str(status_write), self._limits_text(limits)]
            # Starting bots is what this is for.
            self._keeper = subprocess.Popen(  # noqa: S603
                [*plain_python(keeper), *words, *filter(None, places), "--", *self._launch.command],
                cwd=folder,
                env=self._launch.environment,
                stdin=stdin,
                stdout=stdout,
                stderr=self.stderr,
                pass_fds=(lifeline_read, status_write, *self._launch.descriptors),
                start_new_session=True,
            )
        adoption.keepers.add(self._keeper.pid)
        self._resources.callback(self._end_keeper)
        self.meter = Meter(self._keeper.pid, self._words)
        self._resources.callback(self.meter.close)

    def _limits_text(self, limits: dict[str, int]) -> str:
        """The limits of the bot and those of its sandbox tier, as the keeper reads them."""
        merged = {**self._launch.limits, **limits}
        if "processes" in limits:
            merged["processes"] += self._launch.processes
        return ",".join(f"{name}={number}" for name, number in merged.items())

    def ending(self, wait_s: float = 0.0) -> Ending | None:
        """How the bot ended, after waiting up to ``wait_s`` seconds for it; None if it
        still runs.
        """
        deadline = time.monotonic() + wait_s
        while True:
            endings = filter(None, map(self._ending_of, self._told()))
            ending = next(endings, None)
            if ending:
                is_awake = self._pauses > MAX_PAUSES
                return ending._replace(excess=("awake", MAX_PAUSES)) if is_awake else ending
            if self._unwatched:
                return Ending(signal=signal.SIGKILL, unwatched=True)
            if time.monotonic() >= deadline:
                return None
            time.sleep(0.002)

    def _ending_of(self, line: str) -> Ending | None:
        """The ending that a line of the keeper reports; bubblewrap reports a signal as status 128
        plus its number.
        """
        word, _, details = line.partition(" ")
        if word == "failed":
            return Ending(failed=details)
        if word in EXCESSES:
            of_sandbox = self._launch.processes if word == "processes" else 0
            return Ending(signal=signal.SIGKILL, excess=(word, int(details) - of_sandbox))
        if word not in ("exit", "signal"):
            return None
        number, cpu_s, peak_kb = details.split()
        status, killer = (int(number), None) if word == "exit" else (None, int(number))
        if status and status > SIGNALLED and self._sandbox.tier == "bubblewrap":
            killer = status - SIGNALLED
            status = None
        return Ending(status, killer, cpu_s=float(cpu_s), peak_kb=int(peak_kb))

    def pause(self) -> None:
        """Stops all the bot's processes until `go_on`. A bot whose processes resume again and again
        is killed.
        """
        # A process in a long system call runs until the call ends, which is no fault of the bot.
        self._pauses += self._is_stopped or not self._pauses
        number = signal.SIGSTOP if self._pauses <= MAX_PAUSES else signal.SIGKILL
        sent = list[int]()
        self._is_stopped = True
        # A process that was sent a signal starts no further ones.
        for _ in range(MAX_ROUNDS):
            new = [pid for pid in self._tree() if pid not in sent]
            if not new:
                return
            # Parents are stopped first: a shell that saw its child stop would end.
            for pid in new:
                self._is_stopped &= _stop(pid, number)
            sent += new

    def go_on(self) -> None:
        """Lets the bot's processes run again if they were stopped, each before its parent."""
        if 0 < self._pauses <= MAX_PAUSES:
            self._pauses = 0
            for pid in reversed(self._tree()):
                _send(pid, signal.SIGCONT)

    def _tree(self) -> list[int]:
        """The ids of the bot's processes, including those of the sandbox."""
        return family(self._keeper.pid)[1:]

    def stderr_tail(self) -> str:
        """The last 8 KiB of the bot's stderr, without the values of its granted variables."""
        if self.stderr.closed:
            return ""
        size = self.stderr_size()
        tail = os.pread(self.stderr.fileno(), STDERR_TAIL, max(0, size - STDERR_TAIL))
        if self.grants.env and size > STDERR_TAIL:
            # The first line is dropped: it may begin inside a value, which would not be found.
            tail = tail.partition(b"\n")[2]
        return self.grants.hidden(tail).decode(errors="replace")

    def has_output_open(self) -> bool:
        """Whether a process of the bot still holds its end of stdout open; True if that cannot be
        found out.
        """
        tree = self._tree()
        return not tree or has_pipe_open(tree, self.from_bot)

    def stderr_from(self, offset: int, most: int) -> bytes:
        """At most ``most`` bytes of the bot's stderr file, from byte ``offset`` on."""
        return b"" if self.stderr.closed else os.pread(self.stderr.fileno(), most, offset)

    def stderr_size(self) -> int:
        """The number of bytes in the bot's stderr file."""
        return 0 if self.stderr.closed else os.fstat(self.stderr.fileno()).st_size

    def stderr_written(self) -> int:
        """The number of bytes that the bot wrote to stderr, including those no longer kept."""
        return self._stderr_dropped + self.stderr_size()

    def trim_stderr(self) -> None:
        """Shortens a long stderr file to its tail: the limit on its size is per game, not per
        process.
        """
        if self.stderr_size() > STDERR_KEPT:
            tail = self.stderr_tail().encode()
            self._stderr_dropped += self.stderr_size() - len(tail)
            self.stderr.truncate(0)
            os.write(self.stderr.fileno(), tail)

    def memory_mb(self) -> int:
        """The MB of memory of the bot's processes that no file backs."""
        tree = self._tree()
        return sum(shared_fairly(pid, figures_of(pid)[0]) for pid in tree) >> 10

    def stderr_is_full(self) -> bool:
        """Whether the bot's stderr has reached its size limit, so that the bot cannot
        write more.
        """
        return self.stderr_size() >= MAX_STDERR

    def stop(self) -> None:
        """Kills the bot and all that it started, and waits until they have ended. Calling it again
        does nothing.
        """
        self._resources.close()

    def _end_keeper(self) -> None:
        """Closes the lifeline, so that the keeper kills the bot, and waits for the end of both."""
        self._lifeline.close()
        try:
            self._keeper.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._keeper.kill()
            self._keeper.wait()
        adoption.keepers.discard(self._keeper.pid)
        if self._keeper.returncode:  # the keeper was killed, so the bot may still live
            session = self._words().get("started")
            kill_orphans(self._keeper.pid, int(session) if session else None)

    def _told(self) -> list[str]:
        """The lines that the keeper has reported so far."""
        with contextlib.suppress(BlockingIOError):
            text = os.read(self._status, 4096)
            self._status_text += text
            self._unwatched = not text
        return self._status_text.decode(errors="replace").splitlines()

    def _words(self) -> dict[str, str]:
        """The lines that the keeper has reported, by their first word; each value is the rest of
        the line.
        """
        return {
            word: details for word, _, details in (line.partition(" ") for line in self._told())
        }


def open_pipe(closes_read: ExitStack, closes_write: ExitStack) -> tuple[int, int]:
    """The two ends of a new pipe, each with the stack that closes it."""
    read, write = os.pipe()
    closes_read.callback(os.close, read)
    closes_write.callback(os.close, write)
    return read, write


def moments(span_ns: int) -> Iterator[int]:
    """Deadlines of short waits, one after another, until ``span_ns`` has passed. A step during
    which the whole machine stood still counts as two steps at most.
    """
    while span_ns > 0:
        began_ns = time.monotonic_ns()
        yield began_ns + STEP_NS
        span_ns -= min(time.monotonic_ns() - began_ns, 2 * STEP_NS)


def ending_within(process: BotProcess, span_ns: int) -> Ending | None:
    """How the bot ends within ``span_ns``; None if it goes on."""
    waits_s = ((moment - time.monotonic_ns()) / 1e9 for moment in moments(span_ns))
    return next(filter(None, map(process.ending, waits_s)), None)


def run_build(
    command: Sequence[str], folder: Path, sandbox: Sandbox, seconds: float
) -> tuple[Ending | None, str]:
    """Runs a build step. Returns how it ended (None if it took too long) and the end of
    its output.
    """
    deadline = time.monotonic() + seconds
    tail = b""
    process = BotProcess(command, folder, sandbox, BUILD_MEMORY_MB, building=True)
    try:
        os.close(process.to_bot)
        while select.select([process.from_bot], [], [], max(0.0, deadline - time.monotonic()))[0]:
            chunk = os.read(process.from_bot, 65536)
            tail = (tail + chunk)[-BUILD_TAIL:]
            if not chunk:
                break
        ending = process.ending(max(0.0, deadline - time.monotonic()))
        return ending, (tail.decode(errors="replace") + process.stderr_tail())[-BUILD_TAIL:].strip()
    finally:
        os.close(process.from_bot)
        process.stop()


def _send(pid: int, number: int) -> None:
    """Sends a signal to a process that may have ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _stop(pid: int, number: int) -> bool:
    """Sends a signal that stops or ends a process, waits a little, and returns whether the process
    has stopped or ended.
    """
    _send(pid, number)
    for _ in range(MAX_NAPS):
        fields = stat_of(pid)
        if not fields or fields[0] not in AWAKE:
            return True
        time.sleep(NAP_S)
    return False


def signal_name(number: int) -> str:
    """The number and name of a signal: ``signal 11 (SIGSEGV)``."""
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"
