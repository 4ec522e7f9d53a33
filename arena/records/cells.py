"""Texts in cells of CSV files, which a spreadsheet must not take for formulas.

Names and texts may come from strangers: ``=HYPERLINK(...)`` as a bot's name would be run by the
spreadsheet that opens a table. Such a text gets an apostrophe in front, as a person would type it
to have it shown; what reads our files takes that off again.
"""

import re

FORMULA = re.compile(r"'*[=+\-@\t\r]")
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


def cell_of(text: str) -> str:
    """The text as a cell that is shown and not computed. A number is left alone."""
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def text_of(cell: str) -> str:
    """What `cell_of` was given."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell
