"""Maps more of a file than the file has, and reads it, in the middle of a game."""

import mmap
import tempfile

from polite import play


def read_behind_the_end(message):
    with tempfile.TemporaryFile() as file:
        file.truncate(2 * mmap.PAGESIZE)
        mapped = mmap.mmap(file.fileno(), 0)
        file.truncate(0)
        mapped.read()


play(read_behind_the_end)
