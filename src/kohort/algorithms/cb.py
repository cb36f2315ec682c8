"""Clustering-based (CB) partitioning: bisecting 2-means with groups of at least k, which may have to be l-diverse.

He, Chen, Chen, Dong, Wang, Huang: Clustering-based k-anonymity, PAKDD 2012 (paper 002).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.algorithms.base import ALGORITHMS, Clusterer
from kohort.privacy.models.frequency_l_diversity import FrequencyLDiversity
from kohort.search.task import Task

WORK = 2_000_000
"""Records that one call of the kernel looks at: often enough for progress and for Ctrl-C."""


@ALGORITHMS.register("cb")
@dataclass(frozen=True)
class ClusteringBased(Clusterer):
    """Divide the records by 2-means with at least k on each side, then each side, until none has 2k.

    The first two centres are random records. The records, in random order, go where they add least
    to the loss, or to the nearer centre; a side that has fewer than k records borrows those that its
    box grows least for. Then the sides have new centres, and another round begins. The round of
    the least loss counts.

    If the policy asks for l-diversity, only rounds with two diverse sides count. A set without such
    a round is not divided, but may be split by its sensitive values.

    Notes
    -----
    Time O(r d n log(n/k)) for r rounds where sets are divided evenly, at worst O(r d n^2 / k);
    memory O(d n).
    """

    assign: Literal["growth", "centre"] = "growth"
    """Where a record goes: to the side whose loss, its size times the cost of its box, grows least, each side beginning
    with the record nearest to its centre; or to the nearer centre."""
    rounds: int = 15
    """Rounds for one division."""
    splitter: bool = True
    """Whether to split sets that cannot be divided by their sensitive values."""

    summary = "bisecting 2-means with at least k records on each side, if need be l-diverse ones"
    paper = "He et al., PAKDD 2012 (002)"
    guarantee = "k-anonymity, sizes k..2k-1; or k-anonymity and l-diversity"
    complexity = "O(r d n log(n/k)), at worst O(r d n^2 / k)"
    keeps = frozenset({"k-anonymity", "frequency-l-diversity"})

    @override
    def cluster(self, task: Task) -> NDArray[np.int32]:
        from kohort.kernels.algorithms.cb import bisect_sets
        from kohort.kernels.algorithms.divide import START
        from kohort.kernels.costs import LINE

        rows, n = task.codes.distinct, len(task.codes.array)
        values, shares = promised(task)
        # Copies of a row are distinguished by their sensitive values, so the order of the input does not matter.
        values = values[rows.order]
        ordered = np.lexsort((*values.T[::-1], rows.row))
        codes, values = rows.codes[rows.row[ordered]], values[ordered]
        places = as_places(task, codes)
        missing = np.array(
            [
                -1 if kind == LINE else axis.missing_code
                for kind, axis in zip(task.costs.kind, task.codes.axes, strict=True)
            ],
            np.int32,
        )
        members = np.arange(n, dtype=np.int32)
        stops = np.zeros(n, np.int64)
        stops[0] = n
        state = np.zeros(2, np.int64)
        random = task.rng.integers(2**63, size=1, dtype=np.uint64)
        labels = np.empty(n, np.int32)
        while state[START] < n:
            bisect_sets(
                codes, places, missing, task.costs, values, shares, self.splitter, task.k, self.rounds,
                self.assign == "growth", WORK, members, stops, state, random, labels,
            )  # fmt: skip
            task.progress(state[START] / n)
        return rows.by_record(labels, ordered)


def promised(task: Task) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Values of the sensitive columns that l-diversity is promised of, one column for each promise; and each l.

    What not even one class of all records keeps is left to the repair stage, which may suppress some.
    """
    found = [
        (promise, promise.model.l)
        for promise in task.promises
        if isinstance(promise.model, FrequencyLDiversity) and promise.model.refuses_values(promise.table) is None
    ]
    values = np.empty((len(task.codes.array), len(found)), np.int32)
    for index, (promise, _) in enumerate(found):
        values[:, index] = promise.values
    return values, np.array([least for _, least in found], np.int64)


def as_places(task: Task, codes: NDArray[np.int32]) -> NDArray[np.int32]:
    """Codes, but on lines the position in fixed point, -1 for missing."""
    from kohort.kernels.costs import LINE

    places = codes.copy()
    costs = task.costs
    for index, (kind, start, size) in enumerate(zip(costs.kind, costs.offset, costs.size, strict=True)):
        if kind == LINE:
            places[:, index] = task.costs.flat[start : start + size][codes[:, index]]
    return places
