"""The arena for programs: the figures of the commands, in every kind of program that may ask."""

import json
import os
import signal
import subprocess
import sys
import textwrap

import pandas as pd
import pytest

from arena import api
from arena.errors import BotFolderError, ConfigError, RunError, UserError
from arena.exports.files import table_rows
from tests.support.commandline import FIRST, RANDOM, Arena
from tests.support.kills import processes, wait_until_gone
from tests.support.waiting import wait_for

BOTS = ["rnd", "fst", "greedy"]


@pytest.fixture(scope="module")
def arena(tmp_path_factory):
    """An arena with two quick bots."""
    made = Arena(tmp_path_factory.mktemp("api") / "home")
    made.add_bot("rnd", RANDOM)
    made.add_bot("fst", FIRST)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in made.own.items():
            patch.setenv(name, value)
        patch.setenv("ARENA_LADDER", "off")
        yield made


@pytest.fixture(scope="module")
def played(arena):
    """A run that was played from Python."""
    run = api.run(BOTS, deals=3, seed="s", out="by-api", home=arena.home, jobs=2)
    assert run.is_complete
    return run


def told(arena, *arguments):
    return json.loads(arena(*arguments, "--json")[0])


def test_a_run_has_the_games_of_the_command_and_its_tables(arena, played):
    arena("run", *BOTS, "--deals", 3, "--seed", "s", "--out", "by-cli")
    assert arena.timeless("by-api") == arena.timeless("by-cli")
    found = told(arena, "standings", "by-api", "--pairs")
    tables = played.tables
    assert table_rows(played.standings) == found["standings"]
    assert table_rows(tables.pairs) == found["pairs"]
    assert table_rows(tables.seats) == found["seats"]
    assert (tables.notes, tables.sentences) == (found["notes"], found["sentences"])
    assert (tables.games, tables.deals, tables.missing) == (18, 3, 0)
    assert played.path == arena.home / "results" / "by-api"
    assert "<table" in played._repr_html_()


def test_the_games_are_those_of_the_exported_file(arena, played):
    arena("export", "by-api", "--to", "tables")
    games, file = played.games(), pd.read_csv(arena.home / "tables" / "games.csv")
    assert list(games.columns) == list(file.columns)
    for name in ("id", "block", "bot_0", "share_1", "rank_0", "left_1", "think_ms_0", "turns"):
        assert games[name].tolist() == file[name].tolist(), name
    whole = api.games("by-api", moves=True, home=arena.home)
    assert whole["deck"].str.len().eq(144).all()
    assert [len(moves) for moves in whole["moves"]] == [len(ms) for ms in whole["ms"]]


def test_a_frame_of_games_is_rated_as_the_run_and_the_file_are(arena, played):
    games = played.games()
    rated = api.rate(games)
    assert table_rows(rated.standings) == table_rows(played.standings)
    file = arena.home / "some.csv"
    games.to_csv(file, index=False)
    assert table_rows(api.rate(file).pairs) == table_rows(rated.pairs)
    half = games[games["deal"] < 2]
    assert api.rate(half).games == len(half) == 12
    assert "fst" not in set(api.rate(games, without=["fst"]).standings["bot"])


def test_runs_of_one_seed_are_rated_together_by_their_deals(arena, played):
    both = api.rate([played.path, "by-api"], home=arena.home)
    assert (both.games, both.deals) == (36, 3)


def test_a_comparison_has_the_answer_of_the_command_and_every_look(arena):
    question = {"elo1": 100.0, "seed": "m", "out": "duel", "home": arena.home}
    found = api.compare("careful-4", "careful-2", **question)
    line = ("compare", "careful-4", "careful-2", "--elo1", 100, "--seed", "m", "--out", "duel")
    expected = told(arena, *line)
    for name in ("verdict", "new", "old", "blocks", "games"):
        assert getattr(found, name) == expected[name]
    assert round(found.elo.elo, 2) == expected["elo"]
    assert len(found.looks) == found.blocks
    for name in ("blocks", "verdict"):
        assert found.looks[name].tolist() == [look[name] for look in expected["looks"]]
    assert found.looks["llr"].iloc[-1] == found.llr > found.looks["upper"].iloc[-1]


def test_a_comparison_ends_after_so_many_games_with_and_without_a_pool(arena):
    question = {"elo1": 1.0, "seed": "m", "in_process": True, "home": arena.home}
    found = api.compare("careful-4", "careful-5", games=20, **question)
    assert (found.verdict, found.games) == ("undecided", 20)
    found = api.compare("careful-4", "careful-5", pool=["greedy"], games=20, **question)
    assert (found.verdict, found.games) == ("undecided", 20)


