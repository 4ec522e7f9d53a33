"""Which programs a bot may execute: what its command and its bot.toml name, what these need to
start, and nothing else of the system.
"""

import os
import shutil
import stat
import sys
from pathlib import Path

import pytest

from arena.errors import BotFolderError
from arena.players.folder import bot_at
from arena.players.process import BotProcess
from arena.players.sandbox.grants import Grants
from arena.players.sandbox.programs import executable_files, is_readable, program_place
from arena.players.sandbox.tiers import Sandbox
from arena.players.staging import stage
from tests.attacks.ground import read_line
from tests.attacks.tiers import needs

CONFINED = ("bubblewrap", "landlock")
RUNS = """
import subprocess, sys
for command in {commands!r}:
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        print(done.returncode, done.stdout.strip(), end=";")
    except OSError as error:
        print(error.strerror, end=";")
print(flush=True)
"""
REFUSED = "Permission denied"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the tiers exist on Linux only")


@pytest.fixture(params=CONFINED)
def sandbox(request):
    needs(request.param)
    return Sandbox(request.param)


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "bot"
    made.mkdir()
    return made


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """A folder of PATH with programs that run, and one that may be executed but not read."""
    place = tmp_path / "tools" / "bin"
    place.mkdir(parents=True)
    monkeypatch.setenv("PATH", f"{place}{os.pathsep}{os.environ['PATH']}")
    for name, mode in (("seen", 0o755), ("unseen", 0o111)):
        shutil.copy(shutil.which("true"), place / name)
        (place / name).chmod(mode)
    return place


def said(command, folder, sandbox, **more):
    """The first line that a bot prints."""
    process = BotProcess(command, folder, sandbox, **more)
    try:
        return read_line(process.from_bot) or process.stderr_tail()
    finally:
        process.stop()
        os.close(process.to_bot)
        os.close(process.from_bot)


def outcomes(commands, folder, sandbox, **more):
    """What came of each command that a bot in Python runs."""
    (folder / "bot.py").write_text(RUNS.format(commands=commands))
    return said(["python3", "bot.py"], folder, sandbox, **more).split(";")[:-1]


def real_files(command, folder):
    """The real paths of what the bot of this command may execute."""
    return [os.path.realpath(path) for path in executable_files(command, [], folder)]


def write_program(path, text, mode=0o755):
    path.write_text(text)
    path.chmod(mode)
    return path


# what the list contains


def test_the_list_has_the_interpreter_its_loader_and_nothing_else(folder):
    names = {Path(path).name for path in real_files(["python3", "bot.py"], folder)}
    assert os.path.realpath(sys.executable) in real_files(["python3", "x"], folder)
    assert {name.partition("-")[0] for name in names if not name.startswith("python")} <= {"ld"}


@pytest.mark.parametrize(
    ("first_line", "program"),
    [
        ("#!/bin/sh", "sh"),
        ("#! /bin/sh -e", "sh"),
        ("#!/usr/bin/env python3", "python3"),
        ("#!/usr/bin/env -S python3 -I", "python3"),
        ("#!/usr/bin/env -S A=1 python3 -I", "python3"),
    ],
)
def test_the_first_line_of_a_script_names_its_interpreter(folder, first_line, program):
    write_program(folder / "run", f"{first_line}\n")
    found = real_files(["./run"], folder)
    assert os.path.realpath(program_place(program)) in found


def test_every_program_on_path_that_the_command_names_is_in_the_list(folder):
    for command in (["nice", "python3", "x"], ["sh", "-c", "cd x; exec python3 bot.py"]):
        found = real_files(command, folder)
        assert os.path.realpath(shutil.which(command[0])) in found
        assert os.path.realpath(sys.executable) in found


def test_the_helper_of_java_is_in_the_list(folder, tmp_path, monkeypatch):
    runtime = tmp_path / "jvm"
    for part in ("bin/java", "lib/jspawnhelper"):
        (runtime / part).parent.mkdir(parents=True)
        shutil.copy(shutil.which("true"), runtime / part)
    monkeypatch.setenv("PATH", f"{runtime / 'bin'}{os.pathsep}{os.environ['PATH']}")
    assert str(runtime / "lib/jspawnhelper") in executable_files(["java", "Bot"], [], folder)


def test_a_damaged_program_names_no_loader(folder):
    write_program(folder / "bot", "\x7fELF" + "\1" * 100)
    assert all("ld" in Path(path).name for path in executable_files(["./bot"], [], folder))


@pytest.mark.parametrize(
    "content",
    [b"\x7fELF", b"\x7fELF\2\1" + b"\xff" * 60, b"#!/bin/sh\0x\n", b"#!/dev/tty\n"],
    ids=["cut", "far", "zero", "terminal"],
)
def test_a_program_that_nothing_can_start_is_left_to_the_bot_and_nothing_waits(folder, content):
    (folder / "bot").write_bytes(content)
    (folder / "bot").chmod(0o755)
    executable_files(["./bot"], [], folder)


