"""What a grant may say, what stays out of sight, and what a machine may lack."""

import os
from pathlib import Path

import pytest

from arena.commands.permissions import is_trusted
from arena.errors import ConfigError
from arena.players.folder import bot_at
from arena.players.sandbox import grants
from arena.players.sandbox.grants import Grants, make_grants, read_allowed
from arena.players.sandbox.tiers import Sandbox
from arena.tournament.settings import OwnConfig


def test_words_come_in_one_order_whatever_the_user_says(monkeypatch, tmp_path):
    monkeypatch.setenv("B_KEY", "b")
    monkeypatch.setenv("A_KEY", "a")
    (tmp_path / "data").mkdir()
    said = ["env:B_KEY", f"read:{tmp_path}/data", "network", "env:A_KEY", "env:B_KEY", "none"]
    made = make_grants(said, Path(), [])
    assert made.words == ["network", "env:A_KEY", "env:B_KEY", f"read:{tmp_path}/data"]
    assert made.kinds == ["network", "env", "read"]


def test_a_record_tells_by_seat_who_might_do_what():
    sandbox = Sandbox("landlock", {"b": Grants(network=True, env=("KEY",)), "c": Grants(cpus=4)})
    assert sandbox.text(["a", "a"]) == "landlock"
    assert sandbox.text(["b", "a", "c"]) == "landlock 0=network,env 2=cpus"


def test_a_path_may_hold_an_equals_sign_but_a_name_ends_at_the_first():
    assert read_allowed("a=read:/x=y") == ("a", ["read:/x=y"])


@pytest.mark.parametrize("sign", [",", "\n", "\u202e"])
def test_a_path_that_cannot_be_told_is_refused(tmp_path, sign, refused):
    (tmp_path / f"a{sign}b").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / f"a{sign}b")
    with refused(ConfigError):
        make_grants([f"read:{tmp_path}/link"], Path(), [])


def test_a_path_where_nothing_is_is_told_once_in_plain_words(tmp_path):
    with pytest.raises(ConfigError) as caught:
        make_grants(["read:gone"], tmp_path, [])
    assert (
        str(caught.value) == "expected a file or folder after read:, got 'gone', where nothing is"
    )


def test_a_folder_with_a_pipe_or_too_many_files_is_refused(tmp_path, monkeypatch, refused):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    os.mkfifo(tmp_path / "deep" / "er" / "pipe")
    with refused(ConfigError):
        make_grants([f"read:{tmp_path}"], Path(), [])
    (tmp_path / "deep" / "er" / "pipe").unlink()
    assert make_grants([f"read:{tmp_path}"], Path(), []).read == (str(tmp_path),)
    monkeypatch.setattr(grants, "MAX_FILES", 1)
    with refused(ConfigError):
        make_grants([f"read:{tmp_path}"], Path(), [])


def test_a_folder_around_what_is_closed_is_closed(tmp_path, refused):
    (tmp_path / "qin" / "results").mkdir(parents=True)
    for path in ("qin", "qin/results", "."):
        with refused(ConfigError):
            make_grants([f"read:{path}"], tmp_path, [tmp_path / "qin" / "results"])


def program(path, mode=0o755):
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return path


def test_a_program_or_a_folder_of_programs_can_be_granted(tmp_path, snapshot):
    (tmp_path / "tools").mkdir()
    real = program(tmp_path / "tools" / "real")
    (tmp_path / "link").symlink_to(real)
    made = make_grants(["exec:link", "exec:tools", "read:tools"], tmp_path, [])
    assert made.exec == (str(tmp_path / "tools"), str(real))
    assert made.words == [f"read:{tmp_path}/tools", f"exec:{tmp_path}/tools", f"exec:{real}"]
    assert made.kinds == ["read", "exec"]
    real.unlink()
    assert made.lack() == snapshot


@pytest.mark.parametrize(
    ("mode", "word"),
    [
        (0o644, "exec:tools/own"),
        (0o111, "exec:tools/own"),
        (0o111, "exec:tools"),
        (0o755, "exec:none"),
        (0o755, "exec:"),
        (0o755, "exec:/proc"),
        (0o755, "exec"),
    ],
)
def test_what_cannot_be_executed_is_not_granted(tmp_path, mode, word, refused):
    (tmp_path / "tools").mkdir()
    program(tmp_path / "tools" / "own", mode)
    with refused(ConfigError):
        make_grants([word], tmp_path, [])


def test_values_are_blotted_out_as_they_are_and_as_json_but_not_what_any_text_has(monkeypatch):
    value = 'k"ey\\of-münchen'
    monkeypatch.setenv("KEY", value)
    monkeypatch.setenv("LONGER", f"{value}-and-more")
    monkeypatch.setenv("SHORT", "on")
    made = Grants(env=("KEY", "LONGER", "SHORT"))
    said = f'{value} {value}-and-more k\\"ey\\\\of-m\\u00fcnchen k\\"ey\\\\of-münchen on'
    assert made.hidden_text(said) == "[KEY] [LONGER] [KEY] [KEY] on"
    assert Grants().hidden_text(value) == value


def test_what_a_machine_lacks_is_told_with_the_cure(monkeypatch, tmp_path, snapshot):
    monkeypatch.delenv("NOT_SET", raising=False)
    assert Grants(env=("NOT_SET",)).lack() == snapshot
    assert Grants(read=(str(tmp_path / "gone"),)).lack() == snapshot
    assert Grants(cpus=9999).lack() == snapshot
    assert Grants(network=True).lack() == ""


def test_a_trusted_bot_is_named_by_its_name_or_by_its_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for place in ("mine", "strangers"):
        (tmp_path / place / "bot").mkdir(parents=True)
        (tmp_path / place / "bot" / "bot.toml").write_text('name = "bot"\ncommand = ["true"]\n')
    mine, other = (bot_at(tmp_path / place / "bot") for place in ("mine", "strangers"))
    for own in (["../mine/bot"], [str(mine.folder)]):
        assert is_trusted(mine, (), OwnConfig(trust=own))
        assert not is_trusted(other, (), OwnConfig(trust=own))
    assert not is_trusted(mine, ("another",), OwnConfig(trust=["bot"]))
    assert is_trusted(other, ("bot",), OwnConfig())
    assert not is_trusted(mine, (), OwnConfig())


def test_the_beginning_of_a_value_is_known(monkeypatch):
    monkeypatch.setenv("LLM_KEY", "sk-SECRET-0123")
    grants = Grants(env=("LLM_KEY",))
    assert grants.begun(b"key sk-SEC") == 6
    assert grants.begun(b"key s") == 1
    assert grants.begun(b"key sk-SECRET-0123") == 0
    assert grants.begun(b"nothing") == 0
