"""One bot process under its keeper: started in its own session, with limited output, and killed
with everything it started.
"""

import contextlib
import ctypes
import fcntl
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from arena.errors import Void
from arena.players.holdings import figures_of, shared_fairly
from arena.players.keeper import SUBREAPER, children
from arena.players.sandbox.grants import NO_GRANTS, Grants
from arena.players.sandbox.launch import PROCESSES
from arena.players.sandbox.tiers import OPEN, Sandbox
from arena.players.usage import Meter, family, has_pipe_open, wants_processor

THREADS = 2 * PROCESSES
LIMITS = {"core": 0, "files": 256, "file_bytes": 64 << 20, "threads": THREADS}
BUILD_LIMITS = {
    "core": 0,
    "files": 1024,
    "file_bytes": 1 << 30,
    "threads": THREADS,
    "disk_mb": 4096,
    "disk_files": 100_000,
}
MEMORY_MB, BUILD_MEMORY_MB = 1024, 4096
BUILD_TAIL = 2000
STDERR_TAIL = 8 * 1024
STDERR_KEPT = 1024 * 1024
STOP_S = 3.0
SIGNALLED = 128
"""What shells and bubblewrap add to a signal's number to turn it into an exit status."""


EXCESSES = {
    "memory": "its processes used {} MB of memory: use less, or raise memory_mb in bot.toml",
    "processes": "it had {} processes: start fewer, or raise processes in bot.toml",
    "threads": f"its processes had {{}} threads, more than {THREADS}: start fewer",
    "disk": "its files took {} MB: write less",
    "files": "it had {} files: delete those it no longer needs",
    "uncounted": (
        "its processes used {} ms of processor time that could not be counted: run only programs"
        " that they may read"
    ),
    "unseen": (
        "its process {} ignores SIGCHLD, so that processor time of its children could not be"
        " counted: wait for them"
    ),
}
"""What the keeper kills a bot for."""


