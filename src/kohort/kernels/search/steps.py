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
    for axis in range(row.shape[0]):
        place = row[axis]
        lo[axis] = low2[axis] if place == low[axis] else low[axis]
        hi[axis] = high2[axis] if place == high[axis] else high[axis]
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
            candidate = _weight(loss, now, temperature)
            if rules is not None:
                if broken > 0:
                    after = _broken_after(rules, broken, record, -1, here, there, members, sizes, tallies)
                    candidate *= _favour(broken, after)
            weight += candidate
            if share(random) * weight < candidate:
                allowed = True
                if rules is not None:
                    if broken == 0:
                        allowed = _broken_after(rules, broken, record, -1, here, there, members, sizes, tallies) == 0
                if allowed:
                    goes = True
                else:
                    weight -= candidate
    for index in range(m):
        other = places[members[there, index]]
        swapped = n * cost_with(flat, offset, size, full, tables, lines, lo, hi, other)
        may_come = m > k and n < largest
        if swapped > limit and not may_come:
            continue
        for axis in range(row.shape[0]):
            place = other[axis]
            lo_there[axis] = low2_there[axis] if place == low_there[axis] else low_there[axis]
            hi_there[axis] = high2_there[axis] if place == high_there[axis] else high_there[axis]
        if may_come:
            loss = (m - 1) * cost_of(flat, offset, size, full, tables, lines, lo_there, hi_there)
            loss += (n + 1) * cost_with(flat, offset, size, full, tables, lines, low, high, other)
            if loss <= limit:
                candidate = _weight(loss, now, temperature)
                guest = members[there, index]
                if rules is not None:
                    if broken > 0:
                        after = _broken_after(rules, broken, -1, guest, here, there, members, sizes, tallies)
                        candidate *= _favour(broken, after)
                weight += candidate
                if share(random) * weight < candidate:
                    allowed = True
                    if rules is not None:
                        if broken == 0:
                            allowed = _broken_after(rules, broken, -1, guest, here, there, members, sizes, tallies) == 0
                    if allowed:
                        chosen, goes, comes = index, False, True
                    else:
                        weight -= candidate
        if swapped <= limit:
            loss = swapped + m * cost_with(flat, offset, size, full, tables, lines, lo_there, hi_there, row)
            if loss <= limit:
                candidate = _weight(loss, now, temperature)
                guest = members[there, index]
                if rules is not None:
                    if broken > 0:
                        after = _broken_after(rules, broken, record, guest, here, there, members, sizes, tallies)
                        candidate *= _favour(broken, after)
                weight += candidate
                if share(random) * weight < candidate:
                    # To look at the rules costs more than the rest, so only those that would be chosen are looked at.
                    allowed = True
                    if rules is not None:
                        if broken == 0:
                            allowed = (
                                _broken_after(rules, broken, record, guest, here, there, members, sizes, tallies) == 0
                            )
                    if allowed:
                        chosen, goes, comes = index, True, True
                    else:
                        weight -= candidate
    if not goes and not comes:
        return
    mine = 0
    while members[here, mine] != record:
        mine += 1
    if goes and comes:
        other_record = members[there, chosen]
        members[here, mine] = other_record
        members[there, chosen] = record
        labels[other_record] = here
        labels[record] = there
    elif goes:
        members[here, mine] = members[here, n - 1]
        members[there, m] = record
        labels[record] = there
        sizes[here] = n - 1
        sizes[there] = m + 1
    else:
        other_record = members[there, chosen]
        members[there, chosen] = members[there, m - 1]
        members[here, n] = other_record
        labels[other_record] = here
        sizes[here] = n + 1
        sizes[there] = m - 1
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
    labels, members, sizes, cost, ends, breaks = state
    records, rows, group_of, grown, lows, highs, group_cost, group_size, group_broken = pool
    largest = members.shape[1]
    broken = np.int64(0)
    if rules is not None:
        table, whole, real, values, listed, lists, _, _ = rules
        counts, work = tallies.counts, tallies.work
    count = 0
    used = 0
    now = np.int64(0)
    for cluster in clusters:
        if cluster < 0:
            continue
        if rules is not None:
            broken += breaks[cluster]
        used += 1
        now += sizes[cluster] * cost[cluster]
        for index in range(sizes[cluster]):
            record = members[cluster, index]
            records[count] = record
            for axis in range(rows.shape[1]):
                rows[count, axis] = places[record, axis]
            count += 1
    most = min(count // k, used + (1 if spare >= 0 else 0))
    fewest = max(used - 1, (count + largest - 1) // largest)
    groups = fewest + below(random, most - fewest + 1)
    # The threshold of Metropolis is drawn first: dealing stops as soon as it is passed.
    limit = now - np.int64(temperature * math.log(1.0 - share(random)))
    # Groups that break the rules less are taken at any loss.
    healed = broken > 0
    loss = np.int64(0)
    left = count
    for group in range(groups):
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
        if rules is not None:
            # It only becomes more: then the rules need not be looked at.
            if loss + taken * least > limit and not healed:
                return
            count_records(values, listed, lists, records[left : left + k], counts[group])
            now_broken = broken_by(table, whole, real, counts[group], taken, work)
            while now_broken > 0 and taken < largest and left > (groups - 1 - group) * k:
                best, now_broken, grown_cost = _most_healing(
                    rules, spans, now_broken, taken, left, records, rows, lo, hi, counts[group], tallies
                )
                if best < 0:
                    break
                add_record(values, listed, lists, records[best], 1, counts[group])
                left -= 1
                _take(best, left, group, records, rows, group_of, lo, hi)
                taken += 1
                if loss + taken * grown_cost > limit and not healed:
                    return
        if taken > k or k > LOOKS:
            least = cost_of(flat, offset, size, full, tables, lines, lo, hi)
        group_cost[group] = least
        group_size[group] = taken
        loss += taken * least
        if loss > limit and not healed:
            return
    while left > 0:
        left -= 1
        best = 0
        least = NEVER
        best_cost = np.int64(0)
        for group in range(groups):
            if group_size[group] == largest:
                continue
            more_cost = cost_with(flat, offset, size, full, tables, lines, lows[group], highs[group], rows[left])
            more = (group_size[group] + 1) * more_cost - group_size[group] * group_cost[group]
            if more < least:
                best, least, best_cost = group, more, more_cost
        if rules is not None:
            add_record(values, listed, lists, records[left], 1, counts[best])
        _take(left, left, best, records, rows, group_of, lows[best], highs[best])
        group_cost[best] = best_cost
        group_size[best] += 1
        loss += least
        if loss > limit and not healed:
            return
    if rules is not None:
        after = np.int64(0)
        for group in range(groups):
            group_broken[group] = broken_by(table, whole, real, counts[group], group_size[group], work)
            after += group_broken[group]
        if after > broken or (after == broken and loss > limit):
            return
    for group in range(max(groups, used)):
        sizes[clusters[group] if group < used else spare] = 0
    for index in range(count):
        group = group_of[index]
        cluster = clusters[group] if group < used else spare
        members[cluster, sizes[cluster]] = records[index]
        labels[records[index]] = cluster
        sizes[cluster] += 1
    for group in range(max(groups, used)):
        cluster = clusters[group] if group < used else spare
        refresh(places, flat, offset, size, full, tables, lines, cluster, members, sizes[cluster], cost, ends)
        if rules is not None:
            breaks[cluster] = group_broken[group] if group < groups else np.int64(0)
