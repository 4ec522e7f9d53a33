"""The other commands, as a user types them."""

import json
import re
import shutil
import subprocess
import sys
import time

import pytest

from arena.cli.main import COMMANDS
from tests.e2e.conftest import ROOT


def test_help_lists_every_command_and_every_command_shows_an_example(arena):
    out, _ = arena("--help")
    for command in COMMANDS:
        assert re.search(rf"^  {command} +\S", out, re.M)
        own, _ = arena(command, "--help")
        assert re.search(rf"^ +arena {command}", own, re.M), f"arena {command} --help shows no example"
        assert "..." not in own.splitlines()[2]


def test_short_help_is_not_cut_off(arena):
    out, _ = arena("--help")
    assert not re.search(r"\.\.\.$", out[out.index("Commands:") :], re.M)


def test_the_version_names_the_rules_core(arena):
    out, _ = arena("--version")
    assert re.fullmatch(r"arena \S+, protocol 1, rules core (pure|native), Python 3\.\d+\.\d+\n", out)


needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")


@pytest.mark.parametrize("language", ["python", pytest.param("js", marks=needs_node)])
def test_a_new_bot_passes_the_check_is_submitted_and_plays(arena, language):
    _, err = arena("new", "my-bot", "--language", language)
    assert "now change it, then: arena check ./my-bot" in err
    out, _ = arena("check", "./my-bot")
    assert out.splitlines()[-1].endswith("0 failed")
    assert all(line.startswith("ok    ") for line in out.splitlines()[:-1])
    out, _ = arena("submit", "my-bot")
    assert "my-bot is registered as version 1 in bots/my-bot" in out
    out, _ = arena("submit", "my-bot")
    assert "is registered already, with the same content, as version 1" in out
    arena("run", "my-bot", "rnd", "--deals", 1, "--out", "mine")
    assert not any(record["faults"] for record in arena.records("mine"))


@pytest.mark.parametrize("name", ["careful-python", pytest.param("first-js", marks=needs_node), "greedy-python", "random-python"])
def test_the_bots_of_the_repository_pass_the_check(arena, name):
    out, _ = arena("check", ROOT / "bots" / name)
    assert out.splitlines()[-1].endswith("0 failed")


def test_the_random_bot_is_short_and_needs_the_standard_library_only():
    source = (ROOT / "bots" / "random-python" / "bot.py").read_text()
    assert len(source.splitlines()) < 40
    imported = set(re.findall(r"^(?:import|from) (\w+)", source, re.M))
    assert imported <= sys.stdlib_module_names


def test_greedy_beats_random_and_careful_beats_greedy(arena):
    """Over so few deals only roughly: both are far ahead."""
    bots = [ROOT / "bots" / name for name in ("careful-python", "greedy-python", "random-python")]
    arena("run", *bots, "--deals", 12, "--seed", "ladder", "--out", "ladder")
    table = {row["bot"]: row for row in json.loads(arena("standings", "ladder", "--json")[0])}
    assert table["greedy-python"]["win_rate"] > table["random-python"]["win_rate"] + 0.3
    assert table["careful-python"]["win_rate"] >= table["greedy-python"]["win_rate"]


def test_bench_measures_what_is_asked_for(arena):
    figures = json.loads(arena("bench", "startup", "--json")[0])
    assert figures["startup.help_ms"] > figures["startup.python_ms"] > 0


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("not_json", "not json after"),
        ("startup_exits", "no model file: weights.bin"),
        ("exits", "KeyError: 'the square I meant'"),
        ("illegal_move", "is not free grassland (R4.1)"),
    ],
)
def test_a_bad_bot_fails_the_check_with_the_cure_and_is_not_registered(arena, zoo_bot, program, said):
    name = zoo_bot(program)
    out, _ = arena("check", f"bots/{name}", "--move-ms", 300, status=1)
    assert "FAIL" in out
    assert said in out
    assert "cure: " in out
    _, err = arena("submit", f"bots/{name}", "--name", "other", status=1)
    assert "other is not registered: it fails the check above" in err
    assert not (arena.home / "bots" / "other").exists()


