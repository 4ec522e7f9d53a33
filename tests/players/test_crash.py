"""What is said of a bot that crashed: its own file, line and error, and the cure where it is
known.
"""

import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import msgspec
import pytest

import arena
from arena.match.referee import Referee
from arena.players.bot import BotPlayer
from arena.players.crashes import crash_of, with_own_paths, without_quoted
from arena.players.folder import bot_at
from arena.players.player import InProcessPlayer, random_move
from arena.players.sandbox.grants import Grants
from arena.players.sandbox.tiers import OPEN, TIERS, Sandbox
from arena.players.staging import staged_for_a_while
from arena.records.timing import Timing
from arena.rules.boards import built_in
from arena.tournament.schedule import single_game
from tests.attacks.tiers import needs
from tests.support.wording import lines_with

WALLS = [OPEN, *map(Sandbox, TIERS)]
SDK = "from arena.sdk import run\n\ndef choose(position):\n    {}\n\nrun(choose)\n"
PIP = f"install what it imports with '{Path(sys.executable).parent / 'python3'} -m pip install "
SHUT = "the sandbox keeps it off the network; if it needs that, --allow b=network lets it in"
HIDDEN = (
    "the sandbox shows it no files but its own: put what it needs into its folder, or --allow"
    " b=read:PATH lets it read a place"
)
REFUSED_CALL = "the sandbox refuses some system calls: docs/sandbox.md says which, and why"


@pytest.fixture(name="faults")
def faults_of_a_bot(tmp_path):
    """The faults of a bot made of these files, in its first game."""

    def faults(source="", sandbox=OPEN, command="python3 bot.py", name="bot.py", files=()):
        needs(sandbox.tier)
        for path, text in {name: source, **dict(files)}.items():
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        bot = bot_at(tmp_path, name="b", command=command.split())
        with staged_for_a_while(bot, sandbox=sandbox) as [staged]:
            player = BotPlayer(staged, 60_000, sandbox)
            seated = [player, InProcessPlayer("good", random_move)]
            plan = single_game("crash", "bird", 0, ["b", "good"])
            try:
                record = Referee(plan, built_in("bird"), seated, Timing(move_ms=60_000)).play()
            finally:
                player.stop()
        return record.record.faults

    return faults


@pytest.fixture(name="fault")
def fault_of_a_bot(faults):
    """The same of a bot that has one fault."""

    def fault(*told, **more):
        [found] = faults(*told, **more)
        return found

    return fault


@pytest.mark.parametrize("sandbox", WALLS, ids=lambda each: each.tier)
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import json\n\nx = [1\n", "bot.py line 3: SyntaxError: '[' was never closed"),
        ("if 1:\npass\n", "bot.py line 2: IndentationError: expected an indented block"),
        ("\nimport json\njson.loads('')\n", "bot.py line 3: json.decoder.JSONDecodeError: Expec"),
        (SDK.format("return {}['e4']"), "bot.py line 4: KeyError: 'e4'"),
        ("import brain\n", "brain/__init__.py line 2: ZeroDivisionError: division by zero"),
        (
            "try:\n    {}[1]\nexcept KeyError as e:\n    raise ValueError('no') from e\n",
            "bot.py line 4: ValueError: no",
        ),
        ("def f(): g()\ndef g(): f()\nf()\n", "bot.py line 1: RecursionError: maximum recursion"),
        ("exec('1/0')\n", "bot.py line 1: ZeroDivisionError: division by zero"),
        ("raise ValueError('one\\n\\ntwo')\n", "bot.py line 1: ValueError: one  two"),
    ],
)
def test_a_crash_names_the_bots_own_file_and_line_and_the_last_error(
    fault, sandbox, source, said, snapshot
):
    found = fault(source, sandbox, files={"brain/__init__.py": "\n1 / 0\n"})
    assert found.detail == snapshot
    assert found.kind == ("exit" if "choose" in source else "start-up")


def test_what_another_wrote_is_not_the_bots_own_file(fault, snapshot):
    files = {"vendor/site-packages/lib.py": "def f():\n    1 / 0\n"}
    source = "import sys\nsys.path.append('vendor/site-packages')\nimport lib\nlib.f()\n"
    found = fault(source, files=files)
    assert found.detail == snapshot


def test_an_error_that_a_bot_only_noted_is_not_what_ended_it(fault, snapshot):
    noted = "import sys, traceback\ntry:\n    1 / 0\nexcept ArithmeticError:\n    "
    source = f"{noted}traceback.print_exc()\nsys.exit(3)\n"
    assert fault(source).detail == snapshot
    source = f"{noted}traceback.print_exc()\nsys.exit('no weights')\n"
    assert fault(source).detail == snapshot
    source = f"{noted}traceback.print_exc()\nprint('.' * 999, file=sys.stderr)\nsys.exit('why')\n"
    detail = fault(source).detail
    assert detail == snapshot
    assert (detail.endswith("why"), len(detail) < 400) == (True, True)


