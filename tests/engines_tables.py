"""A table in memory, seen as an engine sees one that is not: the plainest way to run a job in parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from kohort.engines.lookups import CODE, COUNT, OWN, Lookup
from kohort.engines.part import release_part
from kohort.engines.sample import with_cuts
from kohort.engines.survey import refuse_parts, survey
from kohort.planning import plan_of


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
    """All published rows of a table that is worked on in parts, sorted; and the job."""
    plan = plan_of(policy)
    refuse_parts(plan)
    job, scan = survey(plan, FrameScan(frame, tuple(frame.columns)))
    job = with_cuts(job, lambda condition: scan.counted(job.code_columns, condition), parts=parts)
    route = job.cuts.route(scan.frame.select(job.code_columns).to_numpy())
    sizes = dict(enumerate(np.bincount(route).tolist()))
    job = replace(job, cuts=job.cuts.joined(sizes, 5 * job.k))
    route = job.cuts.route(scan.frame.select(job.code_columns).to_numpy())
    own = [name for name in scan.frame.columns if name.startswith(OWN)]
    frame = scan.frame.select(*job.carried, *own)
    pieces = [release_part(frame.filter(pl.Series(route == part)), job, part) for part in job.cuts.parts]
    rows = [row for piece in pieces for row in (*piece.released.rows(), *piece.withheld.rows())]
    return sorted(rows, key=repr), job
