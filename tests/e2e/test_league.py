"""A league as its keeper and the authors of its bots see it: versions join while it plays, old ones
stay, and nothing is lost when it is killed.
"""

import json
import re
import shutil
import subprocess
import sys

import pytest

from arena.cli import DONE, FAILED
from arena.cli.league import LeagueRunner, find_place
from arena.cli.main import run_command
from arena.commands.members import Members, versions_in_leagues
from arena.commands.playing import SandboxChoice
from arena.ratings.scale import on_scale
from arena.records.league import Joined, PlaceFound, StatusChanged, read_league
from arena.records.record import name_of
from arena.records.regular import BusyError, lock_run
from tests.support.commandline import FIRST, RANDOM, ROOT, TINY, Arena
from tests.support.kills import wait_for_games
from tests.support.waiting import wait_for
from tests.support.wording import lines_with

RUN = ("league", "run", "ladder")
MIRRORED = RANDOM.replace('rng.choice(message["legal"])', 'rng.choice(message["legal"][::-1])')
NEW = (*RUN, "--benchmarks", "random,greedy-4", "--board", "tiny.txt", "--seed", "league", "-q")
CRASHES = "raise SystemExit('no')\n"


def events(arena, kind, league="ladder"):
    lines = (arena.home / "results" / league / "league.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    return [event for event in found if event["event"] == kind]


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A league that has played: two built-in benchmarks, two bots with a version each, and one that
    does not start.
    """
    arena = Arena(tmp_path_factory.mktemp("kept") / "home")
    for name, source in (("rnd", RANDOM), ("fst", FIRST), ("bad", CRASHES)):
        arena.add_bot(name, source)
    (arena.home / "tiny.txt").write_text(TINY)
    arena.out, arena.err = arena(*NEW, "--games", 160)
    return arena


@pytest.fixture
def league(kept, arena):
    """That league in a home of the test's own."""
    for name in ("results", "bots"):
        shutil.rmtree(arena.home / name, ignore_errors=True)
        shutil.copytree(kept.home / name, arena.home / name)
    shutil.copy(kept.home / "tiny.txt", arena.home)
    arena.own = kept.own
    return arena


def test_every_version_in_bots_is_a_member_and_plays(kept):
    joined = {event["bot"]: event["status"] for event in events(kept, "joined")}
    assert joined == {
        "random": "benchmark",
        "greedy-4": "benchmark",
        "rnd@1": "candidate",
        "fst@1": "candidate",
        "bad@1": "candidate",
    }
    played = {bot for record in kept.records("ladder") for bot in record["bots"]}
    assert played == set(joined)
    assert "greedy-4" in kept.out


def test_copies_of_the_ladders_bots_join_after_the_authors_own(arena):
    copy = arena.home / "bots" / "careful-python"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(ROOT / "bots" / "careful-python", copy)
    arena.add_bot("my-bot", RANDOM)
    members = Members(arena.home, arena.home / "results" / "ladder", [], str)
    members.folder.mkdir(parents=True)
    members.look()
    joined = [name_of(bot) for bot in members.league.members]
    assert {"careful-python", "my-bot"} <= {*joined}
    assert joined.index("my-bot") < joined.index("careful-python")


def test_every_draw_is_on_fresh_deals(kept):
    records = kept.records("ladder")
    line_ups = {}
    for record in records:
        line_ups.setdefault((record["board"], record["deal"]), set()).add(frozenset(record["bots"]))
    assert all(len(found) == 1 for found in line_ups.values())
    assert len({record["id"] for record in records}) == len(records)


def test_a_bot_that_only_forfeits_is_set_aside_and_the_others_play_on(kept):
    aside = [event for event in events(kept, "status") if event["status"] == "aside"]
    assert [event["bot"] for event in aside] == ["bad@1"]
    assert "forfeited all of its" in aside[0]["why"]
    games = [record["bots"] for record in kept.records("ladder")]
    assert sum("bad@1" in bots for bots in games) < len(games) / 2
    assert list((kept.home / "results" / "ladder" / "faults").iterdir())


def test_a_league_is_a_run_like_any_other(kept):
    kept("verify", "ladder")
    standings = kept("standings", "ladder")[0]
    assert "rnd@1" in standings
    assert "league's own scale" in " ".join(standings.split())
    assert "ladder" in kept("runs")[0]
    assert json.loads(kept("standings", "ladder", "--json")[0])["plan"]["missing"] == 0
    kept("report", "ladder")
    name = kept.records("ladder")[0]["id"]
    kept("replay", "ladder", name)


def test_the_history_has_every_version(kept):
    out, _ = kept("league", "history")
    assert "bad@1" in out
    shown = json.loads(kept("league", "history", "--json")[0])
    rows = {row["version"]: row for row in shown["versions"]}
    assert rows["bad@1"]["forfeits"] == rows["bad@1"]["games"] > 0
    assert rows["random"]["status"] == "benchmark"
    (own,) = [line for line in out.splitlines() if line.strip().startswith("rnd@1")]
    assert "waiting" in own, "it is not placed yet"
    assert ("?: fewer than 10 deals" in out) == ("?" in {row["mark"] for row in rows.values()})
    assert (
        kept("league", "history", "rnd", "--csv", "-")[0].splitlines()[1].startswith("rnd@1,rnd,")
    )
    assert "did you mean 'rnd'" in kept.ended("league", "history", "rn")[2]
    kept("report", "ladder")
    page = (kept.home / "results" / "ladder" / "report.html").read_text()
    assert 'id="versions"' in page
    (about,) = re.findall(r'<section[^>]*id="bot/rnd@1".*?</section>', page, re.DOTALL)
    assert "<dt>Status</dt><dd>waiting</dd></div>\n<div><dt>Joined</dt><dd>20" in about
    assert "<dt>On the league&#39;s scale</dt>" in about
    seed = json.loads((kept.home / "results" / "ladder" / "run.json").read_text())["seed"]
    assert seed == "league"
    assert "--seed league" not in page, "the next deals follow from it"


def test_leagues_are_listed(kept, snapshot):
    assert "ladder" in kept("league")[0]
    row = json.loads(kept("league", "--json")[0])[0]
    assert (row["league"], row["members"], row["benchmarks"]) == ("ladder", 5, 2)
    assert row["waiting"] == 2
    err = " ".join(kept.ended("league", "ladder")[2].split())
    assert lines_with(err, "'arena league") == snapshot


def test_a_damaged_league_hides_no_other(league):
    damaged = shutil.copytree(league.home / "results" / "ladder", league.home / "results" / "bad")
    (damaged / "league.jsonl").write_text("{}\n")
    out, err = league("league")
    assert "ladder" in out
    assert "bad/league.jsonl, line 1" in err.replace("\n", "")


def test_going_on_plays_more_games_on_the_same_plan(league):
    before = league.timeless("ladder")
    league(*NEW, "--games", 16)
    after = league.timeless("ladder")
    assert len(after) == len(before) + 16
    assert [record for record in after if record in before] == before
    league("verify", "ladder")


def test_a_version_that_is_submitted_joins_and_the_old_one_stays(league):
    league.add_bot("rnd", RANDOM + "\n# better\n", to="ideas")
    league("submit", "ideas/rnd", "--no-check")
    league(*RUN, "--games", 48, "-q")
    assert [event["bot"] for event in events(league, "joined")][-1] == "rnd@2"
    played = [bot for record in league.records("ladder") for bot in record["bots"]]
    assert played.count("rnd@2") > 6
    table = json.loads(league("standings", "ladder", "--json")[0])["standings"]
    assert {"rnd@1", "rnd@2"} <= {row["bot"] for row in table}
    league("report", "ladder")
    page = (league.home / "results" / "ladder" / "report.html").read_text()
    assert "<code>arena regress ladder --bot rnd@2 --old rnd@1</code>" in page
    assert "rnd@1 --old" not in page


def test_submitting_waits_while_another_arena_plays_and_tells_the_place_and_the_gain(league):
    process = league.start(*RUN, "-q", "--jobs", 2)
    before = len(league.records("ladder"))
    wait_for_games(league, "ladder", before + 1)
    league.add_bot("rnd", MIRRORED, to="ideas")
    submit = ("submit", "ideas/rnd", "--no-check", "--league", "ladder")
    status, out, err = league.ended(*submit)
    assert process.poll() is None
    assert "another arena plays" in err
    status_fits_what_is_told(status, out, err)
    assert [event["bot"] for event in events(league, "joined")].count("rnd@2") == 1
    assert events(league, "placed")[-1]["bot"] == "rnd@2"
    process.terminate()
    process.communicate(timeout=60)
    # again: it has its place already, and what was drawn is played
    status_fits_what_is_told(*league.ended(*submit))
    games = len(league.records("ladder"))
    assert "on rnd@1" in league.ended(*submit, "--games", 16)[1]
    met = [sorted(record["bots"]) for record in league.records("ladder")[games:]]
    assert met == [["rnd@1", "rnd@2"]] * 16
    league("verify", "ladder")
    out, _ = league("league", "history", "rnd")
    assert "  arena regress ladder --bot rnd@2 --old rnd@1" in out.splitlines()


def status_fits_what_is_told(status, out, err):
    assert "rnd@2 is placed: " in out
    gained = [
        line for line in out.splitlines() if line.startswith("rnd@2 is ") and "on rnd@1" in line
    ]
    gain, error = gained[0].split(" is ")[1].split(" Elo")[0].split(" +/- ")
    is_clear = abs(int(gain)) > int(error)
    assert status == (5 if not is_clear else 0 if int(gain) > 0 else 4)
    assert ("is not clear yet" in err) == (status == 5)


@pytest.mark.parametrize("ended", [DONE, FAILED])
def test_who_is_not_placed_when_the_playing_ends_has_no_verdict(league, ended, monkeypatch, capsys):
    """As after a game that could not be played, which no test can bring about at will."""
    monkeypatch.setattr(LeagueRunner, "play", lambda *_: ended)
    folder = league.home / "results" / "ladder"
    choice = SandboxChoice(None, (), unsafe=False, home=league.home)
    assert find_place(league.home, folder, "rnd@1", choice, None) == FAILED
    assert "is placed" not in capsys.readouterr().out


def test_a_narrow_interval_places_no_candidate_before_enough_deals_tell_of_it(league, monkeypatch):
    """As if the first deals had ended alike by chance, so that the error is small at once."""
    placed = []
    """The numbers of placed bots before each computation of the ratings."""

    def on_narrow_scale(*arguments):
        placed.append(len(events(league, "placed")))
        ratings = on_scale(*arguments)
        is_rough = len(placed) < 3
        return {
            bot: rating._replace(error=5.0, is_rough=is_rough) for bot, rating in ratings.items()
        }

    monkeypatch.setattr("arena.ratings.scale.on_scale", on_narrow_scale)
    monkeypatch.setattr("arena.commands.league.LOOK_SHARE", 0)
    for name, value in league.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(league.home)
    assert run_command([*RUN, "--games", "80", "-q"]) == DONE
    assert placed[:4] == [0, 0, 0, 2], "rnd@1 and fst@1 wait for the third computation"


def test_a_regression_test_plays_the_newest_version_against_an_older_one(league, snapshot):
    """Placing takes hundreds of games, so the league's file says that both versions are placed."""
    league.add_bot("rnd", MIRRORED, to="ideas")
    league("submit", "ideas/rnd", "--no-check")
    members = Members(league.home, league.home / "results" / "ladder", [], str)
    members.append(Joined("rnd@2", "candidate", "now"))
    members.append(PlaceFound("rnd@1", "now", 0.0, 49.0, 200))
    members.append(PlaceFound("rnd@2", "now", 30.0, 49.0, 200, 30.0, 60.0))
    _, err = league(*RUN, "--games", 64, "--regression-every", 1, "--regression-games", 16)
    assert lines_with(err, "rnd@2") == snapshot
    # the rule stays, and the test is played once
    league(*RUN, "--games", 16, "-q")
    assert [(event["every"], event["games"]) for event in events(league, "regression_rule")] == [
        (1, 16)
    ]
    assert len(events(league, "regression_test")) == 1
    drawn = [event for event in events(league, "drawn") if event.get("tested")]
    assert {event["line_up"] for event in drawn} == {"rnd@1+rnd@2"}
    assert sum(2 * event["deals"] for event in drawn) == 16
    out, _ = league("league", "history", "rnd")
    assert "regression test over 16 games: " in " ".join(out.split())
    rows = json.loads(league("league", "history", "--json")[0])["regressions"]
    assert [(row["version"], row["against"], row["games"]) for row in rows] == [
        ("rnd@2", "rnd@1", 16)
    ]
    league("verify", "ladder")
    league("report", "ladder")
    page = (league.home / "results" / "ladder" / "report.html").read_text()
    assert "Regression test over 16 games" in page


def test_submitting_a_bot_that_only_forfeits_fails(league, snapshot):
    league.add_bot("worse", CRASHES, to="ideas")
    status, _, err = league.ended("submit", "ideas/worse", "--no-check", "--league", "ladder")
    assert status == 1
    assert lines_with(err, "worse@1") == snapshot
    assert (
        "there is no league 'lader'"
        in league.ended("submit", "ideas/worse", "--no-check", "--league", "lader")[2]
    )


def test_a_version_that_two_arenas_see_at_once_joins_once(league):
    folder = league.home / "results" / "ladder"
    one, other = (Members(league.home, folder, [], str) for _ in range(2))
    one.append(Joined("rnd@2", "candidate", "now"))
    other.append(
        Joined("rnd@2", "candidate", "now"), StatusChanged("fst@1", "retired", "now", "me")
    )
    one.append(StatusChanged("rnd@2", "retired", "now", "me"))
    members = read_league(folder).members
    assert members == one.league.members
    assert members["fst@1"].status == members["rnd@2"].status == "retired"


def test_a_version_that_is_removed_is_withdrawn_and_stays_rated(league, snapshot):
    league("remove", "fst", "--yes")
    _, err = league(*RUN, "--games", 16)
    assert lines_with(err, "fst@1") == snapshot
    assert "fst@1" in league("standings", "ladder")[0]
    new = league.records("ladder")[-16:]
    assert not any("fst@1" in record["bots"] for record in new)
    league("verify", "ladder")


def test_a_version_that_was_removed_keeps_its_number(league, snapshot):
    league.add_bot("fst", RANDOM, to="ideas")
    league("submit", "ideas/fst", "--no-check")
    league(*RUN, "--games", 8, "-q")
    league("remove", "fst@2", "--yes")
    league.add_bot("again", FIRST + "\n# better\n", to="ideas")
    out, _ = league("submit", "ideas/again", "--name", "fst", "--no-check")
    assert out == snapshot
    _, err = league(*RUN, "--games", 8)
    assert lines_with(err, "fst@2") == snapshot
    assert "fst@3 joins" in err


def test_files_that_a_league_would_not_play_are_refused(league, snapshot):
    """Also in a league outside results/."""
    moved = (league.home / "results" / "ladder").rename(league.home / "elsewhere")
    assert "fst@1" not in versions_in_leagues(league.home, None)
    assert "fst@1" in versions_in_leagues(league.home, moved)
    league.add_bot("rnd", CRASHES, to="ideas")
    shutil.copy(league.home / "ideas" / "rnd" / "bot.py", league.home / "bots" / "rnd")
    status, out, err = league.ended("submit", "ideas/rnd", "--no-check", "--league", moved)
    assert (status, "as version 1" in out) == (1, True)
    assert err == snapshot


def test_files_changed_behind_a_version_are_said_and_not_played(league, snapshot):
    (league.home / "bots" / "rnd" / "bot.py").write_text(CRASHES)
    _, err = league(*RUN, "--games", 8)
    assert lines_with(err, "rnd@1") == snapshot
    league("verify", "ladder")


def test_a_retired_benchmark_plays_no_more(league, snapshot):
    _, err = league("league", "retire", "greedy-4", "--why", "too weak")
    assert "greedy-4 is retired: too weak" in err
    league(*RUN, "--games", 16, "-q")
    assert not any("greedy-4" in record["bots"] for record in league.records("ladder")[-16:])
    _, err = league("league", "benchmark", "rnd")
    assert lines_with(err, "rnd@1") == snapshot
    assert events(league, "status")[-1]["by"] != "arena"
    # one that is removed does not play either, and what it has played counts
    league("remove", "rnd", "--yes")
    _, err = league(*RUN, "--games", 8)
    assert lines_with(err, "rnd@1") == snapshot
    assert not any("rnd@1" in record["bots"] for record in league.records("ladder")[-8:])
    assert "rnd@1" in league("standings", "ladder")[0]


def test_a_league_that_was_refused_is_founded_by_the_cured_command(arena, snapshot):
    shutil.rmtree(arena.home / "bots", ignore_errors=True)
    status, _, err = arena.ended("league", "run", "few", "--benchmarks", "random")
    assert status == 1
    assert lines_with(err, "2 bots") == snapshot
    arena("league", "run", "few", "--benchmarks", "random,greedy-4", "--games", 8, "-q")


def test_founders_fix_the_scale_once_and_a_league_of_an_earlier_version_gets_their_weights(arena):
    shutil.rmtree(arena.home / "bots", ignore_errors=True)
    (arena.home / "tiny.txt").write_text(TINY)
    run = ("league", "run", "few", "--benchmarks", "random,greedy-2,greedy-4", "-q")
    arena(*run, "--board", "tiny.txt", "--games", 480)
    # A quick run may end before its ratings are computed again: the next one computes them first.
    arena(*run, "--games", 8)
    [scale] = events(arena, "scale", "few")
    assert {*scale["elo"]} == {*scale["weights"]} <= {"random", "greedy-2", "greedy-4"}
    assert sum(scale["weights"].values()) == pytest.approx(1, abs=1e-4)
    history = json.loads(arena("league", "history", "--json")[0])
    assert (history["scale"], history["weights"]) == (scale["elo"], scale["weights"])
    # an earlier version wrote no weights, and added later benchmarks
    file = arena.home / "results" / "few" / "league.jsonl"
    old = {**scale, "elo": {bot: elo + 500 for bot, elo in scale["elo"].items()}}
    lines = file.read_text().replace(json.dumps(scale, separators=(",", ":")), "OLD")
    old.pop("weights")
    file.write_text(lines.replace("OLD", json.dumps(old)))
    rows = json.loads(arena("league", "history", "--json")[0])["versions"]
    assert max(row["elo"] for row in rows if row["elo"]) > 450
    arena(*run, "--games", 16)
    first, second = events(arena, "scale", "few")
    assert first["elo"] == second["elo"] == old["elo"]
    assert {*second["weights"]} == {*first["elo"]}


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("league", "retire", "rnx"), "the league ladder has no member 'rnx'"),
        (("league", "retire", "rnd", "--league", "nope"), "there is no league 'nope'"),
        ((*RUN, "--hours", "nan"), "expected a number above 0, got 'nan'"),
        (("league", "run", "new", "--benchmarks", "random,random"), "random is a benchmark twice"),
        ((*RUN, "--move-ms", 50), "move_ms: the run has"),
        ((*RUN, "--clock", "wall"), "clock: the run has cpu, asked for wall"),
        ((*RUN, "--players", 3), "players: the run has 2, asked for 3"),
        ((*RUN, "--players", 3), "or start another league: 'arena league run NAME'"),
        ((*RUN, "--benchmarks", "greedy"), "this league does not have greedy"),
        ((*RUN, "--regression-games", 9), "add --regression-every 5"),
        (("run", "--finish", "ladder"), "is no tournament but a league"),
        (("run", "rnd", "fst", "--out", "ladder"), "is not a tournament"),
    ],
)
def test_what_does_not_fit_a_league_is_said(league, command, said):
    status, _, err = league.ended(*command)
    assert status in (1, 2)
    assert said in " ".join(err.split())


