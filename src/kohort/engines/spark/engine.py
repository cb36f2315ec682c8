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

from kohort.algorithms.base import Algorithm
from kohort.algorithms.pac import BetaCluster, ProximityAwareClustering
from kohort.encode import STAR
from kohort.engines.job import PART, Job
from kohort.engines.lookups import OWN
from kohort.engines.part import release_part
from kohort.engines.sample import with_cuts
from kohort.engines.spark.ancestors import beta_clusters
from kohort.engines.spark.faults import telling
from kohort.engines.spark.scan import SparkScan, scan_of
from kohort.engines.spark.verify import refuse_promises
from kohort.engines.survey import refuse_parts, survey
from kohort.errors import DataError, PolicyError
from kohort.planning import Plan, plan_of
from kohort.policy import Policy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RECORDS = 50_000
"""Records of a part, if nobody says how many parts there are."""
FEWEST_CLASSES = 5
"""A part of fewer than so many times k records is joined with another."""
SPOT = f"{OWN}spot"
"""Column that decides in which partition a part is worked on."""
KEY = f"{OWN}key"
"""Column of random numbers that the rows are mixed by."""


@dataclass(frozen=True)
class Prepared:
    """A table in Spark that is ready to be released."""

    job: Job
    scan: SparkScan
    """The records that take part, with their numbers and the column PART."""
    partitions: int
    """Of the work."""
    parts: int
    spots: list[int] | None = None
    """For each part, a number that Spark puts into a partition of its own; without it, chance decides."""
    algorithm_of: Callable[[int], Algorithm] | None = None
    """How each part is worked on, if not all are alike."""

    def persisted(self) -> Prepared:
        """The same, with the table kept by Spark once it has been read: for several jobs."""
        return replace(self, scan=replace(self.scan, frame=self.scan.frame.persist()))

    def released(self, parts: Sequence[int] | None = None) -> DataFrame:
        """The release, or some parts of it, worked out when it is used."""
        job, place = self.job, self.scan.place
        part = F.col(PART).cast("int")
        spot = part if self.spots is None else F.element_at(F.array(*map(F.lit, self.spots)), part + 1)
        frame = self.scan.frame if parts is None else self.scan.frame.filter(F.col(PART).isin(*parts))
        source = frame.select(*map(place, job.carried), *_own(job), part.alias(PART), spot.alias(SPOT))
        kinds = {name: self.scan.frame.schema[place(name)].dataType for name in job.carried}
        schema = StructType([StructField(name, kinds.get(name, StringType())) for name in job.columns])
        # With a number, partitions stay as they are; Spark would else join those of few bytes, however much work.
        grouped = source.repartition(self.partitions, SPOT).groupBy(SPOT)
        released = grouped.applyInArrow(_work(job, self.algorithm_of), schema.add(KEY, LongType()))
        if job.policy.output.suppressed == "withheld" or job.policy.privacy.suppression_limit == 0:
            return released.drop(KEY)
        others = self._others()
        # Next to whom a suppressed record stands would tell which part it is from.
        both = released if others is None else released.union(others)
        return both.repartition(self.partitions, KEY).sortWithinPartitions(KEY).drop(KEY)

    def _others(self) -> DataFrame | None:
        """Records that do not take part as they are shown: `*` in every quasi-identifier."""
        job, scan = self.job, self.scan
        if job.policy.privacy.missing != "suppress" or scan.rest is None:
            return None
        cells = [F.col(scan.place(name)) if name in job.carried else F.lit(STAR) for name in job.columns]
        key = F.xxhash64(F.lit(job.shuffle), *map(scan.place, scan.columns)).bitwiseAND(F.lit(2**63 - 1))
        return scan.rest.select(*cells, key)


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
    parts = partitions or math.ceil(job.records / RECORDS)
    if isinstance(plan.algorithm, ProximityAwareClustering):
        return _by_ancestors(job, coded, plan.algorithm, parts)
    return _by_cuts(job, coded, parts)


def _by_cuts(job: Job, scan: SparkScan, parts: int) -> Prepared:
    """Cut the table, as every engine does."""
    columns = job.code_columns
    job = with_cuts(job, lambda condition: scan.counted(columns, condition), parts=parts)
    part = F.expr(job.cuts.expression(columns))
    sizes = {row[0]: row[1] for row in scan.frame.groupBy(part.alias(PART)).count().collect()}
    job = replace(job, cuts=job.cuts.joined(sizes, FEWEST_CLASSES * job.k))
    frame = scan.frame.withColumn(PART, F.expr(job.cuts.expression(columns)))
    parts = len(job.cuts.parts)
    return Prepared(job, replace(scan, frame=frame), parts, parts, _spots(scan.frame.sparkSession, job.cuts.parts))


def _spots(spark: SparkSession, parts: list[int]) -> list[int]:
    """Numbers that Spark puts into different partitions, so that no task has two parts while another has none."""
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
    """Part the table as PAC does: the first of its phases in Spark, the second on the parts."""
    frame, draws = beta_clusters(job, scan.frame, pac, partitions)
    coded = replace(scan, frame=frame)
    return Prepared(job, coded, partitions, len(draws), None, lambda part: BetaCluster(pac, draws[part]))


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
    if policy.output.formulas == "neutralised":
        fault = "formulas = 'neutralised': Spark does not do it; remove it, or use the local engine."
        faults.append(policy.located(("output", "formulas"), fault))
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


def _work(job: Job, algorithm_of: Callable[[int], Algorithm] | None) -> Callable[[pa.Table], pa.Table]:
    """The work on one part: Arrow in, Arrow out."""

    def work(table: pa.Table) -> pa.Table:
        part = table.column(PART)[0].as_py()
        kinds = {name: table.schema.field(number).type for number, name in enumerate(job.carried)}
        frame = pl.from_arrow(table.drop_columns([SPOT]))
        assert isinstance(frame, pl.DataFrame)
        named = frame.rename(dict(zip(frame.columns, job.carried, strict=False)))
        mine = job if algorithm_of is None else replace(job, plan=replace(job.plan, algorithm=algorithm_of(part)))
        piece = telling(lambda: release_part(named, mine, part, threads=1))
        rows = pl.concat([piece.released, piece.withheld]).to_arrow(compat_level=pl.CompatLevel.oldest())
        columns = [rows.column(name).cast(kinds.get(name, pa.string())) for name in job.columns]
        keys = np.random.default_rng([job.shuffle, part, 1]).integers(2**63 - 1, size=rows.num_rows)
        return pa.Table.from_arrays([*columns, pa.array(keys, pa.int64())], [*job.columns, KEY])

    return work
