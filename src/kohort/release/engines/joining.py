"""Partitions that cannot keep a promise alone are joined with others, so that what the whole table can keep is kept.

Values may lie so that a partition has too many of one. What is known from counts is joined before any work; where only
work on a partition shows, partitions that fail are joined and tried again. The rule knows counts and failures alone, so
partitions are the same on every engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohort.errors import InfeasibleError
from kohort.privacy import Histogram, Promise
from kohort.release.engines.job import PART, Job
from kohort.release.engines.lookups import COUNT

LEAST_CLASSES = 5
"""Partitions with fewer records, in multiples of k, are joined with others."""

Counted = Callable[[Sequence[str]], pl.DataFrame]
"""Records of each leaf of the cuts, in PART, and value of some own columns; their number in the column COUNT."""
Trial = Callable[[Job, list[int]], Mapping[int, InfeasibleError]]
"""Works on some partitions, and gives the faults of those that cannot keep a promise."""


@dataclass(frozen=True)
class Stock:
    """What the leaves of the cuts hold."""

    job: Job
    records: Mapping[int, int]
    """Of each leaf."""
    values: Mapping[str, Mapping[int, tuple[NDArray[np.int64], NDArray[np.int64]]]]
    """For each column with numbers of sensitive values: those of each leaf, and how often they occur in it."""

    @classmethod
    def of(cls, job: Job, counted: Counted) -> Stock:
        """Count what the leaves of a job's cuts hold."""
        found = counted([])
        columns = {promise.column: counted([promise.column]) for promise in job.promises}
        values = {
            name: {
                int(part): (some[name].to_numpy().astype(np.int64), some[COUNT].to_numpy().astype(np.int64))
                for (part,), some in frame.partition_by(PART, as_dict=True).items()
            }
            for name, frame in columns.items()
        }
        return cls(job, dict(zip(found[PART].to_list(), found[COUNT].to_list(), strict=True)), values)

    @property
    def needs_trial(self) -> bool:
        """Whether counts alone do not show that every partition keeps every promise."""
        return len(self._known) < len(self.job.promises)

    def size(self, leaves: Sequence[int]) -> int:
        """Records of some leaves."""
        return sum(self.records.get(leaf, 0) for leaf in leaves)

    def fits(self, leaves: Sequence[int]) -> bool:
        """Whether some leaves have records enough, and can keep what counts can decide."""
        return self.size(leaves) >= LEAST_CLASSES * self.job.k and self.keeps(leaves)

    def keeps(self, leaves: Sequence[int]) -> bool:
        """Whether some leaves can keep what counts can decide."""
        return all(self._keeps(promise, leaves) for promise in self._known)

    @cached_property
    def _known(self) -> list[Promise]:
        """Promises that a partition can keep if, and only if, it does so as one class.

        So it is if merging never harms. A promise that the whole table breaks as one class is none of them: it can be
        kept by suppressing records alone, and which, only work shows.
        """
        return [one for one in self.job.promises if one.model.monotone and self._keeps(one, list(self.records))]

    def _keeps(self, promise: Promise, leaves: Sequence[int]) -> bool:
        """Whether some leaves keep a promise as one class."""
        held = [self.values[promise.column][leaf] for leaf in leaves if leaf in self.values[promise.column]]
        values, counts = (np.concatenate([pair[side] for pair in held]) for side in range(2))
        one = Histogram.of_pairs(np.zeros(len(values), np.int64), values, counts)
        return bool(promise.model.keeps(one, promise.table).all())


def joined(job: Job, stock: Stock, failed: Sequence[int] = ()) -> Job:
    """The job with partitions joined that do not fit, or have failed."""
    groups = job.cuts.groups
    tried = {groups[part] for part in failed}
    return replace(job, cuts=job.cuts.joined(stock.records, lambda some: some not in tried and stock.fits(some)))


def settled(job: Job, stock: Stock, trial: Trial) -> Job:
    """The job with partitions joined until work on all of them succeeds.

    Parameters
    ----------
    job : Job
        Whose partitions fit.
    trial : callable
        Called with the job, and the partitions that are new in it.

    Raises
    ------
    InfeasibleError
        When the whole table cannot keep a promise, either.
    """
    fresh = job.cuts.parts
    while faults := trial(job, fresh):
        if len(job.cuts.parts) == 1:
            [fault] = faults.values()
            raise fault
        before, job = job.cuts.groups, joined(job, stock, sorted(faults))
        fresh = [part for part, leaves in sorted(job.cuts.groups.items()) if before.get(part) != leaves]
    return job
