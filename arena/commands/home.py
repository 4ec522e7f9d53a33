"""The home, the folder that holds bots/ and results/.

It is searched from the current folder upward, as git searches for a repository. A file that does
not belong to this user is never trusted.
"""

import os
from itertools import pairwise
from pathlib import Path

MARK = ".arena-home"
"""The name of the file that marks a home, even one without bots and runs."""
# Not imported from the modules that read these files, because these are slow to load and every
# command, even --help, looks for the home.
RUN_FILE = "run.json"
BOT_FILE = "bot.toml"
EVIDENCE = (("bots", BOT_FILE), ("results", RUN_FILE))
"""Pairs of a folder and a file: a folder is also a home if it has the first, and in it a folder
with the second.
"""


def find_home() -> Path:
    """The nearest home from the current folder upward, as a relative path. If there is none, it is
    the current folder, or the folder above if the current one is that of a bot, where 'arena new'
    was typed.
    """
    try:
        here = Path.cwd()
    except FileNotFoundError:  # the current folder does not exist any more
        return Path()
    folders = [here, *here.parents]
    for steps, folder in enumerate(folders):
        if is_home(folder):
            return Path(*[os.pardir] * steps)
    for steps, (folder, above) in enumerate(pairwise(folders), 1):
        if _is_mine(folder / BOT_FILE) and _is_mine(above):
            return Path(*[os.pardir] * steps)
    return Path()


def is_home(folder: Path) -> bool:
    """Whether a folder is a home that belongs to this user. A run is not a home, although it has a
    folder bots/.
    """
    try:
        if not _is_mine(folder) or (folder / RUN_FILE).exists():
            return False
        return _is_mine(folder / MARK) or any(
            _is_mine(part) and _is_mine(part / file)
            for name, file in EVIDENCE
            if _is_mine(folder / name) and (folder / name).is_dir()
            for part in (folder / name).iterdir()
        )
    except OSError:
        return False


def _is_mine(path: Path) -> bool:
    """Whether a path exists and belongs to this user, as the target of a link must, too. What a
    stranger leaves in /tmp must not decide which bots play.
    """
    try:
        return {path.lstat().st_uid, path.stat().st_uid} == {os.geteuid()}
    except OSError:
        return False


def bots_folder(home: Path) -> Path:
    """The folder of a home's registry of bots."""
    return home / "bots"


def results_folder(home: Path) -> Path:
    """The folder of a home's runs."""
    return home / "results"
