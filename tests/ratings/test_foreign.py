"""Results from a file: what the cells mean, what is refused and with which words, and that nothing
depends on the order of rows.
"""

import random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import UserError
from arena.exports.files import csv_text, export_run
from arena.ratings.columns import file_names
from arena.ratings.sheet import game_of, read_sheet
from arena.ratings.tables import make_tables, rate_sheet, run_tables
from arena.records.runfile import read_run
from arena.tournament.run import Run
from tests.ratings.played import play_run
from tests.ratings.synthetic import counts_of, duel, standings_text

HEAD = "block,bot_0,bot_1,bot_2,bot_3,share_0,share_1,share_2,share_3\n"


def sheet_of(text):
    return read_sheet(text.encode(), "games.csv")


def named(sheet):
    """The names of the bots by game and seat."""
    return [[sheet.names[bot] for bot in game] for game in sheet.bots]


def refused(text, said):
    with pytest.raises(UserError) as caught:
        sheet_of(text)
    assert said in str(caught.value)
    assert caught.value.hint


def mixed_rows(deals=40, seed=1):
    """Rows of two, three and four players with shared wins."""
    rng = random.Random(seed)
    rows = []
    for deal in range(deals):
        for size in (2, 3, 4):
            seated = rng.sample(["ann", "bob", "cy", "dee"], size)
            winners = rng.sample(range(size), rng.choice([1, 1, 1, 2, size]))
            shares = [str(1 / len(winners)) if seat in winners else "0" for seat in range(size)]
            rows.append(
                ",".join([f"b{deal}", *seated, *[""] * (4 - size), *shares, *[""] * (4 - size)])
            )
    return rows


def test_a_file_gives_the_tables_of_the_same_games():
    games = duel(30, 20, 5)
    text = "block,bot_0,bot_1,share_0,share_1\n" + "".join(
        f"{deal},{a},{b},{one},{two}\n" for deal, (a, b), (one, two) in games
    )
    one, other = rate_sheet(sheet_of(text)), make_tables(counts_of(games))
    counted = [
        "rank",
        "bot",
        "elo",
        "elo_low",
        "elo_high",
        "los",
        "games",
        "wins",
        "shared",
        "losses",
        "win_rate",
    ]
    assert csv_text(one.standings, counted) == csv_text(other.standings, counted)
    assert csv_text(one.pairs, file_names("pairs")) == csv_text(other.pairs, file_names("pairs"))
    assert (one.clusters, one.unit) == (55, "block")
    assert one.standings["avg_left"].isna().all()
    assert one.standings["avg_rank"].isna().all()


@pytest.mark.parametrize("players", [2, 3])
def test_the_games_that_a_run_exports_give_back_its_tables(tmp_path, players):
    run = play_run(
        tmp_path / "run" if (tmp_path / "run").mkdir() is None else None, deals=6, players=players
    )
    tables = run_tables(run, read_run(run))
    export_run(Run(run), tmp_path / "csv", tables)
    again = rate_sheet(read_sheet((tmp_path / "csv" / "games.csv").read_bytes(), "games.csv"))
    for name in ("standings", "pairs", "seats"):
        columns = file_names(name)
        assert csv_text(getattr(again, name), columns) == csv_text(getattr(tables, name), columns)
    assert again.covariance.equals(tables.covariance)


def test_faults_are_counted_where_the_file_has_them():
    text = 'bot_0,bot_1,share_0,share_1,faults\na,b,0,1,"0:late"\nb,a,1,0,\na,b,1,0,1:exit;0:late\n'
    table = rate_sheet(sheet_of(text)).standings.set_index("bot")
    assert table.loc[["a", "b"], "forfeits"].tolist() == [2, 1]


