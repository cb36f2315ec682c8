"""One-pass k-means (OKA).

Lin, Wei: An efficient clustering method for k-anonymization, PAIS 2008. A public implementation
leaves clusters with fewer than k records and can lose records; here neither can happen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.algorithms.base import ALGORITHMS, Clusterer
from kohort.search.task import Task

STEP = 20_000_000
"""Centres looked at per call of the kernel: often enough for progress and for Ctrl-C."""


@ALGORITHMS.register("oka")
@dataclass(frozen=True)
class OKA(Clusterer):
    """One pass of k-means with moving centres, then records move from large to small clusters.

    floor(n / k) random records are the seeds. Each other record, in lexicographic order of codes,
    joins the cluster with the nearest centre, which then moves. A centre is the mean of a numeric
    column and the most frequent value of a categorical one. Afterwards each cluster keeps the k
    records nearest to its centre; the surplus, in order, fills the clusters that have fewer than
    k, the nearest one for each record, and what remains goes to the nearest of all. Ties go to
    the first.

    Notes
    -----
    Time O(n^2 / k), memory O(n * d). Every cluster ends with at least k records: floor(n / k)
    clusters need no more than n, so the surplus is never smaller than the need.
    """

    summary = "one pass of k-means, then the surplus of large clusters fills the small ones"
    paper = "Lin, Wei, PAIS 2008"
    guarantee = "k-anonymity"
    complexity = "O(n^2 / k)"

    @override
    def cluster(self, task: Task) -> NDArray[np.int32]:
        from kohort.kernels.algorithms import oka as kernels

        rows, costs, k = task.codes.distinct, task.costs, task.k
        n, d = len(rows.order), rows.codes.shape[1]
        clusters = max(1, n // k)
        row_of = rows.row
        labels = np.full(n, -1, np.int32)
        seeds = np.sort(task.rng.choice(n, clusters, replace=False))
        labels[seeds] = np.arange(clusters)

        def place(records: NDArray[np.int64], vacant: NDArray[np.int32], begin: float, end: float) -> None:
            vacancies = len(vacant)
            step = max(1, STEP // clusters)
            for start in range(0, len(records), step):
                some = records[start : start + step]
                vacancies = kernels.place(rows.codes, row_of, costs, k, some, vacant, vacancies, centres, labels)
                task.progress(begin + (end - begin) * (start + len(some)) / len(records))

        centres = kernels.empty_centres(clusters, d, n)
        kernels.gather(rows.codes, row_of, costs, seeds, labels, centres)
        place(np.flatnonzero(labels < 0), np.empty(0, np.int32), 0.0, 0.5)

        far = np.empty(n, np.int64)
        kernels.own_distances(rows.codes, row_of, costs, labels, centres, far)
        keeps = _nearest_of_each(labels, far, k)
        # Centres are those of the records that stay, and move again with each that comes.
        centres = kernels.empty_centres(clusters, d, n)
        kernels.gather(rows.codes, row_of, costs, np.flatnonzero(keeps), labels, centres)
        surplus = np.flatnonzero(~keeps)
        place(surplus, np.flatnonzero(centres.sizes < k).astype(np.int32), 0.5, 1.0)
        return rows.by_record(labels)


def _nearest_of_each(labels: NDArray[np.int32], far: NDArray[np.int64], k: int) -> NDArray[np.bool_]:
    """Mark the k records of each cluster that are nearest to its centre, the first of equals."""
    order = np.lexsort((far, labels))
    sizes = np.bincount(labels)
    rank = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    keeps = np.empty(len(labels), bool)
    keeps[order] = rank < k
    return keeps
