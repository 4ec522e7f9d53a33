"""Which modules a fresh interpreter has loaded after running some code."""

import subprocess
import sys

from tests.support.commandline import ROOT

HEAVY = (
    "pandas",
    "numpy",
    "scipy",
    "jinja2",
    "asyncio",
    "distributed",
    "tomlkit",
    "gymnasium",
    "pettingzoo",
    "starlette",
    "uvicorn",
)


def loaded_by(code, *arguments):
    """Which modules a fresh interpreter has after running the code."""
    probe = (
        "import sys\nsys.argv = ['arena',"
        f" *{list(arguments)!r}]\n{code}\nprint('\\n'.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, cwd=ROOT, check=True
    )
    return set(done.stderr.split())
