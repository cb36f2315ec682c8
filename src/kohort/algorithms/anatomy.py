"""Anatomy: quasi-identifiers as they are, and apart from them the sensitive values of every bucket.

Xiao, Tao: Anatomy: simple and effective privacy preservation, VLDB 2006.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np
import polars as pl
from numpy.typing import NDArray
from typing_extensions import override

from kohort.algorithms.base import ALGORITHMS, Algorithm
from kohort.codes.boxes import Boxes, Solution
from kohort.codes.encode import Axis, Codes
from kohort.codes.publish import InTables, PublishedTable, shuffled
from kohort.errors import InfeasibleError
from kohort.policy import Policy
from kohort.search.task import Task

RESERVED = BUCKET, COUNT = "bucket", "count"
"""Columns that the release adds."""
TELL = 10_000
"""Buckets between two reports of progress."""


@ALGORITHMS.register("anatomy")
@dataclass(frozen=True)
class Anatomy(Algorithm):
    """Fill buckets with records of k different sensitive values each, and publish two tables.

    A bucket gets a random record of each of the k values that most of the remaining records have.
    When fewer than k values remain, each has one record left; it joins a random bucket that does
    not have its value.

    Notes
    -----
    k is the l of the paper. Time O(n log v) for v different sensitive values; memory O(n).

    Examples
    --------
    >>> import kohort
    >>> import polars as pl
    >>> policy = kohort.Policy.build(k=2, quasi_identifiers=["age"], sensitive=["ill"], algorithm="anatomy")
    >>> policy = policy.with_changes("privacy", anonymity="buckets")
    >>> table = pl.DataFrame({"age": [31, 64, 30, 66], "ill": ["flu", "flu", "cold", "cough"]})
    >>> release = kohort.anonymize(table, policy)
    >>> sorted(release.tables["quasi"]["age"]), release.tables["sensitive"].columns
    (['30', '31', '64', '66'], ['bucket', 'ill', 'count'])
    """

    summary = "exact quasi-identifiers, and apart from them the sensitive values of each bucket of k or more"
    paper = "Xiao and Tao, VLDB 2006"
    recoding = "none; two tables"
    guarantee = "buckets of k..2k-1 records, no two with the same sensitive value"
    complexity = "O(n log v) for v sensitive values"
    anonymity = "buckets"
    uses_sensitive = True

    @override
    def refuses(self, policy: Policy) -> list[str]:
        sensitive = policy.having_role("sensitive")
        faults = []
        if len(sensitive) != 1:
            faults.append(
                f"algorithm 'anatomy' works on one sensitive column and the policy has {len(sensitive)}; "
                "give one column the role 'sensitive', or choose another algorithm."
            )
        faults += [
            f"column {name!r} has the name of a column that a release in buckets adds; rename it in the table."
            for name in RESERVED
            if name in policy.columns
        ]
        if policy.output.suppressed == "starred":
            faults.append(
                "algorithm 'anatomy' cannot show suppressed records, as they have no bucket; "
                "set suppressed = 'withheld'."
            )
        return faults

    @override
    def tables(self, policy: Policy) -> tuple[str, ...]:
        return ("quasi", "sensitive")

    def solve(self, task: Task) -> Solution:
        """Put every record into a bucket."""
        assert task.sensitive is not None
        [axis] = task.sensitive.axes
        values = task.sensitive.array[:, 0]
        most = int(np.bincount(values).max())
        if most * task.k > len(values):
            raise InfeasibleError(
                f"k = {task.k} is impossible in buckets: one value of column {axis.name!r} has {most:,} of "
                f"{len(values):,} records; at most k = {len(values) // most} can be kept."
            )
        buckets = fill(values, task)
        exact = task.codes.array
        return InBuckets(Boxes(exact, exact), int(buckets.max()) + 1, buckets=buckets)


@dataclass(frozen=True, kw_only=True)
class InBuckets(InTables):
    """Quasi-identifiers as they are, and apart from them, for each bucket of records, its sensitive values."""

    buckets: NDArray[np.int32]
    """The bucket of every record."""

    @override
    def classes(self, axes: Sequence[Axis]) -> NDArray[np.integer]:
        return self.buckets

    @override
    def published(
        self, released: pl.DataFrame, kept: NDArray[np.int64], codes: Codes, policy: Policy
    ) -> list[PublishedTable]:
        [sensitive] = policy.having_role("sensitive")
        # Numbers of buckets reveal nothing: they are drawn afresh.
        names = shuffled(int(self.buckets.max()) + 1, policy, 2) + 1
        tagged = released.with_columns(pl.Series(BUCKET, names[self.buckets]))
        order = np.arange(len(kept)) if policy.output.order == "kept" else shuffled(len(kept), policy, 1)
        values = tagged.group_by(BUCKET, sensitive).agg(pl.len().alias(COUNT)).sort(BUCKET, sensitive)
        return [
            PublishedTable("quasi", tagged.drop(sensitive)[order], kept[order], policy),
            PublishedTable("sensitive", values, np.empty(0, np.int64), policy, beside="quasi"),
        ]


def fill(values: NDArray[np.int32], task: Task) -> NDArray[np.int32]:
    """Number the bucket of every record; no value may have more than 1/k of the records."""
    # The records of each value, in random order.
    drawn = task.rng.permutation(len(values))
    drawn = drawn[np.argsort(values[drawn], kind="stable")]
    counts = np.bincount(values)
    stops = np.cumsum(counts).tolist()
    buckets = np.empty(len(values), np.int32)
    remaining = [(-count, value) for value, count in enumerate(counts.tolist()) if count]
    heapify(remaining)
    number = 0
    while len(remaining) >= task.k:
        largest = [heappop(remaining) for _ in range(task.k)]
        for less, value in largest:
            buckets[drawn[stops[value] + less]] = number
            if less < -1:
                heappush(remaining, (less + 1, value))
        number += 1
        if number % TELL == 0:
            task.progress(number * task.k / len(values))
    for less, value in remaining:
        assert less == -1, "as no value is too frequent, one record of it is left at most"
        *others, last = drawn[stops[value] - counts[value] : stops[value]]
        without = np.setdiff1d(np.arange(number), buckets[others])
        buckets[last] = task.rng.choice(without)
    task.progress(1.0)
    return buckets
