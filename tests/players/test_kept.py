"""Builds are made once, used again while nothing changed, and never trusted where anybody else
could have written.
"""

import os
from pathlib import Path

import pytest

from arena.players.folder import bot_at
from arena.players.sandbox.tiers import OPEN, TIERS, Sandbox, failure
from arena.players.staging import Kept, cache_folder, kept_builds, stage


@pytest.fixture
def walls():
    """The best sandbox that works here."""
    tier = next((tier for tier in TIERS if not failure(Sandbox(tier).launch)), None)
    if tier is None:
        pytest.skip("no sandbox works here")
    return Sandbox(tier)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A bot whose build leaves another number each time, and a cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "bot"
    path.mkdir()
    (path / "bot.py").write_text("print()\n")
    build = "head -c 8 /dev/urandom | od -An -tx8 > built; ln -s bot.py link; chmod 700 built"
    (path / "bot.toml").write_text(
        'name = "b"\nversion = "1"\ncommand = ["python3", "bot.py"]\nbuild = [["sh", "-c",'
        f' "{build}"]]\n'
    )
    return path


def built(bot, target, sandbox):
    return (stage(bot, target, sandbox).folder / "built").read_text()


def test_the_same_files_are_built_once(folder, tmp_path, walls):
    first = built(bot_at(folder), tmp_path / "one" / "b", walls)
    assert built(bot_at(folder), tmp_path / "two" / "b", walls) == first
    copy = tmp_path / "two" / "b"
    assert ((copy / "link").readlink(), (copy / "built").stat().st_mode & 0o777) == (
        Path("bot.py"),
        0o755,
    )
    assert Kept(cache_folder("builds")).size()[0] == 1


def test_another_version_of_the_same_files_is_the_same_build(folder, tmp_path, walls):
    first = built(bot_at(folder), tmp_path / "one" / "b", walls)
    (folder / "bot.toml").write_text(
        (folder / "bot.toml").read_text().replace('version = "1"', 'version = "2"')
    )
    assert built(bot_at(folder), tmp_path / "two" / "b", walls) == first


def test_other_files_or_another_compiler_are_built_anew(folder, tmp_path, walls, monkeypatch):
    first = built(bot_at(folder), tmp_path / "one" / "b", walls)
    (folder / "bot.py").write_text("print(1)\n")
    second = built(bot_at(folder), tmp_path / "two" / "b", walls)
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "cc").write_text("#!/bin/sh\n")
    (programs / "cc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    third = built(bot_at(folder), tmp_path / "three" / "b", walls)
    assert len({first, second, third}) == 3


def test_without_a_sandbox_nothing_is_kept(folder, tmp_path):
    assert built(bot_at(folder), tmp_path / "one" / "b", OPEN) != built(
        bot_at(folder), tmp_path / "two" / "b", OPEN
    )
    assert not cache_folder("builds").exists()


def test_a_folder_that_others_can_write_to_or_a_link_is_not_trusted(folder, walls):
    assert kept_builds(walls)
    place = cache_folder("builds")
    place.mkdir(parents=True)
    place.chmod(0o777)
    assert kept_builds(walls) is None
    place.chmod(0o700)
    assert kept_builds(walls)
    place.parent.chmod(0o770)
    assert kept_builds(walls) is None
    place.parent.chmod(0o700)
    place.rename(place.with_name("elsewhere"))
    place.symlink_to("elsewhere")
    assert kept_builds(walls) is None


def test_files_that_changed_since_they_were_hashed_are_not_kept(folder, tmp_path, walls):
    bot = bot_at(folder)
    (folder / "bot.py").write_text("print(2)\n")
    stage(bot, tmp_path / "one" / "b", walls)
    assert Kept(cache_folder("builds")).size()[0] == 0


def test_the_oldest_go_when_there_are_many(tmp_path, monkeypatch):
    monkeypatch.setattr("arena.players.staging.MOST_KEPT", 2)
    kept, source = Kept(tmp_path / "kept"), tmp_path / "source"
    source.mkdir()
    (source / "file").write_bytes(bytes(1000))
    for number, key in enumerate("abc"):
        kept.keep(key, source)
        os.utime(tmp_path / "kept" / key, (number, number))
    assert not kept.fetch("a", tmp_path / "a")
    assert kept.fetch("b", tmp_path / "b")
    assert kept.fetch("c", tmp_path / "c")
    assert Path(tmp_path / "c" / "file").stat().st_size == 1000
    assert kept.size() == (2, 2000 + sum((kept.folder / key).lstat().st_size for key in "bc"))
