"""The parent of one bot, in Python. It is the twin of native/keeper.c, which says what a keeper
does, what its arguments are, and which lines it exchanges with the arena. It keeps bots where the
arena was installed without a C compiler; then a bot takes longer to start.

This module imports little, because it delays every start: pathlib would double that.
"""

# The modules signal and socket load others, and all that is needed is in their parts written in C.
import _signal as signal  # type: ignore[import-not-found]
import ctypes
import os
import resource
import select
import struct
import sys
import time
from _socket import AF_UNIX, SCM_RIGHTS, SOCK_STREAM, SOL_SOCKET, socket

from arena.players.counter import count_processor_time
from arena.players.processes import bot_processes, children, has_lost_first_thread, is_init
from arena.players.sandbox import confine
from arena.players.stopping import KILL, kill_bot, now_ms, resume_bot, send, stop_bot, stop_first
from arena.players.usage import Watch

DEATH_SIGNAL = 1
DUMPABLE = 4
SUBREAPER = 36
MARK = "ARENA_KEEPER_PID"
"""The environment variable that tells a bot's processes apart: its value is the number of their
keeper, by which the arena finds them if the keeper is killed.
"""
PIPE = 13
FILE_SIZE = 25
CANNOT_START = 127
PATIENCE_S = 2.0
CROWD = 4
"""A bot with more processes than this is stopped while the keeper looks at them. Otherwise they
take the processor from the keeper, and it is late when the arena wants the bot stopped.
"""
MIN_LOOK_MS = 1
MAX_LOOK_MS = 280
"""The time between two looks is random, from MIN_LOOK_MS to MAX_LOOK_MS. A bot that knew when the
next look comes could hide from it, and it notices each look, which takes its processor away.
"""
SETTLE_MS = 50
"""How long the arena may take to stop a bot after the line ``many``. The next look, which may be
long, then comes on the bot's own turn.
"""


class KeeperOptions:
    """The arguments of the keeper, read from its command line ``CONTROL [NAME=VALUE]... --
    COMMAND...``, see native/keeper.c.

    ``numbers`` has the options that are one whole number, by name, and CONTROL as ``control``;
    ``words`` has the values of the options that may be repeated, ``allow`` and ``folder``;
    ``cores`` has the processors of the bot, none for those of the keeper; ``command`` is the bot's
    command.
    """

    def __init__(self, arguments: list[str]) -> None:
        end = arguments.index("--")
        self.command = arguments[end + 1 :]
        self.numbers: dict[str, int] = {"control": int(arguments[0])}
        self.words: dict[str, list[str]] = {"allow": [], "folder": []}
        self.cores: list[int] = []
        for argument in arguments[1:end]:
            name, _, value = argument.partition("=")
            if name in self.words:
                self.words[name].append(value)
            elif name == "cores":
                self.cores = [int(number) for number in value.split(",")]
            else:
                self.numbers[name] = int(value)

    def descriptor(self, name: str) -> int:
        """The descriptor that this option names, -1 if it was not given."""
        return self.numbers.get(name, -1)


class Arena:
    """The keeper's end of the control socket.

    ``has_paused`` says whether the arena had the bot stopped, which has not gone on, and
    ``is_to_resume`` whether the arena wants it to go on.
    """

    def __init__(self, descriptor: int) -> None:
        # The descriptor is closed when this process ends, not when this object does.
        self.has_paused = self.is_to_resume = False
        self._socket = socket(AF_UNIX, SOCK_STREAM, 0, descriptor)

    def tell(self, line: str, descriptor: int = -1) -> None:
        """Writes a line to the arena, with a copy of the descriptor unless that is -1. If the arena
        does not exist any more, nothing is written, and the keeper goes on to clear up.
        """
        attached = [(SOL_SOCKET, SCM_RIGHTS, struct.pack("i", descriptor))]
        try:
            text = f"{line}\n".encode(errors="replace")
            self._socket.sendmsg([text], attached if descriptor >= 0 else [])
        except OSError:
            pass

    def orders(self) -> bytes:
        """What the arena asks for, one byte each (see native/keeper.c); empty if the arena has
        closed the socket.
        """
        try:
            return self._socket.recv(64)
        except OSError:
            return b""


def start_bot(options: KeeperOptions, arena: Arena, libc: ctypes.CDLL) -> tuple[int, int]:
    """Starts the bot in a session of its own. Returns its process id, and the descriptor from which
    its CPU time can be read, -1 if there is none (see `count_processor_time`). Ends the keeper if
    this machine cannot start another process.
    """
    keeper = os.getpid()
    try:
        gate, opener = os.pipe()
        child = os.fork()
    except OSError as error:
        arena.tell(f"failed {error.strerror}")
        raise SystemExit(0) from error
    if child:
        wants_counter = options.numbers.get("counts", 1)
        counter = count_processor_time(child, libc) if wants_counter else -1
        # Otherwise a bot in the same namespace, whose user is the keeper's, could read and use what
        # the keeper has open. The counter was opened before: that needs the child to be open.
        if is_init():
            libc.prctl(DUMPABLE, 0, 0, 0, 0)
        arena.tell(f"started {child}", counter)
        os.close(opener)
        os.close(gate)
        return child, counter
    try:
        os.close(opener)
        # waits until the counter exists, because it counts only what starts after it
        os.read(gate, 1)
        become_bot(options, keeper, libc)
    # After any error, this process must not continue as a second keeper.
    except BaseException as error:  # noqa: BLE001
        why = error.strerror if isinstance(error, OSError) else error
        arena.tell(f"failed {options.command[0][:300]}: {why}")
    finally:
        os._exit(CANNOT_START)


