"""The way in: a home made and found, bots named, submitted and removed as a newcomer does it."""

import fcntl
import json
import os
import pty
import shutil
import signal
import struct
import subprocess
import sys
import termios

import pytest

from arena.players.registry import LADDER
from tests.support.commandline import RANDOM, ROOT, Arena
from tests.support.kills import wait_for_games
from tests.support.mounts import may_mount
from tests.support.wording import lines_with, messages


@pytest.fixture
def empty(tmp_path):
    """An empty folder, with the ladder to be found."""
    made = Arena(tmp_path / "empty")
    made.home.mkdir()
    made.ladder = "on"
    return made


def at(arena, folder):
    """The same command in another folder."""
    other = Arena(arena.home / folder)
    other.ladder = arena.ladder
    return other


def test_the_ladder_is_found_by_name_in_an_empty_folder(empty, snapshot):
    listed = json.loads(empty("bots", "--json")[0])
    assert [(bot["bot"], bot["ladder"]) for bot in listed] == [(name, True) for name in LADDER]
    assert empty("check", "random-python")[0].endswith("0 failed\n")
    assert "plays" in empty("play", "random-python", "greedy-python")[0]
    empty("run", "random-python", "greedy-python", "--deals", 1, "--out", "r")
    assert [record["faults"] for record in empty.records("r") if record["faults"]] == []
    assert empty("verify", "r")[0].rstrip() == snapshot


def test_a_run_without_names_plays_what_is_own_and_the_ladder_but_what_cannot_start(empty):
    """Every program but Python is missing, and the bots that think are named away by an own home of
    the same names.
    """
    slow = [name for name in LADDER if name not in ("random-python", "first-js")]
    for name in slow:
        empty.add_bot(name, RANDOM)
    process = subprocess.run(
        [sys.executable, "-m", "arena", "run", "--deals", "1", "--challenger", "random-python",
         "--out", "all"],
        cwd=empty.home, capture_output=True, text=True, check=True, timeout=250,
        env={"PYTHONPATH": str(ROOT), "PATH": "/nowhere"},
    )  # fmt: skip
    assert (
        "warning: first-js is left out: expected the program 'node' on PATH, found none"
        in process.stderr
    )
    bots = {name for record in empty.records("all") for name in record["bots"]}
    assert bots == set(LADDER) - {"first-js"}
    run = json.loads((empty.home / "results/all/run.json").read_text())
    assert len({bot["sha256"] for bot in run["bots"]}) == len(bots)


def test_in_a_checkout_nothing_shows_up_twice(empty, snapshot):
    listed = json.loads(empty("--home", ROOT, "bots", "--json")[0])
    names = [bot["bot"] for bot in listed]
    assert len(set(names)) == len(names)
    assert {bot["bot"] for bot in listed if bot["ladder"]} == set(LADDER)
    _, err = empty("--home", ROOT, "remove", "greedy-python", "--yes", status=1)
    assert messages(err) == snapshot


def test_init_makes_a_home_that_is_found_from_below(empty, snapshot):
    out, err = empty("init", "qin")
    assert out == snapshot
    assert err == snapshot
    assert sorted(os.listdir(empty.home / "qin/bots")) == sorted(LADDER)
    inside = at(empty, "qin")
    table = inside("bots")[0].splitlines()
    assert len(table) == 1 + len(LADDER)
    assert all(line.split()[2] == "bots/" for line in table[1:])
    (inside.home / "deep").mkdir()
    deep = at(inside, "deep")
    _, err = deep("run", "random-python", "greedy-python", "--deals", 1, "--out", "r")
    assert lines_with(err, "'arena report") == snapshot
    assert len(inside.records("r")) == 2
    deep("standings", "r", "--csv", "table.csv")
    assert (deep.home / "table.csv").exists(), (
        "what the user types is relative to where the user is"
    )


