"""Mondrian: recursive cuts on the widest axis.

LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity, ICDE 2006. Cuts along a
taxonomy as in their Workload-aware anonymization, KDD 2006.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.algorithms.base import ALGORITHMS, Clusterer
from kohort.codes.encode import Axis, TreeAxis
from kohort.search.task import Task

if TYPE_CHECKING:
    from kohort.kernels.algorithms.mondrian import Trees

WORK = 1_000_000
"""Rows that one call of the kernel looks at: often enough for progress and for Ctrl-C."""


@ALGORITHMS.register("mondrian")
@dataclass(frozen=True)
class Mondrian(Clusterer):
    """Cut the records on the axis where their box is widest, then cut each part, while k are left on both sides.

    Width is the cost of a side of the box, so measure and weights count. If the widest axis
    cannot be cut, the next widest is, ties to the first. No randomness, and the order of the
    input does not matter.

    Numbers and dates are cut in the middle: where the smaller side is largest. Missing values are
    cut off first where both sides keep k records.

    Notes
    -----
    Time O(d n log n) to sort, then O(d n log(n/k)) for cuts in the middle; memory O(d n). In the
    strict mode n is the number of distinct rows.

    Examples
    --------
    >>> import kohort
    >>> import polars as pl
    >>> policy = kohort.Policy.build(k=2, quasi_identifiers=["age"]).with_changes("algorithm", name="mondrian")
    >>> release = kohort.anonymize(pl.DataFrame({"age": [31, 64, 30, 68, 66]}), policy)
    >>> sorted(release.table["age"])
    ['[30 - 31]', '[30 - 31]', '[64 - 68]', '[64 - 68]', '[64 - 68]']
    """

    mode: Literal["strict", "relaxed"] = "strict"
    """Whether equal values stay together. If they may be divided, every class has fewer than 2k records."""
    categories: Literal["taxonomy", "children", "order"] = "taxonomy"
    """How a column with a taxonomy is cut: into the children of the node that covers the box, those with fewer than k
    records pooled; the same without pooling, as in the paper; or like a number, in depth-first order of the leaves."""

    summary = "recursive cuts in the middle of the widest column"
    paper = "LeFevre, DeWitt, Ramakrishnan, ICDE 2006 and KDD 2006"
    guarantee = "k-anonymity; sizes k or more, k..2k-1 if relaxed"
    complexity = "O(d n log n)"

    @override
    def cluster(self, task: Task) -> NDArray[np.int32]:
        from kohort.kernels.algorithms.divide import START
        from kohort.kernels.algorithms.mondrian import cut_sets

        rows, relaxed = task.codes.distinct, self.mode == "relaxed"
        # Equal rows stay together in the strict mode, so one of each is enough.
        codes = np.repeat(rows.codes, rows.counts, axis=0) if relaxed else rows.codes
        counts = np.ones(len(codes), np.int64) if relaxed else rows.counts
        m = len(codes)
        columns = np.ascontiguousarray(codes.T)
        orders = np.stack([np.argsort(column, kind="stable").astype(np.int32) for column in columns])
        trees = _trees(task.codes.axes, by_node=self.categories != "order")
        pool = self.categories == "taxonomy"
        stops = np.zeros(m, np.int64)
        stops[0] = m
        state = np.zeros(2, np.int64)
        labels = np.empty(m, np.int32)
        while state[START] < m:
            cut_sets(columns, counts, task.costs, trees, task.k, relaxed, pool, WORK, orders, stops, state, labels)
            task.progress(state[START] / m)
        return rows.by_record(np.repeat(labels, counts))


def _trees(axes: tuple[Axis, ...], *, by_node: bool) -> Trees:
    """The taxonomies as the kernel wants them; all axes are cut in the middle if not `by_node`."""
    from kohort.kernels.algorithms.mondrian import Trees

    blocks = [_nodes(axis) if by_node and isinstance(axis, TreeAxis) else np.empty((0, 0), np.int32) for axis in axes]
    return Trees(
        missing=np.array([axis.missing_code for axis in axes], np.int64),
        levels=np.array([len(block) for block in blocks], np.int64),
        offset=np.cumsum([0] + [block.size for block in blocks[:-1]]).astype(np.int64),
        nodes=np.concatenate([block.ravel() for block in blocks]),
    )


def _nodes(axis: TreeAxis) -> NDArray[np.int32]:
    """The node above each code, from the root's children down to the leaves; a short branch repeats its leaf."""
    tree = axis.taxonomy
    rows = [tree.leaf_node]
    for depth in range(tree.height_edges - 1, 0, -1):
        node = rows[-1]
        rows.append(np.where(tree.depth[node] > depth, tree.parent[node], node))
    nodes = np.stack(rows[::-1])
    return np.pad(nodes, ((0, 0), (0, int(axis.has_missing))), constant_values=-1)
