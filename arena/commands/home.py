"""Finds the home, the folder that holds bots/ and results/.

The search goes from the current folder upward, as git searches for a repository. A file that does
not belong to the current user does not make a folder a home.
"""

import os
from itertools import pairwise
from pathlib import Path

MARK = ".arena-home"
"""The name of the file that marks a folder as a home, even one without bots and runs."""
# Not imported from the modules that read these files, because these are slow to load and every
# command, even --help, looks for the home.
RUN_FILE = "run.json"
BOT_FILE = "bot.toml"
EVIDENCE = (("bots", BOT_FILE), ("results", RUN_FILE))
"""Pairs of a folder's name and a file's name. A folder is a home also without `MARK` if it has such
a folder, and in that one a subfolder with such a file: ``bots/x/bot.toml`` or
``results/x/run.json``.
"""


def find_home() -> Path:
    """The nearest home from the current folder upward, as a relative path such as ``..``. Without
    any home, the current folder counts as the home; or, if the current folder or one above it is
    that of a bot (it has a bot.toml), the folder that contains the bot's. Only files and folders
    that belong to the current user count.
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
    """Whether a folder is a home that belongs to the current user. The folder of a run is not a
    home, although it has a subfolder bots/.
    """
    try:
        if not _is_mine(folder) or (folder / RUN_FILE).exists():
            return False
        if _is_mine(folder / MARK):
            return True
        return any(_has_own_part(folder / name, file) for name, file in EVIDENCE)
    except OSError:
        return False


def _has_own_part(folder: Path, file: str) -> bool:
    """Whether a folder, one of its subfolders and the file called ``file`` in that subfolder all
    belong to the current user. Raises OSError.
    """
    if not _is_mine(folder) or not folder.is_dir():
        return False
    return any(_is_mine(part) and _is_mine(part / file) for part in folder.iterdir())


def _is_mine(path: Path) -> bool:
    """Whether a path exists and belongs to the current user; of a symbolic link, both the link and
    its target must. So files that somebody else leaves in /tmp cannot decide which bots play.
    """
    try:
        return {path.lstat().st_uid, path.stat().st_uid} == {os.geteuid()}
    except OSError:
        return False


def bots_folder(home: Path) -> Path:
    """The folder bots/ of a home, its registry of bots. The folder need not exist."""
    return home / "bots"


def results_folder(home: Path) -> Path:
    """The folder results/ of a home, which holds its runs. The folder need not exist."""
    return home / "results"
