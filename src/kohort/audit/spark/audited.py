"""Files as the auditor reads them in Spark: it lists and opens them itself, by other readers than the maker's.

Cells of CSV files come from the audit's own reader, which workers run file by file. Parquet files are read by Spark's
reader of single records; the maker has them from the one of whole columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from kohort.audit.read.blocks import records_of
from kohort.audit.read.csv import dialects_of
from kohort.audit.read.dialect import Dialect
from kohort.audit.read.files import Paths, listed_files
from kohort.audit.read.opened import File
from kohort.common.spark import guarded, naming_faults
from kohort.policy import Policy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BY_COLUMNS = "spark.sql.parquet.enableVectorizedReader"
"""Setting of Spark: whether Parquet is read by the reader of whole columns."""

Batches = Iterator[pa.RecordBatch]


@contextmanager
def audited(
    spark: SparkSession, release: Paths, original: Paths, policy: Policy
) -> Iterator[tuple[DataFrame, DataFrame]]:
    """The files of a release and of the table that it was made of, as long as the check lasts.

    Raises
    ------
    DataError
        When files cannot be read, or are not alike.
    """
    before = spark.conf.get(BY_COLUMNS)
    spark.conf.set(BY_COLUMNS, "false")
    try:
        written = guarded(lambda: _read(spark, release, "release", policy))
        there = guarded(lambda: _read(spark, original, "original", policy))
        yield written, there
        for table in (written, there):
            table.unpersist()
    finally:
        spark.conf.set(BY_COLUMNS, before or "true")


def _read(spark: SparkSession, source: Paths, name: str, policy: Policy) -> DataFrame:
    files = [File(path, f"{name} {path.name}") for path in listed_files(source, name)]
    if files[0].head(4) == b"PAR1":
        # Folders called name=value would else become columns, and names patterns.
        return spark.read.option("recursiveFileLookup", "true").parquet(*(_literal(file.path) for file in files))
    dialects = dialects_of(files, name, policy)
    header = dialects[0].header
    schema = ", ".join(f"c{place} string" for place in range(len(header)))
    numbers = spark.range(len(files)).repartition(len(files))
    # Kept by Spark, since the checks look at a table several times.
    return numbers.mapInArrow(_cells(list(zip(files, dialects, strict=True))), schema).toDF(*header).persist()


def _literal(path: Path) -> str:
    return re.sub(r"([{}\[\]*?\\])", r"\\\1", str(path.absolute()))


def _cells(files: Sequence[tuple[File, Dialect]]) -> Callable[[Batches], Batches]:
    """The cells of the files whose numbers are given, as texts."""

    def read(numbers: Batches) -> Batches:
        for batch in numbers:
            for number in batch.column(0).to_pylist():
                file, dialect = files[number]
                blocks = records_of(file.path, dialect.form, file.place)
                names = {place: f"c{place}" for place in range(len(dialect.header))}
                while (block := naming_faults(lambda blocks=blocks: next(blocks, None))) is not None:  # type: ignore[misc]
                    cells = [column.to_arrow().cast(pa.string()) for column in block.columns(names)]
                    yield pa.RecordBatch.from_arrays(cells, list(names.values()))

    return read
