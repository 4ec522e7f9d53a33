"""Options of bots as users meet them: in a run, in commands that name bots, in pages and files."""

import json
import re
import shutil

import pytest

from tests.support.commandline import FIRST, Arena
from tests.support.wording import lines_with, messages

TELLER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "id": message["id"], "view": "full"}), flush=True)
    elif message["type"] == "start":
        options = message["options"]
    elif message["type"] == "turn":
        move = message["legal"][options["depth"] % len(message["legal"])]
        note = {"text": json.dumps(options)}
        reply = {"type": "move", "id": message["id"], "move": move, "note": note}
        print(json.dumps(reply), flush=True)
    elif message["type"] == "quit":
        break
"""
OPTIONS = """
[options]
depth = {type = "int", default = 3, min = 1, max = 9, help = "how far \\u202e it looks"}
c = {type = "float", default = 1, min = 0}
style = {type = "choice", default = "calm", choices = ["calm", "wild"]}
"""
DEEP = "teller:depth=5,c=0.5"


def with_teller(arena):
    toml = arena.add_bot("teller", TELLER) / "bot.toml"
    toml.write_text(toml.read_text() + OPTIONS)
    return arena


@pytest.fixture
def home(arena):
    """An arena with a bot that says in its notes which options it got."""
    return with_teller(arena)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of two settings of that bot, which the tests only read."""
    made = with_teller(Arena(tmp_path_factory.mktemp("options") / "home"))
    made.add_bot("fst", FIRST)
    names = ("teller", "teller:c=0.50,depth=05", "fst")
    made("run", *names, "--deals", 2, "--seed", "options", "--out", "r")
    yield made
    made.close()


def test_two_settings_of_one_bot_are_two_bots_of_a_run(run):
    for record in run.records("r"):
        for bot, depth, c in (("teller", 3, 1.0), (DEEP, 5, 0.5)):
            if bot in record["bots"]:
                seat = record["bots"].index(bot)
                movers = [at % 2 for at, move in enumerate(record["moves"]) if move != "pass"]
                said = {note["text"] for note in record["notes"] if movers[note["turn"]] == seat}
                assert said == {json.dumps({"depth": depth, "c": c, "style": "calm"})}
    info = json.loads((run.home / "results" / "r" / "run.json").read_text())
    told = {bot["name"]: bot.get("options") for bot in info["bots"]}
    assert told == {
        "teller": {"depth": 3, "c": 1.0, "style": "calm"},
        DEEP: {"depth": 5, "c": 0.5, "style": "calm"},
        "fst": None,
    }
    assert len(list((run.home / "results" / "r" / "bots").glob("teller-*"))) == 1


def test_such_a_run_is_continued_finished_and_verified(home, snapshot):
    named = ("--seed", "options", "--out", "r")
    home("run", "teller", "teller:c=0.50,depth=05", "--deals", 1, *named)
    home("run", f"./bots/{DEEP}", "teller:depth=3", "--deals", 2, *named)
    assert len(home.records("r")) == 4
    home("run", "--finish", "r")
    assert home("verify", "r")[0] == snapshot
    _, err = home("run", "teller:depth=4", "fst", *named, status=1)
    assert messages(err) == snapshot


@pytest.mark.parametrize("told", [{"depth": 6}, {"depth": 99}, {"toString": "\u202e" * 10_000}])
def test_a_run_that_tells_other_options_than_its_names_is_found_out(run, tmp_path, told, snapshot):
    shutil.copytree(run.home / "results" / "r", tmp_path / "r")
    info = json.loads((tmp_path / "r" / "run.json").read_text())
    next(bot for bot in info["bots"] if bot["name"] == DEEP)["options"] = told
    (tmp_path / "r" / "run.json").write_text(json.dumps(info))
    out, _ = run("verify", tmp_path / "r", status=1)
    # long texts are cut, and how they are cut depends on the length of the folder's path
    assert re.sub("got .*", "got ...", out) == snapshot
    assert len(out) < 2000
    run("report", tmp_path / "r", "--to", tmp_path / "r.html")
    assert "\u202e" not in (tmp_path / "r.html").read_text()