def test_a_bot_that_stays_when_its_input_ends_fails_the_check(arena):
    source = (ROOT / "bots" / "random-python" / "bot.py").read_text()
    arena.add_bot("stays", source + "import time\ntime.sleep(60)\n")
    out, _ = arena("check", "stays", status=1)
    assert "FAIL  exits when its input ends" in out
    assert "cure: P3.5: leave the loop when stdin ends" in out


def test_changed_content_becomes_the_next_version(arena):
    arena("new", "mine")
    arena("submit", "mine")
    script = arena.home / "mine" / "bot.py"
    script.write_text(script.read_text() + "# better\n")
    out, _ = arena("submit", "mine")
    assert "registered as version 2" in out
    out, _ = arena("bots", "--all")
    assert [line.split()[:2] for line in out.splitlines()[1:]] == [["fst", "1"], ["mine", "2"], ["mine@1", "1"], ["rnd", "1"]]
    listed = json.loads(arena("bots", "--json")[0])
    assert [bot["bot"] for bot in listed] == ["fst", "mine", "rnd"]
    assert set(listed[0]) == {"bot", "version", "language", "author", "description", "missing", "sha256"}


def test_a_script_with_a_command_is_submitted(arena):
    script = arena.home / "engine.txt"
    script.write_text((ROOT / "bots" / "random-python" / "bot.py").read_text())
    _, err = arena("submit", "engine.txt", status=1)
    assert "--command 'INTERPRETER engine.txt'" in err
    arena("submit", "engine.txt", "--name", "engine", "--command", "python3 -u engine.txt")
    assert 'command = ["python3", "-u", "engine.txt"]' in (arena.home / "bots" / "engine" / "bot.toml").read_text()


def test_a_bot_folder_that_is_broken_is_shown_as_such(arena):
    (arena.home / "bots" / "broken").mkdir()
    (arena.home / "bots" / "broken" / "bot.toml").write_text("name = 3")
    out, err = arena("bots")
    assert "fst" in out
    assert "warning: broken is left out: " in err


def test_one_game_is_drawn_move_by_move_and_can_be_had_again(arena):
    out, err = arena("play", "fst", "rnd", "--seed", "x", "--deal", 2)
    assert "the same deck again: --seed x --deal 2" in err
    assert re.search(r"^turn 1: fst plays R\w+", out, re.M)
    assert re.search(r"founds a province of \d from \w+ \(R5\.2\)", out)
    assert re.search(r"^end \((last pagoda|no space|no tiles)\): 1\. ", out, re.M)
    assert "\x1b" not in out
    assert arena("play", "fst", "rnd", "--seed", "x", "--deal", 2)[0] == out
    record = json.loads(arena("play", "fst", "rnd", "--seed", "x", "--deal", 2, "--json")[0])
    assert (record["bots"], record["deal"]) == (["fst", "rnd"], 2)


def test_a_bot_may_play_itself_and_four_may_play_on_a_board_file(arena):
    (arena.home / "tiny.txt").write_text("R....\n..V..\n....B\n.....\n")
    out, _ = arena("play", "rnd", "rnd", "fst", "rnd", "--board", "tiny.txt")
    assert "rnd (seat 0) plays" in out
    assert "rnd (seat 3)" in out


def test_a_forfeit_in_a_single_game_is_an_exit_status(arena, zoo_bot):
    _, err = arena("play", zoo_bot("exits"), "rnd", status=1)
    assert "forfeit: exits (exit): the bot exited with status 1" in err


def test_a_replay_shows_the_game_and_one_turn_of_it(arena):
    arena("run", "--deals", 1, "--out", "r", "--seed", "replay")
    record = arena.records("r")[0]
    out, _ = arena("replay", "r", record["id"])
    assert out.count("turn ") >= record["turns"]
    assert f"end ({record['end']}): " in out
    one, _ = arena("replay", "r", record["id"], "--turn", 5)
    assert one.startswith(f"turn 5: {record['bots'][0]} plays {record['moves'][4]}")
    assert one in out
    start, _ = arena("replay", "results/r", record["id"], "--turn", 0)
    assert "turn" not in start
    assert json.loads(arena("replay", "r", record["id"], "--json")[0]) == record
    _, err = arena("replay", "r", record["id"], "--turn", 99, status=2)
    assert f"expected 0 to {record['turns']}, got 99" in err
    _, err = arena("replay", "r", "bird/fst", status=1)
    assert f"for example {record['id'][:12]}" in err


