"""The lists of runs and of bots: what is played, who leads, and how good a bot was last."""

import json
import os
import threading

from arena.cli.runs import runs
from tests.exports.runs import duels, write_run


def test_the_list_of_runs_says_how_far_each_is_and_who_leads(arena):
    results = arena.home / "results"
    write_run(results / "over", "ab", duels("ab", 2), deals=2)
    write_run(results / "going", "ab", duels("ab", 2), deals=3)
    quiet = write_run(results / "quiet", "ab", duels("ab", 2), deals=3)
    os.utime(quiet / "games.jsonl", (1, 1))
    arena("standings", "over", "--csv", "results/over/standings.csv")
    rows = {row["run"]: row for row in json.loads(arena("runs", "--json")[0])}
    assert {name: row["state"] for name, row in rows.items()} == {
        "over": "finished",
        "going": "playing",
        "quiet": "stopped",
    }
    leader = rows["over"]["leader"]
    assert (leader["rank"], leader["games"]) == (1, 4)
    assert rows["going"]["leader"] is None
    [line] = [line for line in arena("runs")[0].splitlines() if line.startswith("over")]
    assert "finished" in line
    rating = f"{leader['mark']} {leader['elo']:.0f}".split()
    assert line.split()[7:][: 1 + len(rating)] == [leader["bot"], *rating]


def test_the_runs_of_a_collection_are_in_the_list_under_names_that_commands_accept(arena):
    results = arena.home / "results"
    write_run(results / "alone", "ab", duels("ab", 1), deals=1)
    write_run(results / "cup" / "2-players", "ab", duels("ab", 1), deals=1)
    names = [row["run"] for row in json.loads(arena("runs", "--json")[0])]
    assert names == ["alone", "cup/2-players"]
    assert "cup/2-players" in arena("runs")[0]
    arena("standings", "cup/2-players")


def test_a_list_of_many_runs_starts_one_thread(tmp_path, monkeypatch, capsys):
    """A timer for what takes long is a thread, and one for each run took most of the time."""
    for name in ("one", "two", "three"):
        write_run(tmp_path / "results" / name, "ab", duels("ab", 1), deals=1)
    threads = []
    monkeypatch.setattr(threading.Timer, "start", lambda timer: threads.append(timer.name))
    runs.callback.__wrapped__(tmp_path, as_json=False)
    assert len(capsys.readouterr().out.splitlines()) == 4
    assert len(threads) == 1


def test_the_list_of_bots_has_the_latest_rating_of_the_same_files(arena):
    assert "Elo" not in arena("bots")[0]
    arena("run", "--deals", 2, "--out", "rated")
    rows = {row["bot"]: row for row in json.loads(arena("bots", "--json")[0])}
    assert (rows["rnd"]["rating"]["run"], rows["rnd"]["rating"]["games"]) == ("rated", 4)
    out, _ = arena("bots")
    assert out.splitlines()[0].split() == [
        "Bot",
        "Version",
        "From",
        "Language",
        "Elo",
        "Games",
        "Description",
    ]
    assert "4 in rated" in out
    (arena.home / "bots" / "rnd" / "note.txt").write_text("changed")
    assert json.loads(arena("bots", "--json")[0])[1]["rating"] is None
