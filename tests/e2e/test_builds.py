"""Bots with build steps: a run and a league keep the files of such a bot, and build it again when
they go on.
"""

import json
import shutil

import pytest

from tests.support.commandline import RANDOM, SMALL
from tests.support.wording import messages

BUILD = [["sh", "-c", "cp bot.py program.py"]]
COMMAND = ["python3", "-S", "program.py"]
FILES = {"bot.py", "bot.toml"}


@pytest.fixture
def home(arena):
    """A home with a bot that is built, and a folder for temporary files of its own."""
    arena.add_bot("made", RANDOM, build=BUILD, command=COMMAND)
    (arena.home / "small.txt").write_text(SMALL)
    temporary = arena.home / "tmp"
    temporary.mkdir()
    arena.own["TMPDIR"] = str(temporary)
    return arena


def run_command(deals):
    return "run", "rnd", "made", "--board", "small.txt", "--deals", deals, "--out", "r"


def copies(home, run="r"):
    """The names of all files in the copies of the built bot."""
    folder = home.home / "results" / run / "bots"
    return {file.name for copy in folder.glob("made*") for file in copy.iterdir()}


def made_by(home, version):
    """Changes the version of the arena that made the run."""
    file = home.home / "results" / "r" / "run.json"
    info = json.loads(file.read_text())
    file.write_text(json.dumps({**info, "arena": version}))


def lose_last_game(home):
    journal = home.home / "results" / "r" / "games.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:-1]))


def forget_builds(home):
    shutil.rmtree(home.home.parent / "cache", ignore_errors=True)


def test_a_run_keeps_the_files_of_a_bot_and_not_its_build(home, snapshot):
    home(*run_command(1))
    assert copies(home) == FILES
    assert not list((home.home / "tmp").glob("qin-arena-builds-*"))
    made_by(home, "1.1.0")
    out, _ = home("verify", "r")
    assert out == snapshot
    lose_last_game(home)
    forget_builds(home)
    shutil.rmtree(home.home / "bots" / "made")
    home("run", "--finish", "r")
    assert copies(home) == FILES
    assert home("verify", "r")[0] == snapshot
    [copy] = (home.home / "results" / "r" / "bots").glob("made-*")
    (copy / "program.py").write_text("raise SystemExit\n")
    out, _ = home("verify", "r", status=1)
    assert out == snapshot
    lose_last_game(home)
    _, err = home("run", "--finish", "r", status=1)
    assert messages(err) == snapshot


def test_a_run_of_version_1_0_that_kept_builds_is_verified_and_goes_on(home, snapshot):
    home(*run_command(1))
    made_by(home, "1.0.0")
    [copy] = (home.home / "results" / "r" / "bots").glob("made-*")
    (copy / "program.py").write_text("raise SystemExit('not built from the files')\n")
    out, _ = home("verify", "r")
    assert out == snapshot
    lose_last_game(home)
    forget_builds(home)
    home("run", "--finish", "r", "--strict")
    home(*run_command(2), "--strict")
    assert copies(home) == FILES
    assert home("verify", "r")[0] == snapshot


def test_a_league_keeps_no_builds_and_goes_on_by_building_again(home):
    league = "league", "run", "builds", "--games", 8, "-q"
    board = "--board", "small.txt"
    home(*league, "made", "rnd", "--benchmarks", "random,greedy-4", *board)
    assert copies(home, "builds") == FILES
    before = len(home.records("builds"))
    forget_builds(home)
    home(*league)
    assert copies(home, "builds") == FILES
    more = home.records("builds")[before:]
    assert any("made@1" in record["bots"] for record in more)
    assert not any(record["faults"] for record in more)
