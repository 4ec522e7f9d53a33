"""Which files of this machine a bot may read in addition to the system's and its own: Python, the
arena's package, and the installations of the programs that the bot names.
"""

import os
import shutil
import site
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from glob import escape
from itertools import product
from pathlib import Path

import arena

PACKAGE = Path(arena.__file__).parent
"""The folder of the arena's own package, which holds the SDK."""
PYTHON_PARTS = ("bin", "include", "lib", "lib64", "libexec", "pyvenv.cfg", "share")
"""The parts of a Python installation. Other files around them may be private to the person who
installed it.
"""
_PLACES = product(("lib", "lib64", "libexec", "share"), ("", "[0-9]*", "-[0-9]*"))
INSTALLED = ("pyvenv.cfg", "lib/*.so*", *(f"{part}/{{name}}{version}" for part, version in _PLACES))
"""Patterns for the folders in which an installed interpreter keeps its files: lib/python3.12,
share/julia, and libraries.
"""
TOOLCHAINS = {
    "lib/modules": ("lib", "conf", "release"),  # a Java runtime
    "pkg/tool": ("VERSION", "go.env", "lib", "pkg", "src"),  # Go
}
"""Installations that are recognised by a file in them: that file, and the parts that their programs
need.
"""
PRIVATE = (".cargo", ".local")
"""Folders in a home that hold secrets beside a folder ``bin``."""


def readable_paths(programs: Sequence[str], folder: Path) -> list[str]:
    """The paths that a bot in ``folder`` may read in addition to the system's files and its own
    folder: Python, the arena's package and the packages that it needs, and the installations of
    those ``programs`` that are names of programs on PATH.
    """
    installations = list[str]()
    for name in programs:
        installations += interpreter_paths(name, folder)
    paths = [*_python_parts(), *_packages(), *installations]
    outside = [path for path in paths if not is_system(path)]
    return list(dict.fromkeys(outside))


def sdk_folder() -> Path | None:
    """The folder from which a bot's Python has to import the arena's package, for example a
    checkout. None if the package lies among Python's packages, where any Python of a bot finds it.
    """
    of_python = filter(None, (*_python_parts(), user_packages(), "/usr"))
    return None if any(map(PACKAGE.is_relative_to, of_python)) else PACKAGE.parent


def user_packages() -> str:
    """The folder to which ``pip install --user`` installs packages; empty if this Python does not
    look there.
    """
    place = site.getusersitepackages() if site.ENABLE_USER_SITE else ""
    return place if place in sys.path else ""


@cache
def _python_parts() -> tuple[str, ...]:
    """The parts of the Python that runs the arena, and of the one on which its virtual environment
    is based.
    """
    pairs = product((sys.prefix, sys.base_prefix), PYTHON_PARTS)
    parts = [Path(prefix, name) for prefix, name in pairs]
    present = [str(part) for part in parts if part.exists()]
    return tuple(dict.fromkeys(present))


@cache
def _packages() -> tuple[str, ...]:
    """The folders of the arena's package and of the packages that it needs, as far as they lie
    outside Python's own folders. Some installers, such as ``uv --link-mode symlink``, put links
    there; then the targets are included, too.
    """
    user = [place for place in (user_packages(),) if place]
    places = map(Path, (*site.getsitepackages(), *user))
    kept = []
    for place in places:
        for file in place.glob("*.dist-info/METADATA"):
            # If the names are equal, the whole package lies there, and not just one file of it.
            if file.is_symlink() and file.resolve().parent.name == file.parent.name:
                kept.append(str(file.resolve().parent.parent))
    sources = (PACKAGE / "__init__.py").resolve().parent
    return tuple(dict.fromkeys((str(PACKAGE), str(sources), *user, *kept)))


def rustup_home() -> Path:
    """The folder of rustup, which may not exist."""
    return Path(os.environ.get("RUSTUP_HOME", Path.home() / ".rustup"))


def interpreter_paths(program: str, folder: Path) -> list[str]:
    """The paths that a bot in ``folder`` needs beyond the system's for a program on PATH: the
    program itself, and the parts of the interpreter to which it belongs. Empty if ``program`` is a
    path, or is not on PATH.
    """
    program_path = (
        None if os.sep in program else shutil.which(program, path=search_path(os.environ))
    )
    if not program_path:
        return []
    paths = []
    private = [Path.home() / name for name in PRIVATE]
    for place in dict.fromkeys((*_links(Path(program_path)), Path(program_path).resolve())):
        installation = place.parent.parent
        if str(installation) in (sys.prefix, sys.base_prefix):
            continue
        paths.append(str(place))
        # A folder with a program's name may hold the user's data, as ``.local/share/fish`` does.
        is_private = Path.home().is_relative_to(installation) or installation in private
        if place.parent.name == "bin" and not is_private:
            paths += _parts(place)
    kept = [path for path in dict.fromkeys(paths) if not is_system(path)]
    return [path for path in kept if not folder.is_relative_to(path)]


def _parts(program: Path) -> list[str]:
    """The parts of the installation around the ``bin`` that holds this program; its other files
    stay hidden.
    """
    installation = program.parent.parent
    name = program.name.rstrip("0123456789.-") or program.name
    named = [pattern.format(name=escape(name)) for pattern in INSTALLED]
    for sign, parts in TOOLCHAINS.items():
        named += parts if (installation / sign).exists() else ()
    real = installation.resolve()
    present = []
    for pattern in named:
        present += sorted(installation.glob(pattern))
    return [str(path) for path in present if path.resolve().is_relative_to(real)]


def _links(place: Path) -> Iterator[Path]:
    """A path and the targets of its link, step by step, because a python3 may be a link to another
    link.
    """
    while place.is_symlink():
        yield place
        place = Path(os.path.normpath(place.parent / place.readlink()))
    yield place


def is_system(path: str) -> bool:
    """Whether a path is a part of the system, such as one below /usr, which every bot sees anyway.
    /etc/alternatives counts, because Debian's ``cc`` is a link into it.
    """
    system = ("/usr/", "/bin/", "/lib", "/sbin/", "/etc/alternatives/")
    return path == "/usr" or path.startswith(system)


def search_path(environment: Mapping[str, str]) -> str:
    """The value of PATH in this environment, with the folder of the arena's own Python first."""
    return f"{Path(sys.executable).parent}{os.pathsep}{environment.get('PATH', os.defpath)}"
