"""Nothing is broken inside a word on a narrow terminal, whatever bots and runs are called."""

import shlex

import pytest

from arena.cli.main import COMMANDS as HELPED
from tests.exports.runs import duels, game_of, write_run
from tests.support.commandline import FIRST, Arena
from tests.support.terminals import on_terminal, too_wide

BOTS = [f"my-long-bot-name-{number}:depth={number},move_ms=50" for number in range(10, 16)]
GAME = f"bird/{'+'.join(BOTS[:2])}/0/0"
COMMANDS = [
    "standings nasty",
    "standings nasty --wide",
    "standings nasty --pairs",
    "standings rounds --match bird,lion",
    "analyse nasty",
    "analyse nasty --bot " + BOTS[0],
    "review nasty " + GAME + " --deals 10 --jobs 1",
    "review nasty --deals 10 --games 1 --jobs 1",
    "runs",
    "bots",
    "bots --all",
    "bots options",
    "verify nasty",
    "replay nasty " + GAME + " --turn 20",
    "replay nasty " + GAME + " --turn 99999",
    "export nasty",
    "play options:mode=second-of-them options --seed 1",
    "check options --move-ms 100",
    "rules R4.4",
    "standings nobody-knows-this-run-of-a-rather-long-name",
    "replay nasty nonsense",
    "run options --deals 1 --out one",
    "run options options:mode=second-of-them --deals 1 --out " + "x" * 50,
    "compare options:mode=second-of-them options --max-blocks 2 --out compared",
]


@pytest.fixture(scope="module")
def arena(tmp_path_factory):
    """An arena with long names: a run, a run of matches, a bot with options."""
    made = Arena(tmp_path_factory.mktemp("width") / "home")
    words = "it plays the first legal move, 先手必勝, and " + "then the next one " * 8
    folder = made.add_bot("options", FIRST, description=words)
    with (folder / "bot.toml").open("a") as manifest:
        manifest.write(
            "[options]\nmode = {type = 'choice', default = 'first', choices = ['first',"
            f" 'second-of-them'], help = '{words}'}}\n"
        )
    made.add_bot("a-bot-whose-name-is-as-long-as-may-be-00", FIRST, description=words)
    late = game_of(tuple(BOTS[:2]), deal=9, faults=[(1, 5, "late", "the answer came too late")])
    results = made.home / "results"
    write_run(results / "nasty", BOTS, [*duels(BOTS, 3), late], deals=10)
    rounds = [*duels(BOTS[:3], 2), *duels(BOTS[:3], 2, "lion")]
    write_run(results / "rounds", BOTS[:3], rounds, deals=2, boards=("bird", "lion"))
    return made


@pytest.mark.parametrize("columns", [80, 60])
@pytest.mark.parametrize("line", COMMANDS)
def test_no_line_is_wider_than_the_terminal(arena, line, columns):
    status, written = on_terminal(arena, *shlex.split(line), columns=columns, NO_COLOR="")
    assert "Traceback" not in written
    assert status in {0, 1, 2, 5}, written
    assert too_wide(written, columns) == []


@pytest.mark.parametrize("columns", [80, 60])
def test_no_help_is_wider_than_the_terminal(arena, columns):
    for command in HELPED:
        _, written = on_terminal(arena, command, "--help", columns=columns)
        assert too_wide(written, columns) == [], command
