"""Sequential clustering.

Goldberger, Tassa: Efficient anonymizations with enhanced utility, Transactions on Data Privacy 3
(2010); cited by papers 001 and 004.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.algorithms.base import ALGORITHMS, Clusterer
from kohort.policy.parameters import Limits
from kohort.search.task import Progress, Task

if TYPE_CHECKING:
    from kohort.kernels.algorithms.sequential import Partition
    from kohort.kernels.costs import Costs

STEP = 10_000_000
"""Boxes looked at per call of the kernel: often enough for Ctrl-C."""

Pieces = Callable[[NDArray[np.int64]], NDArray[Any]]
"""Into how many pieces a cluster of each size is cut."""


@ALGORITHMS.register("sequential")
@dataclass(frozen=True)
class Sequential(Clusterer):
    """Start at random, then move one record after the other to where the total loss is least.

    Records move freely, whatever the sizes of clusters, until a sweep over all of them in random
    order changes nothing; a cluster that nobody is left in vanishes. Clusters with more than
    `omega` * k records are cut, and the sweeps go on. When nothing is left to cut, clusters with
    fewer than k records are united with the cluster where that costs least. Last, clusters of 2k
    and more are cut, and sweeps follow that leave at least k records in every cluster.

    Notes
    -----
    Time O(b * n / k) per sweep for blocks of b records, memory O(n * d). The total loss never
    exceeds that of the start. If the sweeps ended by themselves, there is no record that can move
    to another cluster of its block such that k records stay and the total loss falls.
    """

    omega: Annotated[float, Limits(least=1)] = 1.5
    """Clusters with more than `omega` * k records are cut in the free search. At least 1."""
    max_sweeps: int = 50
    """Most sweeps of the free search, and of the last one."""
    block: int = 8192
    """Most records that are searched together. A larger table is cut into blocks of neighbours, so that time grows with
    the number of records, and not with its square."""

    summary = "local search: each record moves to the cluster of least total loss, until none does"
    paper = "Goldberger, Tassa, TDP 2010"
    guarantee = "k-anonymity; sizes k..2k-1"
    complexity = "O(b n / k) per sweep, in blocks of b records"

    @override
    def cluster(self, task: Task) -> NDArray[np.int32]:
        n, k = len(task.codes.array), task.k
        # Columns with few values first: the records of a block then agree in most of them.
        axes = np.argsort(task.costs.size, kind="stable")
        order = task.codes.distinct.order
        order = order[np.lexsort(task.codes.array[order][:, axes[::-1]].T)]
        blocks = max(1, min(-(-n // self.block), n // (2 * k)))
        labels = np.empty(n, np.int32)
        clusters = 0
        for number in range(blocks):
            records = order[number * n // blocks : (number + 1) * n // blocks]
            codes = np.ascontiguousarray(task.codes.array[records])
            search = _Search(self, codes, task.costs, k, task.rng, _share(task.progress, number, blocks))
            labels[records] = clusters + search.run()
            clusters = int(labels[records].max()) + 1
        return labels


def _share(progress: Progress, number: int, parts: int) -> Progress:
    """Progress of one of several equal parts."""
    return lambda done: progress((number + done) / parts)


@dataclass(frozen=True)
class _Search:
    """The search in one block of records."""

    settings: Sequential
    codes: NDArray[np.int32]
    costs: Costs
    k: int
    rng: np.random.Generator
    progress: Progress

    def run(self) -> NDArray[np.int32]:
        """Label the records 0, 1, 2, ..."""
        from kohort.kernels.boxes import total_loss

        n, k = len(self.codes), self.k
        start = np.empty(n, np.int32)
        start[self.rng.permutation(n)] = np.arange(n) % max(1, n // k)
        begun = self._gathered(start)
        loss = total_loss(begun.boxes)
        most = self.settings.omega * k
        free = self._improved(begun, 0, lambda sizes: np.ceil(sizes / most), 0.0)
        self._merge_small(free)
        # Uniting can cost more than the search gained, in tiny tables.
        ended = free.labels if total_loss(free.boxes) <= loss else start
        ended, _ = _cut(ended, lambda sizes: sizes // k)
        last = self._improved(self._gathered(ended), k, lambda sizes: sizes // k, 0.5)
        self.progress(1.0)
        return _cut(last.labels, lambda sizes: sizes // k)[0]

    def _gathered(self, labels: NDArray[np.int32]) -> Partition:
        from kohort.kernels.algorithms.sequential import empty_partition, gather

        partition = empty_partition(labels.copy(), self.codes.shape[1])
        gather(self.codes, self.costs, partition)
        return partition

    def _improved(self, partition: Partition, floor: int, pieces: Pieces, begin: float) -> Partition:
        """Sweep and cut in turns, until neither changes anything."""
        for done in range(self.settings.max_sweeps):
            self.progress(begin + 0.5 * done / self.settings.max_sweeps)
            if self._sweep(partition, floor) > 0:
                continue
            labels, is_cut = _cut(partition.labels, pieces)
            if not is_cut.any():
                break
            # Nothing has changed for records that are settled, except that there are new clusters.
            settled = partition.settled == partition.clock
            partition = self._gathered(labels)
            partition.settled[settled & ~is_cut] = 0
            partition.changed[labels[is_cut]] = 1
            partition.clock[0] = 1
        return partition

    def _sweep(self, partition: Partition, floor: int) -> int:
        """Number of moves of one sweep over all records."""
        from kohort.kernels.algorithms.sequential import sweep

        order = self.rng.permutation(len(self.codes))
        step = max(1, STEP // len(partition.head))
        chunks = (order[start : start + step] for start in range(0, len(order), step))
        return sum(sweep(self.codes, self.costs, chunk, floor, partition)[0] for chunk in chunks)

    def _merge_small(self, partition: Partition) -> None:
        from kohort.kernels.algorithms.sequential import merge_small

        clusters = len(partition.head)
        step = max(1, STEP // clusters)
        for start in range(0, clusters, step):
            merge_small(self.codes, self.costs, self.k, start, min(clusters, start + step), partition)


def _cut(labels: NDArray[np.int32], pieces: Pieces) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Cut clusters into as many pieces as their sizes ask for, neighbours in the order together.

    Returns the labels 0, 1, 2, ..., and which records are in a cluster that was cut.
    """
    sizes = np.bincount(labels)
    rank = np.empty(len(labels), np.int64)
    rank[np.argsort(labels, kind="stable")] = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    wanted = np.maximum(pieces(sizes), 1).astype(np.int64)
    first = np.cumsum(wanted) - wanted
    finer = first[labels] + rank * wanted[labels] // sizes[labels]
    return np.unique(finer, return_inverse=True)[1].astype(np.int32), (wanted > 1)[labels]
