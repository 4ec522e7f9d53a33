"""What holds for the whole house: light imports, one way of things, nothing left undocumented."""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import msgspec
import pytest

import arena
from arena.players.keeper_client import RUN_PYTHON
from tests.exports.runs import game_of, write_run
from tests.support.groups import FIRST, LONG
from tests.support.imports import HEAVY, loaded_by

ROOT = Path(__file__).parents[1]
MODULES = sorted(path for path in (ROOT / "arena").rglob("*.py") if "starters" not in path.parts)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["run", "--help"],
        ["bots"],
        ["standings", "--help"],
        ["rate", "--help"],
        ["verify", "--help"],
        ["analyse", "--help"],
        ["replay", "--help"],
        ["regress", "--help"],
        ["review", "--help"],
        ["serve", "--help"],
    ],
)
def test_starting_up_loads_nothing_heavy(arguments):
    loaded = loaded_by("from arena.cli.main import run_command\nrun_command()", *arguments)
    assert not loaded & set(HEAVY)


@pytest.mark.parametrize("arguments", [["bots"], ["runs"], ["standings", "--help"]])
def test_a_list_waits_for_nothing_that_plays_games(arguments):
    loaded = loaded_by("from arena.cli.main import run_command\nrun_command()", *arguments)
    playing = {"arena.commands.playing", "arena.tournament.workers", "arena.players.bot"}
    assert not loaded & {*playing, "multiprocessing", "concurrent.futures", "tqdm", "secrets"}


def test_tables_load_no_part_of_numpy_that_only_scipy_asks_for():
    loaded = loaded_by("import arena.ratings.tables, arena.ratings.history")
    assert "scipy.special" in loaded
    assert not loaded & {"numpy.f2py", "numpy.testing", "unittest", "scipy.optimize"}


def test_standings_on_a_terminal_wait_neither_for_pandas_nor_for_multiprocessing(tmp_path):
    write_run(tmp_path / "results" / "run", ["a", "b"], [game_of(("a", "b")), game_of(("b", "a"))])
    code = "from arena.cli.main import run_command\nrun_command()"
    for more in ([], ["--wide", "--pairs"]):
        loaded = loaded_by(code, "--home", str(tmp_path), "standings", "run", *more)
        assert "arena.ratings.tables" in loaded
        assert not loaded & {"pandas", "pyarrow", "multiprocessing"}


@pytest.mark.skipif(sys.platform != "linux", reason="/proc has the threads")
@pytest.mark.parametrize(("given", "is_one"), [({}, True), ({"OPENBLAS_NUM_THREADS": "2"}, False)])
def test_tables_are_computed_by_one_thread_unless_the_user_asks_for_more(given, is_one):
    probe = (
        "import os, sys, arena.cli\nsys.argv = ['arena', '--version']\n"
        "try:\n    arena.cli.main()\nexcept SystemExit:\n    import arena.ratings.tables\n"
        "    print(len(os.listdir('/proc/self/task')))"
    )
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "", **given}
    if not given:
        del environment["OPENBLAS_NUM_THREADS"]
    command = [sys.executable, "-c", probe]
    done = subprocess.run(
        command, env=environment, cwd=ROOT, check=True, capture_output=True, text=True
    )
    found = int(done.stdout.split()[-1])
    assert found == 1 if is_one or len(os.sched_getaffinity(0)) == 1 else found > 1


def test_whoever_needs_the_parts_of_numpy_that_tables_leave_out_gets_them():
    code = "import arena.ratings.tables, numpy.testing, numpy as np, numpy.f2py.crackfortran"
    assert "numpy.f2py.crackfortran" in loaded_by(f"{code}; np.testing.assert_allclose(1, 1)")


def test_the_help_waits_neither_for_the_rules_nor_for_what_reads_records():
    loaded = loaded_by("from arena.cli.main import run_command\nrun_command()", "--help")
    assert not loaded & {"arena.rules", "msgspec", "tqdm"}


