"""What commands say, whole: help, tables, and the errors that a user can cause.

``make snapshots`` writes the expected output anew; read the difference before you commit it.
"""

import os
import re
import shlex

import pytest

from arena.cli.main import COMMANDS, HIDDEN
from tests.e2e.conftest import FIRST, RANDOM, Arena
from tests.exports.runs import duels, game_of, write_run

MISTAKES = {
    "run nobody rnd": 1,
    "run rnd": 1,
    "run bots/rnd --players 4": 1,
    "run --finish nope": 1,
    "run rnd rnd": 1,
    "run --players 5": 2,
    "run --boards owl": 1,
    "run --board none.txt": 2,
    "run --deals many": 2,
    "run --challenger zoe": 1,
    "run --boards ,": 2,
    "submit bots/rnd --command ''\"'\"'x'": 2,
    "stanings": 2,
    "play rnd fst --increment-ms 5": 2,
    "run --prior some": 2,
    "run --wrong": 2,
    "run --out bots/rnd": 1,
    "standings": 1,
    "standings nope": 1,
    "replay nope x": 1,
    "play rnd": 2,
    "submit nowhere": 2,
    "new bad/name": 1,
    "new bots": 1,
    "nonsense": 2,
    "run --match bird,owl": 1,
    "run --match bird,lion --boards bird": 1,
    "compare rnd fst --match bird,lion": 2,
    "compare rnd nobody": 1,
    "compare rnd rnd": 1,
    "compare rnd fst --players 3": 1,
    "compare rnd fst --pool fst": 1,
    "compare rnd fst --elo0 10": 1,
    "compare rnd fst --alpha 0.5": 2,
    "compare rnd": 2,
    "perft --deck RRYY": 1,
    "perft --deck ''": 1,
    "perft --deck RRY --seed x": 2,
    "perft --moves Ra1Ra2": 1,
    "perft --moves Ra1Rc2": 1,
    "perft --board nope": 1,
    "perft --depth 0": 2,
    "perft --players 5": 2,
    "play rnd --human 2": 2,
    "play rnd --human 0 --json": 2,
    "play rnd fst rnd fst --human 0": 2,
}
"""Command lines with their exit status."""

TABLES = [
    "runs",
    "standings made",
    "standings made --wide",
    "standings made --pairs",
    "standings made --csv -",
    "analyse made",
    "verify made",
    "replay made bird/a+b/0/0 --turn 3",
    "replay made bird/a+b/0/0 --turn 3 --seat 1",
    "bots",
    "play fst fst --seed x",
    "perft --seed x --deal 1 --depth 2",
    "rules",
    "rules R4.4",
    "rules village",
]
"""Command lines that print the same every time."""


@pytest.fixture(scope="module")
def arena(tmp_path_factory):
    """An arena with two bots and no run."""
    made = Arena(tmp_path_factory.mktemp("words") / "home")
    made.own["COLUMNS"] = "80"
    made.add_bot("rnd", RANDOM)
    made.add_bot("fst", FIRST)
    return made


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """The same with a run that was made up."""
    made = Arena(tmp_path_factory.mktemp("played") / "home")
    made.own["COLUMNS"] = "110"
    made.add_bot("fst", FIRST)
    late = game_of(("a", "b"), deal=9, faults=[(1, 5, "late", "the answer came too late")])
    run = write_run(made.home / "results" / "made", "abc", [*duels("abc", 9), late], deals=10)
    os.utime(run / "games.jsonl", (1, 1))  # nobody has played it of late
    return made


def told(arena, line, status=0):
    """What a command line prints, and says beside it."""
    out, err = (
        text.replace(str(arena.home), "HOME") for text in arena(*shlex.split(line), status=status)
    )
    return f"{out}--- stderr ---\n{err}" if err else out


def test_the_help_of_all(arena, snapshot):
    assert told(arena, "--help") == snapshot


@pytest.mark.parametrize("command", [*COMMANDS, *HIDDEN])
def test_the_help_of_every_command_shows_an_example(arena, command, snapshot):
    text = told(arena, f"{command} --help")
    assert text == snapshot
    assert re.search(r"^ +arena " + command, text, re.M), "it shows an example"
    assert not re.search(r"^ .*\.\.\.$", text, re.M), "it is not cut off"


@pytest.mark.parametrize("line", MISTAKES)
def test_what_a_user_gets_wrong_is_said_with_the_cure(arena, line, snapshot):
    text = told(arena, line, MISTAKES[line])
    assert text.startswith("--- stderr ---\n"), "nothing on stdout"
    assert "Traceback" not in text
    assert text == snapshot


@pytest.mark.parametrize("line", TABLES)
def test_tables(played, line, snapshot):
    out, _ = played(*shlex.split(line))
    assert out == snapshot
