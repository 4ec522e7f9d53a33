"""Rows and columns as lines of text that fit a terminal."""

from collections.abc import Sequence
from typing import NamedTuple

from arena.errors import printable
from arena.exports.width import padded, told_apart, width_of

GAP = "  "
LONG_NAME, SHORT_NAME = 24, 6
"""Names are cut to the first before a column is left out, and to the second when none is left."""


class Strip(NamedTuple):
    """A column of text: its head and cells. Texts stand on the left, figures on the right; names
    may be cut in the middle. A narrow terminal does without the columns with a ``spare``, the one
    with 1 first.
    """

    cells: Sequence[str]
    is_text: bool = False
    is_name: bool = False
    spare: int = 0

    @property
    def width(self) -> int:
        """The width of its widest cell."""
        return max(map(width_of, self.cells))

    def lines(self) -> list[str]:
        """Its cells, all as wide as the widest."""
        return [padded(cell, self.width, is_left=self.is_text) for cell in self.cells]

    def cut(self, width: int) -> "Strip":
        """With the names cut to this width, as long as they can be told apart."""
        head, *names = self.cells
        return self._replace(cells=[head, *told_apart(names, width)]) if self.is_name else self


def grid_text(fields: Sequence[Strip], width: int | None = None) -> str:
    """The columns beside each other, at most ``width`` wide if that can be done."""
    if width is not None:
        fields = _narrowed(fields, width)
    rows = zip(*(field.lines() for field in fields), strict=True)
    return "\n".join(GAP.join(row).rstrip() for row in rows)


def columns_text(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    left: Sequence[str] = (),
    width: int | None = None,
    *,
    names: Sequence[str] = (),
    spare: Sequence[str] = (),
) -> str:
    """Rows under column heads, right-aligned except for the heads named in ``left`` and in
    ``names``, which a narrow terminal cuts; it leaves out those in ``spare``, the first one first.
    """
    fields = [
        Strip(
            [head, *(printable(row[at]) for row in rows)],
            head in left or head in names,
            head in names,
            spare.index(head) + 1 if head in spare else 0,
        )
        for at, head in enumerate(heads)
    ]
    return grid_text(fields, width)


def _narrowed(fields: Sequence[Strip], width: int) -> list[Strip]:
    """The columns that fit, with the names as long as they can be."""
    kept = _cut(fields, width, LONG_NAME)
    for field in sorted((field for field in fields if field.spare), key=lambda field: field.spare):
        if _width(kept) <= width:
            break
        fields = [other for other in fields if other is not field]
        kept = _cut(fields, width, LONG_NAME)
    return kept if _width(kept) <= width else _cut(fields, width, SHORT_NAME)


def _cut(fields: Sequence[Strip], width: int, least: int) -> list[Strip]:
    """The names cut alike, as much as it takes and not below ``least``."""
    names = sorted(field.width for field in fields if field.is_name)
    room = width - _width(fields) + sum(names)
    for at, own in enumerate(names):
        share = room // (len(names) - at)
        if own > share:
            return [field.cut(max(share, least)) for field in fields]
        room -= own
    return list(fields)


def _width(fields: Sequence[Strip]) -> int:
    return sum(field.width for field in fields) + len(GAP) * (len(fields) - 1)
