"""How each sandbox tier starts a command: the words before it, its environment, and the descriptors
it inherits.
"""

import json
import os
import shutil
import stat
import sys
from collections.abc import Mapping, Sequence
from glob import glob
from pathlib import Path

from msgspec import Struct

from arena.errors import SandboxError
from arena.players.passing import make_passing, remove_passing
from arena.players.sandbox import seccomp
from arena.players.sandbox.grants import NO_GRANTS, Grants
from arena.players.sandbox.openings import cores_for, gpu_devices, gpu_processes, opened_files
from arena.players.sandbox.programs import readable_paths, rust_paths, rustup_home, search_path

PROCESSES = 128
SPARE_PROCESSES = 8 * PROCESSES
"""For systems that count all of a user's processes together: enough for a bot even with the other
bots' processes.
"""
# The sandbox's own.
MEMORY_BYTES = {"/dev/shm": 8 << 20, "/tmp": 64 << 20}  # noqa: S108
FILES_IN_MEMORY = 20_000
DISK_MB, DISK_FILES = 256, 20_000
KEPT_VARIABLES = ("LANG", "LC_ALL", "TZ")
OUTSIDE_VARIABLES = (*KEPT_VARIABLES, "HOME", "TMPDIR")
SYSTEM_FOLDERS = ("bin", "lib", "lib32", "lib64", "sbin")
SYSTEM_FILES = (
    "/etc/ld.so.cache",
    "/etc/alternatives",
    "/etc/localtime",
    "/etc/java*",
    "/etc/ssl/openssl.cnf",
    "/nix/store",
)
"""Patterns for the files in /etc that programs need to run at all, and for the one place where one
distribution keeps everything.
"""
OWN_PROCESS = ("auxv", "cgroup", "cmdline", "comm", "environ", "fd", "fdinfo", "io", "limits",
    "maps", "mountinfo", "mounts",
    "schedstat", "smaps", "smaps_rollup", "stat", "statm", "status")  # fmt: skip
"""What a process may read of itself in Landlock. Not ``net``, nor ``task``, which has it too: that
is the host's network, its sockets and neighbours. Landlock can only allow, so what is allowed is
named.
"""
DEVICES = ("null", "zero", "full", "random", "urandom")


class Launch(Struct):
    """A command ready to be started.

    The command inherits ``descriptors``, and the caller closes them. ``temporary`` is a folder to
    remove after the command has ended. ``limits`` are for the keeper, where the tier itself cannot
    set a limit. ``processes`` is how many the tier itself needs.
    """

    command: list[str]
    environment: dict[str, str]
    descriptors: list[int]
    temporary: str | None = None
    limits: dict[str, int] = {}
    processes: int = 0

    def close(self) -> None:
        """Closes the inherited descriptors; call it once the command has been started."""
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors.clear()

    def clear_up(self) -> None:
        """Removes the temporary folder; call it once the command and everything it started have
        ended.
        """
        if self.temporary:
            remove_passing(self.temporary)


def plain_launch(
    command: Sequence[str], environment: Mapping[str, str], grants: Grants = NO_GRANTS
) -> Launch:
    """No sandbox: the bot has the arena's rights, but only a few environment variables."""
    kept = {name: environment[name] for name in OUTSIDE_VARIABLES if name in environment}
    variables = {**grants.variables(), **kept, **_common(environment)}
    return Launch(list(command), variables, [], limits=_cores(grants))


def bubblewrap_launch(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    *,
    writable: bool,
    grants: Grants = NO_GRANTS,
) -> Launch:
    """Own namespaces: no other processes, no network, and no files except the system's, the
    interpreter's, the bot's own and those granted.
    """
    readable = [*_readable(command, folder, writable=writable), *_granted_files(grants)]
    # A socket in a granted folder would be a way to a service outside, and on the machine's own
    # network the abstract ones are: what bubblewrap then leaves open, the filter closes.
    families = seccomp.INTERNET if grants.network else () if grants.read else seccomp.LOCAL
    program = _memory_file(
        seccomp.program(families=families, attributes=True, building=writable, gpu=grants.gpu)
    )
    secrets = [_memory_file(_as_arguments(grants.variables()))] if grants.env else []
    variables = {
        "HOME": "/tmp",  # noqa: S108
        "TMPDIR": "/tmp",  # noqa: S108
        **_kept(environment),
        **_common(environment),
    }
    arguments = [
        "--unshare-all",
        *(["--share-net"] if grants.network else []),
        "--unshare-user",
        "--disable-userns",
        "--die-with-parent",
        "--cap-drop",
        "ALL",
        "--clearenv",
        # Values in its arguments could be read by any user of the machine.
        *(word for place in secrets for word in ("--args", str(place))),
    ]
    arguments += [word for name, value in variables.items() for word in ("--setenv", name, value)]
    arguments += _mounts(readable, folder, writable=writable, gpu=grants.gpu)
    arguments += ["--chdir", "/bot", "--seccomp", str(program), "--"]
    inside = ["prlimit", f"--nproc={PROCESSES}", "--", *command]
    limits = {"files_in_memory": FILES_IN_MEMORY, **_cores(grants)}
    if _is_setuid("bwrap"):
        limits["counter"] = 0  # the kernel stops counting at such a program
    # process 1 in the sandbox would show it to the bot
    outside = {"PATH": search_path(environment)}
    return Launch(
        ["bwrap", *arguments, *inside], outside, [program, *secrets], limits=limits, processes=2
    )


