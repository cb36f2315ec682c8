"""Clusters as boxes with their sizes, and what a record adds to the loss of one.

The loss of a cluster is its size times the cost of its box. A record that joins pays the cost of
the box, and every member, itself included, pays for what the box grows:

    (size + 1) * cost(box + record) - size * cost(box) = cost(box) + (size + 1) * growth of the box

Both terms are never negative, so a search may leave a cluster as soon as a partial sum reaches
the least loss known. Clusters whose box alone costs that much are passed with one comparison.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kohort.kernels.costs import span_cost
from kohort.kernels.jit import kernel

NEVER = 2**62
"""More than any loss; the cost of the box of a cluster that has no members."""


class Boxes(NamedTuple):
    """The smallest box around each cluster."""

    lows: NDArray[np.int32]
    """Shape (clusters, d)."""
    highs: NDArray[np.int32]
    sides: NDArray[np.int32]
    """Cost of each side."""
    cost: NDArray[np.int64]
    """Cost of each box: the sum of its sides; NEVER for a cluster without members."""
    sizes: NDArray[np.int64]


def empty_boxes(clusters: int, axes: int) -> Boxes:
    """Clusters without members."""
    lows, highs, sides = (np.zeros((clusters, axes), np.int32) for _ in range(3))
    return Boxes(lows, highs, sides, np.full(clusters, NEVER, np.int64), np.zeros(clusters, np.int64))


@kernel
def add_to_box(
    boxes,  # IN/OUT Boxes
    cluster,  # IN   int
    costs,  # IN   Costs
    row,  # IN   int32[d], a record
    copies,  # IN   int, how many of it
):
    """Let records with equal codes join a cluster."""
    cost = 0
    for axis in range(row.shape[0]):
        lo = hi = row[axis]
        if boxes.sizes[cluster] > 0:
            lo = min(lo, boxes.lows[cluster, axis])
            hi = max(hi, boxes.highs[cluster, axis])
        boxes.lows[cluster, axis] = lo
        boxes.highs[cluster, axis] = hi
        boxes.sides[cluster, axis] = span_cost(costs, axis, lo, hi)
        cost += boxes.sides[cluster, axis]
    boxes.cost[cluster] = cost
    boxes.sizes[cluster] += copies


@kernel
def cheapest(
    boxes,  # IN   Boxes
    costs,  # IN   Costs
    row,  # IN   int32[d], a record
    some,  # IN   int32[], clusters to look at, ascending
    count,  # IN   int, how many of them
    least,  # IN   int, a loss that is of no interest any more
):
    """Find the cluster to which a record adds the least loss, the first of equals.

    Returns its place in `some`, or -1 if none adds less than `least`; and the loss.
    """
    lows, highs, sides, cost, sizes = boxes
    d = row.shape[0]
    best = -1
    for index in range(count):
        cluster = some[index]
        loss = cost[cluster]
        axis = 0
        while loss < least and axis < d:
            lo = lows[cluster, axis]
            hi = highs[cluster, axis]
            code = row[axis]
            if code < lo or code > hi:
                grown = span_cost(costs, axis, min(lo, code), max(hi, code)) - sides[cluster, axis]
                loss += (sizes[cluster] + 1) * grown
            axis += 1
        if loss < least:
            least = loss
            best = index
    return best, least


@kernel
def total_loss(
    boxes,  # IN   Boxes
):
    """Sum of size times cost over all clusters."""
    total = 0
    for cluster in range(boxes.sizes.shape[0]):
        if boxes.sizes[cluster] > 0:
            total += boxes.sizes[cluster] * boxes.cost[cluster]
    return total
