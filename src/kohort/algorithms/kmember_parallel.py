"""Greedy k-member with all clusters growing at once.

Netshiunda: Computational efficiency of k-anonymization incorporating clustering, 2020 (paper 004),
algorithm 2.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.algorithms.base import ALGORITHMS, refuse_long
from kohort.algorithms.kmember import ClassPenalized, candidates, packed
from kohort.codes.encode import DistinctRows
from kohort.common.stopping import Workers
from kohort.search.task import Task

if TYPE_CHECKING:
    from kohort.kernels.algorithms.kmember import ClassPenalty
    from kohort.kernels.algorithms.kmember_parallel import Growth
    from kohort.kernels.costs import Costs

WORK = 20_000_000
"""Distances computed per call of a kernel: often enough for progress and for Ctrl-C."""
ROUNDS = 10
"""Most rounds of k-means; the groups are a means to find seeds, no result."""
SPEED = 40_000_000
"""Pairs of `limit` per second, for an estimate of the time: about what Adult and Census-Income have on two cores."""


@ALGORITHMS.register("k-member-parallel")
@dataclass(frozen=True)
class KMemberParallel(ClassPenalized):
    """Choose all seeds first, then let all clusters grow in rounds, one record each.

    The table is parted into groups by k-means, with the most frequent value for categories. Each
    group offers its record nearest to the centre; the one with the largest sum of distances from
    all seeds becomes the next seed. In a round each cluster proposes the record that costs it
    least. A record that several want goes to the one whose loss grows least; the others propose
    again in the next round. Clusters with k records are done. The number of threads has no
    influence on the result.

    A `class_penalty` makes it the paper's variant "new-cm".

    Notes
    -----
    Time O(m * n / k) for m distinct rows of n records and each time that a cluster looks at all
    rows, which is a few times; memory O(m * d + n). Cluster sizes are k, except that fewer than
    k left-overs are spread.
    """

    groups: int | None = None
    """Number of groups; the square root of the number of records, rounded up, when absent."""
    limit: int = 20_000_000_000
    """A table is refused whose clusters times distinct rows are more than this."""

    summary = "k-member with all seeds chosen first, and all clusters growing in rounds"
    paper = "Netshiunda (004), 2020, algorithm 2"
    guarantee = "k-anonymity; sizes k..2k-1"
    complexity = "O(n^2 / k)"

    @override
    def cluster(self, task: Task) -> NDArray[np.int32]:
        from kohort.kernels.algorithms import kmember_parallel as kernels
        from kohort.kernels.algorithms.kmember import place_left_overs

        costs, k = task.costs, task.k
        n, d = task.codes.array.shape
        clusters = n // k
        rows, penalty = self.rows(task, clusters)
        what = f"would form {clusters:,} clusters of {len(rows.codes):,} distinct rows"
        instead = "use 'k-member', which takes a fraction of the time"
        refuse_long(self.name, clusters * len(rows.codes), self.limit, SPEED, what, instead)
        labels = np.full(n, -1, np.int32)
        left = rows.counts.astype(np.int32)
        taken = np.zeros(len(rows.codes), np.int64)
        growth = kernels.new_growth(clusters, d, candidates(k), k if self.class_penalty else 0)
        with Workers(os.cpu_count() or 1) as pool:
            for number, row in enumerate(self._seeds(task, rows, clusters, pool)):
                kernels.join(rows.codes, costs, rows.first, penalty, row, number, growth, left, taken, labels)
            _grow(task, rows, penalty, growth, left, taken, labels, pool)
        boxes = growth.boxes
        place_left_overs(
            rows.codes,
            rows.counts,
            rows.first,
            costs,
            penalty,
            taken,
            boxes.lows,
            boxes.highs,
            boxes.sizes,
            labels,
        )
        return rows.by_record(labels)

    def _seeds(self, task: Task, rows: DistinctRows, clusters: int, pool: Workers) -> NDArray[np.int32]:
        """Rows of the seeds: the first is that of a random record, the others are far from all before."""
        from kohort.kernels.algorithms.kmember_parallel import spread_seeds

        m, n = len(rows.codes), len(rows.order)
        start = int(np.searchsorted(rows.first, task.rng.integers(n), side="right")) - 1
        number = min(self.groups or math.isqrt(n - 1) + 1, m)
        centres = np.sort(task.rng.choice(m, number, replace=False))
        group, far = parted(rows, task.costs, rows.codes[centres], pool)
        queue = _offers(rows, group, far, start)
        sizes = np.bincount(group[queue], minlength=number)
        ends = np.cumsum(sizes)
        ahead, total = ends - sizes, np.zeros(number, np.int64)
        seeds = np.full(clusters, start, np.int32)
        found = 1
        while found < clusters:
            found = spread_seeds(rows.codes, task.costs, queue, ends, WORK, found, ahead, total, seeds)
        return seeds


def parted(
    rows: DistinctRows, costs: Costs, records: NDArray[np.int32], pool: Workers
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The group of each row, and how far it is from the centre, by k-means from the given records.

    On a line a centre is the mean, on a taxonomy the most frequent code, each row counting as often
    as there are records of it.
    """
    from kohort.kernels.algorithms.kmember_parallel import assign_groups

    m = len(rows.codes)
    places = np.column_stack([_places(costs, axis, rows.codes[:, axis]) for axis in range(rows.codes.shape[1])])
    centres = np.column_stack([_places(costs, axis, records[:, axis]) for axis in range(records.shape[1])])
    group, far = np.full(m, -1, np.int32), np.empty(m, np.int64)
    step = max(1, WORK // len(centres))
    for _ in range(ROUNDS):
        before = group.copy()
        pool.each(
            lambda begin: assign_groups(rows.codes, costs, centres, begin, min(begin + step, m), group, far),  # noqa: B023
            range(0, m, step),
        )
        if (group == before).all():
            break
        centres = _centres(places, rows.counts, costs, group, centres)
    return group, far


def _places(costs: Costs, axis: int, codes: NDArray[np.int32]) -> NDArray[np.int32]:
    """Codes of an axis, but on a line their positions, -1 for missing."""
    from kohort.kernels.costs import LINE

    start = costs.offset[axis]
    return costs.flat[start : start + costs.size[axis]][codes] if costs.kind[axis] == LINE else codes


def _centres(
    places: NDArray[np.int32], counts: NDArray[np.int64], costs: Costs, group: NDArray[np.int32], old: NDArray[np.int32]
) -> NDArray[np.int32]:
    """The centres of the groups; one without rows keeps its centre."""
    from kohort.kernels.costs import LINE

    centres = old.copy()
    there = np.unique(group)
    for axis in range(places.shape[1]):
        pairs, inverse = np.unique(group.astype(np.int64) << 32 | (places[:, axis] + 1), return_inverse=True)
        number, place = pairs >> 32, (pairs & (2**32 - 1)) - 1
        weight = np.bincount(inverse, counts).astype(np.int64)
        if costs.kind[axis] == LINE:
            known = np.where(place < 0, 0, weight)
            total = np.bincount(number, known, len(old)).astype(np.int64)[there]
            sums = np.bincount(number, known * place, len(old)).astype(np.int64)[there]
            centres[there, axis] = np.where(total > 0, sums // np.maximum(total, 1), -1)
        else:
            # By group, then the heaviest, then the first code: the first pair of each group.
            order = np.lexsort((place, -weight, number))
            centres[there, axis] = place[order][np.unique(number[order], return_index=True)[1]]
    return centres


def _offers(rows: DistinctRows, group: NDArray[np.int32], far: NDArray[np.int64], start: int) -> NDArray[np.int32]:
    """Rows in the order in which groups offer them: first copies first, the nearest to the centre first.

    One copy of the row of the first seed is gone.
    """
    row = rows.row
    copy = np.arange(len(row)) - rows.first[row]
    order = np.lexsort((row, far[row], copy, group[row]))
    gone = (row[order] == start) & (copy[order] == 0)
    queue: NDArray[np.int32] = row[order][~gone]
    return queue


def _grow(
    task: Task,
    rows: DistinctRows,
    penalty: ClassPenalty,
    growth: Growth,
    left: NDArray[np.int32],
    taken: NDArray[np.int64],
    labels: NDArray[np.int32],
    pool: Workers,
) -> None:
    """Rounds: all clusters with fewer than k records propose, then rows are granted."""
    from kohort.kernels.algorithms import kmember_parallel as kernels

    costs, k = task.costs, task.k
    packs = packed(rows.codes, costs)
    slots = np.arange(len(rows.codes), dtype=np.int32)
    live = len(slots)
    sizes = growth.boxes.sizes
    while len(growing := np.flatnonzero(sizes < k)):
        if np.count_nonzero(left) * 8 < live * 7:
            live = kernels.compact(packs, live, left, slots)
        parts = min(len(growing), max(os.cpu_count() or 1, len(growing) * live // WORK))
        pool.each(
            lambda some: kernels.propose(rows.codes, costs, penalty, packs, live, slots, left, some, growth),  # noqa: B023
            np.array_split(growing, parts),
        )
        order = np.lexsort((growth.price[growing], growth.wish[growing]))
        kernels.grant(rows.codes, costs, rows.first, penalty, growing[order], growth, left, taken, labels)
        task.progress(sizes.sum() / (k * len(sizes)))
