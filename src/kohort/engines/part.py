"""Work on one part of a table: cluster, recode, and count what is lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohort.algorithms import Task
from kohort.encode import STAR, Codes
from kohort.enforcing import enforced
from kohort.engines.job import PART, ROW, Job
from kohort.errors import InfeasibleError
from kohort.measures.loss import Loss, loss_of_solution
from kohort.privacy import Promise
from kohort.pseudonyms import with_pseudonyms
from kohort.recode import publish, starred
from kohort.refining import refined_solution
from kohort.solution import Solution


@dataclass(frozen=True)
class Tally:
    """What is counted in every part and added up over all of them."""

    records: int
    suppressed: int
    """Records that the algorithm withheld."""
    clusters: int
    stars: int
    """Published records with `*` in every quasi-identifier."""
    lost: tuple[float, ...]
    """Sum over all records of what each column loses."""

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.records + other.records,
            self.suppressed + other.suppressed,
            self.clusters + other.clusters,
            self.stars + other.stars,
            tuple(map(add, self.lost, other.lost)),
        )

    @staticmethod
    def total(tallies: Sequence[Tally]) -> Tally:
        """All of them together, added in their order."""
        return reduce(add, tallies)

    def loss(self, job: Job, others: int) -> Loss:
        """The loss of the whole table, in which other records are suppressed."""
        n = self.records + others
        by_column = {axis.name: (lost + others) / n for axis, lost in zip(job.axes, self.lost, strict=True)}
        return Loss.of_columns(by_column, {axis.name: axis.weight for axis in job.axes}, job.plan.measure.name)


@dataclass(frozen=True)
class Piece:
    """What becomes of a part."""

    released: pl.DataFrame
    rows: NDArray[np.int64]
    """The record of the part, counted from 0, that each row shows."""
    withheld: pl.DataFrame
    """Suppressed records as they are shown, if they are; to be mixed with those of all other parts."""
    withheld_rows: NDArray[np.int64]
    tally: Tally


def release_part(
    frame: pl.DataFrame,
    job: Job,
    part: int,
    progress: Callable[[float], None] = lambda share: None,
    threads: int = 0,
) -> Piece:
    """Make the rows of one part that are published.

    The result depends on the records, the job and the number of the part; not on the order of the records, on where
    it runs, or on how often it is run.

    Parameters
    ----------
    frame : DataFrame
        `Job.columns` as read, those of quasi-identifiers may be left out; and the engine's own: codes and numbers of
        sensitive values, 32-bit integers.
    threads : int
        All cores when 0.
    """
    content = [name for name in frame.columns if name not in (ROW, PART)]
    order = frame.select(content).hash_rows().arg_sort().to_numpy()
    frame = frame[order]
    task = _task(frame, job, part, progress, threads)
    try:
        solution = enforced(task, job.plan.algorithm.solve(task))
        if job.policy.algorithm.refine:
            solution = enforced(task, refined_solution(task, solution))
    except InfeasibleError as error:
        raise InfeasibleError(
            *(
                f"in one of {len(job.cuts.parts)} parts: {fault} Or give more memory, for fewer parts."
                for fault in error.faults
            )
        ) from None
    # Quasi-identifiers are published from their codes; what they were need not be here.
    table = frame.select(pl.col(name) if name in content else pl.lit(None).alias(name) for name in job.columns)
    return _published(table, order, task.codes, solution, job, part)


def _task(frame: pl.DataFrame, job: Job, part: int, progress: Callable[[float], None], threads: int) -> Task:
    plan = job.plan
    sensitive = Codes(_array(frame, job.sensitive_columns), job.sensitive) if job.sensitive else None
    share = frame.height / job.records
    seconds = job.policy.algorithm.seconds
    return Task(
        codes=Codes(_array(frame, job.code_columns), job.axes),
        measure=plan.measure,
        costs=job.costs,
        k=job.k,
        rng=np.random.default_rng([plan.seed, 1, part]),
        progress=progress,
        sensitive=sensitive,
        promises=tuple(
            Promise(pledge.model, pledge.table, frame[pledge.column].to_numpy().astype(np.int64))
            for pledge in job.pledges
        ),
        allowance=int(job.allowance * share),
        seconds=None if seconds is None else seconds * share,
        records=job.records,
        threads=threads,
    )


def _array(frame: pl.DataFrame, columns: list[str]) -> NDArray[np.int32]:
    array = np.ascontiguousarray(np.column_stack([frame[name].to_numpy() for name in columns]), np.int32)
    array.setflags(write=False)
    return array


def _published(
    table: pl.DataFrame, order: NDArray[np.int64], codes: Codes, solution: Solution, job: Job, part: int
) -> Piece:
    policy = job.policy
    named = with_pseudonyms(table, policy, job.secret)
    kept = np.ones(len(order), bool) if solution.kept is None else solution.kept
    boxes = solution.boxes.of(kept)
    released = publish(named.filter(pl.Series(kept)), codes, boxes, policy.dropped, bounds=policy.output.bounds)
    rows, hidden = order[kept], order[~kept]
    withheld = released.clear()
    if policy.output.suppressed == "starred":
        withheld = starred(named.filter(pl.Series(~kept)), released, policy.quasi_identifiers)
    if policy.output.order != "kept":
        mixed = np.random.default_rng([job.shuffle, part]).permutation(len(rows))
        released, rows = released[mixed], rows[mixed]
    stars = released.select(pl.all_horizontal(pl.col(policy.quasi_identifiers) == STAR).sum()).item()
    loss = loss_of_solution(job.plan.measure, codes, solution)
    lost = tuple(loss.by_column[axis.name] * len(order) for axis in job.axes)
    tally = Tally(len(order), solution.suppressed, solution.clusters, int(stars or 0), lost)
    return Piece(released, rows, withheld, hidden, tally)