def test_a_check_has_the_steps_of_the_command(arena):
    arena.add_bot("passes", RANDOM.replace('rng.choice(message["legal"])', '"pass"'), to=".")
    found = api.check(arena.home / "passes", home=arena.home)
    expected = json.loads(arena("check", "./passes", "--json", status=1)[0])
    assert found.passed is False
    for name in ("name", "passed", "problem", "expected", "hint", "left_out"):
        got = [None if pd.isna(value) else value for value in found.steps[name]]
        assert got == [step[name] for step in expected["steps"]], name


@pytest.mark.parametrize(
    ("ask", "error", "part", "hint"),
    [
        (lambda: api.run(["rnd", "fst"], deal=3), ConfigError, "a setting, got 'deal'", "'deals'"),
        (lambda: api.run("rnd"), ConfigError, "needs at least 2 bots, got rnd", "opponents"),
        (lambda: api.run(5), ConfigError, "expected a list of names for bots, got 5", "lists"),
        (lambda: api.run(["rnd", 5]), ConfigError, "expected text for bots, got 5", "lists"),
        (lambda: api.run(BOTS, deals="3"), ConfigError, "number for deals, got '3'", "lists"),
        (lambda: api.run(BOTS, deals=0), ConfigError, "of at least 1 for deals, got 0", "lists"),
        (lambda: api.run(BOTS, players=5), ConfigError, "of at most 4 for players, got 5", "lists"),
        (lambda: api.run(BOTS, boards="brid"), UserError, "got 'brid'", ""),
        (lambda: api.run(BOTS, allow="fts=network"), ConfigError, "names 'fts'", "'fst'"),
        (lambda: api.run(BOTS, sandbox="on"), ConfigError, "'off' or 'strangers' for sandbox", ""),
        (
            lambda: api.run(BOTS, keep_stderr=True),
            ConfigError,
            "keep_stderr was removed in",
            "leave it out",
        ),
        (
            lambda: api.compare("rnd", "fst", null=True),
            ConfigError,
            "null was removed in",
            "leave it out",
        ),
        (lambda: api.run(BOTS, dels=3), ConfigError, "'dels'", "settings are adopt, allow, board"),
        (lambda: api.compare("rnd", "fst", games=0), ConfigError, "at least 1 for games", "lists"),
        (lambda: api.compare("rnd", "fst", pool=5), ConfigError, "names for pool, got 5", "lists"),
        (lambda: api.compare("rnd", 5), ConfigError, "expected text for old, got 5", "lists"),
        (lambda: api.rate(5), ConfigError, "a frame of games, got 5", "text"),
        (lambda: api.rate("x", anchors=["x"]), ConfigError, "numbers for anchors", "lists"),
        (lambda: api.rate("x", anchors={"x": "y"}), ConfigError, "a number for anchors", "lists"),
        (lambda: api.compare("x", "y", by="w"), ConfigError, "'wins' or 'margin' for by", "lists"),
        (lambda: api.rate("x", prior=0), ConfigError, "a number above 0 for prior, got 0", ""),
        (lambda: api.check("rnd", move_ms=0), ConfigError, "at least 1 for move_ms, got 0", ""),
        (lambda: api.run(["rnd", "fts"]), BotFolderError, "fts", "did you mean 'fst'"),
        (
            lambda: api.compare("rnd", "fst", deals=3),
            ConfigError,
            "got 'deals'",
            "elo1, game_ms, games,",
        ),
        (
            lambda: api.compare("rnd", "fst", alpha=2),
            ConfigError,
            "a number below 0.5 for alpha",
            "lists",
        ),
        (lambda: api.compare("rnd", "fst", max_blocks=0), ConfigError, "at least 1 for max", ""),
        (lambda: api.compare("rnd", "rnd"), ConfigError, "are the same program", "change the bot"),
        (lambda: api.rate("nope"), RunError, "got 'nope'", "runs in"),
        (lambda: api.rate(pd.DataFrame({"bot_0": ["a"]})), UserError, "the column bot_1", "block"),
        (lambda: api.rate([]), ConfigError, "no run is named", ""),
        (lambda: api.games("nope"), RunError, "got 'nope'", "runs in"),
        (lambda: api.check("nope"), BotFolderError, "nope", ""),
    ],
)
def test_what_a_caller_gets_wrong_is_said_with_the_cure(arena, monkeypatch, ask, error, part, hint):
    monkeypatch.chdir(arena.home)
    with pytest.raises(error) as raised:
        ask()
    assert part in str(raised.value)
    assert hint in raised.value.hint


