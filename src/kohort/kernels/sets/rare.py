"""Sets of labels that too few records have."""

from __future__ import annotations

import numpy as np

from kohort.kernels.jit import kernel
from kohort.kernels.sets.walk import count_following, forget, list_by_label


@kernel
def rare_sets(
    labels,  # IN   int32[t], labels of record after record, ascending in each
    starts,  # IN   int64[n+1], where each record begins
    nodes,  # number of labels
    size,  # labels of each set
    k,
    found,  # OUT  int32[most, size]
):
    """Find sets of `size` labels that 1 to k-1 records have, and return their number, up to the room there is.

    Depth first: the records that have a prefix are listed by the labels that may follow it. All sets that any record
    has are looked at, each record once for each of its own; memory is one list of the table for each label of a set.
    """
    total, n, last = len(labels), len(starts) - 1, size - 1
    count = np.zeros((size, nodes), np.int64)
    touched = np.empty((size, nodes), np.int32)
    begin = np.empty((size, nodes), np.int64)
    record = np.empty((max(last, 1), total if last else 0), np.int64)
    place = np.empty((max(last, 1), total if last else 0), np.int64)
    seen = np.zeros(size, np.int64)
    turn = np.zeros(size, np.int64)
    prefix = np.empty(size, np.int32)
    number, depth = 0, 0
    low, high = 0, n
    entering = True
    while depth >= 0:
        if entering:
            seen[depth] = count_following(labels, starts, record, place, depth, low, high, count, touched)
            if depth < last:
                list_by_label(labels, starts, record, place, depth, low, high, count, touched, seen[depth], begin)
            turn[depth] = 0
        if depth == last:
            for t in range(seen[depth]):
                label = touched[depth, t]
                if count[depth, label] < k and number < len(found):
                    for d in range(depth):
                        found[number, d] = prefix[d]
                    found[number, depth] = label
                    number += 1
                count[depth, label] = 0
            if number == len(found):
                return number
            depth -= 1
            entering = False
            if depth >= 0:
                turn[depth] += 1
            continue
        if turn[depth] == seen[depth]:
            forget(depth, seen[depth], count, touched)
            depth -= 1
            entering = False
            if depth >= 0:
                turn[depth] += 1
            continue
        label = touched[depth, turn[depth]]
        prefix[depth] = label
        high = begin[depth, label]
        low = high - count[depth, label]
        depth += 1
        entering = True
    return number
