"""Distances of the sensitive values of records, over all columns together (paper 003, equations 1 to 3)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from kohort.privacy.arithmetic.counting import Whole, whole_numbers
from kohort.privacy.base import Histogram
from kohort.privacy.reference import Reference, SensitiveColumn
from kohort.privacy.rules import MISSING, PAD, Near

Ints = NDArray[np.int64]

_AT_ONCE = 1 << 21
"""Pairs that are compared at once."""
_CHEAPER = 100
"""Products of a matrix that take the time of one pair that is compared by itself."""
_LARGEST_MATRIX = 1 << 13
"""Most values with a matrix of all pairs: a larger one would need too much memory."""
_GRAIN = 2**40
"""Parts of the distance 1 where they are rounded."""
_CLEAR = 1e-9
"""A difference of distances, 0 to 1, that no rounding can make."""


def strange_values(column: SensitiveColumn) -> int:
    """Number of values that the hierarchy of a column does not have."""
    return 0 if column.leaves is None else int((column.leaves < 0).sum())


class Nearness:
    """Which records of a table are within a distance of one another, decided without rounding.

    Parameters
    ----------
    table : Reference
        Its values are vectors, one value of each column.
    weights : sequence of Fraction
        Weight of each column; their sum is 1.
    reach : Fraction
        The distance.
    """

    def __init__(self, table: Reference, weights: Sequence[Fraction], reach: Fraction) -> None:
        self._vectors, self._size = table.vectors, table.size
        self._axes = [_Axis(column) for column in table.columns]
        scales = [weight / axis.unit for weight, axis in zip(weights, self._axes, strict=True)]
        factor = lcm(*(scale.denominator for scale in scales))
        # Distance times the factor is a whole number: at most a limit if and only if at most its whole part.
        self._scales, self._limit = [int(scale * factor) for scale in scales], int(reach * factor)
        self._rough_scales, self._rough_limit = [float(weight) for weight in weights], float(reach)
        self._fits = factor < 2**60
        self._weights, self._reach, self._factor = weights, reach, factor

    def for_search(self) -> Near:
        """The same in the form that a search can follow.

        Where numbers would not fit into 64 bits they are rounded, such that what is near stays near.
        """
        factor, slack = (self._factor, 0) if self._fits else (_GRAIN, len(self._axes))
        full = [int(weight * factor) for weight in self._weights]
        rows, axes = [], []
        for place, (axis, most) in enumerate(zip(self._axes, full, strict=True)):
            rows.append(axis.rows(most)[self._vectors[:, place]])
            axes.append((axis.levels, most // axis.unit, most))
        return Near(np.column_stack(rows), np.array(axes, np.int64), int(self._reach * factor) + slack)

    def matrix(self) -> NDArray[np.bool_]:
        """Whether each value is near each other."""
        number = len(self._vectors)
        near = np.empty((number, number), bool)
        rows = max(1, _AT_ONCE // max(number, 1))
        for start in range(0, number, rows):
            one = np.arange(start, min(start + rows, number))
            near[one] = self.of_pairs(one[:, None], np.arange(number)[None, :])
        return near

    def counted(self, classes: Histogram) -> Ints:
        """For each entry, the records of its class that are near it, itself included."""
        pairs = int((classes.distinct**2).sum())
        products = classes.classes * self._size**2
        if products < _CHEAPER * pairs and self._size <= _LARGEST_MATRIX:
            return self._by_product(classes)
        return self._by_pair(classes)

    def _by_product(self, classes: Histogram) -> Ints:
        """As the product of two matrices: quick where a class has many of all values."""
        near = self.matrix().astype(float)
        found = np.empty(len(classes.group), np.int64)
        order = np.argsort(classes.group, kind="stable")
        rows = min(classes.classes, max(1, _AT_ONCE // max(self._size, 1)))
        for start in range(0, classes.classes, rows or 1):
            low, high = np.searchsorted(classes.group[order], [start, start + rows])
            mine = order[low:high]
            counts = np.zeros((rows, self._size))
            counts[classes.group[mine] - start, classes.value[mine]] = classes.count[mine]
            found[mine] = (counts @ near)[classes.group[mine] - start, classes.value[mine]]
        return found

    def _by_pair(self, classes: Histogram) -> Ints:
        """Entry by entry of the same class."""
        order = np.argsort(classes.group, kind="stable")
        value, count = classes.value[order], classes.count[order]
        lengths = classes.distinct
        starts = np.cumsum(lengths) - lengths
        start, length = (np.repeat(array, lengths) for array in (starts, lengths))
        pairs = np.append(0, np.cumsum(length))
        found = np.empty(len(order), np.int64)
        done = 0
        while done < len(order):
            stop = max(done + 1, int(np.searchsorted(pairs, pairs[done] + _AT_ONCE, side="right")) - 1)
            mine = np.repeat(np.arange(done, stop), length[done:stop])
            other = start[mine] + np.arange(len(mine)) - (pairs[mine] - pairs[done])
            near = np.where(self.of_pairs(value[mine], value[other]), count[other], 0)
            found[order[done:stop]] = np.add.reduceat(near, pairs[done:stop] - pairs[done])
            done = stop
        return found

    def of_pairs(self, one: Ints, other: Ints) -> NDArray[np.bool_]:
        """Whether each value is near its partner."""
        if self._fits:
            return self._distances(one, other) <= self._limit
        rough = sum(
            scale * axis.rough(self._vectors[one, place], self._vectors[other, place])
            for place, (axis, scale) in enumerate(zip(self._axes, self._rough_scales, strict=True))
        )
        beyond: NDArray[np.float64] = np.asarray(rough) - self._rough_limit
        near = beyond <= 0
        unclear = np.nonzero(np.abs(beyond) <= _CLEAR)
        one, other = (np.broadcast_to(side, near.shape)[unclear] for side in (one, other))
        near[unclear] = self._distances(one, other) <= self._limit
        return near

    def _distances(self, one: Ints, other: Ints) -> Whole:
        """Distance of each value to its partner, times the factor."""
        total: Whole = np.zeros(np.broadcast_shapes(one.shape, other.shape), np.int64 if self._fits else object)
        for place, (axis, scale) in enumerate(zip(self._axes, self._scales, strict=True)):
            steps = axis.steps(self._vectors[one, place], self._vectors[other, place])
            total = total + (steps if self._fits else steps.astype(object)) * scale
        return total


class _Axis:
    """The distances of one column, as whole numbers of steps; `unit` of them are the distance 1."""

    def __init__(self, column: SensitiveColumn) -> None:
        self._known, self._size = column.known, column.size
        self._tree = column.taxonomy if column.known else None
        self._leaves = column.leaves
        self._places: Whole | None = None
        self.unit = 1
        if self._tree is not None:
            self.unit = 2 * self._tree.height_edges
        elif column.numbers is not None:
            numbers = [number - column.numbers[0] for number in column.numbers]
            self._places, _ = whole_numbers(numbers)
            self.unit = int(self._places[-1]) or 1
            self._shares = np.array([float(number / (numbers[-1] or 1)) for number in numbers])

    def steps(self, one: Ints, other: Ints) -> Whole:
        """Steps from each value to its partner."""
        if self._places is not None:
            return self._or_full(one, other, self._differences(self._places, one, other), self.unit)
        if self._tree is not None:
            return self._or_full(one, other, self._edges(one, other), self.unit)
        different: Ints = (one != other).astype(np.int64)
        return different

    @property
    def levels(self) -> int:
        """Levels of the tree below its root; 0 where there is no tree."""
        return 0 if self._tree is None else self._tree.height_edges

    def rows(self, full: int) -> Ints:
        """Numbers that give the distances of all values, if `full` is the distance 1; see `Near`."""
        rows = np.repeat(MISSING - np.arange(self._size)[:, None], max(self.levels, 1), axis=1)
        if self._places is not None:
            rows[: self._known, 0] = [int(place) * full // self.unit for place in self._places]
        if self._tree is not None:
            assert self._leaves is not None
            node = self._tree.leaf_node[self._leaves]
            for level in range(self.levels, 0, -1):
                there = self._tree.depth[node] == level
                rows[: self._known, level - 1] = np.where(there, node, PAD)
                node = np.where(there, self._tree.parent[node], node)
        return rows

    def rough(self, one: Ints, other: Ints) -> NDArray[np.float64]:
        """Distance of each value to its partner, rounded."""
        if self._places is not None:
            return self._or_full(one, other, self._differences(self._shares, one, other), 1)
        return self.steps(one, other) / self.unit

    def _or_full(self, one: Ints, other: Ints, known: Whole, full: int) -> Whole:
        """The distances of known values, and the full distance where one of both is missing."""
        return np.where((one != other) & ((one >= self._known) | (other >= self._known)), full, known)

    def _differences(self, places: Whole, one: Ints, other: Ints) -> Whole:
        one, other = (np.minimum(side, self._known - 1) for side in (one, other))
        differences: Whole = np.abs(places[one] - places[other])
        return differences

    def _edges(self, one: Ints, other: Ints) -> Ints:
        """Edges between two leaves of the tree."""
        assert self._tree is not None
        assert self._leaves is not None
        one, other = (self._leaves[np.minimum(side, self._known - 1)] for side in (one, other))
        depth = self._tree.depth.astype(np.int64)
        edges: Ints = depth[self._tree.leaf_node[one]] + depth[self._tree.leaf_node[other]]
        return edges - 2 * depth[self._tree.lca(*np.broadcast_arrays(one, other))]
