"""Confines a process before it becomes the bot. Landlock takes rights to files away, and seccomp
refuses system calls. The tables say which calls are refused.

`confine` is the Python twin of native/confine.c. The filter that `program` makes serves both. The
keeper imports this module, which therefore imports little itself.
"""

import ctypes
import errno
import os
import struct

CREATE_RULESET = 444
ADD_RULE = 445
RESTRICT_SELF = 446
VERSION_FLAG = 1
PATH_BENEATH = 1
NO_NEW_PRIVILEGES = 38
SET_SECCOMP = 22
MODE_FILTER = 2
CAPABILITIES_VERSION = 0x20080522

EXECUTE = 1
WRITE_FILE = 2
READ_FILE = 4
READ_DIR = 8
TO_DRIVERS = 1 << 15
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | 1 << 14 | TO_DRIVERS
ALL = (1 << 16) - 1
RIGHTS_BY_VERSION = {1: 13, 2: 14, 3: 15, 4: 15}
"""The number of file rights that each version of Landlock knows; 16 from the fifth version on."""
SCOPES_SINCE = 6
BOTH_SCOPES = 3
MAX_FILTER = 1 << 16

libc = ctypes.CDLL(None, use_errno=True)
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""The value of AUDIT_ARCH for each machine that the tables below cover."""
CALLS = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "kcmp": (312, 272), "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440), "process_mrelease": (448, 448), "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "fanotify_init": (300, 262),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "unshare": (272, 97), "setns": (308, 268),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432),
    "fspick": (433, 433), "mount_setattr": (442, 442), "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "kexec_load": (246, 104), "reboot": (169, 142),
    "kexec_file_load": (320, 294), "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89),
    "quotactl": (179, 60),
    "syslog": (103, 116),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266),
    "adjtimex": (159, 171), "vhangup": (153, 58),
    "sched_setaffinity": (203, 122), "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118), "sched_setattr": (314, 274),
    "setpriority": (141, 140), "ioprio_set": (251, 30),
    "memfd_create": (319, 279), "memfd_secret": (447, 447),
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "msgget": (68, 186),
    "msgsnd": (69, 189), "msgrcv": (70, 188),
    "msgctl": (71, 187), "semget": (64, 190), "semop": (65, 193), "semctl": (66, 191),
    "semtimedop": (220, 192), "mq_open": (240, 180), "vmsplice": (278, 75), "io_setup": (206, 0),
    "timerfd_create": (283, 85), "timer_create": (222, 107),
    "inotify_init": (253, 26), "inotify_init1": (294, 26),
    "seccomp": (317, 277), "landlock_create_ruleset": (444, 444), "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
}  # fmt: skip
"""The numbers of refused system calls on x86_64 and aarch64. Calls of the scheduler are refused
because a worker and its bots share one processor. Timers are refused because they interrupt
whichever process runs when they expire, and because a timer of timer_create could send SIGCONT to a
bot that was stopped; setitimer stays, whose signals wake no stopped process. A process that opens a
file pays for all who watch it with inotify: 128 watchers made it 45 times as slow. Memory and
queues that belong to no process would not be counted, nor would filters and rulesets. All filters
of the machine share one limit (net.core.bpf_jit_limit): where it is used up, no bot can start.
"""
ANSWERED = {
    "clone3": ((435, 435), errno.ENOSYS),
    "sendfile": ((40, 71), errno.EINVAL),
    "splice": ((275, 76), errno.EINVAL),
    "tee": ((276, 77), errno.EINVAL),
    "set_robust_list": ((273, 99), errno.ENOSYS),
    "fallocate": ((285, 47), errno.EOPNOTSUPP),
}
"""Refused system calls, on x86_64 and aarch64, with the errors after which libraries go on in
another way: with clone, whose flags the filter can check, by reading and writing, without robust
locks, or by writing zeros. A page that sendfile, splice or tee puts into a socket or pipe is not
counted; nor is the time that the kernel takes, when a thread ends, for a list of 2,048 robust
locks. RLIMIT_FSIZE does not limit what fallocate reserves beyond the end of a file.
"""
SETSOCKOPT = (54, 208)
SOCKET_SIZES = (7, 8, 32, 33)
"""The options SO_SNDBUF and SO_RCVBUF, and both with FORCE. Sockets are counted with their usual
size.
"""
SOCKET_FILTERS = (26, 50, 51, 52)
"""The options SO_ATTACH_FILTER, SO_ATTACH_BPF and both for SO_REUSEPORT, whose memory nobody
counts. Other levels than `SOL_SOCKET` have other options with these numbers, such as IPV6_V6ONLY.
"""
SOL_SOCKET = 1
PRCTL = (157, 167)
PRCTL_OPTIONS = (
    2, 3, 16, 21, 23,  # PR_GET_PDEATHSIG, _DUMPABLE, _NAME, _SECCOMP, PR_CAPBSET_READ
    15, 29, 30,  # PR_SET_NAME, PR_SET_TIMERSLACK and PR_GET_TIMERSLACK
    27, 38, 39, 40,  # PR_GET_SECUREBITS, PR_SET_ and PR_GET_NO_NEW_PRIVS, PR_GET_TID_ADDRESS
    41, 42,  # PR_SET_THP_DISABLE and PR_GET_THP_DISABLE
    51, 56,  # PR_SVE_GET_VL and PR_GET_TAGGED_ADDR_CTRL, both of aarch64
)  # fmt: skip
"""The options of prctl that a bot may use. All others are refused. PR_SET_PDEATHSIG could wake a
process that was stopped, at the death of its parent; PR_SET_DUMPABLE hides what a process has open;
with PR_FUTEX_HASH the kernel sets aside memory that nobody counts.
"""
IOCTL = (16, 29)
RESERVATIONS = (0x40305828, 0x4030582A, 0x40305839)
"""The commands of ioctl that do what fallocate does."""
CLOSE_RANGE = (436, 436)
UNSHARE = 2
"""The flag of close_range that gives a thread descriptors of its own, which nobody counts."""
CLONE = (56, 220)
EXIT_SIGNALS = (0, 17)
"""The signals, none and SIGCHLD, that the end of a process started by clone may send to its parent.
SIGCONT would wake a parent that was stopped.
"""
EXIT_SIGNAL_MASK = 0xFF
FCNTL = (72, 25)
FCNTL_COMMANDS = (
    0, 1030,  # F_DUPFD, F_DUPFD_CLOEXEC
    1, 2, 3, 4,  # F_GETFD, F_SETFD, F_GETFL, F_SETFL
    1032,  # F_GETPIPE_SZ
    1033, 1034,  # F_ADD_SEALS, F_GET_SEALS
)  # fmt: skip
"""The commands of fcntl that a bot may use, the same on both architectures. All others are refused,
because some of them reach other programs. With F_SETLEASE a bot makes each program that opens the
leased file wait up to 45 s (/proc/sys/fs/lease-break-time); F_NOTIFY and F_SETSIG send signals
about what others do with a file. F_SETPIPE_SZ makes a pipe larger than it is counted. With F_SETLK
and F_OFD_SETLK a bot can lock each second byte of a file. Nobody counts these locks, of which 3 GB
were made in seconds, and a process that closes the file looks at each of them: the ends of 60
processes with many descriptors kept a processor busy for half an hour, although they were killed.
"""
PRLIMIT = (302, 261)
SOCKET = (41, 198)
NEW_NAMESPACES = 0x7E020000
"""All flags CLONE_NEW* that clone knows; it has none for the namespace of time."""
THREAD = 0x10000
FILES = 0x400
"""The flags CLONE_THREAD and CLONE_FILES of clone. A thread that does not share its descriptors has
some that nobody counts.
"""
LOCAL = (1,)
"""The socket family AF_UNIX. A private network confines it, and what its sockets hold is counted.
Neither is true of AF_INET, AF_INET6 and AF_NETLINK; AF_VSOCK even reaches the host of a virtual
machine.
"""
INTERNET = (2, 10)
"""The socket families AF_INET and AF_INET6, for a bot that was granted the network. AF_UNIX is left
out: in the machine's own network, any service with an abstract name, such as a desktop's, would
answer the bot.
"""
LISTEN = (50, 201)
"""The number of listen. A bot with network access may call others, but must not open a port on
which others call it.
"""
FIRST_UNKNOWN = 451
"""This number and all higher ones are refused with ENOSYS, as by a kernel that does not have these
system calls. They came with Linux 6.5 and later, with the same numbers on all architectures. The
calls of x32 on x86_64 are higher still.
"""
LOAD = 0x20
EQUAL = 0x15
AT_LEAST = 0x35
ANY_BIT = 0x45
RETURN = 0x06
AND = 0x54
NUMBER_OFFSET = 0
ARCH_OFFSET = 4
ARGUMENT_OFFSET = 16
ALLOW = 0x7FFF0000
ERRNO = 0x00050000
KILL = 0x80000000
EPERM = 1


def call(number: int, *arguments: object) -> int:
    """Makes the system call with this ``number`` and these arguments. Raises OSError if it
    fails.
    """
    result = int(libc.syscall(number, *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def confine(*, handled: int, allowed: list[str], call_filter: int, is_walled: bool) -> None:
    """Confines this process. ``handled`` are rights to files, bits as Landlock defines them: they
    are lost everywhere except below the paths of ``allowed``, which are texts ``RIGHTS:PATH``; 0
    loses none. ``call_filter`` is a descriptor with the seccomp program, -1 for none. With
    ``is_walled`` the process can neither signal nor trace others. Without rights and a filter,
    nothing is done. Raises OSError.
    """
    if call_filter < 0 and not handled:
        return
    if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "no_new_privs refused")
    if is_walled:
        drop_capabilities()
    if handled:
        restrict(allowed, handled, is_walled=is_walled)
    if call_filter >= 0:
        filter_calls(os.read(call_filter, MAX_FILTER))
        os.close(call_filter)


def restrict(allowed: list[str], handled: int, *, is_walled: bool) -> None:
    """Takes the ``handled`` rights away everywhere except below the paths of ``allowed``, which are
    texts ``RIGHTS:PATH``; paths that do not exist or cannot be opened give no right. ``is_walled``
    also keeps the process from signalling and tracing others. Without it, does nothing on a kernel
    without Landlock. Raises OSError.
    """
    try:
        version = call(CREATE_RULESET, None, ctypes.c_size_t(0), VERSION_FLAG)
    except OSError as error:
        if is_walled or error.errno not in (errno.ENOSYS, errno.EOPNOTSUPP):
            raise
        return  # bubblewrap isolates the bot already, and an old kernel may lack Landlock
    handled &= (1 << RIGHTS_BY_VERSION.get(version, 16)) - 1
    # the second word is for the network, which the seccomp filter closes already
    attributes = struct.pack("=QQQ", handled, 0, BOTH_SCOPES if is_walled else 0)
    size = 24 if version >= SCOPES_SINCE else 8
    ruleset = call(CREATE_RULESET, attributes, ctypes.c_size_t(size), 0)
    for rule in allowed:
        rights, _, path = rule.partition(":")
        try:  # noqa: SIM105 - contextlib would delay every start
            allow(ruleset, path, int(rights) & handled)
        except (FileNotFoundError, PermissionError, NotADirectoryError):
            pass  # the bot then has no right there, either
    call(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def allow(ruleset: int, path: str, rights: int) -> None:
    """Adds a rule to the Landlock ruleset with the descriptor ``ruleset`` that grants rights below
    a path. Raises OSError, also for a program that this process may not read: to execute it would
    end the count of its CPU time.
    """
    how = os.O_RDONLY | os.O_NONBLOCK if rights & EXECUTE else os.O_PATH
    place = os.open(path, how | os.O_CLOEXEC)
    # Not pathlib, which would double the start-up time.
    if not os.path.isdir(path):  # noqa: PTH112
        rights &= OF_FILES
    if rights:  # the kernel refuses a rule without rights
        call(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", rights, place), 0)
    os.close(place)


def drop_capabilities() -> None:
    """Gives up root's powers. They cannot come back, because the process cannot gain new
    privileges. Raises OSError.
    """
    if libc.capset(struct.pack("=Ii", CAPABILITIES_VERSION, 0), bytes(24)):
        raise OSError(ctypes.get_errno(), "capset refused")


def filter_calls(program: bytes) -> None:
    """Installs a seccomp filter, an array of ``struct sock_filter``. Raises OSError."""
    text = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(
        struct.pack("@HP", len(program) // 8, ctypes.addressof(text))
    )
    if libc.prctl(SET_SECCOMP, MODE_FILTER, header, 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp refused")


def number_here(numbers: tuple[int, int]) -> int | None:
    """The number of a system call on this machine, from its ``numbers`` on x86_64 and aarch64; None
    on another architecture.
    """
    return dict(zip(ARCHITECTURES, numbers, strict=True)).get(os.uname().machine)


def is_known() -> bool:
    """Whether the tables of system calls in this module cover this machine's architecture. Without
    them there is no filter, and no sandbox.
    """
    return os.uname().machine in ARCHITECTURES


def program(families: tuple[int, ...]) -> bytes:
    """The seccomp filter for this machine, for which `is_known` must be true, as an array of
    ``struct sock_filter``. Sockets of these ``families`` are allowed, and socket pairs of any
    family.
    """
    machine = os.uname().machine
    column = list(ARCHITECTURES).index(machine)
    steps = [
        _step(LOAD, ARCH_OFFSET),
        _step(EQUAL, ARCHITECTURES[machine], yes=1),
        _step(RETURN, KILL),
        _step(LOAD, NUMBER_OFFSET),
    ]
    steps += _answer(AT_LEAST, FIRST_UNKNOWN, ERRNO | errno.ENOSYS)
    for numbers in CALLS.values():
        steps += _answer(EQUAL, numbers[column], ERRNO | EPERM)
    for numbers, error in ANSWERED.values():
        steps += _answer(EQUAL, numbers[column], ERRNO | error)
    steps += _checked_clone(CLONE[column])
    steps += _checked_setsockopt(SETSOCKOPT[column])
    steps += _by_argument(IOCTL[column], EQUAL, RESERVATIONS, index=1)
    steps += _by_argument(CLOSE_RANGE[column], ANY_BIT, (UNSHARE,), index=2)
    steps += _by_argument(PRCTL[column], EQUAL, PRCTL_OPTIONS, is_refused=False)
    steps += _by_argument(FCNTL[column], EQUAL, FCNTL_COMMANDS, index=1, is_refused=False)
    steps += _by_argument(PRLIMIT[column], EQUAL, (0,), is_refused=False)
    steps += _by_argument(SOCKET[column], EQUAL, families, is_refused=False)
    if INTERNET[0] in families:
        steps += _answer(EQUAL, LISTEN[column], ERRNO | EPERM)
    return b"".join([*steps, _step(RETURN, ALLOW)])


def _answer(test: int, number: int, answer: int) -> list[bytes]:
    """The instructions that end the filter with ``answer`` if the call has this number under the
    comparison ``test``.
    """
    return [_step(test, number, no=1), _step(RETURN, answer)]


def _checked_clone(number: int) -> list[bytes]:
    """The instructions that refuse the call clone with this number if it makes a namespace, or a
    thread with descriptors of its own, or if the end of the new process would send its parent
    another signal than SIGCHLD.
    """
    allowed = len(EXIT_SIGNALS)
    block = [
        _step(LOAD, ARGUMENT_OFFSET),
        _step(ANY_BIT, NEW_NAMESPACES, yes=allowed + 4),
        _step(AND, THREAD | FILES),
        _step(EQUAL, THREAD, yes=allowed + 2),
        _step(LOAD, ARGUMENT_OFFSET),
        _step(AND, EXIT_SIGNAL_MASK),
        *(_step(EQUAL, each, yes=allowed - at) for at, each in enumerate(EXIT_SIGNALS)),
        _step(RETURN, ERRNO | EPERM),
        _step(RETURN, ALLOW),
    ]
    return [_step(EQUAL, number, no=len(block)), *block]


def _checked_setsockopt(number: int) -> list[bytes]:
    """The instructions that refuse the call setsockopt with this number if it sets one of
    `SOCKET_SIZES` on any level, or one of `SOCKET_FILTERS` on the level `SOL_SOCKET`.
    """
    sizes = len(SOCKET_SIZES)
    filters = len(SOCKET_FILTERS)
    block = [
        _step(LOAD, ARGUMENT_OFFSET + 8 * 2),
        *(_step(EQUAL, each, yes=sizes - at + filters + 2) for at, each in enumerate(SOCKET_SIZES)),
        *(_step(EQUAL, each, yes=filters - at) for at, each in enumerate(SOCKET_FILTERS)),
        _step(RETURN, ALLOW),
        _step(LOAD, ARGUMENT_OFFSET + 8),
        _step(EQUAL, SOL_SOCKET, no=1),
        _step(RETURN, ERRNO | EPERM),
        _step(RETURN, ALLOW),
    ]
    return [_step(EQUAL, number, no=len(block)), *block]


def _by_argument(
    number: int, test: int, operands: tuple[int, ...], *, index: int = 0, is_refused: bool = True
) -> list[bytes]:
    """The instructions that refuse this call if the low half of argument ``index`` passes the test
    with one of the operands; without ``is_refused`` they allow the call only then.
    """
    answers = [ERRNO | EPERM, ALLOW] if is_refused else [ALLOW, ERRNO | EPERM]
    block = [
        _step(LOAD, ARGUMENT_OFFSET + 8 * index),
        *(_step(test, each, yes=len(operands) - place) for place, each in enumerate(operands)),
        _step(RETURN, answers[1]),
        _step(RETURN, answers[0]),
    ]
    return [_step(EQUAL, number, no=len(block)), *block]


def _step(code: int, operand: int, yes: int = 0, no: int = 0) -> bytes:
    """One instruction of the filter: its code, its operand, and how many instructions to skip on
    yes and on no.
    """
    return struct.pack("=HBBI", code, yes, no, operand)
