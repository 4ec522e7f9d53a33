"""A setting is declared once: what commands, files, programs and runs have is made from that."""

import pytest

from arena import api
from arena.cli.main import CommandTable, arena
from arena.errors import ConfigError
from arena.players.player import built_in_bot
from arena.records.config import DEFAULTS, RunConfig
from arena.rules.boards import built_in
from arena.tournament.runs import make_request
from arena.tournament.settings import (
    DECLARED,
    OUTSIDE_CONFIG,
    OwnConfig,
    Setting,
    default_of,
    read_options,
    taken_by,
)

OF_OLDER_RUNS = {"clock": "wall"}
"""What a run.json means that does not say it."""


def options_of(command):
    assert isinstance(arena, CommandTable)
    found = arena.get_command(None, command.split()[0])
    for name in command.split()[1:]:
        found = found.commands[name]
    return {option.name: option for option in found.params}


@pytest.mark.parametrize(
    ("command", "name"),
    [("run", "run"), ("compare", "compare"), ("tune", "tune"), ("league run", "league"),
     ("play", "play"), ("check", "check"), ("submit", "submit")],
)  # fmt: skip
def test_a_command_has_an_option_for_each_setting_that_it_takes(command, name):
    options = options_of(command)
    for setting in taken_by(name):
        flag = DECLARED[setting].option or setting
        assert f"--{flag.replace('_', '-')}" in options[setting].opts
        assert options[setting].help.startswith(DECLARED[setting].help)


def test_every_setting_is_part_of_the_config_of_a_run_or_known_to_be_elsewhere():
    fields = set(RunConfig.__struct_fields__)
    assert DECLARED.keys() - fields == set(OUTSIDE_CONFIG)


def test_a_setting_that_the_config_of_a_run_has_no_field_for_is_refused(monkeypatch):
    monkeypatch.setitem(DECLARED, "handicap", Setting("Pagodas given away.", "run"))
    bots = [built_in_bot("greedy"), built_in_bot("careful")]
    with pytest.raises(ConfigError, match="handicap"):
        make_request({"handicap": 3}, {"bird": built_in("bird")}, bots)


def test_the_default_of_a_setting_is_that_of_a_run():
    for name in taken_by("run"):
        if name in RunConfig.__struct_fields__ and name not in {"seed", *OF_OLDER_RUNS}:
            assert DEFAULTS[name] == default_of(name), name


@pytest.mark.parametrize("question", [api.run, api.compare])
def test_the_help_of_a_function_lists_the_settings_that_its_command_takes(question):
    for name in taken_by(question.__name__):
        assert f"``{name}``  {DECLARED[name].text}" in question.__doc__


def test_a_file_has_each_setting_of_a_run_as_a_key(tmp_path):
    said = {
        "players": 3, "deals": 2, "boards": ["bird"], "board": ["/my.txt"], "match": ["bird"],
        "seatings": "all", "tables": 2, "challenger": "a", "seed": "s", "move_ms": 5, "game_ms": 9,
        "increment_ms": 1, "clock": "cpu", "startup_ms": 7, "until": 20.5,
        "in_process": False, "out": "x",
    }  # fmt: skip
    assert {DECLARED[name].option or name for name in taken_by("run")} == set(said)
    words = {True: "true", False: "false"}
    lines = [
        f"{key} = {words[value] if isinstance(value, bool) else repr(value)}"
        for key, value in said.items()
    ]
    path = tmp_path / "arena.toml"
    path.write_text("\n".join(lines))
    asked, own = read_options(path)
    assert asked == {"board_files" if key == "board" else key: said[key] for key in said}
    assert own == OwnConfig()
