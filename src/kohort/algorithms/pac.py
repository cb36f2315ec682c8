"""PAC: proximity-aware clustering in two phases.

Zhang, Dou, Pei, Nepal, Yang, Liu, Chen: Proximity-aware local-recoding anonymization with MapReduce
for scalable big data privacy preservation in cloud, IEEE Transactions on Computers 2015 (paper 003).

The functions of both phases work on plain arrays, so that parts of a table may be worked on
anywhere. A *row* is a distinct combination of quasi-identifiers, a *record* a person.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.algorithms.base import ALGORITHMS, Clusterer
from kohort.codes.boxes import Boxes, Solution, classes_of_boxes
from kohort.codes.encode import Axis, Codes, distinct_rows
from kohort.common.stopping import Workers
from kohort.errors import InfeasibleError
from kohort.measures.distance import compile_metric, metric_units
from kohort.measures.figures.base import Partition
from kohort.measures.figures.epsilon import Epsilon
from kohort.policy import Policy
from kohort.policy.parameters import Limits, Share
from kohort.search.ancestors import LocalRows, Parting, usual_parts
from kohort.search.task import Task

if TYPE_CHECKING:
    from kohort.kernels.proximity import Metric

Distance = Literal["two-way", "one-way"]

BYTES = 4
"""Memory for the distance of two records."""
MEMORY = 2**30
"""Bytes for distances that threads share; one thread may need more, see `capacity`."""
FIRST_PHASE = 0.3
"""Share of the work that phase 1 is taken for."""
WORK = 100_000_000
"""Distances per call of a kernel: often enough for Ctrl-C."""


@ALGORITHMS.register("pac")
@dataclass(frozen=True)
class ProximityAwareClustering(Clusterer):
    """Part the table by t ancestors, then merge records that are alike but have unlike sensitive values.

    Phase 1 is like k-means: records go to the nearest of t ancestors, and an ancestor becomes the
    median (numbers) or lowest common ancestor (categories) of its records. Phase 2 merges, in each
    part, the two nearest clusters, by the largest distance of their records times their number of
    records, until each has k. The distance is small if quasi-identifiers are near and sensitive
    values are far apart.

    Notes
    -----
    Time O(t d m) per round for m distinct rows, then about O(d p^2) for each part of p records,
    at worst O(p^3); parts are worked on in threads. Memory O(p^2) for each thread, and O(d n).

    Examples
    --------
    >>> import kohort
    >>> import polars as pl
    >>> policy = kohort.Policy.build(
    ...     k=2, quasi_identifiers=["age"], sensitive=["pay"], seed=1,
    ...     algorithm={"name": "pac", "sensitive_weight": 0.6})
    >>> people = pl.DataFrame({"age": [30, 31, 32, 33], "pay": [9, 9, 50, 50]})
    >>> release = kohort.anonymize(people, policy)
    >>> sorted(set(release.table["age"])), release.facts["smallest_eps_min"]
    (['[30 - 33]', '[31 - 32]'], 1.0)
    """

    sensitive_weight: Share = 0.5
    """Weight of the proximity of sensitive values, 0 to 1; the quasi-identifiers have the rest. 0 needs no sensitive
    column."""
    t: int | None = None
    """Number of ancestors; without it, one for each 1000 records."""
    tau: Share = 0.001
    """Phase 1 ends when ancestors move less than this, on average."""
    theta: int = 5
    """Most rounds of phase 1."""
    distance: Distance = "two-way"
    """Distance of a value to an ancestor in a taxonomy of height H: the path between them over 2H (equation 8), or the
    part of it that leads up from the value, over H (equation 6)."""
    capacity: Annotated[int, Limits(least=2)] = 5000
    """Most records of a part, whose distances need 4 * capacity**2 bytes; and the size of the sample that the first
    ancestors are chosen from."""

    summary = "t ancestors part the table; complete linkage of near records with dissimilar sensitive values"
    paper = "Zhang et al., IEEE TC 2015 (003)"
    guarantee = "k-anonymity; sizes k..2k-1; dissimilar sensitive values are sought, not guaranteed"
    complexity = "O(t d m) per round, then about O(d p^2) per part of p records"
    uses_sensitive = True

    @override
    def refuses(self, policy: Policy) -> list[str]:
        if self.sensitive_weight > 0 and not policy.having_role("sensitive"):
            return [
                "algorithm 'pac' keeps similar sensitive values apart and the policy has no sensitive column; give one "
                "the role, or set sensitive_weight = 0 to look at quasi-identifiers alone."
            ]
        return []

    def wants_sensitive(self, policy: Policy) -> bool:
        """Sensitive columns are looked at where there are any: without a weight, for the figures of the release."""
        return bool(policy.having_role("sensitive"))

    @override
    def solve(self, task: Task) -> Solution:
        parts = self.parts(task)
        labels = self.labels(task, parts)
        solution = Solution.of_labels(task.codes, labels)
        found: dict[str, Any] = {"beta_clusters": len(parts), "spac_objective": self.objective(task, labels)}
        return replace(solution, facts=found | Epsilon().of(published_classes(task, solution.boxes)))

    @override
    def cluster(self, task: Task) -> NDArray[np.int32]:
        return self.labels(task, self.parts(task))

    def parts(self, task: Task) -> list[NDArray[np.int64]]:
        """Phase 1: the records of each beta-cluster, k to `capacity` of them, in lexicographic order."""
        rows, n = task.codes.distinct, len(task.codes.array)
        t = self.t_for(n, task.k)
        done = 0

        def finished(records: int) -> None:
            nonlocal done
            done += records
            task.progress(FIRST_PHASE * done / n)

        found = LocalRows(rows.codes, rows.counts)
        tree, _ = self.parting(task.codes.axes, task.k).parts(found, t, task.rng, finished)
        part_of_row = tree.route(rows.codes)
        order = self.order(task)
        part_of_record = np.repeat(part_of_row, rows.counts)
        grouped = np.split(
            order[np.argsort(part_of_record, kind="stable")], np.cumsum(np.bincount(part_of_record))[:-1]
        )
        return [dealt for part in grouped for dealt in deal(part, self.hands(len(part)))]

    def order(self, task: Task) -> NDArray[np.int64]:
        """Records in lexicographic order."""
        return task.codes.distinct.order if self.sensitive_weight == 0 else lexicographic_order(task)

    def hands(self, records: int) -> int:
        """Into how many parts a part of that many records is dealt: more than one if its rows are too much alike."""
        return -(-records // self.capacity)

    def labels(
        self, task: Task, parts: list[NDArray[np.int64]], draws: Sequence[float] | None = None
    ) -> NDArray[np.int32]:
        """Phase 2: the clusters of all parts. Threads have no influence on the result.

        Parameters
        ----------
        draws : sequence of float, optional
            A random number for each part, 0 to 1; else they are drawn.
        """
        draws = task.rng.random(len(parts)).tolist() if draws is None else draws
        near, apart, sensitive = self._metrics(task)

        def clustered(records: NDArray[np.int64], draw: float) -> NDArray[np.int32]:
            columns = np.ascontiguousarray(task.codes.array[records].T)
            vectors = np.ascontiguousarray(sensitive.array[records].T)
            return agglomerate(near, columns, apart, vectors, task.k, draw)

        n = len(task.codes.array)
        labels = np.empty(n, np.int32)
        done = clusters = 0
        largest = max(len(part) for part in parts)
        threads = max(1, min(os.cpu_count() or 1, len(parts), MEMORY // (BYTES * largest**2)))
        with Workers(threads) as pool:
            run = map if threads == 1 else pool.results
            for records, found in zip(parts, run(clustered, parts, draws), strict=True):
                labels[records] = found + clusters
                clusters += int(found.max()) + 1
                done += len(records)
                task.progress(FIRST_PHASE + (1 - FIRST_PHASE) * done / n)
        return labels

    def _metrics(self, task: Task) -> tuple[Metric, Metric, Codes]:
        """Distances of quasi-identifiers and of sensitive columns, in fixed point; and the sensitive columns."""
        weight = self.sensitive_weight if task.sensitive else 0.0
        sensitive = (
            task.sensitive
            if weight > 0 and task.sensitive
            else Codes(np.empty((len(task.codes.array), 0), np.int32), ())
        )
        units = metric_units(task.codes.axes, sensitive.axes, weight)
        near = compile_metric(task.codes.axes, units[: len(task.codes.axes)])
        return near, compile_metric(sensitive.axes, units[len(task.codes.axes) :]), sensitive

    def objective(self, task: Task, labels: NDArray[np.int32]) -> float:
        """What the SPAC problem (definition 3) minimizes: sum over clusters of size times largest distance."""
        from kohort.kernels.algorithms.pac import Records, fill_pairs

        near, apart, sensitive = self._metrics(task)
        order = np.argsort(labels, kind="stable")
        total = 0
        for members in np.split(order, np.cumsum(np.bincount(labels))[:-1]):
            matrix = np.zeros((len(members), len(members)), np.int32)
            columns = np.ascontiguousarray(task.codes.array[members].T)
            vectors = np.ascontiguousarray(sensitive.array[members].T)
            fill_pairs(Records(near, columns, apart, vectors), 0, len(members), matrix)
            total += len(members) * int(matrix.max())
        return total / float(near.full.sum() + apart.full.sum())

    def parting(self, axes: tuple[Axis, ...], k: int) -> Parting:
        """How phase 1 goes about it."""
        metric = compile_metric(axes, metric_units(axes))
        return Parting(metric, self.tau, self.theta, self.distance == "one-way", self.capacity, k)

    def t_for(self, records: int, k: int) -> int:
        """The number of ancestors for a number of records.

        Raises
        ------
        InfeasibleError
            When that needs more memory than `capacity` allows.
        """
        t = self.t or usual_parts(records, self.capacity)
        self._refuse_beyond_capacity(records, t, k)
        return t

    def _refuse_beyond_capacity(self, n: int, t: int, k: int) -> None:
        """Refuse what needs more memory than `capacity` allows, before any work is done."""
        if n <= self.capacity:
            return
        least = max(-(-n // t), 2 * k)
        if least > self.capacity:
            advice = f"raise 't' to {-(-n // self.capacity):,}, or " if 2 * k <= self.capacity else ""
            raise InfeasibleError(
                f"algorithm 'pac' with t = {t:,} and k = {k:,} would compare {least:,} of {n:,} records at once, which "
                f"needs {BYTES * least**2 / 2**30:,.1f} GiB, and its capacity is {self.capacity:,} records; {advice}"
                f"raise 'capacity' to {least:,}, or use an algorithm for large tables, such as 'k-member'."
            )


@dataclass(frozen=True)
class BetaCluster(Clusterer):
    """Phase 2 on the records of one beta-cluster, wherever phase 1 was done."""

    pac: ProximityAwareClustering
    draws: Sequence[float]
    """Random numbers, one for each hand."""

    @override
    def cluster(self, task: Task) -> NDArray[np.int32]:
        return self.pac.labels(task, deal(self.pac.order(task), len(self.draws)), self.draws)


def deal(records: NDArray[np.int64], hands: int) -> list[NDArray[np.int64]]:
    """Deal records out like cards."""
    return [records[hand::hands] for hand in range(hands)]


def lexicographic_order(task: Task) -> NDArray[np.int64]:
    """Records by quasi-identifiers, equal ones by sensitive values: the order of the input does not matter."""
    if task.sensitive is None:
        return task.codes.distinct.order
    sizes = [axis.size for axis in (*task.codes.axes, *task.sensitive.axes)]
    return distinct_rows(np.hstack([task.codes.array, task.sensitive.array]), np.array(sizes, np.int64)).order


# -- phase 2 -------------------------------------------------------------------------------------


def agglomerate(
    near: Metric,
    columns: NDArray[np.int32],
    apart: Metric,
    vectors: NDArray[np.int32],
    k: int,
    draw: float,
) -> NDArray[np.int32]:
    """Cluster the records of one part, by equations 9 and 11; each cluster has k to 2k - 1.

    Parameters
    ----------
    near, apart : Metric
        Distances of quasi-identifiers and of sensitive columns, in fixed point, with their weights.
    columns, vectors : int32[axes, m]
        Codes of both, axis by axis; k records or more.
    draw : float
        A random number, 0 to 1.
    """
    from kohort.kernels.algorithms import pac as kernels

    records = kernels.Records(near, columns, apart, vectors)
    m = columns.shape[1]
    matrix = np.empty((m, m), np.int32)
    step = max(1, WORK // (m * (len(columns) + len(vectors))))
    for start in range(0, m, step):
        kernels.fill_pairs(records, start, min(start + step, m), matrix)
    sizes, is_open, bound = np.ones(m, np.int64), np.ones(m, bool), np.zeros(m, np.int64)
    partner, leader = np.zeros(m, np.int32), np.arange(m, dtype=np.int32)
    while not kernels.merge_clusters(k, WORK, matrix, sizes, is_open, bound, partner, leader):
        pass
    labels = np.empty(m, np.int32)
    clusters = kernels.label_clusters(leader, is_open, labels)
    kernels.place_leftovers(records, k, draw, clusters, labels)
    return labels


def published_classes(task: Task, boxes: Boxes) -> Partition:
    """The classes that a reader sees: records that are published alike."""
    labels = classes_of_boxes(task.codes.axes, boxes)
    return Partition(labels, task.codes.axes, boxes.lo, boxes.hi, task.sensitive, task.k, 0)
