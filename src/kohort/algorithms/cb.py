"""Clustering-based (CB) partitioning: bisecting 2-means with groups of at least k.

He, Chen, Chen, Dong, Wang, Huang: Clustering-based k-anonymity, PAKDD 2012 (paper 002); without the
extension to l-diversity.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kohort.algorithms.base import ALGORITHMS, Clusterer, Task
from kohort.encode import LineAxis

WORK = 2_000_000
"""Records that one call of the kernel looks at: often enough for progress and for Ctrl-C."""


@ALGORITHMS.register("cb")
@dataclass(frozen=True)
class ClusteringBased(Clusterer):
    """Divide the records by 2-means with at least k on each side, then each side, until none has 2k.

    The first two centres are random records. Every record goes to the nearer centre; a side that
    has fewer than k records borrows those that its box grows least for. Then the sides have
    new centres, and another round begins. The round of the least loss counts.

    Parameters
    ----------
    rounds : int
        Most rounds for one division. A division ends earlier if its centres stay where they are.

    Notes
    -----
    Time O(r d n log(n/k)) for r rounds where sets are divided evenly, at worst O(r d n^2 / k);
    memory O(d n).

    Examples
    --------
    >>> import kohort
    >>> import polars as pl
    >>> policy = kohort.Policy.build(k=2, quasi_identifiers=["age"]).with_changes("algorithm", name="cb")
    >>> release = kohort.anonymize(pl.DataFrame({"age": [31, 64, 30, 66]}), policy)
    >>> sorted(release.table["age"])
    ['[30 - 31]', '[30 - 31]', '[64 - 66]', '[64 - 66]']
    """

    rounds: int = 15

    summary = "bisecting 2-means with at least k records on each side"
    paper = "He et al., PAKDD 2012 (002)"
    recoding = "local"
    guarantee = "k-anonymity; sizes k..2k-1"
    complexity = "O(r d n log(n/k)), at worst O(r d n^2 / k)"
    enforces = frozenset({"k-anonymity"})

    def __post_init__(self) -> None:
        if not isinstance(self.rounds, int) or isinstance(self.rounds, bool) or self.rounds < 1:
            raise ValueError(f"'rounds' must be a whole number, 1 or more; got {self.rounds!r}")

    def cluster(self, task: Task) -> NDArray[np.int32]:
        """Label every record with its cluster."""
        from kohort.kernels.cb import bisect_sets
        from kohort.kernels.divide import START

        rows, n = task.codes.distinct, len(task.codes.array)
        # One random order for all sets: a part keeps the order of the whole.
        drawn = task.rng.permutation(n)
        codes = np.repeat(rows.codes, rows.counts, axis=0)[drawn]
        places = as_places(task, codes)
        missing = np.array(
            [-1 if isinstance(axis, LineAxis) else axis.missing_code for axis in task.codes.axes], np.int32
        )
        members = np.arange(n, dtype=np.int32)
        stops = np.zeros(n, np.int64)
        stops[0] = n
        state = np.zeros(2, np.int64)
        labels = np.empty(n, np.int32)
        while state[START] < n:
            bisect_sets(codes, places, missing, task.costs, task.k, self.rounds, WORK, members, stops, state, labels)
            task.progress(state[START] / n)
        by_record = np.empty(n, np.int32)
        by_record[rows.order[drawn]] = labels
        return by_record


def as_places(task: Task, codes: NDArray[np.int32]) -> NDArray[np.int32]:
    """Codes, but on lines the position in fixed point, -1 for missing."""
    places = codes.copy()
    for index, (axis, start, size) in enumerate(zip(task.codes.axes, task.costs.offset, task.costs.size, strict=True)):
        if isinstance(axis, LineAxis):
            places[:, index] = task.costs.flat[start : start + size][codes[:, index]]
    return places
