"""The chart of how ratings settled."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from arena.exports.report.charts import CHOSEN, courses_of

COLUMNS = ["deals", "bot", "elo", "elo_low", "elo_high"]


def material(bots, deals=(2, 10, 100), **others):
    """Bots that are rated the same after every number of deals."""
    rows = [
        (count, bot, elo, elo - 200 / count, elo + 200 / count)
        for count in deals
        for bot, elo in (bots | others).items()
    ]
    return SimpleNamespace(bots=[*bots, *others], convergence=pd.DataFrame(rows, columns=COLUMNS))


def courses_for(given):
    return courses_of(given.convergence, given.bots)


def height_of(courses, at):
    """Where a bot's line ends, in pixels from the top."""
    line = re.search(rf'<g class="course[^"]*" data-at="{at}">.*?class="line"', courses.plot)[0]
    return float(line.rpartition(" ")[0].rpartition(" ")[2].rstrip('"'))


FIELD = {f"bot-{at}": 100.0 - 10 * at for at in range(23)}


def test_all_bots_are_drawn_and_the_best_stand_out():
    courses = courses_for(material(FIELD))
    assert courses.plot.count('class="line"') == 23
    assert [is_chosen for _, _, is_chosen in courses.bots] == [True] * CHOSEN + [False] * 18
    assert courses.bots[0] == ("bot-0", "100 ± 2", True)
    heights = [height_of(courses, at) for at in range(23)]
    assert heights == sorted(heights)


def test_a_bot_far_from_all_others_does_not_make_them_a_line():
    courses = courses_for(material(FIELD, random=-3000.0))
    assert height_of(courses, 22) - height_of(courses, 0) > 200
    assert height_of(courses, 23) == pytest.approx(328)  # at the edge


def test_what_has_no_error_bar_is_drawn_without_one():
    given = material({"a": 10.0, "b": -10.0})
    given.convergence.loc[:, ["elo_low", "elo_high"]] = np.nan
    courses = courses_for(given)
    assert "nan" not in courses.plot
    assert [rating for _, rating, _ in courses.bots] == ["10", "−10"]  # noqa: RUF001


def test_a_single_look_shows_nothing():
    assert courses_for(material(FIELD, deals=(2,))).bots == []