@pytest.mark.parametrize("with_blocks", [True, False])
def test_the_order_of_the_rows_changes_no_digit(with_blocks):
    rows, head = mixed_rows(), HEAD
    if not with_blocks:
        rows, head = [row.partition(",")[2] for row in rows], HEAD.partition(",")[2]
    tables = []
    for seed in range(4):
        random.Random(seed).shuffle(rows)
        tables.append(rate_sheet(sheet_of(head + "\n".join(rows) + "\n")))
    for table in tables[1:]:
        for name in ("standings", "pairs", "seats"):
            exact = getattr(tables[0], name).drop(columns=["think_ms", "avg_left"], errors="ignore")
            pd.testing.assert_frame_equal(
                exact, getattr(table, name)[exact.columns], check_exact=True
            )
        assert table.covariance.equals(tables[0].covariance)


def test_without_blocks_every_row_stands_for_itself():
    rows = mixed_rows()
    plain = rate_sheet(
        sheet_of(HEAD.partition(",")[2] + "\n".join(row.partition(",")[2] for row in rows))
    )
    numbered = rate_sheet(
        sheet_of(
            HEAD + "\n".join(f"{number},{row.partition(',')[2]}" for number, row in enumerate(rows))
        )
    )
    assert np.allclose(plain.covariance, numbered.covariance, rtol=1e-12)
    assert (plain.unit, plain.clusters, plain.games) == ("game", 120, 120)
    assert "95 % error bars, each game on its own deal; 120 games" in standings_text(plain)
    assert plain.independent_games == pytest.approx(120)


def test_wins_shared_by_three_may_be_written_in_several_ways():
    for third in ("0.3333333333", ".333", "0.33", "1/3", " 1/3 "):
        sheet = sheet_of(
            f"bot_0,bot_1,bot_2,share_0,share_1,share_2\na,b,c,{third},{third},{third}\n"
        )
        assert sheet.ranks.tolist() == [[1, 1, 1]]


def test_names_that_look_like_missing_values_are_names():
    sheet = sheet_of("bot_0,bot_1,share_0,share_1\nNA,null,1,0\nnan,NA,1,0\n 7 ,7,1,0\n")
    assert named(sheet) == [["NA", "null"], ["nan", "NA"], ["7", "7"]]


def test_quotes_blank_lines_windows_ends_and_a_mark_of_byte_order_are_read(snapshot):
    text = (
        '\ufeffbot_0,bot_1,share_0,share_1\r\n"a, the first",b,1,0\r\n\r\n"a, the first",b,0,1\r\n'
    )
    assert named(sheet_of(text)) == snapshot


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            "x,a,b,,,1,1,,",
            (
                "line 4: expected shares of 1/m for each of m winners and 0 for the others, for"
                " example 1,0 or 0.5,0.5, got 1,1"
            ),
        ),
        ("x,a,b,,,0,0,,", "line 4: expected shares of 1/m"),
        (
            "x,a,b,,,0.7,0.3,,",
            (
                "line 4: expected shares of 1/m for each of m winners and 0 for the others, for"
                " example 1,0 or 0.5,0.5, got '0.7'"
            ),
        ),
        ("x,a,b,,,won,0,,", "got 'won' in share_0"),
        ("x,a,b,,,1,,,", "got '' in share_1"),
        ("x,a,b,,,0.5,0,0.5,", "line 4: expected no share where no bot sits, got '0.5' in share_2"),
        ("x,a,,,,1,0,,", "line 4: expected the names of two or more bots, without gaps, got a,,,"),
        (
            "x,a,b,,d,1,0,,0",
            "line 4: expected the names of two or more bots, without gaps, got a,b,,d",
        ),
        (",a,b,,,1,0,,", "line 4: expected a block, got an empty cell"),
        ("x,a,b,,,1,0,,,,", "line 4: expected 9 cells, got more"),
        ('x,"a\nb",c,,,1,1,,', "line 5: expected shares"),
    ],
)
def test_a_bad_row_is_named_with_what_was_expected_and_what_came(row, said):
    refused(
        f"{HEAD}x,a,b,,,1,0,,\n\n{row}\nx,b,a,,,1,0,,\n",
        f"games.csv, {said}" if said.startswith("line") else said,
    )


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ('d1,"a,b,,,1,0,,\n', 2),
        ('d1,a,b,,,1,0,,\n\nd2,"a\nA",b,,,1,0,,\nd3,"a,b,,,1,0,,\nd4,a,b,,,1,0,,\n', 6),
    ],
)
def test_a_quote_that_is_missing_is_named_with_its_line(rows, line):
    refused(f"{HEAD}{rows}", f"games.csv, line {line}: expected a quote at the end of a cell")


