"""What earlier versions had is either still there or named with what to use instead."""

import re
from pathlib import Path

import click
import pytest

from arena.cli.main import arena as arena_command
from arena.cli.main import run_command
from arena.errors import ConfigError
from arena.tournament.removed import REMOVED, instead_of_key
from arena.tournament.settings import OWN_TYPES, read_options, read_own_config, taken_by
from tests.support.wording import messages

ROOT = Path(__file__).parents[2]
EARLIER = Path(__file__).with_name("earlier-options.txt")
"""Every command with its options, and the keys of an arena.toml, before anything of them went."""
OPTIONS = [entry for entry in REMOVED if " --" in entry]
COMMANDS = [entry for entry in REMOVED if " --" not in entry]
KEYS = ["adaptive", "keep_stderr", "tls_ca_file", "tls_cert", "tls_key"]
OWN_KEYS = ["tls_ca_file", "tls_cert", "tls_key"]


def earlier():
    lines = EARLIER.read_text().splitlines()
    return {command: options.split() for command, _, options in (it.partition(":") for it in lines)}


def command_named(path):
    """The command with this path, such as ``league run``; None if it does not exist."""
    found = arena_command
    for name in path.split():
        context = click.Context(found, info_name="arena", resilient_parsing=True)
        found = found.get_command(context, name)
        if found is None:
            return None
    return found


def missing():
    """Everything that an earlier version had and this one has not, named as in the table."""
    for path, options in earlier().items():
        if path == "arena.toml":
            continue
        command = command_named(path)
        if command is None:
            yield path
            continue
        known = {name for param in command.params for name in (*param.opts, *param.secondary_opts)}
        for option in options:
            if option not in known:
                yield f"{path} {option}"


def test_the_table_has_all_options_and_commands_that_went_and_no_other():
    values = {entry for entry in REMOVED if " --prior " in entry}
    assert sorted(missing()) == sorted(REMOVED.keys() - values)


def test_the_table_has_every_key_of_an_arena_toml_that_went():
    names = {"bots", "board", *taken_by("run"), *OWN_TYPES}
    gone = [key for key in earlier()["arena.toml"] if key not in names]
    assert gone == KEYS
    assert all(instead_of_key(key) for key in gone)
    assert not any(instead_of_key(key) for key in ("deals", "jbos"))


@pytest.mark.parametrize("entry", OPTIONS)
def test_an_option_that_went_is_answered_with_what_to_use_instead(entry, capsys, snapshot):
    path, _, option = entry.partition(" --")
    name, _, value = option.partition(" ")
    assert run_command([*path.split(), f"--{name}", *value.split()]) == 2
    err = capsys.readouterr().err
    assert messages(err) == snapshot


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_went_is_answered_with_what_to_use_instead(command, capsys, snapshot):
    assert run_command([command, "--help"]) == 2
    assert capsys.readouterr().err == snapshot


@pytest.mark.parametrize("key", KEYS)
def test_a_key_of_an_arena_toml_that_went_is_answered_so_too(tmp_path, monkeypatch, key, refused):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    file = tmp_path / "qin-arena" / "arena.toml"
    file.parent.mkdir(mode=0o700)
    file.write_text(f"# one\n{key} = true\n")
    for read in (lambda: read_options(file), read_own_config):
        with refused(ConfigError) as it:
            read()
        assert it.value.hint == instead_of_key(key)


@pytest.mark.parametrize("key", [*KEYS, "match", "null"])
def test_what_to_use_instead_of_a_key_names_keys_and_no_option(key):
    outside_commands = re.sub(r"'(?:arena|dask) [^']*'", "", instead_of_key(key))
    assert outside_commands
    assert "--" not in outside_commands
    for name in re.findall(r"'([a-z_]+)'", outside_commands):
        assert name in taken_by("run")


@pytest.mark.parametrize("entry", REMOVED)
def test_commands_and_options_that_are_named_instead_exist(entry):
    instead = REMOVED[entry]
    for text in re.findall(r"'arena ([a-z ]+)", instead):
        assert command_named(text.split()[0]), instead
    command = command_named(entry.partition(" --")[0])
    own = {name for param in command.params for name in param.opts} if command else set()
    for option in re.findall(r"(?<!')--[a-z-]+", re.sub(r"'[^']*'", "", instead)):
        assert option in own or option in ("--seed", "--deal", "--prior"), instead
    for path in re.findall(r"\b(?:docs|protocol|results)/[\w./-]+\w", instead):
        assert (ROOT / path).exists(), instead


def test_the_changelog_names_all_that_went():
    text = (ROOT / "CHANGELOG.md").read_text()
    removed = text[text.index("### Removed") :].partition("\n## [")[0]
    for entry in REMOVED:
        path, _, option = entry.partition(" --")
        assert f"--{option}" in removed if option else f"`{path}`" in removed, entry