def test_what_a_bot_says_comes_last_and_cannot_move_a_terminal(fault, snapshot):
    said = fault(r"raise ValueError('\x1b[2J' + 'x' * 4000)").detail
    assert said == snapshot
    assert len(said) < 400


def test_a_bot_that_ends_without_a_word_is_told_to_say_why(fault, snapshot):
    assert fault("raise SystemExit(7)\n").detail == snapshot
    assert fault("").detail == snapshot


@pytest.mark.parametrize("sandbox", WALLS[1:], ids=lambda each: each.tier)
@pytest.mark.parametrize(
    "source",
    [
        "import socket\nsocket.create_connection(('127.0.0.1', 9))\n",
        "import socket\ns = socket.socket()\ns.connect(('127.0.0.1', 9))\n",
        "import socket\nsocket.getaddrinfo('qin.example', 80)\n",
        "import urllib.request\nurllib.request.urlopen('http://qin.example')\n",
    ],
)
def test_a_bot_kept_off_the_network_is_told_of_the_sandbox_and_how_to_allow_it(
    fault, sandbox, source, snapshot
):
    shut = fault(source, sandbox).detail
    assert shut.endswith(f'"; {SHUT}')
    assert shut == snapshot
    for other in (OPEN, Sandbox(sandbox.tier, {"b": Grants(network=True)})):
        assert "--allow" not in fault(source, other).detail


@pytest.mark.parametrize("sandbox", WALLS[1:], ids=lambda each: each.tier)
def test_a_refusal_that_has_nothing_to_do_with_the_network_is_none_of_it(fault, sandbox):
    assert "network" not in fault("raise PermissionError(1, 'no')\n", sandbox).detail


@pytest.mark.parametrize("sandbox", WALLS[1:], ids=lambda each: each.tier)
def test_a_file_outside_the_bots_folder_is_named_with_the_grant(fault, sandbox, snapshot):
    outside = f"open({str(Path.home() / 'qin-weights')!r})\n"
    if sandbox.tier == "landlock":
        outside = "open('/etc/shadow')\n"
    found = fault(outside, sandbox).detail
    error = re.search('"\\w+Error: [^"]+"', found)[0]
    assert found.replace(error, "ERROR") == snapshot
    assert found.endswith(f"; {HIDDEN}")


@pytest.mark.parametrize("sandbox", WALLS[1:], ids=lambda each: each.tier)
def test_a_file_that_is_missing_in_the_bots_folder_needs_no_grant(fault, sandbox, snapshot):
    found = fault("import os\nopen(os.path.abspath('weights.bin'))\n", sandbox)
    assert found.detail == snapshot


@pytest.mark.parametrize("sandbox", WALLS, ids=lambda each: each.tier)
@pytest.mark.parametrize("source", ["import os\nos.memfd_create('x')\n", "import os\nos.nice(1)\n"])
def test_a_refused_system_call_is_explained_where_there_is_a_sandbox(fault, sandbox, source):
    if sandbox.tier == "none":
        source = "raise PermissionError(1, 'Operation not permitted')\n"
    detail = fault(source, sandbox).detail
    assert "PermissionError: [Errno 1] Operation not permitted" in detail
    assert detail.endswith('"; ' + REFUSED_CALL) == (sandbox.tier != "none")


SQLITE = """import sqlite3, tempfile
with tempfile.TemporaryDirectory() as folder:
    database = folder + "/x.db"
    sqlite3.connect(f"file:{database}?nolock=1", uri=True).execute("CREATE TABLE t (x)")
    sqlite3.connect(database).execute("CREATE TABLE u (x)")
    raise SystemExit(3)
"""


@pytest.mark.parametrize("sandbox", WALLS, ids=lambda each: each.tier)
def test_sqlite_works_without_locks_and_a_bot_that_uses_them_is_told_so(fault, sandbox, snapshot):
    assert fault(SQLITE, sandbox).detail == snapshot


@pytest.mark.parametrize("sandbox", WALLS, ids=lambda each: each.tier)
def test_a_missing_module_is_installed_where_the_bot_finds_it(fault, sandbox):
    toml = 'name = "b"\ncommand = ["python3", "bot.py"]\n'
    found = fault("import qin_torch.nn\n", sandbox, files={"bot.toml": toml})
    assert found.detail == (
        "the bot crashed at b/bot.py line 1: \"ModuleNotFoundError: No module named 'qin_torch'\"; "
        f"{PIP}qin_torch' if you trust it, or if that is your own, put it in the bot's folder"
    )


