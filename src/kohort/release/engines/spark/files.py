"""Tables in files, read and written by Spark: cells as the other readers see them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from kohort.common.private import private_folder
from kohort.common.spark import guarded, naming_faults
from kohort.errors import DataError, InternalError
from kohort.policy.sections import Input
from kohort.table.files import FileKind
from kohort.table.sources import Source, copied, damaged, relation
from kohort.table.words import called

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Batches = Iterator[pa.RecordBatch]

_UNREAD = {
    **dict.fromkeys(("TIME", "TIME_NS"), "times of day"),
    **dict.fromkeys(("TIMESTAMP_NS", "TIMESTAMPTZ_NS"), "moments in nanoseconds"),
}
"""Types of Parquet, as the database calls them, that Spark does not read."""
_AS_WRITTEN = {"ignoreLeadingWhiteSpace": "false", "ignoreTrailingWhiteSpace": "false"}


def refuse_types(source: Source, known: Collection[str]) -> None:
    """Refuse columns of a type that Spark does not read; messages name the known ones.

    Raises
    ------
    DataError
        With a sentence for each such column.
    """
    faults = [
        f"the table: {called(name, place, known)} holds {_UNREAD[kind]}, which Spark does not read from Parquet; "
        "convert it to microseconds or to text, or use the local engine."
        for place, (name, kind) in enumerate(zip(source.columns, source.types, strict=True), 1)
        if kind in _UNREAD
    ]
    if faults:
        raise DataError(*faults)


def read_files(spark: SparkSession, source: Source) -> DataFrame:
    """Read the files of a table; cells of CSV as texts."""
    if source.kind == "parquet":
        return read_parquet(spark, source.files)
    return _read_csv(spark, source)


def read_parquet(spark: SparkSession, paths: Sequence[Path]) -> DataFrame:
    """Read Parquet files."""
    # Folders called name=value would else become columns.
    reader = spark.read.option("recursiveFileLookup", "true")
    unread = f"{paths[0].name}: Spark cannot read the type of a column; convert it, or use the local engine."
    return guarded(lambda: reader.parquet(*map(_literal, paths)), unread)


def write_folder(table: DataFrame, folder: Path, kind: FileKind, delimiter: str = ",") -> None:
    """Write a table into a folder as files of one kind, and nothing but these."""
    writer = table.write.mode("append")
    if kind == "parquet":
        with _moments_in_utc(table.sparkSession):
            writer.option("compression", "zstd").parquet(str(folder.absolute()))
    else:
        form = {"header": "true", "sep": delimiter, "quote": '"', "escape": '"', "nullValue": "", "emptyValue": ""}
        # with all digits of a second, and with the offset from UTC
        form |= {
            "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXXXX",
            "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
        }
        writer.options(**form, **_AS_WRITTEN).csv(str(folder.absolute()))
    for path in folder.iterdir():
        if path.name.startswith(("_", ".")):
            path.unlink()


@contextmanager
def _moments_in_utc(spark: SparkSession) -> Iterator[None]:
    """Let files say that their moments are in UTC; the old type, which Spark would write, says no zone to others."""
    name = "spark.sql.parquet.outputTimestampType"
    before = spark.conf.get(name)
    spark.conf.set(name, "TIMESTAMP_MICROS")
    try:
        yield
    finally:
        spark.conf.set(name, str(before))


def _read_csv(spark: SparkSession, source: Source) -> DataFrame:
    """Cells as the other engines read them, by the same reader, which workers run file by file.

    Spark's own reader changes the ends of lines in quoted cells.
    """
    schema = ", ".join(f"c{place} string" for place in range(len(source.columns)))
    numbers = spark.range(len(source.files)).repartition(len(source.files))
    return numbers.mapInArrow(_cells(source), schema).toDF(*source.columns)


def _cells(source: Source) -> Callable[[Batches], Batches]:
    """The cells of the files whose numbers are given, as texts."""

    def read(numbers: Batches) -> Batches:
        for batch in numbers:
            for number in batch.column(0).to_pylist():
                found = _batches(
                    replace(source, files=(source.files[number],), encodings=source.encodings[number:][:1])
                )
                while (some := naming_faults(lambda found=found: next(found, None))) is not None:  # type: ignore[misc]
                    yield some

    return read


def _batches(source: Source) -> Batches:
    import duckdb

    with private_folder("kohort-copy", guarded=False) as folder, duckdb.connect(config={"threads": 1}) as database:
        source = copied(source, Input(), (), folder)
        sql, parameters = relation(source)
        try:
            yield from pa.RecordBatchReader.from_stream(database.sql(f"SELECT * FROM {sql}", params=parameters))
            return
        except (duckdb.Error, OSError):
            faults = damaged(source)
    # Raised out here, so that the message of the database, which quotes cells, is not even in its context.
    raise DataError(*faults) if faults else InternalError("A statement that reads the table failed.")


def _literal(path: Path) -> str:
    """A path whose name Spark does not take for a pattern."""
    return "".join(f"\\{letter}" if letter in "{}[]*?\\" else letter for letter in str(path.absolute()))
