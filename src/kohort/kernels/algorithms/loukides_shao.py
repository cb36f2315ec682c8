"""Clusters that grow by usefulness and protection, on distinct rows of all columns.

The diversity of a cluster on an axis is its share of the domain: of the range on a line, of the
number of codes elsewhere. Usefulness is the sum over the quasi-identifiers; it never falls when
a cluster grows. Protection is 1 over the sum over the sensitive columns.

A cluster keeps the rows that were the most useful when it last looked at all of them. Every other
row is less useful than the last of them and can protect no better than the best value that is
possible, so a candidate that is better than such a row is the best of all.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kohort.kernels.boxes import NEVER
from kohort.kernels.jit import inner, kernel

# Slots of the state that survives between calls of `grow_clusters`.
RECORDS_LEFT, CLUSTERS, SEEDS, LIVE, SIZE, FOUND = range(6)
LOW = 2**32 - 1
UNPROTECTED = 2**60
"""Protection of a cluster without any diversity: 1/0."""
LEFT_OVER = -1


class Domains(NamedTuple):
    """The domains of all columns, quasi-identifiers first."""

    quasi: int
    """Number of quasi-identifiers."""
    is_line: NDArray[np.bool_]
    size: NDArray[np.int64]
    """Number of codes, that of a missing value included."""
    missing: NDArray[np.int64]
    """Code of a missing value on a line, or -1."""
    unit: NDArray[np.int64]
    """Diversity of the whole domain, in fixed point."""
    offset: NDArray[np.int64]
    """Line: where its positions begin; else: where its bits begin in the words of a cluster."""
    positions: NDArray[np.int64]
    """Position of each code of each line."""
    protect: int
    """Protection of a cluster with the diversity 1 (in fixed point), times that diversity."""


class Sets(NamedTuple):
    """What is in each cluster."""

    lows: NDArray[np.int32]
    """Shape (clusters, axes): smallest code."""
    highs: NDArray[np.int32]
    counts: NDArray[np.int32]
    """Shape (clusters, axes): distinct codes; on a line only whether there are any."""
    words: NDArray[np.uint64]
    """Shape (clusters, words): a bit for each code that is there, lines left out."""


def empty_sets(clusters: int, axes: int, words: int) -> Sets:
    """Clusters without members."""
    lows, highs, counts = (np.zeros((clusters, axes), np.int32) for _ in range(3))
    return Sets(lows, highs, counts, np.zeros((clusters, words), np.uint64))


@inner
def _has(
    domains,  # IN   Domains
    sets,  # IN   Sets
    cluster,  # IN   int
    axis,  # IN   int
    code,  # IN   int
):
    """Whether a code of a taxonomy is in a cluster."""
    bit = domains.offset[axis] + code
    return (sets.words[cluster, bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1) == np.uint64(1)


@inner
def _diversity_with(
    domains,  # IN   Domains
    sets,  # IN   Sets
    cluster,  # IN   int
    axis,  # IN   int
    code,  # IN   int
):
    """Diversity of a cluster with one more code, on one axis."""
    if not domains.is_line[axis]:
        there = sets.counts[cluster, axis] + (0 if _has(domains, sets, cluster, axis, code) else 1)
        return there * domains.unit[axis] // domains.size[axis]
    if sets.counts[cluster, axis] == 0:
        return np.int64(0)
    lo = min(sets.lows[cluster, axis], code)
    hi = max(sets.highs[cluster, axis], code)
    if hi == domains.missing[axis]:
        return np.int64(0) if lo == hi else domains.unit[axis]
    start = domains.offset[axis]
    return domains.positions[start + hi] - domains.positions[start + lo]


@inner
def _protection(
    domains,  # IN   Domains
    diversity,  # IN   int, of the sensitive columns
):
    if domains.protect == 0:
        return np.int64(0)
    return domains.protect // diversity if diversity > 0 else np.int64(UNPROTECTED)


@inner
def _usefulness_with(
    domains,  # IN   Domains
    sets,  # IN   Sets
    cluster,  # IN   int
    row,  # IN   int32[axes]
):
    total = np.int64(0)
    for axis in range(domains.quasi):
        total += _diversity_with(domains, sets, cluster, axis, row[axis])
    return total


@inner
def _protection_with(
    domains,  # IN   Domains
    sets,  # IN   Sets
    cluster,  # IN   int
    row,  # IN   int32[axes]
):
    total = np.int64(0)
    for axis in range(domains.quasi, row.shape[0]):
        total += _diversity_with(domains, sets, cluster, axis, row[axis])
    return _protection(domains, total)


@inner
def _value(
    domains,  # IN   Domains
    sets,  # IN   Sets
    cluster,  # IN   int
):
    """Usefulness and protection of a cluster that has members: nothing changes with a code that is there."""
    row = sets.lows[cluster]
    return _usefulness_with(domains, sets, cluster, row) + _protection_with(domains, sets, cluster, row)


@inner
def _best_protection(
    domains,  # IN   Domains
    sets,  # IN   Sets
    cluster,  # IN   int
):
    """Protection that no record can better when it joins."""
    total = np.int64(0)
    for axis in range(domains.quasi, domains.size.shape[0]):
        size = domains.size[axis]
        if domains.is_line[axis]:
            ends = _diversity_with(domains, sets, cluster, axis, 0)
            for code in (size - 1, max(size - 2, 0)):  # the last one may be the missing value
                ends = max(ends, _diversity_with(domains, sets, cluster, axis, code))
            total += ends
        else:
            total += min(sets.counts[cluster, axis] + 1, size) * domains.unit[axis] // size
    return _protection(domains, total)


@inner
def _add(
    domains,  # IN   Domains
    sets,  # IN/OUT Sets
    cluster,  # IN   int
    row,  # IN   int32[axes]
):
    """Let a record join a cluster. Returns whether the sets have changed."""
    changed = False
    for axis in range(row.shape[0]):
        code = row[axis]
        empty = sets.counts[cluster, axis] == 0
        if empty or code < sets.lows[cluster, axis]:
            sets.lows[cluster, axis] = code
            changed = True
        if empty or code > sets.highs[cluster, axis]:
            sets.highs[cluster, axis] = code
            changed = True
        if domains.is_line[axis]:
            sets.counts[cluster, axis] = 1
        elif not _has(domains, sets, cluster, axis, code):
            bit = domains.offset[axis] + code
            sets.words[cluster, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
            sets.counts[cluster, axis] += 1
            changed = True
    return changed


@inner
def _close(
    k,  # IN   int
    members,  # IN   int64[n]
    sets,  # IN/OUT Sets
    state,  # IN/OUT int64[6]
    labels,  # IN/OUT int32[n]
):
    """End the cluster that grows; the members of one below k are left over."""
    if state[SIZE] < k:
        for index in range(state[SIZE]):
            labels[members[index]] = LEFT_OVER
        sets.counts[state[CLUSTERS]] = 0
        sets.words[state[CLUSTERS]] = 0
    else:
        state[CLUSTERS] += 1
    state[SIZE] = 0


# -- growth ----------------------------------------------------------------------------------------


@inner
def _best_candidate(
    codes,  # IN   int32[m, axes]
    domains,  # IN   Domains
    sets,  # IN   Sets
    cluster,  # IN   int
    left,  # IN   int32[m]
    keys,  # IN   int64[width]
    found,  # IN   int
):
    """Find the candidate with the least value, the first of equals."""
    best = -1
    least = np.int64(NEVER)
    for index in range(found):
        row = keys[index] & LOW
        if left[row] > 0:
            value = _usefulness_with(domains, sets, cluster, codes[row])
            value += _protection_with(domains, sets, cluster, codes[row])
            if value < least or (value == least and row < best):
                least = value
                best = row
    return best, least


@inner
def _best_of_all(
    codes,  # IN   int32[m, axes]
    domains,  # IN   Domains
    sets,  # IN   Sets
    cluster,  # IN   int
    left,  # IN   int32[m]
    rows,  # IN   int32[live], ascending
    live,  # IN   int
    side,  # TMP  int64[sum of sizes], diversity with each code
    keys,  # OUT  int64[width], usefulness and row of the most useful rows
):
    """Find the row with the least value, the first of equals; and collect candidates.

    Returns the row, the value, the number of candidates, and a usefulness that no other row is below.
    """
    d = codes.shape[1]
    start = 0
    for axis in range(d):
        for code in range(domains.size[axis]):
            side[start + code] = _diversity_with(domains, sets, cluster, axis, code)
        start += domains.size[axis]
    # Keys are negative here, so the top of the heap is the largest of those that are kept.
    heap = [np.int64(0) for _ in range(0)]
    bar = np.int64(NEVER)
    best = -1
    least = np.int64(NEVER)
    for slot in range(live):
        row = rows[slot]
        if left[row] == 0:
            continue
        useful = np.int64(0)
        diverse = np.int64(0)
        start = 0
        for axis in range(d):
            if axis < domains.quasi:
                useful += side[start + codes[row, axis]]
            else:
                diverse += side[start + codes[row, axis]]
            start += domains.size[axis]
        value = useful + _protection(domains, diverse)
        if value < least:
            least = value
            best = row
        if useful <= bar:
            key = -((useful << 32) | row)
            if len(heap) < keys.shape[0]:
                heapq.heappush(heap, key)
            elif key > heap[0]:
                heapq.heapreplace(heap, key)
            if len(heap) == keys.shape[0]:
                bar = (-heap[0]) >> 32
    for index in range(len(heap)):
        keys[index] = -heap[index]
    return best, least, len(heap), bar


@inner
def _drawn_row(
    draw,  # IN   float in [0, 1[
    records,  # IN   int, number of records that are left
    rows,  # IN   int32[live]
    live,  # IN   int
    left,  # IN   int32[m]
):
    """Find the row of a random record among those that are left."""
    wanted = np.int64(draw * records)
    slot = 0
    while wanted >= left[rows[slot]]:
        wanted -= left[rows[slot]]
        slot += 1
    return rows[slot]


@kernel
def grow_clusters(
    codes,  # IN   int32[m, axes], distinct rows of all columns in lexicographic order
    first,  # IN   int64[m], position of the first copy of a row
    domains,  # IN   Domains
    k,  # IN   int
    threshold,  # IN   int, largest value of a cluster; below 0: clusters end with k records
    draws,  # IN   float64[n], for the seeds
    work,  # IN   int, rows to look at in this call
    sets,  # IN/OUT Sets
    keys,  # IN/OUT int64[width], candidates of the cluster that grows
    bar,  # IN/OUT int64[1], usefulness that no other row is below
    members,  # IN/OUT int64[n], positions of the records of the cluster that grows
    left,  # IN/OUT int32[m], copies left of each row
    taken,  # IN/OUT int64[m], copies that are gone
    rows,  # IN/OUT int32[m], rows that may be left, ascending
    state,  # IN/OUT int64[6]
    labels,  # IN/OUT int32[n]
):
    """Grow clusters. Returns whether there is more to do."""
    side = np.empty(domains.size.sum(), np.int64)
    until_k = threshold < 0
    while work > 0:
        cluster = state[CLUSTERS]
        if state[SIZE] == 0:
            if state[RECORDS_LEFT] < (k if until_k else 1):
                return False
            kept = 0
            for slot in range(state[LIVE]):
                if left[rows[slot]] > 0:
                    rows[kept] = rows[slot]
                    kept += 1
            state[LIVE] = kept
            row = _drawn_row(draws[state[SEEDS]], state[RECORDS_LEFT], rows, kept, left)
            state[SEEDS] += 1
            state[FOUND] = 0
            bar[0] = -1
            work -= kept
        elif state[RECORDS_LEFT] == 0 or (until_k and state[SIZE] == k):
            _close(k, members, sets, state, labels)
            continue
        else:
            row, value = _best_candidate(codes, domains, sets, cluster, left, keys, state[FOUND])
            if row < 0 or value >= bar[0] + _best_protection(domains, sets, cluster):
                row, value, state[FOUND], bar[0] = _best_of_all(
                    codes, domains, sets, cluster, left, rows, state[LIVE], side, keys
                )
                work -= state[LIVE]
            if not until_k and value > threshold and value >= _value(domains, sets, cluster):
                _close(k, members, sets, state, labels)
                continue
        # A row that changes nothing stays the best until its copies are used up.
        copies = 1
        if not _add(domains, sets, cluster, codes[row]):
            copies = left[row] if not until_k else min(left[row], k - state[SIZE])
        for copy in range(copies):
            position = first[row] + taken[row] + copy
            labels[position] = cluster
            members[state[SIZE] + copy] = position
        taken[row] += copies
        left[row] -= copies
        state[SIZE] += copies
        state[RECORDS_LEFT] -= copies
    return True


# -- left-overs ------------------------------------------------------------------------------------


@inner
def _cheapest(
    domains,  # IN   Domains
    sets,  # IN   Sets
    clusters,  # IN   int
    row,  # IN   int32[axes]
    value,  # IN   int64[clusters], of each cluster
):
    """Find the cluster whose value grows least, the first of equals; and by how much."""
    best = -1
    least = np.int64(NEVER)
    for cluster in range(clusters):
        # Protection is never below 0, so usefulness alone may settle it.
        grown = _usefulness_with(domains, sets, cluster, row) - value[cluster]
        if grown < least:
            grown += _protection_with(domains, sets, cluster, row)
            if grown < least:
                least = grown
                best = cluster
    return best, least


@kernel
def values(
    domains,  # IN   Domains
    sets,  # IN   Sets
    clusters,  # IN   int
):
    """Usefulness and protection of each cluster."""
    value = np.empty(clusters, np.int64)
    for cluster in range(clusters):
        value[cluster] = _value(domains, sets, cluster)
    return value


@kernel
def prices(
    codes,  # IN   int32[records, axes]
    domains,  # IN   Domains
    sets,  # IN   Sets
    value,  # IN   int64[clusters]
    price,  # OUT  int64[records], least growth of a value
):
    """What it would cost to place each record, all others being away."""
    for index in range(codes.shape[0]):
        price[index] = _cheapest(domains, sets, value.shape[0], codes[index], value)[1]


@kernel
def place(
    codes,  # IN   int32[records, axes]
    domains,  # IN   Domains
    sets,  # IN/OUT Sets
    value,  # IN/OUT int64[clusters]
    labels,  # OUT  int32[records]
):
    """Give each record to the cluster whose value grows least, one by one."""
    for index in range(codes.shape[0]):
        best, _ = _cheapest(domains, sets, value.shape[0], codes[index], value)
        if _add(domains, sets, best, codes[index]):
            value[best] = _value(domains, sets, best)
        labels[index] = best
