"""Files that the user named: a regular file is replaced, anything else stays what it is."""

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from arena.cli.main import run_command
from tests.exports.runs import duels, write_run
from tests.support.wording import messages

WRITERS = {
    "--to": (("report", "r"), b"<!doctype html>"),
    "--html": (("replay", "r", "bird/a+b/0/0"), b"<!doctype html>"),
    "--svg": (("replay", "r", "bird/a+b/0/0"), b"<svg"),
    "--csv": (("standings", "r"), b"rank,bot,"),
}
"""By the option that names a file: a command, and how the file begins."""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home with the run ``r``; the current folder, which is empty, lies beside it."""
    write_run(tmp_path / "home" / "results" / "r", "ab", duels("ab", 1))
    (tmp_path / "files").mkdir()
    monkeypatch.chdir(tmp_path / "files")
    monkeypatch.setenv("COLUMNS", "300")
    return tmp_path / "home"


@pytest.fixture
def write(home):
    """Writes to the file with this name by the command of an option; returns the exit status."""

    def run(option, name):
        return run_command(["--home", str(home), *WRITERS[option][0], option, name])

    return run


@pytest.mark.parametrize("option", WRITERS)
def test_a_fifo_is_written_and_stays(write, tmp_path, option):
    os.mkfifo("fifo")
    with (tmp_path / "content").open("wb") as content:
        reader = subprocess.Popen(["cat", "fifo"], stdout=content)
    try:
        assert write(option, "fifo") == 0
        assert reader.wait(timeout=60) == 0
    finally:
        reader.kill()
        reader.wait()
    assert (tmp_path / "content").read_bytes().lower().startswith(WRITERS[option][1])
    assert stat.S_ISFIFO(os.lstat("fifo").st_mode)
    assert os.listdir() == ["fifo"]


@pytest.mark.parametrize("option", WRITERS)
@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_and_its_file_is_written(write, option, exists):
    Path("elsewhere").mkdir()
    Path("link").symlink_to("elsewhere/file")
    if exists:
        Path("elsewhere/file").write_bytes(b"old")
    assert write(option, "link") == 0
    assert Path("link").readlink() == Path("elsewhere/file")
    assert Path("elsewhere/file").read_bytes().lower().startswith(WRITERS[option][1])
    assert os.listdir("elsewhere") == ["file"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices")
@pytest.mark.parametrize("option", WRITERS)
def test_a_device_is_written_and_stays(write, option):
    number = os.makedev(1, 3)
    try:
        os.mknod("null", stat.S_IFCHR | 0o666, number)
        os.close(os.open("null", os.O_WRONLY))
    except PermissionError:
        pytest.skip("no devices can be made or opened in this folder")
    assert write(option, "null") == 0
    status = os.lstat("null")
    assert (stat.S_ISCHR(status.st_mode), status.st_rdev) == (True, number)


@pytest.mark.parametrize("option", ["--html", "--svg", "--csv"])
def test_a_folder_and_a_socket_are_refused(write, option, capsys, snapshot):
    Path("folder").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        for name in ("folder", "socket"):
            assert write(option, name) == 1
            assert messages(capsys.readouterr().err) == snapshot
    assert stat.S_ISSOCK(os.lstat("socket").st_mode)


def test_a_link_without_an_end_is_refused(write, capsys, snapshot):
    Path("link").symlink_to("link")
    assert write("--csv", "link") == 1
    assert messages(capsys.readouterr().err) == snapshot


@pytest.mark.parametrize("is_pipe", [True, False])
def test_a_link_to_stdout_is_stdout(home, tmp_path, is_pipe):
    """The table for people comes first, then the CSV, whether stdout is a pipe or a file."""
    Path("stdout").symlink_to("/proc/self/fd/1")
    command = [sys.executable, "-m", "arena", "--home", str(home), "standings", "r"]
    command += ["--csv", "stdout"]
    if is_pipe:
        out = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()
    else:
        with (tmp_path / "out").open("wb") as file:
            subprocess.run(command, stdout=file, check=True)
        out = (tmp_path / "out").read_text()
    text, _, csv = out.partition("rank,bot,")
    assert "Elo" in text
    assert len(csv.splitlines()) == 3
    assert Path("stdout").is_symlink()


def test_a_link_in_the_folder_of_a_run_is_not_followed_by_default(home):
    """The folder of a run may come from anybody."""
    own = home / "own"
    own.write_text("mine")
    report = home / "results" / "r" / "report.html"
    report.symlink_to(own)
    assert run_command(["--home", str(home), "report", "r"]) == 0
    assert (own.read_text(), report.is_symlink()) == ("mine", False)
