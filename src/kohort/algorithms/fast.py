"""The best cut of a good order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.algorithms.base import ALGORITHMS, Clusterer
from kohort.search.task import Task


@ALGORITHMS.register("fast")
@dataclass(frozen=True)
class Fast(Clusterer):
    """Put the records into a good order, then cut it into runs of k to 2k - 1 at the least loss.

    Two orders are tried: sorted by the columns, in an order of them that was found on a sample; and by halves, cut
    along the widest column again and again. The cut is the best one of its order, by dynamic programming.

    Notes
    -----
    Time O(n log n + n k d), memory O(n d).
    """

    summary = "the best cut, by dynamic programming, of the records in a good order"
    paper = "kohort; the dynamic program is that of Hansen, Mukherjee, IEEE TKDE 2003, for boxes"
    guarantee = "k-anonymity; sizes k..2k-1"
    complexity = "O(n log n + n k d)"

    @override
    def cluster(self, task: Task) -> NDArray[np.int32]:
        from kohort.search.order import column_order, first_partition

        # Sorted records: the order of the input has no influence on what is published.
        rows = task.codes.distinct
        columns = column_order(rows.codes, rows.counts, task.costs, task.k, task.rng)
        return rows.by_record(first_partition(rows.codes, rows.counts, task.costs, task.k, columns, task.rng)[1])
