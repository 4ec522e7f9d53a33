"""How each sandbox tier starts a command. The functions here make a `Launch`, with which
`keeper_client` starts the command.
"""

import errno
import os
import shutil
import site
import stat
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from glob import glob
from itertools import chain
from pathlib import Path

from msgspec import Struct

from arena.errors import SandboxError
from arena.players.sandbox import confine
from arena.players.sandbox.grants import (
    NO_GRANTS,
    Grants,
    cores_for,
    gpu_devices,
    gpu_processes,
    opened_files,
)
from arena.players.sandbox.programs import BOT_FOLDER, executable_files, needed_files
from arena.players.sandbox.readable import (
    PACKAGE,
    is_system,
    readable_paths,
    rustup_home,
    sdk_folder,
    search_path,
    user_packages,
)
from arena.players.temporary import DEVICE_FOLDER, make_passing, remove_passing

PROCESSES = 128
SIGNALS = 8
"""The most signals that may wait, or timers that may be armed: with 9,000 timers a third of the
turns in which they expired were lost.
"""
WRITING = confine.ALL & ~(confine.EXECUTE | confine.TO_DRIVERS)
# These paths lie inside the sandbox.
SHARED_MB = 8
MEMORY_BYTES = {"/dev/shm": SHARED_MB << 20, "/tmp": 64 << 20}  # noqa: S108
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
DEVICES = ("null", "zero", "full", "random", "urandom")
DEVICES_OF_BUBBLEWRAP = (*DEVICES, "tty")
LINKS_TO_OPEN_FILES = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
}
"""The links in /dev, which shells and compilers use."""
NOBODY = 65534
"""The number of a user and a group that is not a bot's."""


