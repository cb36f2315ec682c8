"""CB: divide a set by 2-means whose groups have at least k records each, again and again.

Records are given by their codes and by their *places*: on a LINE the position of the value in
fixed point, -1 for missing; on a taxonomy the code. A centre is a place per axis, so on a LINE
it may lie between two values, and in a taxonomy it is a leaf that need not occur.
"""

from __future__ import annotations

import numpy as np

from kohort.kernels.costs import LINE, box_cost, box_cost_with, span_cost
from kohort.kernels.divide import DONE, START, gather_parts
from kohort.kernels.jit import kernel

FAR = 2**62
"""More than any loss."""


@kernel
def place_cost(
    costs,  # IN   Costs
    axis,  # IN   int
    here,  # IN   int, a place
    there,  # IN   int, another
):
    """Cost of one side of the box around two places."""
    if costs.kind[axis] != LINE:
        return span_cost(costs, axis, min(here, there), max(here, there))
    if (here < 0) != (there < 0):
        return costs.full[axis]
    return np.int32(abs(here - there))


@kernel
def mean_place(
    total,  # IN   int, sum of the positions that are not missing
    present,  # IN   int, how many there are
    size,  # IN   int, number of records
):
    """Mean position, rounded, halves up; missing (-1) if most positions are."""
    if 2 * present < size:
        return -1
    return (2 * total + present) // (2 * present)


@kernel
def _centre(
    missing,  # IN   int32[d], place of a missing value, or one that no record has
    places,  # IN   int32[n, d]
    members,  # IN   int32[size]
    part,  # IN   int32[n]
    side,  # IN   int, the group whose centre is wanted
    size,  # IN   int, its number of members
    centre,  # OUT  int32[d]
):
    """Mean place per axis: on lines the position, in a taxonomy the depth-first number of the leaf."""
    for axis in range(places.shape[1]):
        total = 0
        present = 0
        for record in members:
            place = places[record, axis]
            if part[record] == side and place != missing[axis]:
                total += place
                present += 1
        mean = mean_place(total, present, size)
        centre[axis] = mean if mean >= 0 else missing[axis]


@kernel
def _assign(
    costs,  # IN   Costs
    places,  # IN   int32[n, d]
    members,  # IN   int32[size]
    centres,  # IN   int32[2, d]
    part,  # OUT  int32[n], 0 or 1 for each member
    sizes,  # OUT  int64[2]
):
    """Give every member to the nearer centre, a tie to the group that is smaller by now."""
    sizes[:] = 0
    for record in members:
        # How much further the second centre is.
        more = 0
        for axis in range(places.shape[1]):
            place = places[record, axis]
            if centres[0, axis] != centres[1, axis]:
                more += place_cost(costs, axis, centres[1, axis], place)
                more -= place_cost(costs, axis, centres[0, axis], place)
        side = 1 if more < 0 or (more == 0 and sizes[1] < sizes[0]) else 0
        part[record] = side
        sizes[side] += 1


@kernel
def _bound(
    codes,  # IN   int32[n, d]
    members,  # IN   int32[size]
    part,  # IN   int32[n]
    lo,  # OUT  int32[2, d], boxes of both groups
    hi,  # OUT  int32[2, d]
):
    lo[:] = np.iinfo(np.int32).max
    hi[:] = -1
    for record in members:
        side = part[record]
        for axis in range(codes.shape[1]):
            lo[side, axis] = min(lo[side, axis], codes[record, axis])
            hi[side, axis] = max(hi[side, axis], codes[record, axis])


