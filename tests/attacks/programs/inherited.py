"""What a bot is born with: descriptors, its environment, the way to more rights, a terminal."""

import fcntl
import os
import subprocess
import termios
import time

from attempt import main


def descriptors():
    names = {int(name) for name in os.listdir("/proc/self/fd")}
    more = []
    for name in sorted(names - {0, 1, 2}):
        try:
            os.fstat(name)
        except OSError:
            continue
        more.append(name)
    return f"more={more}"


def other_user(program):
    """Whether a program with the set-user-id bit becomes somebody else."""
    with subprocess.Popen(
        [program, "60"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as child:
        time.sleep(0.3)
        with open(f"/proc/{child.pid}/status") as file:
            real, effective = next(line.split()[1:3] for line in file if line.startswith("Uid"))
        child.kill()
    if real == effective:
        raise PermissionError(f"it runs as {effective}")


def type_into(path):
    """Types on somebody's terminal."""
    terminal = os.open(path, os.O_RDWR | os.O_NOCTTY)
    fcntl.ioctl(terminal, termios.TIOCSTI, b"#")


def draw_on(path, text):
    terminal = os.open(path, os.O_WRONLY | os.O_NOCTTY)
    os.write(terminal, text.encode())


def own_terminal():
    os.open("/dev/tty", os.O_RDWR)


if __name__ == "__main__":
    main(globals())
