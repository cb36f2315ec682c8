"""A table in Spark, made k-anonymous partition by partition.

The driver surveys the table: dictionaries of its columns, and the cuts between its partitions. Workers then release
each partition alone, by the same functions as the other engines. What a partition becomes depends on its records and
the seed, so a task that is run again gives the same rows. Only what Spark Connect has, too, is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, IntegerType, LongType, StringType, StructField, StructType

from kohort.algorithms.base import Algorithm
from kohort.algorithms.pac import BetaCluster, ProximityAwareClustering
from kohort.common.spark import naming_faults
from kohort.errors import DataError, InfeasibleError
from kohort.policy import Policy
from kohort.release.engines.features import SPARK, refuse, refuse_partitions
from kohort.release.engines.job import KEY, PART, Job
from kohort.release.engines.joining import Stock, joined, settled
from kohort.release.engines.lookups import OWN
from kohort.release.engines.partition import Piece, release_others, release_partition
from kohort.release.engines.sample import dealt, expression, with_cuts
from kohort.release.engines.spark.ancestors import beta_clusters
from kohort.release.engines.spark.scan import SparkScan, counted, scan_of
from kohort.release.engines.survey import refuse_own_names, survey, usable
from kohort.release.plan import Plan, plan_of
from kohort.release.pseudonyms import read_key
from kohort.table.header import policy_for

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, GroupedData, SparkSession

RECORDS = 50_000
"""Records of a partition, if nobody says how many partitions there are."""
MOST_RECORDS = 1_000_000
"""Where partitions that are joined get larger, records are dealt to partitions by chance instead."""
FEWEST_ROWS = 1000
"""Rows that a file of the release has at least, about."""
SPOT = f"{OWN}spot"
"""Column that decides in which task a partition is worked on."""
FAULT = f"{OWN}fault"
"""Column with what is wrong with a partition that cannot keep a promise."""


@dataclass(frozen=True)
class Prepared:
    """A table in Spark that is ready to be released."""

    job: Job
    scan: SparkScan
    """The records that take part, with their numbers and the column PART."""
    partitions: int
    """Of the work."""
    parts: int
    files: int
    """Partitions of the release: as many as were asked for, for their number must not reveal how the table was cut."""
    spots: list[int] | None = None
    """For each partition, a number that Spark gives a task of its own; without it, chance decides."""
    algorithm_of: Callable[[int], Algorithm] | None = None
    """How each partition is worked on, if not all are alike."""

    def persisted(self) -> Prepared:
        """The same, with the table kept by Spark once it has been read: for several jobs."""
        return replace(self, scan=replace(self.scan, frame=self.scan.frame.persist()))

    def released(self) -> DataFrame:
        """The release, its rows mixed, computed when it is used."""
        rows, others = self.rows(), self.others()
        return self.mixed(rows if others is None else rows.union(others))

    def rows(self, parts: Sequence[int] | None = None) -> DataFrame:
        """Rows of all or some partitions, called c0, c1, ..., and KEY."""
        schema = self._schema().add(KEY, LongType())
        return self._grouped(parts).applyInArrow(_work(self.job, self.algorithm_of), schema)

    def failures(self, parts: Sequence[int]) -> dict[int, InfeasibleError]:
        """The faults of those of some partitions that cannot keep a promise."""
        schema = StructType([StructField(PART, IntegerType()), StructField(FAULT, ArrayType(StringType()))])
        found = self._grouped(parts).applyInArrow(_trial(self.job, self.algorithm_of), schema).collect()
        return {row[0]: InfeasibleError(*row[1]) for row in found}

    def others(self) -> DataFrame | None:
        """Records that do not take part as they are shown, if they are: `*` in every quasi-identifier; and KEY."""
        job, scan = self.job, self.scan
        shown = job.policy.output.suppressed == "starred" and job.policy.privacy.missing == "suppress"
        if scan.rest is None or not shown:
            return None
        cells = [scan.place(name) for name in job.carried]
        # Records of which the same is published meet in one place, where they are numbered.
        spot = F.pmod(F.xxhash64(*cells), F.lit(self.files)) if cells else F.lit(0)
        source = scan.rest.select(*cells, spot.alias(SPOT))
        schema = self._schema().add(KEY, LongType())
        return source.repartition(self.files, SPOT).groupBy(SPOT).applyInArrow(_work_on_others(job), schema)

    def mixed(self, rows: DataFrame) -> DataFrame:
        """Rows in the order of their random keys, over all partitions: its place does not reveal its partition."""
        spark, n = rows.sparkSession, self.files
        # Keys are spread evenly, so every partition gets an equal stretch of them; Spark would else first work all rows
        # out to see where the stretches begin.
        place = F.expr(f"CAST(shiftright({KEY}, 32) * {n} DIV {2**31} AS INT)")
        spot = F.element_at(F.array(*map(F.lit, _spots(spark, list(range(n))))), place + 1)
        ordered = rows.repartition(n, spot).sortWithinPartitions(KEY).drop(KEY)
        return ordered.toDF(*self.job.columns)

    def _grouped(self, parts: Sequence[int] | None) -> GroupedData:
        """What the work on all or some partitions needs of the records, partition by partition."""
        job, place = self.job, self.scan.place
        part = F.col(PART).cast("int")
        spot = part if self.spots is None else F.element_at(F.array(*map(F.lit, self.spots)), part + 1)
        frame = self.scan.frame if parts is None else self.scan.frame.filter(F.col(PART).isin(*parts))
        source = frame.select(*map(place, job.carried), *_own(job), part.alias(PART), spot.alias(SPOT))
        # With a number, partitions stay as they are; Spark would else join those of few bytes, however much work.
        return source.repartition(self.partitions, SPOT).groupBy(SPOT)

    def _schema(self) -> StructType:
        """Of the published columns, called c0, c1, ...: names may differ in case alone."""
        kinds = {name: self.scan.frame.schema[self.scan.place(name)].dataType for name in self.job.carried}
        return StructType(
            [StructField(f"c{j}", kinds.get(name, StringType())) for j, name in enumerate(self.job.columns)]
        )


def anonymize(table: DataFrame, policy: Policy | str | Path, *, partitions: int | None = None) -> DataFrame:
    """Turn a table about people in Spark into one that keeps the promise of its policy.

    Scans the table immediately, several times; cache it if it is expensive to compute. The release is computed when it
    is used. Write it, read it again, and check that by `verify`: nothing is verified before.

    Parameters
    ----------
    table : DataFrame
        Of a session of any kind, also of Spark Connect.
    policy : Policy or path
        What is promised about which column.
    partitions : int, optional
        Partitions that are worked on alone; without it, one for each 50,000 records. Classes lie within a partition, so
        the release depends on their number, but not on the machines.

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
    return prepared(table, plan_of(policy_for(policy, table)), partitions).released()


