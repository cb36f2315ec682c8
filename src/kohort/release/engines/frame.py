"""A table in memory: whole columns are encoded at once, so that faults name the rows that have them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohort.algorithms.auto import Auto
from kohort.codes.boxes import Boxes, Solution
from kohort.codes.encode import Axis, Codes, encode
from kohort.codes.population import coverages_of
from kohort.errors import InfeasibleError
from kohort.policy import Policy
from kohort.policy.sections import Role
from kohort.release.engines.divided import Divided
from kohort.release.engines.features import CUT, asked
from kohort.release.engines.job import Job
from kohort.release.engines.lookups import CODE, COUNT, OWN, Lookup
from kohort.release.engines.partition import task_of
from kohort.release.engines.sample import with_cuts
from kohort.release.engines.survey import Usable, refuse_own_names, survey, usable
from kohort.release.plan import Plan
from kohort.release.prepare import refuse_few_persons, spelled
from kohort.release.solve import Step, refuse_solution, solved
from kohort.search.persons import Work, persons_of
from kohort.table import Table, typed_columns, typed_quasi_identifiers

if TYPE_CHECKING:
    from kohort.search.task import Progress

LARGE = 1_000_000
"""Tables of fewer records are worked on at once, if nobody says how many partitions there are."""
RECORDS, CLASSES, ROWS = 150_000, 15_000, 20_000
"""What a partition of a larger one has at least: records, records in multiples of k, distinct rows (about)."""


@dataclass(frozen=True)
class FrameScan:
    """A table in memory, as the survey of an engine looks at it."""

    source: Table
    """As it was read."""
    kept: NDArray[np.int64]
    """Rows that take part, ascending: those with a missing quasi-identifier may not."""
    numbers: pl.DataFrame = field(default_factory=pl.DataFrame)
    """The engine's own columns, of these rows; apart, for a column of the table may have any name."""
    typed: pl.DataFrame = field(default_factory=pl.DataFrame)
    """The quasi-identifiers of all rows with their types, as soon as they are encoded."""

    @classmethod
    def of(cls, source: Table) -> FrameScan:
        """All rows of a table."""
        return cls(source, np.arange(source.frame.height))

    @property
    def records(self) -> int:
        """Number of records."""
        return len(self.kept)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all columns."""
        return tuple(self.source.frame.columns)

    @property
    def where(self) -> str:
        """Where the first record is that does not take part."""
        rest = np.setdiff1d(np.arange(self.source.frame.height), self.kept)
        return f" (first in row {rest[0] + 1})" if len(rest) else ""

    def distinct(self, columns: tuple[str, ...]) -> pl.DataFrame:
        """The distinct combinations of some columns, with the number of their records in the column COUNT."""
        refuse_own_names([name for name in columns if name in (COUNT, CODE)])
        inner = _inner(columns)
        found = self._of_kept(columns).group_by(inner, maintain_order=True).agg(pl.len().alias(COUNT))
        return found.rename(dict(zip(inner, columns, strict=True)))

    def counted(self, columns: Sequence[str], condition: str) -> pl.DataFrame:
        """The same of the engine's own columns, where a condition in SQL holds."""
        some = self.numbers.sql(f"SELECT * FROM self WHERE {condition}")
        return some.group_by(columns).agg(pl.len().alias(COUNT))

    def coded(self, lookups: Sequence[Lookup]) -> FrameScan:
        """The table with the numbers of some dictionaries, all of which know every value."""
        found = []
        for lookup in lookups:
            inner = _inner(lookup.columns)
            table = lookup.table.rename(dict(zip(lookup.columns, inner, strict=True)))
            records = self._of_kept(lookup.columns)
            joined = records.join(table, on=inner, how="left", nulls_equal=True, maintain_order="left")
            found.append(joined[CODE].alias(lookup.name))
        return self._with(found)

    def encoded(self, policy: Policy, role: Role) -> tuple[tuple[Axis, ...], FrameScan]:
        """The axes of all columns of a role, and the table with their codes.

        What is lost is a share of what the table holds, whoever takes part: axes are those of all records.
        """
        if role == "sensitive":
            names = policy.having_role(role)
            there = self._of_kept(names)
            values = [
                spelled(there[place].alias(name), policy) for place, name in zip(_inner(names), names, strict=True)
            ]
            codes = encode(typed_columns(pl.DataFrame(values), policy, role), policy, role)
            return codes.axes, self._with_codes(codes, role)
        if not policy.quasi_identifiers:
            # nothing but sets: all records are one class; a column of our own keeps their number
            return (), self._with([pl.Series(f"{OWN}nothing", np.zeros(self.records, np.int32))])
        frame = typed_quasi_identifiers(self.source.frame, policy, self.source.zones)
        typed = pl.DataFrame([frame[name] for name in policy.quasi_identifiers])
        codes = encode(typed, policy)
        missing = typed.select(pl.any_horizontal(pl.all().is_null())).to_series()
        if policy.privacy.missing in ("own-value", "wildcard") or not missing.any():
            return codes.axes, replace(self._with_codes(codes, role), typed=typed)
        kept = (~missing).arg_true().to_numpy().astype(np.int64)
        axes = tuple(replace(axis, has_missing=False) for axis in codes.axes)
        some = replace(self, kept=kept, typed=typed)
        return axes, some._with_codes(Codes(codes.array[kept], axes), role)

    def codes(self, axes: tuple[Axis, ...]) -> Codes:
        """The codes of the records that take part."""
        array = np.empty((self.records, len(axes)), np.int32)
        for j in range(len(axes)):
            array[:, j] = self.numbers[f"{OWN}quasi_{j}"].to_numpy()
        array.setflags(write=False)
        return Codes(array, axes)

    def content(self, columns: Sequence[str]) -> pl.DataFrame:
        """Some columns of the records that take part, and the engine's own."""
        return pl.concat([self._of_kept(columns), self.numbers], how="horizontal")

    def _with_codes(self, codes: Codes, role: Role) -> FrameScan:
        return self._with([pl.Series(f"{OWN}{role}_{j}", codes.array[:, j]) for j in range(len(codes.axes))])

    def _with(self, numbers: Sequence[pl.Series]) -> FrameScan:
        return replace(self, numbers=pl.DataFrame([*self.numbers, *numbers]))

    def _of_kept(self, columns: Sequence[str]) -> pl.DataFrame:
        """Some columns of the records that take part, under names of our own: a column may have any name."""
        frame = self.source.frame
        some = pl.DataFrame([frame[name].alias(own) for name, own in zip(columns, _inner(columns), strict=True)])
        return some[self.kept] if self.records < some.height else some


