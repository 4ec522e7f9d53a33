"""How long the command and a bot take to start, next to the bare interpreter."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from statistics import median

from tests.bench.figures import Figure, alternate

ROUNDS = 15
COMMANDS = {
    "python": ("the bare interpreter", ["-c", "pass"], ""),
    "help": ("arena --help", ["-m", "arena", "--help"], "< 150"),
    "version": ("arena --version", ["-m", "arena", "--version"], ""),
    "sdk": ("a bot that imports arena.sdk", ["-c", "import arena.sdk"], ""),
    "worker": ("a worker's imports", ["-c", "import arena.tournament.workers"], ""),
}


def measure(*, quick: bool = False) -> Iterator[Figure]:
    """Milliseconds for complete processes."""
    works = {key: partial(_run, arguments) for key, (_, arguments, _) in COMMANDS.items()}
    seconds = alternate(works, 3 if quick else ROUNDS)
    for key, (name, _, aim) in COMMANDS.items():
        yield Figure(f"startup.{key}_ms", name, median(seconds[key]) * 1e3, "ms", aim)


def _run(arguments: Sequence[str]) -> None:
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
