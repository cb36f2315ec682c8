"""Top-down greedy: divide a set between two records that are far apart, then mend groups that are too small."""

from __future__ import annotations

import numpy as np

from kohort.kernels.algorithms.divide import START, assign_between, finish_set, halve_set, widen
from kohort.kernels.costs import box_cost, box_cost_with, span_cost
from kohort.kernels.jit import kernel

ROUNDS = 3
"""How often the furthest record is looked for, as in the paper."""


@kernel
def _furthest(
    codes,  # IN   int32[n, d]
    costs,  # IN   Costs
    members,  # IN   int32[size], at least two
    record,  # IN   int, one of the members
):
    """The other member that is furthest from a record, the first of equals."""
    found = -1
    most = -1
    for other in members:
        cost = box_cost_with(costs, codes[record], codes[record], codes[other])
        if cost > most and other != record:
            most = cost
            found = other
    return found


@kernel
def _assign(
    codes,  # IN   int32[n, d]
    costs,  # IN   Costs
    members,  # IN   int32[size], at least two, in random order
    by_growth,  # IN   bool: compare how much the loss of a side grows, not the cost of its box
    part,  # OUT  int32[n], 0 or 1 for each member
):
    """Give every member to the side where it costs less; returns the size of side 0."""
    u = members[0]
    v = _furthest(codes, costs, members, u)
    for _ in range(ROUNDS - 1):
        u, v = v, _furthest(codes, costs, members, v)
    sizes = np.empty(2, np.int64)
    assign_between(codes, costs, members, u, v, by_growth, part, sizes)
    return sizes[0]


@kernel
def _fill_up(
    codes,  # IN   int32[n, d]
    costs,  # IN   Costs
    members,  # IN   int32[size]
    small,  # IN   int, the side that has too few members
    wanted,  # IN   int, number of members to move there
    part,  # IN/OUT int32[n]
):
    """Move the members that are nearest to the smaller side."""
    d = codes.shape[1]
    lo = np.full(d, np.iinfo(np.int32).max, np.int32)
    hi = np.full(d, -1, np.int32)
    for record in members:
        if part[record] == small:
            widen(codes[record], lo, hi)
    others = members[part[members] != small]
    value = np.empty(len(others), np.int64)
    for i in range(len(others)):
        value[i] = box_cost_with(costs, lo, hi, codes[others[i]])
    for i in np.argsort(value, kind="mergesort")[:wanted]:
        part[others[i]] = small


@kernel
def divide_sets(
    codes,  # IN   int32[n, d], records in random order
    costs,  # IN   Costs
    k,  # IN   int
    by_growth,  # IN   bool, see `_assign`
    fill,  # IN   bool: sets of 2k and more only, and no side stays below k
    work,  # IN   int, number of records to look at in this call
    members,  # IN/OUT int32[n], records, set after set
    stops,  # IN/OUT int64[n]
    state,  # IN/OUT int64[2]
    labels,  # OUT  int32[n], group of each record
):
    """Divide sets until about `work` records have been looked at, or all is done."""
    n = len(members)
    part = np.empty(n, np.int32)
    buffer = np.empty(n, np.int32)
    while state[START] < n and work > 0:
        start = state[START]
        stop = stops[start]
        size = stop - start
        inside = members[start:stop]
        work -= size
        left = 0
        if size >= 2 * k or (size > k and not fill):
            left = _assign(codes, costs, inside, by_growth, part)
            if fill and min(left, size - left) < k:
                small = 0 if left < k else 1
                _fill_up(codes, costs, inside, small, k - min(left, size - left), part)
                left = k if small == 0 else size - k
        if max(left, size - left) < k or left == 0:
            # Two groups that are both too small would only have to be merged again.
            part[inside] = 0
            finish_set(part, 1, members, stops, state, labels)
        else:
            halve_set(part, left, members, stops, state, buffer)


@kernel
def _union_growth(
    costs,  # IN   Costs
    lows,  # IN   int32[groups, d]
    highs,  # IN   int32[groups, d]
    sizes,  # IN   int64[groups]
    g,  # IN   int, a group
    h,  # IN   int, another
    here,  # IN   int, cost of the box of h
    limit,  # IN   int
):
    """Loss of both groups as one, less that of h alone; anything from `limit` on if it is no less than that."""
    members = sizes[g] + sizes[h]
    growth = -sizes[h] * here
    for axis in range(lows.shape[1]):
        lo = min(lows[g, axis], lows[h, axis])
        hi = max(highs[g, axis], highs[h, axis])
        growth += members * span_cost(costs, axis, lo, hi)
        if growth >= limit:
            break
    return growth