def test_a_pipe_as_an_interpreter_is_not_read(folder):
    os.mkfifo(folder / "pipe", 0o755)
    write_program(folder / "bot", "#!./pipe\n")
    executable_files(["./bot"], [], folder)


def test_scripts_that_name_each_other_end(folder):
    write_program(folder / "one", "#!./two\n")
    write_program(folder / "two", "#!./one\n")
    assert executable_files(["./one"], [], folder)


@pytest.mark.parametrize(
    ("uid", "mode", "readable"),
    [(os.geteuid(), 0o411, True), (os.geteuid(), 0o111, False),
     (os.geteuid() + 1, 0o711, False), (os.geteuid() + 1, 0o4111, False),
     (os.geteuid() + 1, 0o755, True)],
)  # fmt: skip
def test_root_reads_no_more_than_the_mode_says(uid, mode, readable):
    status = os.stat_result((stat.S_IFREG | mode, 0, 0, 1, uid, 2**31 - 7, 0, 0, 0, 0))
    assert is_readable(status) is readable


# what a bot can run


def test_a_bot_runs_its_interpreter_and_its_own_programs_and_no_other(folder, sandbox):
    shutil.copy(shutil.which("true"), folder / "own")
    write_program(folder / "script", "#!/bin/sh\nexit 3\n")
    commands = [[sys.executable, "-c", "print(5)"], ["./own"], ["/bin/true"], ["./script"]]
    assert outcomes(commands, folder, sandbox) == ["0 5", "0 ", REFUSED, REFUSED]


def test_what_bot_toml_names_can_be_run_and_its_installation_read(folder, sandbox, tools):
    (tools.parent / "lib" / "seen").mkdir(parents=True)
    (tools.parent / "lib" / "seen" / "data").write_text("needed")
    commands = [["seen"], ["cat", str(tools.parent / "lib/seen/data")], ["sh", "-c", ":"]]
    found = outcomes(commands, folder, sandbox, programs=["seen", "cat"])
    assert found == ["0 ", "0 needed", REFUSED]


@pytest.mark.usefixtures("language")
def test_a_program_that_nobody_may_read_is_never_run(folder, sandbox, tools):
    """The kernel would stop counting the bot's CPU time. The bot's folder holds no such file."""
    unseen = str(tools / "unseen")
    more = {"programs": ["seen", "unseen"], "grants": Grants(exec=(unseen,))}
    assert outcomes([["seen"], [unseen]], folder, sandbox, **more) == ["0 ", REFUSED]
    (tools / "unseen").chmod(0o755)
    assert outcomes([["seen"], [unseen]], folder, sandbox, **more) == ["0 ", "0 "]


def test_no_program_outside_what_the_bot_may_read_is_run(folder, sandbox, tmp_path):
    """Neither as the interpreter of a script nor because bot.toml names it."""
    hidden = tmp_path / "private" / "hidden"
    hidden.parent.mkdir()
    shutil.copy(shutil.which("true"), hidden)
    write_program(folder / "run", f"#!/usr/..{hidden}\n")
    (folder / "bot.py").write_text(RUNS.format(commands=[["./run"], [str(hidden)]]))
    words = ["python3", "bot.py", "./run", str(hidden)]
    found = said(words, folder, sandbox, programs=[str(hidden), f"/usr/..{hidden}"])
    assert "0 " not in found.split(";")
    assert found.count(REFUSED) + found.count("No such file") == 2
    process = BotProcess(["./run"], folder, sandbox)
    ending = process.ending(60)
    process.stop()
    os.close(process.to_bot)
    os.close(process.from_bot)
    assert ending is not None
    assert ending.failed


def test_an_interpreter_behind_a_link_to_a_folder_runs(folder, sandbox, tools, monkeypatch):
    """As where /home is a link to /var/home: in the sandbox the link does not exist."""
    link = tools.parent.parent / "link"
    link.symlink_to(tools.parent)
    write_program(tools / "print", "#!/bin/sh\necho 8\n")
    monkeypatch.setenv("PATH", f"{link}/bin{os.pathsep}{os.environ['PATH']}")
    assert said(["print"], folder, sandbox) == "8"


@pytest.mark.parametrize("command", [["./run"], ["env", "cat", "line"]])
def test_a_program_is_found_behind_one_in_a_folder_that_the_bot_does_not_see(
    folder, sandbox, tmp_path, monkeypatch, command
):
    """As where a folder in the user's home stands before /usr/bin on PATH."""
    hidden = tmp_path / "private"
    hidden.mkdir()
    write_program(hidden / "cat", "#!/bin/sh\necho hidden\n")
    monkeypatch.setenv("PATH", f"{hidden}{os.pathsep}{os.environ['PATH']}")
    write_program(folder / "run", "#!/usr/bin/env -S cat line\n")
    (folder / "line").write_text("8\n")
    assert said(command, folder, sandbox).partition("\n")[0] == "8"


