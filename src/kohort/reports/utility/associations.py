"""How much of what goes along with what in the original still does in the release: pairs of columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
_AT_ONCE = 8192
"""Records or rows."""
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
    records = _some(len(columns[0].values or ()), rng) if columns else np.empty(0, np.int64)
    rows = _some(len(columns[0].of_row), rng) if columns else np.empty(0, np.int64)
    before, after = _contingency(columns, drawn, records), _expected(columns, drawn, rows)
    pairs = [Pair(columns[i].name, columns[j].name, cramers_v(before[i, j]), cramers_v(after[i, j])) for i, j in drawn]
    return Associations(
        tuple(sorted(pairs, key=lambda pair: -abs(pair.change))), len(places), max(len(records), len(rows))
    )


def _some(size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    return np.arange(size) if size <= MOST_RECORDS else np.sort(rng.choice(size, MOST_RECORDS, replace=False))


_Pairs = Sequence[tuple[int, int]]
_Chances = Callable[[NDArray[np.int64]], Floats]


def _contingency(columns: Sequence[Column], pairs: _Pairs, records: NDArray[np.int64]) -> dict[tuple[int, int], Floats]:
    """Records of the original by the groups of two columns."""

    def chances(column: Column) -> _Chances:
        assert column.values is not None
        values, grouped = column.values, _grouping(column)
        return lambda some: grouped(values.of(some))

    return _products(columns, pairs, records, chances)


def _expected(columns: Sequence[Column], pairs: _Pairs, rows: NDArray[np.int64]) -> dict[tuple[int, int], Floats]:
    """The same of the rows of the release, by what they may stand for."""

    def chances(column: Column) -> _Chances:
        of_way, places = _grouping(column)(column.shown), column.of_row
        return lambda some: of_way[places[some]]

    return _products(columns, pairs, rows, chances)


def _products(
    columns: Sequence[Column], pairs: _Pairs, rows: NDArray[np.int64], of: Callable[[Column], _Chances]
) -> dict[tuple[int, int], Floats]:
    """For each pair, the sums of products of chances; some rows at a time, all columns beside one of a pair at once."""
    used = sorted({place for pair in pairs for place in pair})
    chances = {place: of(columns[place]) for place in used}
    beside = {first: [j for i, j in pairs if i == first] for first in sorted({i for i, _ in pairs})}
    sums: dict[int, Floats] = {}
    ends: dict[int, NDArray[np.int64]] = {}
    for start in range(0, max(len(rows), 1), _AT_ONCE):
        some = {place: one(rows[start : start + _AT_ONCE]) for place, one in chances.items()}
        for first, others in beside.items():
            ends[first] = np.cumsum([some[other].shape[1] for other in others])
            product = some[first].T @ np.hstack([some[other] for other in others])
            sums[first] = sums[first] + product if first in sums else product
    return {
        (first, other): part
        for first, others in beside.items()
        for other, part in zip(others, np.hsplit(sums[first], ends[first][:-1]), strict=True)
    }


def _grouping(column: Column) -> Callable[[Ranges], Floats]:
    """The chance of what a column may stand for to be in each of its groups."""
    if column.is_number:
        cuts = group_cuts(column.present, GROUPS)
        return lambda ranges: _by_cut(ranges, cuts)
    times = np.bincount(column.present.astype(np.int64), minlength=1)
    frequent = np.argsort(-times, kind="stable")[:VALUES]
    return lambda ranges: _by_value(ranges, frequent)


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
