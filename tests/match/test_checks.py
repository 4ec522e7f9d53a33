"""The steps of a check: a good bot passes all, and each way of going wrong is found by the step
that is for it, with the cure.
"""

import threading
from types import SimpleNamespace

import pytest

from arena.errors import BusyMachineError
from arena.faults import FaultKind
from arena.match import check
from arena.match.bench import SHORT_MS, Bench, CheckTimeOver, Trial
from arena.match.check import StepResult, check_bot, check_object, run_step
from arena.match.steps import STEPS
from arena.players.folder import bot_at
from arena.players.sandbox.tiers import OPEN
from arena.players.timekeeper import Timekeeper
from tests.support.wording import without_figures

GOOD = """
import json, os, random, sys, time
rng = random.Random()
def say(**fields):
    print(json.dumps(fields), flush=True)
def answer(message):
    say(type="move", id=message["id"], move=rng.choice(message["legal"]))
for line in sys.stdin:
    message = json.loads(line)
    kind = message["type"]
    if kind == "hello":
        say(type="ready", id=message["id"], view="full")
    elif kind == "start":
        rng.seed(message["seed"])
    elif kind == "turn":
        answer(message)
    elif kind == "quit":
        break
"""


def changed(old, new):
    assert old in GOOD
    return GOOD.replace(old, new)


STEP_BY_STEP = {
    # step: (a bot that fails it, part of the problem, part of the cure)
    "nothing on stdout before it is asked": (
        GOOD.replace("for line in sys.stdin", 'say(type="ready", id=1)\nfor line in sys.stdin'),
        "expected nothing before hello, got",
        "P2.3",
    ),
    "starts and answers hello": (
        "import sys\nsys.exit('no weights')",
        "no weights",
        "by hand in its folder",
    ),
    "a complete game": (
        changed('rng.choice(message["legal"])', "'pass'"),
        "illegal move after 0 placements",
        '"view":"full"',
    ),
    "a small board, 3 players, middle seat": (
        changed('rng.seed(message["seed"])', 'assert message["players"] == 2, "two only"'),
        "two only",
        "fix the error that its stderr shows",
    ),
    "26 x 26 squares, until no tiles are left": (
        changed('rng.seed(message["seed"])', 'assert len(message["board"]) < 20, "too large"'),
        "too large",
        "fix the error",
    ),
    "another player forfeits: three players go on as two": (
        changed(
            'elif kind == "turn"',
            'elif message.get("forfeited"):\n        sys.exit("what?")\n    elif kind == "turn"',
        ),
        "what?",
        "fix the error",
    ),
    "twenty more games in the same process": (
        changed(
            'rng.seed(message["seed"])',
            'games = globals().get("games", 0) + 1\n        assert games < 15, "tired"',
        ),
        "tired",
        "fix the error",
    ),
    "silent between games": (
        changed(
            'elif kind == "turn"',
            'elif kind == "end":\n        say(type="thanks")\n    elif kind == "turn"',
        ),
        "expected nothing after the end of a game, got",
        "P2.3",
    ),
    "not too much on stderr": (
        changed('rng.seed(message["seed"])', 'sys.stderr.write("x" * 3_000_000)'),
        "expected less than 1 MiB of stderr per game",
        "log less",
    ),
    "fields it does not know": (
        changed(
            'kind = message["type"]',
            'kind = message["type"]\n    assert "mood" not in str(message), "unknown field"',
        ),
        "unknown field",
        "",
    ),
    "messages of a type it does not know": (
        changed(
            '    elif kind == "quit":',
            '    elif kind not in ("played", "end", "quit"):\n        sys.exit("unknown type")\n   '
            ' elif kind == "quit":',
        ),
        "unknown type",
        "",
    ),
    "fields in another order, with spaces between": (
        changed(
            "message = json.loads(line)",
            "assert line.startswith('{\"type\"'), 'not mine'\n    message = json.loads(line)",
        ),
        "not mine",
        "",
    ),
    "ids that jump, up to the largest": (
        changed('say(type="move", id=message["id"]', 'say(type="move", id=message["id"] % 2**32'),
        "repeat the id",
        "",
    ),
    "lines that arrive in pieces": (
        changed(
            "for line in sys.stdin:\n",
            'for line in iter(lambda: os.read(0, 1 << 20).decode().splitlines()[-1], ""):\n',
        ),
        "",
        "",
    ),
    "a long pause before a turn": (
        changed(
            '    elif kind == "turn":',
            '    elif kind == "turn" and time.time() - began > 0.2:\n        sys.exit("you are'
            ' slow")\n    elif kind == "turn":',
        ).replace('rng.seed(message["seed"])', "began = time.time()"),
        "",
        "",
    ),
    "exits when its input ends before hello": (
        GOOD + "time.sleep(600)",
        "it was still running 2 s later",
        "P3.5",
    ),
    "exits after quit": (changed('"quit"', '"goodbye"'), "it was still running 2 s later", "P3.5"),
}


