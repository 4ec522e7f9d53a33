"""Whether a sandbox tier works on this machine: a child process
inside it looks around and reports.
"""

import json
import os
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
            # Our own script in the sandbox under test.
            done = subprocess.run(  # noqa: S603
                start.command, cwd=home, env=start.environment, pass_fds=start.descriptors,
                capture_output=True, text=True,
                timeout=PATIENCE_S, check=False, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        finally:
            start.close()
            start.clear_up()
    if done.returncode:
        raise ValueError(
            done.stderr.strip().splitlines()[-1][:200]
            if done.stderr.strip()
            else f"status {done.returncode}"
        )
    barriers: dict[str, bool] = json.loads(done.stdout)
    return barriers
