"""What a bot's author lives with, as a user types it: reproduce, replay --bot, regress, play --log,
audit-leaks.
"""

import json
import os
import re
import shlex
import shutil
import signal
from pathlib import Path

import msgspec
import pytest

from arena.cli.main import run_command
from arena.players import views
from tests.support.commandline import FIRST, RANDOM, Arena, add_zoo_bot
from tests.support.waiting import wait_for
from tests.support.wording import lines_with, messages

LAST = RANDOM.replace('rng.choice(message["legal"])', 'message["legal"][-1]')
NEW = FIRST.replace(
    'message["legal"][0]', 'message["legal"][-(len(message["position"]["provinces"]) >= 2)]'
)
"""The first move, but the last one once there are two provinces."""


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """An arena with two runs: `duels` of two bots, and `faulty`, in which a third one commits a
    fault in every game.
    """
    made = Arena(tmp_path_factory.mktemp("played"))
    made.add_bot("rnd", RANDOM)
    made.add_bot("fst", FIRST)
    add_zoo_bot(made, "exits")
    made("run", "rnd", "fst", "--deals", 1, "--boards", "bird,lion", "--jobs", 1, "--seed", "duels",
         "--out", "duels")  # fmt: skip
    made(
        "run",
        "rnd",
        "fst",
        "exits",
        "--players",
        3,
        "--deals",
        1,
        "--move-ms",
        700,
        "--jobs",
        1,
        "--seed",
        "faults",
        "--out",
        "faulty",
    )
    return made.home


@pytest.fixture
def arena(played, tmp_path):
    """That arena, to be changed at will."""
    shutil.copytree(played, tmp_path, dirs_exist_ok=True, symlinks=True)
    return Arena(tmp_path)


def test_a_fault_is_reproduced(arena, snapshot):
    record = arena.records("faulty")[-1]
    seat = record["bots"].index("exits")
    for words in (["faulty", record["id"]], [record["id"]]):
        out, _ = arena("reproduce", *words)
        lines = out.splitlines()
        assert (
            lines[0]
            == f"exits (seat {seat}) in {record['id']}, after {record['faults'][0]['turn']}"
            " placements"
        )
        assert '     stderr:   File "exits/exits.py", line 7, in misbehave' in lines
        told = [line for line in lines[1:] if "stderr: " not in line]
        assert "\n".join(told) == snapshot(name="fault")


def without_times(text):
    """The text with N for the times that a bot took, which are others in another run."""
    return re.sub(r"\d+\.\d+(?= ms\b)", "N", text)


def test_a_bot_that_was_cured_answers_and_one_that_was_not_does_not(arena, snapshot):
    record, program = arena.records("faulty")[0], arena.home / "bots" / "exits" / "exits.py"
    program.write_text("import polite\npolite.play()\n")
    out, _ = arena("reproduce", "faulty", record["id"])
    assert lines_with(out, "verdict") == snapshot
    out, _ = arena("reproduce", "faulty", record["id"], "--bot", "exits", status=4)
    _, _, answer = lines_with(out, "by exits").partition("  (")
    assert without_times(answer) == snapshot
    assert lines_with(out, "verdict") == snapshot
    program.write_text("import polite\npolite.play(lambda message: print('hm', flush=True))\n")
    found = json.loads(
        arena("reproduce", "faulty", record["id"], "--bot", "./bots/exits", "--json", status=1)[0]
    )
    assert (found["verdict"], found["recorded"]["kind"], found["decisions"][-1]["fault"]) == (
        "other",
        "exit",
        "not json",
    )
    assert (found["words"], found["differs"]) == (["hm"], None)


def test_what_cannot_be_reproduced_says_why(arena, snapshot):
    good = arena.records("duels")[0]["id"]
    assert messages(arena("reproduce", "duels", good, status=1)[1]) == snapshot
    assert messages(arena("reproduce", status=2)[1]) == snapshot
    record = arena.records("faulty")[0]
    game, seat = record["id"], record["bots"].index("rnd")
    assert messages(arena("reproduce", "faulty", game, "--seat", seat, status=1)[1]) == snapshot
    for copy in (arena.home / "results" / "faulty" / "bots").glob("exits-*"):
        copy.rename(arena.home / "moved")
    assert messages(arena("reproduce", "faulty", game, status=1)[1]) == snapshot
    [file] = (arena.home / "results" / "faulty" / "faults" / game).iterdir()
    file.unlink()
    out, _ = arena("reproduce", "faulty", game, "--bot", "exits")
    assert lines_with(out, "sent ") == snapshot


