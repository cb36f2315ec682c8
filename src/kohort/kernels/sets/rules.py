"""Rules by which a sensitive item follows from other items."""

from __future__ import annotations

import numpy as np

from kohort.kernels.jit import kernel
from kohort.kernels.sets.walk import count_following, forget, list_by_label


@kernel
def certain_rules(
    labels,  # IN   int32[t], labels of record after record, ascending in each
    starts,  # IN   int64[n+1]
    sensitive,  # IN   bool[nodes]
    above,  # numerator and
    below,  # denominator of the confidence that no rule may reach
    most,  # labels that may be known
    blame,  # OUT  int64[nodes], rules that each label is part of, 0 before
):
    """Count rules from 1 to `most` labels to a sensitive one that are too certain, and who takes part in them.

    Depth first, as in `rare_sets`; what follows from one record alone follows from more of its labels, too: these are
    not looked at. Returns the number of rules.
    """
    nodes, total = len(sensitive), len(labels)
    deepest = 0
    for r in range(len(starts) - 1):
        deepest = max(deepest, starts[r + 1] - starts[r])
    deepest = min(deepest, most)
    if deepest == 0:
        return 0
    count = np.zeros((deepest + 1, nodes), np.int64)
    touched = np.empty((deepest + 1, nodes), np.int32)
    begin = np.empty((deepest + 1, nodes), np.int64)
    record = np.empty((deepest + 1, total), np.int64)
    place = np.empty((deepest + 1, total), np.int64)
    follows, among = np.zeros(nodes, np.int64), np.empty(nodes, np.int32)
    seen, turn = np.zeros(deepest + 1, np.int64), np.zeros(deepest + 1, np.int64)
    prefix = np.empty(deepest + 1, np.int32)
    rules, depth, low, high, entering = 0, 0, 0, len(starts) - 1, True
    while depth >= 0:
        if entering:
            turn[depth], seen[depth] = 0, 0
            if depth > 0:
                found = 0
                for i in range(low, high):
                    r = record[depth - 1, i]
                    for p in range(starts[r], starts[r + 1]):
                        if sensitive[labels[p]]:
                            if follows[labels[p]] == 0:
                                among[found] = labels[p]
                                found += 1
                            follows[labels[p]] += 1
                for f in range(found):
                    known = False
                    for d in range(depth):
                        known = known or prefix[d] == among[f]
                    if not known and follows[among[f]] * below >= above * (high - low):
                        rules += 1
                        blame[among[f]] += 1
                        for d in range(depth):
                            blame[prefix[d]] += 1
                    follows[among[f]] = 0
            if depth < deepest and (depth == 0 or high - low > 1):
                seen[depth] = count_following(labels, starts, record, place, depth, low, high, count, touched)
                list_by_label(labels, starts, record, place, depth, low, high, count, touched, seen[depth], begin)
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
    return rules
