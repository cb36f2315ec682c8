"""Sets of labels that too few records have."""

from __future__ import annotations

import numpy as np

from kohort.kernels.jit import kernel


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
            # count what follows the prefix; its records are all of them, or a list of the depth above
            seen[depth] = 0
            for i in range(low, high):
                r = i if depth == 0 else record[depth - 1, i]
                for p in range(starts[r] if depth == 0 else place[depth - 1, i], starts[r + 1]):
                    label = labels[p]
                    if count[depth, label] == 0:
                        touched[depth, seen[depth]] = label
                        seen[depth] += 1
                    count[depth, label] += 1
            if depth < last:
                filled = 0
                for t in range(seen[depth]):
                    begin[depth, touched[depth, t]] = filled
                    filled += count[depth, touched[depth, t]]
                for i in range(low, high):
                    r = i if depth == 0 else record[depth - 1, i]
                    for p in range(starts[r] if depth == 0 else place[depth - 1, i], starts[r + 1]):
                        label = labels[p]
                        record[depth, begin[depth, label]] = r
                        place[depth, begin[depth, label]] = p + 1
                        begin[depth, label] += 1
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
            for t in range(seen[depth]):
                count[depth, touched[depth, t]] = 0
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
