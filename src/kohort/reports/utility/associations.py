"""How much of what goes along with what in the original still does in the release: pairs of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from kohort.reports.ranges import Floats, Ranges
from kohort.reports.utility.columns import Column
from kohort.reports.utility.distributions import group_cuts

GROUPS = 10
"""Number of groups of as many records that numbers and dates are put into."""
VALUES = 20
"""Number of values of a category that are distinguished, the most frequent ones; all others are one."""
MOST_PAIRS = 300
"""Number of pairs that are drawn of a wide table."""
MOST_RECORDS = 50_000
"""Number of records and rows that are drawn of a long table."""
_UNIT = 2.0**-18
"""Chances are multiples of it: then sums of products of two are exact, in whatever order cores add them."""


@dataclass(frozen=True)
class Pair:
    """Two columns, and how strongly they go along with each other: 0 not at all, 1 wholly."""

    first: str
    second: str
    original: float
    release: float

    @property
    def change(self) -> float:
        """Release less original."""
        return self.release - self.original


@dataclass(frozen=True)
class Associations:
    """Pairs of columns of which at least one is generalized."""

    pairs: tuple[Pair, ...]
    """Those that were compared, the largest change first."""
    possible: int
    """How many there are."""
    records: int
    """Records and rows that were drawn for it, at most."""

    @property
    def mean_change(self) -> float | None:
        """Mean size of the change."""
        return float(np.mean([abs(pair.change) for pair in self.pairs])) if self.pairs else None


def associations(columns: Sequence[Column], rng: np.random.Generator) -> Associations:
    """Cramer's V of pairs of columns, without its bias, in both tables.

    Of the release, the expected table of contingency is made: every row adds to all cells that it may belong to.

    Notes
    -----
    Time O(pairs n g^2) for n drawn records and g groups of a column, by products of matrices.
    """
    places = [place for place in combinations(range(len(columns)), 2) if columns[place[0]].is_quasi]
    drawn = places
    if len(places) > MOST_PAIRS:
        drawn = [places[one] for one in np.sort(rng.choice(len(places), MOST_PAIRS, replace=False))]
    used = sorted({place for pair in drawn for place in pair})
    records = _some(len(columns[0].values or ()), rng) if columns else np.empty(0, np.int64)
    rows = _some(len(columns[0].of_row), rng) if columns else np.empty(0, np.int64)
    before, after = {}, {}
    for place in used:
        before[place], after[place] = _groups(columns[place], records, rows)
    pairs = [
        Pair(
            columns[i].name,
            columns[j].name,
            cramers_v(before[i].T @ before[j]),
            cramers_v(after[i].T @ after[j]),
        )
        for i, j in drawn
    ]
    return Associations(
        tuple(sorted(pairs, key=lambda pair: -abs(pair.change))), len(places), max(len(records), len(rows))
    )


def _some(size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    return np.arange(size) if size <= MOST_RECORDS else np.sort(rng.choice(size, MOST_RECORDS, replace=False))


def _groups(column: Column, records: NDArray[np.int64], rows: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Chance of some records and rows to be in each group of a column."""
    assert column.values is not None
    shown, values = column.shown, column.values.of(records)
    if column.is_number:
        cuts = group_cuts(column.present, GROUPS)
        return _by_cut(values, cuts), _by_cut(shown, cuts)[column.of_row[rows]]
    times = np.bincount(column.present.astype(np.int64), minlength=1)
    frequent = np.argsort(-times, kind="stable")[:VALUES]
    return _by_value(values, frequent), _by_value(shown, frequent)[column.of_row[rows]]


def _by_cut(ranges: Ranges, cuts: Floats) -> Floats:
    reached = np.column_stack([*(ranges.below(cut) for cut in cuts), ~ranges.missing])
    return _exact(np.column_stack([np.diff(reached, axis=1, prepend=0.0), ranges.missing]))


def _by_value(ranges: Ranges, values: NDArray[np.int64]) -> Floats:
    chances = np.column_stack([ranges.within(value, value) for value in values])
    return _exact(np.column_stack([chances, ~ranges.missing - chances.sum(axis=1), ranges.missing]))


def _exact(chances: Floats) -> Floats:
    """The nearest multiples of the unit."""
    return np.asarray(np.rint(chances / _UNIT) * _UNIT)


def cramers_v(table: NDArray[np.floating]) -> float:
    """Cramer's V of a table of contingency, corrected for its bias (Bergsma 2013).

    Examples
    --------
    >>> cramers_v(np.array([[30, 0], [0, 30]])), cramers_v(np.array([[15, 15], [15, 15]]))
    (1.0, 0.0)
    """
    table = np.asarray(table, np.float64)
    table = table[table.sum(axis=1) > 1e-6][:, table.sum(axis=0) > 1e-6]
    n, (rows, columns) = table.sum(), table.shape
    if min(rows, columns) < 2 or n <= 1:
        return 0.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    share = float(((table - expected) ** 2 / expected).sum() / n)
    share = max(0.0, share - (rows - 1) * (columns - 1) / (n - 1))
    least = min(rows - (rows - 1) ** 2 / (n - 1), columns - (columns - 1) ** 2 / (n - 1)) - 1
    return float(min(1.0, (share / least) ** 0.5)) if least > 0 else 0.0
