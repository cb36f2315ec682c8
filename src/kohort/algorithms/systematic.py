"""Systematic clustering.

Kabir, Wang, Bertino: Efficient systematic clustering method for k-anonymization, Acta Informatica
48 (2011); the base of paper 001 (Vaghela), steps 2, 4 and 5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.algorithms.base import ALGORITHMS, Clusterer
from kohort.search.task import Task

STEP = 20_000_000
"""Boxes looked at per call of the kernel: often enough for progress and for Ctrl-C."""


@ALGORITHMS.register("systematic")
@dataclass(frozen=True)
class Systematic(Clusterer):
    """Sort, take every k-th record as a seed, and give each other record to the cheapest cluster.

    Records are sorted lexicographically by their codes and cut into floor(n / k) blocks of k. The
    seed of the first cluster is a random record of the first block, the seed of every other one
    the record at the same place of its block. Then each record, in order, joins the cluster whose
    loss grows least among those with fewer than k members; when all are full, among all. Ties go
    to the first cluster.

    Notes
    -----
    Time O(m * n / k) for m distinct rows of n records, memory O(m * d + n). Cluster sizes are k,
    except that fewer than k left-overs are spread.
    """

    summary = "sort, every k-th record a seed, each record to the cheapest cluster with room"
    paper = "Kabir et al., Acta Informatica 2011; Vaghela (001)"
    guarantee = "k-anonymity; sizes k..2k-1"
    complexity = "O(n^2 / k)"

    @override
    def cluster(self, task: Task) -> NDArray[np.int32]:
        from kohort.kernels.algorithms.systematic import fill_clusters
        from kohort.kernels.boxes import add_to_box, empty_boxes

        rows, costs, k = task.codes.distinct, task.costs, task.k
        m, d = rows.codes.shape
        n = len(rows.order)
        clusters = max(1, n // k)
        seeds = task.rng.integers(min(k, n)) + k * np.arange(clusters)
        labels = np.full(n, -1, np.int32)
        labels[seeds] = np.arange(clusters)
        boxes = empty_boxes(clusters, d)
        for cluster, row in enumerate(np.searchsorted(rows.first, seeds, side="right") - 1):
            add_to_box(boxes, cluster, costs, rows.codes[row], 1)
        vacant = np.arange(clusters, dtype=np.int32)
        vacancies = clusters if k > 1 else 0
        step = max(1, STEP // clusters)
        for start in range(0, m, step):
            stop = min(m, start + step)
            vacancies = fill_clusters(
                rows.codes, rows.first, rows.counts, costs, k, start, stop, vacant, vacancies, boxes, labels
            )
            task.progress(stop / m)
        return rows.by_record(labels)