def test_a_quote_may_be_missing_in_the_header():
    refused('bot_0,bot_1,share_0,share_1,"x\na,b,1,0\n', "games.csv, line 1: expected a quote")


@pytest.mark.parametrize("cell", ["x" * 131_073, f'"{"x" * 131_073}', '"' + "x\n" * 70_000])
def test_a_cell_that_is_too_long_is_refused_with_its_line(cell):
    head = "bot_0,bot_1,share_0,share_1,comment"
    expected = "expected cells of at most 131,072 characters, got a longer one"
    refused(f'{head}\na,b,1,0,"1\n2"\na,b,1,0,{cell}\n', f"games.csv, line 4: {expected}")
    refused(f"{head},{cell}\na,b,1,0,\n", f"games.csv, line 1: {expected}")
    assert named(sheet_of(f"{head}\na,b,1,0,{'x' * 131_072}\n")) == [["a", "b"]]


@pytest.mark.parametrize("column", ["think_ms_1", "left_1"])
@pytest.mark.parametrize("number", ["1e308", "-1e308", "inf", "1e400", "9" * 400])
def test_a_number_that_cannot_be_summed_is_refused_with_its_line(column, number):
    rows = f"bot_0,bot_1,share_0,share_1,{column}\na,b,1,0,1e12\n\na,b,1,0,{{}}\n"
    sheet_of(rows.format("1e12")).counts()
    expected = f"expected a number from -1e+12 to 1e+12 in {column}, got '"
    refused(rows.format(number), f"games.csv, line 4: {expected}")


def test_ranks_must_go_with_the_shares():
    head = "bot_0,bot_1,share_0,share_1,rank_0,rank_1\n"
    refused(
        head + "a,b,1,0,2,1\n",
        "line 2: expected a rank from 1 to 4, 1 for the winners, got '2' in rank_0",
    )
    refused(head + "a,b,1,0,1,x\n", "got 'x' in rank_1")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: expected the column bot_0, got nothing"),
        ("bot_0,bot_1,share_0\n", "line 1: expected the column share_1, got bot_0,bot_1,share_0"),
        (
            "bot_0,bot_1,share_0,share_1,bot_0\n",
            "line 1: expected each column once, got bot_0 twice",
        ),
        (
            "bot_0,bot_1,share_0,share_1,bot_2\n",
            "line 1: expected bot_ and share_ for up to 4 seats, from 0",
        ),
        (
            "bot_0,bot_1,share_0,share_1,bot_3,share_3\n",
            "line 1: expected bot_ and share_ for up to 4 seats, from 0",
        ),
    ],
)
def test_a_header_that_does_not_do_is_refused(text, said):
    refused(text, said)


def wide_sheet(columns):
    """The text of a file with one game and this number of columns."""
    extra = columns - 4
    names = "".join(f",extra_{number}" for number in range(extra))
    return f"bot_0,bot_1,share_0,share_1{names}\na,b,1,0{',x' * extra}\n"


def test_a_file_has_at_most_a_thousand_columns():
    assert len(sheet_of(wide_sheet(1_000)).unused) == 996
    refused(wide_sheet(1_001), "line 1: expected at most 1,000 columns, got 1,001")
    refused(wide_sheet(30_000), "line 1: expected at most 1,000 columns, got 30,000")


def test_what_is_not_utf_8_is_refused_with_its_line(refused):
    with refused(UserError):
        read_sheet(b"bot_0,bot_1,share_0,share_1\n\xe4,b,1,0\n", "games.csv")