class Ending(NamedTuple):
    """How a bot's process ended: an exit status, a signal's number, or the reason why it could not
    be started.

    ``unwatched`` means that something killed its keeper, which ends the bot too. ``excess`` is what
    its processes were killed for: a word of `EXCESSES`, and how much it was.
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
        """The processor time and memory of the process, as far as known."""
        return f"{self.cpu_s:.2f} s of processor time, at most {self.peak_kb >> 10} MB of memory"

    def __str__(self) -> str:
        if self.failed:
            return f"could not be started: {self.failed}"
        if self.excess:
            word, number = self.excess
            return "was killed because " + EXCESSES[word].format(number)
        if self.unwatched:
            return (
                "was killed because the process that watches over it was killed: a bot must leave"
                " the arena's processes alone"
            )
        if self.signal is not None:
            return f"was killed by {signal_name(self.signal)}"
        return f"exited with status {self.exit}"


class BotProcess:
    """A started bot. ``to_bot`` and ``from_bot`` are descriptors that the caller owns.
    ``processes`` 0 sets no limit to their number. ``grants`` are what it may do beyond the sandbox.

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
        self._grants = grants
        self._status_text = b""
        self._unwatched = False
        self._stderr_dropped = 0
        self._sandbox = sandbox
        self._launch = sandbox.launch(command, folder, writable=building, grants=grants)
        self._stderr = _appended_file()
        # The lifeline ends when this process lets go of it, kill -9 included, and then the keeper
        # kills the bot. The status pipe ends when the keeper does, which nobody but a bot wants.
        lifeline_read, self._lifeline = os.pipe()
        self._status, status_write = os.pipe()
        os.set_blocking(self._status, False)
        limits = {**self._launch.limits, **(BUILD_LIMITS if building else LIMITS)}
        limits["memory_mb"] = memory_mb
        if processes:
            limits["processes"] = processes + self._launch.processes
        places = (self._launch.temporary, str(folder.resolve()) if building else None)
        watched = [place for place in places if place]
        keeper_command = _keeper_command(lifeline_read, status_write, limits, watched)
        try:
            self._keeper = self._start(keeper_command, folder, (lifeline_read, status_write))
        except OSError as error:
            os.close(self._lifeline)
            os.close(self._status)
            self._stderr.close()
            self._launch.clear_up()
            raise Void(f"expected to start a process, got {error}") from error
        finally:
            os.close(lifeline_read)
            os.close(status_write)
            self._launch.close()
        assert self._keeper.stdin is not None
        assert self._keeper.stdout is not None
        # Copies, which the caller may close when it likes: the originals belong to Popen's files.
        self.to_bot = os.dup(self._keeper.stdin.fileno())
        self.from_bot = os.dup(self._keeper.stdout.fileno())
        self._keeper.stdin.close()
        self._keeper.stdout.close()
        self._stopped = False
        self._meter: Meter | None = None
        _keepers.add(self._keeper.pid)

    def _start(
        self, keeper_command: Sequence[str], folder: Path, descriptors: Sequence[int]
    ) -> subprocess.Popen[bytes]:
        # Starting bots is what this is for.
        return subprocess.Popen(  # noqa: S603
            [*keeper_command, *self._launch.command],
            cwd=folder,
            env=self._launch.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            pass_fds=(*descriptors, *self._launch.descriptors),
            start_new_session=True,
        )

    def ending(self, wait_s: float = 0.0) -> Ending | None:
        """How the bot ended, after waiting up to ``wait_s``; None if it is still running."""
        deadline = time.monotonic() + wait_s
        while True:
            self._read_status()
            for line in self._status_text.decode(errors="replace").splitlines():
                ending = self._ending_of(line)
                if ending:
                    return ending
            if self._unwatched:
                return Ending(signal=signal.SIGKILL, unwatched=True)
            if time.monotonic() >= deadline:
                return None
            time.sleep(0.002)

    def _ending_of(self, line: str) -> Ending | None:
        """The ending that a line from the keeper reports. In bubblewrap, a signal shows up as
        status 128 plus its number.
        """
        word, _, rest = line.partition(" ")
        if word == "failed":
            return Ending(failed=rest)
        if word in EXCESSES:
            return Ending(
                signal=signal.SIGKILL,
                excess=(word, int(rest) - (self._launch.processes if word == "processes" else 0)),
            )
        if word not in ("exit", "signal"):
            return None
        number, cpu_s, peak_kb = rest.split()
        status, killer = (int(number), None) if word == "exit" else (None, int(number))
        if status and status > SIGNALLED and self._sandbox.tier == "bubblewrap":
            killer, status = status - SIGNALLED, None
        return Ending(status, killer, cpu_s=float(cpu_s), peak_kb=int(peak_kb))

    def stderr_tail(self) -> str:
        """The last 8 KiB of what the bot wrote to stderr, without the values of its variables."""
        if self._stderr.closed:
            return ""
        size = self.stderr_size()
        tail = os.pread(self._stderr.fileno(), STDERR_TAIL, max(0, size - STDERR_TAIL))
        if self._grants.env and size > STDERR_TAIL:
            # Its first line may begin within a value, which would not be found.
            tail = tail.partition(b"\n")[2]
        return self.hidden(tail).decode(errors="replace")

    def used_ns(self) -> int:
        """The processor time of everything the bot has started; 0 while it is still starting."""
        meter = self._meter or self._new_meter()
        return meter.used_ns() if meter else 0

    @property
    def counts_exactly(self) -> bool:
        """Whether the kernel itself adds that up."""
        meter = self._meter or self._new_meter()
        return meter is not None and meter.is_exact

    @property
    def counter(self) -> int:
        """The descriptor from which the kernel's count of that can be read, -1 if there is none."""
        meter = self._meter or self._new_meter()
        return meter.counter if meter else -1

    def can_run(self) -> bool:
        """Whether the bot wants a processor now; True while it is still starting."""
        meter = self._meter or self._new_meter()
        return meter is None or meter.can_run()

    def main_can_run(self) -> bool:
        """The same of the main thread of the process that was started last: many times quicker."""
        meter = self._meter or self._new_meter()
        return meter is None or meter.main_can_run()

    def is_busy(self) -> bool:
        """Whether the bot or its keeper wants a processor now, so that more may come."""
        return wants_processor(family(self._keeper.pid))

    def _new_meter(self) -> Meter | None:
        """The meter, once the keeper has said that the bot is started."""
        self._read_status()
        words = dict(
            line.partition(" ")[::2]
            for line in self._status_text.decode(errors="replace").splitlines()
        )
        if "started" in words:
            counter = words.get("counter")
            self._meter = Meter(self._keeper.pid, None if counter is None else int(counter))
        return self._meter

    def has_output_open(self) -> bool:
        """Whether one of the bot's processes still holds its end of stdout; True if that cannot be
        found out.
        """
        tree = family(self._keeper.pid)[1:]
        return not tree or has_pipe_open(tree, self.from_bot)

    def hidden(self, said: bytes) -> bytes:
        """What the bot said without the values of the variables that it was granted."""
        return self._grants.hidden(said) if self._grants.env else said

    def begun(self, said: bytes) -> int:
        """How many bytes at the end may be the beginning of such a value."""
        return self._grants.begun(said) if self._grants.env else 0

    def stderr_copy(self) -> int:
        """A descriptor of the file with the bot's stderr, which the caller owns."""
        return os.dup(self._stderr.fileno())

    def stderr_size(self) -> int:
        """The number of stderr bytes kept."""
        return 0 if self._stderr.closed else os.fstat(self._stderr.fileno()).st_size

    def stderr_written(self) -> int:
        """The number of bytes written to stderr, including those no longer kept."""
        return self._stderr_dropped + self.stderr_size()

    def trim_stderr(self) -> None:
        """Drops all but the tail of a long stderr, so that its limit is per game and not for the
        life of the process.
        """
        if self.stderr_size() > STDERR_KEPT:
            tail = self.stderr_tail().encode()
            self._stderr_dropped += self.stderr_size() - len(tail)
            self._stderr.truncate(0)
            os.write(self._stderr.fileno(), tail)

    def memory_mb(self) -> int:
        """The memory of the bot's processes that is not backed by files."""
        return (
            sum(shared_fairly(pid, figures_of(pid)[0]) for pid in family(self._keeper.pid)[1:])
            >> 10
        )

    def stderr_is_full(self) -> bool:
        """Whether stderr has reached its size limit, so that the bot cannot write more to it."""
        return self.stderr_size() >= LIMITS["file_bytes"]

    def stop(self) -> None:
        """Kills the bot and everything it started, and waits until all of it is gone; calling it
        again does nothing.
        """
        if self._stopped:
            return
        self._stopped = True
        if self._meter:
            self._meter.close()
        os.close(self._lifeline)
        try:
            self._keeper.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._keeper.kill()
            self._keeper.wait()
        _keepers.discard(self._keeper.pid)
        if self._keeper.returncode:
            self._kill_without_keeper()
        os.close(self._status)
        self._stderr.close()
        self._launch.clear_up()

    def _kill_without_keeper(self) -> None:
        """Kills the bot after its keeper was killed: the bot's session is still known."""
        self._read_status()
        for line in self._status_text.decode(errors="replace").splitlines():
            if line.startswith("started "):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(int(line.split()[1]), signal.SIGKILL)
        _kill_adopted()

    def _read_status(self) -> None:
        with contextlib.suppress(BlockingIOError):
            text = os.read(self._status, 4096)
            self._status_text += text
            self._unwatched = not text


