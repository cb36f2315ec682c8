"""A tree over distinct rows, to find those near a row without looking at all.

Rows are reordered so that every node is a run of them; a node knows the box of its run.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kohort.kernels.costs import Costs, span_cost
from kohort.kernels.jit import inner, kernel


class Tree(NamedTuple):
    """Nodes in the order in which they were made; the first is the root."""

    span: NDArray[np.int64]
    """Run of rows of each node, shape (nodes, 2)."""
    child: NDArray[np.int64]
    """First of two children that follow each other, or -1."""
    lo: NDArray[np.int32]
    """Box of each node, shape (nodes, d)."""
    hi: NDArray[np.int32]


class Index(NamedTuple):
    """Distinct rows, and what it takes to find boxes of k records around one of them."""

    codes: NDArray[np.int32]
    """In tree order, shape (rows, d)."""
    counts: NDArray[np.int64]
    costs: Costs
    tree: Tree
    k: int


LEAF = 16
"""A run of at most this many rows is not divided further."""
DEEPEST = 64
"""More than the depth of any tree: runs are halved."""


@kernel
def build_tree(
    codes,  # IN   int32[m, d], distinct rows
    costs,  # IN   Costs
    order,  # OUT  int64[m], rows in tree order
    span,  # OUT  int64[nodes, 2], see `Tree`
    child,  # OUT  int64[nodes]
    lo,  # OUT  int32[nodes, d]
    hi,  # OUT  int32[nodes, d]
):
    """Halve runs along the side of their box that costs most; returns the number of nodes."""
    m, d = codes.shape
    for i in range(m):
        order[i] = i
    span[0, 0] = 0
    span[0, 1] = m
    made = 1
    node = 0
    while node < made:
        start, stop = span[node]
        run = order[start:stop]
        widest = np.int64(-1)
        along = 0
        for axis in range(d):
            low = codes[run[0], axis]
            high = low
            for row in run:
                low = min(low, codes[row, axis])
                high = max(high, codes[row, axis])
            lo[node, axis] = low
            hi[node, axis] = high
            cost = np.int64(span_cost(costs, axis, low, high)) if low < high else np.int64(-1)
            if cost > widest:
                widest = cost
                along = axis
        child[node] = -1
        if stop - start > LEAF:
            keys = np.empty(stop - start, np.int64)
            for i in range(stop - start):
                keys[i] = codes[run[i], along]
            ordered = run[np.argsort(keys, kind="mergesort")]
            for i in range(stop - start):
                run[i] = ordered[i]
            middle = (start + stop) // 2
            child[node] = made
            span[made, 0] = start
            span[made, 1] = middle
            span[made + 1, 0] = middle
            span[made + 1, 1] = stop
            made += 2
        node += 1
    return made


@inner
def pair_cost(
    codes,  # IN   int32[m, d]
    costs,  # IN   Costs
    one,  # IN   int, a row
    other,  # IN   int, another
    limit,  # IN   int, the exact cost is of no interest from here on
):
    """Cost of the box of two rows."""
    total = np.int64(0)
    for axis in range(codes.shape[1]):
        here = codes[one, axis]
        there = codes[other, axis]
        total += span_cost(costs, axis, min(here, there), max(here, there))
        if total >= limit:
            break
    return total


@inner
def node_cost(
    codes,  # IN   int32[m, d]
    costs,  # IN   Costs
    row,  # IN   int
    low,  # IN   int32[d], box of a node
    high,  # IN   int32[d]
    limit,  # IN   int
):
    """No row in the node is nearer than this."""
    total = np.int64(0)
    for axis in range(codes.shape[1]):
        code = codes[row, axis]
        if code < low[axis]:
            total += span_cost(costs, axis, code, low[axis])
        elif code > high[axis]:
            total += span_cost(costs, axis, high[axis], code)
        else:
            total += span_cost(costs, axis, code, code)
        if total >= limit:
            break
    return total


@inner
def near_rows(
    codes,  # IN   int32[m, d], in tree order
    costs,  # IN   Costs
    tree,  # IN   Tree
    row,  # IN   int
    radius,  # IN   int
    found,  # OUT  int64[m]
):
    """Rows other than this one at a cost below the radius; returns how many, and the work done."""
    stack = np.empty(DEEPEST, np.int64)
    stack[0] = 0
    top = 1
    count = 0
    work = 0
    while top > 0:
        top -= 1
        node = stack[top]
        work += codes.shape[1]
        if node_cost(codes, costs, row, tree.lo[node], tree.hi[node], radius) >= radius:
            continue
        if tree.child[node] >= 0:
            stack[top] = tree.child[node] + 1
            stack[top + 1] = tree.child[node]
            top += 2
            continue
        for other in range(tree.span[node, 0], tree.span[node, 1]):
            if other != row and pair_cost(codes, costs, row, other, radius) < radius:
                found[count] = other
                count += 1
        work += (tree.span[node, 1] - tree.span[node, 0]) * codes.shape[1]
    return count, work


@inner
def nearest_cost(
    index,  # IN   Index
    row,  # IN   int
    near,  # TMP  int64[k], costs of the nearest records, ascending
):
    """Cost of the box of a row and its (k-1)-th nearest other record; also the work done.

    Every box that holds the row and k records costs at least this.
    """
    codes, counts, costs, tree, k = index
    far = np.int64(2**62)
    own = pair_cost(codes, costs, row, row, far)
    held = min(counts[row], k)
    near[:held] = own
    near[held:k] = far
    stack = np.empty(DEEPEST, np.int64)
    stack[0] = 0
    top = 1
    work = 0
    while top > 0:
        top -= 1
        node = stack[top]
        limit = near[k - 1]
        work += codes.shape[1]
        if node_cost(codes, costs, row, tree.lo[node], tree.hi[node], limit) >= limit:
            continue
        first = tree.child[node]
        if first >= 0:
            # The nearer child first: it lowers the limit for the other.
            left = node_cost(codes, costs, row, tree.lo[first], tree.hi[first], limit)
            right = node_cost(codes, costs, row, tree.lo[first + 1], tree.hi[first + 1], limit)
            closer = 0 if left <= right else 1
            stack[top] = first + 1 - closer
            stack[top + 1] = first + closer
            top += 2
            continue
        for other in range(tree.span[node, 0], tree.span[node, 1]):
            if other == row:
                continue
            cost = pair_cost(codes, costs, row, other, near[k - 1])
            if cost >= near[k - 1]:
                continue
            times = min(counts[other], k)
            place = k - 1
            while place >= 0 and near[place] > cost:
                place -= 1
            place += 1
            for i in range(k - 1, place + times - 1, -1):
                near[i] = near[i - times]
            near[place : min(place + times, k)] = cost
        work += (tree.span[node, 1] - tree.span[node, 0]) * codes.shape[1]
    return near[k - 1], work
