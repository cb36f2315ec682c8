"""KACA: k-anonymization by clustering in attribute hierarchies.

Li, Wong, Fu, Pei: Achieving k-anonymity by clustering in attribute hierarchical structures, DaWaK
2006; as described in paper 004 (Netshiunda), definitions 5 to 10. The rival of paper 000.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.algorithms.base import ALGORITHMS, Clusterer, refuse_long
from kohort.measures.compile import compile_costs
from kohort.measures.whd import WeightedHierarchicalDistance
from kohort.policy.hierarchy import Taxonomy
from kohort.search.task import Task


class Levels(WeightedHierarchicalDistance):
    """Weighted steps below the deepest level: two nodes differ by the distance from the one to the other.

    A leaf that is less deep costs something already, so what generalizing it adds is the way from its own level, as in
    definition 6, and not that of the deepest leaf.
    """

    @override
    def node_costs(self, taxonomy: Taxonomy) -> NDArray[np.float64]:
        costs: NDArray[np.float64] = 1.0 - self.climbed(taxonomy)[taxonomy.depth]
        return costs


STEP = 20_000_000
"""Distances computed per call of the kernel: often enough for progress and for Ctrl-C."""
SPEED = 150_000_000
"""Distances of `limit` per second, for an estimate of the time: about what Adult and Census-Income have on one core."""


@ALGORITHMS.register("kaca")
@dataclass(frozen=True)
class KACA(Clusterer):
    """Start from the classes of equal records; a random class below k joins the nearest, until none is left.

    The distance of two classes is what their records lose when both get their closest common
    generalization, by weighted hierarchical distance, whatever the measure of the policy is; the
    weights of the policy's columns apply. If both together have 2k records or more, only a stub
    of the larger one joins, as many records as the small class needs; the trunk stays as it is.
    Classes are numbered in lexicographic order of their codes, so the order of the input does not
    matter, and ties go to the first.

    Notes
    -----
    Time O(m * s) for m distinct rows, s of them with fewer than k copies; memory O(m * d + n).
    Merged classes have k to 2k - 1 records; a class of equal records has any number from k.
    """

    beta: float = 1.0
    """That of the measure `whd`: at least 1, or 0 for uniform weights."""
    limit: int = 50_000_000_000
    """A table is refused that may need more distances than this: its number of classes times the number of those below
    k."""

    summary = "classes of equal records; a random one below k joins the nearest, until none is left"
    paper = "Li et al., DaWaK 2006; Netshiunda (004)"
    guarantee = "k-anonymity; merged classes k..2k-1, equal records k or more"
    complexity = "O(m^2) for m distinct rows"

    def __post_init__(self) -> None:
        WeightedHierarchicalDistance(self.beta)  # refuses what is no beta
        super().__post_init__()

    @override
    def cluster(self, task: Task) -> NDArray[np.int32]:
        from kohort.kernels.algorithms import kaca as kernels
        from kohort.kernels.costs import Costs

        rows, k = task.codes.distinct, task.k
        distances = len(rows.codes) * int((rows.counts < k).sum())
        what = f"may need {distances:,} distances for {len(rows.codes):,} distinct rows"
        instead = "use an algorithm for large tables, such as 'k-member' or 'sequential'"
        refuse_long(self.name, distances, self.limit, SPEED, what, instead)
        costs = compile_costs(Levels(self.beta), task.codes.axes)
        # The axis that separates most rows first: a sum is cut short early. No distance changes.
        total = np.zeros(len(costs.kind), np.int64)
        kernels.spread(rows.codes, costs, total)
        axes = np.argsort(-total, kind="stable")
        codes = np.ascontiguousarray(rows.codes[:, axes])
        kind, size, missing, full, offset, flat = costs
        costs = Costs(kind[axes], size[axes], missing[axes], full[axes], offset[axes], flat)

        classes = kernels.exact_classes(codes, costs, rows.counts, k)
        counts = classes.counts
        smalls = int(counts[kernels.SMALL])
        draws = task.rng.random(smalls)
        while counts[kernels.SMALL] > 0 and counts[kernels.LIVE] > 1:
            kernels.merge_classes(codes, costs, k, draws, STEP, classes)
            task.progress(1 - counts[kernels.SMALL] / smalls)
        labels = np.empty(len(rows.order), np.int32)
        kernels.label_members(classes, rows.first, labels)
        return rows.by_record(labels)