def test_a_league_file_changed_by_hand_is_refused_and_nothing_is_lost(league, snapshot):
    file = league.home / "results" / "ladder" / "league.jsonl"
    kept = file.read_text()
    file.write_text(kept.replace('"first":4', '"first":5', 1))
    status, _, err = league.ended(*RUN, "--games", 8)
    assert status == 1
    assert "expected deals from 4 on, got 5" in err
    file.write_text(kept)
    first = read_league(file.parent).deals
    odd = {"event": "drawn", "line_up": "greedy-4", "first": first, "deals": 4}
    file.write_text(kept + json.dumps(odd) + "\n")
    status, _, err = league.ended(*RUN, "--games", 8)
    assert status == 1
    assert lines_with(err, "2 bots") == snapshot
    *_, last = [line for line in kept.splitlines() if '"event":"drawn"' in line]
    file.write_text(kept.replace(f"{last}\n", ""))
    status, _, err = league.ended(*RUN, "--games", 8)
    assert status == 1
    assert lines_with(err, "8 games") == snapshot
    file.write_text(kept)
    league("verify", "ladder")


def is_played_alone(league):
    """Also while its files are closed and opened again for who joins."""
    with pytest.raises(BusyError), lock_run(league.home / "results" / "ladder"):
        pass
    return True


