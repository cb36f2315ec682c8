"""Greedy k-member clustering on distinct rows, with lazy candidates.

The cost of {seed, row} bounds the cost of cluster + row from below, because the cluster holds
the seed and costs are monotone. So after one scan from the seed only rows within a threshold
can win, and a winner that costs no more than the threshold is the best of all rows.

With a class penalty the loss of cluster + row counts, and a row whose class is not among the most
frequent ones of the cluster pays the penalty, too. Neither makes a row cheaper than its cost.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kohort.kernels.boxes import NEVER
from kohort.kernels.costs import box_cost, box_cost_with
from kohort.kernels.jit import inner, kernel
from kohort.kernels.search.scan import scan_from

# Slots of the state that survives between calls of `grow_clusters`.
RECORDS_LEFT, CLUSTERS, FAR_ROW, LIVE = range(4)
BINS = 1024


class ClassPenalty(NamedTuple):
    """What a record of another class than that of most members costs."""

    cost: int
    """0 for no penalty; then the arrays are empty."""
    of_row: NDArray[np.int32]
    """Class of each row."""
    votes: NDArray[np.int64]
    """Records of each class in the cluster that grows."""
    most: NDArray[np.int64]
    """Records of the most frequent class, of each cluster."""


def no_penalty() -> ClassPenalty:
    """Classes that nobody looks at."""
    return ClassPenalty(0, np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0, np.int64))


def class_penalty(cost: int, of_row: NDArray[np.int32], classes: int, clusters: int) -> ClassPenalty:
    """Classes that have not been counted yet."""
    return ClassPenalty(cost, of_row, np.zeros(classes, np.int64), np.zeros(clusters, np.int64))


@inner
def _threshold(
    distance,  # IN   int32[live]
    left,  # IN   int32[live], copies left of each row
    live,  # IN   int
    wanted,  # IN   int, number of records
    shift,  # IN   int, a bin is 2**shift wide
    bins,  # TMP  int64[BINS]
):
    """Smallest bin border within which at least `wanted` records lie."""
    bins[:] = 0
    for i in range(live):
        bins[min(distance[i] >> shift, BINS - 1)] += left[i]
    total = 0
    for b in range(BINS - 1):
        total += bins[b]
        if total >= wanted:
            return ((b + 1) << shift) - 1
    return np.int64(2**62)


@inner
def _collect(
    distance,  # IN   int32[live]
    left,  # IN   int32[live]
    live,  # IN   int
    threshold,  # IN   int
    candidates,  # OUT  int32[live], rows within the threshold, ascending
):
    found = 0
    for i in range(live):
        if distance[i] <= threshold and left[i] > 0:
            candidates[found] = i
            found += 1
    return found


@inner
def _compact(
    packs,  # IN/OUT Packs
    live,  # IN   int
    left,  # IN/OUT int32[m]
    original,  # IN/OUT int32[m], row that a slot stands for
):
    """Drop the rows that are used up; the order of the others stays."""
    kept = 0
    for i in range(live):
        if left[i] > 0:
            if kept != i:
                left[kept] = left[i]
                original[kept] = original[i]
                for index in range(packs.codes.shape[0]):
                    packs.codes[index, kept] = packs.codes[index, i]
            kept += 1
    return kept


@inner
def _cheapest(
    value,  # IN   int64[found], cost of the cluster with each candidate
    found,  # IN   int
    candidates,  # IN   int32[found]
    left,  # IN   int32[live]
):
    """Find the candidate of the least cost, the first of equals."""
    best = -1
    least = np.int64(NEVER)
    for c in range(found):
        if value[c] < least and left[candidates[c]] > 0:
            least = value[c]
            best = c
    return best, least


@inner
def _cheapest_with_penalty(
    value,  # IN   int64[found]
    found,  # IN   int
    candidates,  # IN   int32[found]
    left,  # IN   int32[live]
    original,  # IN   int32[live]
    size,  # IN   int, members with the candidate
    most,  # IN   int, members of the most frequent class
    penalty,  # IN   ClassPenalty
):
    """Find the candidate of the least loss and penalty, the first of equals."""
    best = -1
    least = np.int64(NEVER)
    for c in range(found):
        slot = candidates[c]
        if size * value[c] < least and left[slot] > 0:
            loss = size * value[c]
            if penalty.votes[penalty.of_row[original[slot]]] < most:
                loss += penalty.cost
            if loss < least:
                least = loss
                best = c
    return best, least


@inner
def _furthest(distance, left, live):
    """The slot at the largest distance that has copies left, the first of equals."""
    slot = -1
    furthest = -1
    for i in range(live):
        if distance[i] > furthest and left[i] > 0:
            furthest = distance[i]
            slot = i
    return slot


@inner
def _price(costs, codes, original, candidates, found, lo, hi, value):
    """What the box would cost with each candidate."""
    for c in range(found):
        value[c] = box_cost_with(costs, lo, hi, codes[original[candidates[c]]])


@inner
def _widen(row, lo, hi):
    """Widen the box so that it holds the row; whether it did not before."""
    grew = False
    for axis in range(len(row)):
        if row[axis] < lo[axis]:
            lo[axis] = row[axis]
            grew = True
        if row[axis] > hi[axis]:
            hi[axis] = row[axis]
            grew = True
    return grew


@kernel
def grow_clusters(
    codes,  # IN   int32[m, d], distinct rows in lexicographic order
    first,  # IN   int64[m], position of the first copy of a row
    costs,  # IN   Costs
    packs,  # IN/OUT Packs, compacted as rows are used up
    k,  # IN   int
    far_from_seed,  # IN   bool: the next seed is far from the last seed, not the last record
    most,  # IN   int, number of clusters to grow in this call
    shift,  # IN   int, width of the bins of distances
    penalty,  # IN/OUT ClassPenalty
    left,  # IN/OUT int32[m], copies left, by slot
    original,  # IN/OUT int32[m], row of a slot
    taken,  # IN/OUT int64[m], copies taken, by row
    state,  # IN/OUT int64[4]
    labels,  # OUT  int32[n], cluster of each copy
    lows,  # OUT  int32[clusters, d], boxes
    highs,  # OUT  int32[clusters, d]
):
    """Grow up to `most` clusters; returns how many records are left."""
    m, d = codes.shape
    table = np.empty(max(1, packs.size.max()), np.int32)
    side = np.empty(costs.size.max(), np.int32)
    distance = np.empty(m, np.int32)
    candidates = np.empty(m, np.int32)
    value = np.empty(m, np.int64)
    bins = np.empty(BINS, np.int64)
    live = _compact(packs, state[LIVE], left, original)
    used_up = 0
    grown = 0
    while state[RECORDS_LEFT] >= k and grown < most:
        if used_up * 8 > live:
            live = _compact(packs, live, left, original)
            used_up = 0
        # The seed: the row furthest from the last one, the first of equals.
        scan_from(costs, packs, live, codes[state[FAR_ROW]], table, side, distance)
        slot = _furthest(distance, left, live)
        seed = original[slot]
        cluster = state[CLUSTERS]
        lo = lows[cluster]
        hi = highs[cluster]
        lo[:] = codes[seed]
        hi[:] = codes[seed]
        last = seed
        members = 0
        most_of_a_class = 0
        penalty.votes[:] = 0
        scan_from(costs, packs, live, codes[seed], table, side, distance)
        threshold = _threshold(distance, left, live, max(3 * k, 32), shift, bins)
        found = _collect(distance, left, live, threshold, candidates)
        _price(costs, codes, original, candidates, found, lo, hi, value)
        copies = 1
        while True:
            # Take copies of the row in `slot`.
            row = original[slot]
            for copy in range(copies):
                labels[first[row] + taken[row] + copy] = cluster
            taken[row] += copies
            left[slot] -= copies
            if left[slot] == 0:
                used_up += 1
            members += copies
            last = row
            if penalty.cost > 0:
                penalty.votes[penalty.of_row[row]] += copies
                most_of_a_class = max(most_of_a_class, penalty.votes[penalty.of_row[row]])
            grew = _widen(codes[row], lo, hi)
            if members == k:
                break
            if grew:
                _price(costs, codes, original, candidates, found, lo, hi, value)
            while True:
                if penalty.cost == 0:
                    best, cost = _cheapest(value, found, candidates, left)
                else:
                    best, loss = _cheapest_with_penalty(
                        value, found, candidates, left, original, members + 1, most_of_a_class, penalty
                    )
                    cost = loss // (members + 1)
                if best >= 0 and cost <= threshold:
                    break
                # A row outside could be as good: everything within `cost` must be seen.
                threshold = cost if best >= 0 else _threshold(distance, left, live, max(3 * k, 32), shift, bins)
                found = _collect(distance, left, live, threshold, candidates)
                _price(costs, codes, original, candidates, found, lo, hi, value)
            slot = candidates[best]
            # A row that moves neither box nor majority stays the best until its copies are used up.
            row = original[slot]
            inside = penalty.cost == 0 or penalty.votes[penalty.of_row[row]] == most_of_a_class
            for axis in range(d):
                if codes[row, axis] < lo[axis] or codes[row, axis] > hi[axis]:
                    inside = False
            copies = min(left[slot], k - members) if inside else 1
        if penalty.cost > 0:
            penalty.most[cluster] = most_of_a_class
        state[FAR_ROW] = seed if far_from_seed else last
        state[CLUSTERS] += 1
        state[RECORDS_LEFT] -= k
        grown += 1
    state[LIVE] = live
    return state[RECORDS_LEFT]


@kernel
def place_left_overs(
    codes,  # IN   int32[m, d]
    counts,  # IN   int64[m], copies of each row
    first,  # IN   int64[m]
    costs,  # IN   Costs
    penalty,  # IN/OUT ClassPenalty
    taken,  # IN/OUT int64[m]
    lows,  # IN/OUT int32[clusters, d]
    highs,  # IN/OUT int32[clusters, d]
    sizes,  # IN/OUT int64[clusters]
    labels,  # OUT  int32[n]
):
    """Give every record that is left to the cluster whose loss grows least, one by one."""
    clusters = sizes.shape[0]
    d = codes.shape[1]
    here = np.empty(clusters, np.int64)
    alike = np.zeros(clusters, np.int64)
    for c in range(clusters):
        here[c] = box_cost(costs, lows[c], highs[c])
    for row in range(codes.shape[0]):
        while taken[row] < counts[row]:
            if penalty.cost > 0:
                _count_class(penalty.of_row, penalty.of_row[row], first, taken, labels, alike)
            best = -1
            least = np.int64(NEVER)
            for c in range(clusters):
                grown = box_cost_with(costs, lows[c], highs[c], codes[row])
                growth = (sizes[c] + 1) * grown - sizes[c] * here[c]
                if penalty.cost > 0 and alike[c] < penalty.most[c]:
                    growth += penalty.cost
                if growth < least:
                    least = growth
                    best = c
            labels[first[row] + taken[row]] = best
            taken[row] += 1
            sizes[best] += 1
            if penalty.cost > 0:
                penalty.most[best] = max(penalty.most[best], alike[best] + 1)
            for axis in range(d):
                lows[best, axis] = min(lows[best, axis], codes[row, axis])
                highs[best, axis] = max(highs[best, axis], codes[row, axis])
            here[best] = box_cost(costs, lows[best], highs[best])


@inner
def _count_class(
    of_row,  # IN   int32[m], class of each row
    which,  # IN   int, a class
    first,  # IN   int64[m]
    taken,  # IN   int64[m]
    labels,  # IN   int32[n]
    alike,  # OUT  int64[clusters], its records in each cluster
):
    alike[:] = 0
    for row in range(of_row.shape[0]):
        if of_row[row] == which:
            for copy in range(taken[row]):
                alike[labels[first[row] + copy]] += 1
