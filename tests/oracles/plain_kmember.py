"""Greedy k-member as a plain O(n^2) loop over records: the oracle, and the unit of time.

It shares no kernel with the package: one table of all (lo, hi) per axis, one scan of all
remaining records per pick. Records must be in lexicographic order of their codes.
"""

from __future__ import annotations

import numba
import numpy as np


def dense_tables(costs):
    """Cost of every (lo, hi) of every axis, worked out one by one from the compiled measure."""
    size = int(costs.size.max())
    tables = np.zeros((len(costs.size), size, size), np.int32)
    for axis, (kind, n, missing, full, start) in enumerate(
        zip(costs.kind, costs.size, costs.missing, costs.full, costs.offset, strict=True)
    ):
        block = costs.flat[start:]
        for lo in range(n):
            for hi in range(lo, n):
                if kind == 0:
                    alone = 0 if lo == hi else full
                    cost = alone if hi == missing else block[hi] - block[lo]
                elif kind == 1:
                    cost = block[lo * n + hi]
                else:  # the largest cost between neighbours on the way
                    cost = block[lo] if lo == hi else block[n + lo : n + hi].max()
                tables[axis, lo, hi] = tables[axis, hi, lo] = cost
    return tables


@numba.njit(cache=True)
def _cost(tables, lo, hi, row):
    total = 0
    for axis in range(len(lo)):
        total += tables[axis, min(lo[axis], row[axis]), max(hi[axis], row[axis])]
    return total


def plain_kmember(codes, tables, k, first_record, far_from_seed):
    return plain_kmember_with_class(codes, tables, k, first_record, far_from_seed, np.zeros(len(codes), np.int64), 0)


@numba.njit(cache=True)
def plain_kmember_with_class(codes, tables, k, first_record, far_from_seed, classes, penalty):
    """A record whose class is none of the most frequent ones of a cluster adds the penalty to its loss."""
    n, d = codes.shape
    votes = np.zeros((n // k, classes.max() + 1), np.int64)
    labels = np.full(n, -1, np.int32)
    rows = codes.copy()  # the remaining records, in order
    live = np.arange(n)
    left = n
    lows = np.empty((n // k, d), np.int32)
    highs = np.empty((n // k, d), np.int32)
    sizes = np.full(n // k, k)
    cluster = 0
    far = first_record
    while left >= k:
        best = -1
        value = -1
        for i in range(left):
            cost = _cost(tables, codes[far], codes[far], rows[i])
            if cost > value:
                value = cost
                best = i
        seed = live[best]
        lo = codes[seed].copy()
        hi = codes[seed].copy()
        last = seed
        members = 0
        while True:
            last = live[best]
            labels[last] = cluster
            members += 1
            votes[cluster, classes[last]] += 1
            for axis in range(d):
                lo[axis] = min(lo[axis], codes[last, axis])
                hi[axis] = max(hi[axis], codes[last, axis])
            for i in range(best, left - 1):
                live[i] = live[i + 1]
                rows[i] = rows[i + 1]
            left -= 1
            if members == k:
                break
            value = 2**62
            for i in range(left):
                loss = (members + 1) * _cost(tables, lo, hi, rows[i])
                if penalty > 0 and votes[cluster, classes[live[i]]] < votes[cluster].max():
                    loss += penalty
                if loss < value:
                    value = loss
                    best = i
        lows[cluster] = lo
        highs[cluster] = hi
        cluster += 1
        far = seed if far_from_seed else last
    for i in range(left):
        record = live[i]
        value = 2**62
        best = -1
        for c in range(cluster):
            grown = _cost(tables, lows[c], highs[c], codes[record])
            here = _cost(tables, lows[c], highs[c], lows[c])
            growth = (sizes[c] + 1) * grown - sizes[c] * here
            if penalty > 0 and votes[c, classes[record]] < votes[c].max():
                growth += penalty
            if growth < value:
                value = growth
                best = c
        labels[record] = best
        votes[best, classes[record]] += 1
        sizes[best] += 1
        for axis in range(d):
            lows[best, axis] = min(lows[best, axis], codes[record, axis])
            highs[best, axis] = max(highs[best, axis], codes[record, axis])
    return labels
