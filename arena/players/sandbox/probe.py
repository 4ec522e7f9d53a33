"""Whether a sandbox tier works on this machine: a child process
inside it looks around and reports.
"""

import json
import os
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

from arena.errors import SandboxError
from arena.players.passing import make_passing, remove_passing
from arena.players.sandbox import seccomp
from arena.players.sandbox.launch import Launch

PATIENCE_S = 10

# A tier counts as working only if a child in it has tried what it must not do, and failed: what a
# kernel or a program's version promises, a container, a profile or an old setting may take back.
# The first two entries are different: they say that nothing inside can win those rights back.
SPY = """
import json, os, socket
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
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps({
    "new privileges": status["NoNewPrivs"].strip() == "1",
    "system calls": status["Seccomp"].strip() == "2",
    "network": refused(dial),
    "files": refused(lambda: open(SECRET).close()),
    "kernel settings": refused(lambda: open("/proc/sys/kernel/core_pattern", "r+").close()),
    "processes": refused(lambda: os.kill(PARENT, 0)),
}))
"""


def failure(launch: Callable[..., Launch]) -> str:
    """Why the tier does not hold on this machine; empty if it does."""
    if not seccomp.is_known():
        return "no list of system calls for this processor"
    temporary = make_passing("probe")
    try:
        barriers = look_around(launch, Path(temporary))
    except (OSError, ValueError, subprocess.SubprocessError, SandboxError) as error:
        return str(error)
    finally:
        remove_passing(temporary)
    open_barriers = [name for name, holds in barriers.items() if not holds]
    return f"it leaves open: {', '.join(open_barriers)}" if open_barriers else ""


def look_around(launch: Callable[..., Launch], temporary: Path) -> dict[str, bool]:
    """Which barriers hold a child in the sandbox. Raises OSError, ValueError or SubprocessError if
    the child does not get that far.
    """
    home = temporary / "bot"
    home.mkdir()
    (temporary / "secret").write_text("x")
    with socket.create_server(("127.0.0.1", 0)) as server:
        facts = {
            "PORT": server.getsockname()[1],
            "SECRET": str(temporary / "secret"),
            "PARENT": os.getpid(),
        }
        (home / "spy.py").write_text(
            "\n".join(f"{name} = {value!r}" for name, value in facts.items()) + SPY
        )
        start = launch(["python3", "spy.py"], home)
        try:
            report = report_of(start, home)
        finally:
            start.close()
            start.clear_up()
    barriers: dict[str, bool] = json.loads(report)
    return barriers


def report_of(start: Launch, home: Path) -> str:
    """What the child prints. Raises ValueError or SubprocessError if it fails or takes too long."""
    # Our own script in the sandbox under test.
    with subprocess.Popen(  # noqa: S603
        start.command, cwd=home, env=start.environment, pass_fds=start.descriptors, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True,
    ) as child:  # fmt: skip
        try:
            out, err = child.communicate(timeout=PATIENCE_S)
        except BaseException:
            # All of it: a bubblewrap that is killed while it starts, by a Ctrl-C for example,
            # leaves a process that waits for its parent for ever (seen in 12 of 300).
            os.killpg(child.pid, signal.SIGKILL)
            raise
    if child.returncode:
        raise ValueError(
            err.strip().splitlines()[-1][:200] if err.strip() else f"status {child.returncode}"
        )
    return out
