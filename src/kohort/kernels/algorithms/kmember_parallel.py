"""Greedy k-member with all clusters growing at once, on distinct rows.

Every cluster keeps the rows that were nearest to its box when it last looked at all of them, and
a bar that every other row was beyond at that time. Boxes only grow and costs are monotone, so a
row within the bar is the best of all, and most of the time nobody needs to look any further.

Rows are compared by keys: the cost in the upper half, the number of the row in the lower one. So
the smaller key is the cheaper row, the first of equals.

With a class penalty the loss of cluster + row counts, and a row whose class is not among the most
frequent ones of the cluster pays the penalty, too. Its loss is never less than what its cost alone
makes of it, so a candidate that loses less than the bar's cost would is still the best of all.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kohort.kernels.algorithms.oka import _nearest
from kohort.kernels.boxes import Boxes, add_to_box, empty_boxes
from kohort.kernels.costs import box_cost_with
from kohort.kernels.jit import inner, kernel
from kohort.kernels.search.scan import scan_box

LOW = 2**32 - 1
LAST = 2**63 - 1
"""A key beyond every other."""


# -- groups and seeds ------------------------------------------------------------------------------


@kernel
def assign_groups(
    codes,  # IN   int32[m, d], distinct rows
    costs,  # IN   Costs
    centres,  # IN   int32[groups, d]: position on a line, code on a taxonomy
    begin,  # IN   int, first row to assign
    end,  # IN   int
    group,  # OUT  int32[m], the nearest centre, the first of equals
    far,  # OUT  int64[m], how far it is
):
    """Give some rows to the group of the nearest centre."""
    everything = np.arange(centres.shape[0]).astype(np.int32)
    for row in range(begin, end):
        group[row], far[row] = _nearest(costs, centres, codes[row], everything, everything.shape[0])


@kernel
def spread_seeds(
    codes,  # IN   int32[m, d]
    costs,  # IN   Costs
    queue,  # IN   int32[n - 1], rows that each group offers, in this order, group after group
    ends,  # IN   int64[groups], where the rows of each group end in `queue`
    work,  # IN   int, distances to compute in this call
    found,  # IN   int, seeds that there are
    ahead,  # IN/OUT int64[groups], next row of each group in `queue`
    total,  # IN/OUT int64[groups], sum of the distances of that row from all seeds but the last
    seeds,  # IN/OUT int32[clusters], rows
):
    """Add seeds: of the rows that groups offer, the one with the largest sum of distances.

    Returns how many seeds there are.
    """
    while found < seeds.shape[0] and work > 0:
        latest = codes[seeds[found - 1]]
        best = -1
        for group in range(ends.shape[0]):
            if ahead[group] < ends[group]:
                total[group] += box_cost_with(costs, latest, latest, codes[queue[ahead[group]]])
                if best < 0 or total[group] > total[best]:
                    best = group
        seeds[found] = queue[ahead[best]]
        ahead[best] += 1
        total[best] = 0
        if ahead[best] < ends[best]:
            row = codes[queue[ahead[best]]]
            for index in range(found):
                total[best] += box_cost_with(costs, row, row, codes[seeds[index]])
        work -= found + ends.shape[0]
        found += 1
    return found


# -- growth ----------------------------------------------------------------------------------------


class Growth(NamedTuple):
    """Clusters with the rows they look at."""

    boxes: Boxes
    keys: NDArray[np.int64]
    """Shape (clusters, width): candidates, with the cost of the box with each."""
    found: NDArray[np.int64]
    """Number of candidates of each cluster."""
    bar: NDArray[np.int64]
    """Every other row had a larger key when the candidates were collected."""
    stale: NDArray[np.bool_]
    """Whether the box has grown since the costs were computed."""
    wish: NDArray[np.int32]
    """The row that each cluster proposes."""
    price: NDArray[np.int64]
    """What it would add to the loss, the penalty included."""
    classes: NDArray[np.int32]
    """Shape (clusters, k): classes of the members; without a penalty no columns."""


def new_growth(clusters: int, axes: int, width: int, members: int) -> Growth:
    """Clusters without members, which have not looked at any row."""
    return Growth(
        boxes=empty_boxes(clusters, axes),
        keys=np.empty((clusters, width), np.int64),
        found=np.zeros(clusters, np.int64),
        bar=np.full(clusters, -1, np.int64),
        stale=np.zeros(clusters, np.bool_),
        wish=np.empty(clusters, np.int32),
        price=np.empty(clusters, np.int64),
        classes=np.empty((clusters, members), np.int32),
    )


@kernel
def join(
    codes,  # IN   int32[m, d]
    costs,  # IN   Costs
    first,  # IN   int64[m], position of the first copy of a row
    penalty,  # IN/OUT ClassPenalty
    row,  # IN   int
    cluster,  # IN   int
    growth,  # IN/OUT Growth
    left,  # IN/OUT int32[m], copies left of each row
    taken,  # IN/OUT int64[m], copies that are gone
    labels,  # OUT  int32[n]
):
    """Let a copy of a row join a cluster."""
    labels[first[row] + taken[row]] = cluster
    taken[row] += 1
    left[row] -= 1
    if penalty.cost > 0:
        members = growth.boxes.sizes[cluster]
        growth.classes[cluster, members] = penalty.of_row[row]
        alike = np.sum(growth.classes[cluster, : members + 1] == penalty.of_row[row])
        penalty.most[cluster] = max(penalty.most[cluster], alike)
    add_to_box(growth.boxes, cluster, costs, codes[row], 1)
    growth.stale[cluster] = True


@inner
def _refresh(
    codes,  # IN   int32[m, d]
    costs,  # IN   Costs
    cluster,  # IN   int
    left,  # IN   int32[m]
    growth,  # IN/OUT Growth
):
    """Compute the costs of the candidates again, and forget those that are used up."""
    keys = growth.keys[cluster]
    lo = growth.boxes.lows[cluster]
    hi = growth.boxes.highs[cluster]
    kept = 0
    for index in range(growth.found[cluster]):
        row = keys[index] & LOW
        if left[row] > 0:
            keys[kept] = (np.int64(box_cost_with(costs, lo, hi, codes[row])) << 32) | row
            kept += 1
    growth.found[cluster] = kept
    growth.stale[cluster] = False


@inner
def _collect(
    distance,  # IN   int32[live]
    live,  # IN   int
    rows,  # IN   int32[live], row of each slot, ascending
    left,  # IN   int32[m]
    cluster,  # IN   int
    growth,  # IN/OUT Growth
):
    """Take the rows with the smallest keys as candidates."""
    width = growth.keys.shape[1]
    # Keys are negative here, so the top of the heap is the largest of those that are kept.
    heap = [np.int64(0) for _ in range(0)]
    bar = np.int64(2**31)
    for slot in range(live):
        row = rows[slot]
        if distance[slot] > bar or left[row] == 0:
            continue
        key = -((np.int64(distance[slot]) << 32) | row)
        if len(heap) < width:
            heapq.heappush(heap, key)
        elif key > heap[0]:
            heapq.heapreplace(heap, key)
        if len(heap) == width:
            bar = (-heap[0]) >> 32
    for index in range(len(heap)):
        growth.keys[cluster, index] = -heap[index]
    growth.found[cluster] = len(heap)
    growth.bar[cluster] = -heap[0] if len(heap) == width else LAST


@kernel
def propose(
    codes,  # IN   int32[m, d]
    costs,  # IN   Costs
    penalty,  # IN   ClassPenalty
    packs,  # IN   Packs, of the rows in `rows`
    live,  # IN   int, how many of them there are
    rows,  # IN   int32[m], rows that may be left, ascending
    left,  # IN   int32[m]
    clusters,  # IN   int64[], clusters that look for a record
    growth,  # IN/OUT Growth
):
    """Let clusters find the row that costs them least, the first of equals."""
    table = np.empty(max(1, packs.size.max()), np.int32)
    side = np.empty(costs.size.max(), np.int32)
    distance = np.empty(live, np.int32)
    boxes = growth.boxes
    votes = np.zeros(len(penalty.votes), np.int64)
    for cluster in clusters:
        if growth.stale[cluster]:
            _refresh(codes, costs, cluster, left, growth)
        if penalty.cost > 0:
            _propose_with_penalty(
                costs, penalty, packs, live, rows, left, cluster, table, side, distance, votes, growth
            )
            continue
        best = _least(growth, cluster, left)
        if best > growth.bar[cluster]:
            scan_box(costs, packs, live, boxes.lows[cluster], boxes.highs[cluster], table, side, distance)
            _collect(distance, live, rows, left, cluster, growth)
            best = _least(growth, cluster, left)
        size = boxes.sizes[cluster]
        growth.wish[cluster] = best & LOW
        growth.price[cluster] = (size + 1) * (best >> 32) - size * boxes.cost[cluster]


@inner
def _propose_with_penalty(
    costs,  # IN   Costs
    penalty,  # IN   ClassPenalty
    packs,  # IN   Packs
    live,  # IN   int
    rows,  # IN   int32[m]
    left,  # IN   int32[m]
    cluster,  # IN   int
    table,  # TMP  int32[]
    side,  # TMP  int32[]
    distance,  # TMP  int32[live]
    votes,  # IN/OUT int64[classes], all 0
    growth,  # IN/OUT Growth
):
    """Find the row of the least loss and penalty, the first of equals."""
    boxes = growth.boxes
    size = boxes.sizes[cluster]
    members = growth.classes[cluster, :size]
    most = penalty.most[cluster]
    for which in members:
        votes[which] += 1
    wish = LAST
    least = LAST
    for index in range(growth.found[cluster]):
        key = growth.keys[cluster, index]
        row = key & LOW
        if left[row] > 0:
            loss = (size + 1) * (key >> 32) + (penalty.cost if votes[penalty.of_row[row]] < most else 0)
            if loss < least or (loss == least and row < wish):
                least = loss
                wish = row
    if wish == LAST or least >= (size + 1) * (growth.bar[cluster] >> 32):
        scan_box(costs, packs, live, boxes.lows[cluster], boxes.highs[cluster], table, side, distance)
        _collect(distance, live, rows, left, cluster, growth)
        least = LAST
        for slot in range(live):
            row = rows[slot]
            if left[row] > 0 and (size + 1) * np.int64(distance[slot]) < least:
                loss = (size + 1) * np.int64(distance[slot])
                loss += penalty.cost if votes[penalty.of_row[row]] < most else 0
                if loss < least:
                    least = loss
                    wish = row
    for which in members:
        votes[which] = 0
    growth.wish[cluster] = wish
    growth.price[cluster] = least - size * boxes.cost[cluster]


@inner
def _least(
    growth,  # IN   Growth
    cluster,  # IN   int
    left,  # IN   int32[m]
):
    """Find the smallest key of a candidate that is left, or a key beyond every bar."""
    least = LAST
    for index in range(growth.found[cluster]):
        key = growth.keys[cluster, index]
        if key < least and left[key & LOW] > 0:
            least = key
    return least


@kernel
def grant(
    codes,  # IN   int32[m, d]
    costs,  # IN   Costs
    first,  # IN   int64[m]
    penalty,  # IN/OUT ClassPenalty
    clusters,  # IN   int64[], by the row they wish, then by price, then by number
    growth,  # IN/OUT Growth
    left,  # IN/OUT int32[m]
    taken,  # IN/OUT int64[m]
    labels,  # OUT  int32[n]
):
    """Give each row to those who wish it, as long as there are copies."""
    for cluster in clusters:
        row = growth.wish[cluster]
        if left[row] > 0:
            join(codes, costs, first, penalty, row, cluster, growth, left, taken, labels)


@kernel
def compact(
    packs,  # IN/OUT Packs
    live,  # IN   int
    left,  # IN   int32[m]
    rows,  # IN/OUT int32[m]
):
    """Drop the rows that are used up; the order of the others stays. Returns how many there are."""
    kept = 0
    for slot in range(live):
        if left[rows[slot]] > 0:
            rows[kept] = rows[slot]
            for index in range(packs.codes.shape[0]):
                packs.codes[index, kept] = packs.codes[index, slot]
            kept += 1
    return kept
