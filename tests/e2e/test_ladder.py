"""The bots that search: within their time at every table, and the published league behind what is
said of them.
"""

import csv
import json
import re
import shlex
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.commandline import ROOT

LEAGUE = ROOT / "results" / "league-2"
LADDER = [
    "random-python",
    "greedy-python",
    "careful-python",
    "lookahead-python",
    "flatmc-python",
    "ismcts-python",
]
TINY = "R....\n..V..\n....B\n.Y...\n"


def play(arena, names, *times):
    (arena.home / "tiny.txt").write_text(TINY)
    settings = (
        "--board",
        "tiny.txt",
        "--players",
        len(names),
        "--deals",
        1,
        "--seatings",
        "single",
        "--jobs",
        1,
        "--seed",
        3,
        "--out",
        "r",
    )
    arena("run", *names, *settings, *times)
    return arena.records("r")


@pytest.mark.parametrize(
    ("players", "times"), [(2, ("--move-ms", 400)), (4, ("--game-ms", 10_000, "--move-ms", 2000))]
)
def test_bots_that_search_use_their_time_and_no_more(arena, players, times):
    records = play(arena, [ROOT / "bots" / name for name in LADDER[-players:]], *times)
    assert len(records) == 1
    assert [record["faults"] for record in records if record["faults"]] == []
    searched = [
        slow
        for record in records
        for bot, slow in zip(record["bots"], record["slowest_ms"], strict=True)
        if bot in LADDER[-2:]
    ]
    assert max(searched) > 40, (
        "even where half of the time goes to others, half of the 100 ms to think has to pass"
    )


def test_bots_that_search_keep_within_their_time_on_the_pure_core(arena):
    """A bot gets no environment of the arena's, so a copy of it chooses the core, and says which it
    got.
    """
    for name in LADDER[-3:]:
        copy = Path(shutil.copytree(ROOT / "bots" / name, arena.home / name)) / "bot.py"
        source = copy.read_text().split('"""', 2)[2]
        says = "assert CORE == 'pure'"
        copy.write_text(
            "import os\nos.environ['ARENA_RULES'] = 'pure'\nfrom arena.rules import"
            f" CORE\n{says}\n{source}"
        )
    records = play(
        arena, [f"./{name}" for name in LADDER[-3:]], "--game-ms", 12_000, "--move-ms", 3000
    )
    assert [record["faults"] for record in records if record["faults"]] == []


def test_a_bank_of_time_lasts_for_a_game(arena):
    records = play(arena, [ROOT / "bots" / name for name in LADDER[-2:]], "--game-ms", 3000)
    assert [record["faults"] for record in records if record["faults"]] == []


@pytest.mark.parametrize("name", LADDER)
def test_each_bot_is_short_and_begins_with_its_idea(name):
    source = (ROOT / "bots" / name / "bot.py").read_text()
    assert source.startswith('"""')
    assert len(source.splitlines()) < 100


RUNS = sorted(path.parent for path in LEAGUE.glob("*/run.json"))


def test_every_published_run_is_known():
    assert len(RUNS) == 3


@pytest.mark.parametrize("run", RUNS, ids=[run.name for run in RUNS])
def test_a_published_run_follows_from_its_journal(arena, run, snapshot):
    assert arena("verify", run)[0] == snapshot


def test_what_is_said_of_the_league_is_what_its_commands_print(arena):
    page = (LEAGUE / "README.md").read_text()
    blocks = re.findall(r"```\n\$ arena ([^\n]*)\n(.*?)```", page, re.S)
    assert len(blocks) == 3
    (arena.home / "results").symlink_to(ROOT / "results")
    for command, shown in blocks:
        assert shown.strip() in arena(*shlex.split(command))[0]


@pytest.mark.parametrize(("players", "behind"), [(2, "careful-python"), (3, ""), (4, "")])
def test_in_the_league_the_engine_is_ahead_beyond_error(arena, players, behind):
    """With three and four players, of everybody."""
    run = LEAGUE / f"{players}-players"
    pairs = json.loads(arena("standings", run, "--pairs", "--json")[0])["pairs"]
    leads = [row for row in pairs if row["bot"] == "engine-cpp" and behind in row["opponent"]]
    assert leads
    assert all(row["elo_low"] > 0 for row in leads)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_page_of_a_run_of_the_league_is_smaller_than_a_megabyte(players):
    page = LEAGUE / f"{players}-players" / "report.html"
    assert page.stat().st_size < 1_000_000


def test_with_two_players_each_simple_bot_is_better_than_the_one_before_beyond_error(arena):
    out, _ = arena("standings", LEAGUE / "2-players", "--csv", "-")
    rows = [row for row in csv.DictReader(out.splitlines()) if row["bot"] in LADDER[1:4]]
    assert [row["bot"] for row in rows] == LADDER[3:0:-1]
    assert all(float(row["elo_low"]) > float(below["elo_high"]) for row, below in pairwise(rows))


def test_a_renamed_copy_of_a_bot_is_told_whose_files_it_has(arena):
    arena.ladder = "on"
    copy = arena.home / "my-flat"
    shutil.copytree(ROOT / "bots" / "random-python", copy)
    manifest = (copy / "bot.toml").read_text()
    (copy / "bot.toml").write_text(manifest.replace('"random-python"', '"my-flat"'))
    said = "note: my-flat has the same files as random-python: they are one program with two names"
    assert said in arena("check", "my-flat", "--json")[1]
    assert said in arena("submit", "my-flat", "--no-check")[1]
    (copy / "bot.py").write_text((copy / "bot.py").read_text() + "\n")
    assert "same files" not in arena("submit", "my-flat", "--no-check")[1]
