"""The columns of a release beside those of its original, whether they are generalized or published as they are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kohort.codes.encode import Axis
from kohort.reports.published import Published
from kohort.reports.ranges import AsIs, Floats, Kind, Ranges, as_is, generalized


@dataclass(frozen=True)
class Column:
    """One column of both tables; suppressed rows are left out."""

    name: str
    kind: Kind
    shown: Ranges
    """What it is published as, each way once or more often."""
    times: NDArray[np.int64]
    """Rows that are published in each of these ways."""
    of_row: NDArray[np.int64]
    """The way that each row is published in."""
    values: Ranges | None
    """What the records of the original have."""
    labels: tuple[str | None, ...]
    """Of a category: its values by their numbers; None for one that no row has."""
    axis: Axis | None
    """Of a quasi-identifier."""

    @property
    def is_quasi(self) -> bool:
        """Whether it may be generalized."""
        return self.axis is not None

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers or dates."""
        return self.kind != "category"

    @property
    def weights(self) -> Floats:
        """Rows of each way, those of a missing value not counted."""
        return np.where(self.shown.missing, 0, self.times).astype(np.float64)

    @property
    def missing_rows(self) -> int:
        """Rows whose value is missing."""
        return int(self.times[self.shown.missing].sum())

    @cached_property
    def present(self) -> Floats:
        """The values of the original that are there."""
        assert self.values is not None
        return self.values.low[~self.values.missing]

    @cached_property
    def held(self) -> tuple[Ranges, Floats]:
        """The different values of the original, and the records of each."""
        values, times = np.unique(self.present, return_counts=True)
        return Ranges.of_values(values, whole=self.shown.whole), times.astype(np.float64)


def columns_of(published: Published) -> tuple[Column, ...]:
    """Quasi-identifiers first, then the columns that are published as they are and are in both tables."""
    labels = published.labels[published.kept]
    times = np.bincount(labels, minlength=len(published.sizes)).astype(np.int64)
    quasi = tuple(
        Column(one.name, one.kind, one.classes, times, labels, one.values, one.leaves, one.axis)
        for one in generalized(published)
    )
    kept = np.flatnonzero(published.kept)
    return (*quasi, *(_of_as_is(as_is(published, name), kept) for name in published.in_both))


def _of_as_is(column: AsIs, kept: NDArray[np.int64]) -> Column:
    """Each different value once."""
    values, place, times = np.unique(column.rows.low[kept], return_inverse=True, return_counts=True)
    shown = Ranges.of_values(values, whole=column.rows.whole)
    rows = place.ravel().astype(np.int64)
    return Column(column.name, column.kind, shown, times.astype(np.int64), rows, column.values, column.labels, None)