def run_build(
    command: Sequence[str], folder: Path, sandbox: Sandbox, seconds: float
) -> tuple[Ending | None, str]:
    """Runs a build step, which may write to the folder. Returns how it ended (None if it ran out of
    time) and its last output.
    """
    deadline, tail = time.monotonic() + seconds, b""
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


def _appended_file() -> IO[bytes]:
    """A temporary file that may be cut while another process writes to it."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
    fcntl.fcntl(file, fcntl.F_SETFL, os.O_APPEND)
    return file


def _keeper_command(
    lifeline: int, status: int, limits: Mapping[str, int], folders: Sequence[str]
) -> list[str]:
    script = str(Path(__file__).with_name("keeper.py"))
    pairs = ",".join(f"{name}={number}" for name, number in limits.items())
    return [sys.executable, "-I", "-S", script, str(lifeline), str(status), pairs, *folders, "--"]


_keepers: set[int] = set()
_adopts = False


def adopt_orphans() -> None:
    """From now on this process adopts whatever a killed keeper leaves behind, and `BotProcess.stop`
    kills it (Linux).

    Only for processes whose children are all keepers.
    """
    global _adopts  # noqa: PLW0603 - it is a property of the process
    if sys.platform == "linux":
        _adopts = ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0) == 0


def _kill_adopted() -> None:
    """Kills the children that are not keepers, generation by generation."""
    deadline = time.monotonic() + STOP_S
    while (
        _adopts
        and (orphans := [pid for pid in children() if pid not in _keepers])
        and time.monotonic() < deadline
    ):
        for pid in orphans:
            with contextlib.suppress(ProcessLookupError, PermissionError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def signal_name(number: int) -> str:
    """``signal 11 (SIGSEGV)``."""
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"