def test_init_leaves_what_is_there_as_it_is(empty, snapshot):
    empty("init")
    script = empty.home / "bots/greedy-python/bot.py"
    script.write_text("mine")
    (empty.home / ".gitignore").write_text("mine")
    (empty.home / "bots/first-js/bot.js").unlink()
    (empty.home / "bots/first-js/bot.toml").unlink()
    (empty.home / "bots/first-js").rmdir()
    out, _ = empty("init")
    assert out == snapshot
    assert (script.read_text(), (empty.home / ".gitignore").read_text()) == ("mine", "mine")


def test_init_where_a_file_is_in_the_way_is_an_error(empty, snapshot):
    (empty.home / "bots").write_text("a file")
    _, err = empty("init", status=1)
    assert messages(err) == snapshot
    assert (empty.home / "bots").read_text() == "a file"
    (empty.home / "taken").write_text("")
    assert "taken" in empty("init", "taken", status=2)[1]


WRITING = [
    ("init",),
    ("init", "h"),
    ("new", "my-bot"),
    ("submit", "../first", "--no-check"),
    ("run", "../first", "greedy", "--deals", "1"),
]
ON_A_DISK = 'mount -t tmpfs -o $DISK none disk && cd disk && "$@"; S=$?; find .; exit $S'


def on_a_disk(empty, disk, *command):
    """What a command says on a disk of its own, and what is there afterwards."""
    (empty.home / "disk").mkdir()
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", ON_A_DISK, "sh", sys.executable, "-m", "arena", *command],
        cwd=empty.home, env={**empty.environment, "DISK": disk}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert "wrote" not in done.stderr
    left = {line for line in done.stdout.splitlines() if line not in (".", "./results")}
    return done.stderr.replace("\n", " "), left


needs_a_disk = pytest.mark.skipif(
    not may_mount(),
    reason="a disk of its own needs Linux and 'unshare -rm': allow user namespaces, on Debian and"
    " Ubuntu with sysctl kernel.unprivileged_userns_clone=1"
    " kernel.apparmor_restrict_unprivileged_userns=0",
)


@needs_a_disk
@pytest.mark.parametrize("command", WRITING)
def test_a_full_disk_is_said_and_nothing_half_made_stays(empty, command):
    empty("new", "first")
    err, left = on_a_disk(empty, "nr_inodes=4,size=4k", *command)
    assert "error: cannot write " in err
    assert ": no space left on device hint: make room on the disk" in err
    assert not left


@needs_a_disk
def test_a_disk_that_fills_up_midway_keeps_no_half_of_a_home(empty):
    err, left = on_a_disk(empty, "size=64k", "init", "h")
    assert "error: cannot write h/bots/" in err
    assert not left


LOUD = "import os\nwhile True:\n    os.write(2, b'x' * 65536)\n"
IN_FULL = 'mount -t tmpfs -o size={} none disk && TMPDIR="$PWD/disk" "$@"'
FULL = "where the stderr of bots is kept, is full hint: make room there, or name"


@needs_a_disk
@pytest.mark.parametrize(("size", "is_to_blame"), [("1m", False), ("4m", True)])
def test_a_bot_forfeits_because_the_folder_for_temporary_files_is_full_only_if_it_filled_it(
    empty, size, is_to_blame
):
    """Of what a bot wrote, 1 MiB counts as usual."""
    (empty.home / "disk").mkdir()
    (empty.home / "loud.py").write_text(LOUD)
    play = [sys.executable, "-m", "arena", "play", "./loud.py", "greedy", "--unsafe-no-sandbox"]
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", IN_FULL.format(size), "sh", *play],
        cwd=empty.home, env=empty.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    said = " ".join(done.stderr.split())
    assert (FULL in said) != is_to_blame
    assert ("forfeit" in done.stdout) == is_to_blame


def test_a_bot_is_written_into_the_home_that_the_command_names(empty):
    home = empty.home / "other"
    empty("new", "one", "--home", home)
    empty("--home", home, "new", "two")
    assert (home / "one" / "bot.py").exists()
    assert (home / "two" / "bot.py").exists()
    empty.own["ARENA_HOME"] = str(home)
    empty("new", "three")
    assert (empty.home / "three" / "bot.py").exists()


