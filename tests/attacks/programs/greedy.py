"""Takes more of the machine than a bot is granted, up to a bound of its own, and stays."""

import os
import subprocess
import sys
import tempfile
import threading
import time

from attempt import main

STAY_S = 20


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


def files_of(folder, count, size, *, hidden=False):
    for number in range(count):
        path = os.path.join(folder, f"{number}-{os.getpid()}")
        with open(path, "wb", buffering=0) as file:
            file.writelines(b"x" * (1 << 20) for _ in range(size >> 20))
        if hidden:
            globals().setdefault("kept", []).append(open(path))  # noqa: SIM115 - kept open is the point
            os.remove(path)


def disk(megabytes):
    files_of(tempfile.mkdtemp(), int(megabytes) // 8, 8 << 20)
    stay("written")


def hidden_disk(megabytes):
    files_of(tempfile.mkdtemp(), int(megabytes) // 8, 8 << 20, hidden=True)
    stay("written")


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
    os.chdir(tempfile.mkdtemp())
    for _ in range(int(depth)):
        os.mkdir("d")
        os.chdir("d")


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
            subprocess.run([sys.executable, "-c", "import time; time.sleep(60)", token], check=False)
        os._exit(0)
    os.wait()
    stay("left")


def chains(mark, count):
    """Processes that are gone as soon as they have been seen; they end by themselves, should nobody manage to end them."""
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
