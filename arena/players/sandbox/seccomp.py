"""A seccomp filter, as a classic BPF program: it refuses system calls that no bot needs and that
lead out of a sandbox.
"""

import platform
import struct
from collections.abc import Sequence

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""AUDIT_ARCH for the machines that the tables below cover."""

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
    "semtimedop": (220, 192), "mq_open": (240, 180),
}  # fmt: skip
"""Numbers on x86_64 and aarch64. The scheduler's calls are refused because a worker and its bots
share one processor. Memory and queues that belong to no process would go uncounted, and would be a
channel between bots.
"""
ATTRIBUTES = {
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, None), "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "removexattrat": (466, 466), "file_setattr": (469, 469),
}  # fmt: skip
"""Calls that Landlock does not cover: with these a bot could make the user's files unusable,
including its rivals'.
"""
REMEMBERING = {
    "inotify_init": (253, None), "inotify_init1": (294, 26), "inotify_add_watch": (254, 27),
    "fanotify_mark": (301, 263),
    "mincore": (27, 232), "cachestat": (451, 451), "fadvise64": (221, 223), "readahead": (187, 213),
    "vmsplice": (278, 75), "splice": (275, 76), "tee": (276, 77), "io_setup": (206, 0),
}  # fmt: skip
"""What a file that all can read, or the kernel's cache of it, would remember from one process to
the next, by which a bot could tell itself a deal; and what keeps pages in the kernel that are in no
process's count. Builds may: they know no deal yet.
"""
WITHOUT_FLAGS = {"preadv2": (327, 286), "pwritev2": (328, 287)}
"""Answered with ENOSYS, so that libraries use preadv and pwritev, which cannot ask whether a page
is in memory (RWF_NOWAIT).
"""
FLOCK = (73, 32)
"""Answered with success, and nothing is locked: the JVM takes such a lock when it starts, and
complains on stdout where it cannot.
"""
FCNTL, FCNTL_COMMANDS = (72, 25), (0, 1, 2, 3, 4, 8, 9, 10, 11, 15, 16, 1027, 1028, 1030, 1032)
"""A descriptor's own state; not locks (5-7, 36-38), leases (1024, 1025), news of a folder (1026),
sizes of pipes (1031), or hints.
"""
IOCTL = (16, 29)
IOCTL_REQUESTS = (0x5401, 0x802C542A, 0x5413, 0x540F, 0x541B, 0x5421, 0x5452, 0x5450, 0x5451)
"""TCGETS and TCGETS2, by which libraries find out whether a file is a terminal, TIOCGWINSZ,
TIOCGPGRP, FIONREAD, FIONBIO, FIOASYNC, FIONCLEX, FIOCLEX. Others change a file's flags or version
through a descriptor that may only read.
"""
PRCTL, HIDE = (157, 167), (4,)
"""PR_SET_DUMPABLE: a process that hides its descriptors cannot be counted."""
MADVISE, GIVE_UP = (28, 233), (20, 21)
"""MADV_COLD and MADV_PAGEOUT, which put pages out of the cache."""
SETSOCKOPT, BUFFER_SIZES = (54, 208), (7, 8, 32, 33)
"""SO_SNDBUF, SO_RCVBUF and both with FORCE: a socket is counted with the size that it has by
itself.
"""
CLONE, PRLIMIT, SOCKET = (56, 220), (302, 261), (41, 198)
CLONE3 = (435, 435)
"""Answered with ENOSYS, so that libraries fall back on clone, whose flags the filter can check."""
NEW_NAMESPACES = 0x7E020000
"""The flags CLONE_NEW*, but for that of time, which clone does not have."""
LOCAL = (1,)
"""AF_UNIX: a private network confines it, and what its sockets hold is counted, which cannot be
said of AF_INET, AF_INET6 and AF_NETLINK; a machine's host is reached by AF_VSOCK all the same.
"""
INTERNET = (2, 10)
"""AF_INET and AF_INET6, for a bot that was granted the network. Without AF_UNIX: in the machine's
own network any service with an abstract name, such as a desktop's, would answer it.
"""
LISTEN = (50, 201)
"""Who may use the network calls others, and takes no port on which they call somebody else."""

DRIVER_TYPES = (0x4600, 0x6400, 0x4B00)
"""The requests of NVIDIA, DRM and KFD by the second byte, which names a driver."""
DRIVER_REQUESTS, PLAIN_BELOW = (0x30000001, 0x30000002), 0x100
"""NVIDIA's unified memory counts its requests from 1, without a type, and has these two."""

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
AND = 0x54
NUMBER_OFFSET, ARCH_OFFSET, ARGUMENT_OFFSET = 0, 4, 16
ALLOW, ERRNO, KILL = 0x7FFF0000, 0x00050000, 0x80000000
EPERM, ENOSYS = 1, 38
X32 = 0x40000000


