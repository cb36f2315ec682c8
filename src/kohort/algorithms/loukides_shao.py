"""Clustering by usefulness and protection.

Loukides, Shao: Capturing data usefulness and privacy protection in k-anonymisation, SAC 2007; with
definitions 1 to 4 of paper 004 (Netshiunda).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.algorithms.base import ALGORITHMS, Clusterer, refuse_long
from kohort.algorithms.kmember import candidates
from kohort.codes.encode import Axis, DistinctRows, LineAxis, distinct_rows
from kohort.errors import InfeasibleError
from kohort.policy.parameters import Limits
from kohort.search.task import Task

if TYPE_CHECKING:
    from kohort.kernels.algorithms.loukides_shao import Domains, Sets

ONE = 2**20
"""Fixed point: the share 1.0."""
WORK = 10_000_000
"""Rows looked at per call of a kernel: often enough for progress and for Ctrl-C."""
SPEED = 20_000_000
"""Pairs of `limit` per second, for an estimate of the time: about what Adult has on one core."""
MEMORY = 2 * 2**30
"""Bytes that the sets of all clusters may take."""


@ALGORITHMS.register("loukides-shao")
@dataclass(frozen=True)
class LoukidesShao(Clusterer):
    """Grow clusters that are alike in the quasi-identifiers and diverse in the sensitive columns.

    A cluster starts with a random record. Then it takes the record with which it has the least
    usefulness + weight * protection, until it has k records, or as long as this value stays within
    a threshold. The records of clusters that end with fewer than k are suppressed as far as the
    policy allows it, the most expensive ones first; the others go where the value grows least.

    Usefulness is the diversity of the quasi-identifiers, protection 1 over that of the sensitive
    columns: definitions 3 and 4 of 004. The measure of the policy has no influence; the weights
    of its columns have.

    Notes
    -----
    Time O(m * n / k) for m distinct rows of all columns of n records and each time that a cluster
    looks at all rows, at worst O(m * n); memory O(m * d + n), and a bit for every cluster and code.

    Examples
    --------
    >>> import polars as pl, kohort
    >>> people = pl.DataFrame({"age": [30, 31, 60, 61], "ill": ["flu", "cold", "flu", "cold"]})
    >>> policy = kohort.Policy.build(
    ...     k=2, quasi_identifiers=["age"], sensitive=["ill"], algorithm="loukides-shao", seed=1)
    >>> sorted(set(kohort.anonymize(people, policy).table["age"]))
    ['[30 - 31]', '[60 - 61]']
    """

    threshold: Annotated[float, Limits(least=0, most=1000)] | None = None
    """Largest value of a cluster. A cluster grows as long as its value falls or stays within the threshold, whatever
    its size. When absent, a cluster ends with k records."""
    weight: Annotated[float, Limits(least=0, most=1000)] = 1.0
    """What protection counts for, usefulness counting 1."""
    limit: int = 20_000_000_000
    """A table is refused whose distinct rows times n / k are more than this."""

    summary = "random seeds, then the record of the best usefulness + protection"
    paper = "Loukides, Shao, SAC 2007; Netshiunda (004)"
    guarantee = "k-anonymity"
    complexity = "O(n^2 / k), at worst O(n^2)"
    uses_sensitive = True

    @override
    def cluster(self, task: Task) -> NDArray[np.int32]:
        from kohort.kernels.algorithms import loukides_shao as kernels

        assert task.sensitive is not None
        clusters = len(task.codes.array) // task.k
        axes = task.codes.axes + task.sensitive.axes
        whole = np.column_stack([task.codes.array, task.sensitive.array])
        rows = distinct_rows(whole, np.array([axis.size for axis in axes], np.int64))
        domains, words = self._domains(axes, len(task.codes.axes))
        self._refuse_clusters(clusters, len(rows.codes), 8 * words + 12 * len(axes))
        sets = kernels.empty_sets(clusters + 1, len(axes), words)
        labels, formed = self._grown(task, rows, domains, sets)
        if not formed:
            raise InfeasibleError(
                "algorithm 'loukides-shao' found no cluster of k records within its threshold; raise 'threshold', "
                "or leave it out."
            )
        records = np.flatnonzero(labels < 0)
        self._place(task, rows.codes[rows.row[records]], records, domains, sets, formed, labels)
        return rows.by_record(labels)

    def _domains(self, axes: tuple[Axis, ...], quasi: int) -> tuple[Domains, int]:
        """The domains of all columns, and the number of words that a bit for each code takes."""
        from kohort.kernels.algorithms.loukides_shao import Domains

        largest = max(axis.weight for axis in axes[:quasi])
        units = [round(ONE * (axis.weight / largest if j < quasi else 1)) for j, axis in enumerate(axes)]
        positions, offset, bits = [np.empty(0)], [], 0
        for axis, unit in zip(axes, units, strict=True):
            if isinstance(axis, LineAxis):
                offset.append(sum(map(len, positions)))
                positions.append(np.rint(axis.positions * unit))
            else:
                offset.append(bits)
                bits += axis.size
        domains = Domains(
            quasi=quasi,
            is_line=np.array([isinstance(axis, LineAxis) for axis in axes]),
            size=np.array([axis.size for axis in axes], np.int64),
            missing=np.array([axis.missing_code if isinstance(axis, LineAxis) else -1 for axis in axes], np.int64),
            unit=np.array(units, np.int64),
            offset=np.array(offset, np.int64),
            positions=np.concatenate(positions).astype(np.int64),
            protect=round(self.weight * ONE) * ONE,
        )
        return domains, -(-bits // 64)

    def _refuse_clusters(self, clusters: int, rows: int, bytes_of_a_cluster: int) -> None:
        """Refuse a table that would take too long or too much memory, before any work is done."""
        what = f"would form {clusters:,} clusters of {rows:,} distinct rows"
        instead = "use an algorithm for large tables, such as 'k-member'"
        refuse_long(self.name, clusters * rows, self.limit, SPEED, what, instead)
        if clusters * bytes_of_a_cluster > MEMORY:
            raise InfeasibleError(
                f"algorithm 'loukides-shao' would need {clusters * bytes_of_a_cluster / 2**30:.1f} GiB for the values "
                f"in {clusters:,} clusters; give columns with many values a hierarchy of numbers or dates, or use "
                "'k-member'."
            )

    def _grown(self, task: Task, rows: DistinctRows, domains: Domains, sets: Sets) -> tuple[NDArray[np.int32], int]:
        """Labels, -1 for left-overs, and the number of clusters."""
        from kohort.kernels.algorithms import loukides_shao as kernels

        m, n = len(rows.codes), len(rows.order)
        threshold = -1 if self.threshold is None else math.floor(self.threshold * ONE)
        state = np.zeros(6, np.int64)
        state[kernels.RECORDS_LEFT] = n
        state[kernels.LIVE] = m
        labels = np.full(n, kernels.LEFT_OVER, np.int32)
        draws = task.rng.random(n)
        keys = np.empty(candidates(task.k), np.int64)
        bar, members = np.empty(1, np.int64), np.empty(n, np.int64)
        left, taken = rows.counts.astype(np.int32), np.zeros(m, np.int64)
        live = np.arange(m, dtype=np.int32)
        while kernels.grow_clusters(
            rows.codes, rows.first, domains, task.k, threshold, draws, WORK,
            sets, keys, bar, members, left, taken, live, state, labels,
        ):  # fmt: skip
            task.progress(1 - state[kernels.RECORDS_LEFT] / n)
        return labels, int(state[kernels.CLUSTERS])

    def _place(
        self,
        task: Task,
        codes: NDArray[np.int32],
        records: NDArray[np.int64],
        domains: Domains,
        sets: Sets,
        clusters: int,
        labels: NDArray[np.int32],
    ) -> None:
        """Suppress left-overs as far as it is allowed, and give the others to clusters."""
        from kohort.kernels.algorithms import loukides_shao as kernels

        value = kernels.values(domains, sets, clusters)
        step = max(1, WORK // clusters)
        if task.allowance:
            price = np.empty(len(records), np.int64)
            for start in range(0, len(records), step):
                some = slice(start, start + step)
                kernels.prices(codes[some], domains, sets, value, price[some])
            stay = np.sort(np.argsort(-price, kind="stable")[task.allowance :])
            codes, records = codes[stay], records[stay]
        for start in range(0, len(records), step):
            some = slice(start, start + step)
            found = np.empty(len(records[some]), np.int32)
            kernels.place(codes[some], domains, sets, value, found)
            labels[records[some]] = found
