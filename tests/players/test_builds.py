"""Builds are made once, used again while nothing changed, and never trusted where anybody else
could have written.
"""

import multiprocessing
import os
import shutil
from pathlib import Path

import pytest

from arena.players.builds import BuildCache, cache_folder
from arena.players.folder import bot_at
from arena.players.sandbox.tiers import OPEN, TIERS, Sandbox, failure
from arena.players.staging import build_cache, stage, stage_for_run


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
    assert BuildCache(cache_folder("builds")).size()[0] == 1


def test_builds_are_kept_whatever_the_mask_of_modes(folder, tmp_path, walls):
    before = os.umask(0o002)
    try:
        first = built(bot_at(folder), tmp_path / "one" / "b", walls)
        assert built(bot_at(folder), tmp_path / "two" / "b", walls) == first
    finally:
        os.umask(before)


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
    assert build_cache(walls)
    place = cache_folder("builds")
    place.mkdir(parents=True)
    place.chmod(0o777)
    assert build_cache(walls) is None
    place.chmod(0o700)
    assert build_cache(walls)
    place.parent.chmod(0o770)
    assert build_cache(walls) is None
    place.parent.chmod(0o700)
    place.rename(place.with_name("elsewhere"))
    place.symlink_to("elsewhere")
    assert build_cache(walls) is None


def names_in(folder):
    return {place.name for place in folder.iterdir()}


def test_a_run_gets_the_files_of_a_bot_and_its_build_lies_elsewhere(folder, tmp_path, walls):
    target, builds = tmp_path / "run" / "b", tmp_path / "builds"
    playing = stage_for_run(bot_at(folder), target, builds, walls)
    assert playing.folder == builds / "b"
    assert names_in(playing.folder) == {"bot.py", "bot.toml", "built", "link"}
    assert names_in(target) == {"bot.py", "bot.toml"}
    # A copy with build results, as version 1.0.0 made them, is replaced ...
    (target / "built").write_text("foreign\n")
    stage_for_run(bot_at(folder), target, tmp_path / "again", walls)
    assert names_in(target) == {"bot.py", "bot.toml"}
    # ... unless nothing else has the files. Then it is built from the copy, which stays.
    (target / "built").write_text("foreign\n")
    playing = stage_for_run(bot_at(target), target, tmp_path / "other", walls)
    assert (target / "built").read_text() == "foreign\n"
    assert (playing.folder / "built").read_text() != "foreign\n"


def test_files_that_changed_since_they_were_hashed_are_not_kept(folder, tmp_path, walls):
    bot = bot_at(folder)
    (folder / "bot.py").write_text("print(2)\n")
    stage(bot, tmp_path / "one" / "b", walls)
    assert BuildCache(cache_folder("builds")).size()[0] == 0


def kept_build():
    """The only build in the cache."""
    [kept] = [place for place in cache_folder("builds").iterdir() if place.is_dir()]
    return kept


def change_file(kept):
    (kept / "built").write_text("foreign\n")


def change_file_in_place(kept):
    """Keeps the size and the time of the file."""
    file = kept / "built"
    status, text = file.stat(), file.read_text()
    file.write_text(text[::-1])
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def add_file(kept):
    (kept / "more").touch()


def remove_file(kept):
    (kept / "built").unlink()


def change_mode(kept):
    (kept / "bot.py").chmod(0o777)


def change_link(kept):
    (kept / "link").unlink()
    (kept / "link").symlink_to("built")


def replace_build(kept):
    shutil.rmtree(kept)
    kept.mkdir()
    (kept / "built").write_text("foreign\n")


def remove_seal(kept):
    kept.with_name(f"{kept.name}.seal").unlink()


def damage_seal(kept):
    kept.with_name(f"{kept.name}.seal").write_bytes(b"\xff")


@pytest.mark.parametrize(
    "spoil",
    [
        change_file,
        change_file_in_place,
        add_file,
        remove_file,
        change_mode,
        change_link,
        replace_build,
        shutil.rmtree,
        remove_seal,
        damage_seal,
    ],
    ids=lambda spoil: spoil.__name__,
)
def test_a_kept_build_that_was_changed_is_made_anew(folder, tmp_path, walls, spoil):
    first = built(bot_at(folder), tmp_path / "one" / "b", walls)
    spoil(kept_build())
    second = built(bot_at(folder), tmp_path / "two" / "b", walls)
    assert second not in (first, first[::-1], "foreign\n")
    assert {place.name for place in (tmp_path / "two" / "b").iterdir()} == {
        "bot.py",
        "bot.toml",
        "built",
        "link",
    }
    assert (tmp_path / "two" / "b" / "link").readlink() == Path("bot.py")
    # The new build has replaced the changed one in the cache.
    assert built(bot_at(folder), tmp_path / "three" / "b", walls) == second


def test_the_builds_not_used_for_the_longest_time_go_when_the_cache_is_full(tmp_path, monkeypatch):
    monkeypatch.setattr("arena.players.builds.MAX_BYTES", 2500)
    cache, source = BuildCache(tmp_path / "cache"), tmp_path / "source"
    source.mkdir()
    (source / "file").write_bytes(bytes(1000))
    for number, key in enumerate("ab"):
        cache.keep(key, source)
        os.utime(tmp_path / "cache" / f"{key}.seal", (number, number))
    assert cache.fetch("a", tmp_path / "a")  # so that b is the one not used for longer
    cache.keep("c", source)
    assert not cache.fetch("b", tmp_path / "b")
    assert not (tmp_path / "b").exists()
    assert cache.fetch("a", tmp_path / "a again")
    assert cache.fetch("c", tmp_path / "c")
    assert (tmp_path / "c" / "file").stat().st_size == 1000
    assert cache.size()[0] == 2
    (source / "file").write_bytes(bytes(3000))
    cache.keep("too large", source)
    assert cache.size()[0] == 0
    assert {place.name for place in cache.folder.iterdir()} == {".lock"}


def test_a_bot_that_plays_keeps_its_build_when_the_cache_loses_it(
    folder, tmp_path, walls, monkeypatch
):
    first = stage(bot_at(folder), tmp_path / "one" / "b", walls)
    text = (first.folder / "built").read_text()
    monkeypatch.setattr("arena.players.builds.MAX_BYTES", 1)
    (folder / "bot.py").write_text("print(1)\n")
    stage(bot_at(folder), tmp_path / "two" / "b", walls)
    assert BuildCache(cache_folder("builds")).size()[0] == 0
    assert (first.folder / "built").read_text() == text


def test_what_a_killed_arena_left_in_the_cache_goes(tmp_path):
    cache, source = BuildCache(tmp_path / "cache"), tmp_path / "source"
    source.mkdir()
    for name in (".incoming-1", "without a seal"):
        (cache.folder / name).mkdir(parents=True)
    cache.keep("a", source)
    assert {place.name for place in cache.folder.iterdir()} == {"a", "a.seal", ".lock"}


def keep_often(cache, source):
    for _ in range(20):
        cache.keep("a", source)


def test_two_arenas_use_one_cache_at_the_same_time(tmp_path):
    cache, source = BuildCache(tmp_path / "cache"), tmp_path / "source"
    source.mkdir()
    (source / "file").write_bytes(bytes(1000))
    cache.keep("a", source)
    other = multiprocessing.get_context("spawn").Process(target=keep_often, args=(cache, source))
    other.start()
    for number in range(20):
        assert cache.fetch("a", tmp_path / str(number))
    other.join()
    assert other.exitcode == 0
