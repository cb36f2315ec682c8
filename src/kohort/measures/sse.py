"""SSE / SST: the share of the variance that lies within classes, by which microaggregation is judged."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kohort.codes.encode import Codes, LineAxis, as_numbers


def within_share(codes: Codes, labels: NDArray[np.integer]) -> float | None:
    """Sum of squared distances to the mean of the class, over that to the mean of all; on z-scored columns.

    None where a quasi-identifier has categories or missing values. A column that is constant counts nothing.

    Parameters
    ----------
    codes : Codes
        The quasi-identifiers of the records.
    labels : int[n]
        The class of each record, 0, 1, 2, ...

    Examples
    --------
    >>> import kohort, polars as pl
    >>> from kohort.codes.encode import encode
    >>> policy = kohort.Policy.build(k=2, quasi_identifiers=["age"])
    >>> codes = encode(pl.DataFrame({"age": [30, 32, 60, 62]}), policy)
    >>> round(within_share(codes, np.array([0, 0, 1, 1])), 6)  # 4 of 904
    0.004425
    """
    sizes = np.bincount(labels)
    within, columns = 0.0, 0
    for j, axis in enumerate(codes.axes):
        if not isinstance(axis, LineAxis) or axis.has_missing:
            return None
        values = as_numbers(axis.values)[codes.array[:, j]]
        values = values - values.mean()
        total = float((values**2).sum())
        if total > 0:
            means = np.bincount(labels, values) / np.maximum(sizes, 1)
            within += float(((values - means[labels]) ** 2).sum()) / total
            columns += 1
    return within / columns if columns else 0.0
