"""The classes of a table as somebody sees them who knows some of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kohort.reports.risk.attackers import Attacker, drawn_journalist, journalist, prosecutor

BINS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Where the ranges of class sizes begin that a chart shows."""


@dataclass(frozen=True)
class Crowd:
    """Who looks alike, for somebody who knows some columns.

    Attributes
    ----------
    columns : tuple of str
        The columns that are known.
    sizes : mapping
        Number of classes of each size.
    prosecutor : Attacker
        Who knows that somebody is in the table.
    journalist : Attacker or None
        Who knows the population; None where nothing is said about it.
    marketer : float
        The share of records that somebody gets right who guesses them all.
    """

    columns: tuple[str, ...]
    sizes: Mapping[int, int]
    prosecutor: Attacker
    journalist: Attacker | None
    marketer: float

    @classmethod
    def of(
        cls,
        columns: tuple[str, ...],
        sizes: NDArray[np.int64],
        *,
        people: NDArray[np.int64] | None = None,
        fraction: float | None = None,
    ) -> Crowd:
        """Look at the size of every class.

        Parameters
        ----------
        people : array, optional
            How many of a population each class could be about.
        fraction : float, optional
            Without them: the share of the population that is in the table.
        """
        found, classes = np.unique(sizes, return_counts=True)
        certain = prosecutor(sizes)
        outside = None
        if people is not None:
            outside = journalist(people, sizes)
        elif fraction is not None:
            outside = drawn_journalist(sizes, fraction)
        mean = certain.mean if outside is None else outside.mean
        return cls(columns, dict(zip(found.tolist(), classes.tolist(), strict=True)), certain, outside, mean)

    @property
    def classes(self) -> int:
        """Number of classes."""
        return sum(self.sizes.values())

    @property
    def rows(self) -> int:
        """Rows in them."""
        return sum(size * classes for size, classes in self.sizes.items())

    @property
    def smallest(self) -> int:
        """Rows of the smallest class; 0 if there is none."""
        return min(self.sizes, default=0)

    @property
    def unique(self) -> int:
        """Rows that no other looks like."""
        return self.sizes.get(1, 0)

    @property
    def unique_share(self) -> float:
        """The same as a share of all rows."""
        return self.unique / max(self.rows, 1)

    def below(self, k: int) -> int:
        """Rows in classes of fewer than k."""
        return sum(size * classes for size, classes in self.sizes.items() if size < k)

    @cached_property
    def histogram(self) -> dict[str, int]:
        """Rows in classes of each range of sizes, in order; ranges that nothing is in are left out."""
        found: dict[str, int] = {}
        for begin, end in zip(BINS, (*BINS[1:], None), strict=True):
            rows = sum(
                size * classes for size, classes in self.sizes.items() if size >= begin and (end is None or size < end)
            )
            name = f">= {begin}" if end is None else f"{begin}" if end == begin + 1 else f"{begin}-{end - 1}"
            if rows:
                found[name] = rows
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "columns": list(self.columns),
            "rows": self.rows,
            "classes": self.classes,
            "smallest": self.smallest,
            "unique": self.unique,
            "unique_share": self.unique_share,
            "prosecutor": self.prosecutor.to_dict(),
            "journalist": None if self.journalist is None else self.journalist.to_dict(),
            "marketer": self.marketer,
            "sizes": {str(size): classes for size, classes in self.sizes.items()},
        }
