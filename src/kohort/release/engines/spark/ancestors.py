"""The first phase of PAC in Spark: workers count, the driver moves the ancestors (paper 003, its three MapReduce jobs).

The rows are sorted and numbered once, so that the same records are drawn for the first ancestors as in memory. All
counts are whole numbers, so their sums are the same however the rows are spread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, StructType

from kohort.algorithms.pac import ProximityAwareClustering
from kohort.release.engines.job import PART, Job
from kohort.release.engines.lookups import COUNT, OWN
from kohort.search.ancestors import LocalRows, Split, Tally, merged, tally

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SLICE = f"{OWN}slice"
"""Column with the number of the piece of the sorted rows that a row lies in."""

FEW = 200_000
"""Records of a partition that the driver divides again by itself; it gets their codes, and nothing else of them."""

Batches: TypeAlias = Iterator[pa.RecordBatch]


@dataclass(frozen=True)
class SparkRows:
    """Distinct rows of codes in Spark, and the number of records of each."""

    frame: DataFrame
    """Codes, COUNT and SLICE; in lexicographic order within a slice, and slices in their order."""
    columns: tuple[str, ...]
    path: tuple[tuple[Split, int], ...] = ()
    """Splits, and the label that each gives the rows that are meant."""

    @cached_property
    def slices(self) -> dict[int, int]:
        """Records of each slice."""
        looked = self._looked

        def sizes(batches: Batches) -> Batches:
            for rows, counts, slices in looked(batches):
                numbers, index = np.unique(slices, return_inverse=True)
                added = np.bincount(index, counts, len(numbers)).astype(np.int64)
                yield pa.RecordBatch.from_pydict({"slice": numbers.astype(np.int64), "records": added})
                del rows

        found = self.frame.mapInArrow(sizes, "slice long, records long").groupBy("slice").agg(F.sum("records"))
        return dict(sorted((row[0], row[1]) for row in found.collect()))

    @property
    def records(self) -> int:
        """Number of records that the rows stand for."""
        return sum(self.slices.values())

    def at(self, positions: NDArray[np.int64]) -> NDArray[np.int32]:
        """The rows of some records, which are counted from 0 in the lexicographic order of their rows."""
        looked, columns = self._looked, self.columns
        starts = dict(zip(self.slices, np.cumsum([0, *self.slices.values()]).tolist(), strict=False))

        def picked(batches: Batches) -> Batches:
            passed: dict[int, int] = dict(starts)
            for rows, counts, slices in looked(batches):
                for number in np.unique(slices).tolist():
                    here = slices == number
                    upto = passed[number] + np.cumsum(counts[here])
                    wanted = positions[(positions >= passed[number]) & (positions < upto[-1])]
                    found = rows[here][np.searchsorted(upto, wanted, side="right")]
                    passed[number] = int(upto[-1])
                    yield pa.RecordBatch.from_arrays([pa.array(wanted), *found.T], ["position", *columns])

        schema = ", ".join(["position long", *(f"{name} int" for name in columns)])
        table = self.frame.mapInArrow(picked, schema).toArrow().sort_by("position")
        return np.column_stack([table.column(name).to_numpy() for name in columns]).astype(np.int32)

    def tallied(self, split: Split) -> Tally:
        """Count the records that a split gives each label."""
        looked = self._looked

        def counted(batches: Batches) -> Batches:
            for rows, counts, _ in looked(batches):
                yield pa.RecordBatch.from_pydict(tally(rows, counts, split.labels(rows))._asdict())

        schema = ", ".join(f"{name} long" for name in Tally._fields)
        found = self.frame.mapInArrow(counted, schema).groupBy("axis", "label", "code").agg(F.sum("records"))
        return merged(Tally(*(column.to_numpy() for column in found.toArrow().columns)))

    def part(self, split: Split, label: int) -> SparkRows | LocalRows:
        """The rows to which a split gives a label; few come to the driver, for a job in Spark takes longer."""
        there = replace(self, path=(*self.path, (split, label)))
        return there._collected() if there.records <= FEW else there

    def _collected(self) -> LocalRows:
        """The rows in memory, in their order."""
        looked, columns = self._looked, self.columns

        def picked(batches: Batches) -> Batches:
            for rows, counts, _ in looked(batches):
                yield pa.RecordBatch.from_arrays([*rows.T, pa.array(counts)], [*columns, COUNT])

        schema = ", ".join([*(f"{name} int" for name in columns), f"{COUNT} long"])
        table = self.frame.mapInArrow(picked, schema).toArrow()
        rows = np.column_stack([table.column(name).to_numpy() for name in columns]).astype(np.int32)
        order = np.lexsort(rows.T[::-1])
        return LocalRows(np.ascontiguousarray(rows[order]), table.column(COUNT).to_numpy()[order])

    @property
    def _looked(self) -> Callable[[Batches], Iterator[tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]]]:
        """How a worker looks at the rows: codes, counts and slices of those that are meant, batch by batch."""
        columns, path = self.columns, self.path

        def looked(batches: Batches) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]]:
            for batch in batches:
                rows = _codes(batch, columns)
                here = np.arange(len(rows))
                for split, label in path:
                    here = here[split.labels(rows[here]) == label]
                if len(here):
                    yield rows[here], batch.column(COUNT).to_numpy()[here], batch.column(SLICE).to_numpy()[here]

        return looked


def beta_clusters(
    job: Job, frame: DataFrame, pac: ProximityAwareClustering, partitions: int
) -> tuple[DataFrame, list[list[float]]]:
    """The records with the number of their beta-cluster in the column PART; and the random numbers of each.

    Parameters
    ----------
    partitions : int
        Of the rows while they are counted; Spark's own number suits shuffles, and here every task calls Python.
    """
    t = pac.t_for(job.records, job.k)
    rng = np.random.default_rng(job.plan.seed)
    columns = tuple(job.code_columns)
    counted = frame.groupBy(*columns).agg(F.count(F.lit(1)).alias(COUNT))
    ordered = counted.repartitionByRange(partitions, *columns).sortWithinPartitions(*columns)
    rows = ordered.withColumn(SLICE, F.spark_partition_id()).persist()
    try:
        tree, sizes = pac.parting(job.axes, job.k).parts(SparkRows(rows, columns), t, rng, lambda records: None)
    finally:
        rows.unpersist()
    hands = [pac.hands(size) for size in sizes]
    draws = np.split(rng.random(sum(hands)), np.cumsum(hands)[:-1])

    def routed(batches: Batches) -> Batches:
        for batch in batches:
            parts = tree.route(_codes(batch, columns)).astype(np.int32)
            yield pa.RecordBatch.from_arrays([*batch.columns, pa.array(parts)], [*batch.schema.names, PART])

    schema = StructType([*frame.schema.fields]).add(PART, IntegerType())
    return frame.mapInArrow(routed, schema), [some.tolist() for some in draws]


def _codes(batch: pa.RecordBatch, columns: Sequence[str]) -> NDArray[np.int32]:
    return np.column_stack([batch.column(name).to_numpy() for name in columns]).astype(np.int32)
