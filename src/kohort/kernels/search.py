"""Local search on a partition: neighbouring clusters exchange records, or are dealt anew.

The loss of a cluster is its size times the cost of its box. A step looks at two or three
neighbouring clusters and draws one of all the changes it has weighed by heat bath: a change that
raises the loss by x has the weight exp(-x / temperature), no change the weight 1.

Steps come in rounds. The steps of a round are drawn from the state before it; each claims its
clusters, a cluster goes to the claim with the highest random rank, and the steps that have all of
theirs are carried out. They share no cluster and no record, so the order in which they are done,
and by how many threads, makes no difference.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kohort.kernels.boxes import NEVER
from kohort.kernels.jit import inlined, kernel
from kohort.kernels.random import below, mixed, share
from kohort.kernels.spans import cost_of, cost_with

# Ends of a box: smallest and second smallest code, largest and second largest.
LOW, LOW2, HIGH, HIGH2 = 0, 1, 2, 3
ATTEMPTS = 4
"""Draws of a cluster before a step gives up."""
EXCHANGE = -2
"""In place of a spare slot: the step exchanges records, it does not deal them anew."""
NEGLIGIBLE = 10
"""A change with a weight of less than exp(-10) is not looked at any closer."""


class State(NamedTuple):
    """A partition with k to 2k - 1 records in every cluster; a slot without members is free."""

    labels: NDArray[np.int32]
    """Cluster of each record."""
    members: NDArray[np.int32]
    """Records of each cluster, shape (slots, 2k - 1)."""
    sizes: NDArray[np.int64]
    cost: NDArray[np.int64]
    """Cost of the box of each cluster."""
    ends: NDArray[np.int32]
    """Shape (slots, 4, d): what the box is, and what it is without the record at one end."""


class Nearness(NamedTuple):
    """Near rows of every distinct row, and the records that have a row."""

    row: NDArray[np.int32]
    """Distinct row of each record."""
    near: NDArray[np.int32]
    """Near rows of each row, nearest first, shape (rows, count)."""
    first: NDArray[np.int64]
    """Where the records of a row begin in `order`."""
    counts: NDArray[np.int64]
    order: NDArray[np.int64]


class Round(NamedTuple):
    """The steps of one round."""

    record: NDArray[np.int32]
    """The record that a step is about."""
    clusters: NDArray[np.int32]
    """The clusters that it needs, -1 where it needs fewer; shape (steps, 3)."""
    spare: NDArray[np.int32]
    """A free slot, or -1; EXCHANGE for a step that exchanges records."""
    rank: NDArray[np.uint64]
    """Random, and the seed of the step."""
    claimed: NDArray[np.uint64]
    """Highest rank that claims each cluster."""
    won: NDArray[np.int32]
    """Steps to be carried out."""


def empty_round(steps: int, slots: int) -> Round:
    """A round that waits for its steps."""
    return Round(
        record=np.empty(steps, np.int32),
        clusters=np.empty((steps, 3), np.int32),
        spare=np.empty(steps, np.int32),
        rank=np.empty(steps, np.uint64),
        claimed=np.zeros(slots, np.uint64),
        won=np.empty(steps, np.int32),
    )


@inlined
def _refresh(
    places,  # IN   int32[n, d]
    flat,  # IN   Spans, one by one
    offset,
    size,
    full,
    tables,
    lines,
    cluster,  # IN   int
    members,  # IN   State, one by one
    count,  # IN   int, number of members
    cost,  # OUT  int64[slots]
    ends,  # OUT  int32[slots, 4, d]
):
    """Work out the box of a cluster from its members."""
    low, low2, high, high2 = ends[cluster, LOW], ends[cluster, LOW2], ends[cluster, HIGH], ends[cluster, HIGH2]
    for axis in range(low.shape[0]):
        low[axis] = low2[axis] = 2**31 - 1
        high[axis] = high2[axis] = -1
    for index in range(count):
        row = places[members[cluster, index]]
        for axis in range(low.shape[0]):
            place = row[axis]
            low2[axis] = min(low2[axis], max(low[axis], place))
            low[axis] = min(low[axis], place)
            high2[axis] = max(high2[axis], min(high[axis], place))
            high[axis] = max(high[axis], place)
    cost[cluster] = cost_of(flat, offset, size, full, tables, lines, low, high) if count > 0 else np.int64(0)


@kernel
def gather(
    places,  # IN   int32[n, d]
    spans,  # IN   Spans
    state,  # IN/OUT State, with labels only
):
    """Let every record join the cluster of its label; -1 is none."""
    flat, offset, size, full, tables, lines = spans
    labels, members, sizes, cost, ends = state
    for record in range(places.shape[0]):
        cluster = labels[record]
        if cluster < 0:
            continue
        members[cluster, sizes[cluster]] = record
        sizes[cluster] += 1
    for cluster in range(sizes.shape[0]):
        _refresh(places, flat, offset, size, full, tables, lines, cluster, members, sizes[cluster], cost, ends)


@kernel
def loss_of(
    state,  # IN   State
):
    """Sum of size times cost over all clusters."""
    total = np.int64(0)
    for cluster in range(state.sizes.shape[0]):
        total += state.sizes[cluster] * state.cost[cluster]
    return total


@kernel
def _exchange(
    places,  # IN   int32[n, d]
    spans,  # IN   Spans
    k,  # IN   int
    temperature,  # IN   float
    record,  # IN   int
    there,  # IN   int, the other cluster
    random,  # IN/OUT uint64[1]
    boxes,  # TMP  int32[4, d]
    state,  # IN/OUT State
):
    """Weigh every way to move the record there, a record from there, or to swap the two; draw one."""
    flat, offset, size, full, tables, lines = spans
    labels, members, sizes, cost, ends = state
    here = labels[record]
    row = places[record]
    n, m = sizes[here], sizes[there]
    largest = members.shape[1]
    lo, hi, lo_there, hi_there = boxes[0], boxes[1], boxes[2], boxes[3]
    low, low2, high, high2 = ends[here, LOW], ends[here, LOW2], ends[here, HIGH], ends[here, HIGH2]
    for axis in range(row.shape[0]):
        place = row[axis]
        lo[axis] = low2[axis] if place == low[axis] else low[axis]
        hi[axis] = high2[axis] if place == high[axis] else high[axis]
    alone = cost_of(flat, offset, size, full, tables, lines, lo, hi)
    now = n * cost[here] + m * cost[there]
    limit = now + np.int64(NEGLIGIBLE * temperature)
    weight = 1.0
    chosen = -1  # a member of the other cluster
    goes, comes = False, False
    low_there, low2_there = ends[there, LOW], ends[there, LOW2]
    high_there, high2_there = ends[there, HIGH], ends[there, HIGH2]
    if n > k and m < largest:
        loss = (n - 1) * alone
        loss += (m + 1) * cost_with(flat, offset, size, full, tables, lines, low_there, high_there, row)
        if loss <= limit:
            candidate = math.exp(min((now - loss) / temperature, 50.0))
            weight += candidate
            goes = share(random) * weight < candidate
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
                candidate = math.exp(min((now - loss) / temperature, 50.0))
                weight += candidate
                if share(random) * weight < candidate:
                    chosen, goes, comes = index, False, True
        if swapped <= limit:
            loss = swapped + m * cost_with(flat, offset, size, full, tables, lines, lo_there, hi_there, row)
            if loss <= limit:
                candidate = math.exp(min((now - loss) / temperature, 50.0))
                weight += candidate
                if share(random) * weight < candidate:
                    chosen, goes, comes = index, True, True
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
        _refresh(places, flat, offset, size, full, tables, lines, cluster, members, sizes[cluster], cost, ends)


class Pool(NamedTuple):
    """Records of some clusters, and the groups that they are dealt into."""

    records: NDArray[np.int32]
    """Those without a group first: a record that joins one is put at the end of them."""
    rows: NDArray[np.int32]
    """Their places, shape (records, d)."""
    group: NDArray[np.int32]
    """Group of each record that has one."""
    lows: NDArray[np.int32]
    """Boxes of the groups, shape (groups, d)."""
    highs: NDArray[np.int32]
    cost: NDArray[np.int64]
    sizes: NDArray[np.int64]


@kernel
def _empty_pool(
    records,  # IN   int
    d,  # IN   int
):
    return Pool(
        np.empty(records, np.int32),
        np.empty((records, d), np.int32),
        np.empty(records, np.int32),
        np.empty((4, d), np.int32),
        np.empty((4, d), np.int32),
        np.empty(4, np.int64),
        np.empty(4, np.int64),
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
def _deal(
    places,  # IN   int32[n, d]
    spans,  # IN   Spans
    k,  # IN   int
    temperature,  # IN   float
    clusters,  # IN   int32[3], -1 where there are fewer
    spare,  # IN   int, a free slot, or -1
    random,  # IN/OUT uint64[1]
    pool,  # TMP  Pool
    state,  # IN/OUT State
):
    """Deal the records of some clusters anew, into one cluster fewer, as many, or one more.

    A group starts with a random record and takes the cheapest one until it has k. Records that
    are left join the group where the loss grows least.
    """
    flat, offset, size, full, tables, lines = spans
    labels, members, sizes, cost, ends = state
    records, rows, group_of, lows, highs, group_cost, group_size = pool
    largest = members.shape[1]
    count = 0
    used = 0
    now = np.int64(0)
    for cluster in clusters:
        if cluster < 0:
            continue
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
        for _ in range(k - 1):
            best = 0
            least = NEVER
            ties = 0
            for index in range(left):
                grown = cost_with(flat, offset, size, full, tables, lines, lo, hi, rows[index])
                if grown < least:
                    best, least, ties = index, grown, 1
                elif grown == least:
                    ties += 1
                    if below(random, ties) == 0:
                        best = index
            left -= 1
            _take(best, left, group, records, rows, group_of, lo, hi)
        group_cost[group] = least
        group_size[group] = k
        loss += k * least
        if loss > limit:
            return
    while left > 0:
        left -= 1
        best = 0
        least = NEVER
        best_cost = np.int64(0)
        for group in range(groups):
            if group_size[group] == largest:
                continue
            grown = cost_with(flat, offset, size, full, tables, lines, lows[group], highs[group], rows[left])
            more = (group_size[group] + 1) * grown - group_size[group] * group_cost[group]
            if more < least:
                best, least, best_cost = group, more, grown
        _take(left, left, best, records, rows, group_of, lows[best], highs[best])
        group_cost[best] = best_cost
        group_size[best] += 1
        loss += least
        if loss > limit:
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
        _refresh(places, flat, offset, size, full, tables, lines, cluster, members, sizes[cluster], cost, ends)


@inlined
def _near_record(
    record,  # IN   int
    row_of,  # IN   Nearness, one by one
    near,
    first,
    counts,
    order,
    random,  # IN/OUT uint64[1]
):
    """Draw a record near another one, nearer ones more often; itself if there is none."""
    place = share(random)
    row = near[row_of[record], np.int64(place * place * near.shape[1])]
    other = np.int64(record)
    if row >= 0:
        other = order[first[row] + below(random, counts[row])]
    return other


@kernel
def draw_round(
    number,  # IN   int, which round
    seed,  # IN   uint64
    dealing,  # IN   float, share of steps that deal anew
    nearness,  # IN   Nearness
    state,  # IN   State
    free,  # IN   int32[], free slots
    steps,  # OUT  Round
):
    """Draw the steps of a round and let them claim their clusters; returns how many have theirs."""
    row_of, near, first, counts, order = nearness
    labels, _members, _sizes, cost, _ends = state
    records, clusters, spare, ranks, claimed, won = steps
    random = np.empty(1, np.uint64)
    n = labels.shape[0]
    base = mixed(seed + mixed(np.uint64(number)))
    claimed[:] = np.uint64(0)
    spares = 0
    for step in range(records.shape[0]):
        # The rank is random and not 0, and no two steps have the same: the last bits are the step's number.
        rank = (mixed(base + np.uint64(step)) & ~np.uint64(0xFFFFFF)) | np.uint64(step + 1)
        random[0] = rank
        ranks[step] = rank
        clusters[step, 0] = clusters[step, 1] = clusters[step, 2] = -1
        spare[step] = EXCHANGE
        record = below(random, n)
        for _ in range(ATTEMPTS):
            if cost[labels[record]] > 0:
                break
            record = below(random, n)
        here = labels[record]
        there = here
        other = np.int64(record)
        for _ in range(ATTEMPTS):
            other = _near_record(record, row_of, near, first, counts, order, random)
            there = labels[other]
            if there != here:
                break
        if there == here:
            continue
        records[step] = record
        clusters[step, 0] = here
        clusters[step, 1] = there
        if share(random) < dealing:
            spare[step] = -1
            if spares < free.shape[0]:
                spare[step] = free[spares]
                spares += 1
            if share(random) < 0.5:
                third = labels[_near_record(other, row_of, near, first, counts, order, random)]
                if third != here and third != there:
                    clusters[step, 2] = third
        for place in range(3):
            cluster = clusters[step, place]
            if cluster >= 0:
                claimed[cluster] = max(claimed[cluster], rank)
    count = 0
    for step in range(records.shape[0]):
        if clusters[step, 0] < 0:
            continue
        has_all = True
        for place in range(3):
            cluster = clusters[step, place]
            if cluster >= 0 and claimed[cluster] != ranks[step]:
                has_all = False
        if has_all:
            won[count] = step
            count += 1
    return count


@kernel
def carry_out(
    places,  # IN   int32[n, d]
    spans,  # IN   Spans
    k,  # IN   int
    temperature,  # IN   float
    steps,  # IN   Round
    start,  # IN   int, first of the steps that won
    stop,  # IN   int, the one after the last
    state,  # IN/OUT State
):
    """Carry out some steps of a round."""
    d = places.shape[1]
    random = np.empty(1, np.uint64)
    boxes = np.empty((4, d), np.int32)
    pool = _empty_pool(3 * state.members.shape[1], d)
    for index in range(start, stop):
        step = steps.won[index]
        random[0] = ~steps.rank[step]
        if steps.spare[step] == EXCHANGE:
            _exchange(places, spans, k, temperature, steps.record[step], steps.clusters[step, 1], random, boxes, state)
        else:
            _deal(places, spans, k, temperature, steps.clusters[step], steps.spare[step], random, pool, state)


@kernel
def run_rounds(
    places,  # IN   int32[n, d]
    spans,  # IN   Spans
    k,  # IN   int
    temperatures,  # IN   float64[], one for each round
    number,  # IN   int, number of the first round
    seed,  # IN   uint64
    dealing,  # IN   float
    nearness,  # IN   Nearness
    steps,  # TMP  Round
    state,  # IN/OUT State
):
    """Do some rounds in one thread; returns the number of steps that were carried out."""
    done = 0
    for index in range(temperatures.shape[0]):
        free = np.flatnonzero(state.sizes == 0).astype(np.int32)
        won = draw_round(number + index, seed, dealing, nearness, state, free, steps)
        carry_out(places, spans, k, temperatures[index], steps, 0, won, state)
        done += won
    return done


@kernel
def _best_leaver(
    places,  # IN   int32[n, d]
    spans,  # IN   Spans
    cluster,  # IN   int
    boxes,  # TMP  int32[4, d]
    state,  # IN   State
):
    """Find the member whose leaving saves the cluster most; returns its place, and what is saved."""
    flat, offset, size, full, tables, lines = spans
    _, members, sizes, cost, ends = state
    lo, hi = boxes[0], boxes[1]
    low, low2, high, high2 = ends[cluster, LOW], ends[cluster, LOW2], ends[cluster, HIGH], ends[cluster, HIGH2]
    n = sizes[cluster]
    best = -1
    most = np.int64(-1)
    for index in range(n):
        row = places[members[cluster, index]]
        for axis in range(row.shape[0]):
            lo[axis] = low2[axis] if row[axis] == low[axis] else low[axis]
            hi[axis] = high2[axis] if row[axis] == high[axis] else high[axis]
        saved = n * cost[cluster] - (n - 1) * cost_of(flat, offset, size, full, tables, lines, lo, hi)
        if saved > most:
            best, most = index, saved
    return best, most


class Moves(NamedTuple):
    """Where the members of a cluster would go, and what the clusters that take them in would be."""

    target: NDArray[np.int32]
    """Cluster of each member; -1 for nowhere."""
    cluster: NDArray[np.int32]
    """The clusters that take somebody in, with their boxes, sizes and costs then."""
    lows: NDArray[np.int32]
    highs: NDArray[np.int32]
    sizes: NDArray[np.int64]
    cost: NDArray[np.int64]


@kernel
def _dissolved(
    places,  # IN   int32[n, d]
    spans,  # IN   Spans
    everything,  # IN   int, cost of a record that is withheld
    cluster,  # IN   int
    nearness,  # IN   Nearness
    state,  # IN   State
    moves,  # OUT  Moves
):
    """Find a place for every member of a cluster in clusters near it, or none if that costs less.

    Returns what it costs, the number of clusters that take somebody in, and of members that nobody does.
    """
    flat, offset, size, full, tables, lines = spans
    labels, members, sizes, cost, ends = state
    row_of, near, first, _, order = nearness
    largest = members.shape[1]
    total = np.int64(0)
    hosts = 0
    lost = 0
    for index in range(sizes[cluster]):
        record = members[cluster, index]
        row = places[record]
        best = -1
        least = everything
        best_cost = np.int64(0)
        for place in range(near.shape[1]):
            other = near[row_of[record], place]
            if other < 0:
                break
            there = labels[order[first[other]]]
            if there == cluster or there < 0:
                continue
            host = 0
            while host < hosts and moves.cluster[host] != there:
                host += 1
            if host < hosts:
                count, now = moves.sizes[host], moves.cost[host]
                grown = cost_with(flat, offset, size, full, tables, lines, moves.lows[host], moves.highs[host], row)
            else:
                count, now = sizes[there], cost[there]
                grown = cost_with(flat, offset, size, full, tables, lines, ends[there, LOW], ends[there, HIGH], row)
            more = (count + 1) * grown - count * now
            if count < largest and more < least:
                best, least, best_cost = there, more, grown
        total += least
        moves.target[index] = best
        if best < 0:
            lost += 1
            continue
        host = 0
        while host < hosts and moves.cluster[host] != best:
            host += 1
        if host == hosts:
            hosts += 1
            moves.cluster[host] = best
            moves.sizes[host] = sizes[best]
            moves.lows[host] = ends[best, LOW]
            moves.highs[host] = ends[best, HIGH]
        moves.sizes[host] += 1
        moves.cost[host] = best_cost
        for axis in range(row.shape[0]):
            moves.lows[host, axis] = min(moves.lows[host, axis], row[axis])
            moves.highs[host, axis] = max(moves.highs[host, axis], row[axis])
    return total, hosts, lost


@kernel
def withhold(
    places,  # IN   int32[n, d]
    spans,  # IN   Spans
    k,  # IN   int
    everything,  # IN   int, cost of a record that is withheld
    allowance,  # IN   int, records that may be
    clusters,  # IN   int64[], those that lose most first
    nearness,  # IN   Nearness
    state,  # IN/OUT State; the label of a record that is withheld becomes -1
):
    """Withhold records where that makes the total loss fall; returns how many.

    A member leaves a cluster that has more than k; or a cluster is dissolved, and every member goes to a cluster
    near it or is withheld. A record that is withheld costs as much as a box can.
    """
    flat, offset, size, full, tables, lines = spans
    labels, members, sizes, cost, ends = state
    d = places.shape[1]
    largest = members.shape[1]
    boxes = np.empty((4, d), np.int32)
    moves = Moves(
        np.empty(largest, np.int32),
        np.empty(largest, np.int32),
        np.empty((largest, d), np.int32),
        np.empty((largest, d), np.int32),
        np.empty(largest, np.int64),
        np.empty(largest, np.int64),
    )
    gone = 0
    for cluster in clusters:
        n = sizes[cluster]
        # Whoever leaves saves no more than the whole loss of the cluster.
        if gone == allowance or n * cost[cluster] <= everything:
            continue
        best, saved = _best_leaver(places, spans, cluster, boxes, state)
        saved -= everything
        paid, hosts, lost = _dissolved(places, spans, everything, cluster, nearness, state, moves)
        if lost > 0 and lost <= allowance - gone and n * cost[cluster] - paid > (saved if n > k else 0):
            for index in range(n):
                record = members[cluster, index]
                there = moves.target[index]
                labels[record] = there
                if there >= 0:
                    members[there, sizes[there]] = record
                    sizes[there] += 1
            sizes[cluster] = 0
            for host in range(hosts):
                there = moves.cluster[host]
                _refresh(places, flat, offset, size, full, tables, lines, there, members, sizes[there], cost, ends)
            _refresh(places, flat, offset, size, full, tables, lines, cluster, members, 0, cost, ends)
            gone += lost
        elif n > k and saved > 0:
            labels[members[cluster, best]] = -1
            members[cluster, best] = members[cluster, n - 1]
            sizes[cluster] = n - 1
            _refresh(places, flat, offset, size, full, tables, lines, cluster, members, n - 1, cost, ends)
            gone += 1
    return gone
