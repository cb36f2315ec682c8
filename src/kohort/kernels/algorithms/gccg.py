"""GCCG on distinct rows: one scan and one selection per class.

A record is known by its position in the order of the grades. Copies of a row are equally far from
everything, so the earlier of two copies is always taken first: a row needs no more than a mark of
how many of its copies are gone.
"""

from __future__ import annotations

import heapq

import numpy as np

from kohort.kernels.costs import box_cost_with
from kohort.kernels.jit import inner, kernel
from kohort.kernels.search.scan import scan_from

# Slots of the state that survives between calls of `grow_classes`.
CLASSES, FIRST, LIVE = range(3)
LOW = 2**32 - 1


@kernel
def distances_from(
    costs,  # IN   Costs
    centre,  # IN   int32[d]
    codes,  # IN   int32[n, d]
):
    """Cost of the pair {centre, record} for every record."""
    distance = np.empty(codes.shape[0], np.int64)
    for i in range(codes.shape[0]):
        distance[i] = box_cost_with(costs, centre, centre, codes[i])
    return distance


@inner
def _compact(
    packs,  # IN/OUT Packs
    live,  # IN   int
    rows,  # IN/OUT int32[m], row that a slot stands for
    ahead,  # IN   int64[m]
    end,  # IN   int64[m]
):
    """Drop the rows that are used up; the order of the others stays."""
    kept = 0
    for i in range(live):
        row = rows[i]
        if ahead[row] < end[row]:
            rows[kept] = row
            for index in range(packs.codes.shape[0]):
                packs.codes[index, kept] = packs.codes[index, i]
            kept += 1
    return kept


@inner
def _nearest(
    distance,  # IN   int32[live]
    live,  # IN   int
    rows,  # IN   int32[m]
    copies,  # IN   int64[n]
    ahead,  # IN   int64[m]
    end,  # IN   int64[m]
    wanted,  # IN   int, at least 1
):
    """Keys of the nearest records that are left; the low half of a key is a position.

    A key is -(distance, position), so the top of the heap is the worst of those that are kept.
    """
    heap = [np.int64(0) for _ in range(0)]
    bar = np.int64(2**31)
    for i in range(live):
        if distance[i] > bar:
            continue
        row = rows[i]
        far = np.int64(distance[i]) << 32
        for copy in range(ahead[row], end[row]):
            key = -(far | copies[copy])
            if len(heap) < wanted:
                heapq.heappush(heap, key)
            elif key > heap[0]:
                heapq.heapreplace(heap, key)
            else:
                break
        if len(heap) == wanted:
            bar = (-heap[0]) >> 32
    return heap


@kernel
def grow_classes(
    codes,  # IN   int32[m, d], distinct rows
    row_at,  # IN   int32[n], row of the record at each position
    copies,  # IN   int64[n], positions, row after row, ascending for each row
    end,  # IN   int64[m], where the copies of a row end in `copies`
    costs,  # IN   Costs, whose cost of a single record is 0
    packs,  # IN/OUT Packs, compacted as rows are used up
    k,  # IN   int
    most,  # IN   int, number of classes to form in this call
    rows,  # IN/OUT int32[m], row of a slot
    ahead,  # IN/OUT int64[m], first copy of a row that is left, in `copies`
    state,  # IN/OUT int64[3]
    labels,  # IN/OUT int32[n], class of the record at each position, -1 while it is left
):
    """Form up to `most` classes of k records, but not the last class."""
    table = np.empty(max(1, packs.size.max()), np.int32)
    side = np.empty(costs.size.max(), np.int32)
    distance = np.empty(state[LIVE], np.int32)
    live = state[LIVE]
    last = row_at.shape[0] // k - 1
    until = min(last, state[CLASSES] + most)
    used_up = 0
    while state[CLASSES] < until:
        if used_up * 8 > live:
            live = _compact(packs, live, rows, ahead, end)
            used_up = 0
        while labels[state[FIRST]] >= 0:
            state[FIRST] += 1
        centre = codes[row_at[state[FIRST]]]
        scan_from(costs, packs, live, centre, table, side, distance)
        # The centre is among the nearest: at distance 0 nobody left comes before it.
        for key in _nearest(distance, live, rows, copies, ahead, end, k):
            position = -key & LOW
            labels[position] = state[CLASSES]
            row = row_at[position]
            ahead[row] += 1
            used_up += ahead[row] == end[row]
        state[CLASSES] += 1
    state[LIVE] = _compact(packs, live, rows, ahead, end)
