"""The sandbox around a bot's process, in three tiers. Which tiers work on this machine is found out
by trying.
"""

import json
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from arena.errors import SandboxError
from arena.players.counter import kernel_counts
from arena.players.keeper_client import KeeperClient, output_chunks
from arena.players.labels import split_options
from arena.players.sandbox import confine
from arena.players.sandbox.grants import NO_GRANTS, Grants
from arena.players.sandbox.launch import Launch, bubblewrap_launch, landlock_launch, plain_launch
from arena.players.temporary import make_passing, remove_passing

PATIENCE_S = 10
CHUNK = 1 << 16

# A tier counts as working only if a child in it has tried forbidden things and failed. The version
# of a kernel or program proves nothing, because a container, a profile or an old setting may weaken
# it. The first two entries check something else: that rights cannot be regained inside.
#
# In a pid namespace of its own the child cannot name a process outside, so a signal to PARENT
# proves nothing: if the arena is process 1 or 2, as in a container, a process inside has that
# number. There, the check is that /proc shows the namespace of the child.
SPY = """
import json, os, shutil, socket, subprocess, tempfile
def refused(action):
    try:
        action()
    except OSError:
        return True
    return False
def dial():
    with socket.socket() as one:
        one.settimeout(0.5)
        one.connect(("127.0.0.1", PORT))
def run_other():
    subprocess.run(["/bin/true"])
def run_own():
    with tempfile.TemporaryDirectory() as folder:
        own = os.path.join(folder, "own")
        shutil.copy("/bin/true", own)
        subprocess.run([own])
def is_apart():
    if os.readlink("/proc/self/ns/pid") == NAMESPACE:
        return refused(lambda: os.kill(PARENT, 0))
    return os.readlink("/proc/self") == str(os.getpid())
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps({
    "new privileges": status["NoNewPrivs"].strip() == "1",
    "system calls": status["Seccomp"].strip() == "2",
    "network": refused(dial),
    "files": refused(lambda: open(SECRET).close()),
    "kernel settings": refused(lambda: open("/proc/sys/kernel/core_pattern", "r+").close()),
    "processes": is_apart(),
    "programs": refused(run_own) and refused(run_other),
}))
"""
Tier = Literal["bubblewrap", "landlock", "none"]
Mode = Literal["auto", "require", "off", "strangers"]
TIERS: tuple[Tier, ...] = ("bubblewrap", "landlock")
"""The tiers that confine a bot, the best first."""
PROGRAMS = "programs"
"""The barrier that keeps a bot from running programs that it wrote, and programs of the system that
neither its command nor its bot.toml names. It needs Landlock within bubblewrap, and only bots of
strangers need it.
"""
INSTALL = (
    "install bubblewrap (on Debian and Ubuntu: apt install bubblewrap), then run 'arena doctor'"
)


class Sandbox(Struct, frozen=True):
    """A sandbox tier that is ready for use: ``bubblewrap``, ``landlock``, which confines less, or
    ``none``, which limits the resources that a bot uses, but not what it sees.

    ``grants`` has what the user allows bots beyond the sandbox, by their labels without options.
    Grants count where a bot plays, never where it is built. With ``strangers``, the kernel must
    count CPU time, and Landlock must keep bots from running other programs than those prepared for
    them; `at_least` checks both.
    """

    tier: Tier = "none"
    grants: Mapping[str, Grants] = {}
    strangers: bool = False

    def launch(
        self,
        command: Sequence[str],
        folder: Path,
        *,
        writable: bool = False,
        grants: Grants = NO_GRANTS,
        programs: Sequence[str] = (),
    ) -> Launch:
        """What a keeper needs to start a bot's command in its folder; nothing is started yet. A
        ``writable`` folder may be changed by the command. ``grants`` are those of this bot. It may
        also run the ``programs`` that its bot.toml lists. Raises SandboxError, or OSError if the
        machine lacks something such as descriptors.
        """
        folder = folder.resolve()
        if self.tier == "none":
            return plain_launch(command, folder, os.environ, writable=writable, grants=grants)
        prepare = bubblewrap_launch if self.tier == "bubblewrap" else landlock_launch
        with ExitStack() as undo:
            launch = prepare(
                command,
                folder,
                os.environ,
                undo=undo,
                writable=writable,
                grants=grants,
                programs=programs,
            )
            undo.pop_all()  # from here on the launch has them
        return launch

    def of(self, label: str) -> Grants:
        """What the bot with this label is allowed beyond the sandbox, whatever its options."""
        return self.grants.get(split_options(label)[0], NO_GRANTS) if self.grants else NO_GRANTS

    def text(self, labels: Sequence[str]) -> str:
        """The tier as records have it, with what each seat was allowed beyond it: ``landlock
        0=network,env``.
        """
        words: list[str] = [self.tier]
        for seat, label in enumerate(labels):
            kinds = self.of(label).kinds
            if kinds:
                words.append(f"{seat}={','.join(kinds)}")
        return " ".join(words)


