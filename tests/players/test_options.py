"""Options: what a bot.toml declares, and what a bot's name sets."""

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import BotFolderError, ConfigError
from arena.players.folder import bot_at, renamed, with_options
from arena.players.labels import (
    MAX_TEXT,
    nearest_label,
    read_settings,
    settings_text,
    split_bots,
    split_options,
)
from arena.players.manifest import played_text, read_manifest, read_options
from arena.players.registry import write_manifest
from arena.records.evidence import evidence_name
from arena.values import value_text

OPTIONS = """
[options]
depth = {type = "int", default = 3, min = 1, max = 9, help = "how far it looks"}
c = {type = "float", default = 1, min = -2}
fast = {type = "bool", default = false}
style = {type = "choice", default = "calm", choices = ["calm", "wild"]}
"""
DECLARED = read_options(tomllib.loads(OPTIONS)["options"], "bot.toml")


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "ann"
    made.mkdir()
    (made / "bot.toml").write_text(f'name = "ann"\ncommand = ["python3", "bot.py"]\n{OPTIONS}')
    (made / "bot.py").write_text("")
    return made


def canonical(text):
    return settings_text(read_settings(text, DECLARED, "ann"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("depth=5", "depth=5"),
        ("style=wild,depth=05", "depth=5,style=wild"),
        (" depth = 5 , fast = true ", "depth=5,fast=true"),
        ("depth=3,c=1.0,fast=false,style=calm", ""),
        ("c=2.50", "c=2.5"),
        ("c=1e+20", "c=1e20"),
        ("c=.00001", "c=1e-5"),
        ("c=-0", "c=0"),
        ("memory_mb=64,move_ms=50,depth=9", "depth=9,move_ms=50,memory_mb=64"),
    ],
)
def test_a_setting_has_one_way_to_be_written(text, expected):
    assert canonical(text) == expected


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_written_without_a_plus_and_read_back_as_it_was(number):
    text = value_text(number)
    assert "+" not in text
    assert DECLARED["c"].value_of(text) == (number if number >= -2 else None)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("", "ann: expected options such as depth=3, got ''", "ann has depth, c, fast, style;"),
        ("depth", "expected options such as depth=3, got 'depth'", "every bot has move_ms"),
        ("=3", "expected options such as depth=3", ""),
        ("dept=3", "expected one of its options, got 'dept'", "did you mean 'depth'"),
        ("move=3", "expected one of its options, got 'move'", "did you mean 'move_ms'"),
        ("--x=3", "expected one of its options, got '--x'", ""),
        ("__proto__=3", "expected one of its options", ""),
        ("depth=4,depth=5", "expected each option once, got depth twice", ""),
        ("depth=10", "expected depth to be a whole number from 1 to 9, got '10'", "how far it"),
        ("depth=", "from 1 to 9, got ''", ""),
        ("depth=3.0", "a whole number from 1 to 9", ""),
        ("depth=\u0663", "a whole number from 1 to 9", ""),
        ("depth=1_0", "a whole number from 1 to 9", ""),
        (f"depth={'1' * 99}", "a whole number from 1 to 9", ""),
        ("c=nan", "expected c to be a number, -2 or more, got 'nan'", ""),
        ("c=inf", "a number, -2 or more", ""),
        ("c=1e999", "a number, -2 or more", ""),
        ("c=-3", "a number, -2 or more", ""),
        ("fast=yes", "expected fast to be true or false, got 'yes'", ""),
        ("style=loud", "expected style to be one of calm, wild, got 'loud'", ""),
        ("move_ms=0", "expected move_ms to be a whole number from 1 to 86400000", "time for a"),
        ("memory_mb=1e3", "expected memory_mb to be a whole number from 16 to 4096", ""),
        (f"c={'1' * MAX_TEXT}", "expected options of at most 160 characters, got 162", "leave out"),
        ("depth=\u202e3", r"got '\u202e3'", ""),
    ],
)
def test_a_wrong_setting_gets_its_sentence(text, message, hint):
    with pytest.raises(ConfigError) as caught:
        canonical(text)
    assert message in str(caught.value)
    assert hint in caught.value.hint


