"""Folders of runs, settings and bots from strangers: nothing outside is read, written or waited
for, and all ends in a sentence.
"""

import json
import os
import shutil
import signal
from pathlib import Path

import pytest

from arena.players.temporary import PREFIX, UNFINISHED, remove_abandoned
from tests.attacks.ground import commands
from tests.support.commandline import RANDOM
from tests.support.kills import wait_for_games
from tests.support.waiting import wait_for
from tests.support.wording import messages


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A run that was played here, and the state of the user that it belongs to."""
    from tests.support.commandline import FIRST, Arena

    made = Arena(tmp_path_factory.mktemp("made") / "home")
    made.add_bot("rnd", RANDOM)
    made.add_bot("fst", FIRST)
    made("run", "--in-process", "random", "greedy", "--deals", 2, "--out", "run")
    return made


@pytest.fixture
def stranger(arena, played):
    """The arena with a run from elsewhere in it."""
    shutil.copytree(played.home / "results" / "run", arena.home / "results" / "run")
    return arena


PLAY = ("run", "--in-process", "random", "greedy", "--deals", 2, "--out", "run")


def test_a_run_from_elsewhere_is_read_but_not_played_until_it_is_adopted(stranger, snapshot):
    folder = stranger.home / "results" / "run"
    (folder / "games.jsonl").write_bytes((folder / "games.jsonl").read_bytes()[:-9])
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    _, err = stranger(*PLAY, status=1)
    assert messages(err) == snapshot
    stranger("standings", "run")
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    stranger(*PLAY, "--adopt")
    stranger(*PLAY)
    assert len(stranger.records("run")) == 4


def test_a_key_is_made_once_and_for_its_user_only(stranger):
    stranger(*PLAY, "--adopt")
    key = Path(stranger.own["XDG_STATE_HOME"]) / "qin-arena" / "key"
    assert key.stat().st_mode & 0o777 == 0o600
    stranger("run", "--in-process", "random", "greedy", "--deals", 1, "--out", "next")
    mark = (stranger.home / "results" / "next" / "made-here").read_text()
    assert mark != (stranger.home / "results" / "run" / "made-here").read_text()
    (stranger.home / "results" / "next" / "made-here").write_text(mark[::-1])
    stranger("run", "--in-process", "random", "greedy", "--deals", 1, "--out", "next", status=1)


def test_without_a_place_for_the_key_a_run_is_played_and_says_what_follows(arena, snapshot):
    (arena.home / "file").touch()
    arena.own["XDG_STATE_HOME"] = str(arena.home / "file")
    _, err = arena("run", "--in-process", "random", "greedy", "--deals", 1, "--out", "run")
    assert messages(err) == snapshot


def test_the_copies_of_bots_that_come_along_are_not_played(arena):
    arena("run", "rnd", "fst", "--deals", 1, "--out", "run")
    for copy in (arena.home / "results" / "run" / "bots").iterdir():
        (copy / "bot.py").write_text("raise SystemExit(1)\n")
    (arena.home / "results" / "run" / "made-here").unlink()
    arena("run", "rnd", "fst", "--deals", 2, "--out", "run", "--adopt")
    assert [record["faults"] for record in arena.records("run") if record["faults"]] == []


LINKS = [
    "games.jsonl",
    "games.torn",
    "logs/arena.log",
    "logs",
    "run.json",
    "standings.csv",
    "pairs.csv",
    "bots",
    "made-here",
]


@pytest.mark.parametrize("name", LINKS)
def test_a_link_in_a_run_is_never_followed(stranger, tmp_path, name):
    """Even in a run that was adopted: what a file or folder of the user holds stays as it is."""
    stranger(*PLAY, "--adopt")
    own = tmp_path / "own"
    folder = stranger.home / "results" / "run"
    place = folder / name
    if name in ("logs", "bots"):
        own.mkdir()
        (own / "arena.log").write_text("mine\n")
    else:
        own.write_text("mine\n")
    shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
    place.symlink_to(own)
    if name == "games.torn":
        journal = folder / "games.jsonl"
        journal.write_bytes(journal.read_bytes() + b'{"torn":')
    bots = ("rnd", "fst") if name == "bots" else ("--in-process", "random", "greedy")
    if name == "bots":
        shutil.rmtree(folder)
        stranger("run", *bots, "--deals", 1, "--out", "run")
        shutil.rmtree(place)
        place.symlink_to(own)
    status, _, err = stranger.ended("run", *bots, "--deals", 3, "--out", "run")
    assert status in (0, 1), err
    if status:
        assert "Traceback" not in err
        assert f"{place.relative_to(stranger.home)}, got a link" in err or "--adopt" in err
    if own.is_dir():
        assert sorted(os.listdir(own)) == ["arena.log"]
        assert (own / "arena.log").read_text() == "mine\n"
    else:
        assert own.read_text() == "mine\n"


def test_a_file_with_a_second_name_is_not_written_to(stranger, tmp_path, snapshot):
    stranger(*PLAY, "--adopt")
    journal = stranger.home / "results" / "run" / "games.jsonl"
    os.link(journal, tmp_path / "own")
    _, err = stranger(
        "run", "--in-process", "random", "greedy", "--deals", 3, "--out", "run", status=1
    )
    assert messages(err) == snapshot


def test_evidence_and_pages_go_below_the_run_only(arena, tmp_path, snapshot):
    arena.add_bot("exits", RANDOM.replace('rng.choice(message["legal"])', "sys.exit(1)"))
    arena("run", "rnd", "exits", "--deals", 1, "--out", "run", status=1)
    folder, own = arena.home / "results" / "run", tmp_path / "own"
    own.mkdir()
    for name in ("faults", "replays"):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).symlink_to(own)
    game = arena.records("run")[0]["id"]
    _, err = arena("replay", "run", game, "--html", status=1)
    assert messages(err) == snapshot
    arena("replay", "run", game, "--html", arena.home / "page.html")
    _, err = arena("run", "rnd", "exits", "--deals", 2, "--out", "run", status=1)
    assert messages(err) == snapshot
    assert list(own.iterdir()) == []


def pipe(path):
    os.mkfifo(path)


def is_folder(path):
    path.mkdir()


def device(path):
    path.symlink_to("/dev/zero")


SHAPES = [pipe, is_folder, device]
READERS = ["runs", "standings", "analyse", "verify", "report", "run"]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
@pytest.mark.parametrize("name", ["games.jsonl", "run.json"])
def test_what_is_no_file_is_named_at_once(stranger, name, shape):
    folder = stranger.home / "results" / "run"
    (folder / name).unlink()
    shape(folder / name)
    for command in READERS:
        options = {"runs": [], "run": PLAY[1:-2]}.get(command, ["run"])
        status, _, err = stranger.ended(command, *options)
        assert status in (0, 1), (command, err)
        assert "Traceback" not in err
        if command not in ("runs", "run", "verify"):
            assert err.startswith(("error: ", "run results")), (command, err)


HOSTILE = {
    "think_ms": [1e308, 1e308],
    "slowest_ms": [1e308, 1e308],
    "turns": 10**12,
    "seating": 10**30,
    "board": "\0",
    "id": "../../x/1/1",
    "faults": [{"seat": 0, "turn": 10**15, "kind": "exit", "detail": "x"}],
    "end": "=1+1",
    "bots": ["\x1b[31m", "=1"],
}


@pytest.mark.parametrize("field", HOSTILE)
def test_a_hostile_record_is_a_sentence(stranger, field):
    path = stranger.home / "results" / "run" / "games.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[1][field] = HOSTILE[field]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for command in ("standings", "analyse", "verify", "report"):
        status, _, err = stranger.ended(command, "run")
        assert status in (0, 1), err
        assert "Traceback" not in err


def test_settings_that_come_along_do_not_weaken_the_sandbox(arena, snapshot):
    for line in ('sandbox = "off"', 'trust = ["rnd"]', 'cluster = "tcp://10.0.0.1:8786"'):
        (arena.home / "arena.toml").write_text(f"{line}\n")
        _, err = arena("run", "--config", "arena.toml", "--deals", 1, status=1)
        assert messages(err) == snapshot
    assert not (arena.home / "results").exists()


def test_settings_that_come_along_may_ask_for_more(arena):
    (arena.home / "arena.toml").write_text('sandbox = "require"\ndeals = 1\n')
    _, err = arena("run", "--in-process", "random", "greedy", "--config", "arena.toml", status=1)
    assert "walls" in err or "sandbox" in err


def test_the_user_s_own_settings_count(arena, tmp_path, snapshot):
    arena.own["XDG_CONFIG_HOME"] = str(tmp_path / "mine")
    file = tmp_path / "mine" / "qin-arena" / "arena.toml"
    file.parent.mkdir(parents=True)
    file.write_text('sandbox = "off"\n')
    arena("run", "rnd", "fst", "--deals", 1, "--out", "run")
    assert arena.records("run")[0]["sandbox"] == "none"
    file.write_text("deals = 5\n")
    _, err = arena("run", "rnd", "fst", "--deals", 1, status=1)
    assert messages(err) == snapshot


MANIFESTS = {
    "version of 5,000 digits": (
        f'name = "evil"\nversion = {"9" * 5000}\ncommand = ["python3", "bot.py"]\n'
    ),
    "arrays 5,000 deep": f'name = "evil"\ncommand = {"[" * 5000}{"]" * 5000}\n',
    "tables 5,000 deep": f'name = "evil"\n[{".".join("a" * 5000)}]\nb = 1\n',
    "a NUL in the command": 'name = "evil"\ncommand = ["python3\\u0000", "bot.py"]\n',
    "a NUL in a build": 'name = "evil"\ncommand = ["python3", "bot.py"]\nbuild = [["a\\u0000"]]\n',
    "huge memory": f'name = "evil"\ncommand = ["python3", "bot.py"]\nmemory_mb = {"9" * 400}\n',
    "a date": 'name = 1979-05-27\ncommand = ["python3", "bot.py"]\n',
    "infinite time": 'name = "evil"\ncommand = ["python3", "bot.py"]\nmove_ms = inf\n',
    "a key twice": 'name = "evil"\nname = "good"\ncommand = ["python3", "bot.py"]\n',
    "a long word": f'name = "evil"\ncommand = ["{"x/" * 9000}"]\n',
    "no name in it": 'command = ["python3", "bot.py"]\n',
}


WRONG = {name: text.encode() for name, text in MANIFESTS.items()}
WRONG["wrong UTF-8"] = b'name = "\xff\xfe"\n'


def add_evil_bot(arena, manifest, name="evil"):
    folder = arena.home / "bots" / name
    folder.mkdir()
    (folder / "bot.py").write_text(RANDOM)
    (folder / "bot.toml").write_bytes(manifest.replace(b'"evil"', f'"{name}"'.encode()))


def test_hostile_manifests_are_named_and_left_out(arena, snapshot):
    names = [f"evil-{number}" for number in range(len(WRONG))]
    for name, manifest in zip(names, WRONG.values(), strict=True):
        add_evil_bot(arena, manifest, name)
    _, err = arena("run", "--deals", 1, "--out", "run")
    assert messages(err) == snapshot
    assert {bot for record in arena.records("run") for bot in record["bots"]} == {"rnd", "fst"}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_hostile_manifest_is_a_sentence(arena, wrong):
    add_evil_bot(arena, WRONG[wrong])
    for command in (["bots"], ["check", "evil"], ["submit", "bots/evil"], ["play", "evil", "rnd"]):
        status, _, err = arena.ended(*command)
        assert status in (0, 1), (command, err)
        assert "Traceback" not in err


def test_what_a_bot_can_read_of_its_manifest_is_in_its_hash(arena, snapshot):
    """Its version, the order of keys and blanks are not there for it to read; comments are, and are
    hashed.
    """
    folder = arena.add_bot(
        "reader",
        RANDOM.replace(
            "import ", "import sys\nprint(open('bot.toml').read(), file=sys.stderr)\nimport ", 1
        ),
    )
    text = (folder / "bot.toml").read_text()
    (folder / "bot.toml").write_text(
        f"# remember\n   {text}version_is = 1\n".replace("version_is = 1", "")
    )
    arena("run", "reader", "fst", "--deals", 1, "--out", "run")
    [copy] = (arena.home / "results" / "run" / "bots").glob("reader-*/bot.toml")
    assert copy.read_text() == '# remember\nname = "reader"\ncommand = ["python3","-S","bot.py"]\n'
    (folder / "bot.toml").write_text(f"# forget\n{text}")
    _, err = arena("run", "reader", "fst", "--deals", 1, "--out", "run", status=1)
    assert messages(err) == snapshot
    assert arena("verify", "run")[0] == snapshot


HOME_READER = """
import json, os, sys
print(json.dumps({"type": "ready", "id": json.loads(input())["id"]}), flush=True)
for path in PATHS:
    try:
        print("GOT", open(path).read(), file=sys.stderr)
    except OSError as error:
        print(error, file=sys.stderr)
    try:
        print("SAW", os.listdir(os.path.dirname(path)), file=sys.stderr)
    except OSError as error:
        print(error, file=sys.stderr)
