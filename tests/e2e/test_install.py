"""The arena as people get it: the wheel built here, and installed where nothing else of the
repository is. tests/release looks at the sdist, too.
"""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import msgspec
import pytest

from arena.players.registry import LADDER
from tests.attacks.tiers import needs
from tests.support.commandline import ROOT

SOURCES = ("setup.py", "arena", "bots", "pyproject.toml", "README.md", "LICENSE")
BUILD = "import sys; from setuptools import build_meta as backend; backend.build_wheel(sys.argv[1])"
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.so")


def run(*command, cwd, **options):
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=cwd, capture_output=True, text=True, timeout=250, check=False, **options
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


def build_wheel(source, target):
    """A wheel of the source, by the backend that pip would ask."""
    target.mkdir(parents=True)
    run(sys.executable, "-c", BUILD, target, cwd=source)
    [made] = target.iterdir()
    return made


def copy_sources(target):
    """The sources, with what lies about in a developer's checkout: a bot of their own, and notes in
    one that is tracked.
    """
    target.mkdir()
    for name in SOURCES:
        place = ROOT / name
        if place.is_dir():
            shutil.copytree(place, target / name, symlinks=True, ignore=LEFT_OUT)
        else:
            shutil.copy(place, target / name)
    shutil.copytree(ROOT / "bots" / "random-python", target / "bots" / "secret-bot")
    (target / "bots" / "greedy-python" / "notes.txt").write_text("not for others\n")


def make_everything(folder):
    copy_sources(folder / "source")
    wheel = build_wheel(folder / "source", folder / "wheel")
    install(wheel, folder / "venv")


def install(wheel, venv):
    """A venv with the wheel alone in it.

    What the wheel depends on is taken from where it is installed already, which needs no network;
    msgspec, which bots import, is copied, as a bot in the sandbox sees its own venv only.
    """
    run(sys.executable, "-m", "venv", "--without-pip", venv, cwd="/")
    python = venv / "bin" / "python"
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "-q",
        "--no-index",
        "--no-deps",
        wheel,
        cwd="/",
    )
    own = Path(sysconfig.get_path("purelib", vars={"base": str(venv), "platbase": str(venv)}))
    shutil.copytree(Path(msgspec.__file__).parent, own / "msgspec")
    (own / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")


@pytest.fixture(scope="session")
def built(tmp_path_factory, request):
    """The folder with all that is built, made once, whatever the number of pytest's workers."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if hasattr(request.config, "workerinput") else base) / "built"
    with Path(f"{folder}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make_everything(folder)
            (folder / "done").touch()
    return folder


def only_file(folder):
    [file] = folder.iterdir()
    return file


def contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {
            name: archive.read(name)
            for name in archive.namelist()
            if not name.endswith((".so", "/RECORD"))
        }


class Installed:
    """The installed command in a folder, with the environment of a user who knows nothing of the
    repository.
    """

    def __init__(self, venv, folder):
        self.venv, self.folder = venv, folder
        self.environment = {
            "PATH": f"{venv / 'bin'}:/usr/bin:/bin",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
        }

    def __call__(self, *arguments, at="."):
        done = run(
            self.venv / "bin" / "arena", *arguments, cwd=self.folder / at, env=self.environment
        )
        return done.stdout, done.stderr


@pytest.fixture
def installed(built, tmp_path):
    return Installed(built / "venv", tmp_path)


def test_the_wheel_holds_the_ladder_and_no_bot_of_a_developer(built):
    packed = contents(only_file(built / "wheel"))
    ladder = {
        Path(name).relative_to("arena/ladder"): content
        for name, content in packed.items()
        if name.startswith("arena/ladder/")
    }
    kinds = (".toml", ".py", ".js", ".cpp", ".h", ".md", ".json")
    tracked = [
        file for name in LADDER for file in (ROOT / "bots" / name).iterdir() if file.suffix in kinds
    ]
    assert ladder == {file.relative_to(ROOT / "bots"): file.read_bytes() for file in tracked}
    assert not any(
        "secret" in name or name.endswith("notes.txt") or name.startswith(("bots", "tests"))
        for name in packed
    )


def test_what_is_installed_is_what_runs(installed):
    where = "import arena, sys; print(arena.__file__)"
    done = run(
        installed.venv / "bin" / "python",
        "-c",
        where,
        cwd=installed.folder,
        env=installed.environment,
    )
    assert done.stdout.startswith(str(installed.venv))
    listed = json.loads(installed("bots", "--json")[0])
    assert [(bot["bot"], bot["ladder"]) for bot in listed] == [(name, True) for name in LADDER]


def test_in_an_empty_folder_the_ladder_plays(installed):
    out, _ = installed("play", "random-python", "greedy-python")
    assert "end (" in out
    out, err = installed("run", "--deals", 1, "random-python", "greedy-python", "--out", "first")
    assert "greedy-python" in out
    assert "run first: 'arena report first' shows it as a page" in err
    assert [record["faults"] for record in records(installed, "first")] == [[], []]
    assert "greedy-python" in installed("standings")[0]


def test_from_an_empty_folder_to_the_standings(installed, snapshot):
    """As a newcomer does it, without a look at anything but what the commands themselves say is
    next.
    """
    installed("init")
    assert sorted(os.listdir(installed.folder / "bots")) == sorted(LADDER)
    _, err = installed("new", "my-bot")
    assert err == snapshot
    assert installed("check", "./my-bot")[0].endswith(" 0 failed\n")
    out, err = installed("submit", ".", "--no-check", at="my-bot")
    assert out == snapshot
    assert err == snapshot
    installed("run", "my-bot", "greedy-python", "--deals", 1, "--out", "mine", at="my-bot")
    assert [record["faults"] for record in records(installed, "mine")] == [[], []]
    assert "my-bot" in installed("standings", "mine")[0]
    installed("remove", "greedy-python", "--yes")
    assert "greedy-python     1        ladder" in installed("bots")[0]


@pytest.mark.parametrize("tier", ["bubblewrap", "landlock"])
def test_the_ladder_of_the_wheel_plays_in_the_sandbox(installed, tier):
    needs(tier)
    hidden = {"landlock": "bwrap"}.get(tier)
    # the best tier that works is taken: this one when the program of the better one is not found
    if hidden:
        installed.environment["PATH"] = str(path_without(hidden, installed.folder / "programs"))
        installed.environment["PATH"] = f"{installed.venv / 'bin'}:{installed.environment['PATH']}"
    installed(
        "run", "random-python", "greedy-python", "--deals", 1, "--sandbox", "require", "--out", "r"
    )
    assert {(record["sandbox"], len(record["faults"])) for record in records(installed, "r")} == {
        (tier, 0)
    }


def path_without(program, folder):
    """A folder with links to all of the system's programs but one."""
    folder.mkdir()
    for place in (Path("/usr/bin"), Path("/bin")):
        for file in place.iterdir():
            if file.name != program and not os.path.lexists(folder / file.name):
                (folder / file.name).symlink_to(file)
    return folder


def records(installed, name):
    return [
        json.loads(line)
        for line in (installed.folder / "results" / name / "games.jsonl").read_text().splitlines()
    ]
