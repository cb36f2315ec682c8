"""A step of local search that deals the records of two or three clusters anew."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kohort.kernels.boxes import NEVER
from kohort.kernels.jit import inlined, inner
from kohort.kernels.random import below, share
from kohort.kernels.search.rules import add_record, broken_by, count_records
from kohort.kernels.search.spans import cost_of, cost_with
from kohort.kernels.search.state import MEMO, refresh

LOOKS = 8
"""How often a growing group looks at all records that are left, at most."""


class Pool(NamedTuple):
    """Records of some clusters, and the groups that they are dealt into."""

    records: NDArray[np.int32]
    """Those without a group first: a record that joins one is put at the end of them."""
    rows: NDArray[np.int32]
    """Their places, shape (records, d)."""
    group: NDArray[np.int32]
    """Group of each record that has one."""
    cost: NDArray[np.int64]
    sizes: NDArray[np.int64]
    grown: NDArray[np.int64]
    """What a group would cost with each record that has none."""
    lows: NDArray[np.int32]
    """Boxes of the groups, shape (groups, d)."""
    highs: NDArray[np.int32]
    broken: NDArray[np.int64]
    """By how much each group breaks the rules."""


@inner
def empty_pool(
    records,  # IN   int
    d,  # IN   int
):
    """A pool that waits for its records."""
    return Pool(
        np.empty(records, np.int32),
        np.empty((records, d), np.int32),
        np.empty(records, np.int32),
        np.empty(4, np.int64),
        np.empty(4, np.int64),
        np.empty(records, np.int64),
        np.empty((4, d), np.int32),
        np.empty((4, d), np.int32),
        np.zeros(4, np.int64),
    )


@inlined
def _take(
    index,  # IN   int, a record without a group
    last,  # IN   int, the last record without one
    chosen,  # IN   int, a group
    records,  # IN/OUT Pool, one by one
    rows,
    group,
    lo,  # IN/OUT int32[d], box of the group
    hi,
):
    """Give a record to a group, and its place to the last one that has none."""
    records[index], records[last] = records[last], records[index]
    group[last] = chosen
    for axis in range(lo.shape[0]):
        place = rows[index, axis]
        rows[index, axis] = rows[last, axis]
        rows[last, axis] = place
        lo[axis] = min(lo[axis], place)
        hi[axis] = max(hi[axis], place)


@inner
def _best_repair(
    rules,  # IN   Rules
    spans,  # IN   Spans
    broken,  # IN   int, by how much the group breaks the rules
    taken,  # IN   int, records of the group
    left,  # IN   int, records without a group
    records,  # IN   int32[left+], those first
    rows,  # IN   int32[left+, d]
    lo,  # IN   int32[d], box of the group
    hi,  # IN   int32[d]
    counts,  # IN/OUT int64[width], of the group; unchanged in the end
    tallies,  # TMP  Tallies
):
    """Find the record by which a group breaks the rules least, and among those the cheapest; -1 if none helps.

    Returns also by how much it breaks them then, and what its box costs.
    """
    flat, offset, size, full, tables, lines = spans
    table, whole, real, values, listed, lists, alike, _ = rules
    work, memo = tallies.work, tallies.memo
    for place in range(MEMO):
        memo[0, place] = -1
    best = -1
    least = NEVER
    for index in range(left):
        record = records[index]
        sort = alike[record]
        place = sort % MEMO
        if memo[0, place] != sort:
            add_record(values, listed, lists, record, 1, counts)
            memo[0, place] = sort
            memo[1, place] = broken_by(table, whole, real, counts, taken + 1, work)
            add_record(values, listed, lists, record, -1, counts)
        after = memo[1, place]
        if after > broken:
            continue
        grown = cost_with(flat, offset, size, full, tables, lines, lo, hi, rows[index])
        if after < broken or grown < least:
            best, broken, least = index, after, grown
    return best, broken, least


@inner
def _gather(
    places,  # IN   int32[n, d]
    clusters,  # IN   int32[3], -1 where there are fewer
    members,  # IN   State, one by one
    sizes,
    cost,
    breaks,
    records,  # OUT  Pool, one by one
    rows,
):
    """Put the records of some clusters together: how many, of how many clusters, their loss and what is broken."""
    count = 0
    used = 0
    now = np.int64(0)
    broken = np.int64(0)
    for cluster in clusters:
        if cluster < 0:
            continue
        broken += breaks[cluster]
        used += 1
        now += sizes[cluster] * cost[cluster]
        for index in range(sizes[cluster]):
            record = members[cluster, index]
            records[count] = record
            for axis in range(rows.shape[1]):
                rows[count, axis] = places[record, axis]
            count += 1
    return count, used, now, broken


@inner
def _grow(
    spans,  # IN   Spans
    k,  # IN   int
    group,  # IN   int
    left,  # IN   int, records without a group, at least k
    random,  # IN/OUT uint64[1]
    pool,  # IN/OUT Pool
):
    """Start a group with a random record, and give it the cheapest one until it has k; what the last one cost."""
    flat, offset, size, full, tables, lines = spans
    records, rows, group_of, _, _, grown, lows, highs, _ = pool
    lo, hi = lows[group], highs[group]
    seed = below(random, left)
    for axis in range(rows.shape[1]):
        lo[axis] = hi[axis] = rows[seed, axis]
    left -= 1
    _take(seed, left, group, records, rows, group_of, lo, hi)
    least = np.int64(0)
    taken = 1
    while taken < k:
        for index in range(left):
            grown[index] = cost_with(flat, offset, size, full, tables, lines, lo, hi, rows[index])
        # Large groups take several at a time: to look again after each would cost more than it gains.
        for _ in range(min(k - taken, max(1, k // LOOKS))):
            best = 0
            cheapest = NEVER
            ties = 0
            for index in range(left):
                if grown[index] < cheapest:
                    best, cheapest, ties = index, grown[index], 1
                elif grown[index] == cheapest:
                    ties += 1
                    if below(random, ties) == 0:
                        best = index
            left -= 1
            grown[best] = grown[left]
            _take(best, left, group, records, rows, group_of, lo, hi)
            taken += 1
        least = cheapest
    return least


@inner
def _repair(
    rules,  # IN   Rules
    spans,  # IN   Spans
    k,  # IN   int
    group,  # IN   int, of k records
    most,  # IN   int, records that it may have
    left,  # IN   int, records without a group
    limit,  # IN   int, loss of the group that is too much
    pool,  # IN/OUT Pool
    tallies,  # IN/OUT Tallies
):
    """Give a group the records by which it breaks the rules less; how many it has then, 0 if it loses too much."""
    table, whole, real, values, listed, lists, _, _ = rules
    records, rows, group_of, _, _, _, lows, highs, _ = pool
    lo, hi, counts = lows[group], highs[group], tallies.counts[group]
    count_records(values, listed, lists, records[left : left + k], counts)
    broken = broken_by(table, whole, real, counts, k, tallies.work)
    taken = k
    while broken > 0 and taken < most:
        best, broken, grown = _best_repair(rules, spans, broken, taken, left, records, rows, lo, hi, counts, tallies)
        if best < 0:
            break
        add_record(values, listed, lists, records[best], 1, counts)
        left -= 1
        _take(best, left, group, records, rows, group_of, lo, hi)
        taken += 1
        if taken * grown > limit:
            return 0
    return taken


@inner
def _place(
    spans,  # IN   Spans
    rules,  # IN   Rules, or None
    groups,  # IN   int
    largest,  # IN   int, records that a group may have
    left,  # IN   int, records without a group
    loss,  # IN   int, of all groups
    limit,  # IN   int, loss that is too much
    pool,  # IN/OUT Pool
    tallies,  # IN/OUT Tallies
):
    """Give each record that is left to the group where the loss grows least; the loss then, or one beyond the limit."""
    flat, offset, size, full, tables, lines = spans
    records, rows, group_of, cost, sizes, _, lows, highs, _ = pool
    if rules is not None:
        _, _, _, values, listed, lists, _, _ = rules
        counts = tallies.counts
    while left > 0 and loss <= limit:
        left -= 1
        best = 0
        least = NEVER
        best_cost = np.int64(0)
        for group in range(groups):
            if sizes[group] == largest:
                continue
            more_cost = cost_with(flat, offset, size, full, tables, lines, lows[group], highs[group], rows[left])
            more = (sizes[group] + 1) * more_cost - sizes[group] * cost[group]
            if more < least:
                best, least, best_cost = group, more, more_cost
        if rules is not None:
            add_record(values, listed, lists, records[left], 1, counts[best])
        _take(left, left, best, records, rows, group_of, lows[best], highs[best])
        cost[best] = best_cost
        sizes[best] += 1
        loss += least
    return loss


@inner
def _keep(
    places,  # IN   int32[n, d]
    spans,  # IN   Spans
    clusters,  # IN   int32[3], where the records were
    spare,  # IN   int, a free slot for one group more
    used,  # IN   int, clusters that the records were in
    groups,  # IN   int
    count,  # IN   int, records
    pool,  # IN   Pool
    state,  # IN/OUT State
):
    """Make the groups the clusters of their records."""
    labels, members, sizes, _, _, breaks = state
    for group in range(max(groups, used)):
        sizes[clusters[group] if group < used else spare] = 0
    for index in range(count):
        record = pool.records[index]
        group = pool.group[index]
        cluster = clusters[group] if group < used else spare
        members[cluster, sizes[cluster]] = record
        labels[record] = cluster
        sizes[cluster] += 1
    for group in range(max(groups, used)):
        cluster = clusters[group] if group < used else spare
        refresh(places, spans, np.int64(cluster), state)
        breaks[cluster] = pool.broken[group] if group < groups else np.int64(0)


@inner
def deal(
    places,  # IN   int32[n, d]
    spans,  # IN   Spans
    k,  # IN   int
    rules,  # IN   Rules, or None, which leaves out all that is about them
    temperature,  # IN   float
    clusters,  # IN   int32[3], -1 where there are fewer
    spare,  # IN   int, a free slot, or -1
    random,  # IN/OUT uint64[1]
    pool,  # TMP  Pool
    tallies,  # TMP  Tallies
    state,  # IN/OUT State
):
    """Deal the records of some clusters anew, into one cluster fewer, as many, or one more.

    A group starts with a random record and takes the cheapest one until it has k, and then those by which it breaks
    the rules less until it keeps them. Records that are left join the group where the loss grows least.
    """
    flat, offset, size, full, tables, lines = spans
    _, members, sizes, cost, _, breaks = state
    _, _, _, group_cost, group_size, _, lows, highs, group_broken = pool
    largest = members.shape[1]
    count, used, now, broken = _gather(places, clusters, members, sizes, cost, breaks, pool.records, pool.rows)
    most = min(count // k, used + (1 if spare >= 0 else 0))
    fewest = max(used - 1, (count + largest - 1) // largest)
    groups = fewest + below(random, most - fewest + 1)
    # The threshold of Metropolis is drawn first: dealing stops as soon as it is passed.
    limit = now - np.int64(temperature * math.log(1.0 - share(random)))
    # Groups that break the rules less are taken at any loss.
    stop = NEVER if broken > 0 else limit
    loss = np.int64(0)
    left = count
    for group in range(groups):
        least = _grow(spans, k, group, left, random, pool)
        left -= k
        taken = k
        if rules is not None:
            # It only becomes more: then the rules need not be looked at.
            if loss + k * least > stop:
                return
            room = min(largest, k + left - (groups - 1 - group) * k)
            taken = _repair(rules, spans, k, group, room, left, stop - loss, pool, tallies)
            if taken == 0:
                return
            left -= taken - k
        if taken > k or k > LOOKS:
            least = cost_of(flat, offset, size, full, tables, lines, lows[group], highs[group])
        group_cost[group] = least
        group_size[group] = taken
        loss += taken * least
        if loss > stop:
            return
    loss = _place(spans, rules, groups, largest, left, loss, stop, pool, tallies)
    if loss > stop:
        return
    if rules is not None:
        table, whole, real, _, _, _, _, _ = rules
        after = np.int64(0)
        for group in range(groups):
            counts = tallies.counts[group]
            group_broken[group] = broken_by(table, whole, real, counts, group_size[group], tallies.work)
            after += group_broken[group]
        if after > broken or (after == broken and loss > limit):
            return
    _keep(places, spans, clusters, spare, used, groups, count, pool, state)
