"""Bots that cannot play, and runs in which nothing was played: none of them looks like success."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from tests.support.commandline import RANDOM, add_zoo_bot
from tests.support.wording import lines_with, messages, without_figures

CRASH = RANDOM.replace(
    '    elif message["type"] == "turn":\n',
    '    elif message["type"] == "turn":\n        raise KeyError("a square")\n',
)
OPTIONS = """
[options]
depth = {type = "int", default = 3, min = 1, max = 9, help = "how far"}
"""


@pytest.fixture
def crash(arena):
    """A bot that greets and then crashes when it is asked."""
    arena.add_bot("crash", CRASH)
    return "crash"


def how_it_stopped(err, name):
    """The error that says that a bot stopped; at which turn of its last game is chance."""
    return re.sub(r"turn \d+", "turn N", lines_with(err, f"error: {name} "))


def games_of(arena, run, bot):
    return [record for record in arena.records(run) if bot in record["bots"]]


def test_a_bot_that_crashes_in_all_of_its_first_games_stops_and_the_others_play_on(
    arena, crash, snapshot
):
    command = ("run", "rnd", "fst", crash, "--deals", 20, "--seed", "s", "--out", "r")
    out, err = arena(*command, status=1)
    assert how_it_stopped(err, crash) == snapshot
    assert lines_with(err, "crash wrote") == snapshot
    assert ":\n  Traceback" in err
    assert "results/r/faults/bird/crash+" in err
    assert err.count("KeyError: 'a square'") == 1, "when it happens, and not again at the end"
    assert '  File "crash/bot.py", line ' in err
    assert lines_with(err, "hint: ") == snapshot
    assert "rnd" in out
    assert without_figures(lines_with(out, "of the 120")) == snapshot
    played = len(games_of(arena, "r", crash))
    assert 6 <= played < 80
    assert len(arena.records("r")) - played == 40
    _, err = arena(*command, "-q", status=1)  # a second session gives it another chance
    assert how_it_stopped(err, crash) == snapshot
    assert err.count("KeyError: 'a square'") == 1, "at the end, as nothing was shown before"
    assert played + 6 <= len(games_of(arena, "r", crash)) <= 80


def test_a_bot_that_ends_a_game_normally_is_never_stopped(arena):
    arena.add_bot("half", CRASH.replace("raise", "if seat: raise").replace(
        "        rng.seed", '        seat = message["seat"]\n        rng.seed'
    ))  # fmt: skip
    arena("run", "rnd", "half", "--deals", 10, "--out", "r")
    assert sum(bool(record["faults"]) for record in arena.records("r")) == 10


def test_a_run_by_precision_is_not_settled_without_a_bot_that_stopped(arena, crash, snapshot):
    _, err = arena("run", "rnd", "fst", crash, "--until", 1, "--deals", 60, "--out", "r", status=1)
    assert how_it_stopped(err, crash) == snapshot
    info = json.loads((arena.home / "results/r/run.json").read_text())
    assert info["config"]["settled"] is None
    assert len(games_of(arena, "r", crash)) < 60


def test_a_comparison_with_a_bot_that_only_crashes_has_no_verdict(arena, crash, snapshot):
    out, err = arena("compare", crash, "rnd", "--max-blocks", 200, "--out", "c", status=1)
    assert how_it_stopped(err, crash) == snapshot
    assert not out
    told, _ = arena("compare", "fst", crash, "--max-blocks", 9, "--json", status=1)
    assert json.loads(told)["verdict"] == "undecided"


def test_a_search_with_a_bot_that_only_crashes_suggests_nothing(arena, snapshot):
    folder = arena.add_bot("tuned", CRASH)
    with (folder / "bot.toml").open("a") as file:
        file.write(OPTIONS)
    out, err = arena("tune", "tuned", "--param", "depth", "--games", 200, "--out", "t", status=1)
    assert how_it_stopped(err, "tuned@up") == snapshot
    assert not out


def test_a_run_without_a_game_decided_by_play_has_no_standings(arena, snapshot):
    name = add_zoo_bot(arena, "illegal_move")
    command = ("run", "rnd", name, "--deals", 2, "--out", "r")
    out, err = arena(*command, status=1)
    assert not out
    assert messages(err) == snapshot
    told, _ = arena(*command, "--json", status=1)  # repeated, it is no better
    assert {row["bot"] for row in json.loads(told)["standings"]} == {"rnd", name}
    out, _ = arena("standings", "r")
    assert lines_with(out, "4 games") == snapshot
    arena("compare", "rnd", name, "--max-blocks", 2, "--out", "c", status=1)


def test_a_bot_that_does_not_start_is_found_before_the_first_game(arena, snapshot):
    names = [add_zoo_bot(arena, program) for program in ("startup_exits", "startup_wrong_ready")]
    for command in (("run", "rnd", *names), ("compare", "rnd", names[0])):
        out, err = arena(*command, status=1)
        assert not out
        assert messages(err) == snapshot
        assert err.count("no model file: weights.bin") == 1
        assert (f"{names[1]} did not start: " in err) == (names[1] in command)
    assert not list((arena.home / "results").glob("*"))


def test_a_bot_that_forfeits_each_of_its_games_makes_a_run_fail_however_often_it_is_asked(
    arena, snapshot
):
    name = add_zoo_bot(arena, "illegal_move")
    for _ in range(2):
        out, err = arena("run", "rnd", "fst", name, "--deals", 2, "--out", "r", status=1)
        assert messages(err) == snapshot
        assert name in out


def test_a_strict_run_fails_on_one_forfeit(arena, snapshot):
    name = add_zoo_bot(arena, "exits_midway")
    command = ("run", "rnd", "fst", name, "--deals", 1, "--out", "r")
    out, _ = arena(*command)
    assert name in out
    out, err = arena(*command, "--strict", status=1)
    assert name in out
    assert messages(err) == snapshot
    arena("run", "rnd", "fst", "--deals", 1, "--strict")


BUSY = """
import os, signal, sys
from types import SimpleNamespace
from arena.cli.signals import stop_on_signals
runner = SimpleNamespace(stop_level=0)
runner.request_stop = lambda: setattr(runner, "stop_level", runner.stop_level + 1)
with stop_on_signals(runner):
    print("busy", flush=True)
    said = 0
    while os.getppid() == int(sys.argv[1]):
        if runner.stop_level > said:
            said = runner.stop_level
            print(said, flush=True)
