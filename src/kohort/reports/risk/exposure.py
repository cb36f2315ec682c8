"""What one table says about people: the file itself, or the original beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kohort.reports.alike import counts_of, sizes_of
from kohort.reports.published import Published
from kohort.reports.risk.columns import ColumnRisk
from kohort.reports.risk.crowd import Crowd
from kohort.reports.risk.sets import ColumnSets, column_sets
from kohort.reports.risk.uniqueness.choice import Uniqueness, uniqueness_of


@dataclass(frozen=True)
class Exposure:
    """Risk figures of one table.

    Attributes
    ----------
    rows, suppressed : int
        Rows of the table, and those of nothing but ``*``, which no figure counts.
    quasi : Crowd
        For somebody who knows the quasi-identifiers.
    strict : Crowd or None
        For somebody who also knows what is published as it is; None where there is no such column.
    uniqueness : Uniqueness or None
        Estimates of the share of the population that is unique in the quasi-identifiers; None without a population.
    columns : tuple of ColumnRisk
        Every column.
    sets : ColumnSets
        The smallest sets of columns that single people out.
    """

    rows: int
    suppressed: int
    quasi: Crowd
    strict: Crowd | None
    uniqueness: Uniqueness | None
    columns: tuple[ColumnRisk, ...]
    sets: ColumnSets

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "rows": self.rows,
            "suppressed": self.suppressed,
            "quasi": self.quasi.to_dict(),
            "strict": None if self.strict is None else self.strict.to_dict(),
            "uniqueness": None if self.uniqueness is None else self.uniqueness.to_dict(),
            "columns": [column.to_dict() for column in self.columns],
            "sets": self.sets.to_dict(),
        }


def exposure_of(
    published: Published,
    *,
    population: int | None = None,
    people: NDArray[np.int64] | None = None,
    report: Callable[[float], None] = lambda _: None,
) -> Exposure:
    """Look at a table.

    Parameters
    ----------
    population : int, optional
        People of whom its rows are a random sample.
    people : array, optional
        How many of them each class could be about, if they are known.
    """
    kept = ~published.suppressed
    rows = int(kept.sum())
    sizes = published.sizes[published.kept_classes]
    fraction = rows / population if population and rows and people is None else None
    quasi = tuple(published.policy.quasi_identifiers)
    numbers = {name: published.numbers(name)[kept] for name in (*quasi, *published.as_is)}
    known = Crowd.of(quasi, sizes, people=people, fraction=fraction)
    strict = None
    if published.as_is:
        strict = Crowd.of(tuple(numbers), counts_of(numbers, sizes_of(numbers), tuple(numbers)), fraction=fraction)
    return Exposure(
        rows=published.rows,
        suppressed=published.rows - rows,
        quasi=known,
        strict=strict,
        uniqueness=None if population is None else uniqueness_of(sizes, population, people),
        columns=tuple(ColumnRisk.of(name, one) for name, one in numbers.items()),
        sets=column_sets(numbers, report=report),
    )
