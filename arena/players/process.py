"""The process of one bot under its keeper, in a session of its own. It is killed together with
everything it started.
"""

import errno
import fcntl
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from signal import SIGKILL

from arena.errors import MACHINE_ERRORS, Void
from arena.players.endings import THREADS, Ending
from arena.players.keeper_client import KeeperClient, output_chunks
from arena.players.meter import Meter
from arena.players.processes import family, has_pipe_open
from arena.players.sandbox.grants import NO_GRANTS, Grants
from arena.players.sandbox.tiers import OPEN, Sandbox
from arena.players.usage import memory_kb

MAX_STDERR = 64 << 20
MIN_ROOM = 1 << 16
"""The free bytes below which the file system with the stderr files counts as full."""
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
STEP_NS = 10_000_000
MAX_WAKINGS = 3
"""In how many turns of others a bot may wake up before it is stopped after each answer."""
MAX_PAUSES = 8
"""How often a bot that resumes by itself is stopped before it is killed."""

CURES = {
    errno.EAGAIN: "allow more processes with 'ulimit -u', or ask for fewer --jobs",
    **MACHINE_ERRORS,
}
"""What a user can do if this machine cannot start a process, by the error's number."""


class BotProcess:
    """A started bot. ``to_bot`` and ``from_bot`` are the arena's ends of its pipes, descriptors
    that the caller closes. ``processes`` is the most processes that it may have, 0 for no limit;
    ``memory_mb`` is the most memory of all together, in MB. ``building`` gives it the limits of a
    build, and lets it write to its folder. ``grants`` are what the bot may do beyond the sandbox,
    and ``programs`` the programs of the system that it may run beside those that its command names.

    Raises Void if the machine cannot start another process, SandboxError if the sandbox cannot be
    made or a grant has changed.
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
        programs: Sequence[str] = (),
    ) -> None:
        self.grants = grants
        self._programs = programs
        self._stderr_dropped = 0
        self.is_paused = False
        """Whether the bot is stopped until `go_on`."""
        self._restarts = 0
        self._was_awake = False
        self.is_suspect = False
        """Whether the bot has computed while another bot was asked."""
        self.wakings = 0
        """In how many turns of others it did so for moments, until it was stopped."""
        limits = {**(BUILD_LIMITS if building else LIMITS), "memory_mb": memory_mb}
        if processes:
            limits["processes"] = processes
        with ExitStack() as undo:
            self._resources = undo.enter_context(ExitStack())
            try:
                self._open(undo, command, folder, sandbox, limits, building=building)
            except OSError as error:
                cure = CURES.get(error.errno or 0, "")
                raise Void(f"this machine could not start a process: {error}", cure) from error
            undo.pop_all()  # the start has succeeded: `stop` closes the resources

    def _open(
        self,
        undo: ExitStack,
        command: Sequence[str],
        folder: Path,
        sandbox: Sandbox,
        limits: dict[str, int],
        *,
        building: bool,
    ) -> None:
        """Starts the keeper, which starts the bot. What `stop` has to end is entered into the
        resources, and the descriptors of the caller into ``undo``. Raises OSError, SandboxError.
        """
        occupy_standard_streams()
        with ExitStack() as inherited:
            self._launch = sandbox.launch(
                command, folder, writable=building, grants=self.grants, programs=self._programs
            )
            inherited.callback(self._launch.close)
            self._resources.callback(self._launch.clear_up)
            bots_stderr = inherited.enter_context(tempfile.TemporaryFile())
            # The arena opens the file once more, because a bot can set the flags of what it shares
            # with the arena, for example O_DIRECT, with which the arena's reads would fail.
            place = Path(f"/dev/fd/{bots_stderr.fileno()}")
            self.stderr = self._resources.enter_context(place.open("r+b", buffering=0))
            # The file may be cut while the bot writes to it.
            for each in (bots_stderr, self.stderr):
                fcntl.fcntl(each, fcntl.F_SETFL, os.O_APPEND)
            stdin, self.to_bot = open_pipe(inherited, undo)
            self.from_bot, stdout = open_pipe(undo, inherited)
            words = [f"{name}={number}" for name, number in limits.items()]
            self.keeper = KeeperClient(self._launch, words, folder, stdin, stdout, bots_stderr)
        self._resources.callback(self.keeper.close)
        self.meter = Meter(self.keeper)

    def ending(self, wait_s: float = 0.0) -> Ending | None:
        """How the bot ended, after waiting up to ``wait_s`` seconds for it; None if it
        still runs.
        """
        deadline = time.monotonic() + wait_s
        while True:
            self.keeper.read()
            ending = self.keeper.ending
            if ending and self._was_awake:
                return ending._replace(excess=("awake", MAX_PAUSES))
            if ending:
                return ending._replace(unstarted=not self.keeper.started)
            if self.keeper.has_ended:
                return self._ending_without_report()
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                return None
            self.keeper.wait(left_s)

    def _ending_without_report(self) -> Ending:
        """The ending of a bot whose keeper has ended without a report: before the bot was started,
        because the sandbox could not be made, or later, because something killed the keeper.
        """
        if self.keeper.started:
            return Ending(signal=SIGKILL, unwatched=True)
        lines = self.stderr_tail().strip().splitlines()
        if lines:
            return Ending(failed=lines[-1])
        return Ending(failed="the process that starts it was killed", unstarted=True)

    def pause(self) -> None:
        """Pauses all the bot's processes until `go_on`. A bot that is paused already, but computes
        all the same, is killed at the ninth time.
        """
        self._restarts += self.is_paused
        self.is_paused = True
        if self._restarts > MAX_PAUSES:
            self._was_awake = True
            self.keeper.kill_bot()
        else:
            self.keeper.stop_bot(at_once=self.is_suspect)

    @property
    def may_compute(self) -> bool:
        """Whether the bot may compute after its answer: it has done so, for moments in more
        than `MAX_WAKINGS` turns, or the keeper saw more than one process or thread.
        """
        return self.is_suspect or self.wakings > MAX_WAKINGS or self.keeper.has_many

    def go_on(self) -> None:
        """Lets the bot's processes run again if they were paused."""
        if self.is_paused:
            self.is_paused = False
            self._restarts = 0
            self.keeper.resume_bot()

    def processes(self) -> list[int]:
        """The ids of the bot's processes."""
        return family(self.keeper.process.pid)[self.keeper.helpers :]

    def stderr_tail(self) -> str:
        """The last 8 KiB of the bot's stderr, without the values of its granted variables; empty
        after `stop`.
        """
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
        tree = self.processes()
        return not tree or has_pipe_open(tree, self.from_bot)

    def stderr_from(self, offset: int, most: int) -> bytes:
        """At most ``most`` bytes of the bot's stderr file, from byte ``offset`` on; empty after
        `stop`. The values of its granted variables are not hidden.
        """
        return b"" if self.stderr.closed else os.pread(self.stderr.fileno(), most, offset)

    def stderr_size(self) -> int:
        """The number of bytes in the bot's stderr file; 0 after `stop`."""
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
        return memory_kb(self.processes()) >> 10

    def stderr_is_full(self) -> bool:
        """Whether the bot's stderr has reached its size limit, so that the bot cannot
        write more.
        """
        return self.stderr_size() >= MAX_STDERR

    def check_room(self) -> None:
        """Raises Void if the file system with the bot's stderr file is full, and not by that file:
        a bot that can write no more may crash. Call it before `stop`.
        """
        room = os.fstatvfs(self.stderr.fileno())
        free = room.f_bavail if os.geteuid() else room.f_bfree
        is_full = room.f_blocks and free * room.f_frsize < MIN_ROOM  # 0 blocks mean no limit
        if is_full and self.stderr_size() <= STDERR_KEPT:
            raise Void(
                f"{tempfile.gettempdir()}, where the stderr of bots is kept, is full",
                "make room there, or name another folder in TMPDIR",
            )

    def stop(self) -> None:
        """Kills the bot and all that it started, and waits until they have ended. Calling it again
        does nothing.
        """
        self._resources.close()


