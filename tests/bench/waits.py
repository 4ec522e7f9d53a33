"""What people wait for besides tables: the start of a bot, `arena check`, and the home page of
`arena serve`; and the keeper's look at an idle bot, which takes time from other bots.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from tests.bench.version import Version
from tests.serve.serving import Served

HERE = Path(__file__).parent
STARTS = 20
LOOK_S = 4
BESIDE = 300
"""The number of other processes beside which the keeper looks at its bot."""
REQUESTS = 50
ROUNDS = 5


def bots_in(folder: Path) -> dict[str, list[str]]:
    """The commands of an idle bot, by language: in Python and, if there is a compiler, in C. Their
    files are put into ``folder``.
    """
    shutil.copy(HERE / "idle.py", folder)
    commands = {"python": ["python3", "idle.py"]}
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler:
        program = folder / "idle"
        subprocess.run([compiler, "-O2", "-o", str(program), str(HERE / "idle.c")], check=True)
        commands["c"] = ["./idle"]
    return commands


def has_bubblewrap() -> bool:
    """Whether bots can be started in bubblewrap here."""
    return sys.platform == "linux" and shutil.which("bwrap") is not None


def starts_and_looks(
    versions: Mapping[str, Version], *, quick: bool
) -> dict[str, dict[str, float]]:
    """By figure and version, the median of several rounds. Empty without bubblewrap."""
    if not has_bubblewrap():
        return {}
    found: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as name:
        folder = Path(name)
        commands = bots_in(folder)
        starts, look_s, beside = (1, 1, 3) if quick else (STARTS, LOOK_S, BESIDE)
        tasks = {
            f"start_{key}_s": ["start", str(starts), name, *words]
            for key, words in commands.items()
        }
        tasks["look_percent"] = ["look", str(look_s), name, *commands["python"]]
        with processes(beside):
            for _ in range(1 if quick else ROUNDS):
                for task, words in tasks.items():
                    for version, each in versions.items():
                        value = float(each.run([str(HERE / "probe.py"), *words], folder))
                        value *= 100 if task == "look_percent" else 1
                        found.setdefault(task, {}).setdefault(version, []).append(value)
    return {
        task: {version: median(values) for version, values in of_version.items()}
        for task, of_version in found.items()
    }


@contextmanager
def processes(count: int) -> Iterator[None]:
    """So many sleeping processes."""
    sleeping = [subprocess.Popen(["sleep", "600"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in sleeping:
            process.kill()
            process.wait()


def home_page_s(versions: Mapping[str, Version], home: Path, *, quick: bool) -> dict[str, float]:
    """By version, the processor time in s of a request for the home page of ``home``, after the
    first few. The servers take turns.
    """
    serving = {name: each.served(home) for name, each in versions.items()}
    spent: dict[str, list[float]] = {name: [] for name in versions}
    try:
        for server in serving.values():
            for _ in range(3):
                server.fetch("/")
        for _ in range(2 if quick else ROUNDS):
            for name, server in serving.items():
                spent[name].append(_of_requests(server, 2 if quick else REQUESTS))
    finally:
        for server in serving.values():
            server.close()
    return {name: median(values) for name, values in spent.items()}


def _of_requests(server: Served, count: int) -> float:
    """The processor time in s of the server for one of ``count`` requests."""
    before = _spent_ns(server.process.pid)
    for _ in range(count):
        status, _, _ = server.fetch("/")
        assert status == 200
    # what a request leaves for afterwards counts, too
    time.sleep(0.05)
    return (_spent_ns(server.process.pid) - before) / 1e9 / count


def _spent_ns(process: int) -> int:
    """The processor time in ns of all threads of a process."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)
