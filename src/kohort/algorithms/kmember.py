"""Greedy k-member clustering.

Byun, Kamra, Bertino, Li: Efficient k-anonymization using clustering techniques, DASFAA 2007;
as corrected for paper 004 (Netshiunda): clusters grow while they hold fewer than k records, and
while at least k records are left; a left-over goes to the cluster whose loss *grows* least. With a
class penalty it is the variant that the papers call cm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from typing_extensions import override

from kohort.algorithms.base import ALGORITHMS, Clusterer, chosen_sensitive
from kohort.codes.boxes import Boxes, Solution
from kohort.codes.encode import Codes, DistinctRows, distinct_rows
from kohort.errors import PolicyError
from kohort.policy import Policy
from kohort.policy.parameters import Limits
from kohort.search.task import Task

if TYPE_CHECKING:
    from kohort.kernels.algorithms.kmember import ClassPenalty
    from kohort.kernels.costs import Costs
    from kohort.kernels.search.scan import Packs

STEP = 256
"""Clusters per call of the kernel: often enough for progress and for Ctrl-C."""


@dataclass(frozen=True)
class ClassPenalized(Clusterer):
    """k-member in any form: a record whose class is not the most frequent one in a cluster may pay a penalty."""

    class_penalty: Annotated[float, Limits(least=0, most=1000)] = 0.0
    """Added to the loss of a cluster with a record whose class is not the most frequent one there; 1 is the cost of one
    fully generalized cell. Classes become more homogeneous: good for models, bad for privacy. 0 turns it off."""
    column: str | None = None
    """The sensitive column that is the class, where there are several."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.column is not None and not self.class_penalty:
            raise ValueError("'column' is for a 'class_penalty' above 0; give one, or remove it")

    def wants_sensitive(self, policy: Policy) -> bool:
        """Only the class penalty looks at a sensitive column."""
        return self.class_penalty > 0

    @override
    def refuses(self, policy: Policy) -> list[str]:
        if self.class_penalty:
            try:
                chosen_sensitive(policy, self.name, self.column)
            except PolicyError as error:
                return list(error.faults)
        return super().refuses(policy)

    def solve(self, task: Task) -> Solution:
        """Find a box for every record; with a class penalty, report how homogeneous the classes are."""
        solution = super().solve(task)
        if not self.class_penalty:
            return solution
        share = homogeneous_share(task.codes, solution.boxes, self._classes(task))
        return Solution(solution.boxes, solution.clusters, facts={"records_in_classes_of_one_value": share})

    def rows(self, task: Task, clusters: int) -> tuple[DistinctRows, ClassPenalty]:
        """Distinct rows; with a penalty, rows of different classes are different rows."""
        from kohort.kernels.algorithms.kmember import class_penalty, no_penalty

        if not self.class_penalty:
            return task.codes.distinct, no_penalty()
        classes = self._classes(task)
        number = int(classes.max()) + 1
        sizes = np.append([axis.size for axis in task.codes.axes], number).astype(np.int64)
        rows = distinct_rows(np.column_stack([task.codes.array, classes]), sizes)
        of_row = np.ascontiguousarray(rows.codes[:, -1])
        penalty = class_penalty(math.ceil(self.class_penalty * int(task.costs.full.max())), of_row, number, clusters)
        return DistinctRows(np.ascontiguousarray(rows.codes[:, :-1]), rows.counts, rows.order), penalty

    def _classes(self, task: Task) -> NDArray[np.int32]:
        assert task.sensitive is not None
        return task.sensitive_column(self.column or task.sensitive.axes[0].name)[1]


@ALGORITHMS.register("k-member")
@dataclass(frozen=True)
class KMember(ClassPenalized):
    """Grow one cluster after the other, always by the record that costs least.

    Each seed is the record furthest from the last record of the cluster before (or from its
    seed); the first is the one furthest from a random record. Records are taken in lexicographic
    order of their codes, so the order of the input does not matter, and ties go to the first.

    Works on distinct rows with lazy candidates: the same partition as the plain loop over all
    records, in O(n/k) scans instead of O(n).

    Notes
    -----
    Time O(m * n / k) for m distinct rows of n records, memory O(m * d + n). Cluster sizes are k,
    except that fewer than k left-overs are spread.
    """

    far_from: Literal["last", "seed"] = "last"
    """What the next seed is far from: the paper's text says the previous seed, its algorithm and public implementations
    the last record."""

    summary = "greedy: furthest record as seed, then the cheapest record until k"
    paper = "Byun et al., DASFAA 2007; Netshiunda (004)"
    guarantee = "k-anonymity; sizes k..2k-1"
    complexity = "O(n^2 / k)"

    @override
    def cluster(self, task: Task) -> NDArray[np.int32]:
        from kohort.kernels.algorithms import kmember as kernels

        costs, k = task.costs, task.k
        n, d = task.codes.array.shape
        clusters = n // k
        rows, penalty = self.rows(task, clusters)
        m = len(rows.codes)
        packs = packed(rows.codes, costs)
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
                rows.codes, rows.first, costs, packs, k, self.far_from == "seed", STEP, shift, penalty,
                left, original, taken, state, labels, lows, highs,
            )  # fmt: skip
            task.progress(1 - state[kernels.RECORDS_LEFT] / n)
        sizes = np.full(clusters, k, np.int64)
        kernels.place_left_overs(rows.codes, rows.counts, rows.first, costs, penalty, taken, lows, highs, sizes, labels)
        return rows.by_record(labels)


def packed(codes: NDArray[np.int32], costs: Costs) -> Packs:
    """Rows, packed for scanning by a compiled measure."""
    from kohort.kernels.costs import LINE
    from kohort.kernels.search.scan import pack

    lines = [
        costs.flat[offset : offset + size] if kind == LINE else None
        for kind, offset, size in zip(costs.kind, costs.offset, costs.size, strict=True)
    ]
    return pack(codes, costs.size, lines)


def candidates(k: int) -> int:
    """Rows that a cluster keeps in mind: most of its records will be among them."""
    return max(4 * k, 32)


def homogeneous_share(codes: Codes, boxes: Boxes, values: NDArray[np.int32]) -> float:
    """Share of records in classes, as they will be published, with a single value."""
    published = [axis.published(boxes.lo[:, j], boxes.hi[:, j]).alias(f"q{j}") for j, axis in enumerate(codes.axes)]
    classes = pl.DataFrame([*published, pl.Series("value", values)]).group_by(pl.exclude("value"))
    counted = classes.agg(pl.col("value").n_unique().alias("values"), pl.len())
    return float(counted.filter(pl.col("values") == 1)["len"].sum() / len(values))