def journal_of(league):
    return (league.home / "results" / "ladder" / "games.jsonl").read_bytes()


def test_a_killed_league_goes_on_with_what_was_drawn(league):
    before = len(league.records("ladder"))
    process = league.start(*RUN, "-q", "--jobs", 2)
    wait_for_games(league, "ladder", before + 9)
    league.add_bot("rnd", RANDOM + "\n# better\n", to="ideas")
    league("submit", "ideas/rnd", "--no-check")
    wait_for(
        lambda: is_played_alone(league) and b"rnd@2" in journal_of(league),
        "a game of the version that joined",
    )
    process.kill()
    process.communicate(timeout=60)
    league(*RUN, "--games", 8, "-q")
    records = league.records("ladder")
    assert len({record["id"] for record in records}) == len(records)
    drawn = sum(2 * event["deals"] for event in events(league, "drawn"))
    assert len(records) == drawn
    league("verify", "ladder")


def test_a_second_arena_on_the_same_league_is_refused(league):
    process = league.start(*RUN, "-q")
    before = len(league.records("ladder"))
    wait_for_games(league, "ladder", before + 1)
    status, _, err = league.ended(*RUN, "--games", 8)
    assert status == 1
    assert "another arena" in err
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == 130


def test_a_league_at_tables_of_three_draws_candidates_with_benchmarks(arena):
    arena(*NEW[:3], "rnd", "--benchmarks", "random,greedy-4,careful-2", "--players", 3, "-q",
          "--games", 48, "--boards", "bird,lion")  # fmt: skip
    assert all(len(record["bots"]) == 3 for record in arena.records("ladder"))
    arena("verify", "ladder")