def landlock_launch(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    *,
    writable: bool,
    grants: Grants = NO_GRANTS,
) -> Launch:
    """The process confines itself before it becomes the bot; it can write only to a temporary
    folder.
    """
    readable = [*_readable(command, folder, writable=writable), *_granted_files(grants)]
    families = seccomp.INTERNET if grants.network else ()
    program = _memory_file(
        seccomp.program(families=families, attributes=writable, building=writable, gpu=grants.gpu)
    )
    temporary = make_passing("bot")
    system = ["/usr", *(f"/{name}" for name in SYSTEM_FOLDERS), *_system_files()]
    spec = {
        "read": [
            *system,
            *readable,
            str(folder),
            *(f"/proc/self/{name}" for name in OWN_PROCESS),
            *(["/dev/dri", *gpu_processes()] if grants.gpu else []),
        ],
        "write": [temporary, *([str(folder)] if writable else [])],
        "devices": [f"/dev/{name}" for name in DEVICES],
        "driven": gpu_devices() if grants.gpu else [],
        "dials": grants.network,
        "limits": [("RLIMIT_NPROC", _processes_of_this_user() + SPARE_PROCESSES)],
    }
    confine = [
        sys.executable,
        "-I",
        "-S",
        str(Path(__file__).with_name("confine.py")),
        str(program),
        json.dumps(spec),
        "--",
    ]
    variables = {
        **grants.variables(),
        "HOME": temporary,
        "TMPDIR": temporary,
        **_kept(environment),
        **_common(environment),
    }
    limits = {"disk_mb": DISK_MB, "disk_files": DISK_FILES, **_cores(grants)}
    return Launch([*confine, *command], variables, [program], temporary, limits)


def _mounts(readable: Sequence[str], folder: Path, *, writable: bool, gpu: bool) -> list[str]:
    """All files in bubblewrap's sandbox: those that can be read, the bot's at /bot, two folders in
    memory, and the devices.
    """
    words = [*_system_binds(), "--proc", "/proc", "--dev", "/dev"]
    for path, size in MEMORY_BYTES.items():
        words += ["--size", str(size), "--tmpfs", path]
    for path in readable:
        words += ["--ro-bind-try", path, path]
    for path in gpu_devices() if gpu else ():
        words += ["--dev-bind-try", path, path]
    words += ["--bind" if writable else "--ro-bind", str(folder), "/bot"]
    return words + [word for path in ("/proc", "/dev", "/") for word in ("--remount-ro", path)]


def _granted_files(grants: Grants) -> list[str]:
    """What the user lets the bot read. Raises SandboxError if it is no longer what it was."""
    for path in grants.read:
        if os.path.realpath(path) != path:
            raise SandboxError(
                f"expected {path} to stay what it was when a bot was allowed to read it, got a link"
            )
    return [*opened_files(network=grants.network, gpu=grants.gpu), *grants.read]


def _cores(grants: Grants) -> dict[str, int]:
    """The processors of a bot, as a limit for the keeper."""
    cores = cores_for(grants.cpus)
    return {"cores": cores} if cores else {}


def _as_arguments(variables: Mapping[str, str]) -> bytes:
    """Options of bubblewrap that set these, as it reads them from a descriptor."""
    words = [word for name, value in variables.items() for word in ("--setenv", name, value)]
    return b"".join(os.fsencode(word) + b"\0" for word in words)


def _readable(command: Sequence[str], folder: Path, *, writable: bool) -> list[str]:
    """The same paths, plus the toolchains for a build.

    Raises SandboxError if the bot is in a folder that every bot may read, because its rivals and
    the journal would be there too.
    """
    paths = [*readable_paths(command, folder), *(rust_paths() if writable else [])]
    for path in ("/usr", *paths):
        if folder.is_relative_to(path):
            message = (
                "expected bots and results outside the folders that every bot may read, got"
                f" {folder} in {path}"
            )
            raise SandboxError(message, "choose another --home")
    return paths


def _is_setuid(program: str) -> bool:
    found = shutil.which(program)
    return found is not None and bool(Path(found).stat().st_mode & stat.S_ISUID)


def _common(environment: Mapping[str, str]) -> dict[str, str]:
    rustup = {"RUSTUP_HOME": str(rustup_home())} if rustup_home().is_dir() else {}
    return {"PATH": search_path(environment), "PYTHONDONTWRITEBYTECODE": "1", **rustup}


def _kept(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: environment[name] for name in KEPT_VARIABLES if name in environment}


def _system_binds() -> list[str]:
    words = ["--ro-bind", "/usr", "/usr"]
    for name in SYSTEM_FOLDERS:
        place = Path("/", name)
        if place.is_symlink():
            words += ["--symlink", str(place.readlink()), str(place)]
        elif place.is_dir():
            words += ["--ro-bind", str(place), str(place)]
    return words + [word for path in _system_files() for word in ("--ro-bind-try", path, path)]


def _system_files() -> list[str]:
    # Absolute patterns.
    return [path for pattern in SYSTEM_FILES for path in sorted(glob(pattern))]  # noqa: PTH207


def _memory_file(content: bytes) -> int:
    """A descriptor that reads as the content."""
    descriptor = os.memfd_create("seccomp", 0)
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _processes_of_this_user() -> int:
    """The number of threads this user has now, as RLIMIT_NPROC counts them."""
    me, count = os.getuid(), 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                if entry.stat().st_uid == me:
                    # For speed.
                    count += len(os.listdir(f"/proc/{entry.name}/task"))  # noqa: PTH208
            except OSError:
                continue
    return count
