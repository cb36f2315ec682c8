"""Which clusters to merge: boxes of clusters, and for each the one that it raises the loss least with."""

from __future__ import annotations

import numpy as np

from kohort.kernels.costs import span_cost
from kohort.kernels.jit import inner, kernel
from kohort.kernels.search.rules import add_record, broken_by, count_records

NOTHING, HELPS, REPAIRS = 0, 1, 2
"""What another cluster does for one that breaks a rule."""


@kernel
def boxes_of(
    array,  # IN   int32[n, d]
    labels,  # IN   int32[n]
    clusters,  # IN   int
):
    """Boxes and sizes of clusters."""
    d = array.shape[1]
    lo = np.full((clusters, d), 2**31 - 1, np.int32)
    hi = np.full((clusters, d), -1, np.int32)
    sizes = np.zeros(clusters, np.int64)
    for record in range(len(labels)):
        cluster = labels[record]
        sizes[cluster] += 1
        for axis in range(d):
            lo[cluster, axis] = min(lo[cluster, axis], array[record, axis])
            hi[cluster, axis] = max(hi[cluster, axis], array[record, axis])
    return lo, hi, sizes


@inner
def _cost(costs, lo, hi, other_lo, other_hi):
    total = np.int64(0)
    for axis in range(len(lo)):
        total += span_cost(costs, axis, min(lo[axis], other_lo[axis]), max(hi[axis], other_hi[axis]))
    return total


@kernel
def partners(
    lo,  # IN   int32[clusters, d]
    hi,  # IN   int32[clusters, d]
    sizes,  # IN   int64[clusters]
    costs,  # IN   Costs
    rules,  # IN   Rules
    members,  # IN   int64[n], records, cluster after cluster
    starts,  # IN   int64[clusters + 1], where the members of a cluster begin
    order,  # IN   int64[clusters], near ones near each other
    places,  # IN   int64[], places in the order of those that look for a partner
    reach,  # IN   int, how far to look in the order
):
    """Find for some clusters the other one with which they keep the rules and the loss is raised least.

    If they keep them with none, it is the one that raises the loss least for what they break the rules less; if none
    helps, the loss alone decides. Returns also which of them broke a rule before and break none then.
    """
    table, whole, real, values, listed, lists, _, width = rules
    counts = np.empty(width, np.int64)
    work = np.empty(width + 1, np.int64)
    count = len(sizes)
    found = np.full(count, -1, np.int64)
    repaired = np.zeros(count, np.bool_)
    cost = np.empty(count, np.int64)
    for cluster in range(count):
        cost[cluster] = _cost(costs, lo[cluster], hi[cluster], lo[cluster], hi[cluster])
    for place in places:
        here = order[place]
        least = np.inf
        best = NOTHING
        count_records(values, listed, lists, members[starts[here] : starts[here + 1]], counts)
        broken = broken_by(table, whole, real, counts, sizes[here], work)
        for near in range(max(0, place - reach), min(count, place + reach + 1)):
            there = order[near]
            if there == here:
                continue
            both = _cost(costs, lo[here], hi[here], lo[there], hi[there]) * (sizes[here] + sizes[there])
            more = both - sizes[here] * cost[here] - sizes[there] * cost[there]
            if best == REPAIRS and more >= least:
                continue
            for record in members[starts[there] : starts[there + 1]]:
                add_record(values, listed, lists, record, 1, counts)
            after = broken_by(table, whole, real, counts, sizes[here] + sizes[there], work)
            for record in members[starts[there] : starts[there + 1]]:
                add_record(values, listed, lists, record, -1, counts)
            does = REPAIRS if after == 0 else HELPS if after < broken else NOTHING
            price = more / (broken - after) if does == HELPS else float(more)
            if does > best or (does == best and price < least):
                best, least = does, price
                found[here] = there
        # What the rules do not cover is not repaired for sure.
        repaired[here] = best == REPAIRS and broken > 0
    return found, repaired
