"""The forks that run the commands of most tests do what the started command does."""

import pytest

from tests.e2e.conftest import FIRST, RANDOM, Arena

PLAY = ("run", "--deals", 1, "--seed", "x", "--out", "r")
COMMANDS = [
    (("--help",), 0),
    (("--version",), 0),
    (("standings", "r", "--pairs"), 0),
    (("standings", "r", "--json"), 0),
    (("runs",), 0),
    (("verify", "r"), 0),
    (("replay", "r", "bird/fst+rnd/0/0"), 0),
    (("play", "fst", "fst", "--seed", "x"), 0),
    (("replay", "r", "nope"), 1),
    (("compare", "fst", "fst@1"), 1),
    (("standings", "--nonsense"), 2),
]


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """An arena with a run."""
    made = Arena(tmp_path_factory.mktemp("played") / "home")
    made.add_bot("rnd", RANDOM)
    made.add_bot("fst", FIRST)
    made(*PLAY)
    return made


@pytest.mark.parametrize(("arguments", "status"), COMMANDS)
def test_a_fork_says_and_returns_what_the_started_command_does(played, arguments, status):
    started = played.start(*arguments)
    said = started.communicate(timeout=250)
    assert (started.returncode, *said) == (status, *played(*arguments, status=status))


def test_a_fork_plays_what_the_started_command_plays(played):
    [*first, _] = PLAY
    started = played.start(*first, "started")
    started.communicate(timeout=250)
    assert started.returncode == 0
    assert played.timeless("started") == played.timeless("r") != []


def test_what_one_fork_is_given_the_next_does_not_have(played, monkeypatch):
    monkeypatch.setenv("ARENA_HOME", "/nowhere")
    assert "/nowhere" in played("standings", "r", status=1)[1]
    monkeypatch.delenv("ARENA_HOME")
    assert "run results/r" in played("standings", "r")[1]


def test_a_variable_that_counts_at_the_start_counts_for_a_fork(played, monkeypatch):
    monkeypatch.setenv("ARENA_RULES", "pure")
    assert "rules core pure" in played("--version")[0]
