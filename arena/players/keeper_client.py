"""The arena's side of a keeper, which is the parent of one bot: the client starts the keeper, reads
what it reports, has it pause and resume the bot, and ends it.

The keeper is a C program, `native/keeper.c`. Where the arena was installed without a C compiler,
its Python twin `arena.players.keeper` does the same. The environment variable ``ARENA_KEEPER``
forces one of the two, see `keeper_command`.
"""

import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Literal

from arena.errors import UserError, check_variable
from arena.players.endings import Ending, reported_ending
from arena.players.orphans import adoption, kill_orphans
from arena.players.processes import read_file
from arena.players.sandbox.launch import Launch
from arena.players.sandbox.readable import PACKAGE

NATIVE = Path(__file__).parent / "native" / "keeper"
"""The keeper in C, which exists if the arena was installed with a compiler."""
RUN_PYTHON = (
    "import sys\nsys.path.append(sys.argv.pop(1))\n"
    "from arena.players.keeper import main\nraise SystemExit(main())"
)
"""A program that runs the keeper in Python from the folder that is its first argument."""
STOP_S = 3.0
"""How many seconds a keeper may take to end its bot."""
PAUSE_S = 30.0
"""How many seconds a keeper may take to stop its bot on a machine that stands still. Then the
keeper is killed, and with it the bot.
"""
SOCKET_KB = 208
"""The memory that a socket is counted with, which is what it holds when full: the kernel does not
say how much it holds now.
"""
CHUNK = 1 << 16
CLOSE_ON_EXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
Language = Literal["python", "native"]


@cache
def keeper_command() -> list[str]:
    """The start of the command that runs a keeper. The environment variable ``ARENA_KEEPER`` is
    ``native`` for the C program, ``python`` for its twin, and empty or not set for C where it was
    built, else Python. Raises UserError for another value, and for ``native`` if that was not
    built.
    """
    wanted = os.environ.get("ARENA_KEEPER", "")
    check_variable("ARENA_KEEPER", wanted, ["python", "native"])
    has_native = os.access(NATIVE, os.X_OK)
    if wanted == "native" and not has_native:
        raise UserError(
            "ARENA_KEEPER asks for the native keeper, but the arena was installed without a C"
            " compiler",
            "install a C compiler and run 'pip install .' again, or unset ARENA_KEEPER",
        )
    if has_native and wanted != "python":
        return [str(NATIVE)]
    return [sys.executable, "-I", "-S", "-c", RUN_PYTHON, str(PACKAGE.parent)]


@cache
def socket_kb() -> int:
    """The memory in kB that a socket may hold on this machine."""
    return max(SOCKET_KB, int(read_file("/proc/sys/net/core/wmem_default") or 0) >> 10)


@cache
def machine_proc() -> int:
    """A descriptor of /proc, through which a keeper can write there although its sandbox has a
    read-only one; -1 where there is no /proc.
    """
    try:
        return os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return -1


def is_readable(descriptor: int, seconds: float) -> bool:
    """Waits, for at most this number of seconds, until there is something to read from the
    descriptor, or it has ended. Returns whether that is so.
    """
    poll = select.poll()  # select() refuses descriptors from 1,024 on
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(max(0.0, seconds) * 1000))


def output_chunks(descriptor: int, deadline: float) -> Iterator[bytes]:
    """Yields what can be read from the pipe of the file ``descriptor``, piece by piece, until the
    pipe ends, or until ``deadline`` in seconds on the clock of `time.monotonic`.
    """
    while is_readable(descriptor, deadline - time.monotonic()):
        chunk = os.read(descriptor, CHUNK)
        if not chunk:
            return
        yield chunk