def test_a_replay_of_a_record_that_does_not_follow_from_its_moves_says_so(arena):
    arena("run", "--deals", 1, "--out", "r", "--seed", "replay")
    journal = arena.home / "results" / "r" / "games.jsonl"
    record = json.loads(journal.read_text().splitlines()[0])
    changed = {**record, "left": [left + 1 for left in record["left"]]}
    journal.write_text(json.dumps(changed) + "\n")
    _, err = arena("replay", "r", record["id"], status=1)
    assert "expected left" in err
    assert "in the record" in err
    journal.write_text(json.dumps({**record, "moves": ["Ba1Ba2", *record["moves"][1:]]}) + "\n")
    _, err = arena("replay", "r", record["id"], status=1)
    assert "move 1: expected a move that the rules allow, got Ba1Ba2 is illegal" in err


def test_runs_are_listed_and_the_newest_is_the_default(arena):
    assert arena("runs")[0] == ""
    arena("run", "--deals", 1, "--out", "one")
    time.sleep(1.1)
    arena("run", "--deals", 2, "--out", "two")
    out, _ = arena("runs")
    assert [line.split()[0] for line in out.splitlines()] == ["Run", "one", "two"]
    assert out.splitlines()[2].endswith("4/4")
    listed = json.loads(arena("runs", "--json")[0])
    assert [(run["run"], run["games"], run["planned"]) for run in listed] == [("one", 2, 2), ("two", 4, 4)]
    assert "run results/two" in arena("standings")[1]


def test_standings_as_table_csv_and_json_are_the_same_figures(arena):
    arena("run", "--deals", 3, "--out", "s")
    written = (arena.home / "results/s/standings.csv").read_text()
    assert arena("standings", "s", "--csv", "-")[0] == written
    arena("standings", "s", "--csv", "copy.csv")
    assert (arena.home / "copy.csv").read_text() == written
    objects = json.loads(arena("standings", "s", "--json")[0])
    lines = [line.split(",") for line in written.splitlines()]
    assert [[str(entry[key]) for key in ("rank", "bot", "games")] for entry in objects] == [[row[0], row[1], row[5]] for row in lines[1:]]
    assert [float(row[2]) for row in lines[1:]] == [entry["elo"] for entry in objects]
    out, _ = arena("standings", "s", "--pairs")
    assert "Opponent" in out
    (arena.home / "results/s/standings.csv").unlink()
    assert arena("standings", "s", "--csv", "-")[0] == written


def test_an_export_writes_every_table(arena):
    arena("run", "--deals", 1, "--out", "e")
    out, _ = arena("export", "e", "--to", "tables/csv")
    assert out.splitlines() == [f"tables/csv/{name}.csv" for name in ("standings", "pairs", "seats", "faults", "games")]
    assert (arena.home / "tables/csv/games.csv").read_text().startswith("id,block,board,deal,seating,end,turns,bot_0,share_0,")


def test_another_home_is_named_by_option_or_environment(arena, tmp_path):
    code = [sys.executable, "-m", "arena", "--home", str(arena.home), "bots"]
    done = subprocess.run(code, cwd="/", capture_output=True, text=True, check=True, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"})
    assert "rnd" in done.stdout
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "ARENA_HOME": str(arena.home)}
    done = subprocess.run([sys.executable, "-m", "arena", "bots"], cwd="/", capture_output=True, text=True, check=True, env=environment)
    assert "rnd" in done.stdout


def test_a_rules_core_that_is_missing_is_an_error_with_its_cure(arena):
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "ARENA_RULES": "nonsense"}
    done = subprocess.run([sys.executable, "-m", "arena", "--version"], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 1
    assert "error: expected ARENA_RULES to be pure" in done.stderr
    assert "hint: unset ARENA_RULES" in done.stderr
