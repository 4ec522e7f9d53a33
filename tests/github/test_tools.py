"""What CI installs for some tests: tried with an apt-get of our own, since a real one depends on
mirrors.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / ".ci" / "tools"


@pytest.fixture
def machine(tmp_path):
    """Runs .ci/tools where nothing is installed but these programs, given as the shell's; returns
    what it printed.
    """

    def run(**programs):
        for name in {"bash", "timeout"} - set(programs):
            (tmp_path / name).symlink_to(shutil.which(name))
        for name, script in programs.items():
            path = tmp_path / name.replace("_", "-")
            path.write_text(
                f'#!{tmp_path}/bash\necho {path.name} "$@" >>{tmp_path}/calls\n{script}\n'
            )
            path.chmod(0o755)
        done = subprocess.run(
            [tmp_path / "bash", TOOLS],
            env={**os.environ, "PATH": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        calls = tmp_path / "calls"
        return done.stdout, calls.read_text() if calls.exists() else ""

    return run


def test_what_is_missing_is_installed_by_root(machine):
    said, calls = machine(id="echo 0", apt_get="exit 0")
    assert said == ""
    assert "bubblewrap\n" in calls
    assert "chromium chromium-driver\n" in calls
    assert "apt-get update" not in calls


def test_what_cannot_be_installed_is_said_and_stops_nothing(machine, snapshot):
    said, calls = machine(id="echo 0", apt_get="exit 100")
    assert said.splitlines() == snapshot
    assert calls.count("chromium-driver\n") == 4
    assert calls.count("apt-get update") == 5


def test_what_is_there_is_not_installed_again(machine):
    programs = dict.fromkeys(("bwrap", "chromedriver", "chromium", "npm"), "")
    assert machine(id="echo 0", apt_get="exit 0", **programs)[1].split() == ["id", "-u"]


def test_a_download_has_a_time_limit_and_an_installation_has_none(machine):
    """A time limit that ends dpkg in the middle would leave packages half installed."""
    _, calls = machine(id="echo 0", apt_get="exit 0", timeout='shift; "$@"')
    lines = [line for line in calls.splitlines() if "bubblewrap" in line]
    assert [line.split()[0] for line in lines] == ["timeout", "apt-get", "apt-get"]
    assert ["--download-only" in line for line in lines] == [True, True, False]
    assert "--no-download" in lines[-1]


def test_a_plain_user_installs_nothing(machine):
    assert machine(id="echo 1000", apt_get="exit 0")[1].split() == ["id", "-u"]