sys.exit(1)
"""


@pytest.mark.parametrize("tier", ["bubblewrap", "landlock"])
@pytest.mark.parametrize("linked", [False, True])
def test_what_lies_around_a_program_of_path_stays_hidden(
    arena, tiers_command, tier, linked, monkeypatch, tmp_path
):
    options = tiers_command(tier)
    home = tmp_path / "user"
    tool = home / "tool"
    (tool / "bin").mkdir(parents=True)
    secrets = [
        tool / "credentials",
        tool / "share" / "tokens" / "key",
        tool / "lib" / "data" / "key",
        tool / "bin" / "key",
        home / ".key",
    ]
    for secret in secrets:
        secret.parent.mkdir(parents=True, exist_ok=True)
        secret.write_text("the secret")
    (tool / "lib" / "myrun").mkdir()
    (tool / "lib" / "myrun" / "part.py").write_text("PART = 'needed'\n")
    (tool / "bin" / "myrun").write_text(
        f'#!/bin/sh\ncat {tool}/lib/myrun/part.py >&2\nexec python3 "$@"\n'
    )
    (tool / "bin" / "myrun").chmod(0o755)
    path = tool / "bin"
    if linked:
        path = tmp_path / "links"
        path.mkdir()
        (path / "myrun").symlink_to(tool / "bin" / "myrun")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{path}{os.pathsep}{os.environ['PATH']}")
    folder = arena.add_bot(
        "mine", HOME_READER.replace("PATHS", repr([str(secret) for secret in secrets]))
    )
    (folder / "bot.toml").write_text(
        'name = "mine"\nversion = "1"\ncommand = ["myrun", "bot.py"]\n'
        'programs = ["cat", "python3"]\n'
    )
    arena("run", "mine", "fst", "--deals", 1, "--out", "run", *options, status=1)
    [evidence, *_] = (arena.home / "results" / "run" / "faults").rglob("seat-*.json")
    said = json.loads(evidence.read_text())["stderr"]
    assert "GOT" not in said
    assert "credentials" not in said.replace(f"'{tool}/credentials'", "")
    assert "needed" in said
    out, _ = arena("check", folder, *options, status=1)
    assert f"its command lets it read {path}/myrun" in out
    assert f"{tool}/lib/myrun" in out


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_temporary_folders_do_not_outlive_the_next_run(
    arena, tiers_command, number, monkeypatch, tmp_path
):
    options = tiers_command("landlock")
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    process = arena.start("run", "--deals", 10_000, "--out", "run", *options)
    wait_for_games(arena, "run", 5)
    wait_for(
        lambda: any(name.startswith(PREFIX) for name in os.listdir(folder)), "a temporary folder"
    )
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    assert remove_abandoned() == [], "what a living process owns stays"
    process.send_signal(number)
    _, err = process.communicate(timeout=240)
    if number != signal.SIGKILL:
        assert process.returncode == 130
        assert "Traceback" not in err
        assert os.listdir(folder) == []
        return
    wait_for(lambda: not commands(str(folder)), "the end of the bots")
    for name in os.listdir(folder):
        if name.startswith(UNFINISHED):  # killed while it made one: it counts as left after a while
            os.utime(folder / name, (0, 0))
    assert os.listdir(folder)
    assert remove_abandoned()
    assert os.listdir(folder) == []
    assert remove_abandoned() == []


def test_ctrl_c_while_workers_start_prints_no_traceback(arena):
    process = arena.start("run", "--deals", 1000, "--out", "run", "--jobs", 8)
    wait_for(lambda: _starting(process.pid), "the first worker", interval_s=0.005)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=240)
    assert process.returncode == 130
    assert "Traceback" not in err


def _starting(pid):
    """Whether a worker of this process is there."""
    return any(
        "spawn_main" in " ".join(words) and _parent(child) == pid
        for child, words in commands("spawn_main")
    )


def _parent(pid):
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0
