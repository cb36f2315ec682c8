"""Apriori anonymization: items are generalized until every set of at most m labels is rare nowhere.

Terrovitis, Mamoulis and Kalnis 2008. Once all sets of i labels occur in k records or in none, that stays so whatever is
generalized further: the records that have a label and another are those that have what it stands for and the other.
"""

from __future__ import annotations

import numpy as np

from kohort.kernels.jit import inner, kernel
from kohort.kernels.sets.rare import rare_sets

_MOST = 1 << 18


@kernel
def generalized(
    items,  # IN   int32[t], leaves of record after record
    starts,  # IN   int64[n+1]
    cut,  # IN   int32[leaves], node that each leaf is published as; -1 if it is not
    labels,  # OUT  int32[t], nodes of record after record, ascending and different in each
    ends,  # OUT  int64[n+1], where each record begins in `labels`
):
    """Publish the sets of records by a cut through the taxonomy; returns the number of labels."""
    filled = 0
    ends[0] = 0
    for r in range(len(starts) - 1):
        first = filled
        for p in range(starts[r], starts[r + 1]):
            node = cut[items[p]]
            if node < 0:
                continue
            q = filled
            while q > first and labels[q - 1] > node:
                q -= 1
            if q > first and labels[q - 1] == node:
                continue
            for move in range(filled, q, -1):
                labels[move] = labels[move - 1]
            labels[q] = node
            filled += 1
        ends[r + 1] = filled
    return filled


@inner
def _cheapest(own, parent, costs, occurs, lost, faults, left):
    """The step that costs least for what it mends: the label that goes up to its parent, or out of all sets."""
    best, best_score, out = np.int32(-1), np.inf, False
    for node in own:
        if node > 0:
            up = parent[node]
            score = (costs[up] * occurs[up] - lost[up]) / faults[node]
            if score < best_score:
                best, best_score, out = node, score, False
        if occurs[node] <= left:
            score = (occurs[node] - lost[node]) / faults[node]
            if score < best_score:
                best, best_score, out = node, score, True
    if best < 0:  # all items as one label are too few
        return np.int32(0), True
    return best, out


@inner
def _charged(top, out, parent, costs, occurs, lost):
    """Note what a step costs, at its node and above; returns how many items have gone."""
    before, items = lost[top], occurs[top]
    after = 0.0 if out else costs[top] * items
    node = top
    while node >= 0:
        lost[node] += after - before
        if out:  # nothing of it is there any more
            occurs[node] -= items
        node = parent[node]
    return items if out else np.int64(0)


@kernel
def apriori(
    items,  # IN   int32[t], leaves of record after record
    starts,  # IN   int64[n+1]
    parent,  # IN   int32[nodes]
    first,  # IN   int32[nodes], first leaf below
    last,  # IN   int32[nodes]
    leaf_node,  # IN   int32[leaves]
    costs,  # IN   float64[nodes], what an item loses that is published as a node, 0 to 1
    k,
    m,
    allowed,  # how many items may be left out by choice
    cut,  # OUT  int32[leaves]
):
    """Find a cut by which every set of at most m labels occurs in k records or more, or in none.

    Returns
    -------
    loss, gone
        What the items lose together, 1 for one that is left out; and how many are left out, which is more than allowed
        where even one label for all items would occur in fewer than k records.
    """
    nodes, leaves = len(parent), len(leaf_node)
    occurs = np.zeros(nodes, np.int64)
    lost = np.zeros(nodes)  # what is lost below a node
    for leaf in range(leaves):
        cut[leaf] = leaf_node[leaf]
    for p in range(len(items)):
        occurs[leaf_node[items[p]]] += 1
    for node in range(nodes - 1, 0, -1):
        occurs[parent[node]] += occurs[node]
    labels = np.empty(len(items), np.int32)
    ends = np.empty(len(starts), np.int64)
    faults = np.zeros(nodes, np.int64)
    changed = np.zeros(nodes, np.bool_)
    gone = 0
    for size in range(1, m + 1):
        most = _MOST // size
        found = np.empty((16, size), np.int32)
        while True:
            filled = generalized(items, starts, cut, labels, ends)
            number = rare_sets(labels[:filled], ends, nodes, size, k, found)
            if number == len(found) and len(found) < most:
                found = np.empty((most, size), np.int32)
                continue
            if number == 0:
                break
            faults[:] = 0
            for i in range(number):
                for j in range(size):
                    faults[found[i, j]] += 1
            changed[:] = False
            for i in range(number):
                stale = False
                for j in range(size):
                    stale = stale or changed[found[i, j]]
                if stale:
                    continue
                best, out = _cheapest(found[i], parent, costs, occurs, lost, faults, allowed - gone)
                top = best if out else parent[best]
                for leaf in range(first[top], last[top] + 1):
                    if cut[leaf] >= 0:
                        changed[cut[leaf]] = True
                        cut[leaf] = np.int32(-1) if out else top
                changed[top] = True
                gone += _charged(top, out, parent, costs, occurs, lost)
    # what is left is charged by its label, what is gone as wholly lost
    total = np.float64(gone)
    for p in range(len(items)):
        if cut[items[p]] >= 0:
            total += costs[cut[items[p]]]
    return total, gone
