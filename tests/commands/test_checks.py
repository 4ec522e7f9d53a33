"""A check that a bot passed is remembered for these very files, settings and arena, and not for
long.
"""

import os
import time

import pytest

from arena.commands import checks
from arena.commands.checks import FRESH_S, passed_s_ago, remember_passed
from arena.players.folder import bot_at
from arena.players.sandbox.grants import Grants
from arena.players.sandbox.tiers import OPEN, Sandbox


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    """The folder of what the arena remembers for this user."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "qin-arena" / "passed"


@pytest.fixture
def bot(tmp_path):
    folder = tmp_path / "my-bot"
    folder.mkdir()
    (folder / "bot.toml").write_text('name = "my-bot"\ncommand = ["python3", "bot.py"]\n')
    (folder / "bot.py").write_text("print()\n")
    return bot_at(folder)


def test_a_passed_check_counts_for_the_same_files_alone(tmp_path, bot):
    assert passed_s_ago(tmp_path, bot, 100, OPEN) is None
    remember_passed(tmp_path, bot, 100, OPEN)
    assert passed_s_ago(tmp_path, bot, 100, OPEN) >= 0
    (bot.folder / "bot.py").write_text("print(1)\n")
    assert passed_s_ago(tmp_path, bot_at(bot.folder), 100, OPEN) is None
    (bot.folder / "bot.py").write_text("print()\n")
    assert passed_s_ago(tmp_path, bot_at(bot.folder), 100, OPEN) is not None
    (bot.folder / "more.py").write_text("")
    assert passed_s_ago(tmp_path, bot_at(bot.folder), 100, OPEN) is None


def test_a_passed_check_counts_for_the_same_settings_home_and_arena_alone(
    tmp_path, bot, monkeypatch
):
    remember_passed(tmp_path, bot, 100, OPEN)
    assert passed_s_ago(tmp_path, bot, 200, OPEN) is None
    assert passed_s_ago(tmp_path / "other", bot, 100, OPEN) is None
    assert passed_s_ago(tmp_path, bot, 100, Sandbox("landlock")) is None
    allowed = Sandbox("none", {"my-bot": Grants(network=True)})
    assert passed_s_ago(tmp_path, bot, 100, allowed) is None
    monkeypatch.setattr(checks.arena, "__version__", "another")
    assert passed_s_ago(tmp_path, bot, 100, OPEN) is None


def test_the_folders_of_what_is_remembered_are_for_the_user_alone(tmp_path, bot, state):
    before = os.umask(0o002)
    try:
        remember_passed(tmp_path, bot, 100, OPEN)
    finally:
        os.umask(before)
    assert state.parent.stat().st_mode & 0o777 == 0o700
    assert state.stat().st_mode & 0o777 == 0o700


def test_a_passed_check_is_forgotten_after_an_hour(tmp_path, bot, state, monkeypatch):
    remember_passed(tmp_path, bot, 100, OPEN)
    [passed] = state.iterdir()
    old_s = time.time() - FRESH_S - 1
    os.utime(passed, (old_s, old_s))
    assert passed_s_ago(tmp_path, bot, 100, OPEN) is None
    monkeypatch.setattr(checks, "MAX_KEPT", 1)
    remember_passed(tmp_path, bot, 200, OPEN)
    assert passed not in list(state.iterdir())


def test_where_nothing_can_be_remembered_the_next_check_is_made_again(tmp_path, bot, state):
    state.parent.mkdir(parents=True)
    state.write_text("a file")
    remember_passed(tmp_path, bot, 100, OPEN)
    assert passed_s_ago(tmp_path, bot, 100, OPEN) is None