def test_a_granted_folder_of_programs_can_be_run(folder, sandbox, tools):
    (tools / "unseen").unlink()
    granted = Grants(exec=(str(tools),))
    assert outcomes([[str(tools / "seen")]], folder, sandbox, grants=granted) == ["0 "]
    assert outcomes([[str(tools / "seen")]], folder, sandbox) != ["0 "]


def test_a_shell_script_runs_the_programs_that_bot_toml_names(folder, sandbox):
    write_program(folder / "run.sh", "#!/bin/sh\nexec python3 -c 'print(7, flush=True)'\n")
    assert said(["./run.sh"], folder, sandbox, programs=["python3"]) == "7"
    assert REFUSED in said(["./run.sh"], folder, sandbox)


SPAWNS = """
import multiprocessing
def answer(pipe):
    pipe.send("from a child")
if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    child = context.Process(target=answer, args=(theirs,))
    child.start()
    print(ours.recv(), flush=True)
    child.join()
"""
LOADS = """
import ctypes, mmap, _ssl
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes([0xB8, 42, 0, 0, 0, 0xC3]))
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
made = ctypes.CFUNCTYPE(ctypes.c_int)(address)() if {is_x86} else 42
print("loaded", ctypes.CDLL("./part.so").arena_part(), made, flush=True)
"""


def test_multiprocessing_can_spawn(folder, sandbox):
    (folder / "bot.py").write_text(SPAWNS)
    assert said(["python3", "bot.py"], folder, sandbox) == "from a child"


def test_libraries_can_be_loaded_and_code_can_be_made(folder, sandbox):
    if not shutil.which("cc"):
        pytest.skip("there is no C compiler")
    source = folder / "part.c"
    source.write_text("int arena_part(void) { return 41; }\n")
    assert os.system(f"cc -shared -fPIC -o {folder}/part.so {source}") == 0
    (folder / "part.so").chmod(0o644)
    (folder / "bot.py").write_text(LOADS.format(is_x86=os.uname().machine == "x86_64"))
    assert said(["python3", "bot.py"], folder, sandbox) == "loaded 41 42"


def test_an_environment_of_python_in_the_bots_folder_runs(folder, sandbox):
    """Its interpreter is a link to the one that runs the arena."""
    (folder / "env" / "bin").mkdir(parents=True)
    (folder / "env" / "bin" / "python").symlink_to(os.path.realpath(sys.executable))
    home = Path(os.path.realpath(sys.executable)).parent
    (folder / "env" / "pyvenv.cfg").write_text(f"home = {home}\n")
    assert said(["env/bin/python", "-c", "print(6)"], folder, sandbox) == "6"


# what is said when a bot is staged


def staged(folder, tmp_path, sandbox, **entries):
    lines = {"name": "b", "command": ["./run"], **entries}
    (folder / "bot.toml").write_text(
        "".join(f"{key} = {value!r}\n" for key, value in lines.items())
    )
    return stage(bot_at(folder), tmp_path / "staged", sandbox)


def test_a_program_that_nobody_may_read_is_named_with_its_mode(folder, tmp_path, sandbox, tools):
    write_program(folder / "run", f"#!{tools / 'unseen'}\n")
    with pytest.raises(BotFolderError) as caught:
        staged(folder, tmp_path, sandbox)
    wanted = f"run names the program {tools / 'unseen'}, which the bot may not read: its mode is"
    assert wanted in str(caught.value)
    assert f"chmod a+r {tools / 'unseen'}" in caught.value.hint


@pytest.mark.parametrize(
    ("line", "entries", "words"),
    [
        (
            "#!/usr/bin/no-such",
            {},
            "run names the program '/usr/bin/no-such', which cannot be used: No such",
        ),
        ("#!/bin/sh\r", {}, r"run names the program '/bin/sh\r', which cannot be used"),
        ("#!/bin/sh", {"programs": ["no-such"]}, "expected the program 'no-such' on PATH, found"),
        (
            "#!/bin/sh",
            {"programs": ["/usr/lib/no-such"]},
            "bot.toml names the program '/usr/lib/no-such', which is neither on PATH nor below",
        ),
        (
            "#!/bin/sh",
            {"programs": ["/usr/../etc/passwd"]},
            "bot.toml names the program '/usr/../etc/passwd', which is neither on PATH nor below",
        ),
    ],
)
def test_a_program_that_does_not_exist_is_named(folder, tmp_path, sandbox, line, entries, words):
    write_program(folder / "run", f"{line}\n")
    with pytest.raises(BotFolderError) as caught:
        staged(folder, tmp_path, sandbox, **entries)
    assert words in str(caught.value)
