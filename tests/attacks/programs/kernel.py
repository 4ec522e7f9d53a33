"""Asks the kernel for what a bot never needs. Numbers are those of x86_64, and of aarch64 where
they differ.
"""

import ctypes
import errno
import fcntl
import os
import platform
import signal
import socket
import struct
import subprocess
import tempfile
import time

from attempt import checked, libc, main

COLUMN = ("x86_64", "aarch64").index(platform.machine())
NEW_USER, NEW_MOUNTS, CHILD = 0x10000000, 0x00020000, 17
CREATE = 0o1000 | 0o600
KEPT = []
"""What a thread needs after the return of the function that started it."""


def call(numbers, *arguments):
    return checked(libc.syscall(numbers[COLUMN], *arguments))


def io_uring():
    call((425, 425), 1, ctypes.create_string_buffer(120))


def bpf():
    """An array of one element."""
    attributes = struct.pack("=IIII", 2, 4, 8, 1).ljust(64, b"\0")
    call((321, 280), 0, attributes, 64)


def perf():
    # It counts only: a sample each microsecond has kept a busy machine at nothing else for minutes.
    attributes = struct.pack("=IIQQQQQ", 1, 64, 0, 0, 0, 0, 1 << 5).ljust(64, b"\0")
    call((298, 241), attributes, 0, -1, -1, 0)


def userfaultfd():
    call((323, 282), 1)


def keys():
    call((248, 217), b"user", b"arena-attack", b"x", 1, ctypes.c_long(-3))


def run_own(folder, mode):
    """A program that is written, and run as if it had always been there."""
    with tempfile.TemporaryDirectory(dir=folder if folder != "tmp" else None) as place:
        own = os.path.join(place, "own")
        os.umask(0)
        with (
            open(own, "wb", opener=lambda path, flags: os.open(path, flags, int(mode, 8))) as file,
            open("/bin/true", "rb") as true,
        ):
            file.write(true.read())
        subprocess.run([own], check=True)


def run_other():
    """A program of the system that the bot's command does not name."""
    subprocess.run(["/bin/true"], check=True)


def arm_timers(count):
    """They run out in somebody else's time."""
    for _ in range(int(count)):
        call((222, 107), 1, None, ctypes.byref(ctypes.c_int()))


def arm_descriptors():
    call((283, 85), 1, 0)


def lease(folder):
    """Leases all files below a folder, and keeps the leases: whoever opens one then has to wait.
    SIGIO, which asks for a lease back, would end this process.
    """
    signal.signal(signal.SIGIO, signal.SIG_IGN)
    leased = 0
    for place, _, names in os.walk(folder):
        for name in names:
            handle = os.open(os.path.join(place, name), os.O_RDONLY)
            fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            leased += 1
    print("open", leased, flush=True)
    time.sleep(600)


