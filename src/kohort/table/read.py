"""Read a table, whatever it comes as, into one polars frame."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from kohort.errors import DataError
from kohort.policy.model import Input
from kohort.table.csv import Dialect, read_csv, sniff

Kind = Literal["csv", "parquet", "polars", "pandas", "pyarrow"]
CSV_SUFFIXES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")
PARQUET_SUFFIXES = (".parquet", ".pq")


@dataclass(frozen=True)
class Table:
    """A table and where it came from."""

    frame: pl.DataFrame
    kind: Kind
    path: Path | None = None
    dialect: Dialect | None = None

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.path.name if self.path else "the table"


def file_kind(path: Path) -> Kind:
    """The kind of a file by its name."""
    name = path.name.lower()
    if name.endswith(PARQUET_SUFFIXES):
        return "parquet"
    if name.endswith(CSV_SUFFIXES):
        return "csv"
    known = ", ".join(CSV_SUFFIXES + PARQUET_SUFFIXES)
    raise DataError(f"{path.name}: its kind is not known by its name; kohort reads and writes {known}.")


def read_table(source: Any, settings: Input | None = None) -> Table:
    """Read a path or take a polars, pandas or pyarrow table.

    Raises
    ------
    DataError
        When it cannot be read, has no rows, or has unusable column names.
    """
    settings = settings or Input()
    table = _read_file(Path(source), settings) if isinstance(source, str | Path) else _take_frame(source)
    if table.frame.width == 0 or table.frame.height == 0:
        raise DataError(f"{table.name}: has no rows; there is nothing to publish.")
    return table


def _read_file(path: Path, settings: Input) -> Table:
    kind = file_kind(path)
    try:
        if kind == "csv":
            dialect = sniff(path, delimiter=settings.delimiter, quote=settings.quote, encoding=settings.encoding)
            return Table(read_csv(path, dialect), kind, path, dialect)
        return Table(_plain(pl.read_parquet(path), path.name), kind, path)
    except OSError as error:
        raise DataError(f"{path.name}: cannot be read ({error.strerror or 'it is damaged'}); check the path.") from None
    except pl.exceptions.PolarsError:
        raise DataError(f"{path.name}: is no readable Parquet file; check how it was written.") from None


def _take_frame(source: Any) -> Table:
    module = type(source).__module__.partition(".")[0]
    if isinstance(source, pl.LazyFrame):
        source = source.collect()
    if isinstance(source, pl.DataFrame):
        return Table(_plain(source, "the table"), "polars")
    if module == "pandas":
        # An index may identify people, and no role can be given to it: it is left behind.
        return Table(_plain(pl.from_pandas(source, include_index=False, nan_to_null=True), "the table"), "pandas")
    if module == "pyarrow":
        return Table(_plain(pl.DataFrame(pl.from_arrow(source)), "the table"), "pyarrow")
    kind = f"{type(source).__module__}.{type(source).__qualname__}"
    raise DataError(f"a table of type {kind} is not known; give a path, or a polars, pandas or pyarrow table.")


def _plain(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """Text instead of dictionaries: a dictionary may hold values that no row has."""
    faults = []
    for column, dtype in frame.schema.items():
        if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
            faults.append(
                f"{name}: column {column!r} holds {dtype} values, not one value per cell; drop or flatten it."
            )
    if faults:
        raise DataError(*faults)
    return frame.with_columns(
        pl.col(column).cast(pl.String) for column, dtype in frame.schema.items() if dtype in (pl.Categorical, pl.Enum)
    )
