"""The sandbox around a bot's process, in three tiers; which one works is found out by trying."""

import json
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from arena.errors import SandboxError
from arena.players.labels import split_options
from arena.players.passing import make_passing, remove_passing
from arena.players.sandbox import confine
from arena.players.sandbox.grants import NO_GRANTS, Grants
from arena.players.sandbox.launch import Launch, bubblewrap_launch, landlock_launch, plain_launch
from arena.players.timekeeper import kernel_counts

PATIENCE_S = 10

# A tier counts as working only if a child in it has tried what it must not do, and failed: what a
# kernel or a program's version promises, a container, a profile or an old setting may take back.
# The first two entries are different: they say that nothing inside can win those rights back.
#
# In a pid namespace of its own the child cannot name any process outside, and a signal to PARENT
# says nothing there: an arena that is process 1 or 2, as in a container, has the number of a
# process inside. What counts then is that /proc shows the namespace of the child.
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
    "programs": refused(run_own),
}))
"""
Tier = Literal["bubblewrap", "landlock", "none"]
Mode = Literal["auto", "require", "off", "strangers"]
TIERS: tuple[Tier, ...] = ("bubblewrap", "landlock")
"""The tiers that confine a bot, best first."""
PROGRAMS = "programs"
"""The barrier that needs Landlock within bubblewrap, and only strangers."""
INSTALL = (
    "install bubblewrap (on Debian and Ubuntu: apt install bubblewrap), then run 'arena doctor'"
)


class Sandbox(Struct, frozen=True):
    """A sandbox tier, ready for use. ``none`` limits what a bot uses, but not what it sees.

    ``grants`` are what the user lets bots do beyond it, by their labels without options. They count
    where a bot plays, and never where it is built. ``strangers``: the kernel has to count processor
    time, and no bot may run what it writes.
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
    ) -> Launch:
        """How to start a bot's command, which may change its files if ``writable``. Raises
        SandboxError, or OSError where the machine lacks something such as descriptors.
        """
        folder = folder.resolve()
        if self.tier == "none":
            return plain_launch(command, os.environ, grants)
        prepare = bubblewrap_launch if self.tier == "bubblewrap" else landlock_launch
        with ExitStack() as undo:
            launch = prepare(
                command, folder, os.environ, undo=undo, writable=writable, grants=grants
            )
            undo.pop_all()  # from here on the launch has them
        return launch

    def of(self, label: str) -> Grants:
        """What the bot with this label may do, with whatever options."""
        return self.grants.get(split_options(label)[0], NO_GRANTS) if self.grants else NO_GRANTS

    def text(self, labels: Sequence[str]) -> str:
        """The tier for a record, and what each seat might do beyond: ``landlock 0=network,env``."""
        granted = [(seat, self.of(label).kinds) for seat, label in enumerate(labels)]
        return " ".join(
            [self.tier, *(f"{seat}={','.join(kinds)}" for seat, kinds in granted if kinds)]
        )


OPEN = Sandbox()
"""No sandbox."""


class Choice(Struct, frozen=True):
    """The sandbox to use, a warning if it is none, and a note if it is not the best tier."""

    sandbox: Sandbox
    warning: str = ""
    note: str = ""


def choose(mode: Mode, *, accept_none: bool) -> Choice:
    """The best tier that works here. Raises SandboxError if one is required and none works."""
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
        f"expected a sandbox for bots, got none that works here ({why})",
        f"{INSTALL}; or use --trust to name the bots that you trust enough to run by hand; or"
        " --unsafe-no-sandbox for all bots",
    )


def at_least(least: Tier, *, strangers: bool = False) -> Sandbox:
    """The best sandbox that works here. Raises SandboxError unless it is as good as ``least``, and
    good enough for ``strangers``.
    """
    if least == "none":
        return OPEN
    found = choose("require", accept_none=False)
    if TIERS.index(found.sandbox.tier) > TIERS.index(least):
        raise SandboxError(f"expected the {least} sandbox, got a weaker one: {found.note}", INSTALL)
    if strangers:
        lack = "" if kernel_counts() else "a kernel that does not count their processor time"
        lack = lack or failure(found.sandbox.launch, PROGRAMS)
        if lack:
            raise SandboxError(
                f"expected walls for bots of strangers, got {lack}", "'arena doctor' says more"
            )
    return replace(found.sandbox, strangers=strangers)


def _why_weaker(reason: str) -> str:
    why = f"does not work here ({reason})" if shutil.which("bwrap") else "is not installed"
    return f"bubblewrap {why}: bots play in Landlock; see 'arena doctor'"


# whether a tier works here


def failure(launch: Callable[..., Launch], *more: str) -> str:
    """Why the tier does not hold on this machine, with ``more`` barriers; empty if it does."""
    if not confine.is_known():
        return "no list of system calls for this processor"
    temporary = make_passing("probe")
    try:
        barriers = look_around(launch, Path(temporary))
    except FileNotFoundError as error:
        return f"{error.filename} is not installed"
    except (OSError, ValueError, subprocess.SubprocessError, SandboxError) as error:
        return str(error)
    finally:
        remove_passing(temporary)
    needless = {PROGRAMS} - {*more}
    open_barriers = [name for name, holds in barriers.items() if not (holds or name in needless)]
    return f"it leaves open: {', '.join(open_barriers)}" if open_barriers else ""


def sdk_failure(launch: Callable[..., Launch]) -> str:
    """Why a bot that imports ``arena.sdk`` does not start in the tier; empty if it does."""
    temporary = make_passing("probe")
    try:
        Path(temporary, "bot.py").write_text("import arena.sdk")
        report_of(launch(["python3", "bot.py"], Path(temporary)), Path(temporary))
    except (OSError, ValueError, subprocess.SubprocessError, SandboxError) as error:
        return str(error)
    finally:
        remove_passing(temporary)
    return ""


def look_around(launch: Callable[..., Launch], temporary: Path) -> dict[str, bool]:
    """Which barriers hold a child in the sandbox. Raises OSError, ValueError, SubprocessError."""
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
        (home / "spy.py").write_text(
            "\n".join(f"{name} = {value!r}" for name, value in facts.items()) + SPY
        )
        barriers: dict[str, bool] = json.loads(report_of(launch(["python3", "spy.py"], home), home))
    return barriers


def _pid_namespace() -> str:
    """The pid namespace of this process, such as ``pid:[4026531836]``. Raises ValueError."""
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError as error:
        raise ValueError("this system shows no pid namespaces in /proc") from error


def report_of(start: Launch, home: Path) -> str:
    """What the child prints. Raises ValueError or SubprocessError if it fails or takes too long."""
    # Our own script in the sandbox under test.
    try:
        child = subprocess.Popen(  # noqa: S603
            start.command, cwd=home, env=start.environment, pass_fds=start.descriptors, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True,
        )  # fmt: skip
        with child:
            try:
                out, err = child.communicate(timeout=PATIENCE_S)
            except BaseException:
                # All of it: a bubblewrap that is killed while it starts, by a Ctrl-C for example,
                # leaves a process that waits for its parent for ever (seen in 12 of 300).
                with suppress(ProcessLookupError):  # a Ctrl-C waits for it a little
                    os.killpg(child.pid, signal.SIGKILL)
                raise
    finally:
        start.close()
        start.clear_up()
    if child.returncode:
        last = err.strip().splitlines()[-1:] or [f"status {child.returncode}"]
        raise ValueError(last[0][:200])
    return out
