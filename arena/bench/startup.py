"""How long the command and a bot take to start, beside the bare interpreter."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import partial

from arena.bench.figures import Figure, best_seconds

TIMES = 15


def measure() -> Iterator[Figure]:
    """Milliseconds of whole processes, the best of several."""
    commands = {
        "python": ("the bare interpreter", ["-c", "pass"], ""),
        "help": ("arena --help", ["-m", "arena", "--help"], "< 150"),
        "version": ("arena --version", ["-m", "arena", "--version"], ""),
        "sdk": ("a bot that imports arena.sdk", ["-c", "import arena.sdk"], ""),
        "worker": ("a worker's imports", ["-c", "import arena.tournament.workers"], ""),
    }
    for key, (name, arguments, aim) in commands.items():
        yield Figure(f"startup.{key}_ms", name, best_seconds(partial(_run, arguments), TIMES) * 1e3, "ms", aim)


def _run(arguments: Sequence[str]) -> None:
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)  # noqa: S603
