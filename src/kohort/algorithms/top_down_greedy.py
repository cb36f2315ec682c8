"""Top-down greedy clustering.

Xu, Wang, Pei, Wang, Shi, Fu: Utility-based anonymization using local recoding, KDD 2006.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.algorithms.base import ALGORITHMS, Clusterer
from kohort.search.task import Task

WORK = 200_000
"""Records that one call of the kernel looks at: often enough for progress and for Ctrl-C."""
STEP = 256
"""Groups that one call of the mending kernel goes through."""
REACH = 2048
"""Groups on either side, in the order of the recursion, that a small group may turn to."""


@ALGORITHMS.register("top-down-greedy")
@dataclass(frozen=True)
class TopDownGreedy(Clusterer):
    """Divide the records between two that are far apart, then each part, and repair groups that became too small.

    The two are found by looking a few times for the record furthest from the last one, starting
    at a random record. The others go, in random order, to the side where they cost less. A group
    that ends with fewer than k records is merged with another, or borrows from one. Groups that
    were merged to 2k records or more are divided again.

    Notes
    -----
    Time O(d n log(n/k)) where sets are divided evenly, at worst O(d n^2); memory O(d n).
    """

    assign: Literal["growth", "cost"] = "growth"
    """What a record costs on a side: the growth of the side's loss, which is its size times the cost of its box; or the
    cost of its box alone, with the record in it."""

    summary = "divide between two distant records, again and again"
    paper = "Xu et al., KDD 2006"
    guarantee = "k-anonymity; sizes k..2k-1"
    complexity = "O(d n log(n/k)), at worst O(d n^2)"

    @override
    def cluster(self, task: Task) -> NDArray[np.int32]:
        rows = task.codes.distinct
        # One random order for all sets: a part keeps the order of the whole.
        drawn = task.rng.permutation(len(rows.order))
        codes = np.repeat(rows.codes, rows.counts, axis=0)[drawn]
        labels = np.zeros(len(codes), np.int32)
        labels = self._divided(task, codes, labels, (0.0, 0.4), fill=False)
        labels = _mended(task, codes, labels, (0.4, 0.9))
        labels = self._divided(task, codes, labels, (0.9, 1.0), fill=True)
        return rows.by_record(labels, drawn)

    def _divided(
        self,
        task: Task,
        codes: NDArray[np.int32],
        labels: NDArray[np.int32],
        shares: tuple[float, float],
        *,
        fill: bool,
    ) -> NDArray[np.int32]:
        """Divide each group; with `fill` only where both sides can have k records, and then they get them."""
        from kohort.kernels.algorithms.divide import START
        from kohort.kernels.algorithms.top_down_greedy import divide_sets

        n = len(codes)
        members, starts, sizes = _groups(labels)
        stops = np.zeros(n, np.int64)
        stops[starts] = starts + sizes
        state = np.zeros(2, np.int64)
        divided = np.empty(n, np.int32)
        by_growth = self.assign == "growth"
        while state[START] < n:
            divide_sets(codes, task.costs, task.k, by_growth, fill, WORK, members, stops, state, divided)
            task.progress(float(np.interp(state[START] / n, (0, 1), shares)))
        return divided


def _mended(
    task: Task, codes: NDArray[np.int32], labels: NDArray[np.int32], shares: tuple[float, float]
) -> NDArray[np.int32]:
    """Groups of at least k records."""
    from kohort.kernels.algorithms.divide import START
    from kohort.kernels.algorithms.top_down_greedy import box_costs, label_members, mend_groups

    members, starts, sizes = _groups(labels)
    ordered = codes[members]
    lows, highs = np.minimum.reduceat(ordered, starts, axis=0), np.maximum.reduceat(ordered, starts, axis=0)
    here = box_costs(task.costs, lows, highs)
    # Members as linked lists: groups are merged and lend records without moving any other.
    heads, tails = members[starts], members[starts + sizes - 1]
    after = np.empty_like(members)
    after[members] = np.roll(members, -1)
    state = np.zeros(2, np.int64)
    while state[START] < len(sizes):
        mend_groups(codes, task.costs, task.k, REACH, STEP, lows, highs, here, sizes, heads, tails, after, state)
        task.progress(float(np.interp(state[START] / len(sizes), (0, 1), shares)))
    mended = np.empty_like(labels)
    label_members(sizes, heads, after, mended)
    return mended


def _groups(labels: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Members group after group, where each group begins among them, and its size."""
    members = np.argsort(labels, kind="stable").astype(np.int32)
    ordered = labels[members]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    return members, starts, np.diff(np.append(starts, len(labels)))
