"""What a user allows one bot beyond its sandbox: the network, a variable of the environment, files,
a GPU, more processors.

A grant comes from the command line or from the user's own configuration. Nothing that a bot or a
run contains can make a grant.
"""

import json
import os
import re
import stat
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from glob import glob
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import Struct

from arena.errors import ConfigError, did_you_mean
from arena.players.sandbox.programs import is_readable, unreadable_cure

CORES = frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else frozenset[int]()
"""The processors of this process when it started; a worker later ties itself to one of them."""
NETWORK_FILES = ("/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf",
    "/etc/gai.conf", "/etc/services", "/etc/protocols", "/etc/ssl/certs", "/etc/ssl/cert.pem",
    "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted",
    "/etc/ca-certificates/extracted")  # fmt: skip
"""The files that say how names are looked up and which certificates TLS trusts. Private keys lie
beside these files, not in them.
"""
GPU_DEVICES = ("/dev/nvidia*", "/dev/nvidia-caps/*", "/dev/dri/*", "/dev/kfd")
GPU_FILES = ("/etc/OpenCL/vendors", "/etc/vulkan", "/etc/glvnd", "/opt/rocm*", "/opt/cuda",
    "/sys/bus/pci", "/sys/class/drm", "/sys/class/kfd", "/sys/dev/char", "/sys/devices",
    "/sys/module/amdgpu", "/sys/module/nvidia*")  # fmt: skip
"""The files of GPU drivers, and those in which the drivers look for their devices."""
GPU_PROCESSES = ("/proc/cpuinfo", "/proc/devices", "/proc/driver/nvidia*", "/proc/meminfo")
"""The files below /proc that GPU drivers read; bubblewrap shows /proc as it is."""
SHAPES = {
    "network": "network",
    "gpu": "gpu",
    "env": "env:NAME",
    "read": "read:PATH",
    "exec": "exec:PATH",
    "cpus": "cpus:N",
}
NOTHING = "none"
"""The grant that takes away everything a configuration file allows a bot."""
ALL = f"a grant is one of {', '.join(SHAPES.values())}, or {NOTHING}; join several by commas"
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}", re.ASCII)
NUMBER = re.compile(r"[1-9][0-9]{0,3}", re.ASCII)
MAX_PATH = 1000
ANY_EXECUTE = 0o111
MAX_FILES = 100_000
RESERVED = re.compile(
    r"LD_.*|PATH|HOME|TMPDIR|RUSTUP_HOME|PYTHON.*|GLIBC_TUNABLES|GCONV_PATH|ARENA_KEEPER_PID"
)
"""Variables that cannot be granted: those that decide how a program starts, because the arena's own
helpers get the same environment, and the one that the keeper sets.
"""
SYSTEM = ("/proc", "/sys", "/dev", "/run", "/var/run")
"""Folders that cannot be granted, because they lead to other processes, devices and services."""
MIN_HIDDEN = 8
"""Values of variables that are shorter than this are not hidden: they occur in any text, and are no
secrets.
"""


def gpu_devices() -> list[str]:
    """The device files of all GPUs of this machine."""
    return [path for path in _found(GPU_DEVICES) if not os.path.isdir(path)]  # noqa: PTH112


def opened_files(*, network: bool, gpu: bool) -> list[str]:
    """The files that a bot with the network or a GPU has to read, as far as they exist."""
    return _found([*(NETWORK_FILES if network else ()), *(GPU_FILES if gpu else ())])


def gpu_processes() -> list[str]:
    """The files below /proc that GPU drivers read, as far as they exist."""
    return _found(GPU_PROCESSES)


def cores_for(number: int) -> list[int]:
    """The numbers of ``number`` processors, those of this process first; fewer if the machine has
    fewer. Empty if ``number`` is at most 1, because a bot then shares the processor of this
    process, or if the system does not tell its processors.
    """
    if number < 2 or not CORES:  # noqa: PLR2004 - one is what every bot has
        return []
    mine = sorted(os.sched_getaffinity(0))
    return [*mine, *sorted(CORES - set(mine))][:number]


