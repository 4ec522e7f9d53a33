"""`arena tune` as a user runs it: real bots, whose best setting is known or that have none."""

import csv
import json
import re
import signal
from pathlib import Path

import pytest

from tests.support.kills import wait_for_games
from tests.support.wording import lines_with, messages, without_figures

KEEN = """
import json, random, re, sys

def send(**message):
    print(json.dumps(message), flush=True)

def beside(square):
    column, row = ord(square[0]), int(square[1:])
    return [f"{chr(column + x)}{row + y}" for x, y in ((0, 1), (1, 0), (0, -1), (-1, 0))]

def worth(move, provinces, villages):
    halves = re.findall(r"([RYB])([a-z][0-9]+)", move)
    value = rng.random() + 3 * (halves[0][0] == halves[1][0])
    for colour, square in halves:
        for near in beside(square):
            there = provinces.get(near)
            if there and there["colour"] == colour:
                value += 2 if there.get("owner") == seat else -4
            value += 3 * (near in villages)
    return value

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        send(type="ready", id=message["id"], view="full")
    elif message["type"] == "start":
        options, seat = message["options"], message["seat"]
        rng = random.Random(message["seed"])
        assert options["kept"] == 2 and type(options["turns"]) is int, options
    elif message["type"] == "turn":
        there, move = message["position"], rng.choice(message["legal"])
        provinces = {name: one for one in there["provinces"] for name in one["squares"]}
        villages = {
            name for one in there["villages"] if one.get("owner") is None for name in one["squares"]
        }
        if rng.random() > 1.6 * abs(options["aim"] - 0.7):
            move = max(message["legal"], key=lambda move: worth(move, provinces, villages))
        send(type="move", id=message["id"], move=move)
    elif message["type"] == "quit":
        break
"""
OPTIONS = """
[options]
aim = {type = "float", default = 0.2, min = 0, max = 1, help = "best at 0.7"}
turns = {type = "int", default = 5, min = 0, max = 9, help = "does nothing"}
kept = {type = "int", default = 1, help = "not tuned"}
"""
NAMES = [f"option_{number}" for number in range(20)]
MANY = ",".join(f"{name}=0..9" for name in NAMES)
SMALL = "..V....\n.R...V.\n.......\nV..Y...\n.......\n..V..B.\n.......\n"


@pytest.fixture
def keen(arena):
    folder = arena.add_bot("keen", KEEN)
    with (folder / "bot.toml").open("a") as file:
        file.write(OPTIONS)
    (arena.home / "small.txt").write_text(SMALL)
    return "keen:kept=2"


def test_a_bot_is_tuned_to_its_best_setting_and_compared_on_fresh_deals(arena, keen, snapshot):
    out, err = arena(
        "tune", keen, "--param", "aim", "--games", 64, "--board", "small.txt", "--seed", "s",
        "--out", "t", "--elo1", 100, "--step", 8,
    )  # fmt: skip
    assert messages(err) == snapshot
    found = re.search(r"suggested: keen:aim=(0\.[0-9]+),kept=2\n", out)
    assert abs(float(found[1]) - 0.7) < 0.25
    assert f"keen:aim={found[1]},kept=2 is better " in out
    assert without_figures(out) == snapshot
    _look_at_the_folder(arena, snapshot)
    _ask_again_and_for_more(arena, keen, found[1], snapshot)


def rows_of(text):
    return list(csv.DictReader(text.splitlines()))