def test_a_worker_and_a_bot_load_nothing_heavy():
    assert not loaded_by("import arena.tournament.workers") & set(HEAVY)
    assert not loaded_by("import arena.sdk") & {
        *HEAVY,
        "multiprocessing",
        "logging",
        "subprocess",
        "click",
    }


@pytest.mark.parametrize("module", ["arena.sdk", "arena.api", "arena.tournament.workers"])
def test_nothing_that_starts_waits_for_typing_extensions(module):
    loaded = loaded_by(f"import {module}")
    assert "msgspec" in loaded
    assert "typing_extensions" not in loaded


def test_no_command_waits_for_typing_extensions():
    loaded = loaded_by("from arena.cli.main import run_command\nrun_command()", "run", "--help")
    assert "msgspec" in loaded
    assert "typing_extensions" not in loaded


def test_a_bot_gets_typing_extensions_before_and_after_the_sdk():
    """Where it was imported before, msgspec keeps the functions of that module."""
    loaded_by("import arena.sdk, typing_extensions\ntyping_extensions.TypedDict")
    loaded_by(
        "import typing_extensions as before\nimport arena.sdk, typing_extensions\n"
        "assert before is typing_extensions"
    )


def test_a_bot_in_python_loads_only_what_it_needs():
    slow = {"pathlib", "json", "urllib.parse", "ipaddress", "copy", "arena.rules.explain"}
    slow |= {"platform", "textwrap", "arena.faults", "arena.players.manifest"}
    loaded = loaded_by("import arena.sdk")
    assert not loaded & slow
    parts = {"msgspec._core", "msgspec._utils", "msgspec._version", "msgspec.json"}
    assert {name for name in loaded if name.startswith("msgspec.")} == {*parts, "msgspec.structs"}


@pytest.mark.parametrize(
    "use",
    [
        "msgspec.inspect.type_info(int)",
        "msgspec.json.schema(int), msgspec.json.schema_components([int])",
        "msgspec.toml.decode('a = 1')",
        "msgspec.msgpack.encode(1)",
        "msgspec.yaml.decode",
        "import msgspec.inspect as part; assert msgspec.inspect is part",
        "from msgspec import inspect, msgpack, toml, yaml; inspect.type_info(int)",
        "from msgspec.json import schema; schema(int)",
        "import platform; assert platform.python_version() and platform.system()",
        # Python 3.13 no longer needs it.
        "import platform, uuid; assert getattr(uuid, 'platform', platform).python_version()",
        "assert not hasattr(msgspec, 'x') and not hasattr(msgspec.json, 'x')",
    ],
)
@pytest.mark.parametrize("before", ["", "import msgspec\n", "import platform, uuid\n"])
def test_a_bot_gets_all_of_msgspec_and_platform(before, use):
    loaded_by(f"{before}import arena.sdk, msgspec\n{use}")


def test_a_version_of_msgspec_that_needs_its_parts_gets_them(tmp_path):
    package = tmp_path / "msgspec"
    shutil.copytree(Path(msgspec.__file__).parent, package)
    with (package / "__init__.py").open("a") as file:
        file.write("\nINT = inspect.type_info(int)\n")
    loaded = loaded_by(
        f"sys.path.insert(0, {str(tmp_path)!r})\nimport arena.sdk, msgspec, platform\n"
        f"assert msgspec.__file__.startswith({str(tmp_path)!r})\n"
        "assert msgspec.INT and msgspec.json.schema(int) and platform.python_version()"
    )
    assert "msgspec.inspect" in loaded