def become_bot(options: KeeperOptions, keeper: int, libc: ctypes.CDLL) -> None:
    """Turns this process, a child of the keeper (whose process id is ``keeper``), into the bot, and
    does not return. Raises OSError if the command cannot be started.
    """
    os.setsid()
    if not is_init():
        if sys.platform == "linux":
            libc.prctl(DEATH_SIGNAL, KILL, 0, 0, 0)
            if os.getppid() != keeper:
                os._exit(CANNOT_START)
        os.environ[MARK] = str(keeper)
    # Python ignores these signals; without a reset the bot would, too
    for number in (PIPE, FILE_SIZE):
        libc.signal(number, None)
    for stream, name in enumerate(("input", "output")):
        if options.descriptor(name) >= 0:
            os.dup2(options.descriptor(name), stream)
    if options.cores:
        os.sched_setaffinity(0, options.cores)
    be_ended_first(options.descriptor("machine_proc"))
    for name, number in options.numbers.items():
        if name.startswith("RLIMIT_"):
            set_limit(getattr(resource, name), number)
    confine.confine(
        handled=options.numbers.get("handled", 0),
        allowed=options.words["allow"],
        call_filter=options.descriptor("filter"),
        is_walled=bool(options.numbers.get("is_walled")),
    )
    # Without a shell in between: the command must not be interpreted again.
    os.execvp(options.command[0], options.command)  # noqa: S606


def be_ended_first(machine_proc: int) -> None:
    """Has the kernel end this process and what it starts before others, if the machine's memory
    runs out. A bot within its limit may use more than is left, and the largest process may be the
    arena's. The bot cannot take this back: its own /proc is read-only.

    ``machine_proc`` is a descriptor of the arena's /proc, which can be written to; -1 for none.
    """
    if machine_proc < 0:
        return
    try:
        file = os.open("self/oom_score_adj", os.O_WRONLY, dir_fd=machine_proc)
        os.write(file, b"1000")
        os.close(file)
    except OSError:
        return  # without it the bot plays all the same


def set_limit(kind: int, number: int) -> None:
    """Sets both limits of this kind, a constant RLIMIT_... of the module `resource`, to ``number``,
    or to what the hard limit allows.
    """
    _, hard = resource.getrlimit(kind)
    most = number if hard == resource.RLIM_INFINITY else min(number, hard)
    resource.setrlimit(kind, (most, most))


def wait_for_end(
    child: int, control: int, arena: Arena, options: KeeperOptions, watch: Watch
) -> None:
    """Returns once the bot, whose process id is ``child``, has ended or used too much, or the arena
    has closed the socket. Meanwhile it does what the arena asks for over ``control``, the
    descriptor of that socket.
    """
    poll = select.poll()
    poll.register(control, select.POLLIN)
    try:
        poll.register(os.pidfd_open(child), select.POLLIN)
        longest_ms = MAX_LOOK_MS
    except (AttributeError, OSError):
        longest_ms = 20  # without a descriptor of the bot, its end is looked for now and then
    must_repeat = False
    look_ms = next_look_ms()
    while True:
        # While the bot is stopped, a rival computes, which would pay for a look. So a look that is
        # due comes when the bot is to go on, but before it can give memory back.
        wait_ms = longest_ms if arena.has_paused else min(look_ms - now_ms(), longest_ms)
        ready = poll.poll(max(0, wait_ms))
        if reap(child, arena):
            return
        has_order = any(descriptor == control for descriptor, _ in ready)
        if has_order and not obey(arena, options, child):
            return
        if now_ms() >= look_ms and (arena.is_to_resume or not arena.has_paused):
            saw_many = watch.sees_many
            excess = excess_of(child, arena, options, watch, again=must_repeat)
            must_repeat = watch.sees_many and not saw_many
            if must_repeat:
                arena.tell("many")
            if excess:
                arena.tell(excess)
                return
            look_ms = now_ms() + SETTLE_MS if must_repeat else next_look_ms()
        if arena.is_to_resume:
            resume_bot(has_more_cores=has_more_cores(options))
            arena.has_paused = arena.is_to_resume = False


