"""Text measured and cut in the columns of a terminal."""

import pytest

from arena.exports import grid
from arena.exports.grid import cut_names, padded, shortened, width_of


@pytest.mark.parametrize(
    ("text", "width"),
    [("abc", 3), ("", 0), ("龍", 2), ("é", 1), ("e\u0301", 1), ("ｱ", 1), ("🐉", 2)],
)
def test_a_sign_takes_as_many_columns_as_a_terminal_gives_it(text, width):
    assert width_of(text) == width


def test_blanks_are_counted_in_columns():
    assert padded("龍", 4) == "龍  "
    assert padded("龍", 4, is_left=False) == "  龍"


@pytest.mark.parametrize("width", range(1, 12))
@pytest.mark.parametrize("text", ["abcdefghij", "龍虎龍虎龍虎", "aé龍e\u0301🐉bcd"])
def test_a_text_that_is_cut_is_never_too_wide(text, width):
    assert width_of(shortened(text, width)) <= max(width, 1)


def test_the_middle_is_left_out():
    assert shortened("abcdefghij", 7) == "abc…hij"
    assert shortened("abcdefghij", 7, "..") == "ab..hij"
    assert shortened("abc", 7) == "abc"


def test_names_are_cut_only_as_far_as_they_can_be_told_apart():
    names = [f"my-bot:depth={depth},move_ms=50" for depth in (5, 6)]
    cut = cut_names(names, 14)
    assert len(set(cut)) == 2
    assert max(map(width_of, cut)) <= 16
    long = [f"my-long-bot-name-{number},move_ms=50" for number in (10, 11)]
    assert cut_names(long, 8) == ["…0,move…", "…1,move…"]
    assert cut_names(["x" * 30, "x" * 30], 9) == ["xxxx…xxxx"] * 2
    assert cut_names(["a", "b"], 9) == ["a", "b"]
    assert cut_names([], 9) == []


@pytest.mark.parametrize("width", [None, 30])
def test_the_cost_of_a_table_grows_with_its_cells(monkeypatch, width):
    """How often a text is measured, per row: as often in a long table as in a short one."""
    measured = []

    def counting(text):
        measured.append(text)
        return width_of(text)

    monkeypatch.setattr(grid, "width_of", counting)

    def measured_a_row(rows):
        measured.clear()
        names = [f"a-bot-with-a-long-name-{number % 10}" for number in range(rows)]
        table = list(zip(names, reversed(names), map(str, range(rows)), strict=True))
        grid.columns_text(("Bot", "Opponent", "Games"), table, width=width, names=("Bot",))
        return len(measured) / rows

    assert measured_a_row(1000) <= 1.2 * measured_a_row(100)