def _found(patterns: Sequence[str]) -> list[str]:
    """The paths that match the patterns, sorted for each pattern."""
    paths: list[str] = []
    for pattern in patterns:
        paths += sorted(glob(pattern))  # noqa: PTH207 - Path.glob takes no absolute patterns
    return paths


class Grants(Struct, frozen=True):
    """What one bot may do beyond its sandbox.

    ``network``  whether it may use the network
    ``gpu``      whether it may use the machine's GPUs
    ``cpus``     the number of processors that it may use, 1 without a grant
    ``env``      the names of environment variables that it gets
    ``read``     real paths of files and folders that it may read
    ``exec``     real paths of programs, and of folders with programs, that it may run
    """

    network: bool = False
    gpu: bool = False
    cpus: int = 1
    env: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    exec: tuple[str, ...] = ()

    @property
    def words(self) -> list[str]:
        """Each grant as the user writes it, such as ``env:KEY``, in a fixed order."""
        words = ["network"] if self.network else []
        words += [f"env:{name}" for name in self.env]
        words += [f"read:{path}" for path in self.read]
        words += [f"exec:{path}" for path in self.exec]
        if self.gpu:
            words.append("gpu")
        if self.cpus > 1:
            words.append(f"cpus:{self.cpus}")
        return words

    @property
    def kinds(self) -> list[str]:
        """The kinds of the grants, each once, without names and paths, as records have them."""
        kinds = [word.partition(":")[0] for word in self.words]
        return list(dict.fromkeys(kinds))

    def lack(self) -> str:
        """What a grant needs and this machine does not have, then ": " and the cure if there is
        one; empty if nothing is missing.
        """
        for name in self.env:
            if not os.environ.get(name):
                return f"the environment variable {name}, which is not set: export it first"
        for path in (*self.read, *self.exec):
            if os.path.realpath(path) != path or _kind_of(path) is None:
                return f"a file or folder {path}, which is not there"
        if self.gpu and not gpu_devices():
            return "a GPU, of which no device is in /dev: install its driver, or leave out gpu"
        if self.cpus > max(1, len(CORES)):
            return f"{self.cpus} processors, of which there are {len(CORES)}: allow fewer"
        return ""

    def variables(self) -> dict[str, str]:
        """The granted variables and their values in the environment of this process, as far as they
        are set.
        """
        return {name: os.environ[name] for name in self.env if name in os.environ}

    def hidden(self, output: bytes) -> bytes:
        """The bot's output with the values of its granted variables replaced by the names, such as
        ``[KEY]``, so that it can be stored. Values of fewer than `MIN_HIDDEN` characters stay.
        """
        if not self.env:
            return output
        forms = self._forms()
        for form in sorted(forms, key=len, reverse=True):
            output = output.replace(form, f"[{forms[form]}]".encode())
        return output

    def begun(self, output: bytes) -> int:
        """How many bytes at the end of the bot's output may be the beginning of a granted value,
        which continues in the output to come; 0 if none.
        """
        longest = 0
        for form in self._forms():
            for length in range(1, len(form)):
                if output.endswith(form[:length]):
                    longest = max(longest, length)
        return longest

    def _forms(self) -> dict[bytes, str]:
        """The forms in which granted values may be written, plain or in JSON, with the names of
        their variables.
        """
        forms = {}
        for name, value in self.variables().items():
            if len(value) >= MIN_HIDDEN:
                ascii_json = json.dumps(value)[1:-1]
                utf8_json = json.dumps(value, ensure_ascii=False)[1:-1]
                for form in (value, ascii_json, utf8_json):
                    forms[os.fsencode(form)] = name
        return forms

    def hidden_text(self, text: str) -> str:
        """The text with the values of the bot's granted variables replaced, like `hidden` for
        bytes.
        """
        raw = text.encode(errors="surrogateescape")
        return self.hidden(raw).decode(errors="replace") if self.env else text


NO_GRANTS = Grants()