def _inner(columns: Sequence[str]) -> list[str]:
    return [f"c{place}" for place in range(len(columns))]


@dataclass(frozen=True)
class Loaded:
    """A table in memory that is ready to be worked on: one partition, in its own order."""

    job: Job
    scan: FrameScan
    work: Work

    @property
    def codes(self) -> Codes:
        """Codes of the records that take part."""
        return self.work.whole.codes


def loaded(
    plan: Plan,
    found: Usable[FrameScan],
    progress: Progress = lambda share: None,
    note: Callable[[str], None] = lambda text: None,
    threads: int = 0,
) -> Loaded:
    """Survey a table in memory, and make the task of all its usable records.

    Parameters
    ----------
    threads : int
        Of a search; all cores when 0.
    """
    policy = plan.policy
    job, scan = survey(plan, found)
    persons = persons_of(scan.source.frame, scan.kept, policy)
    if persons is not None:
        refuse_few_persons(plan, int(persons.max()) + 1)
    task = task_of(job, scan.numbers, progress=progress, note=note, threads=threads)
    people = scan.typed[scan.kept] if found.without else scan.typed
    task = replace(task, coverages=coverages_of(policy, plan.models, people, task.codes))
    return Loaded(job, scan, Work(task, persons))


def usable_of(source: Table, policy: Policy) -> Usable[FrameScan]:
    """The records of a table in memory that take part; refused if too many do not."""
    return usable(policy, FrameScan.of(source), source.name)


def solution_of(
    table: Loaded, records: int, partitions: int | None = None, step: Step = lambda name: nullcontext()
) -> Solution:
    """What the plan's algorithm makes of a table in memory, with every promise kept.

    Parameters
    ----------
    records : int
        All records of the table.
    partitions : int, optional
        The largest number of partitions; as many as suit the table when absent.
    """
    job = table.job
    if not job.axes:
        return Solution(Boxes(table.codes.array, table.codes.array), 1)
    parts = suitable(table) if partitions is None else partitions
    if parts > 1:
        with step("divide"):
            job = with_cuts(job, lambda condition: table.scan.counted(job.code_columns, condition), parts=parts)
    if len(job.cuts.parts) > 1:
        # What partitions cannot keep, together or each for itself, the whole table may.
        with suppress(InfeasibleError), step("cluster"):
            solution = Divided.of(job, table).solution()
            refuse_solution(solution.suppressed, job.records, records, job.policy)
            return solution
    return solved(job.plan, table.work, records, step)


def suitable(table: Loaded) -> int:
    """How many partitions suit a table; it has nothing to do with the machine."""
    job = table.job
    if job.records < LARGE or not isinstance(job.plan.algorithm, Auto) or asked(CUT, job.plan):
        return 1
    return min(job.records // max(RECORDS, CLASSES * job.k), len(table.codes.distinct.counts) // ROWS)
