"""The smallest sets of columns that single people out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from math import comb, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kohort.reports.alike import Numbers, counts_of, separation, sizes_of

SHARE = 0.05
"""Columns single people out if this share of the rows is alone with its values."""
LARGEST = 3
"""Columns of a set, at most."""
SHOWN = 20
"""Sets that are kept of each size."""
_CELLS, _SETS = 600_000_000, 100_000
"""Rows times sets that are counted, and sets that are looked at, at most."""


@dataclass(frozen=True)
class ColumnSet:
    """Columns that single people out together; none of them can be left out."""

    columns: tuple[str, ...]
    unique: float
    """The share of rows that are alone with their values."""
    separation: float
    """The share of pairs of rows that differ."""


@dataclass(frozen=True)
class ColumnSets:
    """The smallest sets that single people out.

    Attributes
    ----------
    share : float
        A set is one if at least this share of the rows is alone with its values.
    largest : int
        Columns of a set, at most.
    found : tuple of ColumnSet
        Those of which no smaller set does it; the smallest first, and of a size those that single out most.
    looked_at, there : int
        Sets that were looked at or ruled out, and sets of these sizes that there are.
    """

    share: float
    largest: int
    found: tuple[ColumnSet, ...]
    looked_at: int
    there: int

    @property
    def complete(self) -> bool:
        """Whether there was time for all sets."""
        return self.looked_at >= self.there

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self) | {"found": [asdict(one) for one in self.found], "complete": self.complete}


def column_sets(
    numbers: Numbers,
    *,
    share: float = SHARE,
    largest: int = LARGEST,
    report: Callable[[float], None] = lambda _: None,
) -> ColumnSets:
    """Look for the smallest sets of columns that single people out.

    Sets are looked at by size, the columns that distinguish most first, until all are done or some hundred million
    cells were counted: the same sets wherever it runs. A set that holds one that was found is no news. Many need not be
    counted: more columns cannot make a row of a class unique for each value that they have, if the class has more rows.

    Parameters
    ----------
    numbers : mapping
        The columns.
    share : float
        The least share of rows.
    largest : int
        Columns of a set, at most.
    report : callable, optional
        Called with the share of the work that is done.
    """
    largest = min(largest, len(numbers))
    there = sum(comb(len(numbers), size) for size in range(1, largest + 1))
    search = _Search(numbers, share, report)
    kept: list[ColumnSet] = []
    for size in range(1, largest + 1):
        found = sorted(search.of_size(size), key=lambda one: -one.unique)
        search.singling.update(frozenset(one.columns) for one in found)
        kept += found[:SHOWN]
    return ColumnSets(share, largest, tuple(kept), search.looked_at, there)


class _Search:
    """What was looked at so far."""

    def __init__(self, numbers: Numbers, share: float, report: Callable[[float], None]) -> None:
        self.numbers, self.share, self.report = numbers, share, report
        self.rows = max((len(one) for one in numbers.values()), default=0)
        self.values = sizes_of(numbers)
        self.place = {name: place for place, name in enumerate(numbers)}
        self.names = sorted(numbers, key=lambda name: -separation(np.bincount(numbers[name], minlength=1)))
        self.singling: set[frozenset[str]] = set()
        self.classes: dict[frozenset[str], _Classes] = {}
        self.looked_at = self.cells = 0

    def of_size(self, size: int) -> Iterator[ColumnSet]:
        """Sets of a given number of columns that single people out, and hold none that does."""
        for some in combinations(self.names, size):
            if self.cells + self.rows > _CELLS or self.looked_at >= _SETS:
                return
            self.looked_at += 1
            if self._could(some):
                found = self._counted(tuple(sorted(some, key=self.place.__getitem__)))
                if self.rows and found.unique >= self.share:
                    yield found

    def _could(self, some: Sequence[str]) -> bool:
        """Whether a set is news, and may single out enough by what is known of smaller ones."""
        whole, wanted = frozenset(some), self.share * self.rows
        if prod(self.values[name] for name in some) < wanted:
            return False
        smaller = [frozenset(less) for size in range(len(some) - 1, 0, -1) for less in combinations(some, size)]
        if any(less in self.singling for less in smaller):
            return False
        return all(
            self.classes[less].most_unique(prod(self.values[name] for name in whole - less)) >= wanted
            for less in smaller
            if less in self.classes
        )

    def _counted(self, columns: tuple[str, ...]) -> ColumnSet:
        self.cells += self.rows
        self.report(self.cells / _CELLS)
        counts = counts_of(self.numbers, self.values, columns)
        self.classes[frozenset(columns)] = _Classes.of(counts)
        return ColumnSet(columns, float((counts == 1).sum() / max(self.rows, 1)), separation(counts))


@dataclass(frozen=True)
class _Classes:
    """How many classes of each size some columns make."""

    sizes: NDArray[np.int64]
    classes: NDArray[np.int64]

    @classmethod
    def of(cls, counts: NDArray[np.int64]) -> _Classes:
        return cls(*np.unique(counts, return_counts=True))

    def most_unique(self, values: int) -> int:
        """Rows that more columns of a given number of values can make unique: of a larger class, all values but one."""
        return int(np.where(self.sizes <= values, self.sizes, values - 1) @ self.classes)
