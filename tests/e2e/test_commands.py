"""The other commands, as a user types them."""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click import Context

from arena import __version__
from arena.cli.main import CHECKOUT, SECTIONS
from arena.cli.main import arena as arena_command
from arena.rules import CORE
from tests.support.commandline import FIRST, RANDOM, ROOT, Arena
from tests.support.wording import lines_with, messages


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """An arena that has played the runs which tests copy: `one` and `two` have one deal each, and
    `three` has three.
    """
    made = Arena(tmp_path_factory.mktemp("shared") / "home")
    made.add_bot("rnd", RANDOM)
    made.add_bot("fst", FIRST)
    made("run", "--deals", 3, "--seatings", "all", "--out", "three")
    made("run", "--deals", 1, "--seed", "one", "--out", "one")
    made("run", "--deals", 1, "--seed", "two", "--out", "two")
    return made


@pytest.fixture
def take(arena, shared):
    """Copies runs, by name, into the arena of the test, as if they had been played there."""
    arena.own = shared.own

    def copy(*names):
        for name in names:
            results = Path("results", name)
            shutil.copytree(shared.home / results, arena.home / results)

    return copy


def make_older(arena, run):
    """Date the start of a run back: a run.json holds it in whole seconds."""
    path = arena.home / "results" / run / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "started": "2026-01-01T00:00:00Z"}))


def test_help_lists_every_command_in_its_section_and_none_that_is_hidden(arena):
    out, _ = arena("--help")
    for title, commands in SECTIONS.items():
        section = out[out.index(f"\n{title}:\n") :].split("\n\n")[0].splitlines()[2:]
        assert [line.split()[0] for line in section] == list(commands)
    assert not [name for name in CHECKOUT if re.search(rf"^  {name} ", out, re.M)]


@pytest.mark.parametrize(
    ("name", "short"), [item for section in SECTIONS.values() for item in section.items()]
)
def test_the_help_of_a_command_begins_with_what_the_list_says_and_fits_a_line(name, short):
    found = arena_command.get_command(Context(arena_command), name)
    assert f"{' '.join(found.help.split())} ".startswith(f"{short} ")
    assert len(short) <= 65


def test_a_mistyped_command_is_answered_with_the_nearest_ones(arena, snapshot):
    _, err = arena("stand", status=2)
    assert messages(err) == snapshot
    _, err = arena("xyzzy", status=2)
    assert messages(err) == snapshot


def test_the_version_names_the_rules_core_and_the_python(arena, snapshot):
    out, _ = arena("--version")
    for name, value in (
        ("VERSION", __version__),
        ("CORE", CORE),
        ("PYTHON", platform.python_version()),
    ):
        assert out.count(value) == 1
        out = out.replace(value, name)
    assert out == snapshot


def test_a_bot_that_was_changed_after_its_check_is_checked_when_it_is_submitted(arena, snapshot):
    folder = arena.add_bot("changing", FIRST, to=".")
    arena("check", "./changing")
    (folder / "bot.py").write_text("no_such_name\n")
    out, err = arena("submit", "./changing", status=1)
    assert "NameError" in out
    assert messages(err) == snapshot


def test_submit_says_that_it_cannot_write_before_it_checks(arena, snapshot):
    arena.add_bot("broken", "no_such_name\n", to=".")
    (arena.home / "other").mkdir()
    (arena.home / "other" / "bots").write_text("a file where the folder should be")
    out, err = arena("--home", "other", "submit", "./broken", status=1)
    assert not out, "nothing was checked"
    assert messages(err) == snapshot


needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")


def test_a_new_bot_passes_the_check_is_submitted_and_plays(arena, snapshot):
    _, err = arena("new", "my-bot")
    assert err == snapshot
    out, _ = arena("check", "./my-bot")
    assert out.splitlines()[-1].endswith("0 failed")
    assert all(line.startswith("ok    ") for line in out.splitlines()[:-1])
    out, err = arena("submit", "my-bot")
    assert out == snapshot
    assert err == snapshot
    out, _ = arena("submit", "my-bot", "--no-check")
    assert out == snapshot
    arena("run", "my-bot", "rnd", "--deals", 1, "--out", "mine")
    assert [record["faults"] for record in arena.records("mine") if record["faults"]] == []