def prepared(table: DataFrame, plan: Plan, partitions: int | None = None) -> Prepared:
    """Survey a table, and find the cuts between its partitions."""
    refuse(SPARK, plan)
    refuse_partitions(partitions)
    secret = read_key(plan.policy)
    scan = scan_of(table, plan.policy.columns)
    if not scan.records:
        raise DataError("the table: has no rows; there is nothing to publish.")
    found = usable(plan.policy, scan)
    refuse_own_names(scan.columns)
    job, coded = survey(plan, found, secret)
    parts = partitions or math.ceil(job.records / RECORDS)
    if isinstance(plan.algorithm, ProximityAwareClustering):
        return _by_ancestors(job, coded, plan.algorithm, parts)
    return _by_cuts(job, coded, parts)


def _by_cuts(job: Job, scan: SparkScan, parts: int) -> Prepared:
    """Cut the table, as every engine does."""
    files = _files(job, parts)
    job = with_cuts(job, lambda condition: scan.counted(job.code_columns, condition), parts=parts)
    ready, largest = _joined(job, scan, files)
    if largest <= MOST_RECORDS:
        return ready
    other, smaller = _joined(dealt(job, RECORDS), scan, files)
    return other if smaller < largest else ready


def _joined(job: Job, scan: SparkScan, files: int) -> tuple[Prepared, int]:
    """Join partitions of a table that cannot keep a promise; and the records of the largest that was joined."""
    leaf = F.expr(expression(job)).alias(PART)
    stock = Stock.of(job, lambda values: counted(scan.frame.select(leaf, *values), [PART, *values]))

    def ready(job: Job) -> Prepared:
        frame = scan.frame.withColumn(PART, F.expr(expression(job)))
        n, spots = len(job.cuts.parts), _spots(scan.frame.sparkSession, job.cuts.parts)
        return Prepared(job, replace(scan, frame=frame), n, n, files, spots)

    job = joined(job, stock)
    if stock.needs_trial and len(job.cuts.parts) > 1:
        # The release is computed when it is used, and then it is too late to join partitions.
        job = settled(job, stock, lambda job, some: ready(job).failures(some) if len(job.cuts.parts) > 1 else {})
    return ready(job), max([stock.size(leaves) for leaves in job.cuts.groups.values() if len(leaves) > 1], default=0)


