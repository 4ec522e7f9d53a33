"""`make demo`, all but its installation."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.e2e.conftest import ROOT

needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not here")


def demo(arena, core, change=lambda bots: None):
    """The demo in a home of its own, with the bots of the repository after a change, and how it
    ended.
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
    environment = {
        **os.environ,
        "ARENA_HOME": str(arena.home),
        "PYTHONPATH": str(ROOT),
        "ARENA_RULES": core,
    }
    done = subprocess.run(
        ["make", "demo", f"VENV={venv}"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    return venv, done


@needs_make
@pytest.mark.parametrize(("core", "games"), [("native", (600, 120)), ("pure", (600, 24))])
def test_the_demo_plays_without_forfeits_settles_the_order_and_says_what_to_type(
    arena, core, games
):
    if core == "native":
        pytest.importorskip("arena.rules.native._core", reason="the native core is not built")
    venv, done = demo(arena, core)
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^ +(\d+) +(\S+) +[<>?\d-]", done.stdout, re.MULTILINE)
    assert rows[:5] == [
        ("1", "greedy"),
        ("2", "careful-8"),
        ("3", "greedy-4"),
        ("4", "careful-2"),
        ("5", "random"),
    ]
    slow = {"lookahead-python"} if core == "native" else set()
    assert {bot for _, bot in rows[5:]} == {"careful-python", "greedy-python", "careful-32"} | slow
    first, second = sorted(folder.name for folder in (arena.home / "results").iterdir())
    assert (len(arena.records(first)), len(arena.records(second))) == games
    assert ("there was no C compiler" in done.stdout) == (core == "pure")
    assert [record["faults"] for record in arena.records(second) if record["faults"]] == []
    for command in ("report", "play greedy --human 0", "new my-bot"):
        assert f"  {venv}/bin/arena {command} " in done.stdout
    assert f'After "source {venv}/bin/activate"' in done.stdout


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
            "error: expected greedy-python to start, got: ",
        ),
        (
            breaks("    moves = ", "    assert position.left[position.seat] > 5\n    moves = "),
            "error: expected no forfeits, got some: greedy-python forfeited ",
        ),
    ],
)
def test_the_demo_fails_and_says_why_when_a_game_of_it_ends_by_a_forfeit(arena, change, told):
    _, done = demo(arena, "pure", change)
    assert done.returncode == 2
    assert told in done.stderr
    assert "hint: " in done.stderr
    assert "3. Your turn" not in done.stdout
