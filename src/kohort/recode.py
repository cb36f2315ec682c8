"""Labels -> boxes -> published values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohort.encode import STAR, Codes, LineAxis


@dataclass(frozen=True)
class Boxes:
    """The box of each record: what its class says about it."""

    lo: NDArray[np.int32]
    """Smallest code, shape (records, axes)."""
    hi: NDArray[np.int32]
    """Largest code."""


def boxes_of_labels(codes: Codes, labels: NDArray[np.int32]) -> Boxes:
    """Give every record the smallest box that holds its cluster."""
    order = np.argsort(labels, kind="stable")
    ordered = labels[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    cluster = np.empty(len(labels), np.int64)
    cluster[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(labels))))
    rows = codes.array[order]
    return Boxes(np.minimum.reduceat(rows, starts, axis=0)[cluster], np.maximum.reduceat(rows, starts, axis=0)[cluster])


def publish(table: pl.DataFrame, codes: Codes, boxes: Boxes, dropped: tuple[str, ...], *, bounds: bool) -> pl.DataFrame:
    """The release: identifiers dropped, quasi-identifiers generalized, all else as it was.

    Parameters
    ----------
    table : DataFrame
        The records that are published, as read.
    dropped : tuple of str
        Identifier columns.
    bounds : bool
        Add typed ends beside interval columns.
    """
    columns: list[pl.Series] = []
    axes = {axis.name: j for j, axis in enumerate(codes.axes)}
    for name in table.columns:
        if name in dropped:
            continue
        if name not in axes:
            columns.append(table[name])
            continue
        axis, lo, hi = codes.axes[axes[name]], boxes.lo[:, axes[name]], boxes.hi[:, axes[name]]
        # Each different (lo, hi) is written once, then shared.
        keys, index = np.unique(lo.astype(np.int64) * axis.size + hi, return_inverse=True)
        sides = (keys // axis.size).astype(np.int32), (keys % axis.size).astype(np.int32)
        columns.append(axis.published(*sides).gather(index))
        if bounds and isinstance(axis, LineAxis):
            columns += _ends(axis, *sides, index)
    return pl.DataFrame(columns)


def _ends(axis: LineAxis, lo: NDArray[np.int32], hi: NDArray[np.int32], index: NDArray[np.int64]) -> list[pl.Series]:
    """Typed ends of each interval, null where it holds a missing value."""
    open_ended = pl.Series(hi == axis.missing_code)
    last = max(len(axis.values) - 1, 0)
    ends = []
    for suffix, side in (("lo", lo), ("hi", hi)):
        values = (
            axis.values.gather(np.minimum(side, last))
            if len(axis.values)
            else axis.values.extend_constant(None, len(side))
        )
        ends.append(values.set(open_ended, None).gather(index).alias(f"{axis.name}_{suffix}"))
    return ends


def starred(table: pl.DataFrame, released: pl.DataFrame, quasi_identifiers: tuple[str, ...]) -> pl.DataFrame:
    """Suppressed records in the columns of the release, every quasi-identifier `*`."""
    return table.select(
        pl.lit(STAR).alias(name)
        if name in quasi_identifiers
        else (pl.col(name) if name in table.columns else pl.lit(None, dtype).alias(name))
        for name, dtype in released.schema.items()
    )
