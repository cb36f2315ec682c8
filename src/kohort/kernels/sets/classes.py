"""The sets of every class of a table."""

from __future__ import annotations

import numpy as np

from kohort.kernels.jit import kernel
from kohort.kernels.sets.apriori import apriori, generalized


@kernel
def taken(items, starts, rows):
    """The sets of some records."""
    begins = np.zeros(len(rows) + 1, np.int64)
    for i in range(len(rows)):
        begins[i + 1] = begins[i] + starts[rows[i] + 1] - starts[rows[i]]
    some = np.empty(begins[-1], np.int32)
    for i in range(len(rows)):
        at = begins[i]
        for p in range(starts[rows[i]], starts[rows[i] + 1]):
            some[at] = items[p]
            at += 1
    return some, begins


@kernel
def classes_apriori(
    items,  # IN   int32[t]
    starts,  # IN   int64[n+1]
    rows,  # IN   int64[n], records, class after class
    bounds,  # IN   int64[classes+1], where each class begins in `rows`
    parent,
    first,
    last,
    leaf_node,
    costs,
    k,
    m,
    allowed,  # IN   int64[classes], items that each may leave out by choice
    labels,  # OUT  int32[t], labels of the records in the order of `rows`
    ends,  # OUT  int64[n+1], where each of them begins
    losses,  # OUT  float64[classes]
    gone,  # OUT  int64[classes]
):
    """Generalize the sets of each class by itself."""
    cut = np.empty(len(leaf_node), np.int32)
    filled = 0
    ends[0] = 0
    for c in range(len(bounds) - 1):
        some, begins = taken(items, starts, rows[bounds[c] : bounds[c + 1]])
        losses[c], gone[c] = apriori(some, begins, parent, first, last, leaf_node, costs, k, m, allowed[c], cut)
        own, stops = np.empty(len(some), np.int32), np.empty(len(begins), np.int64)
        number = generalized(some, begins, cut, own, stops)
        labels[filled : filled + number] = own[:number]
        for i in range(len(begins)):
            ends[bounds[c] + i] = filled + stops[i]
        filled += number
    return filled