@needs_a_disk
@pytest.mark.parametrize("command", WRITING)
def test_a_read_only_disk_is_said_with_where_else_to_go(empty, command):
    empty("new", "first")
    err, left = on_a_disk(empty, "ro", *command)
    assert ": read-only file system hint: " in err
    home = "hint: name a home that you can write to with --home DIR"
    cure = {
        "init": "hint: name another folder: arena init DIR",
        "new": f"{home}, or another folder with --to FOLDER",
        "submit": home,
        "run": f"{home}, or another folder with --out",
    }
    assert err.rstrip().endswith(cure[command[0]])
    assert not left


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere: run it as a plain user")
@pytest.mark.parametrize("command", WRITING)
def test_a_folder_that_is_not_yours_to_write_to_is_said(empty, command):
    empty("new", "first")
    (empty.home / "disk").mkdir()
    (empty.home / "disk").chmod(0o555)
    _, err = at(empty, "disk")(*command, status=1)
    assert ": permission denied\nhint: " in err
    assert not list((empty.home / "disk").iterdir())


def test_a_bot_is_submitted_from_within_its_folder(empty, snapshot):
    empty("init")
    _, err = empty("new", "my-bot")
    assert err == snapshot
    out, err = at(empty, "my-bot")("submit", ".")
    assert out == snapshot
    assert err == snapshot
    assert sorted(os.listdir(empty.home / "bots/my-bot")) == ["bot.py", "bot.toml"]
    script = empty.home / "my-bot/bot.py"
    script.write_text(script.read_text() + "# better\n")
    assert empty("submit", "my-bot", "--no-check")[1] == snapshot


def test_from_within_a_bot_s_folder_the_home_is_where_the_bot_was_made(empty):
    empty("new", "my-bot")
    (empty.home / "my-bot/ideas").mkdir()
    out, _ = at(empty, "my-bot/ideas")("submit", "..", "--no-check")
    assert "in ../../bots/my-bot" in out
    at(empty, "my-bot")("run", "my-bot", "random-python", "--deals", 1, "--out", "r")
    assert len(empty.records("r")) == 2
    assert sorted(os.listdir(empty.home / "my-bot")) == ["bot.py", "bot.toml", "ideas"]


@pytest.mark.parametrize(
    ("name", "fit"), [("my bot", "my-bot"), ("../Größe!", "Groe"), ("__", "my-bot")]
)
def test_a_name_that_no_bot_can_have_is_answered_with_one_near_it(empty, name, fit, snapshot):
    _, err = empty("new", name, status=1)
    assert messages(err) == snapshot
    empty("new", fit)


def test_a_folder_without_a_bot_toml_is_told_from_a_name(empty, snapshot):
    empty.add_bot("mine", RANDOM, to=".")
    (empty.home / "mine" / "bot.toml").unlink()
    _, err = empty("run", "mine", "greedy", status=1)
    assert messages(err) == snapshot
    empty("play", "mine/bot.py", "greedy")


def test_who_names_a_bot_from_within_its_folder_is_told_what_to_write(empty, snapshot):
    empty("new", "my-bot")
    inside, cure = at(empty, "my-bot"), "ou are in the folder of my-bot: write . for it\n"
    assert messages(inside("submit", "my-bot", status=2)[1]) == snapshot
    for command in (
        ("check", "my-bot"),
        ("run", "./my-bot", "greedy"),
        ("play", "my-bot", "greedy"),
    ):
        assert inside(*command, status=1)[1].endswith(f"hint: y{cure}")


def test_a_bot_s_folder_that_is_the_home_is_not_copied_into_itself(empty, snapshot):
    empty("new", "my-bot")
    inside = at(empty, "my-bot")
    inside.own["ARENA_HOME"] = "."
    assert inside("submit", ".")[0] == snapshot
    assert inside("submit", ".", "--no-check")[0] == snapshot
    inside("run", "my-bot", "random-python", "--deals", 1)
    assert inside("submit", ".")[0] == snapshot
    assert sorted(os.listdir(inside.home / "bots/my-bot")) == ["bot.py", "bot.toml"]


