"""The description of one column of a table, and what can be done with such descriptions. The tables
themselves are described in `columns`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

BOUNDS = ("<", ">")
"""The values of the column ``mark`` that stand for a bound: the rating is below (``<``) or above
(``>``) the figure in ``elo``.
"""


class Column(NamedTuple):
    """The description of one column of a table; ``name`` is the column's name in data frames, files
    and JSON.

    ``head``      the heading for people; an empty one hides the column from them. If it ends in
                  ``%``, figures are shown times 100
    ``meaning``   what the figure says, for readers of the files
    ``source``    what the figure is computed from, for readers of the files
    ``decimals``  digits after the point in files and JSON; None for texts and whole numbers
    ``shown``     digits after the point in tables for people; None for texts and whole numbers
    ``of``        computes the column from a row; such a column is shown to people only, and is
                  missing in files and data frames
    ``mark``      the name of the column whose text says what kind of figure this is; see `written`
    ``file``      the group of the column in the CSV file, counted from the left; 0 leaves the
                  column out. Within a group, and in data frames and JSON, columns keep the order of
                  their list. Readers of our files rely on their order, so a new column gets a
                  higher ``file`` than the others
    ``text``      the group of the column on the terminal, like ``file``
    ``page``      the group of the column in the report, like ``file``
    ``brief``     the group of the column in the short standings: 1 is left of the drawing, higher
                  groups are right of it; 0 leaves it out. Ratings are whole numbers there
    ``style``     ``name``: heads a row; ``text``: a text that is never cut; ``strong``: stands
                  out; ``warn``: stands out unless it is 0; ``term``: the heading is explained by
                  the meaning
    ``page_head`` the heading in the report; empty: the same as ``head``
    ``spare``     narrow terminals leave out the column with 1 first, then the one with 2, and so
                  on; a column with 0 is never left out
    """

    name: str
    head: str = ""
    shown: int | None = None
    decimals: int | None = None
    meaning: str = ""
    source: str = ""
    of: Callable[[Mapping[str, Any]], Any] | None = None
    mark: str = ""
    file: int = 1
    text: int = 1
    page: int = 1
    brief: int = 0
    style: str = ""
    page_head: str = ""
    spare: int = 0

    def value(self, row: Mapping[str, Any]) -> Any:
        """The figure or text that people see for ``row``, a row of the data frame, before it is
        rounded. In a column of percentages it is the fraction times 100.
        """
        value = self.of(row) if self.of else row[self.name]
        return value * 100 if self.is_percent else value

    def written(self, row: Mapping[str, Any], number: Callable[[float, int], str]) -> str:
        """The figure of ``row`` as people see it: a bound as ``< -1285``, ``? 14`` if few deals
        support the figure, and ``~14`` if only a prior gives it. ``number(value, decimals)``
        formats a number, and says what a missing one (NaN) looks like.
        """
        value = self.value(row)
        mark = row[self.mark] if self.mark else ""
        if value != value:  # noqa: PLR0124 - NaN
            return number(value, 0)
        if mark in BOUNDS:
            # A bound is uncertain by whole Elo, so decimals would claim too much.
            return f"{mark} {number(value, 0)}"
        return {"~": "~", "?": "? "}.get(mark, "") + number(value, self.shown or 0)

    @property
    def is_percent(self) -> bool:
        """Whether the figure is shown to people as a percentage."""
        return self.shown is not None and self.head.endswith("%")


def half_width(row: Any) -> Any:
    """Half the width of the 95 % interval of the rating in ``row``, in Elo; NaN if the interval is
    open.
    """
    return (row["elo_high"] - row["elo_low"]) / 2


def ranks_text(row: Any) -> str:
    """The range of ranks that the bot in ``row`` may really have, from the best to the worst, such
    as ``1-2``; ``5`` if it is a single rank.
    """
    return "-".join(map(str, sorted({row["rank_low"], row["rank_high"]})))


def rank_and_range(row: Any) -> str:
    """The rank of the bot in ``row``, with the range of ranks that it may really have if that is
    not the rank alone, such as ``1 (1-2)``.
    """
    ranks = ranks_text(row)
    return ranks if ranks == str(row["rank"]) else f"{row['rank']} ({ranks})"


def placed(columns: Sequence[Column], view: str) -> list[Column]:
    """The ``columns`` that a ``view`` (``file``, ``text``, ``page`` or ``brief``) shows, in their
    order from the left.
    """
    here = [column for column in columns if (not column.of if view == "file" else column.head)]
    return sorted(
        filter(lambda column: getattr(column, view), here), key=lambda column: getattr(column, view)
    )


def column_named(name: str, columns: Sequence[Column]) -> Column:
    """The one of the ``columns`` of a table that has this name."""
    return next(column for column in columns if column.name == name)


def in_whole_elo(column: Column) -> Column:
    """The column, without decimals if it is the rating or its error: games never determine tenths
    of an Elo.
    """
    return column._replace(shown=0) if column.name in {"elo", "error"} else column


def frame_names(columns: Sequence[Column]) -> list[str]:
    """The names of those ``columns`` that data frames and JSON have."""
    return [column.name for column in columns if not column.of]
