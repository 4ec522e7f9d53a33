"""What `arena run` and `arena play` say to somebody who uses them for the first time."""

import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.support.commandline import FIRST, RANDOM, Arena
from tests.support.kills import journal_lines, wait_for_games
from tests.support.terminals import started_on
from tests.support.wording import lines_with, messages

ROOT = Path(__file__).parents[2]


def cut(arena, run, games):
    """Takes games off the end of a run."""
    journal = arena.home / "results" / run / "games.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:games]))


class Terminal:
    """A command of the arena on a terminal of its own, 80 columns wide, at which keys can be
    pressed.
    """

    def __init__(self, arena, *arguments, colour=False):
        self.ours, theirs = pty.openpty()
        environment = {**arena.environment, "COLUMNS": "80"}
        environment["NO_COLOR"] = "" if colour else "1"
        self.process = started_on(theirs, arena.home, arguments, environment)
        self._watchdog = threading.Timer(240, self.process.kill)
        self._watchdog.start()
        self.shown = ""

    def until(self, *texts, key=""):
        """Reads on until one of the texts has come, pressing a key for as long as nothing comes;
        returns what came up to its end.
        """
        while not any(text in self.shown for text in texts):
            assert self._read(key), f"expected one of {texts}, got {self.shown}"
        end = min(self.shown.index(text) + len(text) for text in texts if text in self.shown)
        before, self.shown = self.shown[:end], self.shown[end:]
        return before

    def _read(self, key):
        """Whether there was more to read; a key pressed before the program waits for one is lost,
        and pressed again.
        """
        while key and not select.select([self.ours], [], [], 0.3)[0]:
            os.write(self.ours, key.encode())
        try:
            part = os.read(self.ours, 4096)
        except OSError:  # how Linux says that nobody holds the other side
            part = b""
        self.shown += part.decode(errors="replace")  # a letter may come in two parts
        return part != b""

    def end(self, key=""):
        """Reads to the end; returns the exit status."""
        while self._read(key):
            pass
        status = self.process.wait()
        self._watchdog.cancel()
        os.close(self.ours)
        return status


def test_an_unfinished_run_is_finished_with_the_bots_it_began_with(arena, snapshot):
    settings = ("--deals", 2, "--seed", "s", "--boards", "bird,lion")
    arena("run", "rnd", "fst", "greedy-4", *settings, "--out", "cut")
    whole, before = (
        arena.timeless("cut"),
        (arena.home / "results" / "cut" / "run.json").read_bytes(),
    )
    cut(arena, "cut", 5)
    (arena.home / "bots" / "rnd" / "bot.py").write_text("not a bot any more")
    _, err = arena("run", "--finish", "cut")
    assert lines_with(err, "5 games") == snapshot
    assert arena.timeless("cut") == whole
    assert (arena.home / "results" / "cut" / "run.json").read_bytes() == before
    _, err = arena("run", "--finish", "cut", "--deals", 9, status=2)
    assert messages(err) == snapshot
    [copy] = (arena.home / "results" / "cut" / "bots").glob("rnd-*")
    (copy / "bot.py").write_text(RANDOM + "# changed\n")
    _, err = arena("run", "--finish", "cut", status=1)
    assert messages(err) == snapshot


def test_built_bots_runs_by_precision_and_matches_are_finished_too(arena):
    folder = arena.add_bot(
        "built", "import sys\nsys.exit('not built')\n", build=[["cp", "real.py", "bot.py"]]
    )
    (folder / "real.py").write_text(RANDOM)
    arena(
        *("run", "built", "random", "--match", "bird,lion", "--deals", 2, "--until", 1),
        *("--out", "cut"),
    )
    whole = arena.timeless("cut")
    cut(arena, "cut", 3)
    run_file = arena.home / "results" / "cut" / "run.json"
    info = json.loads(run_file.read_text())
    run_file.write_text(json.dumps({**info, "config": {**info["config"], "settled": None}}))
    arena("run", "--finish", "cut")
    assert arena.timeless("cut") == whole
    assert [record["faults"] for record in arena.records("cut") if record["faults"]] == []


def test_a_comparison_is_not_finished_as_a_tournament_nor_told_of(arena, snapshot):
    arena("compare", "careful-8", "careful-4", "--max-blocks", 2, "--out", "c", status=5)
    _, err = arena("run", "--finish", "c", status=1)
    assert messages(err) == snapshot
    cut(arena, "c", 1)
    _, err = arena("run", "greedy", "random", "--deals", 1)
    assert "unfinished" not in err


