"""The standings at a glance: intervals drawn in characters, in the width there is."""

import numpy as np
import pytest

from arena.exports.grid import ASCII, Pen
from arena.exports.text import MIN_DRAWING, overview_lines, overview_text
from arena.ratings.tables import make_tables
from tests.ratings.synthetic import counts_of, duel
from tests.support.frames import with_standings

GAMES = duel(60, 20) + duel(50, 30, names=("b", "c"))


def tables_with(**columns):
    """A table of three bots with these columns in place of those computed."""
    tables = make_tables(counts_of(GAMES))
    return with_standings(tables, tables.standings.assign(**columns))


def drawn(tables, width=80, pen=ASCII):
    """The lines of the table below its head, and the head."""
    head, *lines = overview_lines(tables, width, pen)
    return head, lines


EXAMPLE = tables_with(
    elo=[100.0, 0.0, -100.0], elo_low=[50.0, -20.0, -200.0], elo_high=[150.0, 20.0, 0.0]
)


def test_a_bar_begins_ends_and_has_its_dot_where_the_axis_says():
    assert overview_lines(EXAMPLE, 67, Pen()) == [
        "Rank  Bot   Elo  -200    -100       0        100      Share%  Games",
        "1     a     100                     ┊    ├────●────┤    75.0    160",
        "2     b       0                   ├─●─┤                 43.8    320",
        "3     c    -100  ├─────────●────────┤                   37.5    160",
    ]


def test_without_unicode_the_same_is_drawn_in_ascii():
    text = overview_text(EXAMPLE, 67, ASCII)
    assert text.isascii()
    assert "|----o----|" in text


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_a_table_is_never_wider_than_the_terminal(width):
    assert max(map(len, overview_lines(EXAMPLE, width, Pen()))) <= width


def test_without_room_for_a_drawing_there_is_none():
    narrow = overview_lines(EXAMPLE, 27 + MIN_DRAWING, ASCII)
    assert narrow[0].split() == ["Rank", "Bot", "Elo", "Share%", "Games"]


def test_a_bound_is_an_arrow_to_the_open_side():
    tables = tables_with(
        mark=[">", "", "<"],
        elo=[60.0, 0.0, -60.0],
        elo_low=[60.0, -100.0, np.nan],
        elo_high=[np.nan, 100.0, -60.0],
    )
    _, lines = drawn(tables)
    assert lines[0].split()[2:-2] == [">", "60", ":", "|-------->"]
    assert lines[2].split()[2:-2] == ["<", "-60", "<--------|", ":"]


def test_a_bound_far_out_leaves_the_room_to_the_others():
    tables = tables_with(
        mark=["", "", "<"],
        elo=[20.0, -20.0, -3000.0],
        elo_low=[0.0, -40.0, np.nan],
        elo_high=[40.0, 0.0, -3000.0],
    )
    head, lines = drawn(tables)
    assert "-40" in head
    assert "000" not in head
    assert lines[2].split()[2:5] == ["<", "-3000", "<"]


def test_an_outlier_does_not_make_dots_of_the_others():
    tables = tables_with(
        elo=[120.0, 80.0, -900.0], elo_low=[100.0, 60.0, -1000.0], elo_high=[140.0, 100.0, -800.0]
    )
    head, lines = drawn(tables)
    assert "100" in head
    assert "-900" not in head
    assert lines[2].split()[2:4] == ["-900", "<"]
    assert all(line.count("-") > 6 for line in lines[:2]), "bars and not dots"


def test_a_newcomer_with_a_wide_bar_reaches_beyond_the_drawing():
    tables = tables_with(
        elo=[274.0, 20.0, -20.0], elo_low=[-354.0, 0.0, -40.0], elo_high=[902.0, 40.0, 0.0]
    )
    _, lines = drawn(tables)
    bar = lines[0].split()[3]
    assert (bar[0], bar[-1]) == ("<", ">")
    assert "o" not in bar, "its dot is beyond the drawing"


def test_ranks_have_their_range_and_faults_are_shown_if_there_are_any():
    tables = tables_with(rank_low=[1, 1, 3], rank_high=[2, 2, 3])
    head, lines = drawn(tables)
    assert [line[:7].strip() for line in lines] == ["1 (1-2)", "2 (1-2)", "3"]
    assert "Faults" not in head
    head, lines = drawn(tables_with(forfeits=[0, 4, 0]))
    assert head.split()[-1] == "Faults"
    assert [line.split()[-1] for line in lines] == ["0", "4", "0"]


def test_marks_of_bounds_are_explained_below():
    below = overview_text(tables_with(mark=["", "", "<"])).split("\n\n")[1]
    assert "\n< stands for below, with 95 % confidence" in below
    below = overview_text(tables_with(mark=[">", "", "<"])).split("\n\n")[1]
    assert "\n< stands for below and > for above, with 95 % confidence" in below
    assert "stands for" not in overview_text(EXAMPLE)


def test_a_bot_without_error_bar_has_no_bar():
    unknown = tables_with(elo_low=[np.nan, -20.0, -200.0], elo_high=[np.nan, 20.0, 0.0])
    _, lines = drawn(unknown)
    assert set(lines[0].split()[3:-2]) <= {":"}
    assert len(lines[0]) == len(lines[1])
    nothing = drawn(tables_with(elo=np.nan, elo_low=np.nan, elo_high=np.nan))[1]
    assert all(line.split()[2] == "-" for line in nothing)


@pytest.mark.parametrize("middle", [0, 1500])
def test_bounds_alone_are_drawn_around_the_bot_that_is_held(middle):
    won = [("a", "b"), ("b", "c"), ("a", "c")]
    games = [game for names in won for game in duel(20, 0, names=names)]
    _, lines = drawn(make_tables(counts_of(games), anchors={"b": middle} if middle else None))
    upward, held, downward = lines
    assert downward.rindex("<") < downward.index("|") < held.index("o")
    assert held.index("o") < upward.index("|") < upward.rindex(">")


def test_an_anchored_table_is_drawn_around_its_anchor():
    held = make_tables(counts_of(GAMES), anchors={"b": 1500})
    head, lines = drawn(held)
    assert " 1500 " in head
    assert not any(":" in line for line in lines)


def test_colours_change_no_character():
    plain = overview_lines(EXAMPLE, 80, Pen())
    painted = overview_lines(EXAMPLE, 80, Pen(paint=lambda text, what: f"\x1b[{what}m{text}\x1b[m"))
    assert plain != painted
    for kind in ("head", "bar", "zero"):
        painted = [line.replace(f"\x1b[{kind}m", "") for line in painted]
    assert [line.replace("\x1b[m", "") for line in painted] == plain
