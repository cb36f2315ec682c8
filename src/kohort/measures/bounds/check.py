"""An independent check of a certificate: every box, from the outside in, by NumPy alone.

It shares no code with the search that made the certificate: costs are computed again from the
axes, and boxes are enumerated for the whole table at once, side by side, instead of around each row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kohort.codes.encode import Axis, Codes, TreeAxis
from kohort.measures.base import Measure

ONE = 2**30
"""A value of 1.0 in a certificate."""

Ints = NDArray[np.int64]
Side = tuple[int, int, int]
"""Smallest and largest code of one side of a box, and its cost."""


def certifies(codes: Codes, measure: Measure, k: int, y: Ints) -> float | None:
    """The loss that a certificate proves, or None if it proves nothing.

    Parameters
    ----------
    y : int64[n]
        A value per record, 2**30 for the cost 1.0 in the column of the largest weight.

    Notes
    -----
    Exact, and slow for many quasi-identifiers: the time grows with the number of boxes whose records have
    values above the cost of the sides chosen so far.
    """
    largest = max(axis.weight for axis in codes.axes)
    sides = [_Sides(measure, axis, axis.weight / largest) for axis in codes.axes]
    if len(y) != len(codes.array) or (np.asarray(y) < 0).any():
        return None
    credit = np.sum([side.credit_of[codes.array[:, j]] for j, side in enumerate(sides)], axis=0)
    # A record that is suppressed costs what `*` does in every column; it may not be worth more.
    if (y - credit > sum(side.whole for side in sides)).any():
        return None
    # Sides that cost much come first: they soon outweigh what the records are worth.
    first = sorted(range(len(sides)), key=lambda j: -sides[j].coarseness)
    descending = np.argsort(-y, kind="stable")
    array = codes.array[descending][:, first].astype(np.int64)
    if _violated(array, y[descending].astype(np.int64), [sides[j] for j in first], k, 0):
        return None
    weight = sum(axis.weight for axis in codes.axes) / largest
    return max(int((y - credit).sum()), 0) / (ONE * weight * len(y))


def _violated(array: Ints, y: Ints, sides: list[_Sides], k: int, cost: int) -> bool:
    """Whether a box of these records (descending by y), further divided, has k records worth more than it costs."""
    if len(y) < k or int(y[:k].sum()) <= k * cost:
        return False  # smaller boxes hold fewer records and cost more
    if not sides:
        return True
    column = array[:, 0]
    for lo, hi, extra in sides[0].around(column, int(y[:k].sum()) - k * cost, k):
        inside = np.flatnonzero((column >= lo) & (column <= hi))
        if _violated(array[inside, 1:], y[inside], sides[1:], k, cost + extra):
            return True
    return False


@dataclass
class _Sides:
    """All sides that a box can have along one axis."""

    measure: Measure
    axis: Axis
    weight: float

    def __post_init__(self) -> None:
        axis, unit = self.axis, ONE * self.weight
        # By how much the costs here may exceed the true ones, for each code.
        self.credit_of = np.zeros(axis.size, np.int64)
        if not isinstance(axis, TreeAxis):
            self.positions = [round(float(position) * unit) for position in self.measure.positions(axis)]
            self.whole = round(unit)
            self.credit_of += 2  # both ends are rounded
            self.coarseness = 0.0
            return
        tree = axis.taxonomy
        self.costs = [math.floor(max(cost * unit - 1e-6, 0.0)) for cost in self.measure.node_costs(tree).tolist()]
        self.whole = self.costs[0]
        self.coarseness = float(np.mean([self.costs[int(tree.parent[node])] for node in tree.leaf_node if node] or [0]))

    def around(self, column: Ints, worth: int, k: int) -> Iterator[Side]:
        """The different sides of boxes around some of these codes, as far as they cost less than is at stake."""
        there = np.unique(column)
        missing = self.axis.missing_code
        if there[-1] == missing:
            yield missing, missing, 0
            if len(there) > 1 and k * self.whole < worth:
                yield int(there[0]), missing, self.whole
            there = there[:-1]
        if len(there):
            yield from self._tree(there, worth, k) if isinstance(self.axis, TreeAxis) else self._line(there, worth, k)

    def _line(self, there: Ints, worth: int, k: int) -> Iterator[Side]:
        for i, lo in enumerate(there.tolist()):
            for hi in there[i:].tolist():
                cost = self.positions[hi] - self.positions[lo]
                if k * cost >= worth:
                    break
                yield lo, hi, cost

    def _tree(self, there: Ints, worth: int, k: int) -> Iterator[Side]:
        assert isinstance(self.axis, TreeAxis)
        tree = self.axis.taxonomy
        nodes = {int(tree.leaf_node[leaf]) for leaf in there}
        for leaf in there:
            node = int(tree.leaf_node[leaf])
            while node != 0:
                node = int(tree.parent[node])
                if node in nodes:
                    break
                nodes.add(node)
        seen = set()
        for node in sorted(nodes, reverse=True):  # lower nodes first: a node with the same leaves as one below is idle
            inside = there[(there >= tree.first_leaf[node]) & (there <= tree.last_leaf[node])]
            side = int(inside[0]), int(inside[-1])
            if side not in seen and k * self.costs[node] < worth:
                yield *side, self.costs[node]
            seen.add(side)