def is_known() -> bool:
    """Whether there is a filter for this machine."""
    return platform.machine() in ARCHITECTURES


def program(
    *, families: Sequence[int], attributes: bool, building: bool, gpu: bool = False
) -> bytes:
    """The filter as an array of ``struct sock_filter``.

    Sockets can be made of these ``families``, and pairs of any; without ``attributes``, no file's
    mode, owner or times can be changed; what is not ``building`` can lock no file, and knows
    nothing of what is in the cache. With ``gpu``, its drivers can be asked.
    """
    machine = platform.machine()
    column = list(ARCHITECTURES).index(machine)
    refused = CALLS | ({} if attributes else ATTRIBUTES) | ({} if building else REMEMBERING)
    steps = [
        _step(LOAD, ARCH_OFFSET),
        _step(EQUAL, ARCHITECTURES[machine], yes=1),
        _step(RETURN, KILL),
        _step(LOAD, NUMBER_OFFSET),
    ]
    if machine == "x86_64":
        steps += _answer(AT_LEAST, X32, ERRNO | EPERM)
    for numbers in refused.values():
        number = numbers[column]
        if number is not None:
            steps += _answer(EQUAL, number, ERRNO | EPERM)
    steps += _answer(EQUAL, CLONE3[column], ERRNO | ENOSYS)
    steps += _by_argument(
        CLONE[column], ANY_BIT, [NEW_NAMESPACES], matched=ERRNO | EPERM, otherwise=ALLOW
    )
    steps += _by_argument(PRLIMIT[column], EQUAL, [0], matched=ALLOW, otherwise=ERRNO | EPERM)
    steps += _by_argument(SOCKET[column], EQUAL, families, matched=ALLOW, otherwise=ERRNO | EPERM)
    if INTERNET[0] in families:
        steps += _answer(EQUAL, LISTEN[column], ERRNO | EPERM)
    if gpu:
        steps += _driving(column)
    steps += [] if building else _forgetting(column)
    return b"".join([*steps, _step(RETURN, ALLOW)])


def _driving(column: int) -> list[bytes]:
    """Allows the requests of a GPU's drivers; what follows judges the others."""
    allow = _step(RETURN, ALLOW)
    block = [
        _step(LOAD, ARGUMENT_OFFSET + 8),
        _step(AT_LEAST, PLAIN_BELOW, yes=1),
        allow,
        *(step for request in DRIVER_REQUESTS for step in (_step(EQUAL, request, no=1), allow)),
        _step(AND, 0xFF00),
        *(step for kind in DRIVER_TYPES for step in (_step(EQUAL, kind, no=1), allow)),
        _step(LOAD, NUMBER_OFFSET),
    ]
    return [_step(EQUAL, IOCTL[column], no=len(block)), *block]


def _forgetting(column: int) -> list[bytes]:
    """Refuses by their arguments the calls of which a bot needs a part."""
    steps = _answer(EQUAL, FLOCK[column], ERRNO)
    for numbers in WITHOUT_FLAGS.values():
        steps += _answer(EQUAL, numbers[column], ERRNO | ENOSYS)
    steps += _by_argument(
        FCNTL[column], EQUAL, FCNTL_COMMANDS, matched=ALLOW, otherwise=ERRNO | EPERM, at=1
    )
    steps += _by_argument(
        IOCTL[column], EQUAL, IOCTL_REQUESTS, matched=ALLOW, otherwise=ERRNO | EPERM, at=1
    )
    steps += _by_argument(PRCTL[column], EQUAL, HIDE, matched=ERRNO | EPERM, otherwise=ALLOW)
    steps += _by_argument(
        MADVISE[column], EQUAL, GIVE_UP, matched=ERRNO | EPERM, otherwise=ALLOW, at=2
    )
    return steps + _by_argument(
        SETSOCKOPT[column], EQUAL, BUFFER_SIZES, matched=ERRNO | EPERM, otherwise=ALLOW, at=2
    )


def _answer(test: int, number: int, answer: int) -> list[bytes]:
    """Ends with the answer if the call passes the test."""
    return [_step(test, number, no=1), _step(RETURN, answer)]


def _by_argument(
    number: int, test: int, operands: Sequence[int], *, matched: int, otherwise: int, at: int = 0
) -> list[bytes]:
    """For this call, the low half of the argument ``at`` decides: ``matched`` when the test holds
    for any of the operands.
    """
    looks = [
        _step(test, operand, yes=len(operands) - place) for place, operand in enumerate(operands)
    ]
    block = [
        _step(LOAD, ARGUMENT_OFFSET + 8 * at),
        *looks,
        _step(RETURN, otherwise),
        _step(RETURN, matched),
    ]
    return [_step(EQUAL, number, no=len(block)), *block]


def _step(code: int, operand: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, operand)
