"""How each sandbox tier starts a command, and which part of the machine the command sees."""

import errno
import os
import shutil
import site
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cache
from glob import escape, glob
from pathlib import Path

from msgspec import Struct

import arena
from arena.errors import SandboxError
from arena.players.passing import make_passing, remove_passing
from arena.players.sandbox import confine
from arena.players.sandbox.grants import (
    NO_GRANTS,
    Grants,
    cores_for,
    gpu_devices,
    gpu_processes,
    opened_files,
)

PACKAGE = Path(arena.__file__).parent
"""The folder of the arena's own package, which holds the SDK."""
PYTHON_PARTS = ("bin", "include", "lib", "lib64", "libexec", "pyvenv.cfg", "share")
"""The parts of a Python installation. Other files around them may be private to the person who
installed it.
"""
PARTS = ("lib", "lib64", "libexec", "share")
INSTALLED = (
    "pyvenv.cfg",
    "lib/*.so*",
    *(f"{part}/{{name}}{version}" for part in PARTS for version in ("", "[0-9]*", "-[0-9]*")),
)
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
PROCESSES = 128
SIGNALS = 8
"""The most signals that may wait, or timers that may be armed: with 9,000 timers a third of the
turns in which they expired were lost.
"""
WRITING = confine.ALL & ~(confine.EXECUTE | confine.TO_DRIVERS)
# These paths lie inside the sandbox.
MEMORY_BYTES = {"/dev/shm": 8 << 20, "/tmp": 64 << 20}  # noqa: S108
FILES_IN_MEMORY = 20_000
DISK_MB = 256
DISK_FILES = 20_000
KEPT_VARIABLES = ("LANG", "LC_ALL", "TZ")
OUTSIDE_VARIABLES = (*KEPT_VARIABLES, "HOME", "TMPDIR")
SYSTEM_FOLDERS = ("bin", "lib", "lib32", "lib64", "sbin")
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/etc/java*",
    "/etc/ssl/openssl.cnf", "/nix/store")  # fmt: skip
"""Patterns for files that programs need to run at all, and for the one folder in which some
distributions keep everything.
"""
HOME = "home"
"""The folder to which a bot may write, in its temporary folder under Landlock."""
SDK = "sdk"
"""The folder that links to the arena's package, in a bot's temporary folder under Landlock."""
BOT_FOLDER = "/bot"
"""Where bubblewrap shows a bot its own folder."""
DEVICES = ("null", "zero", "full", "random", "urandom")


def readable_paths(command: Sequence[str], folder: Path) -> list[str]:
    """The paths that a bot may read in addition to the system's files and its own folder: Python,
    the arena's package and the packages that it needs, and, if the command names a program in PATH,
    that program's installation.
    """
    paths = [*_python_parts(), *_packages(), *interpreter_paths(command[0], folder)]
    return list(dict.fromkeys(path for path in paths if not is_system(path)))


def sdk_folder() -> Path | None:
    """The folder from which a bot's Python has to import the arena's package, for example a
    checkout. None if the package lies among Python's packages, where any Python of a bot finds it.
    """
    of_python = [place for place in (*_python_parts(), user_packages(), "/usr") if place]
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
    parts = (Path(prefix, n) for prefix in (sys.prefix, sys.base_prefix) for n in PYTHON_PARTS)
    return tuple(dict.fromkeys(str(part) for part in parts if part.exists()))


@cache
def _packages() -> tuple[str, ...]:
    """The folders of the arena's package and of the packages that it needs, as far as they lie
    outside Python's own folders. Some installers, such as ``uv --link-mode symlink``, put links
    there; then the targets are included, too.
    """
    user = [place for place in (user_packages(),) if place]
    places = map(Path, (*site.getsitepackages(), *user))
    metadata = [file for place in places for file in place.glob("*.dist-info/METADATA")]
    links = [(file.parent, file.resolve().parent) for file in metadata if file.is_symlink()]
    # If the names are equal, the whole package lies there, and not just one file of it.
    kept = [str(real.parent) for link, real in links if real.name == link.name]
    sources = (PACKAGE / "__init__.py").resolve().parent
    return tuple(dict.fromkeys((str(PACKAGE), str(sources), *user, *kept)))


def rustup_home() -> Path:
    """The folder of rustup, which may not exist."""
    return Path(os.environ.get("RUSTUP_HOME", Path.home() / ".rustup"))


