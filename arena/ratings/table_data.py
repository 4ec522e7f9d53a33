"""The content of one table, column by column, without pandas. A command that prints a small table
would wait longer for pandas to load than for everything else.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd


class TableData:
    """The ``columns`` of a table by name: arrays of equal length, of int64, float64, or objects for
    texts. Treat them as read-only: `frame` may already have been made of them.
    """

    def __init__(self, columns: Mapping[str, NDArray[Any]]) -> None:
        self.columns = dict(columns)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[name]

    def rows(self) -> list[dict[str, Any]]:
        """The rows, each with its values by the names of the columns."""
        lists = [column.tolist() for column in self.columns.values()]
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*lists, strict=True)]

    def where(self, kept: NDArray[np.bool_]) -> "TableData":
        """A table with the rows for which ``kept``, which has an entry per row, is True."""
        return TableData({name: column[kept] for name, column in self.columns.items()})

    def replaced(self, **columns: NDArray[Any]) -> "TableData":
        """A copy with these ``columns`` in place of its own, or after them."""
        return TableData({**self.columns, **columns})

    def summed(self, *keys: str) -> "TableData":
        """A table with a row for each combination of values that occurs in the columns ``keys``,
        which hold whole numbers from 0; sorted by ``keys``. The other columns are sums over the
        rows with this combination.
        """
        shape = tuple(int(self.columns[key].max(initial=0)) + 1 for key in keys)
        places = np.ravel_multi_index([self.columns[key] for key in keys], shape)
        held, number = np.unique(places, return_inverse=True)
        summed = dict(zip(keys, np.unravel_index(held, shape), strict=True))
        for name, column in self.columns.items():
            if name not in keys:
                sums = np.bincount(number, column, len(held))
                summed[name] = sums.astype(column.dtype)
        return TableData(summed)

    @cached_property
    def frame(self) -> "pd.DataFrame":
        """The table as a pandas data frame."""
        import pandas as pd  # noqa: PLC0415 - see the top of this module

        # pandas finds out that a list is of texts
        columns = {}
        for name, column in self.columns.items():
            is_text = column.dtype == np.object_
            columns[name] = column.tolist() if is_text else column
        return pd.DataFrame(columns)
