"""Reads, writes and spoils what is not the bot's."""

import os
import shutil
import tempfile

from attempt import main


def read(path):
    with open(path, "rb") as file:
        return file.read(4000).decode(errors="replace")


def read_by_link(path):
    link = os.path.join(tempfile.mkdtemp(), "link")
    os.symlink(path, link)
    return read(link)


def read_by_hard_link(path):
    link = os.path.join(tempfile.mkdtemp(dir=os.path.dirname(os.environ["TMPDIR"])), "link")
    os.link(path, link)
    return read(link)


def read_by_root(path):
    return read(f"/proc/self/root{path}")


def read_by_parent(path):
    return read(f"/proc/{os.getppid()}/root{path}")


def walk_up(path):
    return read("../" * 30 + path)


def size(path):
    return f"size={os.stat(path).st_size}"


def names(path):
    return os.listdir(path)


def append(path, text):
    with open(path, "a") as file:
        file.write(f"{text}\n")


def rewrite(path):
    with open(path, "r+") as file:
        text = file.read()
        file.seek(0)
        file.write(text)


def create(path):
    with open(path, "x") as file:
        file.write("here\n")


def truncate(path):
    os.truncate(path, 0)


def remove(path):
    os.remove(path)


def remove_all(path):
    shutil.rmtree(path)


def move(path):
    os.rename(path, f"{path}.moved")


def replace(path):
    own = os.path.join(tempfile.mkdtemp(), "own")
    create(own)
    shutil.copyfile(own, path)


def change_mode(path):
    os.chmod(path, 0)


def change_open_mode(path):
    handle = os.open(path, os.O_RDONLY)
    os.fchmod(handle, 0o777)


def change_times(path):
    os.utime(path, (1, 1))


def set_attribute(path):
    os.setxattr(path, "user.attack", b"x")


def swap_sdk():
    """Puts another package where a Python finds the arena's, perhaps that of the next bot."""
    place = os.environ["PYTHONPATH"]
    os.symlink("/", os.path.join(place, "other"))
    return "swapped"


def device(_):
    with open("/proc/partitions") as file:
        name = file.read().split()[-1]
    return f"bytes={len(read(f'/dev/{name}'))}"


if __name__ == "__main__":
    main(globals())
