"""`make demo`, all but its installation."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.e2e.conftest import ROOT


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not here")
@pytest.mark.parametrize(
    ("core", "order", "games"),
    [
        ("native", ("careful", "greedy", "careful-8", "greedy-2", "random"), (2000, 120)),
        ("pure", ("greedy", "careful-8", "greedy-2", "random"), (300, 24)),
    ],
)
def test_the_demo_plays_without_forfeits_settles_the_order_and_says_what_to_type(
    arena, core, order, games
):
    if core == "native":
        pytest.importorskip("arena.rules.native._core", reason="the native core is not built")
    venv = arena.home / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "arena").write_text(f'#!/bin/sh\nexec {sys.executable} -m arena "$@"\n')
    (venv / "bin" / "arena").chmod(0o755)
    for stamp in (".made", ".ready"):
        (venv / stamp).touch()
    shutil.rmtree(arena.home / "bots")
    shutil.copytree(ROOT / "bots", arena.home / "bots", ignore=shutil.ignore_patterns("*@*"))
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
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^ +(\d+) +(\S+) +[<>?\d-]", done.stdout, re.MULTILINE)
    assert [bot for _, bot in rows[: len(order)]] == list(order)
    # who never won from a better one shares the last rank: so it is with few games
    assert [rank for rank, _ in rows[: len(order) - 2]] == list("12345")[: len(order) - 2]
    assert {bot for _, bot in rows[len(order) :]} == {
        "lookahead-python",
        "careful-python",
        "greedy-python",
        "careful-32",
    }
    first, second = sorted(folder.name for folder in (arena.home / "results").iterdir())
    assert (len(arena.records(first)), len(arena.records(second))) == games
    assert ("There was no C compiler" in done.stdout) == (core == "pure")
    assert not any(record["faults"] for record in arena.records(second))
    for command in ("report", "play greedy --human 0", "new my-bot"):
        assert f"  {venv}/bin/arena {command} " in done.stdout
    assert f'After "source {venv}/bin/activate"' in done.stdout
