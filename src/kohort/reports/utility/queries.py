"""How well counts are answered from a release: a workload of random questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kohort.codes.encode import TreeAxis
from kohort.reports.ranges import Floats
from kohort.reports.utility.columns import Column

COUNT = 1000
MOST_CONDITIONS = 3
SANITY = 0.001
"""An error is a share of the true count, or of this share of all records if that is more: few are hard to count."""
CLOSE = 0.1
"""An answer that is so near to the true count is close."""
SHARES = (0.5, 0.75, 0.9, 0.95)


@dataclass(frozen=True)
class Condition:
    """A value of one column is in an interval of numbers, or of the leaves of its hierarchy."""

    column: int
    low: float
    high: float


@dataclass(frozen=True)
class Queries:
    """Errors of the answers to random questions of how many records there are with this, that and that."""

    count: int
    """Questions that were asked."""
    median: float | None
    """Half of the answers have no larger relative error; None if no question could be asked."""
    quantiles: dict[str, float]
    """The same for other shares of the answers."""
    by_conditions: dict[int, float]
    """The median for questions of one, two, ... conditions."""
    close: float | None
    """Share of the answers whose relative error is 10 % or less."""
    sanity: float
    """No error is a share of fewer records than this."""


def queries(columns: Sequence[Column], rng: np.random.Generator, *, count: int = COUNT) -> Queries:
    """Ask random questions of both tables.

    A question has one to three conditions, at least one of them on a quasi-identifier: from one to another value of two
    records drawn by chance, or the value of such a record, or a group of the hierarchy above it. In a release, a row
    counts as much as its box is likely to meet the conditions (Xiao, Tao: Anatomy, VLDB 2006, section 6).

    Notes
    -----
    Time O(questions * (records + classes)).
    """
    records = len(columns[0].values or ()) if columns else 0
    sanity = max(SANITY * records, 1.0)
    workload = [question for _ in range(count) if (question := _drawn(columns, rng))]
    if not workload:
        return Queries(0, None, {}, {}, None, sanity)
    errors = np.array(
        [abs(estimated(columns, one) - (true := counted(columns, one))) / max(true, sanity) for one in workload]
    )
    sizes = np.array([len(one) for one in workload])
    return Queries(
        count=len(workload),
        median=float(np.median(errors)),
        quantiles={f"{share:.0%}": float(np.quantile(errors, share)) for share in SHARES},
        by_conditions={int(size): float(np.median(errors[sizes == size])) for size in np.unique(sizes)},
        close=float((errors <= CLOSE).mean()),
        sanity=sanity,
    )


def _drawn(columns: Sequence[Column], rng: np.random.Generator) -> tuple[Condition, ...]:
    """A question; none if no column has values."""
    filled = [place for place, column in enumerate(columns) if len(column.present)]
    quasi = [place for place in filled if columns[place].is_quasi]
    if not quasi:
        return ()
    first = int(rng.choice(quasi))
    others = [place for place in filled if place != first]
    more = int(rng.integers(0, min(MOST_CONDITIONS, len(filled))))
    places = [first, *(int(place) for place in rng.choice(others, more, replace=False))] if more else [first]
    return tuple(_condition(place, columns[place], rng) for place in places)


def _condition(place: int, column: Column, rng: np.random.Generator) -> Condition:
    values = column.present
    drawn = values[rng.integers(0, len(values), 2)]
    if column.is_number:
        return Condition(place, float(drawn.min()), float(drawn.max()))
    low = high = int(drawn[0])
    if isinstance(column.axis, TreeAxis):
        tree = column.axis.taxonomy
        above = [node for node in _ancestors(tree.parent, int(tree.leaf_node[low])) if node != 0]
        node = int(rng.choice(above)) if above else int(tree.leaf_node[low])
        low, high = int(tree.first_leaf[node]), int(tree.last_leaf[node])
    return Condition(place, low, high)


def _ancestors(parent: NDArray[np.int32], node: int) -> list[int]:
    """The node itself and all above it."""
    found = [node]
    while parent[found[-1]] >= 0:
        found.append(int(parent[found[-1]]))
    return found


def counted(columns: Sequence[Column], question: Sequence[Condition]) -> int:
    """Records of the original that meet all conditions."""
    fits: NDArray[np.bool_] | bool = True
    for one in question:
        values = columns[one.column].values
        assert values is not None
        fits = fits & (values.low >= one.low) & (values.low <= one.high)
    return int(np.sum(fits))


def estimated(columns: Sequence[Column], question: Sequence[Condition]) -> float:
    """Rows of the release that are expected to meet all conditions."""
    quasi = [one for one in question if columns[one.column].is_quasi]
    others = [one for one in question if not columns[one.column].is_quasi]
    boxes = columns[quasi[0].column]
    chances: Floats = np.ones(len(boxes.times))
    for one in quasi:
        chances = chances * columns[one.column].shown.within(one.low, one.high)
    if not others:
        return float(chances @ boxes.times)
    fits: NDArray[np.bool_] | bool = True
    for one in others:
        column = columns[one.column]
        fits = fits & ((column.shown.low >= one.low) & (column.shown.low <= one.high))[column.of_row]
    return float(chances @ np.bincount(boxes.of_row[fits], minlength=len(chances)))
