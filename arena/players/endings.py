"""How a bot's process ends, and how the arena says so."""

import signal
from typing import NamedTuple

from arena.players.sandbox.launch import PROCESSES

THREADS = 2 * PROCESSES
"""The most threads that all processes of a bot may have."""
EXCESSES = {
    "memory": "its processes used {} MB of memory: use less, or raise memory_mb in bot.toml",
    "shared": "one of its processes had {} MB of shared memory mapped: map each part once",
    "processes": "it had {} processes: start fewer, or raise processes in bot.toml",
    "threads": f"its processes had {{}} threads, more than {THREADS}: start fewer",
    "mappings": "its processes had {} mappings of memory: map fewer, larger areas",
    "open": "its processes had {} open files: close those they no longer need",
    "watches": "its processes could have {} watches of epoll: use fewer epolls and open files",
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


class Ending(NamedTuple):
    """How a bot's process ended: an exit status (``exit``), a signal's number, or the reason why it
    could not be started (``failed``). Those that do not apply are None or empty.

    ``unwatched``  something killed the keeper, which ends the bot, too
    ``unstarted``  something outside the bot ended its keeper, or refused it another process, before
                   the bot had started; ``failed`` has the reason
    ``excess``     the word of `EXCESSES` for which the bot was killed, and the amount that was too
                   much
    ``cpu_s``      the CPU time of the process in s; 0 if not known
    ``peak_kb``    the most memory that it had, in kB; 0 if not known
    """

    exit: int | None = None
    signal: int | None = None
    failed: str = ""
    unwatched: bool = False
    unstarted: bool = False
    excess: tuple[str, int] | None = None
    cpu_s: float = 0.0
    peak_kb: int = 0

    @property
    def use(self) -> str:
        """A text about the CPU time and memory that the process used; both are 0 if not known."""
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


def reported_ending(line: str) -> Ending | None:
    """The ending that a line of the keeper reports; None if the line reports something else."""
    word, _, details = line.partition(" ")
    if word == "failed":
        return Ending(failed=details)
    if word in EXCESSES:
        return Ending(signal=signal.SIGKILL, excess=(word, int(details)))
    if word not in ("exit", "signal"):
        return None
    number, cpu_s, peak_kb = details.split()
    status, killer = (int(number), None) if word == "exit" else (None, int(number))
    return Ending(status, killer, cpu_s=float(cpu_s), peak_kb=int(peak_kb))


def signal_name(number: int) -> str:
    """The number of a signal with its name, if it has one: ``signal 11 (SIGSEGV)``."""
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"