OPEN = Sandbox()
"""The sandbox that confines nothing."""


class Choice(Struct, frozen=True):
    """The sandbox to use, with a ``warning`` if it confines nothing, and a ``note`` if it is not
    the best tier; the other texts are empty.
    """

    sandbox: Sandbox
    warning: str = ""
    note: str = ""


def choose(mode: Mode, *, accept_none: bool) -> Choice:
    """The sandbox for the ``mode`` that the user chose. ``auto`` and ``require`` take the best tier
    that works on this machine; if none works, ``auto`` with ``accept_none`` confines nothing.
    ``strangers`` takes bubblewrap, and requires that it is good enough for bots of strangers.
    ``off`` confines nothing. Raises SandboxError if no sandbox works that the mode accepts.
    """
    if mode == "off":
        return Choice(OPEN, "no sandbox: bots run with your own rights")
    if mode == "strangers":
        return Choice(at_least("bubblewrap", strangers=True))
    reasons = {}
    for tier in TIERS:
        reasons[tier] = failure(Sandbox(tier).launch)
        if not reasons[tier]:
            weaker = "" if tier == TIERS[0] else _why_weaker(reasons[TIERS[0]])
            return Choice(Sandbox(tier), note=weaker)
    why = "; ".join(f"{tier}: {reason}" for tier, reason in reasons.items())
    if mode == "auto" and accept_none:
        return Choice(OPEN, f"no sandbox works here ({why}): bots run with your own rights")
    raise SandboxError(
        f"no sandbox for bots works on this machine ({why})",
        f"{INSTALL}; or use --trust to name the bots that you trust enough to run by hand; or"
        " --unsafe-no-sandbox for all bots",
    )


def at_least(least: Tier, *, strangers: bool = False) -> Sandbox:
    """The best sandbox that works on this machine. Raises SandboxError if it is weaker than
    ``least``, or not good enough for ``strangers``. If ``least`` is ``none``, the sandbox that
    confines nothing.
    """
    if least == "none":
        return OPEN
    choice = choose("require", accept_none=False)
    if TIERS.index(choice.sandbox.tier) > TIERS.index(least):
        raise SandboxError(
            f"this machine cannot provide the sandbox {least}: {choice.note}", INSTALL
        )
    if strangers:
        lack = "" if kernel_counts() else "the kernel does not count their CPU time"
        lack = lack or failure(choice.sandbox.launch, PROGRAMS)
        if lack:
            raise SandboxError(
                f"this machine cannot isolate bots of strangers: {lack}",
                "'arena doctor' says what to install",
            )
    return replace(choice.sandbox, strangers=strangers)


def why_no_strangers() -> str:
    """Why this machine cannot isolate bots of strangers, by trying; empty if it can."""
    try:
        at_least("bubblewrap", strangers=True)
    except SandboxError as error:
        return str(error)
    return ""


def _why_weaker(reason: str) -> str:
    """A note that explains why the sandbox is not the best tier."""
    why = f"does not work here ({reason})" if shutil.which("bwrap") else "is not installed"
    return f"the sandbox is Landlock, because bubblewrap {why}; see 'arena doctor'"


# Does a tier work on this machine?


