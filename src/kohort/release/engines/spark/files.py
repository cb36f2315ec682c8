"""Tables in files, read and written by Spark: cells as the other readers see them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql.types import StringType, StructField, StructType

from kohort.common.spark import guarded
from kohort.errors import DataError
from kohort.table.files import FileKind
from kohort.table.sources import Source
from kohort.table.words import called

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

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
    dialect = source.dialect
    assert dialect is not None
    return _read_csv(spark, source.files, source.columns, dialect.delimiter, dialect.quote)


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


def _read_csv(
    spark: SparkSession, paths: Sequence[Path], columns: Sequence[str], delimiter: str, quote: str
) -> DataFrame:
    schema = StructType([StructField(name, StringType()) for name in columns])
    # A header that differs from these names, or a line with another number of cells, ends the job.
    form = {"header": "true", "sep": delimiter, "quote": quote, "escape": quote or "\\", "multiLine": "true"}
    form |= {"mode": "FAILFAST", "enforceSchema": "false", "encoding": "UTF-8", "maxCharsPerColumn": "-1"}
    return spark.read.schema(schema).options(**form, **_AS_WRITTEN).csv([_literal(path) for path in paths])


def _literal(path: Path) -> str:
    """A path whose name Spark does not take for a pattern."""
    return "".join(f"\\{letter}" if letter in "{}[]*?\\" else letter for letter in str(path.absolute()))
