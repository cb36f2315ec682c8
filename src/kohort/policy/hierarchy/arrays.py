"""What follows from the parents of a tree: depths, heights, spans of leaves, common ancestors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kohort.errors import InternalError


def derive(parent: NDArray[np.int32]) -> dict[str, NDArray[np.int32]]:
    """Derive depth, height and leaf span of every node of a tree in pre-order, and the node of every leaf."""
    ups = parent.tolist()
    depth, line = [0] * len(ups), [0]  # line: the node at hand and its ancestors
    for node, up in enumerate(ups[1:], 1):
        while line and line[-1] != up:
            line.pop()
        if not line:
            raise InternalError("The nodes of a hierarchy are not in pre-order.")
        depth[node] = len(line)
        line.append(node)
    is_leaf = np.ones(len(ups), bool)
    is_leaf[ups[1:]] = False
    first = np.cumsum(is_leaf) - is_leaf
    height, last = [0] * len(ups), first.tolist()
    for node in range(len(ups) - 1, 0, -1):
        up = ups[node]
        height[up] = max(height[up], height[node] + 1)
        last[up] = max(last[up], last[node])
    leaf_node = np.flatnonzero(is_leaf)
    found = {"depth": depth, "height": height, "first_leaf": first, "last_leaf": last, "leaf_node": leaf_node}
    return {name: np.array(values, np.int32) for name, values in found.items()}


def block_table(
    parent: NDArray[np.int32], first_leaf: NDArray[np.int32], leaf_node: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Tabulate, in row k, the lowest common ancestor of the 2^k leaves that start at each leaf.

    Pre-order gives an ancestor a smaller number than its descendants. Of two nodes above one leaf
    the smaller number is therefore the ancestor, and minima do all the work.
    """
    n_leaves = len(leaf_node)
    above = leaf_node[1:].copy()  # climbs to the common ancestor of each leaf and the one before it
    climbing = np.arange(n_leaves - 1)
    while climbing.size:
        climbing = climbing[first_leaf[above[climbing]] > climbing]
        above[climbing] = parent[above[climbing]]
    rows = [leaf_node]
    for power in range(1, n_leaves.bit_length()):
        half, finer = 1 << (power - 1), rows[-1]
        row = finer.copy()  # its tail, where no whole block starts, is never asked for
        row[:-half] = np.minimum(np.minimum(finer[:-half], finer[half:]), above[half - 1 :])
        rows.append(row)
    return np.stack(rows)


def common_ancestor(table: NDArray[np.int32], lo: NDArray[np.integer], hi: NDArray[np.integer]) -> NDArray[np.int32]:
    """Look up the lowest common ancestor of the leaves lo to hi, where lo <= hi, element by element."""
    power = np.frexp(hi - lo + 1.0)[1] - 1
    # the largest block from lo and the largest block up to hi share a leaf and cover the span
    nodes: NDArray[np.int32] = np.minimum(table[power, lo], table[power, hi - (1 << power) + 1])
    return nodes
