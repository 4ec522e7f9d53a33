"""The forks that run the commands of most tests do what the started command does."""

import subprocess

import pytest

from tests.support.commandline import FIRST, RANDOM, Arena, without_waiting
from tests.support.kills import wait_for_games, wait_until_gone
from tests.support.loaded import loaded_arena

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
    out, err = started.communicate(timeout=250)
    # pandas is loaded, for which a fork does not wait
    assert (started.returncode, out, without_waiting(err)) == (
        status,
        *played(*arguments, status=status),
    )


def test_a_fork_plays_what_the_started_command_plays(played):
    [*first, _] = PLAY
    started = played.start(*first, "started")
    started.communicate(timeout=250)
    assert started.returncode == 0
    assert played.timeless("started") == played.timeless("r") != []


def test_what_one_fork_is_given_the_next_does_not_have(played, monkeypatch, snapshot):
    monkeypatch.setenv("ARENA_HOME", "/nowhere")
    assert "/nowhere" in played("standings", "r", status=1)[1]
    monkeypatch.delenv("ARENA_HOME")
    assert played("standings", "r")[1] == snapshot


def test_a_variable_that_counts_at_the_start_counts_for_a_fork(played, monkeypatch):
    monkeypatch.setenv("ARENA_RULES", "pure")
    assert "rules core pure" in played("--version")[0]


@pytest.fixture
def launched(played, tmp_path):
    """Starts commands by the launcher, as a shell would."""
    loaded_arena(played.environment).write_launcher(tmp_path / "launchers")

    def start(*arguments):
        return subprocess.Popen(
            [tmp_path / "launchers" / "arena", *map(str, arguments)],
            cwd=played.home,
            env=played.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


@pytest.mark.parametrize(("arguments", "status"), [COMMANDS[2], COMMANDS[-1]])
def test_the_launcher_of_a_shell_is_the_command(played, launched, arguments, status):
    started = launched(*arguments)
    out, err = started.communicate(timeout=250)
    # pandas is loaded, for which a fork does not wait
    assert (started.returncode, out, without_waiting(err)) == (
        status,
        *played(*arguments, status=status),
    )


def test_a_command_ends_with_its_launcher(played, launched):
    started = launched("run", "--deals", 500, "--seed", "x", "--out", "ended")
    wait_for_games(played, "ended", 1, started)
    started.kill()
    started.communicate()
    wait_until_gone(played.home)
    assert 0 < len(played.records("ended")) < 1000
