"""A table in memory, seen as an engine sees one that is not: the plainest way to run a job in parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from kohort.engines.lookups import CODE, COUNT, Lookup


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