def test_where_there_are_no_bots_or_one_it_is_said_what_to_type(arena, snapshot):
    (arena.home / "empty").mkdir()
    _, err = arena("--home", "empty", "run", status=1)
    assert messages(err) == snapshot
    arena("run", "./bots/rnd", "greedy", "careful", "--deals", 1)


def idle_bots(arena):
    """Bots that wait some five seconds in a game, so that all they have to play takes over ten
    minutes on any machine.
    """
    source = FIRST.replace("import sys\n", "import sys, time\n").replace(
        '    elif message["type"] == "turn":\n',
        '    elif message["type"] == "turn":\n        time.sleep(0.15)\n',
    )
    names = [f"idle-{letter}" for letter in "abcdefgh"]
    for name in names:
        arena.add_bot(name, source)
    return names


def test_a_long_run_that_nobody_asked_for_stops_and_says_how_to_go_on(arena):
    out, err = arena("run", *idle_bots(arena), "--out", "long", "--jobs", 2, status=1)
    played = len(arena.records("long"))
    assert 0 < played < 100
    assert re.search(r"stopped: the other \d+ games take (about|at least) \d\d min; ", err), err
    assert "'arena run --finish long' plays them; for a shorter run, say how much to play" in err
    assert not out, "of a run that has hardly begun a table says nothing"


def test_a_long_run_asks_on_a_terminal_and_goes_on_after_a_yes(arena):
    terminal = Terminal(arena, "run", *idle_bots(arena), "--out", "long", "--jobs", "2")
    shown = terminal.until("play them? [y/N]: ")
    assert "days" not in shown
    os.write(terminal.ours, b"y\n")
    before = journal_lines(arena, "long")
    wait_for_games(arena, "long", before + 5)
    terminal.process.send_signal(signal.SIGINT)
    shown = terminal.until("stopping: ")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.end() == 130
    assert "stopped:" not in shown + terminal.shown


def test_a_run_that_ends_soon_or_that_was_asked_for_says_nothing_of_time(arena):
    for quick in (("rnd", "fst", "--move-ms", 600_000), ("greedy", "random", "--deals", 50)):
        _, err = arena("run", *quick)
        assert "to go" not in err
        assert "stopped" not in err


def test_a_run_prints_what_somebody_acts_on_and_the_rest_when_asked(arena, snapshot):
    words = ("run", "rnd", "fst", "greedy", "--deals", 2, "--seed", "s")
    out, err = arena(*words, "--out", "usual")
    lines = [line for line in err.splitlines() if not line.startswith("note: bubblewrap")]
    assert lines == snapshot
    assert lines_with(out, "12 games") == snapshot
    assert lines_with(out, "2 deals") == snapshot
    assert not re.search("--clock|error bars, clustered|sitting first", out)
    wide, _ = arena("standings", "usual", "--wide")
    assert "time is CPU time" in wide or "measured by the wall clock" in wide
    assert "12 games, 2 deals" in wide
    _, err = arena(*words, "--out", "more", "-v")
    assert re.search(r"\d+ workers?, rules core \w+, sandbox \w+", err)


def test_what_would_hide_more_is_said_once_in_a_home_without_an_errno(arena):
    notes = [
        line
        for _ in range(2)
        for line in arena("run", "rnd", "fst", "--deals", 1)[1].splitlines()
        if "Landlock" in line
    ]
    tier = json.loads(arena.ended("doctor", "--json")[1])["sandbox"]
    assert len(notes) == (tier == "landlock")
    assert not any("Errno" in note or len(note) > 80 for note in notes if "work" not in note)


def test_the_home_may_stand_behind_the_command(arena, tmp_path):
    other = tmp_path / "elsewhere"
    arena("--home", other, "init")
    listed, _ = arena("bots", "--home", arena.home, "--json")
    assert {"rnd", "fst"} <= {bot["bot"] for bot in json.loads(listed)}
    assert "rnd" not in arena("bots", "--home", other, "--json")[0]
    assert "No such" not in arena.ended("league", "history", "--home", other)[2]


LATE = FIRST.replace("import sys\n", "import sys, time\n").replace(
    '    elif message["type"] == "turn":\n',
    '    elif message["type"] == "turn":\n        time.sleep(0.3)\n',
)


