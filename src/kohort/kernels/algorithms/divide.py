"""Sets of rows that are divided again and again, in place.

The rows of a set lie beside each other in an array: `order[start:stop]`. `stops[start]` says
where the set that begins at `start` ends. Sets are finished from left to right, so one cursor is
all that a recursion has to keep between two calls of a kernel.
"""

from __future__ import annotations

import numpy as np

from kohort.kernels.costs import box_cost, box_cost_with
from kohort.kernels.jit import inner

# Slots of the state that survives between calls: where the next set begins, sets finished.
START, DONE = range(2)


@inner
def gather_parts(
    part,  # IN   int32[rows], part of each row of the set
    begins,  # IN   int64[parts], where each part begins, counted from the start of the set
    order,  # IN/OUT int32[members], rows of the set
    cursor,  # TMP  int64[parts]
    buffer,  # TMP  int32[members]
):
    """Bring the rows of each part together; the order within a part stays."""
    cursor[: len(begins)] = begins
    for i in range(len(order)):
        row = order[i]
        buffer[cursor[part[row]]] = row
        cursor[part[row]] += 1
    order[:] = buffer[: len(order)]


@inner
def part_begins(
    part,  # IN   int32[rows], part of each row of the set
    parts,  # IN   int
    order,  # IN   int32[members], rows of the set
    begins,  # OUT  int64[parts + 1], where each part begins; at last, the number of members
):
    """Count the rows of each part."""
    begins[: parts + 1] = 0
    for i in range(len(order)):
        begins[part[order[i]] + 1] += 1
    for p in range(parts):
        begins[p + 1] += begins[p]


@inner
def finish_set(
    part,  # IN   int32[n], group of each member, 0, 1, ...
    groups,  # IN   int, their number
    members,  # IN   int32[n], records, set after set
    stops,  # IN   int64[n]
    state,  # IN/OUT int64[2]
    labels,  # OUT  int32[n], group of each record
):
    """Number the groups of the set at the cursor, and go to the next."""
    start = state[START]
    stop = stops[start]
    for record in members[start:stop]:
        labels[record] = state[DONE] + part[record]
    state[DONE] += groups
    state[START] = stop


@inner
def halve_set(
    part,  # IN   int32[n], 0 or 1 for each member
    left,  # IN   int, members of side 0
    members,  # IN/OUT int32[n], records, set after set
    stops,  # IN/OUT int64[n]
    state,  # IN   int64[2]
    buffer,  # TMP  int32[n]
):
    """Put the two sides of the set at the cursor in its place."""
    start = state[START]
    stop = stops[start]
    begins = np.array([0, left])
    gather_parts(part, begins, members[start:stop], np.empty(2, np.int64), buffer)
    stops[start] = start + left
    stops[start + left] = stop


@inner
def widen(
    row,  # IN   int32[d], a record
    lo,  # IN/OUT int32[d], box
    hi,  # IN/OUT int32[d]
):
    """Let a box hold a record."""
    for axis in range(len(row)):
        lo[axis] = min(lo[axis], row[axis])
        hi[axis] = max(hi[axis], row[axis])


@inner
def assign_between(
    codes,  # IN   int32[n, d]
    costs,  # IN   Costs
    members,  # IN   int32[size], at least two, in random order
    u,  # IN   int, the member that side 0 begins with
    v,  # IN   int, that of side 1
    by_growth,  # IN   bool: compare how much the loss of a side grows, not the cost of its box
    part,  # OUT  int32[n], 0 or 1 for each member
    sizes,  # OUT  int64[2]
):
    """Give every member to the side where it costs less, a tie to the side that is smaller by now."""
    lo = np.stack((codes[u], codes[v]))
    hi = lo.copy()
    sizes[:] = 1
    box = np.array([box_cost(costs, lo[0], hi[0]), box_cost(costs, lo[1], hi[1])])
    grown = np.empty(2, np.int64)
    price = np.empty(2, np.int64)
    part[u] = 0
    part[v] = 1
    for record in members:
        if record in (u, v):
            continue
        for side in range(2):
            grown[side] = box_cost_with(costs, lo[side], hi[side], codes[record])
            price[side] = (sizes[side] + 1) * grown[side] - sizes[side] * box[side] if by_growth else grown[side]
        side = 1 if price[1] < price[0] or (price[1] == price[0] and sizes[1] < sizes[0]) else 0
        part[record] = side
        sizes[side] += 1
        box[side] = grown[side]
        widen(codes[record], lo[side], hi[side])
