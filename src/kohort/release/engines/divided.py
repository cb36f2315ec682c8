"""A table in memory that is cut into partitions, which are worked on side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohort.codes.boxes import Boxes, Solution
from kohort.common import stopping
from kohort.errors import InfeasibleError, Interrupted
from kohort.release.engines.job import PART, Job, facts_of
from kohort.release.engines.joining import Stock, joined, settled
from kohort.release.engines.lookups import COUNT
from kohort.release.engines.parallel import side_by_side
from kohort.release.engines.partition import order_of, task_of
from kohort.release.solve import solved
from kohort.search.effort import STOPPED
from kohort.search.persons import Work

if TYPE_CHECKING:
    from kohort.release.engines.frame import Loaded


@dataclass
class Divided:
    """Work on the partitions of a table in memory.

    Attributes
    ----------
    leaves : array of int32
        The leaf of the cuts that each record is in.
    content : DataFrame
        What is published of each record, and its numbers.
    found : dict
        For each partition that is done, its records and what became of them.
    """

    job: Job
    table: Loaded
    leaves: NDArray[np.int32]
    content: pl.DataFrame
    found: dict[int, tuple[NDArray[np.int64], Solution]] = field(default_factory=dict)
    stopped: bool = False

    @classmethod
    def of(cls, job: Job, table: Loaded) -> Divided:
        """A table, and a job with cuts."""
        return cls(job, table, job.cuts.route(table.codes.array), table.scan.content(job.carried))

    def solution(self) -> Solution:
        """The solutions of all partitions as one; partitions that cannot keep a promise are joined with others."""
        stock = Stock.of(self.job, self._counted)

        def trial(job: Job, parts: list[int]) -> Mapping[int, InfeasibleError]:
            sizes = {part: stock.size(leaves) for part, leaves in job.cuts.groups.items()}
            return self._failures(job, parts, sizes)

        done = settled(joined(self.job, stock), stock, trial)
        return self._together([self.found[part] for part in done.cuts.parts])

    def _counted(self, columns: Sequence[str]) -> pl.DataFrame:
        """Records of each leaf, or of each value of some own columns in it."""
        numbers = self.table.scan.numbers.select(pl.Series(PART, self.leaves), *columns)
        return numbers.group_by(PART, *columns).agg(pl.len().cast(pl.Int64).alias(COUNT))

    def _failures(self, job: Job, parts: list[int], sizes: Mapping[int, int]) -> dict[int, InfeasibleError]:
        """Work on some partitions; the faults of those that cannot keep a promise.

        Ctrl-C ends the searches with what they have found; partitions whose turn was still to come are not searched.
        """
        for part in parts:
            self.found.pop(part, None)
        if not self.stopped:
            try:
                return side_by_side(partial(self._work, job), parts, sizes, self.table.work.whole.progress)
            except (KeyboardInterrupt, Interrupted):
                if not job.plan.algorithm.searches:
                    raise
                stopping.forgive()
                self.stopped = True
        rest = [part for part in parts if part not in self.found]
        return side_by_side(
            lambda part, _, threads: self._work(job, part, _stop, threads), rest, sizes, lambda share: None
        )

    def _work(self, job: Job, part: int, progress: Callable[[float], None], threads: int) -> None:
        rows = np.flatnonzero(np.isin(self.leaves, job.cuts.groups[part]))
        rows = rows[order_of(self.content[rows], rows)]
        numbers = self.table.scan.numbers[rows]

        def of_part(share: float) -> None:
            if share < 1:  # a search that was stopped reports its end, too
                progress(share)

        task = task_of(job, numbers, part, progress=of_part, threads=threads)
        self.found[part] = rows, solved(job.plan, Work(task), None)

    def _together(self, found: Sequence[tuple[NDArray[np.int64], Solution]]) -> Solution:
        """The solutions of all partitions as one."""
        codes = self.table.codes.array
        boxes, kept = Boxes(np.empty_like(codes), np.empty_like(codes)), np.ones(len(codes), bool)
        for rows, one in found:
            boxes.lo[rows], boxes.hi[rows] = one.boxes.lo, one.boxes.hi
            if one.kept is not None:
                kept[rows] = one.kept
        facts = facts_of(len(found)) | _alike([one.facts for _, one in found])
        if self.stopped:
            facts |= {"local search": STOPPED}
        return Solution(boxes, sum(one.clusters for _, one in found), None if kept.all() else kept, facts)


def _stop(share: float) -> None:
    raise Interrupted


def _alike(facts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What all partitions report alike."""
    first, *others = facts
    return {name: value for name, value in first.items() if all(one.get(name) == value for one in others)}
