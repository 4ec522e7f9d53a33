"""arena compare with real bots: its answers, its exit status, and that nothing but the games
decides.
"""

import json
import random
import re
import signal
import sys

import pytest

from tests.support.commandline import FIRST, RANDOM, ROOT, Arena
from tests.support.kills import kill_while_playing, wait_for_games
from tests.support.wording import lines_with, messages, without_figures

GREEDY = ROOT / "bots" / "greedy-python"
CLOSE = ("compare", "rnd", "fst", "--seed", "c3", "--elo1", 100)
TRUTH = ("verdict", "blocks", "games", "llr", "elo", "elo_low", "elo_high", "plain_elo", "looks")


def answer(out):
    found = json.loads(out)
    return {key: found[key] for key in TRUTH}


@pytest.fixture(scope="module")
def close(tmp_path_factory):
    """The exit status and the answer of a close comparison, undisturbed and by one worker."""
    arena = Arena(tmp_path_factory.mktemp("close") / "home")
    arena.add_bot("rnd", RANDOM)
    arena.add_bot("fst", FIRST)
    status, out, err = arena.ended(*CLOSE, "--jobs", 1, "--json", "--out", "quiet")
    assert status in (0, 4), err
    assert answer(out)["blocks"] > 10
    return status, answer(out)


def test_a_better_bot_is_found_better_and_a_worse_one_not(arena, snapshot):
    out, err = arena("compare", GREEDY, "rnd", "--seed", "s", "--out", "up")
    assert re.match(r"greedy-python .*\+\d.* rnd: better\n\d+ games", out)
    assert without_figures(out) == snapshot
    looks = [line for line in err.splitlines() if "(-2.94, 2.94) [0, 10]" in line]
    assert [line.split()[0] for line in looks][:2] == ["1", "2"]
    assert without_figures(looks[0]) == snapshot
    out, _ = arena("compare", GREEDY, "rnd", "--seed", "s", "--out", "up", "-v")
    assert out.splitlines()[0].endswith(": better")
    assert without_figures(out) == snapshot
    found = json.loads(
        arena("compare", "rnd", "greedy", "--seed", "s", "--json", "--out", "down", status=4)[0]
    )
    assert (found["verdict"], found["new"], found["old"]) == ("not better", "rnd", "greedy")
    assert found["llr"] <= found["lower"]
    assert found["elo"] < -100
    assert found["plain_elo_low"] is None


def test_too_few_blocks_leave_it_undecided_and_more_go_on(arena, snapshot):
    out, err = arena(*CLOSE, "--games", 6, "--out", "few", status=5)
    assert "undecided" in out.splitlines()[0]
    assert lines_with(out, "6 games") == snapshot
    assert lines_with(err, "--games") == snapshot
    first = arena.records("few")
    assert len(first) == 6
    _, err = arena(*CLOSE, "--max-blocks", 5, "--out", "few", status=5)
    assert lines_with(err, "6 games") == snapshot
    assert arena.records("few")[:6] == first
    assert len(arena.records("few")) == 10
    _, err = arena(*CLOSE, "--max-blocks", 4, "--out", "few", status=1)
    assert messages(err) == snapshot


def test_the_number_of_workers_changes_nothing(arena, close):
    status, out, _ = arena.ended(*CLOSE, "--jobs", 3, "--json", "--out", "jobs-3")
    assert (status, answer(out)) == close


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
def test_killing_the_arena_changes_nothing(arena, close):
    status, expected = close
    rng = random.Random(4)
    for _ in range(3):
        games, pause_s = rng.randint(1, 14), rng.random() * 0.1
        kill_while_playing(arena, games, pause_s, *CLOSE, "--jobs", 2, "--out", "killed")
    out, _ = arena(*CLOSE, "--jobs", 2, "--json", "--out", "killed", status=status)
    assert answer(out) == expected
    played = len(arena.records("killed"))
    again, _ = arena(*CLOSE, "--json", "--out", "killed", status=status)
    assert answer(again) == expected
    assert len(arena.records("killed")) == played, "what is decided is not played on"