class Launch(Struct):
    """A command that is ready to be started by a keeper. `close` and `clear_up` must be called.

    ``command``      the bot's command
    ``environment``  the environment variables of the keeper or, with a wrapper, of that; the keeper
                     passes its own on to the command
    ``wrapper``      the command that starts the keeper in namespaces of its own; may be empty
    ``options``      options of the keeper that confine and limit the command, such as ``cores=0,1``
    ``descriptors``  descriptors that the keeper inherits
    ``temporary``    a folder to remove after the command's end; None without one
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
    """How to start the command without a sandbox: it has the arena's rights, but only a few
    variables of ``environment``, and those of ``grants``. What it writes into a ``writable`` folder
    is counted.
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
    programs: Sequence[str] = (),
) -> Launch:
    """How to start the command in namespaces of its own. It sees no other processes, and no files
    but its own folder, the system's, its interpreter's and the arena's package. It has no network.
    ``grants`` add what the user allowed: the network, files, variables, a GPU. With ``writable``,
    for a build, the command may change its folder and run all programs. Otherwise it may run its
    folder's programs, those that it names itself, and the ``programs`` of its bot.toml. ``undo``
    closes the descriptors of the launch and removes its temporary folder. Raises SandboxError,
    OSError, and FileNotFoundError without bubblewrap.
    """
    readable = [*_readable(command, programs, folder, writable=writable), *_granted_files(grants)]
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
    bubblewrap = _bubblewrap(environment)
    devices = _make_devices()
    if devices:
        undo.callback(remove_passing, devices)
    # The keeper is process 1 of the sandbox: no signal from inside reaches it, and its end is the
    # end of everything inside.
    wrapper = [
        *(bubblewrap, "--unshare-all"),
        *(["--share-net"] if grants.network else []),
        *("--unshare-user", "--disable-userns", "--as-pid-1"),
        *_dies_with_parent(),
        *("--cap-drop", "ALL", "--clearenv"),
        *chain.from_iterable(("--args", str(place)) for place in secrets),
        *_setting(variables),
        *_mounts(readable, folder, devices or DEVICE_FOLDER, writable=writable, gpu=grants.gpu),
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
    # A program that may be executed but not read would end the count of the bot's CPU time. A
    # build, however, is not counted, and needs compilers and what they call.
    if not writable:
        prepared = [*_executable(command, programs, folder, readable, grants), BOT_FOLDER]
        options.append(f"handled={confine.EXECUTE}")
        options += _allowed(confine.EXECUTE, prepared)
    else:
        options.append(f"folder={BOT_FOLDER}")
    # otherwise the bot could see it through process 1 of the sandbox
    outside = {"PATH": search_path(environment)}
    return Launch(list(command), outside, [program, *secrets], devices, options, wrapper)


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
    programs: Sequence[str] = (),
) -> Launch:
    """How to start the command so that the keeper confines it with Landlock and seccomp, see
    `confine`. The bot can write only to a temporary folder and, with ``writable``, to its own. It
    may run the same programs as in bubblewrap, see `bubblewrap_launch`. ``undo`` closes the
    descriptors of the launch and removes the temporary folder. Raises SandboxError, OSError.
    """
    readable = [*_readable(command, programs, folder, writable=writable), *_granted_files(grants)]
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
    prepared = [*_executable(command, programs, folder, readable, grants), str(folder)]
    if writable:
        prepared = read
    to_read = confine.READ_FILE | confine.READ_DIR
    to_use = confine.READ_FILE | confine.WRITE_FILE
    options = [
        f"handled={confine.ALL}",
        *_allowed(to_read, read),
        *_allowed(confine.EXECUTE, prepared),
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


def _make_devices() -> str | None:
    """Makes devices like the machine's own for one bot, in a temporary folder, and returns its
    path. Every user may use them, but no user of the sandbox owns them. None if the bot gets the
    machine's own: because it does not own them either, or because this machine lets the arena make
    no devices. Raises OSError.

    A bot whose user owns a device, as root does, could take it away from the whole machine with
    chmod, and store a message for its next game in the device's times.
    """
    if os.stat(os.devnull).st_uid != os.geteuid():  # noqa: PTH116 - every start waits for this
        return None
    with ExitStack() as undo:
        try:
            folder = make_passing("devices", DEVICE_FOLDER)
            undo.callback(remove_passing, folder)
            for name in DEVICES_OF_BUBBLEWRAP:
                own = f"{folder}/{name}"
                number = os.stat(f"/dev/{name}").st_rdev  # noqa: PTH116
                os.mknod(own, stat.S_IFCHR, number)
                os.chmod(own, 0o666)  # noqa: PTH101, S103 - everybody uses them
                os.chown(own, NOBODY, NOBODY)
            os.close(os.open(f"{folder}/null", os.O_RDWR))
        except OSError as error:
            # These mean that the machine does not allow it. Others, such as too few descriptors,
            # must not give a bot the machine's devices.
            if error.errno not in (errno.EPERM, errno.EACCES, errno.EROFS):
                raise
            return None
        undo.pop_all()
    return folder


def _mounts(
    readable: Sequence[str], folder: Path, devices: str, *, writable: bool, gpu: bool
) -> list[str]:
    """Arguments of bubblewrap for all files in the sandbox: those to read, the bot's at /bot, and
    devices, which are those in the folder ``devices``.
    """
    words = [*_system_binds(), "--proc", "/proc", "--tmpfs", "/dev"]
    # There is no terminal, whose hang-up would wake processes that were stopped: tty opens that of
    # its process, which has none.
    for name in DEVICES_OF_BUBBLEWRAP:
        words += ["--dev-bind", f"{devices}/{name}", f"/dev/{name}"]
    for name, target in LINKS_TO_OPEN_FILES.items():
        words += ["--symlink", target, f"/dev/{name}"]
    for path, size in MEMORY_BYTES.items():
        words += ["--size", str(size), "--tmpfs", path]
    for path in readable:
        words += ["--ro-bind-try", path, path]
    for path in gpu_devices() if gpu else ():
        words += ["--dev-bind-try", path, path]
    words += ["--bind" if writable else "--ro-bind", str(folder), BOT_FOLDER]
    for path in ("/proc", "/dev", "/"):
        words += ["--remount-ro", path]
    return words


def _setting(variables: Mapping[str, str]) -> list[str]:
    """Arguments of bubblewrap that set these environment variables."""
    words = list[str]()
    for name, value in variables.items():
        words += ["--setenv", name, value]
    return words


def _granted_files(grants: Grants) -> list[str]:
    """The files that the user lets the bot read. Raises SandboxError if one has changed since it
    was granted.
    """
    for path in (*grants.read, *grants.exec):
        if os.path.realpath(path) != path:
            raise SandboxError(f"{path} has become a link since a bot was allowed to use it")
    programs = [path for path in grants.exec if not is_system(path)]
    return [*opened_files(network=grants.network, gpu=grants.gpu), *grants.read, *programs]


def _executable(
    command: Sequence[str],
    programs: Sequence[str],
    folder: Path,
    readable: Sequence[str],
    grants: Grants,
) -> list[str]:
    """The files outside its ``folder`` that a bot may execute, and the folders that the user
    granted. A script in the bot's folder may name any file as its interpreter; only those of the
    system and below the ``readable`` paths count.
    """
    paths = list(executable_files(command, programs, folder))
    for path in grants.exec:
        paths += [needed.path for needed in needed_files(path, "", folder)]
    places = [*_system_paths(), *readable]
    return [path for path in paths if _is_below_one(path, places)]


def _is_below_one(path: str, places: Iterable[str]) -> bool:
    """Whether a path, taken as a text, is one of the ``places`` or below one of them."""
    normal = Path(os.path.normpath(path))
    return any(map(normal.is_relative_to, places))


def _cores(grants: Grants) -> list[str]:
    """The processors that the bot may use, as an option of the keeper; empty if it gets no more
    than the arena's worker has.
    """
    cores = cores_for(grants.cpus)
    return [f"cores={','.join(map(str, cores))}"] if cores else []


def _readable(
    command: Sequence[str], programs: Sequence[str], folder: Path, *, writable: bool
) -> list[str]:
    """The paths that the bot may read. For a build they include the folders in which rustup keeps
    its toolchains, but not ``.cargo`` itself, which may hold a token.

    Raises SandboxError if the bot lies in a folder that every bot may read, because its rivals and
    the journal would be readable there, too.
    """
    rust = [Path.home() / ".cargo" / "bin", rustup_home()] if writable else []
    named = [command[0], *programs]
    paths = [*readable_paths(named, folder), *(str(place) for place in rust if place.is_dir())]
    for path in ("/usr", *paths):
        if folder.is_relative_to(path):
            raise SandboxError(
                f"the bot's folder {folder} lies in {path}, which every bot may read",
                "choose another --home",
            )
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
    for path in _system_files():
        words += ["--ro-bind-try", path, path]
    return words


def _system_paths() -> list[str]:
    """The system's folders and files, which every bot may read and run."""
    return ["/usr", *(f"/{name}" for name in SYSTEM_FOLDERS), *_system_files()]


def _system_files() -> list[str]:
    # Path.glob() does not take absolute patterns.
    """The paths that match `SYSTEM_FILES`."""
    paths: list[str] = []
    for pattern in SYSTEM_FILES:
        paths += sorted(glob(pattern))  # noqa: PTH207
    return paths


def _memory_file(content: bytes, undo: ExitStack) -> int:
    """A descriptor from which the content can be read; ``undo`` closes it."""
    descriptor = os.memfd_create("seccomp", 0)
    undo.callback(os.close, descriptor)
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