@pytest.mark.parametrize(("core", "deals", "move_ms"), [("pure", 1, 200), ("", 1, 100)])
def test_the_montecarlo_template_plays_to_the_end_and_beats_random_with_any_core(
    arena, core, deals, move_ms
):
    """It thinks for as long as it may, so a longer limit would only take longer."""
    arena("new", "searcher", "--template", "montecarlo")
    script, manifest = arena.home / "searcher/bot.py", arena.home / "searcher/bot.toml"
    assert len(script.read_text().splitlines()) <= 50
    if core:
        script.write_text(
            f"import arena.rules\nassert arena.rules.CORE == {core!r}\n" + script.read_text()
        )
        manifest.write_text(
            manifest.read_text().replace('["python3"', f'["env", "ARENA_RULES={core}", "python3"')
        )
    limits = ("--deals", deals, "--move-ms", move_ms)
    arena("run", "./searcher", "rnd", *limits, "--seed", "search", "--out", "search")
    records = arena.records("search")
    assert [record["faults"] for record in records] == [[]] * 2 * deals
    won = [record["ranks"][record["bots"].index("searcher")] == 1 for record in records]
    assert won.count(True) >= 2 * deals - 1


def test_the_montecarlo_template_passes_the_check(arena):
    arena("new", "searcher", "--template", "montecarlo")
    program = arena.home / "searcher" / "bot.py"  # three tries leave time for stalls of the machine
    before, after = "while position.has_time():", "while tries < 3 and position.has_time():"
    assert before in program.read_text()
    program.write_text(program.read_text().replace(before, after))
    out, _ = arena("check", "./searcher", "--move-ms", 1000)
    assert out.splitlines()[-1].endswith("0 failed")


def test_a_template_that_is_not_there_in_a_language_is_an_error_with_its_cure(arena, snapshot):
    _, err = arena("new", "searcher", "--language", "js", "--template", "montecarlo", status=1)
    assert messages(err) == snapshot
    assert not (arena.home / "searcher").exists()


@pytest.mark.parametrize(
    "name",
    [
        "careful-python",
        "lookahead-python",
        "learner-python",
        pytest.param("first-js", marks=needs_node),
        "greedy-python",
        "random-python",
    ],
)
def test_the_bots_of_the_repository_pass_the_check(arena, name):
    """At 300 ms a move, since some of them think for as long as they may."""
    out, _ = arena("check", ROOT / "bots" / name, "--move-ms", 300)
    assert out.splitlines()[-1].endswith("0 failed")


def test_the_random_bot_is_short_and_needs_the_standard_library_only():
    source = (ROOT / "bots" / "random-python" / "bot.py").read_text()
    assert len(source.splitlines()) < 40
    imported = set(re.findall(r"^(?:import|from) (\w+)", source, re.M))
    assert imported <= sys.stdlib_module_names


def test_greedy_beats_random_and_careful_beats_greedy(arena):
    """Over so few deals only roughly: both are far ahead."""
    bots = [ROOT / "bots" / name for name in ("careful-python", "greedy-python", "random-python")]
    arena("run", *bots, "--deals", 2, "--seed", "ladder", "--out", "ladder")
    table = {
        row["bot"]: row
        for row in json.loads(arena("standings", "ladder", "--json")[0])["standings"]
    }
    assert table["greedy-python"]["win_rate"] > table["random-python"]["win_rate"] + 0.3
    assert table["careful-python"]["win_rate"] >= table["greedy-python"]["win_rate"]


@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&- 2>&-"])
def test_a_run_needs_no_standard_streams(arena, closed):
    command = f"exec {sys.executable} -m arena run rnd fst --deals 1 --out run {closed}"
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=arena.home,
        env=arena.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(arena.records("run")) == 2
    assert ("Rank" in done.stdout) == (">&-" not in closed.split())
    assert ("run run:" in done.stderr) == ("2>&-" not in closed)