def excess_of(
    child: int, arena: Arena, options: KeeperOptions, watch: Watch, *, again: bool
) -> str:
    """Looks at what the bot uses, whose first process has the id ``child``. Returns the line for
    the arena about a limit that the bot exceeds, or an empty text. In a pid namespace, a bot that
    `is_hard_to_see` is paused meanwhile, and so is one everywhere whose memory seems too much.
    ``again`` is that of `Watch.excess`.
    """
    if arena.has_paused:
        return watch.excess(again=again)
    is_hard = is_init() and is_hard_to_see(bot_processes())
    if is_hard:
        stop_first(child)
    else:
        excess = watch.excess(again=again)
        if not excess.startswith("memory "):
            return excess
        # The bot may have been counted with more than it holds: children that begin or end between
        # two readings change how much of the memory that they share is counted with each process.
        # To look again, the keeper stops all processes in one call: a bot that saw the first one
        # stop could give memory back for a moment.
    stop_bot(has_more_cores=has_more_cores(options))
    excess = watch.excess(again=again or not is_hard)
    resume_bot(has_more_cores=has_more_cores(options))
    return excess


def is_hard_to_see(tree: list[int]) -> bool:
    """Whether the bot's processes, ``tree``, must not run while the keeper looks at them: they are
    more than `CROWD`, or one could hide what it uses by handing it from thread to thread, each of
    which ends after a moment.
    """
    return len(tree) > CROWD or any(map(has_lost_first_thread, tree))


def next_look_ms() -> int:
    """When to look next at what the bot uses, on the clock of `now_ms`."""
    return now_ms() + MIN_LOOK_MS + os.urandom(1)[0] * (MAX_LOOK_MS - MIN_LOOK_MS) // 255


def reap(child: int, arena: Arena) -> bool:
    """Waits for all children that have ended, without waiting for others. If the bot is among them,
    tells the arena how it ended. Returns whether it is.
    """
    while True:
        try:
            pid, how, used = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if not pid:
            return False
        if pid == child:
            code = os.waitstatus_to_exitcode(how)
            text = f"exit {code}" if code >= 0 else f"signal {-code}"
            arena.tell(f"{text} {used.ru_utime + used.ru_stime:.3f} {used.ru_maxrss}")
            return True


def obey(arena: Arena, options: KeeperOptions, child: int) -> bool:
    """Does to the bot what the arena asks for over the socket: stop it or kill it. An order to let
    it go on is only noted in ``arena``.
    ``child`` is the id of the bot's first process. Returns False if the arena has closed its end of
    the socket.
    """
    orders = arena.orders()
    for order in orders:
        if order == ord("g"):
            arena.is_to_resume = True
        if order == ord("k"):
            kill_bot()
        if order == ord("s"):
            stop_first(child)
        if order in b"sS":
            stop_bot(has_more_cores=has_more_cores(options))
            arena.has_paused = True
            arena.is_to_resume = False
            arena.tell("stopped")
    return bool(orders)


def has_more_cores(options: KeeperOptions) -> bool:
    """Whether the bot may run at the same time as this keeper: the keeper itself may use more than
    one processor, or its option ``cores`` gives the bot several.
    """
    return len(options.cores) > 1 or len(os.sched_getaffinity(0)) > 1


def kill_all(child: int) -> bool:
    """Kills the process group of the bot, whose first process is ``child``, then its orphans
    generation by generation, for at most `PATIENCE_S` seconds. Returns whether none is left.
    """
    # the kernel kills the other processes of the namespace when its first one ends
    if is_init():
        return True
    # The keeper gets a higher priority than the bot's processes, if this user may do that. Root has
    # no limit of processes, and sixty that fork and exit outrun a process of equal priority.
    # Without this, the keeper gave up after two seconds, and the machine soon had 26,000 processes.
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except (AttributeError, OSError):
        try:  # noqa: SIM105 - contextlib would delay every start
            os.setpriority(os.PRIO_PROCESS, 0, -20)
        except OSError:
            pass
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        try:  # noqa: SIM105 - contextlib would delay every start
            os.killpg(child, KILL)
        except (ProcessLookupError, PermissionError):
            pass
        for pid in children():
            send(pid, KILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return True
        time.sleep(0.001)
    return False


def main() -> int:
    """Starts the bot, waits until the bot or the arena ends, and kills what is left. Returns the
    exit status: 0, or 1 if a process could not be killed.
    """
    options = KeeperOptions(sys.argv[1:])
    # The kernel keeps signals of the bot from the first process of a namespace, except those for
    # which it has a handler, as Python has for Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    libc = ctypes.CDLL(None)
    # Orphans of the bot become children of the keeper. So no process can hide by leaving its
    # parent, and the CPU time of ended processes is booked where the arena reads it.
    if sys.platform == "linux" and not is_init():
        libc.prctl(SUBREAPER, 1, 0, 0, 0)
    own = [
        options.descriptor(name)
        for name in ("control", "input", "output", "filter", "machine_proc")
    ]
    for descriptor in own:
        if descriptor >= 0:
            os.set_inheritable(descriptor, False)  # noqa: FBT003 - it takes no keyword
    arena = Arena(own[0])
    child, counter = start_bot(options, arena, libc)
    # The keeper closes the bot's pipes, or the arena would never see their end.
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    for descriptor in own[1:]:
        if descriptor >= 0:
            os.close(descriptor)
    watch = Watch(options.numbers, options.words["folder"], counter)
    wait_for_end(child, own[0], arena, options, watch)
    return 0 if kill_all(child) else 1