@kernel
def _borrow(
    codes,  # IN   int32[n, d]
    costs,  # IN   Costs
    lo,  # IN/OUT int32[d], box of the small group, widened
    hi,  # IN/OUT int32[d]
    donors,  # IN/OUT int32[size], members of the other group; those that are lent come first
    wanted,  # IN   int
    rest_lo,  # OUT  int32[d], box of those that stay
    rest_hi,  # OUT  int32[d]
):
    """Choose the members of another group that are nearest to a small one."""
    value = np.empty(len(donors), np.int64)
    for i in range(len(donors)):
        value[i] = box_cost_with(costs, lo, hi, codes[donors[i]])
    donors[:] = donors[np.argsort(value, kind="mergesort")]
    for record in donors[:wanted]:
        widen(codes[record], lo, hi)
    rest_lo[:] = codes[donors[wanted]]
    rest_hi[:] = codes[donors[wanted]]
    for record in donors[wanted:]:
        widen(codes[record], rest_lo, rest_hi)


@kernel
def box_costs(
    costs,  # IN   Costs
    lows,  # IN   int32[groups, d], boxes
    highs,  # IN   int32[groups, d]
):
    """Cost of every box."""
    here = np.empty(len(lows), np.int64)
    for g in range(len(lows)):
        here[g] = box_cost(costs, lows[g], highs[g])
    return here


@kernel
def mend_groups(
    codes,  # IN   int32[n, d]
    costs,  # IN   Costs
    k,  # IN   int
    reach,  # IN   int, groups on either side that are looked at
    most,  # IN   int, number of groups to go through in this call
    lows,  # IN/OUT int32[groups, d], boxes
    highs,  # IN/OUT int32[groups, d]
    here,  # IN/OUT int64[groups], costs of the boxes
    sizes,  # IN/OUT int64[groups], 0 for a group that was merged into another
    heads,  # IN/OUT int32[groups], first member
    tails,  # IN/OUT int32[groups], last member
    after,  # IN/OUT int32[n], next member of the same group
    state,  # IN/OUT int64[2]
):
    """Merge each group that is too small with another, or let it borrow from one, whichever costs less."""
    groups, d = lows.shape
    lo = np.empty(d, np.int32)
    hi = np.empty(d, np.int32)
    rest_lo = np.empty(d, np.int32)
    rest_hi = np.empty(d, np.int32)
    for _ in range(most):
        g = state[START]
        if g == groups:
            return
        state[START] += 1
        if sizes[g] == 0 or sizes[g] >= k:
            continue
        wanted = k - sizes[g]
        # The nearest group, and the nearest that keeps k members when it lends what is wanted.
        nearest = -1
        lender = -1
        least = np.int64(2**62)
        least_lent = np.int64(2**62)
        width = reach
        while nearest < 0:
            for h in range(max(0, g - width), min(groups, g + width + 1)):
                if h == g or sizes[h] == 0:
                    continue
                lends = sizes[h] >= k + wanted
                growth = _union_growth(costs, lows, highs, sizes, g, h, here[h], least_lent if lends else least)
                if growth < least:
                    least = growth
                    nearest = h
                if lends and growth < least_lent:
                    least_lent = growth
                    lender = h
            width *= 2  # rarely: everybody around was merged into groups further away
        if lender >= 0:
            donors = np.empty(sizes[lender], np.int32)
            record = heads[lender]
            for i in range(len(donors)):
                donors[i] = record
                record = after[record]
            lo[:] = lows[g]
            hi[:] = highs[g]
            _borrow(codes, costs, lo, hi, donors, wanted, rest_lo, rest_hi)
            rest = sizes[lender] - wanted
            lent = k * box_cost(costs, lo, hi) + rest * box_cost(costs, rest_lo, rest_hi)
            if lent - sizes[lender] * here[lender] <= least:
                for i in range(len(donors) - 1):
                    after[donors[i]] = donors[i + 1]
                after[tails[g]] = donors[0]
                tails[g] = donors[wanted - 1]
                heads[lender] = donors[wanted]
                tails[lender] = donors[-1]
                sizes[g] = k
                sizes[lender] = rest
                lows[g] = lo
                highs[g] = hi
                lows[lender] = rest_lo
                highs[lender] = rest_hi
                here[g] = box_cost(costs, lo, hi)
                here[lender] = box_cost(costs, rest_lo, rest_hi)
                continue
        after[tails[nearest]] = heads[g]
        tails[nearest] = tails[g]
        sizes[nearest] += sizes[g]
        sizes[g] = 0
        widen(lows[g], lows[nearest], highs[nearest])
        widen(highs[g], lows[nearest], highs[nearest])
        here[nearest] = box_cost(costs, lows[nearest], highs[nearest])


@kernel
def label_members(
    sizes,  # IN   int64[groups]
    heads,  # IN   int32[groups], first member
    after,  # IN   int32[n], next member of the same group
    labels,  # OUT  int32[n]
):
    """Label every record with its group."""
    for g in range(len(sizes)):
        record = heads[g]
        for _ in range(sizes[g]):
            labels[record] = g
            record = after[record]