def test_an_author_owns_a_name_and_has_so_many_candidates(league, snapshot):
    for number in range(4):
        league.add_bot(f"bold-{number}", f"{FIRST}# {number}\n", to="submissions/bea")
    other = league.add_bot("bold-0", FIRST, to="submissions/eve", version="9")
    other.rename(other.with_name("other"))

    def submit(path, author, status):
        options = ("--league", "ladder", "--no-check", "--author", author)
        return league("submit", f"submissions/{path}", *options, status=status)[1]

    assert "the folder is named 'other' and the bot 'bold-0'" in submit("eve/other", "eve", 1)
    other.with_name("other").rename(other)
    for number in range(3):
        league("submit", f"submissions/bea/bold-{number}", "--author", "bea", "--no-check")
    assert "the name 'bold-0' belongs to bea" in submit("eve/bold-0", "eve", 1)
    league("league", "run", "ladder", "--games", 1, "-q")
    err = submit("bea/bold-3", "bea", 1)
    assert err == snapshot


def test_the_name_of_a_bot_that_was_removed_is_free_and_its_versions_are_numbered_on(league):
    """As seen by an author who submits a bot to the league that has played the earlier ones."""
    for number in (1, 2):
        league.add_bot("bold", f"{FIRST}# {number}\n", to=f"submissions/{number}")
        league("submit", f"submissions/{number}/bold", "--author", "bea", "--no-check")
    league(*RUN, "--games", 8, "-q")
    league.add_bot("bold", f"{FIRST}# 3\n", to="submissions/eve")
    submit = ("submit", "submissions/eve/bold", "--author", "eve", "--no-check")
    assert "the name 'bold' belongs to bea" in league(*submit, status=1)[1]
    league("remove", "bold", "--all-versions", "--yes")
    assert "registered as version 3" in league(*submit)[0]
    _, err = league(*RUN, "--games", 8)
    assert "bold@2 is withdrawn" in err
    assert "bold@3 joins" in err


