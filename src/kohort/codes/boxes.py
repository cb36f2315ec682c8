"""What an algorithm found, whatever its way of recoding: one shape for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kohort.codes.encode import Axis, Codes


@dataclass(frozen=True)
class Boxes:
    """The box of each record: what is said about it."""

    lo: NDArray[np.int32]
    """Smallest code, shape (records, axes)."""
    hi: NDArray[np.int32]
    """Largest code."""

    def of(self, records: NDArray[np.bool_] | NDArray[np.int64]) -> Boxes:
        """The boxes of some records."""
        return Boxes(self.lo[records], self.hi[records])


@dataclass(frozen=True)
class Solution:
    """A box for every record, and which records are published."""

    boxes: Boxes
    """Of every record; that of a suppressed one means nothing."""
    clusters: int
    """Number of groups, boxes or cells that were formed."""
    kept: NDArray[np.bool_] | None = None
    """Records that are published; None for all."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Figures that the algorithm reports. They are private, and yet counts, shares and names of columns, never a value,
    a record or a seed."""

    @classmethod
    def of_labels(cls, codes: Codes, labels: NDArray[np.int32], facts: Mapping[str, Any] | None = None) -> Solution:
        """Give every record the smallest box that holds its cluster; label -1 suppresses a record."""
        kept = labels >= 0
        clusters = int(labels.max(initial=-1)) + 1
        if kept.all():
            return cls(boxes_of_labels(codes.array, labels), clusters, None, facts or {})
        boxes = Boxes(codes.array.copy(), codes.array.copy())
        if kept.any():
            some = boxes_of_labels(codes.array[kept], labels[kept])
            boxes.lo[kept], boxes.hi[kept] = some.lo, some.hi
        return cls(boxes, clusters, kept, facts or {})

    @classmethod
    def of_levels(
        cls,
        codes: Codes,
        spans: Sequence[Boxes],
        *,
        clusters: int,
        kept: NDArray[np.bool_] | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> Solution:
        """Full-domain recoding: on every axis, each code is published as the span it belongs to.

        Parameters
        ----------
        spans : sequence of Boxes
            One for each axis; its `lo` and `hi` have one entry for each code.
        """
        lo = np.column_stack([span.lo[codes.array[:, j]] for j, span in enumerate(spans)])
        hi = np.column_stack([span.hi[codes.array[:, j]] for j, span in enumerate(spans)])
        return cls(Boxes(lo.astype(np.int32), hi.astype(np.int32)), clusters, kept, facts or {})

    def classes(self, axes: Sequence[Axis]) -> NDArray[np.integer]:
        """Number the published records 0, 1, 2, ... by the class that they are in."""
        return classes_of_boxes(axes, self.boxes if self.kept is None else self.boxes.of(self.kept))

    @property
    def suppressed(self) -> int:
        """Number of records that are not published."""
        return 0 if self.kept is None else int((~self.kept).sum())


def classes_of_boxes(axes: Sequence[Axis], boxes: Boxes) -> NDArray[np.int64]:
    """Number the records 0, 1, 2, ... such that those that are published alike have the same number."""
    if not axes:
        return np.zeros(len(boxes.lo), np.int64)
    keys = np.column_stack([axis.keys(boxes.lo[:, j], boxes.hi[:, j]) for j, axis in enumerate(axes)])
    return np.unique(keys, axis=0, return_inverse=True)[1].ravel().astype(np.int64)


def boxes_of_labels(array: NDArray[np.int32], labels: NDArray[np.int32]) -> Boxes:
    """Give every record the smallest box that holds its cluster.

    Parameters
    ----------
    array : int32[n, d]
        Codes of the records.
    labels : int32[n]
        Cluster of each record.
    """
    order = np.argsort(labels, kind="stable")
    ordered = labels[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    cluster = np.empty(len(labels), np.int32)
    cluster[order] = np.repeat(np.arange(len(starts), dtype=np.int32), np.diff(np.append(starts, len(labels))))
    lo, hi = np.empty_like(array), np.empty_like(array)
    # Column by column: copies of the whole table would be the most memory that a large one ever takes.
    for axis in range(array.shape[1]):
        codes = array[order, axis]
        lo[:, axis] = np.minimum.reduceat(codes, starts)[cluster]
        hi[:, axis] = np.maximum.reduceat(codes, starts)[cluster]
    return Boxes(lo, hi)
