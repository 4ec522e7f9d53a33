"""arena review as a user meets it: tables, files, interruptions, and what it must not show."""

import csv
import io
import json
import os
import re
import shlex
import shutil
import signal

import pytest

from tests.support.waiting import wait_for
from tests.support.wording import lines_with, messages

QUICK = ("--judge", "random", "--deals", 20)


def explained(out, bots):
    """What a review says under its table, in which each bot has a line."""
    return "\n".join(out.split("\n\n")[0].splitlines()[1 + bots :])


def grades_in(out):
    """Each kind of line that a replay shows about a grade, with other names for figures and moves.
    A move has two colours.
    """
    lines = lines_with(out, "  grade: ")
    lines = re.sub(r"\b([RYB][a-z]\d+){2}\b", "MOVE", re.sub(r"-?\d+\.\d+", "N", lines))
    return sorted(set(lines.splitlines()))


def first_game(duel):
    return min(record["id"] for record in duel.records("duel"))


@pytest.fixture
def duel(arena):
    bots = ("random", "careful-2")
    arena("run", *bots, "--in-process", "--deals", 2, "--seed", "rv", "--out", "duel")
    return arena


def test_a_review_grades_every_decision_once_and_keeps_the_grades(duel, snapshot):
    out, _ = duel("review", "duel", *QUICK, "--worst", 3)
    assert "careful-2" in out
    assert explained(out, bots=2) == snapshot
    assert out.count("arena replay duel ") <= 3
    lines = [line for line in out.splitlines() if "arena replay" not in line]
    assert max(map(len, lines)) <= 80
    lines = (duel.home / "results" / "duel" / "review.jsonl").read_text().splitlines()
    records = {record["id"]: record for record in duel.records("duel")}
    assert len(lines) == len(records) == 4
    for line in map(json.loads, lines):
        moves = records[line["game"]]["moves"]
        assert len(line["grades"]) == len(moves) - moves.count("pass")
    again, _ = duel("review", "duel", *QUICK, "--worst", 3)
    assert again == out
    assert (duel.home / "results" / "duel" / "review.jsonl").read_text().splitlines() == lines


def test_the_commands_of_a_review_show_the_decisions_that_they_stand_under(duel):
    out, _ = duel("review", "duel", *QUICK, "--worst", 4)
    lines = out.splitlines()
    commands = [at for at, line in enumerate(lines) if "arena replay" in line]
    assert commands
    for at in commands:
        played, turn, bot = re.search(
            r"  (\S+) -> \S+  turn (\d+), seat \d, (\S+)", lines[at - 1]
        ).groups()
        words = shlex.split(lines[at])
        assert words[-1] == turn
        shown, _ = duel(*words[1:])
        assert shown.startswith(f"turn {turn}: {bot} plays {played}\n")
        cost = re.search(r"^ *([\d.]+)", lines[at - 1]).group(1)
        assert f"grade: costs {cost} +/-" in shown


def test_workers_and_order_change_no_figure(duel):
    results = duel.home / "results"
    shutil.copytree(results / "duel", results / "b")
    duel("review", "duel", "--bot", "random", "--games", 2, *QUICK, "--jobs", 1)
    texts = [
        duel("review", run, *QUICK, "--jobs", jobs, "--csv", "-")[0]
        for run, jobs in (("duel", 2), ("b", 1))
    ]
    assert texts[0] == texts[1]
    rows = list(csv.DictReader(io.StringIO(texts[0])))
    assert {row["bot"] for row in rows} == {"random", "careful-2"}
    assert all(int(row["choices"]) > 1 for row in rows)


def test_one_game_and_one_bot_as_json_and_in_a_file(duel):
    game = duel.records("duel")[3]["id"]
    words = ("duel", game, "--bot", "random", *QUICK)
    shown = json.loads(duel("review", *words, "--json", "--csv", "grades.csv")[0])
    assert shown["judge"] == {"judge": "random", "deals": 20, "seed": 0, "by": ""}
    assert {row["game"] for row in shown["decisions"]} == {game}
    assert [row["bot"] for row in shown["bots"]] == ["random"]
    rows = list(csv.DictReader((duel.home / "grades.csv").read_text().splitlines()))
    assert [row["played"] for row in rows] == [row["played"] for row in shown["decisions"]]
    assert game in duel("review", game, *QUICK)[0] or "No decision" in duel("review", game)[0]


