"""Bots with build steps: a run and a league keep the files of such a bot, and build it again when
they go on.
"""

import json
import shutil

import pytest

from arena.commands.members import Members
from arena.records.league import PlaceFound, RegressionBegun
from tests.support.commandline import RANDOM, SMALL
from tests.support.wording import messages

BUILD = [["sh", "-c", "cp bot.py program.py"]]
COMMAND = ["python3", "-S", "program.py"]
FILES = {"bot.py", "bot.toml"}


@pytest.fixture
def home(arena):
    """A home with a bot that is built, and a folder for temporary files of its own."""
    arena.add_bot("made", RANDOM, build=BUILD, command=COMMAND)
    (arena.home / "small.txt").write_text(SMALL)
    temporary = arena.home / "tmp"
    temporary.mkdir()
    arena.own["TMPDIR"] = str(temporary)
    return arena


def run_command(deals):
    return "run", "rnd", "made", "--board", "small.txt", "--deals", deals, "--out", "r"


def copies(home, run="r"):
    """The names of all files in the copies of the built bot."""
    folder = home.home / "results" / run / "bots"
    return {file.name for copy in folder.glob("made*") for file in copy.iterdir()}


def made_by(home, version):
    """Changes the version of the arena that made the run."""
    file = home.home / "results" / "r" / "run.json"
    info = json.loads(file.read_text())
    file.write_text(json.dumps({**info, "arena": version}))


def lose_last_game(home):
    journal = home.home / "results" / "r" / "games.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:-1]))


def forget_builds(home):
    shutil.rmtree(home.home.parent / "cache", ignore_errors=True)


def test_a_run_keeps_the_files_of_a_bot_and_not_its_build(home, snapshot):
    home(*run_command(1))
    assert copies(home) == FILES
    assert not list((home.home / "tmp").glob("qin-arena-builds-*"))
    made_by(home, "1.1.0")
    out, _ = home("verify", "r")
    assert out == snapshot
    lose_last_game(home)
    forget_builds(home)
    shutil.rmtree(home.home / "bots" / "made")
    home("run", "--finish", "r")
    assert copies(home) == FILES
    assert home("verify", "r")[0] == snapshot
    [copy] = (home.home / "results" / "r" / "bots").glob("made-*")
    (copy / "program.py").write_text("raise SystemExit\n")
    out, _ = home("verify", "r", status=1)
    assert out == snapshot
    lose_last_game(home)
    _, err = home("run", "--finish", "r", status=1)
    assert messages(err) == snapshot


def test_a_run_of_version_1_0_that_kept_builds_is_verified_and_goes_on(home, snapshot):
    home(*run_command(1))
    made_by(home, "1.0.0")
    [copy] = (home.home / "results" / "r" / "bots").glob("made-*")
    (copy / "program.py").write_text("raise SystemExit('not built from the files')\n")
    out, _ = home("verify", "r")
    assert out == snapshot
    lose_last_game(home)
    forget_builds(home)
    home("run", "--finish", "r", "--strict")
    home(*run_command(2), "--strict")
    assert copies(home) == FILES
    assert home("verify", "r")[0] == snapshot


def test_a_league_keeps_no_builds_and_goes_on_by_building_again(home):
    league = "league", "run", "builds", "--games", 8, "-q"
    board = "--board", "small.txt"
    home(*league, "made", "rnd", "--benchmarks", "random,greedy-4", *board)
    assert copies(home, "builds") == FILES
    before = len(home.records("builds"))
    forget_builds(home)
    home(*league)
    assert copies(home, "builds") == FILES
    more = home.records("builds")[before:]
    assert any("made@1" in record["bots"] for record in more)
    assert not any(record["faults"] for record in more)


LEAGUE = ("league", "run", "builds", "--sandbox", "off", "--games")


@pytest.fixture
def league(arena):
    """A league with two versions of a bot whose build step writes its version into the file
    `built`, and fails if the file `broken` exists. Builds are not kept, because there is no
    sandbox.
    """
    arena.broken, arena.built = arena.home / "broken", arena.home / "built"
    for version in ("1", "2"):
        step = f"echo {version} >> {arena.built}; test ! -e {arena.broken} && cp bot.py program.py"
        build = [["sh", "-c", step]]
        folder = arena.add_bot(
            "made", RANDOM, to=version, version=version, build=build, command=COMMAND
        )
        arena("submit", folder, "--no-check")
    (arena.home / "small.txt").write_text(SMALL)
    benchmarks = ("--benchmarks", "random,greedy-4,made@1", "--board", "small.txt")
    arena(*LEAGUE, 32, "-q", "made", "rnd", *benchmarks)
    arena.built.unlink()
    return arena


def statuses(home):
    rows = json.loads(home("league", "history", "--json")[0])["versions"]
    return {row["version"]: row["status"] for row in rows}


def bots_of_games(home, since):
    return {bot for record in home.records("builds")[since:] for bot in record["bots"]}