@pytest.fixture
def bench(tmp_path):
    made = []

    def make(source, **manifest):
        (tmp_path / "bot.py").write_text(source)
        lines = ['name = "b"', 'command = ["python3", "-S", "bot.py"]'] + [
            f"{key} = {str(value).lower()}" for key, value in manifest.items()
        ]
        (tmp_path / "bot.toml").write_text("\n".join(lines))
        made.append(Bench(bot_at(tmp_path), 2000, OPEN))
        return made[-1]

    yield make
    for each in made:
        each.player.stop()


def run(name, bench):
    [entry] = [entry for entry in STEPS if entry.name == name]
    return run_step(entry, bench)


@pytest.mark.parametrize("name", STEP_BY_STEP)
def test_the_step_finds_the_bot_that_goes_wrong_there_and_names_the_cure(bench, name):
    source, problem, cure = STEP_BY_STEP[name]
    culprit = bench(source)
    if name in ("not too much on stderr", "nothing on stdout before it is asked"):
        run("starts and answers hello", culprit)
        run("a complete game", culprit)
    step = run(name, culprit)
    assert step.problem, step
    assert problem in step.problem + " ".join(step.stderr), step
    assert step.cure
    assert cure in step.cure


def test_a_good_bot_passes_every_step(tmp_path):
    (tmp_path / "good.py").write_text(GOOD)
    steps = list(check_bot(bot_at(tmp_path / "good.py"), 2000, OPEN))
    assert [step for step in steps if step.problem or step.left_out] == []
    assert len(steps) == len(STEPS) + 1 >= 40
    assert len({step.name for step in steps}) == len(steps)


@pytest.mark.parametrize(("clock", "side_by_side"), [("cpu", True), ("wall", False)])
def test_steps_with_their_own_processes_are_tried_beside_the_others_if_cpu_time_counts(
    monkeypatch, clock, side_by_side
):
    """By the wall clock a bot could be late because of its other processes."""
    apart = [entry.name for entry in STEPS if entry.is_apart]
    others = [entry.name for entry in STEPS if not entry.is_apart]
    tried = []

    def try_step(entry, _):
        tried.append((entry.name, threading.current_thread() is threading.main_thread()))
        return StepResult(entry.name)

    monkeypatch.setattr(check, "run_step", try_step)
    bench = SimpleNamespace(
        player=SimpleNamespace(clock=clock), expect_time=lambda: None, is_over=False
    )
    steps = list(check.try_steps(bench))
    assert [step.name for step in steps] == [entry.name for entry in STEPS]
    assert {name for name, is_main in tried if not is_main} == set(apart if side_by_side else [])
    assert [name for name, is_main in tried if is_main and name in others] == others
    assert bench.is_over


def test_a_bot_with_a_process_for_each_game_passes_too(bench):
    good = bench(GOOD, fresh=True)
    assert [step for step in (run_step(entry, good) for entry in STEPS) if step.problem] == []


@pytest.mark.long
def test_a_bot_that_takes_three_seconds_to_start_has_the_time_to_exit_before_hello(bench):
    slow = bench("import time\ntime.sleep(3)\n" + GOOD)
    assert run("starts and answers hello", slow).passed
    assert run("exits when its input ends before hello", slow).passed


