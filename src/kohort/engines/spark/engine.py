"""A table in Spark, made k-anonymous part by part.

The driver surveys the table: dictionaries of its columns, and the cuts between its parts. Workers then release each
part alone, by the same functions as the other engines. What a part becomes depends on its records and the seed, so a
task that is run again gives the same rows. Only what Spark Connect has, too, is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, StructField, StructType

from kohort.encode import STAR
from kohort.engines.job import PART, Job
from kohort.engines.lookups import OWN
from kohort.engines.part import release_part
from kohort.engines.sample import with_cuts
from kohort.engines.spark.faults import telling
from kohort.engines.spark.scan import SparkScan, scan_of
from kohort.engines.spark.verify import refuse_promises
from kohort.engines.survey import refuse_parts, survey
from kohort.errors import DataError, PolicyError
from kohort.planning import Plan, plan_of
from kohort.policy import Policy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

RECORDS = 50_000
"""Records of a part, if nobody says how many parts there are."""
FEWEST_CLASSES = 5
"""A part of fewer than so many times k records is joined with another."""
KEY = f"{OWN}key"
"""Column of random numbers that the rows are mixed by."""


@dataclass(frozen=True)
class Prepared:
    """A table in Spark that is ready to be released."""

    job: Job
    scan: SparkScan
    """The records that take part, with their numbers and the column PART."""
    parts: int

    def released(self) -> DataFrame:
        """The release, worked out when it is used."""
        names = [name for name in self.scan.columns if name not in self.job.policy.dropped]
        source = self.scan.frame.select(
            *(self.scan.place(name) for name in names), *_own(self.job), F.col(PART).cast("int").alias(PART)
        )
        schema = _schema(source, names, self.job.policy)
        work = _work(self.job, names)
        # With a number, partitions stay as they are; Spark would else join those of few bytes, however much work.
        grouped = source.repartition(self.parts, PART).groupBy(PART)
        released = grouped.applyInArrow(work, schema)
        policy = self.job.policy
        if policy.output.suppressed == "withheld" or policy.privacy.suppression_limit == 0:
            return released.drop(KEY)
        return _mixed(released, self._others(names, schema), self.parts)

    def _others(self, names: Sequence[str], schema: StructType) -> DataFrame | None:
        """Records that do not take part as they are shown: `*` in every quasi-identifier."""
        if self.job.policy.privacy.missing != "suppress" or self.scan.rest is None:
            return None
        quasi = self.job.policy.quasi_identifiers
        cells = [
            F.lit(STAR).alias(field.name) if name in quasi else F.col(self.scan.place(name)).alias(field.name)
            for name, field in zip(names, schema.fields, strict=False)
        ]
        key = F.xxhash64(F.lit(self.job.shuffle), *_places(self.scan)).bitwiseAND(F.lit(2**63 - 1))
        return self.scan.rest.select(*cells, key.alias(KEY))


def anonymize(table: DataFrame, policy: Policy | str | Path, *, partitions: int | None = None) -> DataFrame:
    """Turn a table about people in Spark into one that keeps the promise of its policy.

    The table is looked at at once, several times: persist it if it is dear to work out. The release is worked out when
    it is used. Write it, read it again, and check that by `verify`: nothing is verified before.

    Parameters
    ----------
    table : DataFrame
        Of a session of any kind, also of Spark Connect.
    policy : Policy or path
        What is promised about which column.
    partitions : int, optional
        Parts that are worked on alone; without it, one for each 50,000 records. Classes lie within a part, so the
        release depends on their number, but not on the machines.

    Returns
    -------
    DataFrame
        The published columns, in the order of the table; rows in no order.

    Raises
    ------
    PolicyError, DataError
        When policy or table are faulty, or the policy asks for what needs the whole table in one place.
    InfeasibleError
        When nothing can keep the promise.
    """
    return prepared(table, plan_of(Policy.of(policy)), partitions).released()


def prepared(table: DataFrame, plan: Plan, partitions: int | None = None) -> Prepared:
    """Survey a table, and find the cuts between its parts."""
    refuse(plan)
    if partitions is not None and partitions < 1:
        raise DataError("partitions: give a whole number, 1 or more.")
    scan = scan_of(table)
    if not scan.records:
        raise DataError("the table: has no rows; there is nothing to publish.")
    job, coded = survey(plan, scan)
    columns = job.code_columns
    parts = partitions or math.ceil(job.records / RECORDS)
    job = with_cuts(job, lambda condition: coded.counted(columns, condition), parts=parts)
    part = F.expr(job.cuts.expression(columns))
    sizes = {row[0]: row[1] for row in coded.frame.groupBy(part.alias(PART)).count().collect()}
    job = replace(job, cuts=job.cuts.joined(sizes, FEWEST_CLASSES * job.k))
    frame = coded.frame.withColumn(PART, F.expr(job.cuts.expression(columns)))
    return Prepared(job, replace(coded, frame=frame), len(job.cuts.parts))


def refuse(plan: Plan) -> None:
    """Refuse what cannot be done in Spark, before any work.

    Raises
    ------
    PolicyError
        When the policy asks for it.
    """
    refuse_parts(plan)
    policy = plan.policy
    refuse_promises(policy)
    faults = []
    if policy.output.order == "kept":
        fault = "order = 'kept': rows have no order in Spark; remove it, or use the local engine."
        faults.append(policy.located(("output", "order"), fault))
    if policy.algorithm.budget is not None:
        # A task that is run again must give the same rows.
        fault = "a budget of time: Spark may run a task again, and it must then do the same; remove it."
        faults.append(policy.located(("algorithm", "budget"), fault))
    if faults:
        raise PolicyError(*faults)


def _own(job: Job) -> list[str]:
    """Columns of numbers that the work on a part needs."""
    values = list(dict.fromkeys(pledge.column for pledge in job.pledges))
    return [*job.code_columns, *job.sensitive_columns, *values]


def _places(scan: SparkScan) -> list[str]:
    return [f"c{number}" for number in range(len(scan.columns))]


def _schema(source: DataFrame, names: Sequence[str], policy: Policy) -> StructType:
    """Columns of the release: texts for quasi-identifiers, all else as it was; and KEY."""
    kinds = [field.dataType for field in source.schema.fields]
    fields = [
        StructField(name, StringType() if name in policy.quasi_identifiers else kind)
        for name, kind in zip(names, kinds, strict=False)
    ]
    return StructType([*fields, StructField(KEY, LongType())])


def _work(job: Job, names: Sequence[str]) -> Callable[[pa.Table], pa.Table]:
    """The work on one part: Arrow in, Arrow out."""
    quasi = job.policy.quasi_identifiers

    def work(table: pa.Table) -> pa.Table:
        part = table.column(PART)[0].as_py()
        frame = pl.from_arrow(table.drop_columns([PART]))
        assert isinstance(frame, pl.DataFrame)
        named = frame.rename(dict(zip(frame.columns, names, strict=False)))
        piece = telling(lambda: release_part(named, job, part, threads=1))
        rows = pl.concat([piece.released, piece.withheld]).select(names).to_arrow(compat_level=pl.CompatLevel.oldest())
        columns = [
            rows.column(number).cast(pa.string() if name in quasi else table.schema.field(number).type)
            for number, name in enumerate(names)
        ]
        keys = np.random.default_rng([job.shuffle, part, 1]).integers(2**63 - 1, size=rows.num_rows)
        return pa.Table.from_arrays([*columns, pa.array(keys, pa.int64())], [*names, KEY])

    return work


def _mixed(released: DataFrame, others: DataFrame | None, parts: int) -> DataFrame:
    """All rows in a random order: next to whom a suppressed record stands would tell which part it is from."""
    both = released if others is None else released.union(others)
    return both.repartition(parts, KEY).sortWithinPartitions(KEY).drop(KEY)
