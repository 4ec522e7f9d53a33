"""Tables in tests, changed as data frames and put back."""

import numpy as np

from arena.ratings.table_data import TableData


def data_of(frame):
    """The content of a data frame as the tables hold it."""
    return TableData(
        {
            name: frame[name].to_numpy()
            if frame[name].dtype.kind in "if"
            else np.array(frame[name].tolist(), dtype=object)
            for name in frame
        }
    )


def with_standings(tables, frame):
    """The tables with this data frame as their standings."""
    return tables._replace(data={**tables.data, "standings": data_of(frame)})
