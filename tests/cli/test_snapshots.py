"""What commands say, whole: help, tables, and the errors that a user can cause.

``make snapshots`` writes the expected output anew; read the difference before you commit it.
"""

import os
import re
import shlex

import click
import pytest
from click.testing import CliRunner

from arena.cli.main import CHECKOUT, COMMANDS
from arena.cli.main import arena as arena_command
from tests.exports.runs import duels, game_of, write_run
from tests.support.commandline import FIRST, RANDOM, Arena

MISTAKES = {
    "run nobody rnd": 1,  # what a user can put right, with the cure
    "run --players 5": 2,  # an option that click refuses
    "stanings": 2,  # no such command
    "perft": 2,  # a command of an older version
    "run rnd": 1,
    "run rnd rnd": 1,
    "run bots/rnd --players 4": 1,
    "run --boards owl": 1,
    "run --boards ,": 2,
    "run --board none.txt": 2,
    "run --match bird,lion --boards bird": 1,
    "run greedy random --out bots/rnd": 1,
    "run --wrong": 2,
    "run --dealz 5": 2,
    "run --out": 2,
    "run --clock sun": 2,
    "bots rnd fst": 2,
    "league zzz": 2,
    "run --finish nope": 1,
    "run --deals many": 2,
    "run --challenger zoe": 1,
    "run --prior some": 2,
    "submit bots/rnd --command ''\"'\"'x'": 2,
    "submit nowhere": 2,
    "standings": 1,
    "replay nope x": 1,
    "new bots": 1,
    "new bad/name": 1,
    "play rnd": 2,
    "play rnd --human 2": 2,
    "play rnd --human 0 --json": 2,
    "play rnd fst rnd fst --human 0": 2,
    "play rnd fst --increment-ms 5": 2,
    "compare rnd": 2,
    "compare rnd rnd": 1,
    "compare rnd greedy --players 3": 1,
    "compare rnd fst --pool fst": 1,
    "compare rnd fst --elo0 10": 1,
    "compare rnd fst --alpha 0.5": 2,
}
"""Command lines that a user gets wrong, with their exit status."""

TABLES = [
    "runs",
    "standings made --wide --pairs",
    "standings made --csv -",
    "analyse made",
    "bots",
    "rules R4.4",
]
"""Command lines that print the same every time."""


@pytest.fixture(scope="module")
def arena(tmp_path_factory):
    """An arena with two bots and no run."""
    made = Arena(tmp_path_factory.mktemp("words") / "home")
    made.own["COLUMNS"] = "80"
    made.add_bot("rnd", RANDOM)
    made.add_bot("fst", FIRST)
    return made


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """The same with a run that was made up."""
    made = Arena(tmp_path_factory.mktemp("played") / "home")
    made.own["COLUMNS"] = "110"
    made.add_bot("fst", FIRST)
    late = game_of(("a", "b"), deal=9, faults=[(1, 5, "late", "the answer came too late")])
    run = write_run(made.home / "results" / "made", "abc", [*duels("abc", 9), late], deals=10)
    os.utime(run / "games.jsonl", (1, 1))  # nobody has played it of late
    return made


def told(arena, line, status=0):
    """What a command line prints, and says beside it."""
    out, err = (
        text.replace(str(arena.home), "HOME") for text in arena(*shlex.split(line), status=status)
    )
    return f"{out}--- stderr ---\n{err}" if err else out


def test_the_help_of_all(arena, snapshot):
    assert told(arena, "--help") == snapshot


def test_every_command_has_these_options(snapshot):
    names = {name: sorted(set(option_names(name))) for name in (*COMMANDS, *CHECKOUT)}
    assert "\n".join(f"{name}: {' '.join(own)}" for name, own in names.items()) == snapshot


def option_names(name):
    context = click.Context(arena_command)
    command = arena_command.get_command(context, name)
    inner = command.commands if isinstance(command, click.Group) else {}
    for option in [*command.params, *(own for one in inner.values() for own in one.params)]:
        if isinstance(option, click.Option) and not option.hidden:
            yield max(option.opts, key=len)


@pytest.mark.parametrize("command", [*COMMANDS, *CHECKOUT])
def test_the_help_of_every_command_shows_an_example(command):
    text = CliRunner().invoke(arena_command, [command, "--help"], terminal_width=80).output
    assert re.search(r"^ +arena " + command, text, re.M), "it shows an example"
    assert not re.search(r"^ .*\.\.\.$", text, re.M), "it is not cut off"


@pytest.mark.parametrize("command", [*COMMANDS, *CHECKOUT])
def test_the_help_names_kinds_of_numbers_in_words(command):
    text = CliRunner().invoke(arena_command, [command, "--help"], terminal_width=80).output
    assert not re.search(r"INTEGER|FLOAT|RANGE|x[<>]=?", text), text


@pytest.mark.parametrize("command", ["run", "compare", "tune", "play", "league run"])
def test_the_help_of_a_command_with_many_options_has_them_in_sections(command):
    text = CliRunner().invoke(arena_command, [*command.split(), "--help"]).output
    titles = re.findall(r"^(\w+)(?: \(.*\))?:$", text, re.M)
    assert [title for title in titles if title in ("Games", "Time", "Output", "Sandbox")] == [
        "Games",
        "Time",
        "Output",
        "Sandbox",
    ]
    assert "Options" not in titles, "every option has a section"


def test_the_options_of_the_sandbox_are_explained_once():
    explained = []
    for command in COMMANDS:
        text = CliRunner().invoke(arena_command, [command, "--help"]).output
        if "with your own rights" in " ".join(text.split()):
            explained.append(command)
        elif command in ("run", "check", "submit", "replay", "reproduce", "review", "regress"):
            assert "'arena doctor --help' explains these options" in text
            assert re.search(r"^  --sandbox, --strangers, --allow, --trust, --unsafe", text, re.M)
    assert explained == ["doctor"]


def test_the_help_of_one_command(arena, snapshot):
    assert told(arena, "verify --help") == snapshot


@pytest.mark.parametrize("line", MISTAKES)
def test_what_a_user_gets_wrong_is_said_with_the_cure(arena, line, snapshot):
    text = told(arena, line, MISTAKES[line])
    assert text.startswith("--- stderr ---\n"), "nothing on stdout"
    assert text == snapshot
    assert "Traceback" not in text


@pytest.mark.parametrize("line", TABLES)
def test_tables(played, line, snapshot):
    out, _ = played(*shlex.split(line))
    assert out == snapshot


def test_a_game_is_drawn_move_by_move(played, snapshot):
    out, _ = played("play", "fst", "fst", "--seed", "x")
    games = out.split("turn ")
    assert len(games) > 30
    assert "turn ".join([*games[:2], *games[-1:]]) == snapshot
