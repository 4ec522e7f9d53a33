"""`.ci/languages` on small trees of files, with the real compilers and formatters."""

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UNUSED = "int main(void)\n{\n    int unused = 1;\n    return 0;\n}\n"
CLEAN = "int main(void)\n{\n    return 0;\n}\n"


@pytest.fixture
def languages(tmp_path):
    """Runs .ci/languages in a tree with one program in C, a test's; returns its exit status and
    what it printed.
    """
    tests = tmp_path / "tests"
    tests.mkdir()
    (tmp_path / ".ci").mkdir()
    for name in ("languages", "clang-format"):
        shutil.copy(ROOT / ".ci" / name, tmp_path / ".ci")
    (tmp_path / "pyproject.toml").write_text("[tool.setuptools]\next-modules = []\n")

    def run(*arguments, program=CLEAN, **environment):
        kept = {name: value for name, value in os.environ.items() if name != "CI"}
        (tests / "program.c").write_text(program)
        done = subprocess.run(
            [sys.executable, tmp_path / ".ci" / "languages", *arguments],
            env={**kept, **environment},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.stderr == ""
        return done.returncode, done.stdout

    return run


def test_a_program_that_is_not_installed_is_named_and_fails_only_in_ci(languages, tmp_path):
    status, said = languages("c", "java", PATH=str(tmp_path))
    assert status == 0
    assert said.splitlines() == [
        "left out  c: cc is not installed; apt install gcc g++ python3-dev",
        "left out  java: javac is not installed; apt install default-jdk-headless",
    ]
    status, said = languages("c", "java", PATH=str(tmp_path), CI="true")
    assert status == 1
    assert said.splitlines() == [
        "FAILED    c: cc is not installed; apt install gcc g++ python3-dev",
        "left out  java: javac is not installed; apt install default-jdk-headless",
    ]


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler: apt install gcc")
def test_a_warning_of_the_compiler_fails_the_check_and_is_printed(languages):
    status, said = languages("c", program=UNUSED)
    assert status == 1
    assert "FAILED    c: cc" in said
    assert "unused variable" in said
    status, said = languages("c")
    assert status == 0
    assert said.startswith("ok        c, ")


def test_a_file_that_is_not_in_form_fails_the_check_until_it_is_written(languages, tmp_path):
    status, said = languages("form-c", program="int main(void) { return 0; }\n")
    assert status == 1
    assert "program.c:1:" in said
    assert "cure: make format" in said
    status, said = languages("--write", "form-c", program="int main(void) { return 0; }\n")
    assert status == 0
    assert (tmp_path / "tests" / "program.c").read_text() == CLEAN


def test_a_check_that_does_not_exist_is_refused(tmp_path):
    command = [sys.executable, ROOT / ".ci" / "languages", "cobol"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "got cobol" in done.stderr


def test_every_script_and_style_of_the_project_is_looked_at():
    """A published bot is left as it is: a league knows it by the hash of its files."""
    checks = runpy.run_path(str(ROOT / ".ci" / "languages"))
    listed = subprocess.run(
        ["git", "ls-files", "*.js", "*.css"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not in a clone of the repository")
    paths = [path for path in listed.stdout.split() if not path.startswith(("bots/", "results/"))]
    own = {str(ROOT / path) for path in paths}
    assert own
    assert own == {*checks["scripts"](), *checks["styles"]()}
    assert own < set(checks["formatted_by_prettier"]())
