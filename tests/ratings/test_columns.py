"""Texts in CSV cells: a spreadsheet shows them, and what reads our files gets them back."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.exports.files import csv_text, export_run
from arena.exports.written import write_standings
from arena.ratings.cells import cell_of, text_of
from arena.ratings.columns import file_names
from arena.ratings.sheet import read_sheet
from arena.ratings.tables import run_tables
from arena.records.runfile import read_run
from arena.tournament.run import Run
from tests.exports.runs import game_of, write_run


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+cmd|x", "-x", "@SUM(A1)", "\tx", "\r=1", "'=1", "''@x",
     "-1+cmd|x", "+1e3", "-1-1", "-1.5=x"],
)  # fmt: skip
def test_what_starts_a_formula_gets_an_apostrophe(text):
    assert cell_of(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "ann", "'tis", "a=b", "-12.5", "+3", "1979-05-27"])
def test_what_does_not_is_left_alone(text):
    assert cell_of(text) == text


@given(st.text(alphabet="'=+-@\t\ra1."))
def test_every_text_comes_back(text):
    assert text_of(cell_of(text)) == text


@pytest.mark.parametrize("name", ["standings", "pairs"])
def test_the_tables_in_a_runs_folder_are_those_that_pandas_writes(tmp_path, name):
    bots = ["=1+1", 'a "quoted", name', "c", "idle"]
    games = [
        game_of((one, other), deal=deal)
        for deal in range(3)
        for one, other in permutations(bots[:3], 2)
    ]
    run = write_run(tmp_path / "run", bots, games)
    tables = run_tables(run, read_run(run))
    write_standings(Run(run), tables)
    written = (run / f"{name}.csv").read_text()
    assert written == csv_text(getattr(tables, name), file_names(name))
    assert '"a ""quoted"", name"' in written


def test_names_from_elsewhere_go_into_tables_and_come_back(tmp_path):
    run = write_run(tmp_path / "run", ["=1+1", "@b"], [game_of(("=1+1", "@b"))])
    tables = run_tables(run, read_run(run))
    export_run(Run(run), tmp_path / "csv", tables)
    for path in (tmp_path / "csv").iterdir():
        cells = [cell for line in path.read_text().splitlines() for cell in line.split(",")]
        assert not [cell for cell in cells if cell.startswith(("=", "@"))], path
    assert "'=1+1" in csv_text(tables.standings)
    sheet = read_sheet((tmp_path / "csv" / "games.csv").read_bytes(), "games.csv")
    assert sheet.names == ["=1+1", "@b"]
