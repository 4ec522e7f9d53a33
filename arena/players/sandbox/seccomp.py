"""A seccomp filter, as a classic BPF program: it refuses system calls that no bot needs and that lead out of a sandbox."""

import platform
import struct
from collections.abc import Sequence

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""AUDIT_ARCH for the machines that the tables below cover."""

CALLS = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272), "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440), "process_mrelease": (448, 448), "migrate_pages": (256, 238), "move_pages": (279, 239),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "fanotify_init": (300, 262),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "unshare": (272, 97), "setns": (308, 268),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fspick": (433, 433), "mount_setattr": (442, 442), "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104), "reboot": (169, 142),
    "kexec_file_load": (320, 294), "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60),
    "syslog": (103, 116),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266), "adjtimex": (159, 171), "vhangup": (153, 58),
    "sched_setaffinity": (203, 122), "sched_setscheduler": (144, 119), "sched_setparam": (142, 118), "sched_setattr": (314, 274),
    "setpriority": (141, 140), "ioprio_set": (251, 30),
    "memfd_create": (319, 279), "memfd_secret": (447, 447),
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188),
    "msgctl": (71, 187), "semget": (64, 190), "semop": (65, 193), "semctl": (66, 191), "semtimedop": (220, 192), "mq_open": (240, 180),
}  # fmt: skip
"""Numbers on x86_64 and aarch64. The scheduler's calls are refused because a worker and its bots share one processor. Memory and queues
that belong to no process would go uncounted, and would be a channel between bots."""
ATTRIBUTES = {
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, None), "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16), "removexattrat": (466, 466), "file_setattr": (469, 469),
}  # fmt: skip
"""Calls that Landlock does not cover: with these a bot could make the user's files unusable, including its rivals'."""
CLONE, PRLIMIT, SOCKET = (56, 220), (302, 261), (41, 198)
CLONE3 = (435, 435)
"""Answered with ENOSYS, so that libraries fall back on clone, whose flags the filter can check."""
NEW_NAMESPACES = 0x7E020000
"""The CLONE_NEW* flags, except the one for time, which clone does not have."""
FAMILIES = (1, 2, 10, 16)
"""AF_UNIX, AF_INET, AF_INET6, AF_NETLINK: a private network confines these, whereas AF_VSOCK would still reach a machine's host."""

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER_OFFSET, ARCH_OFFSET, ARGUMENT_OFFSET = 0, 4, 16
ALLOW, ERRNO, KILL = 0x7FFF0000, 0x00050000, 0x80000000
EPERM, ENOSYS = 1, 38
X32 = 0x40000000


def is_known() -> bool:
    """Whether there is a filter for this machine."""
    return platform.machine() in ARCHITECTURES


def program(*, sockets: bool, attributes: bool) -> bytes:
    """The filter, as an array of ``struct sock_filter``.

    Without ``sockets``, only socket pairs are allowed. Without ``attributes``, no file's mode, owner or times can be changed.
    """
    machine = platform.machine()
    column = list(ARCHITECTURES).index(machine)
    refused = CALLS if attributes else CALLS | ATTRIBUTES
    steps = [_step(LOAD, ARCH_OFFSET), _step(EQUAL, ARCHITECTURES[machine], yes=1), _step(RETURN, KILL), _step(LOAD, NUMBER_OFFSET)]
    if machine == "x86_64":
        steps += _answer(AT_LEAST, X32, ERRNO | EPERM)
    for numbers in refused.values():
        number = numbers[column]
        if number is not None:
            steps += _answer(EQUAL, number, ERRNO | EPERM)
    steps += _answer(EQUAL, CLONE3[column], ERRNO | ENOSYS)
    steps += _by_argument(CLONE[column], ANY_BIT, [NEW_NAMESPACES], matched=ERRNO | EPERM, otherwise=ALLOW)
    steps += _by_argument(PRLIMIT[column], EQUAL, [0], matched=ALLOW, otherwise=ERRNO | EPERM)
    steps += _by_argument(SOCKET[column], EQUAL, FAMILIES if sockets else [], matched=ALLOW, otherwise=ERRNO | EPERM)
    return b"".join([*steps, _step(RETURN, ALLOW)])


def _answer(test: int, number: int, answer: int) -> list[bytes]:
    """Ends with the answer if the call passes the test."""
    return [_step(test, number, no=1), _step(RETURN, answer)]


def _by_argument(number: int, test: int, operands: Sequence[int], *, matched: int, otherwise: int) -> list[bytes]:
    """For this call, the low half of the first argument decides: ``matched`` if the test holds for any of the operands."""
    looks = [_step(test, operand, yes=len(operands) - at) for at, operand in enumerate(operands)]
    block = [_step(LOAD, ARGUMENT_OFFSET), *looks, _step(RETURN, otherwise), _step(RETURN, matched)]
    return [_step(EQUAL, number, no=len(block)), *block]


def _step(code: int, operand: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, operand)