def test_a_machine_too_busy_to_judge_a_bot_ends_the_check_and_is_not_the_bots_fault(
    tmp_path, monkeypatch, snapshot
):
    def too_busy(*_):
        raise BusyMachineError("this machine is too busy to time bots fairly")

    monkeypatch.setattr(Timekeeper, "ask", too_busy)
    (tmp_path / "good.py").write_text(GOOD)
    *_, hello, rest = check_bot(bot_at(tmp_path / "good.py"), 2000, OPEN)
    assert hello.problem == snapshot
    assert rest.detail == snapshot


def test_what_makes_the_rest_meaningless_is_said(tmp_path, snapshot):
    (tmp_path / "mute.py").write_text("import sys\nsys.exit('no weights')\n")
    *_, hello, rest = check_bot(bot_at(tmp_path / "mute.py"), 2000, OPEN)
    assert (hello.name, hello.stderr) == snapshot
    assert (rest.left_out, rest.detail) == snapshot


def test_a_failure_that_comes_again_is_told_once_and_the_rest_is_left_out(tmp_path, snapshot):
    (tmp_path / "passer.py").write_text(changed('rng.choice(message["legal"])', "'pass'"))
    *_, first, second, rest = check_bot(bot_at(tmp_path / "passer.py"), 2000, OPEN)
    assert first.problem == snapshot
    assert second.problem == snapshot
    assert (second.cure, second.stderr) == ("", ())
    assert rest.left_out == len(STEPS) - 5
    assert rest.detail == snapshot


def test_after_several_different_failures_the_rest_is_left_out(tmp_path, snapshot):
    table = """message["board"][0] + "abcd"[message["seat"]] + "abcd"[message["players"] - 1]"""
    (tmp_path / "crasher.py").write_text(changed('rng.seed(message["seed"])', f"sys.exit({table})"))
    steps = list(check_bot(bot_at(tmp_path / "crasher.py"), 2000, OPEN))
    assert sum(bool(step.problem) for step in steps) == 4
    assert steps[-1].left_out == len(STEPS) - 7
    assert steps[-1].detail == snapshot


def test_a_bot_that_waits_is_told_that_it_would_be_late_by_the_wall_clock(tmp_path, snapshot):
    (tmp_path / "waiter.py").write_text(changed("    answer(", "    time.sleep(0.3); answer("))
    checked = check_bot(bot_at(tmp_path / "waiter.py"), 100, OPEN)
    step = next(step for step in checked if step.name == "a complete game")
    checked.close()
    assert step.passed
    assert without_figures(step.detail.partition("; ")[2]) == snapshot


def test_a_bot_that_computes_is_not_told_that_it_waits(bench):
    computes = "    end = time.process_time() + 0.1\n        while time.process_time() < end: pass"
    busy = bench(changed("    answer(", f"{computes}\n        answer("))
    assert "waits" not in run("a complete game", busy).detail


def test_a_check_that_takes_too_long_stops_and_names_the_steps_that_it_did_not_try(
    tmp_path, monkeypatch, snapshot
):
    (tmp_path / "good.py").write_text(GOOD)
    bot = bot_at(tmp_path / "good.py")
    played = list[str]()
    for step in check_bot(bot, 100, OPEN):
        played.append(step.name)
        if step.name == "bird, 2 players, moves first":
            # From now on, more time has passed than a check may take.
            monkeypatch.setattr(Bench, "most_s", -1.0)
    assert step.left_out == len(STEPS) - 5
    assert step.passed is None
    why, _, names = step.detail.partition(": ")
    assert why == snapshot
    assert names.startswith("bird, 2 players,")
    assert step.detail.endswith(STEPS[-1].name)
    assert played[-2] == "bird, 2 players, moves first"
    assert not check_object(bot, 100, OPEN, [step])["passed"]


def test_a_game_of_a_check_that_takes_too_long_stops_between_two_moves(bench, monkeypatch):
    slow = bench(GOOD)
    monkeypatch.setattr(Bench, "most_s", -1.0)
    with pytest.raises(CheckTimeOver):
        slow.game(Trial(2, 0))