def interpreter_paths(program: str, folder: Path) -> list[str]:
    """The paths that a program found in PATH needs beyond the system's: the program itself, and the
    parts of the interpreter to which it belongs.
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
    present = [path for pattern in named for path in sorted(installation.glob(pattern))]
    return [str(path) for path in present if path.resolve().is_relative_to(installation.resolve())]


def _links(place: Path) -> Iterator[Path]:
    """A path and the targets of its link, step by step, because a python3 may be a link to another
    link.
    """
    while place.is_symlink():
        yield place
        place = Path(os.path.normpath(place.parent / place.readlink()))
    yield place


def is_system(path: str) -> bool:
    """Whether a path is one that every bot sees anyway. /etc/alternatives counts, because Debian's
    ``cc`` is a link into it.
    """
    system = ("/usr/", "/bin/", "/lib", "/sbin/", "/etc/alternatives/")
    return path == "/usr" or path.startswith(system)


def search_path(environment: Mapping[str, str]) -> str:
    """The value of PATH in this environment, with the folder of the arena's own Python first."""
    return f"{Path(sys.executable).parent}{os.pathsep}{environment.get('PATH', os.defpath)}"


class Launch(Struct):
    """A command that is ready to be started by a keeper.

    ``wrapper``      the command that starts the keeper in namespaces of its own; may be empty
    ``options``      options of the keeper that confine and limit the command, such as ``cores=0,1``
    ``descriptors``  descriptors that the keeper inherits
    ``temporary``    a folder to remove after the command's end
    """

    command: list[str]
    environment: dict[str, str]
    descriptors: list[int] = []
    temporary: str | None = None
    options: list[str] = []
    wrapper: list[str] = []

    def close(self) -> None:
        """Closes the inherited descriptors. Call it once the command has been started."""
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors.clear()

    def clear_up(self) -> None:
        """Removes the temporary folder. Call it once the command and everything it started have
        ended.
        """
        if self.temporary:
            with suppress(OSError):  # much faster than remove_tree if the folder is empty
                Path(self.temporary, HOME).rmdir()
                Path(self.temporary, SDK, PACKAGE.name).unlink()
                Path(self.temporary, SDK).rmdir()
            remove_passing(self.temporary)


def plain_launch(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    *,
    writable: bool,
    grants: Grants = NO_GRANTS,
) -> Launch:
    """Starts the command without a sandbox: it has the arena's rights, but only a few environment
    variables. What it writes into a ``writable`` folder is counted.
    """
    variables = {**grants.variables(), **_variables(environment, OUTSIDE_VARIABLES)}
    options = [*([f"folder={folder}"] if writable else []), *_cores(grants)]
    return Launch(list(command), variables, options=options)


def bubblewrap_launch(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    *,
    undo: ExitStack,
    writable: bool,
    grants: Grants = NO_GRANTS,
) -> Launch:
    """Starts the command in namespaces of its own. It sees no other processes, and no files but its
    own folder, the system's, its interpreter's and the arena's package. It has no network.
    ``grants`` add what the user allowed: the network, files, variables, a GPU. With ``writable``,
    for a build, the command may change its folder and run programs that it makes. ``undo`` closes
    the descriptors of the launch. Raises SandboxError, and FileNotFoundError without bubblewrap.
    """
    readable = [*_readable(command, folder, writable=writable), *_granted_files(grants)]
    # A socket in a granted folder leads to a service outside, and so do abstract sockets on the
    # machine's own network. The seccomp filter closes these ways, which bubblewrap leaves open.
    families = confine.INTERNET if grants.network else () if grants.read else confine.LOCAL
    program = _memory_file(confine.program(families), undo)
    # Values are not passed as arguments, which any user of the machine could read.
    granted = b"".join(os.fsencode(word) + b"\0" for word in _setting(grants.variables()))
    secrets = [_memory_file(granted, undo)] if grants.env else []
    # In the sandbox, the SDK's folder contains nothing but the package.
    variables = {"HOME": "/tmp", "TMPDIR": "/tmp", **_python(sdk_folder())}  # noqa: S108
    variables |= _variables(environment, KEPT_VARIABLES)
    # The keeper is process 1 of the sandbox: no signal from inside reaches it, and its end is the
    # end of everything inside.
    wrapper = [
        *(_bubblewrap(environment), "--unshare-all"),
        *(["--share-net"] if grants.network else []),
        *("--unshare-user", "--disable-userns", "--as-pid-1"),
        *_dies_with_parent(),
        *("--cap-drop", "ALL", "--clearenv"),
        *(word for place in secrets for word in ("--args", str(place))),
        *_setting(variables),
        *_mounts(readable, folder, writable=writable, gpu=grants.gpu),
        *("--chdir", BOT_FOLDER, "--"),
    ]
    options = [
        f"RLIMIT_NPROC={PROCESSES}",
        f"RLIMIT_SIGPENDING={SIGNALS}",
        f"files_in_memory={FILES_IN_MEMORY}",
        f"has_own_network={int(not grants.network)}",
        f"filter={program}",
        *_cores(grants),
    ]
    # A program that the bot wrote and made unreadable would end the count of its CPU time. So a
    # bot may run only programs that existed before. A build, however, makes and tries programs.
    if not writable:
        options.append(f"handled={confine.EXECUTE}")
        options += _allowed(confine.EXECUTE, [*_system_paths(), *readable, BOT_FOLDER])
    else:
        options.append(f"folder={BOT_FOLDER}")
    # otherwise the bot could see it through process 1 of the sandbox
    outside = {"PATH": search_path(environment)}
    return Launch(list(command), outside, [program, *secrets], options=options, wrapper=wrapper)