def _files(job: Job, parts: int) -> int:
    """How many files a release has, given the number of partitions that is asked for."""
    return min(parts, math.ceil(job.records / FEWEST_ROWS))


def _spots(spark: SparkSession, parts: list[int]) -> list[int]:
    """Numbers that Spark gives to different tasks, so that no task has two partitions while another has none."""
    n, found = len(parts), dict[int, int]()
    tried = 16 * n
    while len(found) < n:
        rows = spark.range(tried).selectExpr("int(id)", f"pmod(hash(int(id)), {n})").collect()
        found = {partition: number for number, partition in reversed(rows)}
        tried *= 2
    spots = [0] * (max(parts) + 1)
    for part, partition in zip(parts, sorted(found), strict=True):
        spots[part] = found[partition]
    return spots


def _by_ancestors(job: Job, scan: SparkScan, pac: ProximityAwareClustering, partitions: int) -> Prepared:
    """Divide the table as PAC does: the first of its phases in Spark, the second on the partitions."""
    frame, draws = beta_clusters(job, scan.frame, pac, partitions)
    coded, files = replace(scan, frame=frame), _files(job, partitions)
    ready = Prepared(job, coded, partitions, len(draws), files, None, lambda part: BetaCluster(pac, draws[part]))
    if not job.promises:
        return ready
    stock = Stock.of(job, lambda values: counted(frame, [PART, *values]))
    kept = all(stock.keeps([part]) for part in stock.records)
    if kept and not (stock.needs_trial and ready.failures(range(len(draws)))):
        return ready
    # A beta-cluster that cannot keep a promise has no sibling to join.
    return _by_cuts(job, scan, partitions)


def _own(job: Job) -> list[str]:
    """Columns of numbers that the work on a partition needs."""
    values = list(dict.fromkeys(promise.column for promise in job.promises))
    return [*job.code_columns, *job.sensitive_columns, *values]


Algorithms = Callable[[int], Algorithm] | None
Work = Callable[[pa.Table], pa.Table]


def _work(job: Job, algorithm_of: Algorithms) -> Work:
    """The work on one partition: Arrow in, Arrow out."""

    def work(table: pa.Table) -> pa.Table:
        return _in_arrow(naming_faults(lambda: _piece(table, job, algorithm_of)).released, table, job)

    return work


def _trial(job: Job, algorithm_of: Algorithms) -> Work:
    """Whether one partition can keep every promise: a row if it cannot."""

    def trial(table: pa.Table) -> pa.Table:
        faults = naming_faults(lambda: _faults(table, job, algorithm_of))
        parts = pa.array([table.column(PART)[0].as_py()] * len(faults), pa.int32())
        return pa.Table.from_arrays([parts, pa.array(faults, pa.list_(pa.string()))], [PART, FAULT])

    return trial


def _work_on_others(job: Job) -> Work:
    """What is shown of some records that do not take part: Arrow in, Arrow out."""

    def work(table: pa.Table) -> pa.Table:
        frame = _named(table, job)  # with SPOT, for there may be no other column
        like = pl.DataFrame(schema={name: frame.schema.get(name, pl.String()) for name in job.columns})
        return _in_arrow(release_others(frame, job, like), table, job)

    return work


def _faults(table: pa.Table, job: Job, algorithm_of: Algorithms) -> list[list[str]]:
    try:
        _piece(table, job, algorithm_of)
    except InfeasibleError as error:
        return [list(error.faults)]
    return []


def _piece(table: pa.Table, job: Job, algorithm_of: Algorithms) -> Piece:
    part = table.column(PART)[0].as_py()
    mine = job if algorithm_of is None else replace(job, plan=replace(job.plan, algorithm=algorithm_of(part)))
    return release_partition(_named(table.drop_columns([SPOT]), job), mine, part, threads=1)


def _named(table: pa.Table, job: Job) -> pl.DataFrame:
    """Records with the names of the columns that are carried along, which come first."""
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame.rename(dict(zip(frame.columns, job.carried, strict=False)))


def _in_arrow(rows: pl.DataFrame, table: pa.Table, job: Job) -> pa.Table:
    """Rows that are shown and their keys, in the types that the columns came with."""
    kinds = {name: table.schema.field(number).type for number, name in enumerate(job.carried)}
    there = rows.to_arrow(compat_level=pl.CompatLevel.oldest())
    columns = [there.column(name).cast(kinds.get(name, pa.string())) for name in job.columns]
    return pa.Table.from_arrays([*columns, there.column(KEY)], [*(f"c{j}" for j in range(len(columns))), KEY])
