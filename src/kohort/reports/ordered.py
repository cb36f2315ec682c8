"""The rows of a written table in the order of what they hold.

A release is shuffled anew each time that it is made. Figures about it are sums of floats, samples and numbers of
classes, all of which depend on an order; in this one, two releases that differ in the order of their rows have the
same figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohort.audit.read.table import Table
from kohort.codes.encode import DistinctRows, distinct_rows


@dataclass(frozen=True)
class Ordered:
    """A table whose rows are sorted by the texts of all columns that were asked for."""

    table: Table

    @cached_property
    def texts(self) -> dict[str, NDArray[np.int64]]:
        """The numbers of the distinct texts of each column, by text; a missing value comes first."""
        return {name: self._texts(name) for name in self.table.columns}

    def _texts(self, name: str) -> NDArray[np.int64]:
        dictionary = self.table.dictionary(name)
        # several texts may stand for a missing value: those of more rows come last
        both = pl.DataFrame({"text": dictionary.values.whole(), "times": np.asarray(dictionary.times)})
        order = both.select(pl.arg_sort_by("text", "times", nulls_last=False, maintain_order=True)).to_series()
        return order.to_numpy().astype(np.int64)

    @property
    def order(self) -> NDArray[np.int64]:
        """The place in the file of each row."""
        return self._sorted[0]

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The order, and what each row has in each column: places in `texts`, shape (columns, rows)."""
        names = tuple(self.table.columns)
        places = [np.argsort(self.texts[name]).astype(np.int32) for name in names]
        array = np.empty((self.table.rows, len(names)), np.int32)
        for start, stop in self.table.batches():
            for j, numbers in enumerate(self.table.codes(names, start, stop)):
                array[start:stop, j] = places[j][numbers]
        order = self._distinct(array, names).order.astype(np.int64)
        return order, np.ascontiguousarray(array[order].T)

    def codes(self, name: str) -> NDArray[np.int32]:
        """What each row has in a column: places in `texts`."""
        found: NDArray[np.int32] = self._sorted[1][tuple(self.table.columns).index(name)]
        return found

    def classes(self, names: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Rows that are alike in some columns: the class of each, and places in `texts` of each class."""
        found = self._distinct(np.column_stack([self.codes(name) for name in names]), names)
        return found.by_row(np.arange(len(found.counts), dtype=np.int64)), found.codes

    def _distinct(self, array: NDArray[np.int32], names: Sequence[str]) -> DistinctRows:
        return distinct_rows(array, np.array([len(self.texts[name]) for name in names], np.int64))