def test_the_keeper_which_delays_every_bot_loads_little():
    """The keeper in Python, as it is started for a bot, though with nothing to keep."""
    command = [sys.executable, "-X", "importtime", "-I", "-S", "-c", RUN_PYTHON, str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    loaded = set(re.findall(r"^import time: .*\| +(\S+)$", done.stderr, re.M))
    assert "ctypes" in loaded
    assert "arena.players.usage" in loaded
    assert not loaded & {"pathlib", "re", "typing", "collections", "enum", "msgspec"}


def test_the_rules_need_the_standard_library_only():
    loaded = loaded_by("import arena.rules")
    assert not loaded & {"msgspec", "click", *HEAVY}
    assert not loaded & {"importlib.resources", "tempfile"}, "every bot waits for them"


def calls(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)


def test_only_the_command_line_prints_or_exits():
    for path in MODULES:
        part = path.relative_to(ROOT / "arena").parts[0]
        # a program, a mode that prints
        if part not in ("cli", "sdk", "__main__.py") and path.name not in (
            "confine.py",
            "qin_v0.py",
        ):
            assert not {"print", "click.echo", "sys.exit", "exit"} & set(calls(path)), path


def test_only_players_start_processes_and_only_records_write_journals():
    for path in MODULES:
        part = path.relative_to(ROOT / "arena").parts[0]
        used = set(calls(path))
        if part != "players":
            assert not {"subprocess.Popen", "subprocess.run", "os.fork", "os.execvp"} & used, path
        if part != "records":
            assert not {"os.fdatasync", "os.fsync", "os.ftruncate"} & used, path


def test_every_module_and_public_function_has_a_docstring():
    for path in MODULES:
        tree = ast.parse(path.read_text())
        assert ast.get_docstring(tree), path
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
                assert ast.get_docstring(node), f"{path}: {node.name}"


def test_one_name_has_one_meaning():
    """No two modules define a class, or an alias of a type, of one name. A name that begins with an
    underscore belongs to its module alone.
    """
    places = defaultdict(set)
    for path in MODULES:
        if "ladder" in path.parts:
            continue
        for node in ast.parse(path.read_text()).body:
            name = node.name if isinstance(node, ast.ClassDef) else alias_of(node)
            if name and not name.startswith("_"):
                places[name].add(str(path.relative_to(ROOT)))
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def alias_of(node):
    """The name that a statement gives to a type, such as ``Ints = NDArray[np.int64]``; "" if it
    does something else.
    """
    if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
        return ""
    name = node.targets[0].id
    is_alias = isinstance(node.value, ast.Subscript | ast.BinOp)
    return name if is_alias and name != name.upper() else ""


def test_modules_stay_of_a_size_to_read():
    assert {
        path.name: len(path.read_text().splitlines())
        for path in MODULES
        if len(path.read_text().splitlines()) > 500
    } == {}


def test_the_changelog_names_the_version_or_has_what_comes_with_it_as_unreleased():
    text = (ROOT / "CHANGELOG.md").read_text()
    release, _, is_in_development = arena.__version__.partition(".dev")
    assert (f"## [{release}]" in text) == (not is_in_development)
    if is_in_development:
        assert "- " in text[text.index("## [Unreleased]") :].partition("\n## [")[0]


def test_the_readme_shows_what_the_makefile_has():
    readme, makefile = (ROOT / "README.md").read_text(), (ROOT / "Makefile").read_text()
    for target in ("demo", "test"):
        assert f"make {target}" in readme
        assert f"\n{target}: " in makefile
    for target in ("test", "check", "sanitize", "release-check"):
        assert f"make {target}" in (ROOT / ".ci" / "run").read_text()


def test_the_shipped_boards_are_part_of_the_package():
    project = (ROOT / "pyproject.toml").read_text()
    assert '"arena.rules" = ["boards/*.txt"' in project
    assert '"arena.cli" = ["starters/*/*", "doctor.txt"]' in project


def test_the_changelog_has_room_for_what_comes_next_above_what_was_released():
    headings = re.findall(r"^## (.*)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert headings[0] == "[Unreleased]"
    assert all(
        re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", heading) for heading in headings[1:]
    )


def test_every_long_test_that_is_named_exists():
    for name in (*FIRST, *LONG):
        assert list((ROOT / "tests").glob(f"{name}*")), name


def test_what_several_tests_share_is_in_no_file_of_tests():
    """Helpers are in tests/support or beside the tests, in a file that has no test of its own."""
    pattern = re.compile(r"^\s*(?:from|import) tests\.(?:\w+\.)*test_\w+", re.M)
    files = sorted((ROOT / "tests").rglob("*.py"))
    assert [path.name for path in files if pattern.search(path.read_text())] == []