CELLS = st.sampled_from(["", "a", "b", "c", " "])
SHARES = st.sampled_from(
    ["", "0", "1", "0.5", "1/3", "0.25", "x", "2", "-0.5", "nan", "inf", "0.3333"]
)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", "d", "e"]),
            CELLS,
            CELLS,
            CELLS,
            CELLS,
            SHARES,
            SHARES,
            SHARES,
            SHARES,
        ),
        min_size=1,
        max_size=4,
    )
)
def test_a_file_is_refused_just_when_a_row_by_itself_is(rows):
    columns = HEAD.strip().split(",")
    text = HEAD + "".join(",".join(row) + "\n" for row in rows)
    said = ""
    for line, row in enumerate(rows, 2):
        try:
            game_of(dict(zip(columns, row, strict=True)), 4)
        except ValueError as error:
            said = said or f"line {line}: {error}"
    if said:
        refused(text, said)
    else:
        assert len(sheet_of(text).bots)


def test_uneven_blocks_are_counted_and_reported(snapshot):
    rows = [f"{deal},a,b,1,0\n{deal},b,a,1,0\n{deal},a,b,0,1\n{deal},b,a,0,1" for deal in range(12)]
    text = "block,bot_0,bot_1,share_0,share_1\n" + "\n".join(rows) + "\n"
    assert sheet_of(text).notes == []
    tables = rate_sheet(sheet_of(text + "x,a,b,1,0\ny,a,b,1,0\n"))
    assert tables.notes[0] == snapshot
    assert tables.games == 50


def test_columns_without_a_meaning_are_named():
    assert sheet_of("bot_0,bot_1,share_0,share_1,when,where\na,b,1,0,now,here\n").unused == [
        "when",
        "where",
    ]


def test_without_seats_the_first_move_is_worth_nothing():
    rows = ["a,b,1,0"] * 30 + ["a,b,0,1"] * 10 + ["b,a,1,0"] * 5 + ["b,a,0,1"] * 5
    text = "bot_0,bot_1,share_0,share_1\n" + "\n".join(rows)
    tables = rate_sheet(sheet_of(text), seats=False)
    assert tables.seats["elo"].isna().all()
    elo = tables.standings.set_index("bot")["elo"]
    assert elo["a"] - elo["b"] == pytest.approx(400 * np.log10(35 / 15), abs=1e-9)
    assert "sitting first" not in standings_text(tables)
    seated = rate_sheet(sheet_of(text)).standings.set_index("bot")["elo"]
    assert seated["a"] - seated["b"] < elo["a"] - elo["b"]


def test_a_seat_that_won_everything_needs_no_prior_without_seats():
    text = "bot_0,bot_1,share_0,share_1\n" + "a,b,1,0\nb,a,1,0\n" * 20
    assert rate_sheet(sheet_of(text), 0.0, seats=False).standings["elo"].tolist() == pytest.approx(
        [0, 0]
    )


@pytest.mark.parametrize("body", ["", "a,a,1,0\na,a,0,1\n"])
def test_no_games_and_self_play_have_an_answer(body):
    tables = rate_sheet(sheet_of("bot_0,bot_1,share_0,share_1\n" + body))
    assert tables.independent_games is None
    assert tables.standings["elo"].isna().all()
    assert len(tables.standings) == bool(body)
    assert tables.covariance.empty
    assert standings_text(tables)


def test_pagodas_left_may_be_a_fraction_and_a_value_may_be_missing():
    """As in a file with means of several games: only a time is rounded, to whole nanoseconds."""
    data = (
        b"bot_0,bot_1,share_0,share_1,left_0,left_1,think_ms_0,think_ms_1\n"
        b"a,b,1,0,3.5,7,10.0004,20\na,b,0,1,1.25,,,5\n"
    )
    totals = read_sheet(data, "games.csv").counts().totals
    assert totals["left"].tolist() == [4.75, 7]
    assert totals["left_games"].tolist() == [2, 1]
    assert totals["think_ns"].tolist() == [10_000_400, 25_000_000]
    assert totals["think_games"].tolist() == [1, 2]
