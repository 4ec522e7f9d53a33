"""arena report and arena replay --html, as a user types them."""

import pytest

from tests.exports.runs import data_of
from tests.support.wording import messages


@pytest.fixture
def run(arena):
    arena("run", "--deals", 2, "--seed", "report", "--out", "r")
    return arena.home / "results" / "r"


def test_a_report_lies_in_the_runs_folder_or_where_it_is_wanted(arena, run):
    out, err = arena("report")
    assert (out, err) == ("results/r/report.html\n", "")
    page = (run / "report.html").read_text()
    assert "arena run fst rnd --boards bird --deals 2 --seed report" in page
    assert len(data_of(page)["games"]) == 4
    assert arena("report", "r", "--to", "page.html", "--games", 1)[0] == "page.html\n"
    assert len(data_of((arena.home / "page.html").read_text())["games"]) == 1
    assert "games-data" not in page_without_script(arena, "--games", 0)


def page_without_script(arena, *options):
    arena("report", "r", "--to", "other.html", *options)
    return (arena.home / "other.html").read_text().split("<script>")[0]


def test_games_are_chosen_by_id(arena, run, snapshot):
    ids = [record["id"] for record in arena.records("r")[:2]]
    for option in ("--only", "--games"):  # the latter as in earlier versions
        arena("report", option, ",".join(ids), "--to", "chosen.html")
        page = (arena.home / "chosen.html").read_text()
        assert [game["id"] for game in data_of(page)["games"]] == ids
    _, err = arena("report", "--only", "bird/no+one/1/1", status=1)
    assert messages(err) == snapshot
    _, err = arena("report", "--only", "many", status=2)
    assert messages(err) == snapshot
    _, err = arena("report", "--games", "many", status=2)
    assert messages(err) == snapshot
    _, err = arena("report", "--games", 3, "--only", ids[0], status=2)
    assert messages(err) == snapshot


def test_games_are_chosen_by_the_bots_that_met(arena, run, snapshot):
    one, other = sorted({bot for record in arena.records("r") for bot in record["bots"]})[:2]
    arena("report", "--only", f"{one}+{other}")
    shown = data_of((run / "report.html").read_text())["games"]
    met = [record for record in arena.records("r") if {one, other} <= set(record["bots"])]
    assert {game["id"] for game in shown} == {record["id"] for record in met}
    _, err = arena("report", "--only", f"{one}+{other}x", status=1)
    assert f"'{other}x'" in err
    assert messages(err) == snapshot


def test_the_report_shows_what_a_bot_says_of_itself(arena):
    source = (arena.home / "bots" / "rnd" / "bot.py").read_text()
    arena.add_bot("wordy", source, description="<b>bold</b>", author="nobody", language="Python")
    arena("run", "wordy", "fst", "--deals", 1, "--out", "w")
    arena("report", "w")
    page = (arena.home / "results" / "w" / "report.html").read_text()
    assert "&lt;b&gt;bold&lt;/b&gt;" in page
    assert "<b>bold" not in page


def test_a_report_shows_faults_with_their_evidence(arena, zoo_bot):
    name = zoo_bot("exits")
    arena("run", name, "rnd", "fst", "--deals", 1, "--out", "f")
    arena("report", "f")
    page = (arena.home / "results" / "f" / "report.html").read_text()
    assert "KeyError: &#39;the square I meant&#39;" in page
    assert "fault: exit" in page


def test_a_replay_is_written_as_a_page(arena, run, snapshot):
    record = min(arena.records("r"), key=lambda each: each["id"])
    out, _ = arena("replay", "r", record["id"], "--html")
    assert out == f"results/r/replays/{record['id']}.html\n"
    assert data_of((arena.home / out.strip()).read_text())["games"][0]["left"] == record["left"]
    assert arena("replay", record["id"], "--html", "game.html")[0] == "game.html\n"
    assert (arena.home / "game.html").stat().st_size < 250_000  # the two seatings of one deal
    out, _ = arena("replay", record["id"], "--svg", "game.svg", "--html", "game.html")
    assert out == "game.html\ngame.svg\n"
    assert "<script" not in (arena.home / "game.svg").read_text()
    out, _ = arena("replay", "r", record["id"], "--svg")
    assert out.strip().endswith(".svg")
    assert (arena.home / out.strip()).exists()
    _, err = arena("replay", record["id"], "--svg", "--turn", 3, status=2)
    assert messages(err) == snapshot
    _, err = arena("replay", record["id"], "--html", "game.html", "--json", status=2)
    assert messages(err) == snapshot
    _, err = arena("replay", record["id"], "--html", "no/such/game.html", status=1)
    assert messages(err) == snapshot
