"""A table in Spark, as the survey of an engine looks at it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import polars as pl
from pyspark.sql import functions as F
from pyspark.sql.types import TimestampType
from typing_extensions import override

from kohort.errors import DataError
from kohort.release.engines.lookups import CODE, COUNT, ByLookups, Lookup
from kohort.table.words import called, listed, namesakes, no_name, unusable
from kohort.table.zones import UTC

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class SparkScan(ByLookups):
    """A table in Spark whose columns are called c0, c1, ... in it, for names may differ in case alone or hold dots."""

    frame: DataFrame
    """These columns, and the engine's own."""
    columns: tuple[str, ...]
    rest: DataFrame | None = None
    """Records that were left out because they have no number in some dictionary."""
    where: str = ""

    def place(self, column: str) -> str:
        """What a column is called in the frame."""
        return f"c{self.columns.index(column)}"

    @cached_property
    def records(self) -> int:
        """Number of records."""
        return self.frame.count()

    @override
    def distinct(self, columns: tuple[str, ...]) -> pl.DataFrame:
        return counted(self.frame, [self.place(column) for column in columns]).rename(
            {self.place(column): column for column in columns}
        )

    def counted(self, columns: Sequence[str], condition: str) -> pl.DataFrame:
        """The distinct combinations of some of the engine's own columns, where a condition in SQL holds."""
        return counted(self.frame.filter(condition), columns)

    @override
    def coded(self, lookups: Sequence[Lookup]) -> Self:
        frame = self.frame
        for lookup in lookups:
            values = [f"{lookup.name}_{number}" for number in range(len(lookup.columns))]
            named = lookup.table.select(*lookup.columns, CODE).to_arrow(compat_level=pl.CompatLevel.oldest())
            table = self.frame.sparkSession.createDataFrame(named).toDF(*values, lookup.name)
            same = F.lit(True)
            for column, value in zip(lookup.columns, values, strict=True):
                same = same & F.col(self.place(column)).eqNullSafe(F.col(value))
            frame = frame.join(table, same, "left").drop(*values)
        known = F.lit(True)
        for lookup in lookups:
            known = known & F.col(lookup.name).isNotNull()
        rest = self.rest if self.rest is not None else frame.filter(~known)
        return replace(self, frame=frame.filter(known), rest=rest)


def scan_of(table: DataFrame, known: Collection[str] = ()) -> SparkScan:
    """Look at a table in Spark; messages name the known columns.

    Raises
    ------
    DataError
        When two columns have the same name, or a column holds what cannot be published.
    """
    columns = tuple(table.columns)
    if nameless := [place for place, name in enumerate(columns, 1) if not name.strip()]:
        raise DataError(f"the table: {no_name(nameless)}")
    DataError.refuse(
        f"the table: columns {listed(same)} have the same name; rename all but one."
        for same in namesakes(columns).values()
    )
    frame = table.toDF(*(f"c{number}" for number in range(len(columns))))
    kinds = _polars(frame.limit(0)).schema
    faults = [
        f"the table: {called(name, place, known)} holds {fault}."
        for place, (name, kind) in enumerate(zip(columns, kinds.values(), strict=True), 1)
        if (fault := unusable(kind))
    ]
    faults += _elsewhere(table, known)
    DataError.refuse(faults)
    return SparkScan(frame, columns)


def _elsewhere(table: DataFrame, known: Collection[str]) -> list[str]:
    """Columns of moments in a session of another zone than UTC: workers would have other days than the session."""
    if table.sparkSession.conf.get("spark.sql.session.timeZone") == UTC:
        return []
    return [
        f"the table: {called(field.name, place, known)} holds moments, and the zone of the session is not UTC; cast it "
        "to date or timestamp_ntz, or set spark.sql.session.timeZone to UTC."
        for place, field in enumerate(table.schema.fields, 1)
        if isinstance(field.dataType, TimestampType)
    ]


def counted(frame: DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """The distinct combinations of some columns of a frame, with the number of their rows in the column COUNT."""
    return _polars(frame.groupBy(*columns).agg(F.count(F.lit(1)).alias(COUNT)))


def _polars(frame: DataFrame) -> pl.DataFrame:
    found = pl.from_arrow(frame.toArrow())
    assert isinstance(found, pl.DataFrame)
    return found