def test_a_missing_program_is_found_before_anything_is_started(tmp_path, snapshot):
    (tmp_path / "bot.toml").write_text('name = "ghost"\ncommand = ["no-such-program"]\n')
    first, rest = check_bot(bot_at(tmp_path), 2000, OPEN)
    assert first.problem == snapshot
    assert first.cure
    assert rest.left_out == len(STEPS)


def test_more_time_than_a_run_gives_is_a_failure(bench, snapshot):
    step = run("the times in bot.toml fit into this check's", bench(GOOD, move_ms=5000))
    assert step.problem == snapshot


def test_another_game_from_the_same_seed_is_a_note_and_no_failure(bench, snapshot):
    step = run(
        "the same seed gives the same game", bench(changed('rng.seed(message["seed"])', "pass"))
    )
    assert not step.problem
    assert step.detail == snapshot


def test_too_much_memory_is_a_fault_of_that_kind(bench, snapshot):
    hungry = changed('rng.seed(message["seed"])', 'table = b"x" * 200_000_000; time.sleep(1)')
    step = run("a complete game", bench(hungry, memory_mb=64))
    assert step.problem.startswith(f"{FaultKind.MEMORY} after 0 ")
    assert step.cure == snapshot


@pytest.mark.parametrize(
    ("spends", "expected"),
    [("120", 120), pytest.param("message['time_ms'] * 0.6", SHORT_MS, marks=pytest.mark.long)],
)
def test_most_games_are_at_a_short_time_that_grows_for_a_bot_that_needs_more(
    tmp_path, spends, expected
):
    script = tmp_path / "slow.py"
    script.write_text(
        "import json, sys, time\nfor line in sys.stdin:\n    message = json.loads(line)\n    if"
        " message['type'] == 'hello':\n        print(json.dumps({'type': 'ready', 'id':"
        " message['id'], 'view': 'full'}), flush=True)\n    elif message['type'] == 'turn':\n    "
        f"    end = time.process_time() + {spends} / 1000\n        while time.process_time() <"
        " end:\n            pass\n        print(json.dumps({'type': 'move', 'id': message['id'],"
        " 'move': message['legal'][0]}), flush=True)\n"
    )
    (tmp_path / "bot.toml").write_text(
        'name = "slow"\nversion = "1"\ncommand = ["python3", "slow.py"]\n'
    )
    bench = Bench(bot_at(tmp_path), 500, OPEN)
    try:
        bench.game(Trial(2, 0, is_full=True))
        assert (bench.short_ms, bench.slowest_ms > 100) == (SHORT_MS, True)
        bench.game(Trial(2, 0))
        assert bench.short_ms >= expected
        assert bench.games == 2, "a game that came to nothing does not count"
    finally:
        bench.player.stop()


def test_what_is_cut_of_notes_is_said_and_is_no_failure(bench, snapshot):
    name, note = "notes within their limits", 'note={"value": 61, "text": "fine", "best\\u202e": 1}'
    talker = bench(
        changed('move=rng.choice(message["legal"])', f'move=message["legal"][0], {note}')
    )
    assert run(name, talker).detail == snapshot
    talker.game(Trial(2, 0))
    step = run(name, talker)
    assert step.passed
    assert step.detail == snapshot
    assert "text" not in step.detail
    assert step.figures["cut"] == 2 * step.figures["notes"] > 0


@pytest.mark.parametrize(
    ("at_most", "problem"),
    [
        ("sys.exit('too deep')", "with depth=9,fast=true: exit after 0 placements"),
        ("time.sleep(600)", ""),
    ],
)
def test_options_are_tried_at_both_ends_of_their_range_and_may_cost_time(bench, at_most, problem):
    source = changed(
        'rng.seed(message["seed"])', 'rng.seed(message["seed"])\n        told = message["options"]'
    ).replace("        answer(", f'        if told["depth"] == 9: {at_most}\n        answer(')
    depth = '{type = "int", default = 3, min = 1, max = 9}'
    fast = '{type = "bool", default = false}'
    step = run(
        "options at their least and at their most",
        bench(source, **{"options.depth": depth, "options.fast": fast}),
    )
    assert problem in step.problem
    assert bool(problem) == bool(step.problem)


def test_every_kind_of_fault_has_what_was_expected_and_a_cure():
    assert all(kind.expected and kind.cure for kind in FaultKind)
