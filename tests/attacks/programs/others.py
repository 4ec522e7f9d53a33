"""Reaches for other processes: their memory, streams, signals and share of the machine."""

import ctypes
import os
import resource
import signal

from attempt import checked, libc, main

SEIZE, LENGTH = 0x4206, 40


def memory(pid, address):
    handle = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
    return os.pread(handle, LENGTH, int(address))


def write_memory(pid, address):
    handle = os.open(f"/proc/{pid}/mem", os.O_RDWR)
    os.pwrite(handle, b"changed", int(address))


def vm_read(pid, address):
    class Part(ctypes.Structure):
        _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))

    buffer = ctypes.create_string_buffer(LENGTH)
    here, there = Part(ctypes.addressof(buffer), LENGTH), Part(int(address), LENGTH)
    checked(libc.process_vm_readv(int(pid), ctypes.byref(here), 1, ctypes.byref(there), 1, 0))
    return buffer.raw


def trace(pid):
    checked(libc.ptrace(SEIZE, int(pid), None, None))


def environment(pid):
    with open(f"/proc/{pid}/environ") as file:
        return file.read()


def environments(*_):
    """Of all that can be seen, of the first process above all."""
    found = []
    for pid in ["1", str(os.getppid())]:
        try:
            found.append(environment(pid))
        except OSError as error:
            found.append(str(error))
    return [*found, dict(os.environ)]


def command_line(pid):
    with open(f"/proc/{pid}/cmdline") as file:
        return file.read()


def descriptors(pid):
    return f"listed={len(os.listdir(f'/proc/{pid}/fd'))}"


def steal_input(pid):
    handle = os.open(f"/proc/{pid}/fd/0", os.O_RDONLY | os.O_NONBLOCK)
    return os.read(handle, 4000)


def speak_for(pid, text):
    handle = os.open(f"/proc/{pid}/fd/1", os.O_WRONLY | os.O_NONBLOCK)
    os.write(handle, text.encode())


def end_in_status(pid):
    """Tells the arena through a keeper's pipe that its bot has ended."""
    told = 0
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            handle = os.open(f"/proc/{pid}/fd/{name}", os.O_WRONLY | os.O_NONBLOCK)
            told += bool(os.write(handle, b"exit 0 0.0 0\n"))
        except OSError:
            continue
    return f"told={told}"


def is_there(pid):
    os.stat(f"/proc/{pid}")


def processes(pid):
    return f"listed={pid in os.listdir('/proc')}"


def send(pid, number):
    os.kill(os.getppid() if pid == "parent" else int(pid), int(number))


def send_group(pid, number):
    os.killpg(os.getpgid(int(pid)), int(number))


def send_by_handle(pid, number):
    signal.pidfd_send_signal(os.pidfd_open(int(pid)), int(number))


def send_everybody(_):
    """All that can be reached, with a signal that does nothing."""
    os.kill(-1, signal.SIGURG)


def steal_descriptor(pid):
    checked(libc.syscall(438, os.pidfd_open(int(pid)), 0, 0))


def pin(pid):
    os.sched_setaffinity(int(pid), {min(os.sched_getaffinity(0))})


def unpin():
    os.sched_setaffinity(0, range(os.cpu_count()))


def slow_down(pid):
    os.setpriority(os.PRIO_PROCESS, int(pid), 19)


def slow_all():
    """Of a user who is not there: that nobody is found is an
    answer that a refusal does not give.
    """
    try:
        os.setpriority(os.PRIO_USER, 54321, 0)
    except ProcessLookupError:
        return


def idle(pid):
    os.sched_setscheduler(int(pid), os.SCHED_IDLE, os.sched_param(0))


def starve(pid):
    resource.prlimit(int(pid), resource.RLIMIT_NOFILE, (4, 4))


if __name__ == "__main__":
    main(globals())
