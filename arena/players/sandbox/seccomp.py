"""A seccomp filter: the system calls that no bot needs and that lead out of a sandbox, as a classic BPF program."""

import platform
import struct

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""AUDIT_ARCH of the machines that the table below covers."""

CALLS = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272), "pidfd_getfd": (438, 438),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "unshare": (272, 97), "setns": (308, 268),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fspick": (433, 433), "mount_setattr": (442, 442), "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104), "reboot": (169, 142),
    "kexec_file_load": (320, 294), "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60),
    "syslog": (103, 116),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266), "adjtimex": (159, 171), "vhangup": (153, 58),
    "move_pages": (279, 239), "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "msgget": (68, 186),
}  # fmt: skip
"""Numbers on x86_64 and aarch64. The last line is memory that belongs to no process, and so would not be counted."""
SOCKET = {"socket": (41, 198)}
"""For a tier that has no network of its own: only socket pairs are left."""
CLONE3 = (435, 435)
"""Answered with ENOSYS, so that libraries use clone."""

LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
ARCH_OFFSET, NUMBER_OFFSET = 4, 0
ALLOW, ERRNO, KILL = 0x7FFF0000, 0x00050000, 0x80000000
EPERM, ENOSYS = 1, 38
X32 = 0x40000000


def is_known() -> bool:
    """Whether there is a filter for this machine."""
    return platform.machine() in ARCHITECTURES


def program(*, sockets: bool) -> bytes:
    """The filter as an array of ``struct sock_filter``; without ``sockets`` it refuses to make any.

    The three answers stand at the end: allow, EPERM, ENOSYS.
    """
    machine = platform.machine()
    column = list(ARCHITECTURES).index(machine)
    refused = sorted(numbers[column] for numbers in (CALLS if sockets else CALLS | SOCKET).values())
    tests = [(EQUAL, number, 1) for number in refused] + [(EQUAL, CLONE3[column], 2)]
    if machine == "x86_64":
        tests.append((AT_LEAST, X32, 1))
    body = [_step(LOAD, ARCH_OFFSET), _step(EQUAL, ARCHITECTURES[machine], yes=1), _step(RETURN, KILL), _step(LOAD, NUMBER_OFFSET)]
    for at, (test, number, answer) in enumerate(tests):
        body.append(_step(test, number, yes=len(tests) - at - 1 + answer))
    return b"".join([*body, _step(RETURN, ALLOW), _step(RETURN, ERRNO | EPERM), _step(RETURN, ERRNO | ENOSYS)])


def _step(code: int, operand: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, operand)