def _bubblewrap(environment: Mapping[str, str]) -> str:
    """The absolute path of bubblewrap. Relative folders of PATH are passed over, because they would
    be looked for in the bot's folder. Raises FileNotFoundError.
    """
    folders = search_path(environment).split(os.pathsep)
    absolute = [folder for folder in folders if folder.startswith(os.sep)]
    found = shutil.which("bwrap", path=os.pathsep.join(absolute))
    if found is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "bwrap")
    return found


def _dies_with_parent() -> list[str]:
    """The argument with which the kernel ends the sandbox when the arena dies. It means the thread
    that starts the sandbox, so only the main thread uses it, which lasts as long as the arena. In
    other threads the keeper alone notices the end of the arena.
    """
    is_main = threading.current_thread() is threading.main_thread()
    return ["--die-with-parent"] if is_main else []


def landlock_launch(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    *,
    undo: ExitStack,
    writable: bool,
    grants: Grants = NO_GRANTS,
) -> Launch:
    """Starts the command through `confine`, which confines itself and then becomes the bot. The bot
    can write only to a temporary folder. ``undo`` closes the descriptors of the launch and removes
    that folder.
    """
    readable = [*_readable(command, folder, writable=writable), *_granted_files(grants)]
    families = confine.INTERNET if grants.network else ()
    program = _memory_file(confine.program(families), undo)
    temporary = make_passing("bot")
    undo.callback(remove_passing, temporary)
    home, sdk = _make_folders(temporary)
    read = [
        *(*_system_paths(), *readable, str(folder), *filter(None, [sdk])),
        "/proc/self",
        *(["/dev/dri", *gpu_processes()] if grants.gpu else []),
    ]
    to_read = confine.READ_FILE | confine.READ_DIR
    to_use = confine.READ_FILE | confine.WRITE_FILE
    options = [
        f"handled={confine.ALL}",
        *_allowed(to_read | confine.EXECUTE, read),
        *_allowed(WRITING, [home, *([str(folder)] if writable else [])]),
        *_allowed(to_use, [f"/dev/{name}" for name in DEVICES]),
        *_allowed(to_use | confine.TO_DRIVERS, gpu_devices() if grants.gpu else []),
        f"filter={program}",
        "is_walled=1",
        f"folder={temporary}",
        *([f"folder={folder}"] if writable else []),
        f"disk_mb={DISK_MB}",
        f"files_on_disk={DISK_FILES}",
        *_cores(grants),
    ]
    variables = {**grants.variables(), "HOME": home, "TMPDIR": home, **_python(sdk)}
    variables |= _variables(environment, KEPT_VARIABLES)
    return Launch(list(command), variables, [program], temporary, options)


def _allowed(rights: int, paths: Iterable[str]) -> list[str]:
    """Options of the keeper that leave a bot these rights to files below the paths."""
    return [f"allow={rights}:{path}" for path in paths]


def _mounts(readable: Sequence[str], folder: Path, *, writable: bool, gpu: bool) -> list[str]:
    """Arguments of bubblewrap for all files in the sandbox: those to read, the bot's at /bot, and
    devices.
    """
    words = [*_system_binds(), "--proc", "/proc", "--dev", "/dev"]
    # The hang-up of a terminal would wake processes that were stopped.
    words += ["--tmpfs", "/dev/pts", "--remount-ro", "/dev/pts"]
    for path, size in MEMORY_BYTES.items():
        words += ["--size", str(size), "--tmpfs", path]
    for path in readable:
        words += ["--ro-bind-try", path, path]
    for path in gpu_devices() if gpu else ():
        words += ["--dev-bind-try", path, path]
    words += ["--bind" if writable else "--ro-bind", str(folder), BOT_FOLDER]
    return words + [word for path in ("/proc", "/dev", "/") for word in ("--remount-ro", path)]