@pytest.mark.parametrize(
    ("said", "part"),
    [
        ({"seed": -1}, "of at least 0 for seed, got -1"),
        ({"seed": 2**31}, "of at most 2147483647 for seed, got 2147483648"),
        ({"deals": "10"}, "a whole number for deals, got '10'"),
        ({"deals": 9}, "of at least 10 for deals, got 9"),
        ({"deals": 1_000_001}, "of at most 1000000 for deals"),
        ({"games": 0}, "of at least 1 for games, got 0"),
        ({"jobs": 0}, "of at least 1 for jobs, got 0"),
        ({"game": 5}, "text for game, got 5"),
        ({"judge": 5}, "expected text for judge, got 5"),
        ({"judge": "carful-4"}, "got 'carful-4'"),
        ({"bots": "gredy"}, "a bot of the run, got 'gredy'"),
    ],
)
def test_a_review_writes_nothing_that_it_could_not_read(arena, played, said, part):
    with pytest.raises(UserError) as raised:
        api.review(played.path, home=arena.home, **said)
    assert part in str(raised.value)
    assert "--in-process" not in raised.value.hint
    assert not (played.path / "review.jsonl").exists()


NOISY = {
    "bot.toml": """
name = "noisy"
command = ["python3", "-S", "bot.py"]
[options]
c = {type = "int", default = 1}
d = {type = "int", default = 1}
""",
    "bot.py": 'import sys\nprint("loud", file=sys.stderr, flush=True)\n' + FIRST,
}


@pytest.fixture(scope="module")
def noisy(arena):
    """A run of a bot with options."""
    folder = arena.home / "noisy"
    folder.mkdir()
    for name, text in NOISY.items():
        (folder / name).write_text(text)
    bots = [f"{folder}:d=3,c=2", "random"]
    return api.run(
        bots, deals=1, seed="n", out="noisy-run", home=arena.home, jobs=1, boards="bird",
    )  # fmt: skip


def test_one_name_counts_as_a_list_of_one(arena, played, noisy):
    games = api.rate(played.path, without="fst", match=None, home=arena.home)
    assert set(games.standings["bot"]) == {"rnd", "greedy"}
    assert noisy.is_complete


def test_a_review_finds_bots_with_options_in_any_order_and_takes_a_judge_of_the_users(
    arena, noisy, refused
):
    asked = {"game": noisy.games()["id"][0], "deals": 10, "jobs": 1, "home": arena.home}
    found = api.review(noisy.path, bots="noisy:d=3,c=2", judge="fst", **asked)
    assert set(found.bots["bot"]) == {"noisy:c=2,d=3"}
    line = json.loads((noisy.path / "review.jsonl").read_text())
    assert line["judge"]["by"].startswith("fst ")
    words = ("noisy-run", asked["game"], "--bot", "noisy:d=3,c=2", "--judge", "fst", "--deals", 10)
    told_too = told(arena, "review", *words)["decisions"]
    assert [row["cost"] for row in told_too] == found.decisions["cost"].tolist()
    assert json.loads((noisy.path / "review.jsonl").read_text()) == line, "nothing is graded twice"
    with refused(UserError):
        api.review(noisy.path, judge="rnd", allow="fst=network", **asked)


