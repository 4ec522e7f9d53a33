"""What pages call the folders of a home: the names of runs, and texts without this machine's
folders.
"""

from pathlib import Path

RESULTS = "results"
"""The name of the folder of a home that holds its runs and collections of runs."""


def run_name(folder: Path) -> str:
    """The name of a run on pages and in addresses: that of its folder, with the collection's name
    and a colon before it for a run in a collection.
    """
    collection = folder.parent.name
    return folder.name if collection == RESULTS else f"{collection}:{folder.name}"


def without_folders(text: str, home: Path) -> str:
    """``text`` without the folders of this machine, because pages may be public and a path names
    the machine's user. In the path of something in ``home`` or in its results/, everything up to
    that folder is left out: ``home/results/x`` becomes ``x``, and ``home/bots/b`` becomes
    ``bots/b``. The absolute path of one of these two folders itself becomes the folder's name.
    """
    for folder in (home.absolute(), home.resolve(), home):
        for place in (folder / RESULTS, folder):
            text = text.replace(f"{place}/", "")
            if place.is_absolute() and place.name:
                text = text.replace(str(place), place.name)
    return text