def test_commands_find_a_bot_in_any_order_of_its_options(run, snapshot):
    anew = "teller:depth=5,c=0.5"
    out, _ = run("standings", "r", "--without", "teller:c=.5,depth=5")
    assert lines_with(out, "12 games") == snapshot
    game = next(record for record in run.records("r") if set(record["bots"]) == {DEEP, "fst"})
    seat = game["bots"].index(DEEP)
    out, _ = run("replay", "r", game["id"], "--turn", seat, "--seat", seat, "--bot", anew)
    assert "the same move" in out
    old = ("--old", "teller:c=.5,depth=5", "--games", 1)
    out, _ = run("regress", "r", "--bot", "teller:depth=4", *old, status=4)
    assert lines_with(out, "1 game") == snapshot
    assert lines_with(run("regress", "r", "--bot", anew, "--games", 1)[0], "1 game") == snapshot
    assert json.loads(run("play", anew, "teller", "--json")[0])["bots"] == [DEEP, "teller"]
    assert "steps passed, 0 failed" in run("check", "teller:depth=9")[0]


def test_pages_and_files_show_a_bot_with_its_options(run):
    run("export", "r", "--to", "t")
    assert f'"{DEEP}"' in (run.home / "t" / "standings.csv").read_text()
    run("report", "r", "--to", "r.html")
    page = (run.home / "r.html").read_text()
    assert f"<bdi>{DEEP}</bdi>" in page
    assert "<bdi>depth=5, c=0.5, style=calm</bdi>" in page
    ids = [record["id"] for record in run.records("r")][:3]
    run("report", "r", "--to", "r.html", "--games", ",".join(ids))


def test_two_settings_are_compared(home, snapshot):
    out, err = home(
        "compare", "teller:depth=4", "teller", "--max-blocks", 2, "--seed", "x", "--pool",
        f"{DEEP},fst", "--players", 3, status=5,
    )  # fmt: skip
    assert "teller:depth=4" in out + err
    _, err = home("compare", "teller:depth=3", "teller", status=1)
    assert messages(err) == snapshot


def test_a_file_of_settings_names_bots_with_options(home):
    (home.home / "arena.toml").write_text(
        f'bots = ["./bots/{DEEP}", "teller"]\ndeals = 1\nout = "f"\n'
    )
    home("run", "--config", "arena.toml")
    assert {bot for record in home.records("f") for bot in record["bots"]} == {"teller", DEEP}


def test_the_evidence_of_a_fault_lies_in_a_folder_that_every_system_can_hold(
    home, zoo_bot, snapshot
):
    zoo_bot("illegal_move")
    toml = home.home / "bots" / "illegal-move" / "bot.toml"
    toml.write_text(toml.read_text() + OPTIONS)
    home("run", "illegal-move:depth=5", DEEP, "--deals", 1, "--seed", "e", "--out", "e", status=1)
    folders = list((home.home / "results" / "e" / "faults").rglob("seat-*.json"))
    assert folders
    assert not [folder for folder in folders if ":" in str(folder.relative_to(home.home))]
    assert home("verify", "e")[0] == snapshot
    home("reproduce", "e", home.records("e")[0]["id"])


def test_the_options_of_a_bot_are_listed(home, snapshot):
    out, _ = home("bots", DEEP)
    assert out.splitlines()[2:6] == [
        "Option        Type    Default    Here       Range          Help",
        "depth         int     3          5          1 to 9         how far \\u202e it looks",
        "c             float   1          0.5        0 or more",
        "style         choice  calm       calm                      calm, wild",
    ]
    listed = json.loads(home("bots", "./bots/teller", "--json")[0])
    assert [option["name"] for option in listed["options"]] == ["depth", "c", "style"]
    assert listed["options"][0] == {
        "name": "depth", "type": "int", "default": 3, "min": 1, "max": 9, "value": 3,
        "help": "how far \u202e it looks",
    }  # fmt: skip
    assert listed["every_bot"][0]["name"] == "move_ms"
    assert home("bots", "fst")[0] == snapshot
    assert home("bots", "greedy")[0] == snapshot
    assert messages(home("bots", "fst", "--all", status=2)[1]) == snapshot


def test_a_wrong_option_gets_its_sentence_wherever_a_bot_is_named(home, snapshot):
    for command in (
        ("run", "teller:dept=3", "fst"),
        ("play", "teller:dept=3", "fst"),
        ("compare", "teller:dept=3", "fst"),
        ("check", "./bots/teller:dept=3"),
        ("bots", "teller:dept=3"),
    ):
        _, err = home(*command, status=1)
        assert messages(err) == snapshot
    _, err = home("play", "greedy:depth=3", "fst", status=1)
    assert messages(err) == snapshot
    _, err = home("play", f"teller:depth={'1' * 500}", "fst", status=1)
    assert messages(err) == snapshot
