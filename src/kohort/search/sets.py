"""Sets of items, repaired inside classes: generalized until they keep what is promised; classes merged if that pays.

A tree over the classes is made by the quasi-identifiers alone: all of them are cut into halves, along the column where
that leaves the least loss, and so on down to single classes. A node is one class that might be published, with its loss
in the quasi-identifiers and, its sets being repaired, in these. From the leaves upwards, a node is taken as one class
where that loses no more than the best of what is below it: so of all releases whose classes are nodes of the tree, it
is one of least joint loss.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kohort.codes.boxes import Boxes
from kohort.codes.encode import Axis
from kohort.codes.sets import SetCodes
from kohort.measures.base import Measure
from kohort.measures.loss import cell_costs

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Repaired:
    """The sets of some records, as they are published."""

    labels: NDArray[np.int32]
    """Number of a label of `texts`, set after set."""
    starts: Ints
    texts: tuple[str, ...]
    losses: NDArray[np.float64]
    """What the items of each class lose together, 1 for one that is left out."""
    gone: Ints
    """Items that are left out, of each class."""

    def of(self, turn: Ints) -> Repaired:
        """The same with record `turn[i]` at place i."""
        sizes = np.diff(self.starts)[turn]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        index = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes) + np.repeat(self.starts[turn], sizes)
        return Repaired(self.labels[index], starts, self.texts, self.losses, self.gone)


class Repair(Protocol):
    """How the sets of classes are made to keep a promise, each class by itself."""

    def __call__(self, rows: Ints, bounds: Ints, allowed: Ints) -> Repaired:
        """Repair classes.

        Parameters
        ----------
        rows : int64[n]
            Records, class after class.
        bounds : int64[classes + 1]
            Where each class begins in them.
        allowed : int64[classes]
            Items that each class may leave out.
        """


@dataclass(frozen=True)
class Joint:
    """How the losses of both parts of a table are put together."""

    axes: Sequence[Axis]
    measure: Measure
    records: int
    items: int
    weight: float
    """Of the sets."""

    def of_boxes(self, boxes: Boxes, sizes: Ints) -> NDArray[np.float64]:
        """What classes lose in the quasi-identifiers."""
        lost = np.zeros(len(sizes))
        for j, axis in enumerate(self.axes):
            lost += axis.weight * cell_costs(self.measure, axis, boxes.lo[:, j], boxes.hi[:, j])
        return lost * sizes / max(self.records, 1)

    def of_sets(self, losses: NDArray[np.float64]) -> NDArray[np.float64]:
        """What they lose in the sets."""
        return self.weight * losses / max(self.items, 1)


@dataclass(frozen=True)
class _Tree:
    """A tree over classes, each node a stretch of them in one order; nodes come before what is below them."""

    order: Ints
    low: Ints
    high: Ints
    """First class of each node in the order, and the one after the last."""
    parent: Ints
    """-1 for the root."""
    depth: Ints


def merged(
    boxes: Boxes, labels: Ints, codes: SetCodes, joint: Joint, repair: Repair, limit: Callable[[Ints], Ints]
) -> Ints:
    """The class of every record, after merging those whose sets lose more apart.

    Parameters
    ----------
    boxes : Boxes
        Of each class.
    labels : int64[n]
        Class of each record.
    limit : callable
        How many items classes may leave out, by their items.
    """
    sizes = np.bincount(labels)
    tree = _tree_over(boxes, sizes, joint)
    place = np.argsort(tree.order)
    rows = np.argsort(place[labels], kind="stable")
    ends = np.concatenate([[0], np.cumsum(sizes[tree.order])])
    items = np.concatenate([[0], np.cumsum(codes.sizes[rows])])
    whole = np.empty(len(tree.low))
    for depth in range(int(tree.depth.max()) + 1):
        nodes = np.flatnonzero(tree.depth == depth)
        low, high = ends[tree.low[nodes]], ends[tree.high[nodes]]
        mine = np.concatenate([rows[first:last] for first, last in zip(low.tolist(), high.tolist(), strict=True)])
        allowed = limit(items[high] - items[low])
        found = repair(mine, np.concatenate([[0], np.cumsum(high - low)]), allowed)
        of_nodes = [_box(boxes, tree.order[tree.low[node] : tree.high[node]]) for node in nodes.tolist()]
        own = Boxes(np.stack([one.lo for one in of_nodes]), np.stack([one.hi for one in of_nodes]))
        lost = joint.of_boxes(own, high - low) + joint.of_sets(found.losses)
        whole[nodes] = np.where(found.gone > allowed, np.inf, lost)
    return _cut(tree, whole)[labels]


def _cut(tree: _Tree, whole: NDArray[np.float64]) -> Ints:
    """The number of the node that each class is published in: the highest that loses no more than what is below it."""
    number = len(whole)
    below, inner = np.zeros(number), np.zeros(number, bool)
    alone = np.ones(number, bool)
    for node in range(number - 1, -1, -1):
        best = whole[node]
        if inner[node] and below[node] < best:
            best, alone[node] = below[node], False
        if node:
            below[tree.parent[node]] += best
            inner[tree.parent[node]] = True
    found = np.full(len(tree.order), -1, np.int64)
    for node in range(number):
        own = tree.order[tree.low[node] : tree.high[node]]
        if alone[node] and found[own[0]] < 0:
            found[own] = node
    return np.unique(found, return_inverse=True)[1].ravel().astype(np.int64)


def _box(boxes: Boxes, some: Ints) -> Boxes:
    return Boxes(boxes.lo[some].min(axis=0), boxes.hi[some].max(axis=0))


def _tree_over(boxes: Boxes, sizes: Ints, joint: Joint) -> _Tree:
    """Halve the classes, by their records, along the column that leaves the least loss; down to single ones."""
    middle = boxes.lo.astype(np.int64) + boxes.hi
    order = np.arange(len(sizes))
    nodes = [(0, len(sizes), -1, 0)]
    place = 0
    while place < len(nodes):
        low, high, _, depth = nodes[place]
        if high - low > 1:
            own = order[low:high]
            halves = [_halves(own[np.argsort(middle[own, j], kind="stable")], sizes) for j in range(middle.shape[1])]
            costs = _costs(halves, boxes, sizes, joint)
            first, second = halves[int(np.argmin(costs))]
            order[low:high] = np.concatenate([first, second])
            cut = low + len(first)
            nodes += [(low, cut, place, depth + 1), (cut, high, place, depth + 1)]
        place += 1
    columns = np.array(nodes, np.int64)
    return _Tree(order, columns[:, 0], columns[:, 1], columns[:, 2], columns[:, 3])


def _halves(own: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """Classes in an order, cut where about half of their records are on either side."""
    records = np.cumsum(sizes[own])
    cut = int(np.searchsorted(records, records[-1] / 2))
    cut = min(max(cut, 1), len(own) - 1)
    return own[:cut], own[cut:]


def _costs(halves: Sequence[tuple[Ints, Ints]], boxes: Boxes, sizes: Ints, joint: Joint) -> NDArray[np.float64]:
    """What each way to cut classes leaves to lose in the quasi-identifiers."""
    found = [_box(boxes, half) for pair in halves for half in pair]
    own = Boxes(np.stack([one.lo for one in found]), np.stack([one.hi for one in found]))
    records = np.array([int(sizes[half].sum()) for pair in halves for half in pair])
    costs: NDArray[np.float64] = joint.of_boxes(own, records).reshape(-1, 2).sum(axis=1)
    return costs
