"""Diversity of records (definitions 1 and 2 of 004): how much of its domain a set of values takes up."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kohort.codes.encode import Axis, LineAxis, distinct_rows
from kohort.measures.figures.base import Partition
from kohort.measures.figures.counts import value_counts

PAIRS = 20_000_000_000
"""Classes times records of the original that are compared at most: about half a minute."""


def box_diversity(axis: Axis, lo: NDArray[np.int32], hi: NDArray[np.int32]) -> NDArray[np.float64]:
    """Share of the domain that each box side covers: of the range, or of the number of values.

    A missing value is one of the values. On a line, which has no room for it, a side with it and
    others covers everything.
    """
    if not isinstance(axis, LineAxis):
        return (hi - lo + 1) / axis.size
    with_missing = hi == axis.missing_code
    last = max(len(axis.values) - 1, 0)
    positions = axis.positions if len(axis.values) else np.zeros(1)
    widths = positions[np.minimum(hi, last)] - positions[np.minimum(lo, last)]
    return np.where(with_missing, np.where(lo == hi, 0.0, 1.0), widths)


def quasi_diversity(partition: Partition) -> NDArray[np.float64]:
    """Diversity of each class over the quasi-identifiers, of whatever its box covers."""
    some = partition.someone
    total = np.zeros(len(some))
    for j, axis in enumerate(partition.axes):
        total += box_diversity(axis, partition.lo[some, j], partition.hi[some, j])
    return total


def record_diversity(partition: Partition) -> NDArray[np.float64] | None:
    """Diversity of each class over the quasi-identifiers, of the records of the original that its box holds.

    A class that holds none counts what its box covers. None without the original, or if it would take too long.
    """
    some = partition.someone
    if partition.original is None or len(some) * len(partition.original) > PAIRS:
        return None
    lo, hi, values = _inside(partition.axes, partition.lo[some], partition.hi[some], partition.original)
    total = np.zeros(len(some))
    for j, axis in enumerate(partition.axes):
        covered = box_diversity(axis, lo[:, j], hi[:, j])
        if isinstance(axis, LineAxis):
            total += covered
        else:
            total += np.where(values[:, j] > 0, values[:, j] / axis.size, covered)
    return total


def _inside(
    axes: tuple[Axis, ...], lo: NDArray[np.int32], hi: NDArray[np.int32], records: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Smallest and largest code, and number of different ones, of the records in each box."""
    from kohort.kernels.cover import spread_inside

    sizes = np.array([axis.size for axis in axes], np.int64)
    # The axis with the most codes first: few points are looked at for each box.
    order = np.argsort(-sizes, kind="stable")
    rows = distinct_rows(np.ascontiguousarray(records[:, order]), sizes[order]).codes
    first, last = np.ascontiguousarray(lo[:, order]), np.ascontiguousarray(hi[:, order])
    low, high, values = np.empty_like(first), np.empty_like(last), np.empty(first.shape, np.int64)
    spread_inside(first, last, rows, np.append(0, np.cumsum(sizes[order])), low, high, values)
    back = np.argsort(order)
    return low[:, back], high[:, back], values[:, back]


def sensitive_diversity(partition: Partition) -> NDArray[np.float64]:
    """Diversity of each class over the sensitive columns, of the values that are in it."""
    assert partition.sensitive is not None
    total = np.zeros(len(partition.sizes))
    for axis, counts in zip(partition.sensitive.axes, value_counts(partition).values(), strict=True):
        # Pairs are sorted by class, then value: a class is a run of them.
        starts = np.unique(counts.group, return_index=True)[1]
        if isinstance(axis, LineAxis):
            low = np.minimum.reduceat(counts.value, starts).astype(np.int32)
            high = np.maximum.reduceat(counts.value, starts).astype(np.int32)
            total += box_diversity(axis, low, high)
        else:
            total += np.bincount(counts.group) / axis.size
    return total
