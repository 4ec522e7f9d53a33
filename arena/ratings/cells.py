"""The text cells of CSV files, made safe for spreadsheets.

Names may come from strangers, and a spreadsheet that opens a table would run a bot's name such as
``=HYPERLINK(...)``. `cell_of` puts an apostrophe before such a text, as a person would type it to
have it shown as text; `text_of` removes that apostrophe.
"""

import re

FORMULA = re.compile(r"'*[=+\-@\t\r]")
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


def cell_of(text: str) -> str:
    """``text`` as a cell of a CSV file that spreadsheets show instead of computing it: a text that
    looks like a formula gets an apostrophe. Numbers are not changed.
    """
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def text_of(cell: str) -> str:
    """The text from which `cell_of` made ``cell``."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell
