"""The two kinds of steps of local search: to exchange records, and to deal clusters anew."""

# ruff: noqa: SIM102 - numba leaves out what follows a bare `if rules is not None` when there are none

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kohort.kernels.boxes import NEVER
from kohort.kernels.jit import inlined, kernel
from kohort.kernels.random import below, share
from kohort.kernels.search.rules import add_record, broken_by, count_records
from kohort.kernels.search.spans import cost_of, cost_with
from kohort.kernels.search.state import HIGH, HIGH2, LOW, LOW2, broken_alone, refresh

LOOKS = 8
"""How often a growing group looks at all records that are left, at most."""
HEALING = 1e9
"""How much rather a change is chosen by which clusters break the rules less."""
MEMO = 64
"""Sorts of records of which is kept how much they heal, while a group looks for one that does."""
NEGLIGIBLE = 10
"""A change with a weight of less than exp(-10) is not looked at any closer."""


class Tallies(NamedTuple):
    """Room to count the values of clusters in."""

    counts: NDArray[np.int64]
    """One row for each cluster, shape (4, width)."""
    work: NDArray[np.int64]
    counted: NDArray[np.bool_]
    """Whether the clusters of an exchange have been counted: between two that keep the rules that is not done before a
    change would be chosen. Shape (1,)."""
    memo: NDArray[np.int64]
    """Which sort of records was looked at last, and what came out of it; shape (2, MEMO)."""


@kernel
def empty_tallies(
    width,  # IN   int, counts of all columns together
):
    """Room without anything in it."""
    return Tallies(
        np.empty((4, width), np.int64),
        np.empty(width + 1, np.int64),
        np.zeros(1, np.bool_),
        np.empty((2, MEMO), np.int64),
    )


@kernel
def _broken_after(
    rules,  # IN   Rules
    broken,  # IN   int, by how much the clusters break the rules now
    leaves,  # IN   int, a record that goes from here to there, or -1
    comes,  # IN   int, a record that comes from there, or -1
    here,  # IN   int, a cluster
    there,  # IN   int, another one
    members,  # IN   int32[slots, largest]
    sizes,  # IN   int64[slots]
    tallies,  # IN/OUT Tallies, of here and there once they are counted
):
    """By how much two clusters break the rules after an exchange."""
    table, whole, real, values, listed, lists, alike, _ = rules
    if leaves >= 0 and comes >= 0 and alike[leaves] == alike[comes]:
        return broken
    counts, counts_there, work, counted = tallies.counts[0], tallies.counts[1], tallies.work, tallies.counted
    n, m = sizes[here], sizes[there]
    if not counted[0]:
        count_records(values, listed, lists, members[here, :n], counts)
        count_records(values, listed, lists, members[there, :m], counts_there)
        counted[0] = True
    for back in (1, -1):
        if leaves >= 0:
            add_record(values, listed, lists, leaves, -back, counts)
            add_record(values, listed, lists, leaves, back, counts_there)
            n, m = n - back, m + back
        if comes >= 0:
            add_record(values, listed, lists, comes, back, counts)
            add_record(values, listed, lists, comes, -back, counts_there)
            n, m = n + back, m - back
        if back == 1:
            broken = broken_by(table, whole, real, counts, n, work)
            broken += broken_by(table, whole, real, counts_there, m, work)
    return broken


@inlined
def _favour(
    broken,  # IN   int, by how much rules are broken now
    after,  # IN   int, by how much after a change
):
    """What rules do to the weight of a change: never break more, rather break less."""
    if after > broken:
        return 0.0
    return 1.0 if after == broken else HEALING


@inlined
def _weight(
    loss,  # IN   int, with the change
    now,  # IN   int, without it
    temperature,  # IN   float
):
    """How often a change is chosen, as a multiple of how often nothing is changed."""
    return math.exp(min((now - loss) / temperature, 50.0))


@inlined
def _without(
    row,  # IN   int32[d], a record of a cluster
    low,  # IN   int32[d], the ends of its box, and the ends next to them
    low2,  # IN   int32[d]
    high,  # IN   int32[d]
    high2,  # IN   int32[d]
    lo,  # OUT  int32[d]
    hi,  # OUT  int32[d]
):
    """The box of a cluster without a record."""
    for axis in range(row.shape[0]):
        place = row[axis]
        lo[axis] = low2[axis] if place == low[axis] else low[axis]
        hi[axis] = high2[axis] if place == high[axis] else high[axis]


@kernel
def _drawn(
    rules,  # IN   Rules, or None
    loss,  # IN   int, with the change
    now,  # IN   int, without it
    temperature,  # IN   float
    broken,  # IN   int, by how much the clusters break the rules now
    leaves,  # IN   int, a record that goes from here to there, or -1
    comes,  # IN   int, a record that comes from there, or -1
    here,  # IN   int, a cluster
    there,  # IN   int, another one
    members,  # IN   int32[slots, largest]
    sizes,  # IN   int64[slots]
    weight,  # IN   float, of all changes so far
    random,  # IN/OUT uint64[1]
    tallies,  # IN/OUT Tallies
):
    """Weigh a change and draw between it and all before; the weight of all, and whether it is chosen."""
    candidate = _weight(loss, now, temperature)
    if rules is not None:
        if broken > 0:
            after = _broken_after(rules, broken, leaves, comes, here, there, members, sizes, tallies)
            candidate *= _favour(broken, after)
    weight += candidate
    chosen = share(random) * weight < candidate
    if rules is not None:
        # To look at the rules costs more than the rest, so only what would be chosen is looked at.
        if chosen and broken == 0:
            if _broken_after(rules, broken, leaves, comes, here, there, members, sizes, tallies) != 0:
                return weight - candidate, False
    return weight, chosen


@kernel
def _carry_out(
    record,  # IN   int
    there,  # IN   int, the other cluster
    chosen,  # IN   int, the place of a member there, if one comes
    goes,  # IN   bool, whether the record goes there
    comes,  # IN   bool, whether the member comes here
    labels,  # IN/OUT State, one by one
    members,
    sizes,
):
    """Move the record, the member, or both."""
    here = labels[record]
    n, m = sizes[here], sizes[there]
    mine = 0
    while members[here, mine] != record:
        mine += 1
    guest = members[there, chosen] if comes else -1
    if comes:
        labels[guest] = here
    if goes:
        labels[record] = there
    if goes and comes:
        members[here, mine], members[there, chosen] = guest, record
    elif goes:
        members[here, mine] = members[here, n - 1]
        members[there, m] = record
        sizes[here], sizes[there] = n - 1, m + 1
    else:
        members[there, chosen] = members[there, m - 1]
        members[here, n] = guest
        sizes[here], sizes[there] = n + 1, m - 1


@kernel
def exchange(
    places,  # IN   int32[n, d]
    spans,  # IN   Spans
    k,  # IN   int
    rules,  # IN   Rules, or None, which leaves out all that is about them
    temperature,  # IN   float
    record,  # IN   int
    there,  # IN   int, the other cluster
    random,  # IN/OUT uint64[1]
    boxes,  # TMP  int32[4, d]
    tallies,  # TMP  Tallies
    state,  # IN/OUT State
):
    """Weigh every way to move the record there, a record from there, or to swap the two; draw one.

    Two clusters that break a rule change so that they break it less, whatever that costs, or not more. Clusters that
    break none never come to break one.
    """
    flat, offset, size, full, tables, lines = spans
    labels, members, sizes, cost, ends, breaks = state
    here = labels[record]
    row = places[record]
    n, m = sizes[here], sizes[there]
    largest = members.shape[1]
    broken = np.int64(0)
    if rules is not None:
        broken = breaks[here] + breaks[there]
        tallies.counted[0] = False
    lo, hi, lo_there, hi_there = boxes[0], boxes[1], boxes[2], boxes[3]
    low, low2, high, high2 = ends[here, LOW], ends[here, LOW2], ends[here, HIGH], ends[here, HIGH2]
    _without(row, low, low2, high, high2, lo, hi)
    alone = cost_of(flat, offset, size, full, tables, lines, lo, hi)
    now = n * cost[here] + m * cost[there]
    limit = now + np.int64(NEGLIGIBLE * temperature) if broken == 0 else NEVER
    weight = 1.0
    chosen = -1  # a member of the other cluster
    goes, comes = False, False
    low_there, low2_there = ends[there, LOW], ends[there, LOW2]
    high_there, high2_there = ends[there, HIGH], ends[there, HIGH2]
    if n > k and m < largest:
        loss = (n - 1) * alone
        loss += (m + 1) * cost_with(flat, offset, size, full, tables, lines, low_there, high_there, row)
        if loss <= limit:
            weight, goes = _drawn(
                rules, loss, now, temperature, broken, record, -1, here, there, members, sizes, weight, random, tallies
            )  # fmt: skip
    for index in range(m):
        guest = members[there, index]
        other = places[guest]
        swapped = n * cost_with(flat, offset, size, full, tables, lines, lo, hi, other)
        may_come = m > k and n < largest
        if swapped > limit and not may_come:
            continue
        _without(other, low_there, low2_there, high_there, high2_there, lo_there, hi_there)
        if may_come:
            loss = (m - 1) * cost_of(flat, offset, size, full, tables, lines, lo_there, hi_there)
            loss += (n + 1) * cost_with(flat, offset, size, full, tables, lines, low, high, other)
            if loss <= limit:
                weight, drawn = _drawn(
                    rules, loss, now, temperature, broken, -1, guest, here, there, members, sizes, weight, random,
                    tallies,
                )  # fmt: skip
                if drawn:
                    chosen, goes, comes = index, False, True
        if swapped <= limit:
            loss = swapped + m * cost_with(flat, offset, size, full, tables, lines, lo_there, hi_there, row)
            if loss <= limit:
                weight, drawn = _drawn(
                    rules, loss, now, temperature, broken, record, guest, here, there, members, sizes, weight, random,
                    tallies,
                )  # fmt: skip
                if drawn:
                    chosen, goes, comes = index, True, True
    if not goes and not comes:
        return
    _carry_out(record, there, chosen, goes, comes, labels, members, sizes)
    for cluster in (here, there):
        refresh(places, flat, offset, size, full, tables, lines, cluster, members, sizes[cluster], cost, ends)
        if rules is not None:
            if broken > 0:
                breaks[cluster] = broken_alone(rules, cluster, members, sizes, tallies.counts[0], tallies.work)


class Pool(NamedTuple):
    """Records of some clusters, and the groups that they are dealt into."""

    records: NDArray[np.int32]
    """Those without a group first: a record that joins one is put at the end of them."""
    rows: NDArray[np.int32]
    """Their places, shape (records, d)."""
    group: NDArray[np.int32]
    """Group of each record that has one."""
    grown: NDArray[np.int64]
    """What a group would cost with each record that has none."""
    lows: NDArray[np.int32]
    """Boxes of the groups, shape (groups, d)."""
    highs: NDArray[np.int32]
    cost: NDArray[np.int64]
    sizes: NDArray[np.int64]
    broken: NDArray[np.int64]
    """By how much each group breaks the rules."""


@kernel
def empty_pool(
    records,  # IN   int
    d,  # IN   int
):
    """A pool that waits for its records."""
    return Pool(
        np.empty(records, np.int32),
        np.empty((records, d), np.int32),
        np.empty(records, np.int32),
        np.empty(records, np.int64),
        np.empty((4, d), np.int32),
        np.empty((4, d), np.int32),
        np.empty(4, np.int64),
        np.empty(4, np.int64),
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


@kernel
def _most_healing(
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
    """Find the record by which a group breaks the rules least, and among those the cheapest; -1 if none heals.

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


@kernel
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


@kernel
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
    records, rows, group_of, grown, lows, highs, _, _, _ = pool
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


@kernel
def _heal(
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
    records, rows, group_of, _, lows, highs, _, _, _ = pool
    lo, hi, counts = lows[group], highs[group], tallies.counts[group]
    count_records(values, listed, lists, records[left : left + k], counts)
    broken = broken_by(table, whole, real, counts, k, tallies.work)
    taken = k
    while broken > 0 and taken < most:
        best, broken, grown = _most_healing(rules, spans, broken, taken, left, records, rows, lo, hi, counts, tallies)
        if best < 0:
            break
        add_record(values, listed, lists, records[best], 1, counts)
        left -= 1
        _take(best, left, group, records, rows, group_of, lo, hi)
        taken += 1
        if taken * grown > limit:
            return 0
    return taken


@kernel
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
    records, rows, group_of, _, lows, highs, cost, sizes, _ = pool
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


@kernel
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
    flat, offset, size, full, tables, lines = spans
    labels, members, sizes, cost, ends, breaks = state
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
        refresh(places, flat, offset, size, full, tables, lines, cluster, members, sizes[cluster], cost, ends)
        breaks[cluster] = pool.broken[group] if group < groups else np.int64(0)


@kernel
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
    _, _, _, _, lows, highs, group_cost, group_size, group_broken = pool
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
            taken = _heal(rules, spans, k, group, room, left, stop - loss, pool, tallies)
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
