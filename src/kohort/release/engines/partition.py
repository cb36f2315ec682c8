"""Work on one partition of a table: cluster, recode, and count what became of its records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohort.codes.boxes import Solution
from kohort.codes.encode import Codes
from kohort.codes.publish import recoded, starred, starred_rows
from kohort.release.engines.job import KEY, PART, ROW, Job
from kohort.release.pseudonyms import with_pseudonyms
from kohort.release.solve import solved
from kohort.search.persons import Work
from kohort.search.task import Task
from kohort.table.frames import plain_values
from kohort.table.zones import placed

MOST_KEY = 2**63
"""Keys are drawn below it: two rows with the same are next to impossible."""


@dataclass(frozen=True)
class Tally:
    """What is counted in every partition and added up over all of them."""

    records: int
    suppressed: int
    """Records that the algorithm suppressed."""
    clusters: int
    stars: int
    """Published records with `*` in every quasi-identifier."""

    @staticmethod
    def total(tallies: Sequence[Tally]) -> Tally:
        """All of them together."""
        return Tally(*map(sum, zip(*map(astuple, tallies), strict=True)))


@dataclass(frozen=True)
class Piece:
    """What becomes of a partition."""

    released: pl.DataFrame
    """Published rows, suppressed records among them if they are shown; and KEY, by which the rows of all partitions are
    mixed: the place of a row must not reveal its partition."""
    rows: NDArray[np.int64]
    """The record of the partition, counted from 0, that each row shows."""
    tally: Tally


def release_partition(
    frame: pl.DataFrame,
    job: Job,
    part: int,
    progress: Callable[[float], None] = lambda share: None,
    threads: int = 0,
) -> Piece:
    """Make the rows of one partition that are published.

    The result depends on the records, the job and the number of the partition; not on the order in which the records
    come, on where it runs, or on how often it is run.

    Parameters
    ----------
    frame : DataFrame
        `Job.columns` as read, those of quasi-identifiers may be left out; and the engine's own: codes and numbers of
        sensitive values, 32-bit integers; and ROW, where it matters which of several equal records a row shows.
    threads : int
        All cores when 0.

    Raises
    ------
    InfeasibleError
        When the partition alone cannot keep a promise.
    """
    frame = placed(plain_values(frame), job.zones)
    content = [name for name in frame.columns if name not in (ROW, PART)]
    turns = frame[ROW].to_numpy() if ROW in frame.columns else np.arange(frame.height)
    order = order_of(frame.select(content), turns)
    frame = frame[order]
    task = task_of(job, frame, part, progress=progress, threads=threads)
    solution = solved(job.plan, Work(task), None)
    # Quasi-identifiers are published from their codes; what they were need not be here.
    absent = [pl.lit(None).alias(name) for name in job.columns if name not in content]
    table = frame.with_columns(absent).select(job.columns)
    return _published(table, order, task.codes, solution, job, part)


def order_of(content: pl.DataFrame, turns: NDArray[np.int64]) -> NDArray[np.int64]:
    """The records of a partition sorted by a hash of all they hold: the order in which they came is forgotten.

    Equal records need not share a class, so which is which is not left to chance: their turns decide.
    """
    return np.lexsort((turns, content.hash_rows().to_numpy()))


def task_of(
    job: Job,
    frame: pl.DataFrame,
    part: int | None = None,
    *,
    progress: Callable[[float], None] = lambda share: None,
    note: Callable[[str], None] = lambda text: None,
    threads: int = 0,
) -> Task:
    """What the algorithm works on in one partition of a table.

    Parameters
    ----------
    frame : DataFrame
        The engine's own columns: codes and numbers of sensitive values.
    part : int or None
        Number of the partition; None for the whole table in its own order.
    """
    plan = job.plan
    sensitive = Codes(_array(frame, job.sensitive_columns), job.sensitive) if job.sensitive else None
    share = frame.height / job.records
    seconds = job.policy.algorithm.seconds
    # What is suppressed in one partition changes the table that classes of all partitions are compared with.
    compares = share < 1 and any(promise.model.compares for promise in job.promises)
    return Task(
        codes=Codes(_array(frame, job.code_columns), job.axes),
        measure=plan.measure,
        costs=job.costs,
        k=job.k,
        rng=np.random.default_rng(plan.seed if part is None else [plan.seed, 1, part]),
        progress=progress,
        sensitive=sensitive,
        promises=tuple(promise.of_records(frame[promise.column].to_numpy()) for promise in job.promises),
        allowance=0 if compares else job.allowance * frame.height // job.records,
        seconds=None if seconds is None else seconds * share,
        records=job.records if share < 1 else 0,
        threads=threads,
        note=note,
    )


def _array(frame: pl.DataFrame, columns: list[str]) -> NDArray[np.int32]:
    array = np.empty((frame.height, len(columns)), np.int32)
    for j, name in enumerate(columns):
        array[:, j] = frame[name].to_numpy()
    array.setflags(write=False)
    return array


def _published(
    table: pl.DataFrame, order: NDArray[np.int64], codes: Codes, solution: Solution, job: Job, part: int
) -> Piece:
    policy = job.policy
    named = with_pseudonyms(table, policy, job.secret)
    kept = np.arange(len(order)) if solution.kept is None else np.flatnonzero(solution.kept)
    released, shown = recoded(named, kept, codes, solution.boxes.of(kept), policy)
    stars = starred_rows(released[: len(kept)], policy.quasi_identifiers)
    keys = np.random.default_rng([job.shuffle, part]).integers(MOST_KEY, size=len(order))
    tally = Tally(len(order), solution.suppressed, solution.clusters, stars)
    return Piece(released.with_columns(pl.Series(KEY, keys[shown])), order[shown], tally)


def release_others(frame: pl.DataFrame, job: Job, like: pl.DataFrame) -> pl.DataFrame:
    """Make the rows of records that do not take part, with `*` in every quasi-identifier; and KEY.

    A key depends on what is published of a record, and on how many records with the same came before: so the rows and
    their keys are the same, in whatever pieces and order the records arrive, as long as like ones arrive together.

    Parameters
    ----------
    frame : DataFrame
        `Job.carried` as read, and any of the engine's own columns: where nothing is carried, these say how many
        records there are.
    like : DataFrame
        Any rows of the release, or none: their columns and types.
    """
    frame = placed(plain_values(frame), job.zones)
    named = with_pseudonyms(frame, job.policy, job.secret)
    turn = pl.int_range(pl.len(), dtype=pl.Int64)
    numbered = frame.select(*job.carried, (turn.over(job.carried) if job.carried else turn).alias(KEY))
    keys = _mixed(numbered.hash_rows(seed=job.shuffle).to_numpy() ^ _mixed(np.array([job.shuffle], np.uint64)))
    hidden = starred(named, like, job.policy.quasi_identifiers)
    return hidden.with_columns(pl.Series(KEY, (keys >> np.uint64(1)).astype(np.int64)))


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers whose bits depend on all bits of the given ones (the finalizer of splitmix64)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    return numbers ^ (numbers >> np.uint64(31))