@pytest.mark.parametrize("command", ["bench", "audit-leaks"])
def test_our_own_commands_say_that_they_need_a_checkout(command, tmp_path, snapshot):
    shutil.copytree(ROOT / "arena", tmp_path / "arena", ignore=shutil.ignore_patterns("ladder"))
    done = subprocess.run(
        [sys.executable, "-m", "arena", command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert lines_with(done.stderr, command) == snapshot


def test_bench_measures_what_is_asked_for(arena):
    figures = json.loads(arena("bench", "startup", "--json")[0])
    assert figures["startup.help_ms"] > figures["startup.python_ms"] > 0


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("not_json", "not json after"),
        ("startup_exits", "no model file: weights.bin"),
        ("exits", "KeyError: 'the square I meant'"),
        ("illegal_move", "(R4.1)"),
    ],
)
def test_a_bad_bot_fails_the_check_with_the_cure_and_is_not_registered(
    arena, zoo_bot, program, said, snapshot
):
    name = zoo_bot(program)
    out, _ = arena("check", f"bots/{name}", "--move-ms", 300, status=1)
    assert "FAIL" in out
    assert said in out
    assert "cure: " in out
    _, err = arena("submit", f"bots/{name}", "--name", "other", status=1)
    assert messages(err) == snapshot
    assert not (arena.home / "bots" / "other").exists()


def test_a_check_for_programs_says_the_same_as_the_one_for_people(arena):
    arena.add_bot("passes", RANDOM.replace('rng.choice(message["legal"])', '"pass"'), to=".")
    out, _ = arena("check", "./passes", status=1)
    told = json.loads(arena("check", "./passes", "--json", status=1)[0])
    assert (told["bot"], told["passed"], told["move_ms"]) == ("passes", False, 1000)
    steps = told["steps"]
    marks = {True: "ok", False: "FAIL", None: "left out"}
    lines = [line for line in out.splitlines()[:-1] if not line.startswith("      ")]
    assert [f"{marks[step['passed']]} {step['name']}" for step in steps] == [
        " ".join(line.split(":")[0].split()) for line in lines
    ]
    failed = next(step for step in steps if step["passed"] is False)
    assert (failed["kind"], failed["expected"]) == ("illegal move", "a legal move")
    assert failed["problem"] in out
    assert f"cure: {failed['hint']}" in out
    assert failed["got"] in failed["problem"]
    assert steps[-1]["left_out"] > 30
    assert steps[2]["measured"]["startup_ms"] <= steps[2]["ms"] <= told["ms"]


def test_a_bot_that_stays_when_its_input_ends_fails_the_check(arena, snapshot):
    source = (ROOT / "bots" / "random-python" / "bot.py").read_text()
    arena.add_bot("stays", source + "import time\ntime.sleep(600)\n")
    out, _ = arena("check", "stays", status=1)
    assert lines_with(out, "FAIL") == snapshot
    assert lines_with(out, "P3.5") == snapshot


def test_changed_content_becomes_the_next_version(arena, snapshot):
    arena("new", "mine")
    arena("submit", "mine", "--no-check")
    script = arena.home / "mine" / "bot.py"
    script.write_text(script.read_text() + "# better\n")
    out, _ = arena("submit", "mine", "--no-check")
    assert out == snapshot
    out, _ = arena("bots", "--all")
    assert [line.split()[:2] for line in out.splitlines()[1:]] == [
        ["fst", "1"],
        ["mine", "2"],
        ["mine@1", "1"],
        ["rnd", "1"],
    ]
    listed = json.loads(arena("bots", "--json")[0])
    assert [bot["bot"] for bot in listed] == ["fst", "mine", "rnd"]
    assert set(listed[0]) == {
        "bot",
        "version",
        "language",
        "author",
        "description",
        "missing",
        "sha256",
        "ladder",
        "allowed",
        "rating",
    }


def test_a_script_with_a_command_is_submitted(arena, snapshot):
    script = arena.home / "engine.txt"
    script.write_text((ROOT / "bots" / "random-python" / "bot.py").read_text())
    _, err = arena("submit", "engine.txt", status=1)
    assert messages(err) == snapshot
    arena("submit", "engine.txt", "--name", "engine", "--command", "python3 -u engine.txt")
    assert (
        'command = ["python3", "-u", "engine.txt"]'
        in (arena.home / "bots" / "engine" / "bot.toml").read_text()
    )


def test_a_bot_folder_that_is_broken_is_shown_as_such(arena, snapshot):
    (arena.home / "bots" / "broken").mkdir()
    (arena.home / "bots" / "broken" / "bot.toml").write_text("name = 3")
    out, err = arena("bots")
    assert "fst" in out
    assert messages(err) == snapshot