def test_members_that_no_longer_build_are_set_aside_and_the_others_play_on(league):
    league.broken.touch()
    before = len(league.records("builds"))
    _, err = league(*LEAGUE, 8, "-q")
    said = " ".join(err.split())
    assert "made@1 is set aside: the build step 'sh -c echo 1 >>" in said
    assert "then 'arena league benchmark made@1 --league builds' lets it play again" in said
    assert "then 'arena league candidate made@2 --league builds' lets it play again" in said
    assert bots_of_games(league, before) <= {"random", "greedy-4", "rnd@1"}
    shown = statuses(league)
    assert (shown["made@1"], shown["made@2"], shown["rnd@1"]) == ("aside", "aside", "candidate")
    assert "made" not in league(*LEAGUE, 8, "-q")[1]
    league("verify", "builds")
    league.broken.unlink()
    league("league", "candidate", "made@2", "--league", "builds")
    before = len(league.records("builds"))
    league(*LEAGUE, 32, "-q")
    assert "made@2" in bots_of_games(league, before)


def test_a_program_that_this_machine_lacks_sets_no_member_aside(league):
    before = statuses(league)
    programs = league.home / "programs"
    programs.mkdir()
    (programs / "python3").symlink_to(shutil.which("python3"))
    path = league.environment["PATH"]
    league.own["PATH"] = str(programs)
    _, err = league(*LEAGUE, 8, "-q", status=1)
    assert "expected the program 'sh' on PATH, found none" in err
    league.own["PATH"] = path
    assert statuses(league) == before


def test_retired_and_removed_members_are_not_built(league):
    league.broken.touch()
    league("league", "retire", "made@1")
    league("remove", "made", "--all-versions", "--yes")
    _, err = league(*LEAGUE, 8)
    assert "made@2 is withdrawn" in err
    assert "build step" not in err
    assert not league.built.exists()
    assert statuses(league)["made@1"] == "retired"


def test_a_retired_member_is_built_for_a_regression_test(league):
    members = Members(league.home, league.home / "results" / "builds", [], str)
    for version in ("made@1", "made@2"):
        members.append(PlaceFound(version, "now", 0.0, 49.0, 200))
    league("league", "retire", "made@1")
    before = len(league.records("builds"))
    league(*LEAGUE, 32, "-q", "--regression-every", 1, "--regression-games", 8)
    assert {*league.built.read_text().split()} == {"1", "2"}
    pairs = [set(record["bots"]) for record in league.records("builds")[before:]]
    assert [pair for pair in pairs if "made@1" in pair] == [{"made@1", "made@2"}] * 8
    # When all games of the test have been played, the version is not needed any more.
    league.built.unlink()
    league(*LEAGUE, 8, "-q")
    assert {*league.built.read_text().split()} == {"2"}


def test_a_retired_member_that_no_longer_builds_ends_its_regression_test(league):
    members = Members(league.home, league.home / "results" / "builds", [], str)
    for version in ("made@1", "made@2"):
        members.append(PlaceFound(version, "now", 0.0, 49.0, 200))
    members.append(RegressionBegun("made@2", "made@1", 400, "now"))
    league("league", "retire", "made@1", "made@2")
    league.broken.touch()
    _, err = league(*LEAGUE, 8, "-q")
    assert "made@1 is set aside" in err
    league(*LEAGUE, 8, "-q")


def test_a_retired_member_plays_the_games_that_were_drawn(league):
    file = league.home / "results" / "builds" / "games.jsonl"
    *kept, lost = file.read_text().splitlines(keepends=True)
    file.write_text("".join(kept))
    bots = json.loads(lost)["bots"]
    league("league", "retire", *bots)
    league(*LEAGUE, 8, "-q")
    assert {*bots} <= bots_of_games(league, len(kept))
    shown = json.loads(league("standings", "builds", "--json")[0])
    assert shown["plan"]["missing"] == 0


def test_a_member_whose_copy_has_changed_is_set_aside_and_reported(league):
    [copy] = (league.home / "results" / "builds" / "bots").glob("rnd*")
    kept = shutil.copytree(copy, league.home / "kept")
    (copy / "bot.py").write_text(f"{RANDOM}# other\n")
    before = len(league.records("builds"))
    _, err = league(*LEAGUE, 16, "-q")
    said = " ".join(err.split())
    assert "rnd@1 is set aside: the files of rnd@1 in results/builds/bots/rnd" in said
    assert "hint: restore the files that were played, then 'arena league candidate rnd@1" in said
    assert statuses(league)["rnd@1"] == "aside"
    assert "rnd@1" not in bots_of_games(league, before)
    # Its games are no longer those of the files beside them.
    out, _ = league("verify", "builds", status=1)
    assert "rnd@1" in out
    shutil.rmtree(copy)
    league(*LEAGUE, 8, "-q")
    league("league", "candidate", "rnd@1")
    assert "the copy of rnd@1 that was played is missing" in league(*LEAGUE, 8, "-q")[1]
    shutil.copytree(kept, copy)
    league("league", "candidate", "rnd@1")
    league("league", "retire", "made@1", "made@2")
    before = len(league.records("builds"))
    league(*LEAGUE, 48, "-q")
    assert "rnd@1" in bots_of_games(league, before)
    league("verify", "builds")