@pytest.mark.parametrize(
    "command", [("check", "mine/bot.py"), ("submit", "mine/bot.py"), ("play", "mine/bot.py", "rnd")]
)
def test_a_script_beside_its_bot_toml_means_the_whole_bot_and_that_is_said(
    arena, command, snapshot
):
    folder = arena.add_bot("mine", "from idea import *\n", to=".")
    (folder / "idea.py").write_text(RANDOM)
    out, err = arena(*command)
    assert lines_with(err, "mine/bot.py") == snapshot
    assert "mine" in out


def test_a_path_that_is_not_there_is_answered_with_what_was_meant(arena, snapshot):
    arena.add_bot("mine", RANDOM, to=".")
    _, err = arena("submit", "./mien", status=2)
    assert messages(err) == snapshot
    for command in ("check", "play"):
        _, err = arena(command, "./mien", *(["rnd"] if command == "play" else []), status=1)
        assert "expected a bot's folder or script at mien, found nothing" in err.replace("./", "")
        assert messages(err) == snapshot


@pytest.mark.parametrize(
    "command",
    [
        ("check", "rmd"),
        ("play", "rmd", "fst"),
        ("run", "rmd", "fst"),
        ("run", "rnd", "fst", "--challenger", "rmd"),
        ("compare", "rnd", "rmd"),
        ("compare", "rnd", "fst", "--pool", "rmd"),
        ("remove", "rmd"),
        ("regress", "r", "--bot", "rmd"),
        ("regress", "r", "--bot", "rnd", "--old", "rmd"),
        ("standings", "r", "--anchor", "rmd=0"),
        ("analyse", "r", "--bot", "rmd"),
    ],
)
def test_wherever_a_bot_is_named_a_slip_of_the_fingers_is_understood(arena, command, snapshot):
    if "r" in command:
        arena("run", "--deals", 1, "--out", "r")
    _, err = arena(*command, status=1)
    assert messages(err) == snapshot


def test_a_first_version_compared_with_itself_is_told_what_to_do(arena, snapshot):
    _, err = arena("compare", "rnd", "rnd@1", status=1)
    assert messages(err) == snapshot


def test_a_built_in_bot_compared_with_itself_is_not_to_be_submitted(arena, snapshot):
    _, err = arena("compare", "careful-2", "careful-2", status=1)
    assert messages(err) == snapshot


@pytest.mark.parametrize(
    ("new", "old", "settings"),
    [("rnd:c=1.40", "rnd", "the defaults of all options"), ("rnd:c=1.4,d=2", "rnd:d=2", "d=2")],
)
def test_options_that_make_no_difference_are_told(arena, new, old, settings, snapshot):
    with (arena.home / "bots" / "rnd" / "bot.toml").open("a") as file:
        file.write('[options]\nc = {type = "float", default = 1.4}\n')
        file.write('d = {type = "int", default = 1}\n')
    _, err = arena("compare", new, old, status=1)
    assert messages(err) == snapshot


def test_hints_name_command_only_where_there_is_that_option(arena, snapshot):
    (arena.home / "engine.txt").write_text("?")
    assert messages(arena("submit", "engine.txt", status=1)[1]) == snapshot
    for command in (
        ("check", "engine.txt"),
        ("play", "./engine.txt", "rnd"),
        ("run", "./engine.txt", "rnd"),
    ):
        _, err = arena(*command, status=1)
        assert "--command" not in err
        assert "chmod +x engine.txt" in err


def test_a_bot_is_removed_and_runs_keep_their_copy(arena, snapshot):
    arena("run", "--deals", 1, "--out", "r")
    _, err = arena("remove", "rnd", status=1)
    assert messages(err) == snapshot
    out, _ = arena("remove", "rnd", "--yes")
    assert "removed rnd; runs keep their own copies" in out
    assert not (arena.home / "bots/rnd").exists()
    assert arena("verify", "r")[0].rstrip() == snapshot
    assert messages(arena("remove", "rnd", "--yes", status=1)[1]) == snapshot