def read_allowed(text: str) -> tuple[str, list[str]]:
    """The bot and the words of the grants in a text such as ``my-bot=network,env:KEY``. Raises
    ConfigError; whether the words are grants is not checked.
    """
    name, equals, words_text = text.partition("=")
    words = [word.strip() for word in words_text.split(",")]
    if not equals or not name or not words_text.strip():
        raise ConfigError(f"expected BOT=GRANT such as my-bot=network, got {text!r}", ALL)
    if any(sign in name for sign in "*?,"):
        raise ConfigError(
            f"expected the name of one bot to allow something, got {name!r}",
            "repeat --allow for each bot: what all may do, a stranger's may do too",
        )
    if ":" in name:
        raise ConfigError(
            f"expected a bot without its options to allow something, got {name!r}",
            f"name it {name.partition(':')[0]}, which counts with all options",
        )
    if NOTHING in words and len(words) > 1:
        raise ConfigError(f"expected {NOTHING} or grants, got both: {text!r}", ALL)
    return name, words


def make_grants(words: Iterable[str], base: Path, closed: Sequence[Path]) -> Grants:
    """The grants that these words stand for; the word ``none`` stands for nothing. Paths are
    relative to ``base``, and must not lie in the folders ``closed``, those with bots and results,
    nor contain one. Raises ConfigError, also for a grant of what this machine does not have.
    """
    granted: dict[str, Any] = {"env": [], "read": [], "exec": []}
    for word in words:
        kind, colon, value = word.partition(":")
        if word in ("network", "gpu"):
            granted[word] = True
        elif kind == "env" and colon:
            granted["env"].append(_variable(value))
        elif kind == "read" and colon:
            granted["read"].append(_readable(kind, value, base, closed))
        elif kind == "exec" and colon:
            granted["exec"].append(_executable(value, base, closed))
        elif kind == "cpus" and colon:
            granted["cpus"] = _processors(value)
        elif word != NOTHING:
            near = did_you_mean(kind, SHAPES) if kind else ""
            raise ConfigError(f"expected a grant, got {word!r}", f"{near}{ALL}")
    for name in ("env", "read", "exec"):
        granted[name] = tuple(sorted(set(granted[name])))
    grants = Grants(**granted)
    lack = grants.lack()
    if lack:
        thing, _, cure = lack.partition(": ")
        raise ConfigError(f"expected {thing}", cure)
    return grants


def _variable(name: str) -> str:
    """The name of a variable that may be granted. Raises ConfigError for any other."""
    if not VARIABLE.fullmatch(name):
        raise ConfigError(
            f"expected the name of an environment variable after env:, got {name!r}",
            "the value stays out of the command: export KEY=..., then --allow my-bot=env:KEY",
        )
    if RESERVED.fullmatch(name):
        raise ConfigError(
            f"expected a variable of the bot's own after env:, got {name}",
            "it decides how programs start, and the arena sets it for bots",
        )
    return name


def _processors(text: str) -> int:
    """The number of processors in a grant. Raises ConfigError."""
    if not NUMBER.fullmatch(text) or int(text) == 1:
        raise ConfigError(
            f"expected a number of processors from 2 up after cpus:, got {text!r}",
            "every bot has one; for example cpus:2",
        )
    if not CORES:
        raise ConfigError("cpus: works on Linux only", "leave it out")
    return int(text)


def _executable(text: str, base: Path, closed: Sequence[Path]) -> str:
    """The real path of a program, or of a folder of programs, that the bot may execute. Raises
    ConfigError.
    """
    real = _readable("exec", text, base, closed)
    if _kind_of(real) == "file" and not os.access(real, os.X_OK):
        raise ConfigError(
            f"expected a program after exec:, got {real}, which nobody may execute",
            f"run 'chmod +x {real}', or use read:{text} for a file that the bot only reads",
        )
    for path in _programs(real):
        if not is_readable(os.stat(path)):  # noqa: PTH116
            raise ConfigError(
                f"expected programs that the bot may read after exec:, got {path}",
                unreadable_cure(path),
            )
    return real


