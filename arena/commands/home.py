"""The home: the folder that holds bots/ and results/. It is looked for from the current folder
upward, as git looks for a repository.
"""

import os
from collections.abc import Iterator
from pathlib import Path

MARK = ".arena-home"
"""This file marks a home, even one that holds no bot and no run yet."""
EVIDENCE = (("bots", "bot.toml"), ("results", "run.json"))
"""A folder is also a home if one of these folders is in it, and this file in a folder of that."""
RUN_FILE = "run.json"


def find_home() -> Path:
    """The nearest home from the current folder upward, as a relative path; the current folder if
    there is none.
    """
    try:
        here = Path.cwd()
    except FileNotFoundError:  # the current folder has been removed
        return Path()
    for steps, folder in enumerate([here, *here.parents]):
        if is_home(folder):
            return Path(*[os.pardir] * steps)
    return Path()


def is_home(folder: Path) -> bool:
    """Whether a folder is a home that belongs to this user. A run is not one, although it has a
    bots/ of its own.
    """
    try:
        return (
            _is_mine(folder)
            and not (folder / RUN_FILE).exists()
            and any(map(_is_mine, _evidence(folder)))
        )
    except OSError:
        return False


def _evidence(folder: Path) -> Iterator[Path]:
    """The files any of which, if it exists, makes a folder a home."""
    yield folder / MARK
    for name, file in EVIDENCE:
        yield from (part / file for part in _parts(folder / name))


def _parts(folder: Path) -> Iterator[Path]:
    """What belongs to this user in a folder that does, too."""
    if _is_mine(folder) and folder.is_dir():
        yield from filter(_is_mine, folder.iterdir())


def _is_mine(path: Path) -> bool:
    """Whether this exists and belongs to this user: what a stranger leaves in /tmp must not decide
    what plays, not even through a link.
    """
    try:
        return {path.lstat().st_uid, path.stat().st_uid} == {os.geteuid()}
    except OSError:
        return False
