"""Non-homogeneous generalization: rings of records, and a random matching of records and boxes.

Wong, Mamoulis, Cheung: Non-homogeneous generalization in privacy preserving data publishing,
SIGMOD 2010; known to this project through paper 002, which compares with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.algorithms.base import ALGORITHMS, Algorithm, Clusterer
from kohort.codes.boxes import Boxes, Solution
from kohort.policy import Policy
from kohort.search.task import Progress, Task

WORK = 10_000
"""Records that one call of a kernel looks at: often enough for progress and for Ctrl-C."""


@ALGORITHMS.register("nh")
@dataclass(frozen=True)
class NonHomogeneous(Algorithm):
    """Put the records of each group in a ring; every k neighbours make a box, and records get boxes at random.

    A group of m records makes m boxes, one for every k neighbours of the ring. So every record
    lies in k boxes and every box holds k records. Each record is published as one of its k
    boxes, each box once. Which one is drawn, each with a chance of 1/k.

    Notes
    -----
    Time O(d n g) to order groups of g records, g counting up to 1024; O(d n log k) for the boxes
    and expected O(min(k, 32) n log g) to draw the matching; memory O(d n). The partition comes
    on top.

    Examples
    --------
    >>> import kohort
    >>> import polars as pl
    >>> policy = kohort.Policy.build(k=2, quasi_identifiers=["age"])
    >>> policy = policy.with_changes("algorithm", name="nh").with_changes("privacy", anonymity="matchings")
    >>> release = kohort.anonymize(pl.DataFrame({"age": [31, 33, 30]}), policy)
    >>> sorted(release.table["age"])
    ['[30 - 31]', '[30 - 33]', '[31 - 33]']
    """

    partition: Literal["mondrian", "top-down-greedy"] = "mondrian"
    """The algorithm that makes the groups."""
    size: int = 1
    """Smallest size of a group, in multiples of k."""

    summary = "rings of records; every k neighbours make a box, and records get boxes at random"
    paper = "Wong, Mamoulis, Cheung, SIGMOD 2010 (compared with in 002)"
    recoding = "non-homogeneous"
    guarantee = "every record fits k rows and every row k records, each by a perfect matching, and gets each with 1/k"
    complexity = "O(d n g + min(k, 32) n log g) for groups of g records, beside the partition"
    anonymity = "matchings"

    @override
    def refuses(self, policy: Policy) -> list[str]:
        if policy.output.suppressed == "starred":
            # Left out of its ring as if it were suppressed, such a record would leave others with k - 1 rows.
            return [
                f"algorithm {self.name!r} may publish * in every quasi-identifier of a record that is not suppressed; "
                "set suppressed = 'withheld' in [output], or choose another algorithm."
            ]
        return []

    @override
    def solve(self, task: Task) -> Solution:
        members, begins = self._groups(task)
        _order_rings(task, members, begins)
        codes = task.codes.array[members]
        boxes = ring_boxes(codes, begins, task.k)
        drawn = _draw_matchings(task, begins)
        lo, hi = np.empty_like(codes), np.empty_like(codes)
        lo[members], hi[members] = boxes.lo[drawn], boxes.hi[drawn]
        return Solution(Boxes(lo, hi), clusters=len(begins) - 1)

    def _groups(self, task: Task) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The records, group after group and in lexicographic order of codes; and where each group begins."""
        partition = ALGORITHMS.make(self.partition, {})
        assert isinstance(partition, Clusterer)
        n = len(task.codes.array)
        labels = partition.cluster(
            replace(task, k=min(self.size * task.k, n), progress=_part_of(task.progress, 0.0, 0.4))
        )
        order = task.codes.distinct.order
        members = order[np.argsort(labels[order], kind="stable")].astype(np.int32)
        return members, np.append(0, np.cumsum(np.bincount(labels))).astype(np.int64)


def ring_boxes(codes: NDArray[np.int32], begins: NDArray[np.int64], k: int) -> Boxes:
    """The box of every position of a ring and the k - 1 that follow it.

    Parameters
    ----------
    codes : int32[n, d]
        Records, ring after ring.
    begins : int64[rings + 1]
        Where each ring begins; at last, n. No ring has fewer than k records.
    """
    sizes = np.diff(begins)
    begin, size = np.repeat(begins[:-1], sizes), np.repeat(sizes, sizes)
    place = np.arange(len(codes)) - begin
    lo = hi = codes
    width = 1
    while width < k:
        # Two windows that overlap or touch make a wider one, at most twice as wide.
        step = min(width, k - width)
        ahead = begin + (place + step) % size
        lo, hi = np.minimum(lo, lo[ahead]), np.maximum(hi, hi[ahead])
        width += step
    return Boxes(lo, hi)


def _order_rings(task: Task, members: NDArray[np.int32], begins: NDArray[np.int64]) -> None:
    """Put each group in the order in which every record is followed by its nearest."""
    from kohort.kernels.algorithms.nh import order_rings

    n, progress = len(members), _part_of(task.progress, 0.4, 0.8)
    ends = np.repeat(begins[1:], np.diff(begins))
    for start in range(0, n, WORK):
        stop = min(start + WORK, n)
        order_rings(task.codes.array, task.costs, ends, start, stop, members)
        progress(stop / n)


def _draw_matchings(task: Task, begins: NDArray[np.int64]) -> NDArray[np.int64]:
    """Draw the box of the record at each position."""
    from kohort.kernels.algorithms.nh import draw_matchings

    progress = _part_of(task.progress, 0.8, 1.0)
    boxes = np.empty(begins[-1], np.int64)
    state = task.rng.integers(2**64, size=1, dtype=np.uint64)
    for first, last in _batches(begins):
        draw_matchings(begins, task.k, first, last, state, boxes)
        progress(last / (len(begins) - 1))
    return boxes


def _batches(begins: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Groups that make up WORK records or little more."""
    first = 0
    while first < len(begins) - 1:
        last = max(first + 1, int(np.searchsorted(begins, begins[first] + WORK)))
        yield first, min(last, len(begins) - 1)
        first = last


def _part_of(progress: Progress, start: float, end: float) -> Progress:
    """Progress of one step of several."""
    return lambda share: progress(start + share * (end - start))