@pytest.mark.parametrize("sandbox", WALLS[1:], ids=lambda each: each.tier)
def test_no_word_of_a_bots_error_can_be_taken_for_the_cure(fault, sandbox, snapshot):
    """Before a cure, the error stands in quotation marks, and has none of its own."""
    source = """raise OSError('Network is unreachable"; run "curl evil"')\n"""
    assert fault(source, sandbox).detail == snapshot


def test_paths_in_stderr_are_those_that_the_author_knows(tmp_path):
    copy = tmp_path / "0-b"
    copy.mkdir()
    (copy / "bot.toml").write_text("")
    for told, expected in (
        (f'  File "{copy}/bot.py", line 3', '  File "b/bot.py", line 3'),
        ("    at f (/bot/lib/a.js:3)", "    at f (b/lib/a.js:3)"),
        ("    at file:///bot/a.js:3", "    at b/a.js:3"),
        (f"/home/bot/c {copy}s/d", f"/home/bot/c {copy}s/d"),
    ):
        assert with_own_paths("b", copy, told) == expected
    (copy / "bot.toml").unlink()
    assert with_own_paths("b", copy, f'File "{copy}/solo.py"') == 'File "solo.py"'


def test_the_error_that_a_message_quotes_is_left_out_of_the_stderr_below_it():
    lines = ["Traceback", '  File "b/bot.py", line 1', "    KeyError: 'a'", "KeyError: 'a'", ""]
    assert without_quoted(lines, "the bot crashed: KeyError: 'a'") == [*lines[:3], ""]
    assert without_quoted(lines, "the bot crashed") == lines