def test_one_game_is_drawn_move_by_move_and_can_be_had_again(arena, snapshot):
    out, err = arena("play", "fst", "rnd", "--seed", "x", "--deal", 2)
    assert lines_with(err, "--seed") == snapshot
    assert re.search(r"^turn 1: fst plays R\w+", out, re.M)
    assert lines_with(out, "(R5.2)").splitlines()[0] == snapshot
    assert lines_with(out, "end (") == snapshot
    assert "\x1b" not in out
    assert arena("play", "fst", "rnd", "--seed", "x", "--deal", 2)[0] == out
    record = json.loads(arena("play", "fst", "rnd", "--seed", "x", "--deal", 2, "--json")[0])
    assert (record["bots"], record["deal"]) == (["fst", "rnd"], 2)


def test_a_bot_may_play_itself_and_four_may_play_on_a_board_file(arena):
    (arena.home / "tiny.txt").write_text("R....\n..V..\n....B\n.....\n")
    out, _ = arena("play", "rnd", "rnd", "fst", "rnd", "--board", "tiny.txt")
    assert "rnd (seat 0) plays" in out
    assert "rnd (seat 3)" in out


def test_a_forfeit_in_a_single_game_is_an_exit_status(arena, zoo_bot, snapshot):
    _, err = arena("play", zoo_bot("exits"), "rnd", status=1)
    assert lines_with(err, "exits/exits.py") == snapshot


def test_a_replay_shows_the_game_and_one_turn_of_it(arena, take, snapshot):
    take("one")
    record = arena.records("one")[0]
    out, _ = arena("replay", "one", record["id"])
    assert out.count("turn ") >= record["turns"]
    assert f"end ({record['end']}): " in out
    one, _ = arena("replay", "one", record["id"], "--turn", 5)
    assert one.startswith(f"turn 5: {record['bots'][0]} plays {record['moves'][4]}")
    assert one in out
    start, _ = arena("replay", "results/one", record["id"], "--turn", 0)
    assert "turn" not in start
    assert json.loads(arena("replay", "one", record["id"], "--json")[0]) == record
    _, err = arena("replay", "one", record["id"], "--turn", 99, status=2)
    assert messages(err) == snapshot
    _, err = arena("replay", "one", "bird/fst", status=1)
    assert messages(err) == snapshot


def test_a_replay_as_a_seat_saw_it_covers_the_other_hands(arena, take, snapshot):
    take("one")
    record = arena.records("one")[0]
    seen, _ = arena("replay", "one", record["id"], "--turn", 3, "--seat", 1)
    hands = [
        line.split()[-3:]
        for line in seen.splitlines()[-4:]
        if record["bots"][0] in line or record["bots"][1] in line
    ]
    assert hands[0] == ["??"] * 3
    assert "??" not in hands[1]
    assert "??" not in arena("replay", "one", record["id"], "--turn", 3)[0]
    _, err = arena("replay", "one", record["id"], "--seat", 2, status=2)
    assert messages(err) == snapshot


def test_a_replay_of_a_record_that_does_not_follow_from_its_moves_says_so(arena, take, snapshot):
    take("one")
    journal = arena.home / "results" / "one" / "games.jsonl"
    record = json.loads(journal.read_text().splitlines()[0])
    changed = {**record, "left": [left + 1 for left in record["left"]]}
    journal.write_text(json.dumps(changed) + "\n")
    _, err = arena("replay", "one", record["id"], status=1)
    assert messages(err) == snapshot
    journal.write_text(json.dumps({**record, "moves": ["Ba1Ba2", *record["moves"][1:]]}) + "\n")
    _, err = arena("replay", "one", record["id"], status=1)
    assert messages(err) == snapshot


def test_runs_are_listed_and_the_newest_is_the_default(arena, take, snapshot):
    assert arena("runs")[0] == ""
    take("two", "three")
    make_older(arena, "three")
    out, _ = arena("runs")
    assert [line.split()[0] for line in out.splitlines()] == ["Run", "three", "two"]
    assert re.search(r" 6/6 +finished ", out.splitlines()[1])
    listed = json.loads(arena("runs", "--json")[0])
    assert [(run["run"], run["games"], run["planned"]) for run in listed] == [
        ("three", 6, 6),
        ("two", 2, 2),
    ]
    assert arena("standings")[1] == snapshot


