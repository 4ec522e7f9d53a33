"""A version of the arena that is measured: this one, or another checkout beside it."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.serve.serving import Served
from tests.support.commandline import ROOT


class Version(NamedTuple):
    """The checkout of a version, and the Python that has what it needs."""

    root: Path
    python: str

    @classmethod
    def this(cls) -> "Version":
        """The version that measures."""
        return cls(ROOT, sys.executable)

    @classmethod
    def at(cls, checkout: Path) -> "Version":
        """The version in a folder, with the environment that `make` has made there."""
        return cls(checkout.resolve(), str(checkout.resolve() / ".venv" / "bin" / "python"))

    @property
    def environment(self) -> dict[str, str]:
        """The variables of its processes. Python compiles a module only once."""
        variables = {**os.environ, "PYTHONPATH": str(self.root), "NO_COLOR": "1"}
        variables.pop("PYTHONDONTWRITEBYTECODE", None)
        return variables

    def run(self, arguments: Sequence[str], folder: Path) -> str:
        """What its Python prints with these ``arguments`` in ``folder``."""
        return subprocess.run(
            [self.python, *arguments],
            cwd=folder,
            env=self.environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    def served(self, home: Path) -> Served:
        """Its server of a home."""
        return Served(home, python=self.python, root=self.root)