def test_a_run_is_removed_but_not_while_it_is_played_or_reviewed(arena, snapshot):
    results = arena.home / "results"
    arena("run", "random", "greedy", "--in-process", "--deals", 1, "--out", "old")
    _, err = arena("remove", "--run", "old", status=1)
    assert messages(err) == snapshot
    playing = arena.start("run", "rnd", "fst", "--deals", 5000, "--out", "live", "--yes")
    wait_for_games(arena, "live", 1)
    _, err = arena("remove", "--run", "live", "--yes", status=1)
    assert messages(err) == snapshot
    playing.send_signal(signal.SIGINT)
    playing.communicate(timeout=240)
    assert arena("remove", "--run", "live", "--yes")[0] == "removed the run results/live\n"
    with (results / "old" / "review.jsonl").open("w") as review:
        fcntl.flock(review, fcntl.LOCK_EX)
        assert messages(arena("remove", "--run", "old", "--yes", status=1)[1]) == snapshot
    assert [place.name for place in results.iterdir()] == ["old"]
    (results / "old" / "run.json").write_text("damaged")
    arena("remove", "--run", "old", "--yes")
    assert not list(results.iterdir())


def test_only_the_folder_of_a_run_is_removed(arena, snapshot):
    results = arena.home / "results"
    arena("run", "random", "greedy", "--in-process", "--deals", 1, "--out", "old")
    (results / "link").symlink_to("old")
    _, err = arena("remove", "--run", "link", "--yes", status=1)
    assert messages(err) == snapshot
    for words, said in (
        (("--run", "nope"), "expected a run's name or folder, got 'nope'"),
        (("--run", "bots"), "expected a run's name or folder, got 'bots'"),
        ((), "expected the name of a bot, or --run NAME, got neither"),
        (("fst", "--run", "old"), "expected the name of a bot, or --run NAME, got both"),
        (("--run", "old", "--all-versions"), "--all-versions is for bots"),
    ):
        status, _, err = arena.ended("remove", *words, "--yes")
        assert status
        assert said in err
    outside = arena.home / "elsewhere" / "run"
    shutil.copytree(results / "old", outside)
    _, err = arena("remove", "--run", outside, "--yes", status=1)
    assert messages(err) == snapshot
    assert (outside / "run.json").exists()
    assert (results / "old" / "run.json").exists()
    assert (arena.home / "bots" / "fst").exists()
    subprocess.run(
        [sys.executable, "-m", "arena", "remove", "--run", ".", "--yes"],
        cwd=results / "old",
        env=arena.environment,
        check=True,
    )
    assert [place.name for place in results.iterdir()] == ["link"]


def test_of_several_versions_it_is_said_which_are_removed(arena, snapshot):
    for number in (2, 3):
        arena.add_bot("fst", f"{RANDOM}# {number}\n", to=f"try-{number}")
        arena("submit", f"try-{number}/fst", "--no-check")
    _, err = arena("remove", "fst", "--yes", status=1)
    assert messages(err) == snapshot
    assert "--all-versions" in err
    out, _ = arena("remove", "fst@3", "--yes")
    assert lines_with(out, "bots/fst") == snapshot
    assert arena("remove", "fst@1", "--all-versions", "--yes", status=2)
    out, _ = arena("remove", "fst", "--all-versions", "--yes")
    assert lines_with(out, "fst@1") == snapshot
    assert [path.name for path in (arena.home / "bots").iterdir()] == ["rnd"]


@pytest.mark.parametrize(("answer", "status", "stays"), [(b"n\n", 130, True), (b"y\n", 0, False)])
@pytest.mark.parametrize(
    ("words", "place", "question"),
    [
        (["rnd"], "bots/rnd", "remove rnd from bots?"),
        (["--run", "r"], "results/r", "remove the run results/r with its 2 games?"),
    ],
)
def test_on_a_terminal_it_asks_first(arena, words, place, question, answer, status, stays):
    if "--run" in words:
        arena("run", "random", "greedy", "--in-process", "--deals", 1, "--out", "r")
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-m", "arena", "remove", *words],
        cwd=arena.home,
        env=environment,
        stdin=terminal,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.write(controller, answer)
    _, err = process.communicate(timeout=240)
    os.close(controller)
    os.close(terminal)
    assert process.returncode == status
    assert question in err
    assert (arena.home / place).exists() is stays