def _look_at_the_folder(arena, snapshot):
    """The path beside the journal, the decks of both runs, and what other commands say of it."""
    folder = arena.home / "results" / "t"
    rows = rows_of((folder / "path.csv").read_text())
    assert [row["step"] for row in rows] == [str(step) for step in range(5)]
    assert rows[-1]["games"] == "64"
    assert rows[0] == {"step": "0", "games": "0", "option": "aim", "value": "0.2"}
    decks = [{record["deck"] for record in arena.records(run)} for run in ("t", "t-check-64")]
    assert not decks[0] & decks[1]
    out, _ = arena("verify", "t")
    assert "64" in out
    out, _ = arena("standings", "t")
    assert "keen@up:kept=2" in out
    assert lines_with(out, "arena tune") == snapshot
    _, err = arena("run", "--finish", "t", status=1)
    assert messages(err) == snapshot
    # The bot would choose other moves with the settings of another deal.
    out, _ = arena("regress", "t", "--bot", "keen:kept=2", "--old", "keen@up:kept=2", "--games", 9)
    assert "0 differ, 0 faults" in out
    out, _ = arena("report", "t")
    page = (folder / "report.html").read_text()
    assert "arena tune keen:kept=2 --param aim=0..1 --games 64" in page


def _ask_again_and_for_more(arena, keen, suggested, snapshot):
    """The same command gives the same answer without a game; more games lengthen the path."""
    words = ["tune", keen, "--param", "aim", "--board", "small.txt", "--seed", "s", "--out", "t"]
    words += ["--step", 8]
    before = (arena.home / "results" / "t" / "path.csv").read_text()
    out, _ = arena(*words, "--games", 64, "--json", "--elo1", 100)
    told = json.loads(out)
    assert told["suggested"] == f"keen:aim={suggested},kept=2"
    assert told["compared"]["verdict"] == "better"
    assert told["parameters"][0]["start"] == 0.2
    assert told["path"][-1]["values"] == {"aim": float(rows_of(before)[-1]["value"])}
    other = [{keen: "keen:kept=3", "aim": "aim=0..0.5", 8: 9}.get(word, word) for word in words]
    _, err = arena(*other, status=1)
    assert messages(err) == snapshot
    assert "@up" not in err
    _, err = arena("run", "keen", "rnd", "--out", "t", status=1)
    assert messages(err) == snapshot
    out, _ = arena(*words, "--games", 80, "--no-compare")
    assert (arena.home / "results" / "t" / "path.csv").read_text().startswith(before)
    assert "'arena compare keen:aim=" in out
    assert without_figures(lines_with(out, "arena compare")) == snapshot


def test_where_it_is_not_clear_the_bot_is_to_stay_until_it_is(arena, keen, snapshot):
    words = ["--games", 4, "--board", "small.txt", "--seed", "t", "--compare-games", 4]
    out, _ = arena("tune", keen, "--param", "turns", *words, status=4)
    assert out.endswith("keep keen:kept=2\n")
    assert out.splitlines()[-1] == snapshot
    out, err = arena("tune", keen, "--param", "aim=0.1..0.3", *words, status=5)
    assert out.endswith("keep keen:kept=2\n")
    assert out.splitlines()[-1] == snapshot
    assert lines_with(err, "--compare-games") == snapshot


def test_where_nothing_is_to_be_found_the_bot_is_to_stay_as_it_is(arena, keen, snapshot):
    out, _ = arena(
        "tune", keen, "--param", "turns", "--games", 16, "--board", "small.txt", "--seed", "t",
        "--elo1", 400, "--compare-games", 200, "--step", 4, status=4,
    )  # fmt: skip
    assert out.endswith("keep keen:kept=2\n")
    assert out.splitlines()[-1] == snapshot
    [run] = arena.home.glob("results/tune-*-1")
    assert (run.parent / f"{run.name}-check-16").is_dir()
    assert json.loads((run / "run.json").read_text())["config"]["tune"]["step"] == 4


THREE = ["--players", 3, "--board", "small.txt", "--seed", "s", "--step", 2]


