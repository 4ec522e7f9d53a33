"""The file formats in which `arena export` writes tables. The code that writes them is in
arena/exports/files.py.

This module imports no pandas, so that the command line can list the formats without loading it.
"""

from typing import Literal, get_args

Format = Literal["csv", "parquet"]
"""The formats by the ending of their files. None can be called jsonl: ``games.jsonl`` is the
journal of a run, and tables may be exported into the folder of the run.
"""
FORMATS: tuple[Format, ...] = get_args(Format)
DEFAULT: Format = "csv"