def test_the_seed_of_a_judge_is_any_text(duel):
    game = duel.records("duel")[0]["id"]
    grades = duel.home / "results" / "duel" / "review.jsonl"
    seeds = []
    for text in ("any words", "any words", "7"):
        duel("review", game, *QUICK, "--seed", text)
        seeds.append(json.loads(grades.read_text().splitlines()[-1])["judge"]["seed"])
    assert seeds[0] == seeds[1] != seeds[2] == 7


def test_games_of_open_deals_wait(arena, snapshot):
    arena("run", "random", "greedy", "--in-process", "--deals", 2, "--seed", "o", "--out", "r")
    journal = arena.home / "results" / "r" / "games.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:-1]))
    board, deal = (json.loads(lines[-1])[field] for field in ("board", "deal"))
    out, err = arena("review", "r", *QUICK, "--json")
    assert messages(err) == snapshot
    assert all((row["board"], row["deal"]) != (board, deal) for row in json.loads(out)["decisions"])
    left = next(
        record["id"]
        for record in arena.records("r")
        if (record["board"], record["deal"]) == (board, deal)
    )
    _, err = arena("review", "r", left, *QUICK, status=1)
    assert messages(err).replace(left, "GAME") == snapshot


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_review_goes_on_where_it_was(duel, sign, snapshot):
    path = duel.home / "results" / "duel" / "review.jsonl"
    process = duel.start("review", "duel", "--judge", "greedy-4", "--deals", 200, "--jobs", 1)

    def has_begun_or_ended():
        return process.poll() is not None or (path.exists() and path.stat().st_size)

    wait_for(has_begun_or_ended, "the first grade in review.jsonl")
    assert process.poll() is None
    os.kill(process.pid, sign)
    _, err = process.communicate(timeout=60)
    if sign == signal.SIGINT:
        assert process.returncode == 130
        assert re.sub(r"\d+ of \d+", "N of N", lines_with(err, "graded")) == snapshot
        assert "Traceback" not in err
    kept = path.read_text().splitlines()
    assert 1 <= len(kept) < 4
    words = ("review", "duel", "--judge", "greedy-4", "--deals", 200, "--games", len(kept))
    duel(*words)
    assert path.read_text().splitlines() == kept


def test_a_replay_shows_grades_and_to_one_seat_only_its_own(duel, snapshot):
    game = first_game(duel)
    assert "grade: " not in duel("replay", "duel", game)[0]
    duel("review", "duel", game, *QUICK)
    out, _ = duel("replay", "duel", game)
    [turns] = [record["turns"] for record in duel.records("duel") if record["id"] == game]
    assert out.count("  grade: ") == turns
    assert grades_in(out) == snapshot
    assert 0 < duel("replay", "duel", game, "--seat", 0)[0].count("grade: ") < out.count("grade: ")
    (duel.home / "results" / "duel" / "review.jsonl").write_text("{}\n")
    shown, err = duel("replay", "duel", game)
    assert "grade: " not in shown
    assert messages(err) == snapshot


def test_a_bot_of_the_users_can_name_the_better_moves(duel, snapshot):
    game = first_game(duel)
    out, _ = duel("review", "duel", game, "--bot", "random", "--judge", "fst", "--deals", 20)
    assert explained(out, bots=1) == snapshot
    line = json.loads((duel.home / "results" / "duel" / "review.jsonl").read_text())
    assert line["judge"]["by"].startswith("fst ")
    assert [grade["turn"] for grade in line["grades"]][:2] in ([0, 2], [1, 3])
    out, _ = duel("replay", "duel", game)
    assert grades_in(out) == snapshot
    duel("report", "duel", "--games", game)
    page = (duel.home / "results" / "duel" / "report.html").read_text()
    assert '"judge":"careful-4, 20 deals","adviser":"fst"' in page
    duel.add_bot("breaks", "raise SystemExit(1)")
    _, err = duel("review", "duel", game, "--judge", "breaks", status=1)
    assert messages(err) == snapshot


def test_mistakes_get_their_sentence(duel, snapshot):
    assert messages(duel("review", "duel", "--bot", "randm", *QUICK, status=1)[1]) == snapshot
    _, err = duel("review", "duel", "--judge", "carful-4", status=1)
    assert messages(err) == snapshot
    unknown = messages(duel("review", "duel", "a/b/0/0", status=1)[1])
    # the examples are the first games of the journal, in whatever order they ended
    assert re.sub("bird/.*", "...", unknown) == snapshot
    assert messages(duel("review", "nothing", status=1)[1]) == snapshot
    assert messages(duel("review", "a", "b", "c", status=2)[1]) == snapshot
    (duel.home / "results" / "duel" / "review.jsonl").write_text("{}\n")
    assert messages(duel("review", "duel", status=1)[1]) == snapshot