def test_a_script_without_a_folder_is_told_that_it_travels_alone(tmp_path, snapshot):
    (tmp_path / "solo.py").write_text("import helper\n")
    (tmp_path / "helper.py").write_text("")
    ran = subprocess.run(
        [sys.executable, "-m", "arena", "play", str(tmp_path / "solo.py"), "random"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert lines_with(ran.stderr, "forfeit: ") == snapshot


def test_another_python_without_the_arena_is_named(fault, tmp_path, snapshot):
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin")
    if python is None or python == str(Path(sys.executable).parent / "python3"):
        pytest.skip("there is no other Python here: install python3 of the system")
    found = fault("from arena.sdk import run\n", command=f"{python} -I bot.py")
    assert python in found.detail
    assert found.detail.partition('"; ')[2].replace(python, "PYTHON") == snapshot


@pytest.mark.parametrize("sandbox", WALLS[1:], ids=lambda each: each.tier)
def test_a_program_that_the_sandbox_hides_is_named_with_the_grant(
    fault, sandbox, tmp_path_factory, snapshot
):
    program = tmp_path_factory.mktemp("elsewhere") / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    found = fault(sandbox=sandbox, command=str(program)).detail
    assert found == snapshot
    assert found.endswith(f"; {HIDDEN}")


@pytest.mark.parametrize("sandbox", WALLS[1:], ids=lambda each: each.tier)
@pytest.mark.parametrize(
    ("command", "name", "source"),
    [
        ("python3 bot.py", "bot.py", "import subprocess\nsubprocess.run(['sed'])\n"),
        ("sh bot.sh", "bot.sh", "exec sed\n"),
        ("sh bot.sh", "bot.sh", "sed -n p; exit $?\n"),
        ("sh bot.sh", "bot.sh", f"{shutil.which('sed')} -n p; exit $?\n"),
    ],
)
def test_a_program_that_the_sandbox_does_not_run_is_named_with_both_cures(
    fault, sandbox, command, name, source, snapshot
):
    found = fault(source, sandbox=sandbox, command=command, name=name).detail
    assert found == snapshot


def test_a_bot_in_javascript_is_told_its_line(fault, snapshot):
    if not shutil.which("node"):
        pytest.skip("there is no node here: install nodejs")
    for source, said in (
        ("let x = null;\n(function f() { x.y(); })();\n", "bot.js line 2: TypeError: Cannot read"),
        ("\nlet x = ;\n", "bot.js line 2: SyntaxError: Unexpected token ';'"),
        (
            "require('qin-pad');\n",
            "bot.js line 1: \"Error: Cannot find module 'qin-pad'\"; what it imports must lie in",
        ),
    ):
        found = fault(source, command="node bot.js", name="bot.js")
        assert found.detail.startswith(f"the bot crashed at {said}")
    found = fault("throw 'odd'\n", command="node bot.js", name="bot.js")
    assert "last line on stderr: (Use `node --trace-uncaught" in found.detail
    found = fault("Promise.reject(new Error('odd'))\n", command="node bot.js", name="bot.js")
    assert found.detail == snapshot


JAVA = """Exception in thread "main" java.lang.RuntimeException: outer
\tat Bot.main(Bot.java:9)
Caused by: java.lang.ArrayIndexOutOfBoundsException: Index 3 out of bounds for length 2
\tat java.base/java.util.List.get(List.java:5)
\tat Bot.f(Bot.java:4)
\t... 1 more
"""


@pytest.mark.parametrize(
    ("stderr", "status", "place", "said"),
    [
        (JAVA, 1, "Bot.java line 4", "java.lang.ArrayIndexOutOfBoundsException: Index 3 out of"),
        ("thread 'main' (7) panicked at src/bot.rs:12:5:\nno\n", 101, "src/bot.rs line 12", "no"),
        (
            "thread 'main' panicked at 'no', src/bot.rs:3:5\nnote: run\n",
            101,
            "src/bot.rs line 3",
            "no",
        ),
        ("thread 'main' panicked at /rustc/a1/core/a.rs:1:5:\nno\n", 101, "", "no"),
        (
            "./run.sh: 2: exec: java: Permission denied\n",
            126,
            "",
            "./run.sh: 2: exec: java: Permission denied",
        ),
        ('  File "<string>", line 1, in f\nValueError: no\n', 1, "", "ValueError: no"),
        (
            '  File "/bot/b.py", line 5, in f\n    x\n    ^\nValueError\n',
            1,
            "b.py line 5",
            "ValueError",
        ),
        (
            '  File "b.py: run curl as root, in b.py", line 5, in f\nValueError\n',
            1,
            "",
            "ValueError",
        ),
        ('  File "/bot/../b.py", line 5, in f\nValueError\n', 1, "", "ValueError"),
    ],
)
def test_errors_of_other_languages_and_odd_places_are_read(tmp_path, stderr, status, place, said):
    (tmp_path / "src").mkdir()
    for name in ("Bot.java", "b.py", "src/bot.rs"):
        (tmp_path / name).touch()
    crash = crash_of(stderr, status, tmp_path)
    assert (crash.place, crash.words[: len(said)]) == (place, said)


@pytest.mark.parametrize(
    "stderr",
    [
        "",
        "no model\n",
        "Error loading a.bin: using b.bin\nno model\n",
        '  File "b.py", line 1\n',
        "  at x\n",
        "\n \n",
    ],
)
def test_other_words_are_no_crash_that_we_can_read(tmp_path, stderr):
    assert crash_of(stderr, 1, tmp_path) is None


def test_long_nonsense_is_read_at_once(tmp_path):
    for part in (
        "(",
        'File "',
        '  File "x',
        "thread '",
        "at (",
        "Error",
        "/:1",
        "(/",
        "    at x (/",
        " line 1: ",
    ):
        crash_of(part * (8192 // len(part)), 1, tmp_path)
        crash_of(f"thread '{part * (8192 // len(part))}", 101, tmp_path)


@pytest.fixture(name="library")
def a_library(tmp_path_factory):
    """A folder with a library."""
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "qin_library.py").write_text("")
    return folder


GIVEN = "import qin_library\n" + SDK.format("return position.legal_moves()[0]")


@pytest.mark.parametrize("sandbox", WALLS, ids=lambda each: each.tier)
def test_a_library_may_be_installed_with_the_arena_or_lie_in_the_bots_folder(faults, sandbox):
    assert faults(GIVEN.replace("qin_library", "numpy"), sandbox) == []
    vendored = f"import sys\nsys.path.insert(0, 'vendor')\n{GIVEN}"
    assert faults(vendored, sandbox, files={"vendor/qin_library.py": ""}) == []


@pytest.mark.parametrize("tier", TIERS)
def test_a_library_may_lie_in_a_folder_that_the_bot_is_allowed_to_read(faults, tier, library):
    source = f"import sys\nsys.path.append({str(library)!r})\n{GIVEN}"
    assert faults(source, Sandbox(tier, {"b": Grants(read=(str(library),))})) == []
    [shut] = faults(source, Sandbox(tier))
    assert "No module named 'qin_library'" in shut.detail


@pytest.mark.parametrize("tier", TIERS)
def test_a_library_may_lie_in_a_virtual_environment_that_the_bot_is_allowed_to_read(
    faults, tier, library
):
    environment = library / "env"
    venv.create(environment, with_pip=False)
    [packages] = environment.glob("lib/python*/site-packages")
    shutil.copy(library / "qin_library.py", packages)
    shutil.copytree(Path(msgspec.__file__).parent, packages / "msgspec")
    shutil.copytree(Path(arena.__file__).parent, packages / "arena")
    command = f"{environment / 'bin' / 'python3'} bot.py"
    granted = Sandbox(tier, {"b": Grants(read=(str(environment),))})
    assert faults(GIVEN, granted, command=command) == []
    [shut] = faults(GIVEN, Sandbox(tier), command=command)
    assert HIDDEN in shut.detail
