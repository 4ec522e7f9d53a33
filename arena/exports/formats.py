"""The file formats in which `arena export` writes tables. The code that writes them is in
arena/exports/files.py.

This module imports no pandas, so that the command line can list the formats without loading it.
"""

from typing import Literal, get_args

Format = Literal["csv", "parquet"]
FORMATS: tuple[Format, ...] = get_args(Format)
DEFAULT: Format = "csv"