def _readable(kind: str, text: str, base: Path, closed: Sequence[Path]) -> str:
    """The real path of a file or folder that a grant of this ``kind``, ``read`` or ``exec``, lets
    the bot use. Raises ConfigError.
    """
    wanted = f"expected a file or folder after {kind}:, got {text!r}"
    try:
        # A link is followed here and only here, so that changing it later has no effect.
        real = os.path.realpath(base / Path(text).expanduser(), strict=True) if text else ""
    except (FileNotFoundError, NotADirectoryError):
        raise ConfigError(f"{wanted}, where nothing is") from None
    except (OSError, ValueError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"{wanted}: {reason}") from None
    if not real or _kind_of(real) is None:
        raise ConfigError(wanted, "pipes, sockets and devices cannot be allowed")
    if not real.isprintable() or "," in real or len(real) > MAX_PATH:
        fit = f"a path of up to {MAX_PATH} printable characters without commas after {kind}:"
        cure = "rename it, or allow the folder above"
        raise ConfigError(f"expected {fit}, got {real!r}", cure)
    _refuse_closed(kind, Path(real), closed)
    _refuse_ways_out(kind, real)
    return real


def _refuse_closed(kind: str, real: Path, closed: Sequence[Path]) -> None:
    """Raises ConfigError for a path that would show the bot more than the user can mean: a folder
    around the user's home or all temporary files, a part of the system, or one of the folders
    ``closed``.
    """
    whole = [Path(each).resolve() for each in (Path.home(), tempfile.gettempdir())]
    if any(each.is_relative_to(real) for each in whole):
        raise ConfigError(
            f"expected a file or folder of the bot's own after {kind}:, got {real}",
            "that shows it your keys and the files of others: name the folder that it needs",
        )
    if any(real.is_relative_to(place) for place in SYSTEM):
        raise ConfigError(
            f"expected files after {kind}:, got {real}, a part of the system",
            "that shows other processes and devices; for a GPU, allow gpu",
        )
    for folder in map(Path.resolve, closed):
        if real.is_relative_to(folder) or folder.is_relative_to(real):
            raise ConfigError(
                f"expected files apart from the arena's after {kind}:, got {real}",
                f"{folder} holds bots or results, which no bot may read: keep the files elsewhere",
            )


def _refuse_ways_out(kind: str, real: str) -> None:
    """Raises ConfigError if something in a folder leads out of it. Measured: bubblewrap lets a bot
    write into a pipe in a folder that it may only read.
    """
    waiting = [real] if _kind_of(real) == "folder" else []
    count = 0
    while waiting and count <= MAX_FILES:
        for entry in _entries(waiting.pop()):
            count += 1
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            elif not (entry.is_symlink() or entry.is_file(follow_symlinks=False)):
                raise ConfigError(
                    f"expected files and folders in {real} for {kind}:, got {entry.path}, a pipe,"
                    " socket or device",
                    "move it elsewhere: a bot could talk through it",
                )
    if count > MAX_FILES:
        raise ConfigError(
            f"expected at most {MAX_FILES:,} files in {real} for {kind}:, got more",
            "name the folder that the bot needs",
        )


def _programs(path: str) -> Iterator[str]:
    """The path itself if it is a file; for a folder, the executable files in it and below."""
    if _kind_of(path) == "file":
        yield path
        return
    waiting = [path]
    while waiting:
        for entry in _entries(waiting.pop()):
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            elif entry.is_file(follow_symlinks=False) and entry.stat().st_mode & ANY_EXECUTE:
                yield entry.path


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """The entries of a folder; empty if the user may not list it, because then no bot may."""
    try:
        with os.scandir(folder) as entries:
            return list(islice(entries, MAX_FILES + 1))
    except OSError:
        return []


def _kind_of(path: str) -> str | None:
    """The kind of a path, ``file`` or ``folder``; None if it is neither, or does not exist."""
    try:
        mode = os.lstat(path).st_mode
    except (OSError, ValueError):
        return None
    return "file" if stat.S_ISREG(mode) else "folder" if stat.S_ISDIR(mode) else None