def _setting(variables: Mapping[str, str]) -> list[str]:
    """Arguments of bubblewrap that set these environment variables."""
    return [word for name, value in variables.items() for word in ("--setenv", name, value)]


def _granted_files(grants: Grants) -> list[str]:
    """The files that the user lets the bot read. Raises SandboxError if one has changed since it
    was granted.
    """
    for path in grants.read:
        if os.path.realpath(path) != path:
            was = f"{path} to stay what it was when a bot was allowed to read it"
            raise SandboxError(f"expected {was}, got a link")
    return [*opened_files(network=grants.network, gpu=grants.gpu), *grants.read]


def _cores(grants: Grants) -> list[str]:
    """The processors that the bot may use, as an option of the keeper; empty if it gets no more
    than the arena's worker has.
    """
    cores = cores_for(grants.cpus)
    return [f"cores={','.join(map(str, cores))}"] if cores else []


def _readable(command: Sequence[str], folder: Path, *, writable: bool) -> list[str]:
    """The paths that the bot may read. For a build they include the folders in which rustup keeps
    its toolchains, but not ``.cargo`` itself, which may hold a token.

    Raises SandboxError if the bot lies in a folder that every bot may read, because its rivals and
    the journal would be readable there, too.
    """
    rust = [Path.home() / ".cargo" / "bin", rustup_home()] if writable else []
    paths = [*readable_paths(command, folder), *(str(place) for place in rust if place.is_dir())]
    for path in ("/usr", *paths):
        if folder.is_relative_to(path):
            wanted = "expected bots and results outside the folders that every bot may read"
            raise SandboxError(f"{wanted}, got {folder} in {path}", "choose another --home")
    return paths


def _python(sdk: Path | str | None) -> dict[str, str]:
    """The environment variables with which a bot's Python finds the arena's packages although HOME
    differs.
    """
    user = {"PYTHONUSERBASE": site.getuserbase()} if user_packages() else {}
    return {**user, "PYTHONPATH": str(sdk)} if sdk else user


def _make_folders(temporary: str) -> tuple[str, str | None]:
    """Makes two folders in a bot's temporary folder: one to which it may write, and, if the bot has
    to find the SDK, one that holds only a link to the arena's package. Without the link the bot
    could list the folder around the package, such as a checkout, because Landlock allows everything
    below a folder.
    """
    home = Path(temporary, HOME)
    sdk = Path(temporary, SDK)
    home.mkdir()
    if sdk_folder() is None:
        return str(home), None
    sdk.mkdir()
    Path(sdk, PACKAGE.name).symlink_to(PACKAGE)
    return str(home), str(sdk)


def _variables(environment: Mapping[str, str], kept: Iterable[str]) -> dict[str, str]:
    """The ``kept`` variables of the arena's environment, and those that every bot gets."""
    kept_variables = {name: environment[name] for name in kept if name in environment}
    rustup = {"RUSTUP_HOME": str(rustup_home())} if rustup_home().is_dir() else {}
    return {
        **kept_variables,
        "PATH": search_path(environment),
        "PYTHONDONTWRITEBYTECODE": "1",
        **rustup,
    }


def _system_binds() -> list[str]:
    """Arguments of bubblewrap that show the system's folders and files."""
    words = ["--ro-bind", "/usr", "/usr"]
    for name in SYSTEM_FOLDERS:
        place = Path("/", name)
        if place.is_symlink():
            words += ["--symlink", str(place.readlink()), str(place)]
        elif place.is_dir():
            words += ["--ro-bind", str(place), str(place)]
    return words + [word for path in _system_files() for word in ("--ro-bind-try", path, path)]


def _system_paths() -> list[str]:
    """The system's folders and files, which every bot may read and run."""
    return ["/usr", *(f"/{name}" for name in SYSTEM_FOLDERS), *_system_files()]


def _system_files() -> list[str]:
    # Path.glob() does not take absolute patterns.
    """The paths that match `SYSTEM_FILES`."""
    return [path for pattern in SYSTEM_FILES for path in sorted(glob(pattern))]  # noqa: PTH207


def _memory_file(content: bytes, undo: ExitStack) -> int:
    """A descriptor from which the content can be read; ``undo`` closes it."""
    descriptor = os.memfd_create("seccomp", 0)
    undo.callback(os.close, descriptor)
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
