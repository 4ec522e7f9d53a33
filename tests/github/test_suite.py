"""`.ci/suite` on small suites of tests: what it runs again, what it does not, and what it ends."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FAILS_ONCE = """
from pathlib import Path
def test_fails_once():
    seen = Path(__file__).with_name("seen")
    was_here = seen.exists()
    seen.touch()
    assert was_here
"""
ALWAYS_FAILS = """
from pathlib import Path
def test_always_fails():
    with Path(__file__).with_name("tries").open("a") as tries:
        tries.write("x")
    assert False
"""
STOPS_THE_RUN = """
import pytest
def test_fails():
    assert False
def test_stops_pytest():
    pytest.exit("as if every worker had died", returncode=1)
def test_never_runs():
    pass
"""
MANY_FAIL = """
import pytest
@pytest.mark.parametrize("number", range(11))
def test_fails(number):
    assert False
"""
SHARED_AND_ALONE = """
import os, time, pytest
from pathlib import Path
@pytest.fixture
def span(request):
    began = time.monotonic()
    yield
    line = f"{request.node.name} {os.getpid()} {began} {time.monotonic()}\\n"
    with Path(__file__).with_name("spans").open("a") as spans:
        spans.write(line)
@pytest.mark.alone
@pytest.mark.parametrize("number", range(2))
def test_alone(number, span):
    time.sleep(0.1)
@pytest.mark.parametrize("number", range(6))
def test_shared(number, span):
    time.sleep(0.1)
"""
LEAVES_A_PROCESS = """
import os, subprocess
from pathlib import Path
def test_leaves_a_process():
    left = subprocess.Popen(["sleep", "600"], start_new_session=True)
    left.returncode = 0  # so that Python does not warn of it
    Path(__file__).with_name("namespace").write_text(os.readlink("/proc/self/ns/pid"))
"""


@pytest.fixture
def suite(tmp_path):
    """Runs .ci/suite on these tests, given as the text of one file."""
    root = tmp_path / "project"
    for folder in (".ci", "arena", "bots", "tests"):
        (root / folder).mkdir(parents=True)
    for name in ("apart", "suite"):
        shutil.copy(ROOT / ".ci" / name, root / ".ci")
    shutil.copy(ROOT / "pyproject.toml", root)
    shutil.copy(ROOT / "tests" / "conftest.py", root / "tests")
    shutil.copytree(ROOT / "tests" / "support", root / "tests" / "support")

    def run(text, *arguments, jobs="0"):
        (root / "tests" / "test_small.py").write_text(text)
        done = subprocess.run(
            [root / ".ci" / "apart", sys.executable, root / ".ci" / "suite", *arguments],
            env={**os.environ, "JOBS": jobs},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=250,
            check=False,
        )
        return done.returncode, done.stdout

    run.tests = root / "tests"
    return run


def test_a_test_that_passes_by_itself_is_named_and_the_suite_passes(suite):
    status, said = suite(FAILS_ONCE)
    assert status == 0, said
    assert (
        "failed among others, passed by itself on try 1: tests/test_small.py::test_fails_once"
        in said
    )


@pytest.mark.long
def test_a_test_that_fails_three_times_fails_the_suite(suite):
    status, said = suite(ALWAYS_FAILS)
    assert status == 1
    assert "FAILED each of 3 times: tests/test_small.py::test_always_fails" in said
    assert (suite.tests / "tries").read_text() == "xxx"


@pytest.mark.long
def test_each_test_runs_once_if_asked(suite):
    assert suite(ALWAYS_FAILS, "--once")[0] == 1
    assert (suite.tests / "tries").read_text() == "x"


def test_no_test_is_run_again_if_some_never_ran(suite):
    status, said = suite(STOPS_THE_RUN)
    assert status == 1
    assert "no test is run again: 1 of 3 tests reported a result" in said


@pytest.mark.long
def test_no_test_is_run_again_if_more_than_ten_failed(suite):
    status, said = suite(MANY_FAIL)
    assert status == 1
    assert "no test is run again: 11 tests failed, more than 10" in said


@pytest.mark.long
def test_a_file_that_cannot_be_imported_fails_the_suite(suite):
    status, said = suite("import no_such_module")
    assert status not in (0, 5), said
    assert "by itself" not in said


def test_a_suite_without_tests_does_not_pass(suite):
    assert suite("def test_one(): pass", "-k", "nothing_of_this_name")[0] == 5


@pytest.mark.long
def test_no_test_is_run_again_if_one_ended_its_process(suite):
    status, said = suite("import os\ndef test_crashes():\n    os._exit(1)\n", jobs="2")
    assert status == 1, said
    assert (
        "no test is run again: the process of a test ended: tests/test_small.py::test_crashes"
        in said
    )


@pytest.mark.long
def test_what_is_marked_alone_runs_last_with_nothing_beside_it(suite):
    status, said = suite(SHARED_AND_ALONE, jobs="2")
    assert status == 0, said
    lines = [line.split() for line in (suite.tests / "spans").read_text().splitlines()]
    alone = sorted((line for line in lines if "alone" in line[0]), key=lambda line: float(line[2]))
    shared = [line for line in lines if "shared" in line[0]]
    assert (len(alone), len(shared)) == (2, 6)
    assert len({process for _, process, _, _ in shared}) == 2
    assert max(float(end) for *_, end in shared) < float(alone[0][2])
    assert float(alone[0][3]) < float(alone[1][2])


@pytest.mark.long
def test_the_ledger_counts_the_tests_of_all_workers(suite, tmp_path):
    (suite.tests / "test_small.py").write_text(MANY_FAIL + "def test_passes(): pass\n")
    ledger = tmp_path / "ledger.json"
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "2", f"--ledger={ledger}"],
        cwd=suite.tests.parent,
        stdout=subprocess.DEVNULL,
        timeout=250,
        check=False,
    )
    entries = json.loads(ledger.read_text())
    assert (entries["collected"], entries["reported"], len(entries["failed"])) == (12, 12, 11)


@pytest.mark.long
@pytest.mark.skipif(os.getuid() != 0, reason="only root may make a process namespace")
def test_nothing_that_a_test_starts_outlives_the_suite(suite, monkeypatch):
    if subprocess.run(["unshare", "--pid", "--fork", "true"], check=False).returncode:
        pytest.skip("this machine refuses a process namespace")
    monkeypatch.delenv("ARENA_APART", raising=False)
    status, said = suite(LEAVES_A_PROCESS)
    assert status == 0, said
    inside = (suite.tests / "namespace").read_text()
    assert inside != str(Path("/proc/self/ns/pid").readlink())
    assert inside not in set(namespaces())


def namespaces():
    """The process namespace of each process that is visible here."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            yield str((process / "ns" / "pid").readlink())
        except OSError:  # it has ended
            continue