def test_standings_as_table_csv_and_json_are_the_same_figures(arena, take):
    take("three")
    written = (arena.home / "results/three/standings.csv").read_text()
    assert arena("standings", "three", "--csv", "-")[0] == written
    arena("standings", "three", "--csv", "copy.csv")
    assert (arena.home / "copy.csv").read_text() == written
    objects = json.loads(arena("standings", "three", "--json")[0])["standings"]
    lines = [line.split(",") for line in written.splitlines()]
    assert [[str(entry[key]) for key in ("rank", "bot", "games")] for entry in objects] == [
        [row[0], row[1], row[5]] for row in lines[1:]
    ]
    # The games are of chance: if one bot won all of them, no figure is known.
    assert [entry["elo"] for entry in objects] == [
        None if entry["bound"] else float(row[2])
        for row, entry in zip(lines[1:], objects, strict=True)
    ]
    out, _ = arena("standings", "three", "--pairs")
    assert "Opponent" in out
    (arena.home / "results/three/standings.csv").unlink()
    assert arena("standings", "three", "--csv", "-")[0] == written


def test_json_carries_all_that_the_table_shows(arena, take):
    take("three")
    text, _ = arena("standings", "three", "--pairs", "--wide")
    shown = json.loads(arena("standings", "three", "--pairs", "--json")[0])
    assert (shown["games"], shown["deals"], shown["plan"]) == (
        6,
        3,
        {"games": 6, "missing": 0, "incomplete_blocks": 0},
    )
    assert (
        [f"note: {note}" for note in shown["notes"]]
        == [line for line in text.splitlines() if line.startswith("note: ")]
        != []
    )
    assert {
        "rank",
        "rank_low",
        "rank_high",
        "bot",
        "mark",
        "elo",
        "elo_low",
        "elo_high",
        "los",
        "forfeits",
    } <= set(shown["standings"][0])
    assert {"bot", "opponent", "score", "elo_diff", "los", "mark"} <= set(shown["pairs"][0])
    assert {"seats", "seat", "elo", "elo_error"} <= set(shown["seats"][0])
    assert shown["standings"][-1]["los"] is None
    assert "pairs" not in json.loads(arena("standings", "three", "--json")[0])
    again = arena("run", "--deals", 3, "--seatings", "all", "--out", "three", "--json")[0]
    assert json.loads(again)["standings"] == shown["standings"]


def test_a_folder_of_runs_is_no_run_and_those_in_it_are_named(arena, take, monkeypatch, snapshot):
    _, err = arena("standings", ROOT / "results" / "league-2", status=1)
    assert str(ROOT / "results" / "league-2" / "2-players") in err
    assert messages(err).replace(str(ROOT), "ROOT") == snapshot
    take("one")
    for number in range(12):
        shutil.copytree(arena.home / "results" / "one", arena.home / "many" / f"run-{number:02}")
    assert arena("standings", "many", status=1)[1].endswith("many/run-09 and 2 more\n")
    here = arena.home / "results" / "one"
    monkeypatch.setattr(arena, "home", here.parent)
    _, err = arena("--home", here.parents[1], "standings", ".", status=1)
    assert err.count("/results/one") == 1
    monkeypatch.setattr(arena, "home", here)
    arena("--home", here.parents[1], "standings", ".")


def test_standings_of_an_incomplete_run_count_what_is_missing(arena, take, snapshot):
    take("three")
    journal = arena.home / "results" / "three" / "games.jsonl"
    lines = {
        json.loads(line)["id"].split("/", 2)[2]: line
        for line in journal.read_text().splitlines(keepends=True)
    }
    journal.write_text(lines["0/0"] + lines["0/1"] + lines["1/1"])
    note = lines_with(arena("standings", "three")[0], "3 of the 6")
    assert note == snapshot
    assert note in arena("standings", "three", "--csv", "-")[1].splitlines()
    assert note in arena("export", "three", "--to", "tables")[1].splitlines()
    assert json.loads(arena("standings", "three", "--json")[0])["plan"] == {
        "games": 6,
        "missing": 3,
        "incomplete_blocks": 1,
    }
    arena("run", "--deals", 3, "--seatings", "all", "--out", "three")
    assert "missing" not in arena("standings", "three")[0]


