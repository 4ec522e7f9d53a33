"""`make demo` with a broken bot; `.ci/first-run` plays the demo as it is, and checks its output."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.support.commandline import ROOT

needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not here")


def demo(arena, change):
    """Run the demo in a home of its own, with the bots of the repository after a `change`, but
    without the bot that looks ahead, which would use most of the CPU time, and with two deals in
    act 2. Return the finished process.
    """
    venv = arena.home / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "arena").write_text(f'#!/bin/sh\nexec {sys.executable} -m arena "$@"\n')
    (venv / "bin" / "arena").chmod(0o755)
    for stamp in (".made", ".ready"):
        (venv / stamp).touch()
    shutil.rmtree(arena.home / "bots")
    shutil.copytree(ROOT / "bots", arena.home / "bots", ignore=shutil.ignore_patterns("*@*"))
    change(arena.home / "bots")
    environment = {**os.environ, "ARENA_HOME": str(arena.home), "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["make", "demo", f"VENV={venv}", "DEMO_BOTS=greedy-python careful-python", "DEMO_DEALS=2"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )


def breaks(before, after):
    """Breaks a bot of act 2 on purpose."""

    def change(bots):
        program = bots / "greedy-python" / "bot.py"
        text = program.read_text()
        assert before in text
        program.write_text(text.replace(before, after))

    return change


@needs_make
@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            breaks("from arena.sdk", "import a_package_that_is_not_here\nfrom arena.sdk"),
            "error: greedy-python did not start: ",
        ),
        (
            breaks("    moves = ", "    assert position.left[position.seat] > 5\n    moves = "),
            "error: --strict: games were forfeited: greedy-python forfeited ",
        ),
    ],
)
def test_the_demo_fails_and_says_why_when_a_game_of_it_ends_by_a_forfeit(arena, change, told):
    done = demo(arena, change)
    assert done.returncode == 2
    assert told in done.stderr
    assert "hint: " in done.stderr
    assert "3. Your turn" not in done.stdout
