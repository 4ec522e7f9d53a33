"""Takes more of the machine than a bot is granted, up to a bound of its own, and stays."""

import fcntl
import mmap
import os
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time

from attempt import checked, libc, main

STAY_S = 600


def stay(word):
    print("open", word, flush=True)
    time.sleep(STAY_S)


def forks(count):
    for _ in range(int(count)):
        if os.fork() == 0:
            time.sleep(STAY_S)
            os._exit(0)
    stay("forked")


def threads(count):
    for _ in range(int(count)):
        threading.Thread(target=time.sleep, args=(STAY_S,), daemon=True).start()
    stay("threads run")


def memory(megabytes):
    kept = []
    for _ in range(int(megabytes) // 16):
        kept.append(b"x" * (16 << 20))
        time.sleep(0.02)
    stay("has it")


def memory_of_many(megabytes):
    for _ in range(8):
        if os.fork() == 0:
            kept = b"x" * (int(megabytes) // 8 << 20)
            time.sleep(STAY_S)
            os._exit(len(kept) == 0)
    stay("has it")


def page_tables(megabytes):
    """Looks at every second megabyte of memory that is all zeros:
    only the tables of it take room.
    """
    zeros = mmap.mmap(
        -1, int(megabytes) << 29, flags=mmap.MAP_PRIVATE | 0x4000, prot=mmap.PROT_READ
    )
    zeros.madvise(15)  # MADV_NOHUGEPAGE
    for place in range(0, len(zeros), 2 << 20):
        _ = zeros[place]
    stay("has them")


def filled(to, chunk):
    """Writes until no more goes in; how much that was."""
    os.set_blocking(to, False)
    size = 0
    try:
        while True:
            size += os.write(to, chunk)
    except BlockingIOError:
        return size


def many(megabytes, make):
    """Descriptors by ``make``, which says how many bytes it put where, in as many processes as it
    takes; all wait for the last.
    """
    wanted = int(megabytes) << 20
    while wanted > 0:
        kept, size = [], 0
        for _ in range(100):
            some, more = make()
            kept.append(some)
            size += more
        wanted -= size
        if os.fork() == 0:
            time.sleep(STAY_S)
            os._exit(0)
        for some in kept:
            for one in some:
                os.close(one if isinstance(one, int) else one.detach())
    stay("filled")


def pair(size=0):
    one, other = socket.socketpair()
    if size:
        for end in (one, other):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, size)
    chunk = b"x" * 32768
    return (one, other), filled(one.fileno(), chunk) + filled(other.fileno(), chunk)


def sockets(megabytes):
    many(megabytes, pair)


def large_sockets():
    one, _ = socket.socketpair()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
    size = one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
    if size < 300_000:
        raise OSError(f"as large as before: {size}")
    stay("larger")


def pipe():
    ends = os.pipe()
    return ends, filled(ends[1], b"x" * 65536)


def pipes(megabytes):
    many(megabytes, pipe)


def large_pipe():
    fcntl.fcntl(os.pipe()[1], 1031, 1 << 20)
    stay("larger")


def gifts():
    """Pages that lie in a pipe are nobody's any more."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    page = ctypes.create_string_buffer(8192)
    vector = (ctypes.c_size_t * 2)(ctypes.addressof(page), 4096)
    if libc.vmsplice(os.pipe()[1], vector, 1, 8) < 0:
        raise OSError(ctypes.get_errno(), "vmsplice")
    stay("given")


def forgotten(megabytes):
    """Memory that is shared with a child, which is gone: this process has never touched it."""
    shared = mmap.mmap(-1, int(megabytes) << 20)
    for first in range(0, len(shared), 32 << 20):
        child = os.fork()
        if child == 0:
            for place in range(first, min(first + (32 << 20), len(shared)), 4096):
                shared[place] = 1
            os._exit(0)
        os.waitpid(child, 0)
    stay("has it")


def queued(megabytes):
    """Sockets that wait to be accepted, whose clients are gone: no process has them open."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(os.path.join(tempfile.mkdtemp(), "s"))
    listener.listen(4096)
    size = 0
    while size < int(megabytes) << 20:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(listener.getsockname())
            size += filled(client.fileno(), b"x" * 32768)
    stay("filled")


def watches(processes):
    """Watches of epoll, whose memory is in no figure of a process."""
    for _ in range(int(processes)):
        if os.fork() == 0:
            files = [os.pipe()[0] for _ in range(50)]
            watchers = [select.epoll() for _ in range(100)]
            for watcher in watchers:
                for file in files:
                    watcher.register(file)
            time.sleep(STAY_S)
            os._exit(0)
    stay("watches")


def files_of(folder, count, size, *, hidden=False):
    for number in range(count):
        path = os.path.join(folder, f"{number}-{os.getpid()}")
        with open(path, "wb", buffering=0) as file:
            file.writelines(b"x" * (1 << 20) for _ in range(size >> 20))
        if hidden:
            # Kept open is the point.
            globals().setdefault("kept", []).append(open(path))  # noqa: SIM115
            os.remove(path)


def disk(megabytes):
    files_of(tempfile.mkdtemp(), int(megabytes) // 8, 8 << 20)
    stay("written")


def hidden_disk(megabytes):
    files_of(tempfile.mkdtemp(), int(megabytes) // 8, 8 << 20, hidden=True)
    stay("written")


def hide():
    """Whoever counts what it has open does not see it."""
    checked(libc.prctl(4, 0, 0, 0, 0))
    stay("hidden")


def hidden_files(megabytes):
    """Deleted files stay on the disk as long as they are open, and nobody sees that they are."""
    checked(libc.prctl(4, 0, 0, 0, 0))
    hidden_disk(megabytes)


def own_folder(megabytes):
    files_of(".", int(megabytes) // 8, 8 << 20)
    stay("written")


def shared(megabytes, name):
    with open(f"/dev/shm/{name}", "wb", buffering=0) as file:
        file.writelines(b"x" * (1 << 20) for _ in range(int(megabytes)))
    stay("written")


def one_file(megabytes):
    with open(os.path.join(tempfile.mkdtemp(), "large"), "wb", buffering=0) as file:
        file.writelines(b"x" * (1 << 20) for _ in range(int(megabytes)))
    stay("written")


def many_files(count):
    files_of(tempfile.mkdtemp(), int(count), 0)
    stay("written")


def unlistable_files(count):
    folder = tempfile.mkdtemp()
    os.mkdir(f"{folder}/dark", 0o333)
    files_of(f"{folder}/dark", int(count), 0)
    stay("written")


def deep_folders(depth):
    """Folders in each other, deeper than a path may be long."""
    os.chdir(tempfile.mkdtemp())
    for _ in range(int(depth)):
        os.mkdir("deep")
        os.chdir("deep")


def stderr(megabytes):
    for _ in range(int(megabytes)):
        sys.stderr.write("x" * (1 << 20))
    stay("written")


def dump_core():
    os.abort()


def daemon(token):
    """Leaves by two forks and a session of its own."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            subprocess.run(
                [sys.executable, "-c", "import time; time.sleep(600)", token], check=False
            )
        os._exit(0)
    os.wait()
    stay("left")


def chains(mark, count):
    """Processes that are gone as soon as they have been seen; they end by themselves, should nobody
    manage to end them.
    """
    end = time.monotonic() + 8
    for _ in range(int(count)):
        if os.fork() == 0:
            while time.monotonic() < end:
                try:
                    os.setsid()
                except OSError:
                    pass
                try:
                    if os.fork():
                        os._exit(0)
                except OSError:
                    pass
            os._exit(0)
    stay(f"running as {mark}")


def runner(token, seconds):
    """A child takes over from its parent all the time, each in a session of its own."""
    end = time.monotonic() + float(seconds)
    print("open runs", token, flush=True)
    while time.monotonic() < end:
        if os.fork():
            os._exit(0)
        os.setsid()


if __name__ == "__main__":
    main(globals())