def test_one_name_in_the_users_own_configuration_counts_too(arena, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    own = tmp_path / "qin-arena" / "arena.toml"
    own.parent.mkdir()
    run = {"deals": 1, "out": "owned", "home": arena.home}
    for text, part in (
        ('allow = "fst=network"', "expected the path of a bot's folder in allow, got 'fst'"),
        ('allow = "x"', f"{own}: expected BOT=GRANT such as my-bot=network, got 'x'"),
        ("allow = 5", f"{own} line 1: expected a list of names for allow, got 5"),
        ("alow = 5", f"{own} line 1: expected a setting, got 'alow'"),
    ):
        own.write_text(text)
        with pytest.raises(ConfigError) as raised:
            api.run(["fst", "greedy"], **run)
        assert part in str(raised.value)


def test_what_a_command_says_beside_its_answer_is_a_warning_at_the_call(
    arena, monkeypatch, snapshot
):
    monkeypatch.chdir(arena.home)
    script = arena.home / "fst"
    script.mkdir()
    with pytest.warns(api.ArenaWarning) as warned:
        api.run(["fst", "greedy"], deals=1, out="warned")
    assert str(warned[0].message) == snapshot
    assert warned[0].filename == __file__
    script.rmdir()


@pytest.mark.filterwarnings("error::arena.api.ArenaWarning")
def test_where_warnings_are_errors_they_do_not_hide_the_error_of_the_call(
    arena, monkeypatch, refused, snapshot
):
    monkeypatch.chdir(arena.home)
    folder = arena.home / "fst"
    folder.mkdir()
    with refused(UserError) as raised:
        api.run(["fst", "nobody"], deals=1, out="errors")
    assert raised.value.__notes__[0] == snapshot
    folder.rmdir()


PROGRAM = """
import asyncio, multiprocessing, signal, threading, time
from arena import api
before = multiprocessing.get_start_method(), signal.getsignal(signal.SIGINT)
own = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
own.start()
found = {}
def play(name):
    found[name] = api.run(["rnd", "greedy"], deals=1, seed=name, jobs=1, out=name).games()
async def main():
    play("OUT-loop")
asyncio.run(main())
both = [threading.Thread(target=play, args=(f"OUT-{number}",)) for number in range(2)]
for one in both: one.start()
for one in both: one.join()
print(sorted((name, len(games)) for name, games in found.items()))
print(own.is_alive(), before == (
    multiprocessing.get_start_method(), signal.getsignal(signal.SIGINT)))
own.kill()
"""


@pytest.mark.long
@pytest.mark.parametrize("way", ["stdin", "script"])
def test_programs_of_any_kind_may_ask_and_keep_what_is_theirs(arena, way):
    """No guard, a running loop, two threads at once, a child of their own."""
    text = PROGRAM.replace("OUT", way)
    (arena.home / "program.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-" if way == "stdin" else "program.py"],
        input=text if way == "stdin" else None,
        cwd=arena.home,
        env=arena.environment,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.stderr == ""
    games = [(f"{way}-{name}", 2) for name in ("0", "1", "loop")]
    assert done.stdout.splitlines() == [str(games), "True True"]


WATCH = """
import multiprocessing, sys, threading, time
from arena import api
seen = set()
stop = threading.Event()
def look():
    main = sys.modules["__main__"]
    while not stop.is_set():
        method = multiprocessing.get_start_method(allow_none=True)
        seen.add((getattr(main, "__file__", None), str(main.__spec__), method))
        time.sleep(0.0001)  # to start a worker takes ten times as long
sys.setswitchinterval(1e-5)
watching = threading.Thread(target=look)
watching.start()
for progress in (False, True):
    api.run(["rnd", "greedy"], deals=1, jobs=2, out=f"watched-{progress}", progress=progress)
stop.set()
watching.join()
print(seen == {(__file__, "None", None)} or seen)
multiprocessing.set_start_method("forkserver")
"""


@pytest.mark.long
def test_a_run_does_not_change_the_main_module_or_the_start_method_of_the_program(arena):
    (arena.home / "watch.py").write_text(WATCH)
    done = subprocess.run(
        [sys.executable, "watch.py"], cwd=arena.home, env=arena.environment,
        capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert (done.stdout, done.returncode) == ("True\n", 0), done.stderr


@pytest.mark.long
def test_an_interrupted_call_leaves_nothing_and_the_next_one_plays_the_rest(arena):
    slow = "import time\n" + RANDOM.replace("rng.choice(", "time.sleep(0.05) or rng.choice(")
    arena.add_bot("slow", slow)
    text = textwrap.dedent("""
        from arena import api
        try:
            api.run(["slow", "rnd"], deals=2, seed="s", jobs=2, out="broken")
        except KeyboardInterrupt:
            print("interrupted")
        """)
    asked = subprocess.Popen(
        [sys.executable, "-c", text],
        cwd=arena.home,
        env=arena.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    # before that, only the start of its bots is tried
    wait_for((arena.home / "results" / "broken" / "run.json").exists, "run.json of the run")
    wait_for(
        lambda: any("bot.py" in command for command in processes(arena.home).values()),
        "the first game's bots",
    )
    os.kill(asked.pid, signal.SIGINT)
    assert asked.communicate(timeout=60) == ("interrupted\n", "")
    wait_until_gone(arena.home)
    # There is no journal yet if the signal came before the first game.
    journal = arena.home / "results" / "broken" / "games.jsonl"
    before = len(arena.records("broken")) if journal.exists() else 0
    rest = api.run(["slow", "rnd"], deals=2, seed="s", out="broken", home=arena.home)
    assert before < rest.tables.games == 4


@pytest.mark.long
@pytest.mark.filterwarnings("default::arena.api.ArenaWarning")
def test_a_bot_that_only_crashes_is_a_warning_of_a_run_and_an_error_of_a_comparison(arena):
    crash = FIRST.replace('message["legal"][0]', "sys.exit('no idea')")
    arena.add_bot("crash", crash, to="others")
    with pytest.warns(api.ArenaWarning, match="crash forfeited"):
        run = api.run(
            [str(arena.home / "others" / "crash"), "greedy", "random"],
            deals=9,
            home=arena.home,
            out="crashes",
        )
    assert not run.is_complete
    with pytest.raises(UserError, match=r"crash .*: no idea\n.*/none/faults/"):
        api.compare(arena.home / "others" / "crash", "rnd", home=arena.home, out="none")