def failure(launch: Callable[..., Launch], *more: str) -> str:
    """Why a tier does not work on this machine, by trying; empty if it does. ``launch`` is that of
    the `Sandbox` with this tier. ``more`` are names of barriers that must hold, too, although the
    user's own bots do not need them: `PROGRAMS` is one.
    """
    if not confine.is_known():
        return "no list of system calls for this processor"
    temporary = make_passing("probe")
    try:
        barriers = look_around(launch, Path(temporary))
    except FileNotFoundError as error:
        return f"{error.filename} is not installed"
    except (OSError, ValueError, SandboxError) as error:
        return str(error)
    finally:
        remove_passing(temporary)
    needless = {PROGRAMS} - {*more}
    open_barriers = [name for name, holds in barriers.items() if not (holds or name in needless)]
    return f"it leaves open: {', '.join(open_barriers)}" if open_barriers else ""


def sdk_failure(launch: Callable[..., Launch]) -> str:
    """Why a bot that imports ``arena.sdk`` does not start in a tier, by trying; empty if it does.
    ``launch`` is that of the `Sandbox` with this tier.
    """
    temporary = make_passing("probe")
    try:
        Path(temporary, "bot.py").write_text("import arena.sdk")
        report_of(launch(["python3", "bot.py"], Path(temporary)), Path(temporary))
    except (OSError, ValueError, SandboxError) as error:
        return str(error)
    finally:
        remove_passing(temporary)
    return ""


def look_around(launch: Callable[..., Launch], temporary: Path) -> dict[str, bool]:
    """Starts a child in the sandbox of ``launch`` that tries forbidden things, and returns by the
    name of each barrier, such as ``network``, whether it holds. ``temporary`` is an empty folder
    for that. Raises OSError, ValueError, SandboxError.
    """
    home = temporary / "bot"
    home.mkdir()
    (temporary / "secret").write_text("x")
    with socket.create_server(("127.0.0.1", 0)) as server:
        facts = {
            "PORT": server.getsockname()[1],
            "SECRET": str(temporary / "secret"),
            "PARENT": os.getpid(),
            "NAMESPACE": _pid_namespace(),
        }
        lines = [f"{name} = {value!r}" for name, value in facts.items()]
        (home / "spy.py").write_text("\n".join(lines) + SPY)
        barriers: dict[str, bool] = json.loads(report_of(launch(["python3", "spy.py"], home), home))
    return barriers


def _pid_namespace() -> str:
    """The pid namespace of this process, such as ``pid:[4026531836]``. Raises ValueError."""
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError as error:
        raise ValueError("this system shows no pid namespaces in /proc") from error


def report_of(start: Launch, home: Path) -> str:
    """Runs the command of ``start`` under a keeper in the folder ``home``, and returns what it
    prints. Clears ``start`` up. Raises OSError, and ValueError if the command fails or takes more
    than `PATIENCE_S` seconds.
    """
    deadline = time.monotonic() + PATIENCE_S
    with ExitStack() as undo:
        undo.callback(start.clear_up)
        undo.callback(start.close)
        stderr = undo.enter_context(tempfile.TemporaryFile())
        nothing = undo.enter_context(open(os.devnull, "rb"))  # noqa: PTH123 - no Path is at hand
        read, write = os.pipe()
        undo.callback(os.close, read)
        try:
            keeper = KeeperClient(start, [], home, nothing.fileno(), write, stderr)
        finally:
            os.close(write)
        undo.callback(keeper.close)
        output = b"".join(output_chunks(read, deadline))
        while not (keeper.has_ended or keeper.ending) and time.monotonic() < deadline:
            keeper.wait(deadline - time.monotonic())
        if not (keeper.has_ended or keeper.ending):
            raise ValueError(f"a trial of the sandbox took longer than {PATIENCE_S} s")
        if keeper.ending and keeper.ending.exit == 0:
            return output.decode()
        lines = os.pread(stderr.fileno(), CHUNK, 0).decode(errors="replace").strip().splitlines()
        if lines:
            raise ValueError(lines[-1][:200])
        raise ValueError(str(keeper.ending or f"status {keeper.process.wait(PATIENCE_S)}"))
