"""Tables without some bots: the same as if the games in which they sat had never been played."""

import csv
import io
import json

import pytest

from arena.cli.main import run_command
from arena.exports.files import csv_text
from arena.ratings.columns import file_names
from arena.ratings.tables import run_tables
from arena.records.runfile import read_run
from tests.support.wording import lines_with, messages

RUN = ["run", "--in-process", "--players", "3", "--deals", "12", "--seed", "x"]
BOTS = ["random", "greedy-2", "careful-2"]
LEFT_OUT = "note: without careful-4: only the 36 of 144 games count in which it did not sit"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home with a run of four bots at tables of three, and one of the games without the last."""
    home = tmp_path_factory.mktemp("home")
    for out, bots in (("run", [*BOTS, "careful-4"]), ("other", BOTS)):
        assert run_command(["--home", str(home), *RUN, *bots, "--out", out]) == 0
    run, other = home / "results" / "run", home / "results" / "other"
    # Times differ from game to game, so these games are the same ones.
    lines = (run / "games.jsonl").read_text().splitlines(keepends=True)
    (other / "games.jsonl").write_text("".join(line for line in lines if "careful-4" not in line))
    for folder in (run, other):
        (folder / "standings.csv").unlink()
    return home


@pytest.fixture
def said(home, capsys, monkeypatch):
    """Runs a command in the home; returns its exit status, its output and its errors."""
    monkeypatch.setenv("COLUMNS", "300")

    def run(*arguments):
        status = run_command(["--home", str(home), *arguments])
        shown = capsys.readouterr()
        return status, shown.out, shown.err

    return run


def tables_of(folder, **options):
    """The tables of the run in a folder."""
    return run_tables(folder, read_run(folder), **options)


def test_a_table_without_a_bot_is_that_of_the_other_games_alone(home):
    one = tables_of(home / "results" / "run", without=["careful-4"])
    other = tables_of(home / "results" / "other")
    for name in ("standings", "pairs", "seats", "faults"):
        columns = file_names(name)
        assert csv_text(getattr(one, name), columns) == csv_text(getattr(other, name), columns)
    assert (one.games, one.clusters) == (other.games, other.clusters)


def test_matches_are_left_out_like_games(home):
    boards = ["bird", "bird"]
    one = tables_of(home / "results" / "run", match=boards, without=["careful-4"])
    other = tables_of(home / "results" / "other", match=boards)
    assert one.standings.equals(other.standings)


def test_the_table_says_what_is_left_out_and_no_game_is_said_to_be_missing(said):
    status, out, _ = said("standings", "run", "--without", "careful-4")
    assert status == 0
    assert LEFT_OUT in out
    assert "missing" not in out
    assert "careful-4 " not in out.split("note:")[0]


def test_json_and_csv_name_the_bots_left_out(said):
    shown = json.loads(said("standings", "run", "--without", "careful-4", "--json")[1])
    assert shown["without"] == ["careful-4"]
    assert [row["bot"] for row in shown["standings"]].count("careful-4") == 0
    assert json.loads(said("standings", "run", "--json")[1])["without"] == []
    head, *rows = csv.reader(
        io.StringIO(said("standings", "run", "--without", "careful-4", "--csv", "-")[1])
    )
    assert head == [*file_names("standings"), "without"]
    assert {row[-1] for row in rows} == {"careful-4"}


def test_such_a_table_is_not_written_over_the_standings_of_the_run(said, home, snapshot):
    own = home / "results" / "run" / "standings.csv"
    status, _, err = said("standings", "run", "--without", "careful-4", "--csv", str(own))
    assert (status, own.exists()) == (1, False)
    assert err == snapshot


def test_verify_does_not_take_such_a_table_for_the_standings_of_the_run(said, home):
    own, table = home / "results" / "run" / "standings.csv", home / "table.csv"
    assert said("standings", "run", "--without", "careful-4", "--csv", str(table))[0] == 0
    own.write_text(table.read_text())
    try:
        status, out, _ = said("verify", "run")
    finally:
        own.unlink()
    assert status == 1
    assert "standings.csv" in out


@pytest.mark.parametrize("command", ["standings", "analyse"])
def test_a_bot_that_is_not_there_gets_the_nearest_name(said, command, snapshot):
    status, out, err = said(command, "run", "--without", "careful-5")
    assert (status, out) == (1, "")
    assert messages(err) == snapshot


@pytest.mark.parametrize("command", ["standings", "analyse"])
def test_where_no_game_is_left_a_sentence_says_so(said, command, snapshot):
    status, out, err = said(command, "run", "--without", "careful-4", "--without", "random")
    assert (status, out) == (1, "")
    assert err == snapshot


def test_an_analysis_without_a_bot_is_that_of_the_other_games_alone(said):
    one = json.loads(said("analyse", "run", "--without", "careful-4", "--json")[1])
    other = json.loads(said("analyse", "other", "--json")[1])
    assert one.pop("notes") == [LEFT_OUT.removeprefix("note: ")]
    assert other.pop("notes") == []
    assert one == other
    assert said("analyse", "run", "--without", "careful-4")[1].startswith(LEFT_OUT)


def test_results_from_elsewhere_are_rated_without_a_bot(said, home, snapshot):
    rows = ["block,bot_0,bot_1,bot_2,share_0,share_1,share_2"]
    rows += [f"{deal},ann,bob,,{deal % 3 > 0:d},{deal % 3 == 0:d}," for deal in range(12)]
    few, many = home / "few.csv", home / "many.csv"
    few.write_text("\n".join(rows) + "\n")
    many.write_text("\n".join([*rows, "x,ann,bob,cy,0,0,1", "y,cy,ann,bob,0,1,0"]) + "\n")
    out = said("rate", str(many), "--without", "cy", "--wide")[1]
    assert lines_with(out, "12 of 14 games") == snapshot
    tables = [
        json.loads(said("rate", *options, "--json")[1])["standings"]
        for options in ([str(many), "--without", "cy"], [str(few)])
    ]
    assert tables[0] == tables[1]
    assert said("rate", str(few), "--without", "ann")[0] == 1
