"""kill -9 at any moment, Ctrl-C, two arenas at once: every game is in the journal exactly once, and
no process stays.
"""

import os
import random
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.commandline import FIRST, THINKING, Arena
from tests.support.kills import (
    journal_lines,
    kill_while_playing,
    processes,
    wait_for_games,
    wait_until_gone,
    workers,
)
from tests.support.waiting import wait_for
from tests.support.wording import lines_with, messages

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")

RUN = ("run", "--deals", 20, "--seed", "kills", "--jobs", 2, "--out")
GAMES = 40


@pytest.fixture
def arena(arena):
    """A home whose bot ``rnd`` takes a while for its moves."""
    (arena.home / "bots" / "rnd" / "bot.py").write_text(THINKING)
    return arena


@pytest.fixture(scope="module")
def quiet(tmp_path_factory):
    """The records of an undisturbed run."""
    arena = Arena(tmp_path_factory.mktemp("quiet") / "home")
    arena.add_bot("rnd", THINKING)
    arena.add_bot("fst", FIRST)
    arena(*RUN, "quiet")
    records = arena.timeless("quiet")
    assert len(records) == GAMES
    return records


def test_killing_the_arena_at_random_moments_loses_and_doubles_nothing(arena, quiet):
    rng = random.Random(1)
    for _ in range(4):
        kill_while_playing(arena, rng.randint(0, 14), rng.random() * 0.1, *RUN, "killed")
    arena(*RUN, "killed")
    assert arena.timeless("killed") == quiet
    assert not processes(arena.home)


def kill_a_worker(arena, rng):
    """Kill one of the workers of the arena's run, unless all of them have ended: one that was just
    found may be gone.
    """
    running = workers(arena)
    rng.shuffle(running)
    for worker in running:
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)
            return


def test_killing_workers_and_bots_of_workers_voids_games_that_are_played_again(arena, quiet):
    rng = random.Random(2)
    process = arena.start(*RUN, "workers")
    for target in (3, 13, 26):
        wait_for_games(arena, "workers", target, process)
        kill_a_worker(arena, rng)
    _, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    assert re.search(
        r"a worker died: the \d+ games? that were handed out but had not come back are played again"
        r"|is void \(its worker died\)",
        err,
    )
    assert arena.timeless("workers") == quiet
    assert not processes(arena.home)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_lets_running_games_end_and_the_run_can_go_on(arena, quiet, number, snapshot):
    process = arena.start(*RUN, "stopped")
    wait_for_games(arena, "stopped", 5)
    process.send_signal(number)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 130, err
    assert "press Ctrl-C again to drop them" in err
    assert lines_with(err, "results/stopped") == snapshot
    is_slow = "the standings would take longer" in err  # whoever stops a run does not wait for them
    assert out.startswith("Rank") != is_slow
    assert 5 <= journal_lines(arena, "stopped") < GAMES
    assert not processes(arena.home)
    arena(*RUN, "stopped")
    assert arena.timeless("stopped") == quiet


def test_two_signals_drop_running_games_at_once(arena, zoo_bot):
    name = zoo_bot("silent")
    process = arena.start(
        "run", "rnd", name, "--move-ms", 600_000, "--deals", 2, "--out", "hang", "--jobs", 2
    )
    assert any("2 bots" in line for line in process.stderr)  # its start has been tried by then

    def is_each_worker_playing():
        # The process of the bot that was tried is kept; a second one starts only for a game.
        commands = processes(arena.home).values()
        return sum("silent.py" in command for command in commands) > 1

    wait_for(is_each_worker_playing, "two games with the silent bot")
    process.send_signal(signal.SIGINT)
    assert any("press Ctrl-C again to drop them" in line for line in process.stderr)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=240)  # less than the bot may take for its move
    assert process.returncode == 130
    wait_until_gone(arena.home)


def test_a_second_arena_on_the_same_run_is_refused(arena, snapshot):
    process = arena.start(*RUN, "shared")
    wait_for_games(arena, "shared", 1)
    _, err = arena(*RUN, "shared", status=1)
    assert messages(err) == snapshot
    process.communicate(timeout=240)
    assert process.returncode == 0
    assert journal_lines(arena, "shared") == GAMES


def test_a_game_that_kills_its_worker_is_given_up_and_the_others_are_played(arena):
    """The bot kills the arena's worker, the parent of its keeper, in the second deal only; a
    sandbox would keep it from that.
    """
    source = (arena.home / "bots" / "rnd" / "bot.py").read_text()
    killer = source.replace("import sys\n", "import os, sys\nfrom pathlib import Path\n").replace(
        '    elif message["type"] == "turn":',
        '    elif message["type"] == "turn" and sorted(message["hand"]) == HAND and'
        ' message["position"]["pile"] == 66:\n        keeper = os.getppid()\n        stat ='
        ' Path(f"/proc/{keeper}/stat").read_text().rpartition(")")[2].split()\n       '
        ' os.kill(int(stat[1]), 9)\n    elif message["type"] == "turn":',
    )
    first = sorted(_hand("killer-seed", 1))
    arena.add_bot("killer", f"HAND = {first!r}\n{killer}")
    _, err = arena(
        "run",
        "killer",
        "fst",
        "--deals",
        3,
        "--seed",
        "killer-seed",
        "--jobs",
        2,
        "--out",
        "k",
        "--sandbox",
        "off",
        status=1,
    )
    assert "error: bird/fst+killer/1/1 could not be played: its worker died" in err
    assert {record["id"] for record in arena.records("k")} == {
        f"bird/fst+killer/{deal}/{seating}" for deal in range(3) for seating in range(2)
    } - {"bird/fst+killer/1/1"}


def _hand(seed, deal):
    from arena.tournament.schedule import deck_of

    deck = deck_of(seed, "bird", deal)
    return [deck[at : at + 2] for at in range(0, 6, 2)]


def test_a_reader_that_goes_away_does_no_harm(arena):
    arena("run", "--deals", 1, "--out", "one")
    command = f"{sys.executable} -m arena replay one bird/fst+rnd/0/0 | head -1"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=arena.home,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
