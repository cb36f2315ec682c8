"""Sequential clustering: one record after the other moves to where the total loss is least.

The loss of a cluster is its size times the cost of its box, so a move changes two clusters: the
one that the record leaves, whose box may shrink, and the one that it joins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kohort.kernels.boxes import NEVER, Boxes, add_to_box, cheapest, empty_boxes
from kohort.kernels.costs import span_cost
from kohort.kernels.jit import inner, kernel


class Partition(NamedTuple):
    """Clusters with their members as doubly linked lists, and what is known about each record."""

    labels: NDArray[np.int32]
    boxes: Boxes
    head: NDArray[np.int32]
    """First member of each cluster, or -1."""
    after: NDArray[np.int32]
    """The member after a record, or -1."""
    before: NDArray[np.int32]
    changed: NDArray[np.int64]
    """When each cluster changed last, on the clock of all moves."""
    settled: NDArray[np.int64]
    """When each record was last found to be best where it is, or -1."""
    clock: NDArray[np.int64]
    """Moves so far; shape (1,)."""


def empty_partition(labels: NDArray[np.int32], axes: int) -> Partition:
    """Clusters that wait for `gather`."""
    n, clusters = len(labels), int(labels.max()) + 1
    return Partition(
        labels=labels,
        boxes=empty_boxes(clusters, axes),
        head=np.full(clusters, -1, np.int32),
        after=np.full(n, -1, np.int32),
        before=np.full(n, -1, np.int32),
        changed=np.zeros(clusters, np.int64),
        settled=np.full(n, -1, np.int64),
        clock=np.zeros(1, np.int64),
    )


@inner
def _link(
    partition,  # IN/OUT Partition
    record,  # IN   int
    cluster,  # IN   int
):
    """Make a record the first member of a cluster."""
    head = partition.head[cluster]
    partition.after[record] = head
    partition.before[record] = -1
    if head >= 0:
        partition.before[head] = record
    partition.head[cluster] = record
    partition.labels[record] = cluster


@inner
def _unlink(
    partition,  # IN/OUT Partition
    record,  # IN   int
):
    """Take a record out of the list of its cluster."""
    after = partition.after[record]
    before = partition.before[record]
    if after >= 0:
        partition.before[after] = before
    if before >= 0:
        partition.after[before] = after
    else:
        partition.head[partition.labels[record]] = after


@kernel
def gather(
    codes,  # IN   int32[n, d]
    costs,  # IN   Costs
    partition,  # IN/OUT Partition
):
    """Let every record join the cluster of its label."""
    for record in range(codes.shape[0]):
        cluster = partition.labels[record]
        _link(partition, record, cluster)
        add_to_box(partition.boxes, cluster, costs, codes[record], 1)


@inner
def _shrink(
    codes,  # IN   int32[n, d]
    costs,  # IN   Costs
    partition,  # IN   Partition
    record,  # IN   int
    lo,  # OUT  int32[d], box of the other members
    hi,  # OUT  int32[d]
    touching,  # TMP  int64[d]
):
    """Box of a cluster without one of its records; returns its cost.

    Only sides that the record touches can shrink, and such a side is settled as soon as another
    member is found that touches it at the same end.
    """
    boxes = partition.boxes
    cluster = partition.labels[record]
    d = codes.shape[1]
    open_sides = 0
    for axis in range(d):
        code = codes[record, axis]
        lo[axis] = boxes.lows[cluster, axis]
        hi[axis] = boxes.highs[cluster, axis]
        if code == lo[axis] or code == hi[axis]:
            touching[open_sides] = axis
            open_sides += 1
            # An end that the record does not touch is held by another member.
            if code == lo[axis]:
                lo[axis] = np.int32(2**31 - 1)
            if code == boxes.highs[cluster, axis]:
                hi[axis] = np.int32(-1)
    other = partition.head[cluster]
    while other >= 0 and open_sides > 0:
        if other != record:
            index = 0
            while index < open_sides:
                axis = touching[index]
                code = codes[other, axis]
                lo[axis] = min(lo[axis], code)
                hi[axis] = max(hi[axis], code)
                if lo[axis] == boxes.lows[cluster, axis] and hi[axis] == boxes.highs[cluster, axis]:
                    open_sides -= 1
                    touching[index] = touching[open_sides]
                else:
                    index += 1
        other = partition.after[other]
    cost = boxes.cost[cluster]
    for index in range(open_sides):
        axis = touching[index]
        cost += span_cost(costs, axis, lo[axis], hi[axis]) - boxes.sides[cluster, axis]
    return cost


@kernel
def sweep(
    codes,  # IN   int32[n, d]
    costs,  # IN   Costs
    records,  # IN   int64[], records to look at, in this order
    floor,  # IN   int, a cluster with no more members than this keeps them
    partition,  # IN/OUT Partition
):
    """Move each record to the cluster where the total loss is least, if that is less than now.

    Returns the number of moves, and by how much the total loss fell. A record that was found
    best where it is, in a cluster that has not changed since, is compared with those clusters
    only that have.
    """
    boxes = partition.boxes
    clusters = boxes.sizes.shape[0]
    d = codes.shape[1]
    some = np.empty(clusters, np.int32)
    lo = np.empty(d, np.int32)
    hi = np.empty(d, np.int32)
    touching = np.empty(d, np.int64)
    moves = 0
    saved = 0
    for record in records:
        home = partition.labels[record]
        size = boxes.sizes[home]
        if size <= floor:
            continue
        if size > 1:
            cost = _shrink(codes, costs, partition, record, lo, hi, touching)
            gain = size * boxes.cost[home] - (size - 1) * cost
        else:
            cost = NEVER
            gain = boxes.cost[home]
        since = partition.settled[record]
        if partition.changed[home] > since:
            since = -1
        count = 0
        for cluster in range(clusters):
            some[count] = cluster
            # Counts on without a branch: a cluster of no interest is written over.
            count += cluster != home and partition.changed[cluster] > since and boxes.cost[cluster] < gain
        slot, loss = cheapest(boxes, costs, codes[record], some, count, gain)
        if slot < 0:
            partition.settled[record] = partition.clock[0]
            continue
        target = some[slot]
        _unlink(partition, record)
        boxes.sizes[home] -= 1
        boxes.cost[home] = cost
        if size > 1:
            for axis in range(d):
                boxes.lows[home, axis] = lo[axis]
                boxes.highs[home, axis] = hi[axis]
                boxes.sides[home, axis] = span_cost(costs, axis, lo[axis], hi[axis])
        _link(partition, record, target)
        add_to_box(boxes, target, costs, codes[record], 1)
        partition.clock[0] += 1
        partition.changed[home] = partition.clock[0]
        partition.changed[target] = partition.clock[0]
        moves += 1
        saved += gain - loss
    return moves, saved


@kernel
def merge_small(
    codes,  # IN   int32[n, d]
    costs,  # IN   Costs
    k,  # IN   int
    start,  # IN   int, first cluster of this call
    stop,  # IN   int, cluster after the last one
    partition,  # IN/OUT Partition
):
    """Unite each cluster that has fewer than k members with the one where the loss grows least.

    One pass over all clusters in order is enough: those before the current one are gone or have
    k members, so a union that is still too small has its turn later.
    """
    boxes = partition.boxes
    d = codes.shape[1]
    clusters = boxes.sizes.shape[0]
    for cluster in range(start, stop):
        size = boxes.sizes[cluster]
        if size == 0 or size >= k:
            continue
        best = -1
        least = NEVER
        for other in range(clusters):
            if other == cluster or boxes.sizes[other] == 0:
                continue
            both = size + boxes.sizes[other]
            loss = size * (boxes.cost[other] - boxes.cost[cluster])
            for axis in range(d):
                if loss >= least:
                    break
                lo = min(boxes.lows[cluster, axis], boxes.lows[other, axis])
                hi = max(boxes.highs[cluster, axis], boxes.highs[other, axis])
                loss += both * (span_cost(costs, axis, lo, hi) - boxes.sides[other, axis])
            if loss < least:
                least = loss
                best = other
        if best < 0:  # it is the only one
            return
        while partition.head[cluster] >= 0:
            record = partition.head[cluster]
            _unlink(partition, record)
            _link(partition, record, best)
            add_to_box(boxes, best, costs, codes[record], 1)
        boxes.sizes[cluster] = 0
        boxes.cost[cluster] = NEVER
