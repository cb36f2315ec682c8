"""What an outsider learns who joins tables about the same records.

A table is the class of every record in it: labels 0, 1, 2, ..., the records in the same order in all
tables. Sensitive columns are labels, too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

CHUNK = 5_000_000
"""Most pairs of a class and a sensitive value that are looked at together."""


def join_classes(tables: Sequence[NDArray[np.integer]]) -> NDArray[np.int64]:
    """Join tables record by record, as a shared number or order would: records alike in all of them.

    Examples
    --------
    >>> join_classes([np.array([0, 0, 0, 1]), np.array([0, 1, 1, 1])])
    array([0, 1, 1, 2])
    """
    joined = np.zeros(len(tables[0]), np.int64)
    for labels in tables:
        _, joined = np.unique(joined * (int(labels.max()) + 1) + labels, return_inverse=True)
    return joined.astype(np.int64)


def alone(tables: Sequence[NDArray[np.integer]]) -> int:
    """Number of records that are like no other in all tables together."""
    return int((np.bincount(join_classes(tables)) == 1).sum())


def values_left(tables: Sequence[NDArray[np.integer]], sensitive: Sequence[NDArray[np.integer]]) -> NDArray[np.int64]:
    """Number of sensitive values that each record may have, for somebody who knows its class in every table.

    Each class shows the combinations of sensitive values of its members. The record has one that
    is shown by all of its classes; what is counted is their different values in each column.

    Returns
    -------
    int64[n, sensitive columns]

    Examples
    --------
    >>> age, sex = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> illness = np.array([7, 8, 8, 9])
    >>> values_left([age, sex], [illness]).ravel()
    array([2, 1, 1, 2])
    """
    joined = join_classes(tables)
    _, some = np.unique(joined, return_index=True)
    finest = sorted(tables, key=lambda labels: -int(labels.max()))
    columns = [str(index) for index in range(len(finest))]
    classes = pl.DataFrame({name: labels[some] for name, labels in zip(columns, finest, strict=True)}).with_row_index()
    values = join_classes(sensitive)
    shown = [
        pl.DataFrame({name: labels, "value": values}).unique() for name, labels in zip(columns, finest, strict=True)
    ]
    most = int(np.bincount(shown[0][columns[0]].to_numpy()).max())
    _, example = np.unique(values, return_index=True)
    left = np.empty((len(some), len(sensitive)), np.int64)
    for part in classes.iter_slices(max(1, CHUNK // most)):
        found = part.join(shown[0], on=columns[0])
        for name, pairs in zip(columns[1:], shown[1:], strict=True):
            found = found.join(pairs, on=[name, "value"], how="semi")
        which = example[found["value"].to_numpy()]
        counts = (
            found.select("index", *(pl.Series(f"of {c}", column[which]) for c, column in enumerate(sensitive)))
            .group_by("index")
            .agg(pl.col(f"of {c}").n_unique() for c in range(len(sensitive)))
        )
        left[counts["index"].to_numpy()] = counts.drop("index").to_numpy()
    return left[joined]
