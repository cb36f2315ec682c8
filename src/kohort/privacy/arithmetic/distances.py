"""Distances of a class from the whole table: the least work that makes the one distribution into the other.

Each is a sum over parts of the values: weight times the difference of the part's shares in class and table. So it is
computed in whole numbers: times the records of the class, those of the table, and a unit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kohort.policy.hierarchy import Taxonomy
from kohort.privacy.arithmetic.counting import Whole, sums, widened
from kohort.privacy.base import Histogram
from kohort.privacy.reference import Reference

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Parts:
    """The parts whose shares are compared: runs of values, from the first to the one before `after`."""

    first: Ints
    after: Ints
    weight: Ints
    unit: int
    """What the weighted sum of differences is divided by."""


def equal_work(classes: Histogram, table: Reference) -> tuple[Whole, int]:
    """Half the sum of all differences: every value is as far from every other. And the unit."""
    weights = np.ones(table.size, np.int64)
    return _compared(classes, table, classes.group, classes.value, classes.count, table.counts, weights), 2


def equal_parts(table: Reference) -> Parts:
    """Every value by itself."""
    own = np.arange(table.size)
    return Parts(own, own + 1, np.ones(table.size, np.int64), 2)


def ordered_work(classes: Histogram, table: Reference) -> tuple[Whole, int]:
    """The differences of the shares of the first 1, 2, ... values: each is one step from the next. And the unit."""
    steps = table.size - 1
    if steps < 1 or not classes.classes:
        return np.zeros(classes.classes, np.int64), 1
    total, sizes = table.total, classes.sizes
    up_to = np.cumsum(table.counts)
    area = np.append(0, np.cumsum(up_to))
    order = np.lexsort((classes.value, classes.group))
    group, value, count = classes.group[order], classes.value[order], classes.count[order]
    # From each value of a class to the next one, the class has as many records: a run of steps with one height.
    is_last = np.append(group[1:] != group[:-1], True)
    is_first = np.append(True, is_last[:-1])
    until = np.where(is_last, steps, np.append(value[1:], 0))
    before = np.cumsum(count) - count
    height = before + count - np.repeat(before[is_first], classes.distinct)
    size, height, area, up_to = widened(4 * table.size * total * total, sizes[group], height, area, up_to)
    start = np.minimum(value, steps)
    # The table's share grows along the run: where does it pass that of the class?
    crossing = np.searchsorted(up_to, height * total // size, side="right")
    crossing = np.clip(crossing, start, until)
    below, above = crossing - start, until - crossing
    work = (below - above) * height * total
    work = work + size * (area[start] + area[until] - 2 * area[crossing])
    lead = np.where(is_first, area[start], 0) * size  # no record of the class lies before its first value
    return sums(group, work + lead, classes.classes), steps


def ordered_parts(table: Reference) -> Parts:
    """The first 1, 2, ... values."""
    steps = np.arange(1, table.size)
    return Parts(np.zeros_like(steps), steps, np.ones_like(steps), max(len(steps), 1))


def tree_work(classes: Histogram, table: Reference) -> tuple[Whole, int]:
    """The differences of the shares of all nodes, weighted by how much higher the parent is. And the unit.

    So two values are as far apart as their common ancestor is high, and a missing one is as far from all others as
    the root is high.
    """
    tree, leaves = _tree(table)
    weight = np.append(_climbs(tree), tree.height_edges)  # the missing value is one more node, below the root
    node_of = np.append(tree.leaf_node[leaves], [tree.n_nodes] * table.column.has_missing).astype(np.int64)
    depth = np.append(tree.depth, 1)
    counts = np.zeros(tree.n_nodes + 1, np.int64)
    np.add.at(counts, node_of, table.counts)
    parent = np.append(tree.parent, 0)
    total: Whole = np.zeros(classes.classes, np.int64)
    group, node, count = classes.group, node_of[classes.value], classes.count
    # From the deepest level upwards, so that every node has all its records before it is looked at.
    for level in range(int(depth.max()), 0, -1):
        here = depth[node] == level
        found = Histogram.of_pairs(group[here], node[here], count[here])
        nodes = np.flatnonzero((depth == level) & (counts > 0))
        inside = np.zeros_like(counts)
        inside[nodes] = counts[nodes]
        total = total + _compared(classes, table, found.group, found.value, found.count, inside, weight)
        np.add.at(counts, parent[nodes], counts[nodes])
        group = np.append(group[~here], found.group)
        node = np.append(node[~here], parent[found.value])
        count = np.append(count[~here], found.count)
    return total, 2 * tree.height_edges


def tree_parts(table: Reference) -> Parts | None:
    """All nodes but the root, if the values under each are a run; numbers may lie otherwise."""
    tree, leaves = _tree(table)
    if (np.diff(leaves) < 0).any():
        return None
    first = np.append(np.searchsorted(leaves, tree.first_leaf), [len(leaves)])
    after = np.append(np.searchsorted(leaves, tree.last_leaf, side="right"), [table.size])
    weight = np.append(_climbs(tree), tree.height_edges)
    used = (first < after) & (weight > 0)
    runs, index = np.unique(np.stack([first[used], after[used]], axis=1), axis=0, return_inverse=True)
    weights = np.bincount(index.reshape(-1), weight[used], minlength=len(runs)).astype(np.int64)
    return Parts(runs[:, 0], runs[:, 1], weights, 2 * tree.height_edges)


def _climbs(tree: Taxonomy) -> Ints:
    """How much higher the parent of each node is; 0 for the root."""
    climbs = tree.height[tree.parent].astype(np.int64) - tree.height
    climbs[0] = 0
    return climbs


def _tree(table: Reference) -> tuple[Taxonomy, Ints]:
    column = table.column
    assert column.taxonomy is not None
    assert column.leaves is not None
    return column.taxonomy, column.leaves


def _compared(
    classes: Histogram, table: Reference, group: Ints, part: Ints, count: Ints, inside: Ints, weight: Ints
) -> Whole:
    """Sum over all parts of weight times the difference of shares, for each class.

    Parameters
    ----------
    group, part, count : int64[]
        Records of a class in a part, for each pair that has some.
    inside, weight : int64[parts]
        Records of the table in each part, and its weight.
    """
    total, sizes = table.total, classes.sizes
    everything = int((inside * weight).sum())
    count, size, inside, weight = widened(2 * max(everything, total) * total, count, sizes[group], inside, weight)
    [sizes] = widened(2 * max(everything, total) * total, sizes)
    # A part that the class has not differs by what the table has of it.
    expected = size * inside[part]
    work = weight[part] * (np.abs(count * total - expected) - expected)
    return sizes * everything + sums(group, work, classes.classes)