@kernel
def _borrow(
    codes,  # IN   int32[n, d]
    places,  # IN   int32[n, d]
    costs,  # IN   Costs
    members,  # IN   int32[size]
    small,  # IN   int, the group that has too few members
    k,  # IN   int
    centre,  # IN   int32[d], its centre
    lo,  # IN/OUT int32[d], its box
    hi,  # IN/OUT int32[d]
    price,  # TMP  int64[n]
    part,  # IN/OUT int32[n]
    sizes,  # IN/OUT int64[2]
):
    """Move members to the small group until it has k, always the one that its box grows least for.

    A box only grows, so what a member cost before is a lower bound of what it costs now, and
    most members need not be looked at again. An empty group starts with the member that is
    nearest to its centre.
    """
    price[: len(members)] = -1
    while sizes[small] < k:
        least = np.int64(FAR)
        found = -1
        for i in range(len(members)):
            record = members[i]
            if part[record] == small or price[i] >= least:
                continue
            cost = 0
            if sizes[small] > 0:
                cost = box_cost_with(costs, lo, hi, codes[record])
                price[i] = cost
            else:
                for axis in range(len(centre)):
                    cost += place_cost(costs, axis, centre[axis], places[record, axis])
            if cost < least:
                least = cost
                found = record
        part[found] = small
        sizes[small] += 1
        sizes[1 - small] -= 1
        for axis in range(len(lo)):
            lo[axis] = min(lo[axis], codes[found, axis])
            hi[axis] = max(hi[axis], codes[found, axis])


@kernel
def bisect(
    codes,  # IN   int32[n, d]
    places,  # IN   int32[n, d]
    missing,  # IN   int32[d], see `_centre`
    costs,  # IN   Costs
    k,  # IN   int
    rounds,  # IN   int
    members,  # IN   int32[size], 2k or more, in random order
    price,  # TMP  int64[n]
    part,  # TMP  int32[n]
    best,  # OUT  int32[n], 0 or 1 for each member
):
    """Divide a set into two groups of at least k; returns the size of group 0 and the rounds made."""
    d = codes.shape[1]
    centres = np.empty((2, d), np.int32)
    former = np.empty((2, d), np.int32)
    lo = np.empty((2, d), np.int32)
    hi = np.empty((2, d), np.int32)
    sizes = np.zeros(2, np.int64)
    centres[0] = places[members[0]]
    centres[1] = places[members[1]]
    for record in members[1:]:
        if np.any(codes[record] != codes[members[0]]):
            centres[1] = places[record]
            break
    least = np.int64(FAR)
    left = 0
    for made in range(rounds):
        if made > 0:
            former[:] = centres
            for side in range(2):
                _centre(missing, places, members, part, side, sizes[side], centres[side])
            if np.all(former == centres):  # this round would be the last one again
                return left, made
        _assign(costs, places, members, centres, part, sizes)
        _bound(codes, members, part, lo, hi)
        small = 0 if sizes[0] < k else 1
        if sizes[small] < k:
            _borrow(
                codes, places, costs, members, small, k, centres[small], lo[small], hi[small], price, part, sizes
            )  # fmt: skip
            _bound(codes, members, part, lo, hi)
        loss = sizes[0] * box_cost(costs, lo[0], hi[0]) + sizes[1] * box_cost(costs, lo[1], hi[1])
        if loss < least:
            least = loss
            left = sizes[0]
            for record in members:
                best[record] = part[record]
    return left, rounds


@kernel
def bisect_sets(
    codes,  # IN   int32[n, d], records in random order
    places,  # IN   int32[n, d]
    missing,  # IN   int32[d], see `_centre`
    costs,  # IN   Costs
    k,  # IN   int
    rounds,  # IN   int
    work,  # IN   int, number of records to look at in this call
    members,  # IN/OUT int32[n], records, set after set
    stops,  # IN/OUT int64[n]
    state,  # IN/OUT int64[2]
    labels,  # OUT  int32[n], group of each record
):
    """Divide sets until about `work` records have been looked at, or all is done."""
    n = len(members)
    part = np.empty(n, np.int32)
    best = np.empty(n, np.int32)
    price = np.empty(n, np.int64)
    buffer = np.empty(n, np.int32)
    begins = np.zeros(2, np.int64)
    cursor = np.empty(2, np.int64)
    while state[START] < n and work > 0:
        start = state[START]
        stop = stops[start]
        inside = members[start:stop]
        if stop - start < 2 * k:
            work -= stop - start
            labels[inside] = state[DONE]
            state[DONE] += 1
            state[START] = stop
            continue
        left, made = bisect(codes, places, missing, costs, k, rounds, inside, price, part, best)
        work -= made * (stop - start)
        begins[1] = left
        gather_parts(best, begins, inside, cursor, buffer)
        stops[start] = start + left
        stops[start + left] = stop