"""


def test_a_second_ctrl_c_ends_a_command_that_does_something_else_than_wait_for_games():
    with subprocess.Popen(
        [sys.executable, "-c", BUSY, str(os.getpid())],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        for expected in ("busy", "1"):
            assert process.stdout.readline().strip() == expected
            process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130


def test_five_different_faults_are_printed_and_then_where_the_others_are(arena, snapshot):
    arena.add_bot("various", CRASH.replace('"a square"', 'str(message["hand"])'))
    _, err = arena("run", "various", "rnd", "--deals", 4, "--seed", "s", "--out", "r", status=1)
    assert err.count("forfeit: various (exit): ") == 5
    assert lines_with(err, "further") == snapshot


OTHERS = "expected games of the bots in run.json, got games of 102 others, such as a0"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("standings", OTHERS),
        ("report", OTHERS),
        ("analyse", OTHERS),
        ("verify", "2 bots and 2 tables compared: 52 differences"),
    ],
)
def test_a_journal_with_games_of_many_other_bots_is_refused_before_they_are_rated(
    arena, command, words
):
    arena("run", "random", "greedy", "--deals", 1, "--in-process", "--out", "r")
    journal = arena.home / "results/r/games.jsonl"
    record = json.loads(journal.read_text().splitlines()[0])
    lines = []
    for number in range(51):
        game = {**record, "id": f"x/{number}/0/0", "bots": [f"a{number}", f"b{number}"]}
        lines.append(json.dumps(game) + "\n")
    with journal.open("a") as file:
        file.writelines(lines)
    assert words in "".join(arena(command, "r", status=1))