def watch_folder():
    fcntl.fcntl(os.open(".", os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_ACCESS)


def watch_files():
    """A rival that opens a file which this process watches pays for telling it."""
    call((294, 26), 0)


def delegate():
    """Old kernels answer EINVAL, so whether the sandbox refuses it shows in the error."""
    try:
        fcntl.fcntl(os.open(".", os.O_RDONLY), 1040, bytes(8))
    except OSError as error:
        if error.errno == errno.EPERM:
            raise


def lock_mapped_file():
    """A lock that stays when the file is closed, as long as the file is mapped."""
    file = os.open("/usr/bin/env", os.O_RDONLY)
    lock = struct.pack("=hhqqi", fcntl.F_RDLCK, os.SEEK_SET, 0, 1, 0)
    fcntl.fcntl(file, 37, lock + bytes(8))


def lock_part():
    """A lock that other processes have to look at when they close the file."""
    fcntl.lockf(os.open("/usr/bin/env", os.O_RDONLY), fcntl.LOCK_SH, 1)


def choose_signal():
    """The signal that tells that a descriptor is ready; 0 means the usual one."""
    fcntl.fcntl(0, 10, 0)


def memory_file():
    os.memfd_create("x")


def filter_of_one_step():
    """A filter that allows everything, as a ``struct sock_fprog``, and what it points to."""
    steps = ctypes.create_string_buffer(struct.pack("=HBBI", 6, 0, 0, 0x7FFF0000), 8)
    return struct.pack("@HP", 1, ctypes.addressof(steps)), steps


def call_filter():
    program, _ = filter_of_one_step()
    checked(libc.prctl(38, 1, 0, 0, 0))
    call((317, 277), 1, 0, program)


def call_filter_by_prctl():
    program, _ = filter_of_one_step()
    checked(libc.prctl(38, 1, 0, 0, 0))
    checked(libc.prctl(22, 2, program, 0, 0))


def socket_filter():
    ours, _ = socket.socketpair()
    program, _ = filter_of_one_step()
    ours.setsockopt(socket.SOL_SOCKET, 26, program)


def ruleset():
    """Rights to files for each of which the kernel keeps memory."""
    call((444, 444), struct.pack("=Q", 1), ctypes.c_size_t(8), 0)


def futex_table():
    checked(libc.prctl(78, 1, 16, 0, 0))


def splice():
    """Puts a page of a file into a pipe, where it stays when the file is removed."""
    with tempfile.TemporaryFile() as file:
        file.write(b"x" * 4096)
        file.flush()
        call((275, 76), file.fileno(), ctypes.byref(ctypes.c_int64()), os.pipe()[1], None, 1, 0)


def send_file():
    """Puts a page of a file into a socket, where it stays when the file is removed."""
    ours, _ = socket.socketpair()
    with tempfile.TemporaryFile() as file:
        file.write(b"x" * 4096)
        file.flush()
        os.sendfile(ours.fileno(), file.fileno(), 0, 1)


def reserve():
    """Space behind the end of its stderr, whose size stays what it is."""
    call((285, 47), 2, 1, ctypes.c_int64(0), ctypes.c_int64(1 << 20))


def reserve_by_ioctl():
    request = struct.pack("=hhxxxxqqiI16x", 0, 0, 0, 1 << 20, 0, 0)
    fcntl.ioctl(2, 0x4030582A, request)


def own_descriptors():
    call((436, 436), 1000, 1001, 2)


def thread_with_own_descriptors():
    stack = ctypes.create_string_buffer(1 << 16)
    KEPT.append(stack)
    top = ctypes.c_void_p(ctypes.addressof(stack) + (1 << 16))
    checked(libc.clone(ctypes.cast(libc.pause, ctypes.c_void_p), top, 0x10900, None))


def robust_locks():
    call((273, 99), ctypes.create_string_buffer(24), ctypes.c_size_t(24))


def newer_call():
    """listxattrat: as harmless as listxattr, but newer than the tables of calls."""
    call((465, 465), -100, b".", 0, None, ctypes.c_size_t(0))


def unshare():
    checked(libc.unshare(NEW_MOUNTS))


def unshare_user():
    checked(libc.unshare(NEW_USER))


def clone_user():
    """The same by clone, which is harder to refuse."""
    flags = (NEW_USER | CHILD, 0, 0, 0, 0)
    pid = call((56, 220), *flags)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def mount(folder):
    checked(libc.mount(b"none", folder.encode(), b"tmpfs", 0, None))
    checked(libc.umount2(folder.encode(), 2))


def change_root():
    os.chroot(".")


def set_clock():
    """To the time that it has."""
    time.clock_settime_ns(time.CLOCK_REALTIME, time.clock_gettime_ns(time.CLOCK_REALTIME))


def set_kernel_name():
    """Where crash dumps go, a program even: written as it is."""
    with open("/proc/sys/kernel/core_pattern") as file:
        text = file.read()
    with open("/proc/sys/kernel/core_pattern", "w") as file:
        file.write(text)


def kernel_log():
    checked(libc.klogctl(3, ctypes.create_string_buffer(100), 100))


def real_time():
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def shared_memory(number):
    libc.shmat.restype = ctypes.c_void_p
    address = libc.shmat(int(number), None, 0o10000)
    if address in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), "shmat")
    return ctypes.string_at(address)


def semaphores():
    number = checked(libc.semget(0, 1, CREATE))
    checked(libc.semctl(number, 0, 0))


def message_queue(name):
    queue = checked(libc.mq_open(name.encode(), os.O_RDONLY | os.O_NONBLOCK))
    buffer = ctypes.create_string_buffer(8192)
    checked(libc.mq_receive(queue, buffer, 8192, None))
    return buffer.value


if __name__ == "__main__":
    main(globals())
