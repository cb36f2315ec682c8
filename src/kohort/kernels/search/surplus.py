"""Which records to suppress so that a class keeps the rules: those by which it breaks them least."""

from __future__ import annotations

import numpy as np

from kohort.kernels.jit import kernel
from kohort.kernels.search.rules import add_record, broken_by, count_records


@kernel
def surplus(
    rules,  # IN   Rules
    records,  # IN   int32[], a class
    k,  # IN   int, records that must stay
    most,  # IN   int, records that may go
    chunk,  # IN   int, records alike that go at a time
    gone,  # OUT  bool[records], which go
):
    """Take records out of a class, one after the other, until it keeps the rules; returns whether it does.

    Each time it is one by which the class breaks them least; among those, one of the most frequent sort.
    """
    table, whole, real, values, listed, lists, alike, width = rules
    counts = np.empty(width, np.int64)
    work = np.empty(width + 1, np.int64)
    count_records(values, listed, lists, records, counts)
    size, left = records.shape[0], most
    broken = broken_by(table, whole, real, counts, size, work)
    order = np.argsort(alike[records], kind="mergesort")
    while broken > 0:
        best, best_broken, best_amount, start = -1, np.int64(0), 0, 0
        while start < order.shape[0]:
            sort = alike[records[order[start]]]
            stop, first, amount = start, -1, 0
            while stop < order.shape[0] and alike[records[order[stop]]] == sort:
                if not gone[order[stop]]:
                    first = stop if first < 0 else first
                    amount += 1
                stop += 1
            start = stop
            if amount == 0:
                continue
            record = records[order[first]]
            add_record(values, listed, lists, record, -1, counts)
            after = broken_by(table, whole, real, counts, size - 1, work)
            add_record(values, listed, lists, record, 1, counts)
            if best < 0 or after < best_broken or (after == best_broken and amount > best_amount):
                best, best_broken, best_amount = first, after, amount
        if best < 0:
            return False
        sort = alike[records[order[best]]]
        for _ in range(min(chunk, best_amount)):
            if left == 0 or size == k:
                return False
            while gone[order[best]]:
                best += 1
            record = records[order[best]]
            add_record(values, listed, lists, record, -1, counts)
            gone[order[best]] = True
            size -= 1
            left -= 1
            broken = broken_by(table, whole, real, counts, size, work)
            if broken == 0:
                break
    return True
