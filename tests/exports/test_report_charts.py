"""Scales, numbers and pictures."""

import math
import re
from itertools import pairwise

import pytest

from arena.exports.grid import abridged, counted, figure, milliseconds, signed
from arena.exports.report.charts import (
    EDGE,
    ROW_WIDTH,
    axis,
    bars,
    element,
    interval,
    linear,
    logarithmic,
    spread,
)

NAN = math.nan


@pytest.mark.parametrize(
    "values", [[0, 1], [-1234, 5678], [0.001, 0.002], [7, 7], [], [NAN, 3], [-1e6, 1e6], [99, 101]]
)
def test_a_scale_holds_its_values_between_round_ends(values):
    scale = linear(values, 10, 210)
    known = [value for value in values if math.isfinite(value)]
    assert all(scale.low <= value <= scale.high for value in known)
    assert (scale.ticks[0], scale.ticks[-1]) == pytest.approx((scale.low, scale.high))
    assert 2 <= len(scale.ticks) <= 7
    assert (scale(scale.low), scale(scale.high)) == (10, 210)
    assert scale(scale.high + 1) == 210


def test_a_scale_by_powers_has_tens_as_ticks():
    scale = logarithmic([0.3, 70, NAN, 0], 0, 300)
    assert scale.ticks == pytest.approx((0.1, 1, 10, 100))
    assert scale(10) == pytest.approx(200)


@pytest.mark.parametrize("values", [[-1000, 1000], [-123456, 99], [0, 7], [0.1, 0.9]])
def test_the_figures_of_an_axis_keep_apart_and_inside(values):
    drawn = str(axis(linear(values, 8, ROW_WIDTH - 8), "Elo"))
    places = [
        (float(x), text) for x, text in re.findall(r'x="([\d.]+)" y="12"[^>]*>([^<]+)<', drawn)
    ]
    ends = [(x - len(text) * 3.2, x + len(text) * 3.2) for x, text in places]
    assert ends[0][0] >= 0
    assert ends[-1][1] <= ROW_WIDTH
    assert all(one[1] < other[0] for one, other in pairwise(ends))


def test_names_and_labels_are_escaped():
    assert (
        element("text", "<a>&", x=1, aria_label='"><b>')
        == '<text x="1" aria-label="&#34;&gt;&lt;b&gt;">&lt;a&gt;&amp;</text>'
    )
    assert element("g", element("path", d="M0 0")) == '<g><path d="M0 0"/></g>'


def test_what_is_not_known_is_not_drawn():
    scale = linear([0, 100], 8, 200)
    nothing = interval(scale, NAN, NAN, NAN, "none")
    assert "range" not in nothing
    assert 'class="dot"' not in nothing
    assert "range" not in interval(scale, NAN, 50, NAN, "no interval")
    assert "nan" not in spread(scale, (1, 2, 3), 9, "spread") + bars(scale, [0], "nothing")


def test_a_bound_is_an_arrow_to_its_open_side_without_a_dot():
    scale = linear([0, 100], 20, 200)
    up, down = interval(scale, 60, 60, NAN, "above 60"), interval(scale, NAN, 40, 40, "below 40")
    assert "circle" not in up + down
    assert f"L{200 + EDGE - 1} " in up
    assert f"L{20 - EDGE + 1} " in down
    beyond = interval(scale, NAN, -500, -500, "below -500")
    assert f"L{20 - EDGE + 1} " in beyond


def test_an_open_dot_says_that_nothing_is_known():
    scale = linear([0, 100], 8, 200)
    assert "open-dot" in interval(scale, NAN, NAN, NAN, "nobody knows yet")
    assert "open-dot" not in interval(scale, 20, 50, 80, "from 20 to 80")
    assert "open-dot" not in interval(scale, 60, 60, NAN, "above 60")


def test_an_interval_beyond_the_scale_is_an_arrow_at_its_edge():
    scale = linear([0, 100], 20, 200)
    beyond = interval(scale, -900, -800, -700, "from -900 to -700")
    assert "circle" not in beyond
    assert f"L{20 - EDGE + 1} " in beyond
    assert f"L{200 + EDGE - 1} " in interval(scale, 700, 800, 900, "from 700 to 900")


def test_numbers_in_words():
    assert [figure(value, 1) for value in (1234.56, -3, NAN)] == [
        "1,234.6",
        "\N{MINUS SIGN}3.0",
        "-",
    ]
    assert [signed(value) for value in (5, -5, 0)] == ["+5", "\N{MINUS SIGN}5", "0"]
    assert [milliseconds(value) for value in (0.34, 12.3, 1500, 90_000, NAN)] == [
        "0.3 ms",
        "12 ms",
        "1.5 s",
        "1.5 min",
        "-",
    ]
    assert [counted(count, "game") for count in (1, 1200)] == ["1 game", "1,200 games"]
    assert abridged("a" * 10 + "b" * 10, 9) == "aaaaaa … 11 characters left out … bbb"