def test_several_late_answers_are_summed_up(arena, snapshot):
    arena.add_bot("late", LATE)
    command = ("run", "late", "greedy", "random", "--deals", 1, "--move-ms", 200, "--clock", "wall")
    _, err = arena(*command, "--jobs", 2)
    kinds = [
        fault["kind"]
        for folder in (arena.home / "results").iterdir()
        for record in arena.records(folder.name)
        for fault in record["faults"]
    ]
    assert kinds == ["late"] * 4
    assert lines_with(err, "1 bot") == snapshot
    _, err = arena(*command, "--jobs", 1, "--out", "alone")
    assert lines_with(err, "1 bot") == snapshot


@pytest.fixture(scope="module")
def rated(tmp_path_factory):
    """An arena with a finished run `r` that has ratings, for tests that only look at its table."""
    made = Arena(tmp_path_factory.mktemp("rated") / "home")
    made.add_bot("rnd", RANDOM)
    made("run", "rnd", "greedy-2", "careful-4", "--deals", 12, "--seed", "rated", "--out", "r")
    return made


def test_a_table_fits_a_narrow_terminal(rated):
    terminal = Terminal(rated, "standings", "r", "--wide")
    assert terminal.end() == 0
    lines = terminal.shown.splitlines()
    [head] = [line for line in lines if line.startswith("Rank")]
    assert "Elo" in head
    assert "Losses" not in head
    assert len(head) <= 80
    assert "Losses" in rated("standings", "r", "--wide")[0]


def test_the_standings_at_a_glance_fill_a_terminal_and_no_more(rated):
    terminal = Terminal(rated, "standings", "r")
    assert terminal.end() == 0
    assert "\x1b" not in terminal.shown
    table = terminal.shown.splitlines()
    assert max(map(len, table)) == 80
    assert any("─●─" in line for line in table)


def test_a_terminal_shows_the_bars_in_colour_unless_the_user_wants_none(rated, monkeypatch):
    monkeypatch.setenv("LC_ALL", "C")
    plain = Terminal(rated, "standings", "r")
    assert plain.end() == 0
    assert plain.shown.isascii()
    assert "\x1b" not in plain.shown
    coloured = Terminal(rated, "standings", "r", colour=True)
    assert coloured.end() == 0
    assert "\x1b[36m" in coloured.shown


def test_ctrl_c_while_workers_start_is_no_traceback(arena):
    process = arena.start("run", "rnd", "greedy", "--deals", 2000, "--out", "r")
    while "= 4000 games" not in process.stderr.readline():
        pass
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=240)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "interrupted: " in err
    assert (
        json.loads((arena.home / "results" / "r" / "run.json").read_text())["config"]["deals"]
        == 2000
    )


def test_a_script_that_is_not_there_is_said_by_every_command_before_the_bot_is_started(arena):
    folder = arena.add_bot("typo", RANDOM, to=".")
    (folder / "bot.toml").write_text((folder / "bot.toml").read_text().replace("bot.py", "bto.py"))
    for words in (["check"], ["submit"], ["play", "random"], ["run", "random", "--deals", 1]):
        command, *others = words
        out, err = arena(command, "./typo", *others, status=1)
        assert "expected the file 'bto.py' of its command in the bot's folder" in out + err
        assert "did you mean 'bot.py'?" in out + err
    assert not list((arena.home / "results").glob("*/games.jsonl"))


def test_a_crash_is_told_with_its_line_by_every_command(arena):
    arena.add_bot("crash", "import sys\n\nsys.stdin.readline()[1e9]\n", to=".")
    said = "the bot crashed at crash/bot.py line 3: TypeError: string indices must be integers"
    for words in (["check"], ["submit"], ["play", "random"], ["run", "random", "--deals", 1]):
        command, *others = words
        _, out, err = arena.ended(command, "./crash", *others)
        assert said in out + err
        assert "stay until the line" not in out + err


def test_an_arena_without_native_parts_says_once_in_a_home_that_the_rules_are_slow(tmp_path):
    ignored = shutil.ignore_patterns("*.so", "__pycache__", "ladder")
    shutil.copytree(ROOT / "arena", tmp_path / "installed" / "arena", ignore=ignored)
    home = tmp_path / "home"
    home.mkdir()
    environment = os.environ | {
        "PYTHONPATH": str(tmp_path / "installed"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "ARENA_LADDER": "off",
    }
    environment.pop("ARENA_RULES", None)
    command = [sys.executable, "-m", "arena", "run", "random", "greedy-2", "--deals", "1"]
    errors = [
        subprocess.run(
            command, cwd=home, env=environment, check=True, capture_output=True, text=True
        ).stderr
        for _ in range(2)
    ]
    notes = [
        error.count("so the rules run in Python, ten to fifty times slower") for error in errors
    ]
    assert notes == [1, 0]
