"""The home that is found: from the current folder upward, this user's only."""

import os
from pathlib import Path

import pytest

from arena.commands.home import MARK, find_home, is_home

STRANGER = 12345
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def touch(*files):
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")


@pytest.fixture
def home(tmp_path):
    touch(tmp_path / "home/bots/ann/bot.toml")
    (tmp_path / "home/deep/er").mkdir(parents=True)
    return tmp_path / "home"


@pytest.mark.parametrize(
    ("start", "found"), [(".", "."), ("deep", ".."), ("deep/er", "../.."), ("bots/ann", "../..")]
)
def test_the_nearest_home_is_found_from_any_folder_below_it(home, monkeypatch, start, found):
    monkeypatch.chdir(home / start)
    assert find_home() == Path(found)


@pytest.mark.parametrize("evidence", ["bots/ann/bot.toml", "results/one/run.json", MARK])
def test_a_bot_a_run_or_the_mark_make_a_home(tmp_path, evidence):
    assert not is_home(tmp_path)
    touch(tmp_path / evidence)
    assert is_home(tmp_path)


@pytest.mark.parametrize(
    "other",
    [
        "bots/readme.txt",
        "results/notes/text.txt",
        "bots/ann/bot.py",
        "bots.txt",
        "results/run.json",
    ],
)
def test_folders_of_these_names_alone_do_not(tmp_path, other):
    touch(tmp_path / other)
    assert not is_home(tmp_path)


def test_a_run_is_no_home_though_it_holds_bots(home, monkeypatch):
    touch(home / "results/one/run.json", home / "results/one/bots/ann-123/bot.toml")
    monkeypatch.chdir(home / "results/one/bots")
    assert find_home() == Path("../../..")


def test_without_a_home_it_is_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("arena.commands.home.is_home", lambda _: False)
    assert find_home() == Path()


def test_a_current_folder_that_is_gone_is_left_to_who_needs_it(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert find_home() == Path()


@root_only
@pytest.mark.parametrize("foreign", ["bots", "bots/ann", "bots/ann/bot.toml", "."])
def test_what_a_stranger_left_makes_no_home(home, monkeypatch, foreign):
    os.chown(home / foreign, STRANGER, STRANGER)
    monkeypatch.chdir(home / "deep")
    assert find_home() != Path("..")


@root_only
def test_a_stranger_s_link_to_bots_of_mine_makes_no_home(home, tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open/bots").symlink_to(home / "bots")
    assert is_home(tmp_path / "open")
    os.chown(tmp_path / "open/bots", STRANGER, STRANGER, follow_symlinks=False)
    assert not is_home(tmp_path / "open")
