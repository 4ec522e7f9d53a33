"""The home: the folder that holds bots/ and results/, looked for from the current folder upward, as git looks for a repository."""

import os
from collections.abc import Iterator
from pathlib import Path

MARK = ".arena-home"
"""The file by which a home is known that holds no bot and no run yet."""
EVIDENCE = (("bots", "bot.toml"), ("results", "run.json"))
"""What else makes a home: these folders, with this file in a folder of theirs."""
RUN_FILE = "run.json"


def find_home() -> Path:
    """The nearest home, relative to the current folder; that folder itself where there is none around it."""
    try:
        here = Path.cwd()
    except FileNotFoundError:  # the current folder has been removed
        return Path()
    for steps, folder in enumerate([here, *here.parents]):
        if is_home(folder):
            return Path(*[os.pardir] * steps)
    return Path()


def is_home(folder: Path) -> bool:
    """Whether a folder is a home of this user's. A run, which has a bots/ of its own, is none."""
    try:
        return _is_mine(folder) and not (folder / RUN_FILE).exists() and any(map(_is_mine, _evidence(folder)))
    except OSError:
        return False


def _evidence(folder: Path) -> Iterator[Path]:
    """The files, if they are there, that make a folder a home."""
    yield folder / MARK
    for name, file in EVIDENCE:
        yield from (part / file for part in _parts(folder / name))


def _parts(folder: Path) -> Iterator[Path]:
    """What lies in a folder of this user's and is this user's too."""
    if _is_mine(folder) and folder.is_dir():
        yield from filter(_is_mine, folder.iterdir())


def _is_mine(path: Path) -> bool:
    """Whether something is there that belongs to this user: what a stranger leaves in /tmp must not decide what plays, nor by a link."""
    try:
        return {path.lstat().st_uid, path.stat().st_uid} == {os.geteuid()}
    except OSError:
        return False