def test_standings_of_a_run_whose_plan_is_not_understood_say_so(arena, take, snapshot):
    take("one")
    path = arena.home / "results" / "one" / "run.json"
    info = json.loads(path.read_text())
    path.write_text(json.dumps({**info, "config": {**info["config"], "later": 1}}))
    shown = arena("standings", "one")[0]
    assert shown == snapshot
    assert json.loads(arena("standings", "one", "--json")[0])["plan"] is None


def test_the_newest_run_is_the_default_of_every_command_that_reads_one(arena, take, snapshot):
    take("one", "two")
    make_older(arena, "one")
    [record] = [record for record in arena.records("two") if record["seating"] == 0]
    assert json.loads(arena("replay", record["id"], "--json")[0]) == record
    assert json.loads(arena("replay", "one", record["id"], "--json")[0])["deck"] != record["deck"]
    _, err = arena("export", "--to", "tables")
    assert err == snapshot
    arena("export", "two", "--to", "named")
    assert (arena.home / "tables" / "games.csv").read_bytes() == (
        arena.home / "named" / "games.csv"
    ).read_bytes()
    _, err = arena("replay", status=2)
    assert messages(err) == snapshot
    _, err = arena("replay", "two", record["id"], "more", status=2)
    assert messages(err) == snapshot


def test_an_export_that_fails_makes_no_folder(arena, take):
    arena("export", "nope", "--to", "tables", status=1)
    arena("export", "--to", "tables", status=1)
    take("one")
    (arena.home / "results" / "one" / "games.jsonl").write_text("{}\n")
    arena("export", "one", "--to", "tables", status=1)
    assert not (arena.home / "tables").exists()


def test_an_export_writes_every_table_and_a_picture_of_the_standings(arena, take):
    take("one")
    out, _ = arena("export", "one", "--to", "tables/csv")
    assert out.splitlines() == [
        *(f"tables/csv/{name}.csv" for name in ("standings", "pairs", "seats", "faults", "games")),
        "tables/csv/standings.svg",
    ]
    picture = (arena.home / "tables/csv/standings.svg").read_text()
    assert all(f">{name}</text>" in picture for name in ("fst", "rnd"))
    assert (
        (arena.home / "tables/csv/games.csv")
        .read_text()
        .startswith("id,block,board,deal,seating,end,turns,bot_0,share_0,")
    )


def test_another_home_is_named_by_option_or_environment(arena, tmp_path):
    code = [sys.executable, "-m", "arena", "--home", str(arena.home), "bots"]
    done = subprocess.run(
        code,
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
    )
    assert "rnd" in done.stdout
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "ARENA_HOME": str(arena.home)}
    done = subprocess.run(
        [sys.executable, "-m", "arena", "bots"],
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert "rnd" in done.stdout


def test_a_rules_core_that_is_missing_is_an_error_with_its_cure(arena, snapshot):
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "ARENA_RULES": "nonsense"}
    done = subprocess.run(
        [sys.executable, "-m", "arena", "--version"],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 1
    assert lines_with(done.stderr, "ARENA_RULES") == snapshot
    assert lines_with(done.stderr, "ARENA_RULES") == snapshot


def test_ctrl_c_while_the_arena_is_loaded_ends_it_without_a_traceback(tmp_path):
    (tmp_path / "click.py").write_text(
        "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(600)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "arena", "bots"],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_the_door_of_the_command_line_loads_only_what_python_has_loaded_anyway():
    """Until its first line has run, Ctrl-C prints a traceback."""
    code = (
        "import os, signal, sys; before = {*sys.modules}; import arena.cli;"
        " print(*({*sys.modules} - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert sorted(done.stdout.split()) == ["arena", "arena.cli"]


def test_the_help_of_a_command_is_shown_by_help_too(arena, snapshot):
    assert arena("help") == arena("--help")
    assert arena("help", "run") == arena("run", "--help")
    assert arena("help", "league", "history") == arena("league", "history", "--help")
    assert arena("help", "--help")[0] == snapshot
    assert "'rum'" in arena("help", "rum", status=2)[1]
    _, err = arena("help", "league", "x", status=2)
    assert messages(err) == snapshot
    _, err = arena("help", "run", "x", status=2)
    assert messages(err) == snapshot


def test_the_version_and_analyse_have_a_second_name(arena):
    assert arena("-V") == arena("--version")
    arena("run", "random", "greedy", "--in-process", "--deals", 2, "--out", "r")
    assert arena("analyze", "r") == arena("analyse", "r")
