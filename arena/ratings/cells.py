"""The text cells of CSV files, made safe for spreadsheets.

Names may come from strangers, and a spreadsheet that opens a table would run a bot's name such as
``=HYPERLINK(...)``. `cell_of` puts an apostrophe before such a text, as a person would type it to
have it shown as text; `text_of` removes that apostrophe.
"""

import re

FORMULA = re.compile(r"'*[=+\-@\t\r]")
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


def cell_of(text: str) -> str:
    """``text`` as a cell of a CSV file that spreadsheets show instead of computing it. A text that
    begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return, also after apostrophes, gets
    an apostrophe in front. Plain decimal numbers such as ``-12.5`` do not; others such as ``+1e3``
    do.
    """
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def text_of(cell: str) -> str:
    """The text from which `cell_of` made ``cell``: without the apostrophe, if it has one from
    `cell_of`.
    """
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell
