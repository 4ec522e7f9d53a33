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

FAMILIES = {
    "run nobody rnd": 1,  # what a user can put right, with the cure
    "run --players 5": 2,  # an option that click refuses
    "stanings": 2,  # no such command
    "perft": 2,  # a command of an older version
}
"""A command line for each form of an error, with its exit status."""

MISTAKES = {
    "run rnd": (
        1,
        "needs at least 2 bots, got rnd hint: name opponents too; built-in ones are always",
    ),
    "run rnd rnd": (1, "the bot 'rnd' is named twice hint: to give a bot another name, use"),
    "run bots/rnd --players 4": (1, "needs at least 4 bots, got rnd"),
    "run --boards owl": (1, "out of bird, lion, got 'owl' hint: any other is given as the path"),
    "run --boards ,": (2, "--boards: expected names separated by commas, got ','"),
    "run --board none.txt": (
        2,
        "--board: file 'none.txt' does not exist hint: 'arena run --help' shows how to use it",
    ),
    "run --match bird,lion --boards bird": (
        1,
        "the boards of the match are bird,lion, but --boards has bird hint",
    ),
    "run greedy random --out bots/rnd": (
        1,
        "is neither a run nor empty hint: choose another --out",
    ),
    "run --wrong": (2, "'arena run' has no option --wrong hint: 'arena run --help' shows"),
    "run --dealz 5": (2, "'arena run' has no option --dealz hint: did you mean --deals?"),
    "run --out": (2, "error: --out needs a value"),
    "run --clock sun": (2, "--clock: 'sun' is not one of 'cpu', 'wall'"),
    "bots rnd fst": (2, "unexpected extra argument (fst)"),
    "league zzz": (2, "'arena league' has no command 'zzz' hint: 'arena league --help' lists"),
    "run --finish nope": (1, "a run's name or folder, got 'nope' hint: runs in results: none"),
    "run --deals many": (2, "--deals: expected a whole number of at least 1, got 'many'"),
    "run --challenger zoe": (1, "a registered bot or a path, got 'zoe'"),
    "run --prior some": (2, "--prior: expected a number above 0, got 'some'"),
    "submit bots/rnd --command ''\"'\"'x'": (2, 'words with matching quotes, got "\'x"'),
    "submit nowhere": (2, "path 'nowhere' does not exist"),
    "standings": (1, "there is no run in results yet"),
    "replay nope x": (1, "a run's name or folder, got 'nope'"),
    "new bots": (1, "bots already exists"),
    "new bad/name": (1, "'_' and '.', got 'bad/name' hint: choose another one, such as bad-name"),
    "play rnd": (2, "expected 2 to 4 bots, got 1; name another, or play yourself"),
    "play rnd --human 2": (2, "expected --human 0 to 1, got 2"),
    "play rnd --human 0 --json": (2, "--human and --json cannot be combined"),
    "play rnd fst rnd fst --human 0": (2, "expected 1 to 3 bots beside you, got 4"),
    "play rnd fst --increment-ms 5": (2, "--increment-ms needs --game-ms"),
    "compare rnd": (2, "'arena compare' needs OLD hint: 'arena compare --help' shows"),
    "compare rnd rnd": (1, "rnd and rnd are the same program with the same options"),
    "compare rnd greedy --players 3": (1, "greedy cannot play against copies of itself"),
    "compare rnd fst --pool fst": (1, "the bot 'fst' is named twice"),
    "compare rnd fst --elo0 10": (1, "expected --elo0 below --elo1, got 10 and 10"),
    "compare rnd fst --alpha 0.5": (2, "expected a number above 0 and below 0.5, got '0.5'"),
}
"""Other command lines with their exit status, and what is said of them."""

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


@pytest.mark.parametrize("line", FAMILIES)
def test_what_a_user_gets_wrong_is_said_with_the_cure(arena, line, snapshot):
    text = told(arena, line, FAMILIES[line])
    assert text.startswith("--- stderr ---\n"), "nothing on stdout"
    assert text == snapshot


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_ends_with_its_status_and_a_word_on_it(arena, line):
    status, said = MISTAKES[line]
    text = told(arena, line, status)
    assert text.startswith("--- stderr ---\n"), "nothing on stdout"
    assert said in " ".join(text.split())
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