def test_a_bot_without_options_still_has_those_of_the_arena(refused):
    assert read_settings("move_ms=50", {}, "ann") == {"move_ms": 50}
    with refused(ConfigError):
        read_settings("x", {}, "ann")


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ("options = 3", "expected a table [options], got 3"),
        ('x = {type = "int"}', "option x: expected a default"),
        ("x = {default = 1}", "option x: Object missing required field `type`"),
        ('x = {type = "integer", default = 1}', "option x: Invalid enum value 'integer'"),
        ('x = {type = "int", default = 1, most = 3}', "unknown field `most`"),
        ('x = {type = "int", default = 1.5}', "expected a whole number as default, got 1.5"),
        ('x = {type = "int", default = true}', "expected a whole number as default, got True"),
        (
            'x = {type = "int", default = 1, min = 2}',
            "expected as default a whole number, 2 or more, got 1",
        ),
        ('x = {type = "int", default = 1, min = 0.5}', "expected a whole number as min, got 0.5"),
        ('x = {type = "int", default = 1, min = 3, max = 2}', "expected min up to max, got 3 and"),
        (f'x = {{type = "int", default = {"9" * 17}}}', "expected as default a whole number"),
        (f'x = {{type = "int", default = {"9" * 999}}}', "option x: "),
        (f'x = {{type = "float", default = {"9" * 999}}}', "option x: "),
        ('x = {type = "float", default = nan}', "expected as default a number, got nan"),
        ('x = {type = "float", default = 1, max = inf}', "expected a number as max, got inf"),
        ('x = {type = "float", default = "1"}', "expected a number as default, got '1'"),
        ('x = {type = "bool", default = 1}', "expected true or false as default, got 1"),
        ('x = {type = "bool", default = true, min = 0}', "expected no min with type bool"),
        ('x = {type = "choice", default = "a"}', "expected choices = "),
        (
            'x = {type = "choice", default = "c", choices = ["a", "b"]}',
            "expected as default one of a, b, got",
        ),
        ('x = {type = "choice", default = "a", choices = ["a", "a"]}', "expected each choice once"),
        ('x = {type = "choice", default = "a", choices = ["a", "b,c"]}', "got 'b,c'"),
        ('x = {type = "choice", default = "a", choices = ["a", "b+c"]}', "got 'b+c'"),
        ('x = {type = "int", default = 1, choices = ["1"]}', "expected no choices with type int"),
        (f'x = {{type = "int", default = 1, help = "{"h" * 201}"}}', "a help of at most 200 signs"),
        ("x = 3", "option x: Expected `object`, got `int`"),
        ('move_ms = {type = "int", default = 1}', "expected another name than move_ms"),
        ('__proto__ = {type = "int", default = 1}', "got '__proto__'"),
        ('Depth = {type = "int", default = 1}', "got 'Depth'"),
        (f'{"x" * 31} = {{type = "int", default = 1}}', "up to 30 small letters"),
        ('"a:b" = {type = "int", default = 1}', "got 'a:b'"),
    ],
)
def test_a_wrong_declaration_gets_its_sentence(folder, declared, message):
    table = declared if declared.startswith("options") else f"[options]\n{declared}"
    (folder / "bot.toml").write_text(f'name = "ann"\ncommand = ["true"]\n{table}\n')
    with pytest.raises(BotFolderError) as caught:
        read_manifest(folder)
    assert message in str(caught.value)
    assert "bot.toml" in str(caught.value)


def test_a_bot_has_a_limited_number_of_options(folder, refused):
    many = "".join(f'x{at} = {{type = "bool", default = true}}\n' for at in range(1000))
    (folder / "bot.toml").write_text(f'name = "ann"\ncommand = ["true"]\n[options]\n{many}')
    with refused(BotFolderError):
        read_manifest(folder)


