"""Write a release: only published values, nothing of the input's dictionaries or metadata."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import IO, Any, cast

import polars as pl

from kohort.errors import DataError
from kohort.table.csv import Dialect, is_gzipped
from kohort.table.read import Kind
from kohort.table.texts import NUMBER
from kohort.table.words import in_words

FORMULA = r"^[=+\-@\t\r]"


def write_table(frame: pl.DataFrame, path: Path, kind: Kind, dialect: Dialect | None, *, neutralise: bool) -> None:
    """Write a CSV or Parquet file.

    Parameters
    ----------
    neutralise : bool
        CSV: put an apostrophe before cells that a spreadsheet would run as a formula.

    Raises
    ------
    DataError
        When a column's values have no one form in CSV.
    """
    if kind == "parquet":
        frame.write_parquet(path, compression="zstd", metadata=None)
        return
    _refuse_formless(frame)
    if neutralise:
        frame = _neutralised(frame)
    delimiter = "\t" if ".tsv" in path.name.lower() else dialect.delimiter if dialect else ","
    if not is_gzipped(path):
        frame.write_csv(path, separator=delimiter)
        return
    # A gzip header names the file and the time unless told otherwise; the release tells neither.
    with path.open("wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
        frame.write_csv(cast("IO[bytes]", packed), separator=delimiter)


def _refuse_formless(frame: pl.DataFrame) -> None:
    """Refuse times of day and durations: every tool writes them in another way, so an audit could not compare them."""
    faults = [
        f"column {name!r}: {in_words(dtype)} cannot be published as CSV; convert it to text, or drop it."
        for name, dtype in frame.schema.items()
        if dtype in (pl.Time, pl.Duration)
    ]
    if faults:
        raise DataError(*faults)


def _neutralised(frame: pl.DataFrame) -> pl.DataFrame:
    cells = [
        pl.when(pl.col(name).str.contains(FORMULA) & ~pl.col(name).str.contains(NUMBER))
        .then("'" + pl.col(name))
        .otherwise(pl.col(name))
        .alias(name)
        for name, dtype in frame.schema.items()
        if dtype == pl.String
    ]
    return frame.with_columns(cells)


def same_kind(frame: pl.DataFrame, kind: Kind) -> Any:
    """The frame as the kind of table that was given; files give a polars frame."""
    if kind == "pandas":
        return frame.to_pandas()
    if kind == "pyarrow":
        return frame.to_arrow()
    return frame