def occupy_standard_streams() -> None:
    """Opens /dev/null in the place of each standard stream that is closed in this process. A pipe
    to a bot that got the number of one would be replaced when the keeper is started. Raises
    OSError.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it gets the lowest free number, which is this one


def open_pipe(closes_read: ExitStack, closes_write: ExitStack) -> tuple[int, int]:
    """The two ends of a new pipe, the one to read from and the one to write to. The two stacks
    close them.
    """
    read, write = os.pipe()
    closes_read.callback(os.close, read)
    closes_write.callback(os.close, write)
    return read, write


def moments(span_ns: int) -> Iterator[int]:
    """Divides a wait of ``span_ns`` ns into short waits, and yields the deadline of each on the
    monotonic clock. If the whole machine stands still during a short wait, at most twice its length
    counts, so that the bot gets its time all the same.
    """
    while span_ns > 0:
        began_ns = time.monotonic_ns()
        yield began_ns + STEP_NS
        span_ns -= min(time.monotonic_ns() - began_ns, 2 * STEP_NS)


def ending_within(process: BotProcess, span_ns: int) -> Ending | None:
    """Waits up to ``span_ns`` by the wall clock for the bot to end by itself. Returns how it ended;
    None if it still runs. A time in which the whole machine stood still hardly counts (see
    `moments`).
    """
    for moment in moments(span_ns):
        ending = process.ending((moment - time.monotonic_ns()) / 1e9)
        if ending:
            return ending
    return None


def check_started(ending: Ending | None, name: str) -> None:
    """Raises Void, with this ``name`` for the process that ended, if it was never started for a
    reason outside it.
    """
    if ending and ending.unstarted:
        raise Void(
            f"{name} {ending}",
            "look for what kills processes on this machine or limits their number",
        )


def run_build(
    command: Sequence[str], folder: Path, sandbox: Sandbox, seconds: float
) -> tuple[Ending | None, str]:
    """Runs a build step for at most ``seconds``. Returns how it ended (None if it took too long)
    and the end of its output, stdout and then stderr. Raises Void or SandboxError if the machine
    cannot start it.
    """
    deadline = time.monotonic() + seconds
    tail = b""
    process = BotProcess(command, folder, sandbox, BUILD_MEMORY_MB, building=True)
    try:
        os.close(process.to_bot)
        for chunk in output_chunks(process.from_bot, deadline):
            tail = (tail + chunk)[-BUILD_TAIL:]
        ending = process.ending(max(0.0, deadline - time.monotonic()))
        check_started(ending, "a build step")
        return ending, (tail.decode(errors="replace") + process.stderr_tail())[-BUILD_TAIL:].strip()
    finally:
        os.close(process.from_bot)
        process.stop()
