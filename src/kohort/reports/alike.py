"""Rows that are alike in some columns: how often each combination of values is there, and what that distinguishes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

Numbers = Mapping[str, NDArray[np.int32]]
"""For each column a number for each row, 0, 1, 2, ...; equal for equal values."""


def numbers_of(frame: pl.DataFrame) -> Numbers:
    """Number the values of every column; missing ones are one value."""
    return {name: frame[name].rank("dense").fill_null(0).to_numpy().astype(np.int32) for name in frame.columns}


def sizes_of(numbers: Numbers) -> dict[str, int]:
    """What the numbers of each column are below."""
    return {name: int(one.max(initial=-1)) + 1 for name, one in numbers.items()}


def counts_of(numbers: Numbers, sizes: Mapping[str, int], columns: Sequence[str]) -> NDArray[np.int64]:
    """How often each combination of values of some columns is there.

    Parameters
    ----------
    sizes : mapping
        See `sizes_of`.
    """
    rows = len(numbers[columns[0]])
    key, room = np.zeros(rows, np.int64), 1
    for name in columns:
        if room * sizes[name] >= 2**62:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            room = int(key.max(initial=0)) + 1
        key, room = key * sizes[name] + numbers[name], room * sizes[name]
    if room <= 4 * rows + 1024:
        counts = np.bincount(key, minlength=1)
        return counts[counts > 0]
    key.sort()
    ends = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1], [True]]))
    return np.diff(ends)


def separation(counts: NDArray[np.int64]) -> float:
    """The share of pairs of rows that differ, if each value is there so often (Motwani, Xu, 2007); 0 for one row."""
    total = float(counts.sum())
    pairs = total * (total - 1)
    return 1.0 - float((counts.astype(np.float64) * (counts - 1)).sum()) / pairs if pairs else 0.0