def test_with_three_players_a_bot_is_tuned_against_copies_of_itself(arena, keen, snapshot):
    words = ["tune", keen, "--param", "aim", *THREE, "--games", 24, "--out", "t"]
    _, err = arena(*words, "--compare-games", 12, "--allow", "keen=network", status=5)
    opponents = "keen@copy1:kept=2, keen@copy2:kept=2"
    assert re.sub(r"aim=0\.\d+", "aim=N", lines_with(err, opponents)) == snapshot
    sides = {"keen@up:kept=2", "keen@down:kept=2"}
    for record in arena.records("t"):
        assert len(sides.intersection(record["bots"])) == 1
    assert len(arena.records("t")) == 24
    for run in ("t", "t-check-24"):
        bots = json.loads((arena.home / "results" / run / "run.json").read_text())["bots"]
        assert {bot["name"]: bot.get("grants", []) for bot in bots if "copy" in bot["name"]} == {
            name: ["network"] for name in opponents.split(", ")
        }
    out, _ = arena("verify", "t")
    assert out == snapshot
    arena("report", "t")
    page = (arena.home / "results" / "t" / "report.html").read_text()
    again = "arena tune keen:kept=2 --param aim=0..1 --games 24 --board small.txt --players 3"
    assert again in page
    assert "--pool" not in page
    _, err = arena(*words[:-2], "--out", "t", "--pool", "rnd,fst", "--no-compare", status=1)
    assert messages(err) == snapshot


def test_a_bot_is_tuned_against_opponents_of_choice(arena, keen, snapshot):
    words = ["tune", keen, "--param", "aim", "--board", "small.txt", "--seed", "s", "--games", 16]
    words += ["--pool", "rnd,fst", "--no-compare"]
    _, err = arena(*words, "--out", "pool")
    assert lines_with(err, "fst, rnd") == snapshot
    met = [set(record["bots"]) for record in arena.records("pool")]
    assert all(len(bots & {"rnd", "fst"}) == 1 for bots in met)
    arena("report", "pool")
    assert "--pool fst,rnd" in (arena.home / "results" / "pool" / "report.html").read_text()


def test_a_search_against_a_pool_that_is_too_weak_says_so(arena, keen, snapshot):
    words = ["tune", "keen:aim=0.7,kept=2", "--param", "aim=0.6..0.8", "--seed", "s"]
    _, err = arena(
        *words, "--games", 16, "--pool", "random", "--no-compare", "--out", "weak", status=4
    )
    assert messages(err) == snapshot


def test_a_search_that_is_killed_goes_on_along_the_same_path(arena, keen):
    words = ["tune", keen, "--param", "aim,turns=2..7", "--games", 32, "--board", "small.txt"]
    words += ["--seed", "s", "--no-compare", "--step", 4]
    process = arena.start(*words, "--out", "killed", "--jobs", 2)
    journal = arena.home / "results" / "killed" / "games.jsonl"
    wait_for_games(arena, "killed", 10)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert len(journal.read_bytes().splitlines()) < 32
    arena(*words, "--out", "killed")
    arena(*words, "--out", "whole", "--jobs", 1)
    paths = [arena.home / "results" / run / "path.csv" for run in ("killed", "whole")]
    assert paths[0].read_text() == paths[1].read_text()
    assert len({record["id"] for record in arena.records("killed")}) == 32


@pytest.mark.parametrize(
    "words",
    [
        ["keen", "--param", "am"],
        ["keen", "--param", "kept"],
        ["keen", "--param", "aim", "--games", "1"],
        ["keen", "--param", "aim", "--games", "5", "--players", "3"],
        ["keen", "--param", "aim", "--players", "3", "--pool", "greedy"],
        ["keen:aim=0.9", "--param", "aim=0..0.5"],
        ["many", "--param", MANY],
        ["plain", "--param", "c"],
        ["greedy", "--param", "c"],
    ],
    ids=[
        "an unknown option",
        "no range",
        "too few games",
        "too few games for three",
        "too few opponents",
        "a start out of the range",
        "too many options",
        "a bot without options",
        "a built-in bot",
    ],
)
def test_a_wrong_search_is_refused_before_a_game(arena, keen, words, snapshot):
    arena.add_bot("plain", KEEN)
    many = "".join(f'{name} = {{type = "int", default = 1}}\n' for name in NAMES)
    with (arena.add_bot("many", KEEN) / "bot.toml").open("a") as file:
        file.write(f"[options]\n{many}")
    _, err = arena("tune", *words, status=1)
    assert messages(err) == snapshot
    assert not Path(arena.home, "results").exists()
