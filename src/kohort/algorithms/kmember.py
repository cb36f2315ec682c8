"""Greedy k-member clustering.

Byun, Kamra, Bertino, Li: Efficient k-anonymization using clustering techniques, DASFAA 2007;
as corrected for paper 004 (Netshiunda): clusters grow while they hold fewer than k records, and
while at least k records are left; a left-over goes to the cluster whose loss *grows* least.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kohort.algorithms.base import ALGORITHMS, Clusterer, Task

STEP = 256
"""Clusters per call of the kernel: often enough for progress and for Ctrl-C."""


@ALGORITHMS.register("k-member")
@dataclass(frozen=True)
class KMember(Clusterer):
    """Grow one cluster after the other, always by the record that costs least.

    Each seed is the record furthest from the last record of the cluster before (or from its
    seed); the first is the one furthest from a random record. Records are taken in lexicographic
    order of their codes, so the order of the input does not matter, and ties go to the first.

    Works on distinct rows with lazy candidates: the same partition as the plain loop over all
    records, in O(n/k) scans instead of O(n).

    Parameters
    ----------
    far_from : {"last", "seed"}
        What the next seed is far from: the paper's text says the previous seed, its algorithm
        and public implementations the last record.

    Notes
    -----
    Time O(m * n / k) for m distinct rows of n records, memory O(m * d + n). Cluster sizes are k,
    except that fewer than k left-overs are spread.
    """

    far_from: Literal["last", "seed"] = "last"

    summary = "greedy: furthest record as seed, then the cheapest record until k"
    paper = "Byun et al., DASFAA 2007; Netshiunda (004)"
    recoding = "local"
    guarantee = "k-anonymity; sizes k..2k-1"
    complexity = "O(n^2 / k)"
    enforces = frozenset({"k-anonymity"})

    def __post_init__(self) -> None:
        if self.far_from not in ("last", "seed"):
            raise ValueError(f"'far_from' must be 'last' or 'seed'; got {self.far_from!r}")

    def cluster(self, task: Task) -> NDArray[np.int32]:
        """Label every record with its cluster."""
        from kohort.kernels import kmember as kernels
        from kohort.kernels.costs import LINE
        from kohort.kernels.scan import pack

        rows, costs, k = task.codes.distinct, task.costs, task.k
        m, d = rows.codes.shape
        n = len(rows.order)
        lines = [
            costs.flat[offset : offset + size] if kind == LINE else None
            for kind, offset, size in zip(costs.kind, costs.offset, costs.size, strict=True)
        ]
        packs = pack(rows.codes, costs.size, lines)
        clusters = n // k
        labels = np.full(n, -1, np.int32)
        lows = np.empty((clusters, d), np.int32)
        highs = np.empty((clusters, d), np.int32)
        left = rows.counts.astype(np.int32)
        original = np.arange(m, dtype=np.int32)
        taken = np.zeros(m, np.int64)
        state = np.zeros(4, np.int64)
        state[kernels.RECORDS_LEFT] = n
        state[kernels.FAR_ROW] = np.searchsorted(rows.first, task.rng.integers(n), side="right") - 1
        state[kernels.LIVE] = m
        shift = max(0, int(costs.full.sum()).bit_length() - 10)
        while state[kernels.RECORDS_LEFT] >= k:
            kernels.grow_clusters(
                rows.codes, rows.first, costs, packs, k, self.far_from == "seed", STEP, shift,
                left, original, taken, state, labels, lows, highs,
            )  # fmt: skip
            task.progress(1 - state[kernels.RECORDS_LEFT] / n)
        sizes = np.full(clusters, k, np.int64)
        kernels.place_left_overs(rows.codes, rows.counts, rows.first, costs, taken, lows, highs, sizes, labels)
        by_record = np.empty(n, np.int32)
        by_record[rows.order] = labels
        return by_record