class KeeperClient:
    """A started keeper and what it has reported.

    ``process``    what the arena started: the keeper, or the bubblewrap around it
    ``helpers``    the number of processes from there to the bot that are not the bot's
    ``counter``    a descriptor from which the CPU time of the bot can be read, -1 if there is none
    ``lines``      what the keeper has reported so far, see native/keeper.c
    ``has_many``   whether the bot was seen with more than one process or thread, or with memory
                   that takes long to count
    ``has_ended``  whether the keeper does not exist any more
    """

    def __init__(
        self,
        launch: Launch,
        limits: Sequence[str],
        folder: Path,
        stdin: int,
        stdout: int,
        stderr: IO[bytes] | int,
    ) -> None:
        """Starts a keeper for the command of ``launch``, with more ``limits`` as options of the
        keeper. The bot gets copies of ``stdin``, ``stdout`` and ``stderr``. Raises OSError.
        """
        self.helpers = 2 if launch.wrapper else 1
        self.counter = -1
        self.has_many = False
        self.has_ended = False
        self.lines: list[str] = []
        self._text = b""
        self._stops = self._stops_wanted = 0
        self._socket, theirs = socket.socketpair()
        # a killed keeper leaves orphans only where no namespace ends with it
        self._may_leave_orphans = not launch.wrapper
        if self._may_leave_orphans:
            adoption.begin()
        try:
            self._socket.setblocking(False)  # noqa: FBT003 - it takes no keyword
            proc = machine_proc()
            options = [
                f"input={stdin}",
                f"output={stdout}",
                f"machine_proc={proc}",
                f"socket_kb={socket_kb()}",
                *launch.options,
                *limits,
            ]
            control = theirs.fileno()
            descriptors = [control, stdin, stdout, *launch.descriptors]
            if proc >= 0:
                descriptors.append(proc)
            # Starting bots is what this is for.
            self.process = subprocess.Popen(  # noqa: S603
                [*launch.wrapper, *keeper_command(), str(control), *options, "--", *launch.command],
                cwd=folder,
                env=launch.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                pass_fds=descriptors,
                start_new_session=True,
            )
        except BaseException:
            self._socket.close()
            if self._may_leave_orphans:
                adoption.end()
            raise
        finally:
            theirs.close()
        adoption.keepers.add(self.process.pid)

    def read(self) -> None:
        """Reads what the keeper has reported since the last call, and updates ``lines`` and the
        other attributes. Does not wait.
        """
        while not self.has_ended:
            try:
                text, descriptors, _, _ = socket.recv_fds(self._socket, 4096, 1, CLOSE_ON_EXEC)
            except BlockingIOError:
                return
            except OSError:
                text = b""
                descriptors = []
            self.counter = descriptors[0] if descriptors else self.counter
            self.has_ended = not text
            *lines, self._text = (self._text + text).split(b"\n")
            for line in lines:
                if line == b"stopped":
                    self._stops += 1
                    continue
                if line == b"many":
                    self.has_many = True
                self.lines.append(line.decode(errors="replace"))

    def wait(self, seconds: float) -> None:
        """Waits, for at most this number of seconds, until the keeper reports something, and reads
        that.
        """
        if self.has_ended or is_readable(self._socket.fileno(), seconds):
            self.read()

    @property
    def started(self) -> str:
        """The process id, as text, of the bot's first process as the keeper knows it; empty before
        it exists.
        """
        for line in self.lines:
            if line.startswith("started "):
                return line.split()[1]
        return ""

    @property
    def ending(self) -> Ending | None:
        """How the bot ended, or why it could not be started; None if the keeper has reported
        neither.
        """
        return next(filter(None, map(reported_ending, self.lines)), None)

    def stop_bot(self, *, at_once: bool) -> None:
        """Has the keeper pause all processes of the bot, and waits until they are. With ``at_once``
        they are paused in any order; without, the first process before its children, because a
        shell that saw its child stop would end. A keeper that does not do it within `PAUSE_S`
        seconds is killed, and the bot with it.
        """
        self._stops_wanted += 1
        with suppress(OSError):
            self._socket.send(b"S" if at_once else b"s")
        deadline = time.monotonic() + PAUSE_S
        while self._stops < self._stops_wanted and not self.has_ended:
            if time.monotonic() > deadline:
                self._kill()
                return
            self.wait(deadline - time.monotonic())

    def resume_bot(self) -> None:
        """Has the keeper let all processes of the bot go on."""
        with suppress(OSError):
            self._socket.send(b"g")

    def kill_bot(self) -> None:
        """Has the keeper kill all processes of the bot; it then reports the bot's end."""
        with suppress(OSError):
            self._socket.send(b"k")

    def _kill(self) -> None:
        """Kills the keeper, and the bubblewrap around it."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Closes the control socket, so that the keeper kills the bot, and waits for the end of
        both.
        """
        self.read()  # the counter, if nobody has asked for it yet, has to be closed, too
        self._socket.close()
        self.has_ended = True
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._kill()
            self.process.wait()
        adoption.keepers.discard(self.process.pid)
        if self.counter >= 0:
            os.close(self.counter)
            self.counter = -1
        if not self._may_leave_orphans:
            return
        if self.process.returncode:  # the keeper was killed, so the bot may still live
            kill_orphans(self.process.pid, int(self.started) if self.started else None)
        adoption.end()