def test_options_are_part_of_the_label_and_not_of_the_content(folder):
    usual = bot_at(folder)
    deep = with_options(usual, "c=2,depth=5,move_ms=50")
    assert deep.label == "ann:depth=5,c=2,move_ms=50"
    assert (deep.base, deep.sha256) == ("ann", usual.sha256)
    assert deep.options == {"depth": 5, "c": 2.0, "fast": False, "style": "calm"}
    assert isinstance(usual.options["c"], float)
    assert deep.limits == {"move_ms": 50}
    assert not deep.plays_as(usual)
    assert deep.plays_as(with_options(usual, "depth=5,move_ms=50,c=2.0"))
    assert with_options(usual, "depth=3") == usual
    assert renamed(deep, "ann@1").label == "ann@1:depth=5,c=2,move_ms=50"


def test_the_copy_that_is_played_declares_the_same_in_the_same_order(folder):
    manifest = read_manifest(folder)
    text = (folder / "bot.toml").read_text()
    (folder / "bot.toml").write_text(played_text(text, manifest))
    assert read_manifest(folder) == manifest
    assert list(read_manifest(folder).options) == ["depth", "c", "fast", "style"]
    write_manifest(folder / "bot.toml", manifest)
    assert read_manifest(folder) == manifest


def test_a_submitted_version_is_written_beside_options(folder):
    (folder / "bot.toml").write_text(f'command = ["true"]\nname = "ann"\n{OPTIONS}')
    write_manifest(folder / "bot.toml", read_manifest(folder))
    assert tomllib.loads((folder / "bot.toml").read_text())["version"] == "1"
    assert list(read_manifest(folder).options) == ["depth", "c", "fast", "style"]


def test_older_bots_keep_their_hash(folder):
    (folder / "bot.toml").write_text('name = "ann"\ncommand = ["python3", "bot.py"]\n')
    known = "d157efc7d7af28d53e70804d595d1aed66ecc18ae95ef64dd75e144b1769ed46"
    assert bot_at(folder).sha256 == known


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ann", ("ann", None)),
        ("ann@2:depth=5", ("ann@2", "depth=5")),
        ("./ann:depth=5", ("./ann", "depth=5")),
        ("a:b/ann", ("a:b/ann", None)),
        ("ann:", ("ann", "")),
    ],
)
def test_a_name_is_split_from_its_options(text, expected):
    assert split_options(text) == expected


def test_commas_part_bots_and_their_options():
    assert split_bots("ann:depth=5,c=2, bob ,./carl:fast=true,greedy") == [
        "ann:depth=5,c=2",
        "bob",
        "./carl:fast=true",
        "greedy",
    ]
    assert split_bots("ann,depth=5") == ["ann", "depth=5"]
    assert split_bots(" , ") == []


def test_a_bot_of_a_run_is_found_in_any_order_of_its_options():
    labels = ["ann", "ann:depth=5,c=2", "bob"]
    assert nearest_label("ann:c=2.0,depth=5", labels) == "ann:depth=5,c=2"
    assert nearest_label("ann:depth=5", labels) == "ann:depth=5"
    assert nearest_label("bob", labels) == "bob"


def test_json_tells_whole_floats_from_ints():
    assert json.dumps(with_float(2)) == '{"c": 2.0}'


def with_float(number):
    return {"c": DECLARED["c"].value_of(str(number))}


def test_the_folder_of_a_game_has_a_name_that_every_system_takes():
    assert evidence_name("bird/a+b/3/1", 0) == "faults/bird/a+b/3/1/seat-0.json"
    assert evidence_name("bird/a:c=1+b/3/1", 0) == "faults/bird/a~c=1+b/3/1/seat-0.json"
    label = f"{'b' * 40}:c={'1' * (MAX_TEXT - 2)}"
    long, other = (
        evidence_name(f"bird/{'+'.join([label] * 3 + [last])}/3/1", 0) for last in ("x", "y")
    )
    assert long != other
    assert max(map(len, long.split("/"))) <= 255