def test_an_interruption_says_how_to_go_on(arena, snapshot):
    process = arena.start(*CLOSE, "--jobs", 1, "--out", "stopped")
    wait_for_games(arena, "stopped", 2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 130, err
    assert lines_with(err, "results/stopped") == snapshot
    assert "undecided" in out.splitlines()[0]


def test_without_out_the_same_comparison_is_found_again_and_is_complete(arena):
    arena("compare", "greedy", "rnd")
    out, err = arena("compare", "greedy", "rnd")
    assert out.splitlines()[0].endswith(": better")
    [run] = (arena.home / "results").iterdir()
    assert "already played" in err
    listed = json.loads(arena("runs", "--json")[0])
    assert [(entry["games"], entry["planned"]) for entry in listed] == [(len_of(out), len_of(out))]
    assert "missing" not in arena("standings", run.name)[0]


def len_of(out):
    return int(out.split(" games")[0].split()[-1])


def test_both_play_the_same_against_a_pool(arena):
    arena.add_bot("rn2", RANDOM)
    out, _ = arena(
        "compare",
        "greedy",
        "rnd",
        "--pool",
        "fst,rn2",
        "--players",
        3,
        "--boards",
        "bird,lion",
        "--elo1",
        400,
        "--json",
        "--out",
        "p",
    )
    found = json.loads(out)
    assert (found["verdict"], found["games"]) == ("better", found["blocks"] * 6)
    records = arena.records("p")
    decks = {}
    for record in records:
        assert decks.setdefault((record["board"], record["deal"]), record["deck"]) == record["deck"]
        assert {"fst", "rn2"} < set(record["bots"])


def test_the_working_copy_is_compared_with_the_registered_version(arena, snapshot):
    arena.add_bot("fst", RANDOM, to=".")
    out, err = arena("compare", "./fst", "fst", "--max-blocks", 2, status=5)
    assert lines_with(err, "fst@1") == snapshot
    assert "fst against fst@1" in out.splitlines()[0] or "Elo against fst@1" in out
    assert lines_with(out, "4 games") == snapshot


def test_a_game_that_cannot_be_played_is_an_error_and_not_a_verdict(arena, snapshot):
    """The bot kills its worker in every game; which game is the first to be given up is chance."""
    source = RANDOM.replace("import sys\n", "import os, sys\nfrom pathlib import Path\n").replace(
        '    elif message["type"] == "turn":',
        '    elif message["type"] == "turn":\n'
        '        stat = Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()\n'
        '        os.kill(int(stat[1]), 9)\n    elif message["type"] == "turn":',
    )
    arena.add_bot("killer", source)
    _, err = arena(
        "compare",
        "killer",
        "fst",
        "--jobs",
        1,
        "--sandbox",
        "off",
        "--trust",
        "killer,fst",
        status=1,
    )
    assert re.sub(r"bird/\S+", "GAME", lines_with(err, "voids.jsonl")) == snapshot


def test_what_is_no_number_is_refused(arena, snapshot):
    _, err = arena("compare", "a", "b", "--alpha", "nan", status=2)
    assert messages(err) == snapshot


def test_a_forecast_comes_first_and_a_limit_of_time_says_how_far_it_got(arena, snapshot):
    command = ("compare", "rnd", "fst", "--seed", "slow", "--elo1", 1, "--out", "timed")
    out, err = arena(*command, "--minutes", 0.05, status=5)
    first, last = err.splitlines()[1], err.splitlines()[-1]
    look = lines_with(err, "LLR").splitlines()[0]
    assert re.search(r" 2 Elo .*\d to \d.* 10 Elo ", first)
    assert without_figures(f"{first}\n{look}") == snapshot
    assert "undecided" in out.splitlines()[0]
    assert "0.05 min" in last
    assert without_figures(last).replace(" is worse ", " is better ") == snapshot
    assert "interrupted" not in err
    before = len(arena.records("timed"))
    found = json.loads(arena(*command, "--minutes", 0.05, "--json", status=5)[0])
    assert found["games"] > before, "the same command continues"
    assert 0 < found["more_games_low"] < found["more_games_high"]
    assert 0 <= found["superiority"] <= 1
