"""Leaves something in the kernel by which the next process, or a rival's, knows what this one knew.
Numbers as in kernel.py.
"""

import ctypes
import fcntl
import mmap
import os
import struct
import tempfile
import time

from attempt import checked, libc, main
from kernel import call

GET_FLAGS, SET_FLAGS, NO_DUMP = 0x80086601, 0x40086602, 0x40
SET_VERSION = 0x40087602
OFD_SET_LOCK, SET_LEASE, NOTIFY, SET_PIPE_SIZE = 37, 1024, 1026, 1031
NO_WAIT, DONT_NEED, PAGE_OUT = 8, 4, 21
ON_CREATE = 0x100


def stay(word="has it"):
    print("open", word, flush=True)
    time.sleep(60)


def reader(path):
    return os.open(path, os.O_RDONLY)


def range_lock(path, offset, *, command=fcntl.F_SETLK):
    """The byte that is locked is the message."""
    wanted = struct.pack("=hhxxxxqqixxxx", fcntl.F_RDLCK, 0, int(offset), 1, 0)
    fcntl.fcntl(reader(path), command, wanted)
    stay()


def open_file_lock(path, offset):
    range_lock(path, offset, command=OFD_SET_LOCK)


def lease(path):
    fcntl.fcntl(reader(path), SET_LEASE, fcntl.F_RDLCK)


def set_flag(path):
    handle = reader(path)
    flags = bytearray(8)
    fcntl.ioctl(handle, GET_FLAGS, flags)
    fcntl.ioctl(handle, SET_FLAGS, struct.pack("=Q", struct.unpack("=Q", flags)[0] | NO_DUMP))


def set_version(path):
    fcntl.ioctl(reader(path), SET_VERSION, struct.pack("=Q", 4711))


def watch(folder):
    """Hears of every file that somebody else makes in there."""
    handle = call((294, 26), 0)
    call((254, 27), handle, folder.encode(), ON_CREATE)


def watch_by_signal(folder):
    fcntl.fcntl(reader(folder), NOTIFY, 4)


def mapped(path, kind):
    """The address of a file's first page. Python gives none for a mapping that may only be read."""
    libc.mmap.restype = ctypes.c_void_p
    return ctypes.c_void_p(
        libc.mmap(None, 4096, mmap.PROT_READ, kind, reader(path), ctypes.c_long(0))
    )


def is_cached(path):
    found = ctypes.create_string_buffer(1)
    call((27, 232), mapped(path, mmap.MAP_SHARED), ctypes.c_long(4096), found)
    return f"pages={found.raw[0] & 1}"


def count_cached(path):
    call((451, 451), reader(path), struct.pack("=QQ", 0, 4096), ctypes.create_string_buffer(64), 0)


def read_if_cached(path):
    os.preadv(reader(path), [bytearray(1)], 0, NO_WAIT)


def drop(path):
    code = libc.posix_fadvise(reader(path), ctypes.c_long(0), ctypes.c_long(0), DONT_NEED)
    if code:
        raise OSError(code, os.strerror(code))


def page_out(path):
    checked(libc.madvise(mapped(path, mmap.MAP_PRIVATE), ctypes.c_long(4096), PAGE_OUT))


def read(path):
    """The time when a file was read last is kept with it."""
    with open(path, "rb") as file:
        file.read(10)


def hide():
    """Whoever counts what it has open does not see it."""
    checked(libc.prctl(4, 0, 0, 0, 0))
    stay()


def hidden_files(megabytes):
    """Deleted files stay on the disk as long as they are open, and nobody sees that they are."""
    checked(libc.prctl(4, 0, 0, 0, 0))
    kept = []
    for _ in range(int(megabytes) // 8):
        # Kept open is the point.
        file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        file.writelines(b"x" * (1 << 20) for _ in range(8))
        kept.append(file)
    stay("written")


if __name__ == "__main__":
    main(globals())