PAGE = (ROOT / "docs" / "leagues.md").read_text()
PLACE = PAGE.split('```sh title=".github/place.sh"\n')[1].split("```")[0]


def test_a_league_in_a_repository_places_what_a_commit_brings(league):
    def git(*arguments, folder=league.home):
        told = ("-c", "user.name=me", "-c", "user.email=me@localhost")
        subprocess.run(["git", *told, *arguments], cwd=folder, check=True, capture_output=True)

    third = league.add_bot("third", FIRST, to="submissions/bea")
    (third / "bot.py").rename(league.home / "later.py")
    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-qm", "a league")
    (league.home / "later.py").rename(third / "bot.py")
    git("add", ".")
    git("commit", "-qm", "a submission")
    clone = league.home.parent / "clone"
    git("clone", "-q", league.home, clone)
    # the league of these tests has deals that come back, so it is none for strangers
    script = PLACE.replace(" --strangers", "").replace("arena ", f"{sys.executable} -m arena ")
    (clone / "place.sh").write_text(script)
    # another machine: nothing says that the league was made there
    elsewhere = {"XDG_STATE_HOME": str(league.home.parent / "elsewhere")}
    done = subprocess.run(
        ["sh", "place.sh", "HEAD~1"],
        cwd=clone,
        env={**league.environment, **elsewhere},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "third@1 is placed: " in done.stdout, done.stderr
    assert done.returncode == 0
    assert (clone / "bots" / "third").is_dir()
    assert "rnd@1" in done.stdout, "the league goes on with who was in it"
