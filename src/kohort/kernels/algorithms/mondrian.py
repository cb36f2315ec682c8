"""Mondrian: cut a set of rows on its widest axis, and the parts again.

Each axis keeps the rows in an order of its own, sorted once by code. A cut divides all orders
and keeps them sorted. So the ends of a box are the ends of its orders, and the middle is found
by walking; nothing is sorted twice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kohort.kernels.algorithms.divide import DONE, START, gather_parts, part_begins
from kohort.kernels.costs import span_cost
from kohort.kernels.jit import inner, kernel


class Trees(NamedTuple):
    """The taxonomies of the axes that are cut into children of a node."""

    missing: NDArray[np.int64]
    """Code of a missing value, or -1, per axis, also of axes that are not cut so."""
    levels: NDArray[np.int64]
    """Levels below the root, per axis; 0 for an axis that is cut in the middle."""
    offset: NDArray[np.int64]
    """Where an axis begins in `nodes`."""
    nodes: NDArray[np.int32]
    """Per axis one row per level: the node above each code, from the root's children down; -1 for missing."""


@inner
def _mark_halves(
    column,  # IN   int32[m], codes of the axis
    counts,  # IN   int64[m], copies of each row
    order,  # IN   int32[members], rows of the set by code
    total,  # IN   int, records of the set
    missing,  # IN   int, code of a missing value, or -1
    k,  # IN   int
    between,  # IN   bool: equal codes may be divided
    part,  # OUT  int32[m]
):
    """Cut beside the missing values, or else in the middle; returns the number of parts, 0 if there is no cut."""
    before = 0
    middle = 0
    evenest = 0
    for i in range(1, len(order)):
        before += counts[order[i - 1]]
        code = column[order[i]]
        changes = code != column[order[i - 1]]
        smaller = min(before, total - before)
        if changes and code == missing and smaller >= k:
            middle = i
            evenest = smaller
            break
        if (changes or between) and smaller > evenest:
            middle = i
            evenest = smaller
    if evenest < k:
        return 0
    for i in range(len(order)):
        part[order[i]] = i >= middle
    return 2


@inner
def _mark_children(
    column,  # IN   int32[m], codes of the axis
    counts,  # IN   int64[m], copies of each row
    order,  # IN   int32[members], rows of the set by code
    missing,  # IN   int, code of a missing value, or -1
    nodes,  # IN   int32[levels, size]
    pool,  # IN   bool: children that are too small may form a part together
    k,  # IN   int
    sizes,  # TMP  int64[members]
    number,  # TMP  int32[members]
    part,  # OUT  int32[m]
):
    """Cut into the children of the node that covers the set; returns the number of parts, 0 if there is no cut.

    Missing values are one more child. When children are pooled, those with fewer than k records
    form one part, and if that is still too small, the smallest other child joins them.
    """
    last = len(order) - 1
    while last > 0 and column[order[last]] == missing:
        last -= 1
    lo = column[order[0]]
    hi = column[order[last]]
    level = 0
    while level < nodes.shape[0] - 1 and nodes[level, lo] == nodes[level, hi]:
        level += 1
    child = nodes[level]
    children = 0
    for i in range(len(order)):
        if i == 0 or child[column[order[i]]] != child[column[order[i - 1]]]:
            sizes[children] = 0
            children += 1
        sizes[children - 1] += counts[order[i]]
    parts = 0
    pooled = 0
    for c in range(children):
        number[c] = -1
        if sizes[c] >= k:
            number[c] = parts
            parts += 1
        else:
            pooled += sizes[c]
    rest = parts
    if pooled >= k:
        parts += 1
    elif pooled > 0 and parts > 0:
        smallest = -1
        for c in range(children):
            if number[c] >= 0 and (smallest < 0 or sizes[c] < sizes[smallest]):
                smallest = c
        rest = number[smallest]
    if parts < 2 or (pooled > 0 and not pool):
        return 0
    c = -1
    for i in range(len(order)):
        if i == 0 or child[column[order[i]]] != child[column[order[i - 1]]]:
            c += 1
        part[order[i]] = number[c] if number[c] >= 0 else rest
    return parts


@kernel
def cut_sets(
    columns,  # IN   int32[d, m], codes, axis by axis
    counts,  # IN   int64[m], copies of each row
    costs,  # IN   Costs
    trees,  # IN   Trees
    k,  # IN   int
    relaxed,  # IN   bool: equal codes may be divided
    pool,  # IN   bool, see `_mark_children`
    work,  # IN   int, number of rows to look at in this call
    orders,  # IN/OUT int32[d, m], rows by code, axis by axis and set after set
    stops,  # IN/OUT int64[m]
    state,  # IN/OUT int64[2]
    labels,  # OUT  int32[m], class of each row
):
    """Cut sets until about `work` rows have been looked at, or all is done."""
    d, m = columns.shape
    part = np.empty(m, np.int32)
    sizes = np.empty(m, np.int64)
    number = np.empty(m, np.int32)
    begins = np.empty(m + 1, np.int64)
    buffer = np.empty(m, np.int32)
    width = np.empty(d, np.int64)
    while state[START] < m and work > 0:
        start = state[START]
        stop = stops[start]
        work -= stop - start
        total = 0
        for i in range(start, stop):
            total += counts[orders[0, i]]
        parts = 0
        if total >= 2 * k:
            for axis in range(d):
                lo = columns[axis, orders[axis, start]]
                hi = columns[axis, orders[axis, stop - 1]]
                # An axis with a single code cannot be cut, whatever its measure says it costs.
                width[axis] = span_cost(costs, axis, lo, hi) if lo < hi else -1
            widest = width.argmax()
            axis = widest
            while parts == 0 and width[axis] >= 0:
                levels = trees.levels[axis]
                members = orders[axis, start:stop]
                if levels == 0:
                    parts = _mark_halves(
                        columns[axis], counts, members, total, trees.missing[axis], k, relaxed, part
                    )  # fmt: skip
                else:
                    size = costs.size[axis]
                    first = trees.offset[axis]
                    nodes = trees.nodes[first : first + levels * size].reshape(levels, size)
                    parts = _mark_children(
                        columns[axis], counts, members, trees.missing[axis], nodes, pool, k, sizes, number, part
                    )  # fmt: skip
                width[axis] = -1
                axis = width.argmax()
            if parts == 0 and relaxed:
                # No child is large enough, or all rows are equal: the middle is always there.
                parts = _mark_halves(columns[widest], counts, orders[widest, start:stop], total, -1, k, True, part)
        if parts == 0:
            for i in range(start, stop):
                labels[orders[0, i]] = state[DONE]
            state[DONE] += 1
            state[START] = stop
            continue
        part_begins(part, parts, orders[0, start:stop], begins)
        for axis in range(d):
            gather_parts(part, begins[:parts], orders[axis, start:stop], sizes, buffer)
        for p in range(parts):
            stops[start + begins[p]] = start + begins[p + 1]
