"""A table in memory, seen as an engine sees one that is not: the plainest way to run a job in parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from kohort.errors import InfeasibleError
from kohort.release.engines.job import KEY, PART
from kohort.release.engines.joining import Stock, joined, settled
from kohort.release.engines.lookups import CODE, COUNT, OWN, Lookup
from kohort.release.engines.part import release_others, release_part
from kohort.release.engines.sample import with_cuts
from kohort.release.engines.survey import refuse_parts, survey
from kohort.release.plan import plan_of


@dataclass(frozen=True)
class FrameScan:
    frame: pl.DataFrame
    columns: tuple[str, ...] = ()

    @property
    def records(self) -> int:
        return self.frame.height

    def distinct(self, columns):
        return self.frame.group_by(columns).agg(pl.len().alias(COUNT))

    def counted(self, columns: Sequence[str], condition: str):
        return self.frame.sql(f"SELECT * FROM self WHERE {condition}").group_by(columns).agg(pl.len().alias(COUNT))

    def coded(self, lookups: Sequence[Lookup]):
        frame = self.frame
        for lookup in lookups:
            numbers = lookup.table.rename({CODE: lookup.name})
            frame = frame.join(numbers, on=lookup.columns, how="left", nulls_equal=True, maintain_order="left")
        return replace(self, frame=frame.drop_nulls([lookup.name for lookup in lookups]))


def released_in_parts(frame, policy, parts):
    """All published rows of a table that is worked on in parts, in their order; and the job."""
    plan = plan_of(policy)
    refuse_parts(plan)
    job, scan = survey(plan, FrameScan(frame, tuple(frame.columns)))
    job = with_cuts(job, lambda condition: scan.counted(job.code_columns, condition), parts=parts)
    codes = scan.frame.select(job.code_columns).to_numpy()
    leaves = scan.frame.with_columns(pl.Series(PART, job.cuts.route(codes)))
    stock = Stock.of(job, lambda columns: leaves.group_by(PART, *columns).agg(pl.len().alias(COUNT)))
    own = [name for name in scan.frame.columns if name.startswith(OWN)]
    pieces = {}

    def trial(job, some):
        route = job.cuts.route(codes)
        faults = {}
        for part in some:
            rows = scan.frame.filter(pl.Series(route == part)).select(*job.carried, *own)
            try:
                pieces[part] = release_part(rows, job, part).released
            except InfeasibleError as error:
                faults[part] = error
        return faults

    job = settled(joined(job, stock), stock, trial)
    shown = [pieces[part] for part in job.cuts.parts]
    if policy.output.suppressed == "starred" and policy.privacy.missing == "suppress":
        others = frame.filter(pl.any_horizontal(pl.col(policy.quasi_identifiers).is_null()))
        shown.append(release_others(others, job, shown[0].drop(KEY)).select(shown[0].columns))
    return pl.concat(shown).sort(KEY).drop(KEY).rows(), job


def parts_of(frame, policy, job, column):
    """The part of each record that takes part, by the value that it has in a column."""
    scan = survey(plan_of(policy), FrameScan(frame, tuple(frame.columns)))[1]
    parts = job.cuts.route(scan.frame.select(job.code_columns).to_numpy())
    return dict(zip(scan.frame[column].to_list(), parts.tolist(), strict=True))