def test_a_decision_is_asked_again(arena, snapshot):
    record = arena.records("duels")[0]
    seat = record["bots"].index("fst")
    turn = 6 + seat
    out, _ = arena("replay", "duels", record["id"], "--turn", turn, "--bot", "fst")
    move = record["moves"][turn]
    then, now = out.splitlines()[-2:]
    assert then.split()[:2] == ["then", move]
    assert now.split()[:2] == ["now", move]
    assert without_times(f"{then}\n{now}") == snapshot
    assert out.startswith(f"turn {turn}: rnd plays ")
    assert "??" in out
    arena.add_bot("last", LAST, to=".")
    asked = json.loads(
        arena(
            "replay",
            "duels",
            record["id"],
            "--turn",
            turn,
            "--seat",
            seat,
            "--bot",
            "./last",
            "--json",
        )[0]
    )
    assert (asked["seat"], asked["turn"], asked["old"], asked["bot"]) == (seat, turn, move, "last")
    assert asked["new"] not in ("", move)
    _, err = arena(
        "replay",
        "duels",
        record["id"],
        "--turn",
        turn,
        "--seat",
        1 - seat,
        "--bot",
        "fst",
        status=2,
    )
    assert messages(err) == snapshot
    for options in (("--bot", "fst"), ("--bot", "fst", "--turn", 1, "--html")):
        assert messages(arena("replay", "duels", record["id"], *options, status=2)[1]) == snapshot


def test_a_bot_that_breaks_on_the_way_to_a_decision_is_shown_where_it_did(arena, snapshot):
    record = arena.records("duels")[0]
    out, err = arena("replay", "duels", record["id"], "--turn", 12, "--bot", "exits", status=1)
    assert lines_with(out, "exits/exits.py") == snapshot
    assert lines_with(err, "turn 4") == snapshot


def test_the_same_bot_decides_the_same_and_a_new_version_differs_where_it_should(arena, snapshot):
    out, err = arena("regress", "duels", "--bot", "fst")
    decisions = sum(
        move != "pass"  # the referee passes for a seat that cannot move: the bot is not asked
        for record in arena.records("duels")
        for move in record["moves"][record["bots"].index("fst") :: 2]
    )
    assert lines_with(out, "4 games") == snapshot
    assert "a decision took " in out
    assert lines_with(err, "results/duels") == snapshot
    arena.add_bot("new", NEW, to=".")
    found = json.loads(
        arena("regress", "duels", "--bot", "./new", "--old", "fst", "--json", status=4)[0]
    )
    assert (found["old"], found["new"], found["games"], found["decisions"]) == (
        "fst",
        "new",
        4,
        decisions,
    )
    assert 0 < found["differ"] == len(found["differences"]) < decisions
    assert found["same"] == decisions - found["differ"]
    first = found["differences"][0]
    asked = json.loads(arena(*shlex.split(first["command"])[1:], "--json")[0])
    assert (asked["old"], asked["new"]) == (first["old"], first["new"])
    few, _ = arena(
        "regress", "duels", "--bot", "./new", "--old", "fst", "--games", 2, "--jobs", 1, status=4
    )
    assert (
        f"\n    arena replay duels {first['game']} --turn {first['turn']} --seat {first['seat']}"
        " --bot ./new\n" in few
    )
    assert lines_with(few, "2 games") == snapshot


def test_faults_of_a_new_version_and_forfeits_of_the_old_one_are_differences(arena):
    found = json.loads(
        arena("regress", "faulty", "--bot", "fst", "--old", "exits", "--json", status=4)[0]
    )
    assert len([entry for entry in found["differences"] if not entry["old"]]) == 3
    assert (found["faults"], found["not_asked"]) == (0, 0)
    out, _ = arena("regress", "duels", "--bot", "exits", "--old", "fst", "--json", status=4)
    faults = [entry["fault"] for entry in json.loads(out)["differences"]]
    assert [fault for fault in faults if fault] == ["exit"] * 4
    shown, _ = arena(
        "regress", "duels", "--bot", add_zoo_bot(arena, "illegal_move"), "--old", "fst", status=4
    )
    assert ", 0 not asked" in shown
    assert "-> illegal move (" in shown


def test_a_regression_that_cannot_be_asked_says_why(arena, snapshot):
    arena.add_bot("other", FIRST)
    _, err = arena("regress", "duels", "--bot", "other", status=1)
    assert messages(err) == snapshot
    journal = arena.home / "results" / "duels" / "games.jsonl"
    journal.write_text(journal.read_text().replace('"deck":"', '"deck":"YY', 1))
    assert messages(arena("regress", "duels", "--bot", "fst", status=1)[1]) == snapshot
    journal.write_text("")
    assert messages(arena("regress", "duels", "--bot", "fst", status=1)[1]) == snapshot


