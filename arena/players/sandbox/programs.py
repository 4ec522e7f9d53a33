"""What a program needs to run, of what lies outside a bot's folder: its interpreter and its
installation, and nothing that lies beside them.
"""

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from glob import escape
from pathlib import Path

import arena

PYTHON_PARTS = ("bin", "include", "lib", "lib64", "libexec", "pyvenv.cfg", "share")
"""The parts of a Python installation. The folder around them may hold anything, if somebody
installed it in their own folder.
"""
PARTS = ("lib", "lib64", "libexec", "share")
INSTALLED = (
    "pyvenv.cfg",
    "lib/*.so*",
    *(f"{part}/{{name}}{version}" for part in PARTS for version in ("", "[0-9]*", "-[0-9]*")),
)
"""Where an interpreter keeps what it needs, by its name: lib/python3.12, lib/ruby, share/julia; and
shared libraries, which are code.
"""
TOOLCHAINS = {
    "lib/modules": ("lib", "conf", "release"),  # a Java runtime
    "pkg/tool": ("VERSION", "go.env", "lib", "pkg", "src"),  # Go
}
"""Installations that are told by what is in them: the sign, and the parts that a program there
needs.
"""
PRIVATE = (".cargo", ".local")
"""Folders in a home that have a ``bin`` next to secrets."""


def readable_paths(command: Sequence[str], folder: Path) -> list[str]:
    """What a bot may read besides the system and its folder: the arena's Python and package (for
    the SDK), and its interpreter.
    """
    prefixes = dict.fromkeys((sys.prefix, sys.base_prefix))
    paths = [
        str(part)
        for prefix in prefixes
        for name in PYTHON_PARTS
        if (part := Path(prefix, name)).exists()
    ]
    paths += [str(Path(arena.__file__).parent), *interpreter_paths(command[0], folder)]
    return list(dict.fromkeys(path for path in paths if not is_system(path)))


def rust_paths() -> list[str]:
    """Where rustup keeps its toolchains, for builds; ``.cargo`` itself may hold a token."""
    places = (Path.home() / ".cargo" / "bin", rustup_home())
    return [str(place) for place in places if place.is_dir()]


def rustup_home() -> Path:
    """The folder of rustup, which need not be there."""
    return Path(os.environ.get("RUSTUP_HOME", Path.home() / ".rustup"))


def interpreter_paths(program: str, folder: Path) -> list[str]:
    """What a program of PATH that is not the system's needs to run: itself, and of its installation
    what is an interpreter's.
    """
    found = None if os.sep in program else shutil.which(program, path=search_path(os.environ))
    if not found:
        return []
    paths = []
    for place in dict.fromkeys((*_links(Path(found)), Path(found).resolve())):
        installation = place.parent.parent
        if str(installation) not in (sys.prefix, sys.base_prefix):
            paths += [
                str(place),
                *(
                    _parts(place)
                    if place.parent.name == "bin" and not _is_private(installation)
                    else []
                ),
            ]
    return [
        path
        for path in dict.fromkeys(paths)
        if not is_system(path) and not folder.is_relative_to(path)
    ]


def _parts(program: Path) -> list[str]:
    """The parts of an installation around the ``bin`` with this program; it is a bot that names it,
    so all else there stays hidden.
    """
    installation, name = program.parent.parent, program.name.rstrip("0123456789.-") or program.name
    named = [pattern.format(name=escape(name)) for pattern in INSTALLED]
    known = [
        part
        for sign, parts in TOOLCHAINS.items()
        if (installation / sign).exists()
        for part in parts
    ]
    found = [path for pattern in (*named, *known) for path in sorted(installation.glob(pattern))]
    return [str(path) for path in found if path.resolve().is_relative_to(installation.resolve())]


def _is_private(installation: Path) -> bool:
    """Whether what is named after a program in there is the user's own rather than the program's,
    as ``.local/share/fish`` is.
    """
    return Path.home().is_relative_to(installation) or installation in [
        Path.home() / name for name in PRIVATE
    ]


def _links(place: Path) -> Iterator[Path]:
    """A path, and where its link leads, step by step: a virtual environment's python3 may be a link
    to a link in a home.
    """
    while place.is_symlink():
        yield place
        place = Path(os.path.normpath(place.parent / place.readlink()))
    yield place


def is_system(path: str) -> bool:
    """Whether every bot sees it anyway: /etc/alternatives is where Debian's ``cc`` and ``java``
    lead.
    """
    return path == "/usr" or path.startswith(
        ("/usr/", "/bin/", "/lib", "/sbin/", "/etc/alternatives/")
    )


def search_path(environment: Mapping[str, str]) -> str:
    """PATH with the arena's own Python first."""
    return f"{Path(sys.executable).parent}{os.pathsep}{environment.get('PATH', os.defpath)}"
