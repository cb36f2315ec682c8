"""The distinct rows of a table, arranged for the search of boxes around a row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kohort.codes.encode import Codes
from kohort.kernels.bounds.bound import ENTRIES, SETS, SPARE, Sets, insert_rows, nearest_costs, own_costs
from kohort.kernels.bounds.bound_tree import LEAF, Index, Tree, build_tree
from kohort.kernels.costs import LINE, Costs
from kohort.measures.base import Measure
from kohort.measures.bounds.costs import certain_costs

ROOM = 20_000
"""Most rows near a row that boxes are searched among; a row with more keeps its cheap value."""
STRIDE = 10**8
"""Steps in one call of a kernel: often enough for Ctrl-C."""


@dataclass(frozen=True)
class Pool:
    """Sets of k records, whose values may not sum to more than their box costs k times."""

    size: NDArray[np.int64]
    cost: NDArray[np.int64]
    row: NDArray[np.int32]
    times: NDArray[np.int32]
    price: NDArray[np.float64]
    """Dual price of each set in the master problem."""
    idle: NDArray[np.int64]
    """Rounds since it last had a price."""

    @classmethod
    def of(cls, sets: Sets) -> Pool:
        """Copy what a kernel has listed."""
        made, entries = sets.used[SETS], sets.used[ENTRIES]
        size, cost = sets.size[:made].copy(), sets.cost[:made].copy()
        row, times = sets.row[:entries].copy(), sets.times[:entries].copy()
        return cls(size, cost, row, times, np.zeros(made), np.zeros(made, np.int64))

    @classmethod
    def union(cls, pools: list[Pool]) -> Pool:
        """All sets of several pools."""
        return cls(*(np.concatenate(parts) for parts in zip(*(vars(pool).values() for pool in pools), strict=True)))

    def only(self, kept: NDArray[np.bool_]) -> Pool:
        """The sets that are kept."""
        entries = np.repeat(kept, self.size)
        return Pool(
            self.size[kept],
            self.cost[kept],
            self.row[entries],
            self.times[entries],
            self.price[kept],
            self.idle[kept],
        )


class Rows:
    """Distinct rows in tree order, with what the kernels need."""

    def __init__(self, codes: Codes, measure: Measure, k: int) -> None:
        costs, credit = certain_costs(measure, codes)
        distinct = codes.distinct
        m, d = distinct.codes.shape
        nodes = 4 * (m // LEAF) + 3
        order, span, child = np.empty(m, np.int64), np.empty((nodes, 2), np.int64), np.empty(nodes, np.int64)
        lo, hi = np.empty((nodes, d), np.int32), np.empty((nodes, d), np.int32)
        made = build_tree(distinct.codes, costs, order, span, child, lo, hi)
        self.k = k
        self.costs: Costs = costs
        self.credit = int(credit.sum())
        self.order: NDArray[np.int64] = order
        self.counts: NDArray[np.int64] = distinct.counts[order].astype(np.int64)
        tree = Tree(span[:made], child[:made], lo[:made], hi[:made])
        self.index = Index(np.ascontiguousarray(distinct.codes[order]), self.counts, costs, tree, k)
        reaches = np.where(costs.kind == LINE, 2, 1)
        self.left: NDArray[np.int64] = (np.cumsum(reaches) - reaches).astype(np.int64)
        self._found = np.empty(m, np.int64)
        self._space = np.empty((2, int(reaches.sum()) + 2, min(m, ROOM)), np.int64)

    def total(self, values: NDArray[np.int64]) -> int:
        """Sum over all records."""
        return int(np.dot(self.counts, values))

    def own_costs(self) -> NDArray[np.int64]:
        """Cost of publishing each row as it is: no box that holds it costs less."""
        values = np.empty(len(self.index.codes), np.int64)
        own_costs(self.index.codes, self.costs, values)
        return values

    def nearest(self, rows: NDArray[np.int64], steps: int, values: NDArray[np.int64]) -> int:
        """Set the cost up to the (k-1)-th nearest record for some rows; returns the steps left."""
        start = 0
        while start < len(rows) and steps > 0:
            portion = min(steps, STRIDE)
            start, left = nearest_costs(self.index, rows, start, portion, values)
            steps -= portion - left
        return steps

    def insert(
        self, base: NDArray[np.int64], targets: NDArray[np.int64], patience: int, steps: int
    ) -> tuple[NDArray[np.int64], Pool, int]:
        """Raise values from a valid base to their targets as far as boxes allow; sets in the way; steps left."""
        wanted = np.flatnonzero((self.counts < self.k) & (targets > base))
        # Ascending: then only boxes that cost less than the target matter (see docs/bound.md).
        wanted = wanted[np.argsort(targets[wanted], kind="stable")]
        values = np.minimum(base, targets)
        entries = max(2**21, 2 * SPARE * self.k)
        sets = Sets(
            np.empty(entries // 2, np.int64), np.empty(entries // 2, np.int64),
            np.empty(entries, np.int32), np.empty(entries, np.int32), np.zeros(2, np.int64),
        )  # fmt: skip
        pools = [Pool.of(sets)]
        start = 0
        while start < len(wanted) and steps > 0:
            portion = min(steps, STRIDE)
            sets.used[:] = 0
            start, left = insert_rows(
                self.index, self.left, wanted, targets, patience, start, portion, values, self._found, self._space, sets
            )  # fmt: skip
            steps -= portion - left
            pools.append(Pool.of(sets))
        return values, Pool.union(pools), steps
