"""A home that is served."""

import os

import pytest

from tests.exports.runs import duels, game_of, write_run
from tests.web.serving import HALF, HOSTILE, Served, server

__all__ = ["home", "served", "server"]


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """A home with a finished run, one that is half played, and some that strangers made."""
    folder = tmp_path_factory.mktemp("home")
    results = folder / "results"
    write_run(results / "done", "abc", duels("abc", 2), deals=2)
    write_run(results / "half", "abc", HALF, deals=2)
    (results / "link").symlink_to(results / "done")
    games = [game_of((HOSTILE, "a"), deal=0, faults=[(0, 2, "exit", HOSTILE)])]
    write_run(results / "<b>x", [HOSTILE, "a"], games, planned="ab")
    write_run(results / "torn", "ab", [])
    (results / "torn" / "games.jsonl").write_bytes(b"nonsense\n")
    write_run(results / "piped", "ab", [])
    (results / "piped" / "games.jsonl").unlink()
    os.mkfifo(results / "piped" / "games.jsonl")
    for name, text in (("broken", "{" + HOSTILE), ("deep", "[" * 100_000)):
        (results / name).mkdir()
        (results / name / "run.json").write_text(text)
    return folder


@pytest.fixture(scope="session")
def served(home):
    """One server for all tests that leave it as it is."""
    started = Served(home)
    yield started
    started.close()