def test_an_interrupted_regression_ends_and_leaves_nothing(arena):
    slow = FIRST.replace("import sys\n", "import sys\nimport time\n").replace(
        'message["legal"][0]', '(time.sleep(0.3), message["legal"][0])[1]'
    )
    arena.add_bot("slow", slow, to=".")
    process = arena.start("regress", "duels", "--bot", "./slow", "--old", "fst")
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    wait_for(children.read_text, "the workers of the command")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=240)
    assert (process.returncode, err.splitlines()[-1]) == (130, "interrupted")
    wait_for(lambda: not is_there(process.pid), "the end of the command's process group")


def is_there(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_game_is_logged_line_by_line(arena, snapshot):
    out, err = arena(
        "play", "fst", "rnd", "exits", "--log", "wire.jsonl", "--seed", "x", "--json", status=1
    )
    record = json.loads(out)
    assert lines_with(err, "wire.jsonl") == snapshot
    lines = [json.loads(line) for line in (arena.home / "wire.jsonl").read_text().splitlines()]
    assert {(line["seat"], line["bot"]) for line in lines} == {(0, "fst"), (1, "rnd"), (2, "exits")}
    assert [line["ms"] for line in lines] == sorted(line["ms"] for line in lines)
    for seat in (0, 1):
        own = [(line["way"], json.loads(line["line"])) for line in lines if line["seat"] == seat]
        assert [message["move"] for way, message in own if message["type"] == "move"] == [
            move for at, move in enumerate(record["moves"]) if at % 3 == seat and move != "pass"
        ]
        assert [message["move"] for _, message in own if message["type"] == "played"] == record[
            "moves"
        ]
        assert {way for way, message in own if message["type"] in ("move", "ready")} == {"from"}
        assert own[-1] == ("to", {"type": "quit"})
    assert (
        lines_with(arena("play", "fst", "rnd", "--log", "no/where", status=2)[1], "--log")
        == snapshot
    )


def test_leaks_are_searched_for(arena):
    assert arena("audit-leaks", "--states", 50)[0].startswith("50 states, ")
    found = json.loads(
        arena("audit-leaks", "--states", 5, "--first", 3, "--seed", "x", "--json")[0]
    )
    assert (found["states"], found["leak"], found["lines"] > 50) == (5, None, True)


def test_a_leak_is_shown_with_both_states(capsys, monkeypatch):
    def leaky(state, number, time_ms, *, full):
        return msgspec.structs.replace(
            views.turn_view(state, number, time_ms, full=full), hand=[str(state.hands)]
        )

    monkeypatch.setattr("arena.players.bot.turn_view", leaky)
    assert run_command(["audit-leaks", "--states", "20"]) == 1
    out = capsys.readouterr().out
    again = next(
        line for line in out.splitlines() if line.startswith("the same state again: arena ")
    )
    assert out.count("\n> {") == 2
    assert run_command([*shlex.split(again)[5:], "--json"]) == 1
    leak = json.loads(capsys.readouterr().out)["leak"]
    assert f"\n> {leak['line']}\n" in out
    assert leak["deck"] != leak["twin_deck"]


def test_what_a_stranger_s_run_says_is_not_believed(arena, snapshot):
    """A copy that was changed or leads elsewhere is not started; nor is a run believed whose copies
    would lie outside.
    """
    run, game = arena.home / "results" / "faulty", arena.records("faulty")[0]["id"]
    [copy] = (run / "bots").glob("exits-*")
    with (copy / "exits.py").open("a") as file:
        file.write("# changed\n")
    assert messages(arena("reproduce", "faulty", game, status=1)[1]) == snapshot
    copy.rename(arena.home / "elsewhere")
    copy.symlink_to(arena.home / "elsewhere")
    assert messages(arena("reproduce", "faulty", game, status=1)[1]) == snapshot
    info = json.loads((run / "run.json").read_text())
    for bot in info["bots"]:
        bot["sha256"] = "/../../../.."
    (run / "run.json").write_text(json.dumps(info))
    assert messages(arena("reproduce", "faulty", game, status=1)[1]) == snapshot


@pytest.mark.parametrize(
    "spoil",
    [
        os.mkfifo,
        lambda path: path.symlink_to("/dev/zero"),
        lambda path: path.write_text("[" * 100_000),
    ],
)
def test_evidence_that_is_no_file_of_ours_is_refused(arena, spoil, snapshot):
    game = arena.records("faulty")[0]["id"]
    [path] = (arena.home / "results" / "faulty" / "faults" / game).iterdir()
    path.unlink()
    spoil(path)
    assert messages(arena("reproduce", "faulty", game, status=1)[1]) == snapshot
