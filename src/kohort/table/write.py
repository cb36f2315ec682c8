"""Write a release: only published values, nothing of the input's dictionaries or metadata."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import polars as pl

from kohort.common.packed import packed
from kohort.errors import NO_ROOM, DataError
from kohort.policy.sections import Input
from kohort.table.csv import Dialect
from kohort.table.files import known_kind
from kohort.table.formats import FORMATS, format_of
from kohort.table.read import Kind
from kohort.table.texts import NUMBER
from kohort.table.words import in_words
from kohort.table.zones import F, days

FORMULA = r"^[=+\-@\t\r]"


def write_table(
    frame: pl.DataFrame,
    path: Path,
    kind: Kind,
    dialect: Dialect | None,
    *,
    neutralise: bool,
    labels: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Write a file.

    Parameters
    ----------
    neutralise : bool
        All but Parquet: put an apostrophe before cells that a spreadsheet would run as a formula.
    labels : mapping
        What columns are called in words, for files that say so.

    Raises
    ------
    DataError
        When a column's values have no one form in a file of this kind.
    """
    if kind == "parquet":
        with _on_disk(path):
            frame.write_parquet(path, compression="zstd", metadata=None)
        return
    if kind != "csv":
        _write_other(frame.lazy(), path, kind, labels, neutralise=neutralise)
        return
    cells = _as_texts(frame, neutralise=neutralise)
    with _on_disk(path), packed(path) as file:
        cells.write_csv(file, separator=_delimiter(path, dialect))


def write_stream(rows: pl.LazyFrame, path: Path, dialect: Dialect | None, *, neutralise: bool) -> None:
    """Write rows that are too many for memory, as `write_table` would."""
    if known_kind(path) == "parquet":
        with _on_disk(path):
            rows.sink_parquet(path, compression="zstd", maintain_order=True)
        return
    if (kind := known_kind(path) or "csv") != "csv":
        _write_other(rows, path, kind, {}, neutralise=neutralise)
        return
    cells = _as_texts(rows, neutralise=neutralise)
    with _on_disk(path), packed(path) as file:
        cells.sink_csv(file, separator=_delimiter(path, dialect), maintain_order=True)


def scanned(path: Path, kind: Kind, dialect: Dialect | None) -> pl.LazyFrame:
    """A release that will be there, to be read when it is asked for."""
    if kind in FORMATS:

        def pieces() -> Iterator[pl.DataFrame]:
            return iter(format_of(kind).read(path, Input()).pieces)

        return pl.defer(lambda: pl.concat(pieces()), schema=lambda: next(pieces()).schema)
    if kind == "parquet":
        return pl.scan_parquet(path, glob=False)
    return pl.scan_csv(path, glob=False, separator=_delimiter(path, dialect))


def _write_other(rows: pl.LazyFrame, path: Path, kind: Kind, labels: Mapping[str, str], *, neutralise: bool) -> None:
    """Write a file of another kind; times of day are refused, and moments in a zone are texts, as in CSV."""
    schema = rows.collect_schema()
    refuse_formless(schema)
    rows = rows.with_columns(_moments(schema))
    if neutralise:
        rows = rows.with_columns(_neutralised(rows.collect_schema()))
    with _on_disk(path):
        format_of(kind).write(rows, path, {name: label for name, label in labels.items() if name in schema})


def _as_texts(rows: F, *, neutralise: bool) -> F:
    """What has a form of its own in CSV, in this form."""
    refuse_formless(rows.collect_schema())
    _refuse_moments_beyond(rows)
    _refuse_nul(rows)
    rows = rows.with_columns(_moments(rows.collect_schema()))
    if neutralise:
        rows = rows.with_columns(_neutralised(rows.collect_schema()))
    return rows.with_columns(_filled(rows.collect_schema()))


@contextmanager
def _on_disk(path: Path) -> Iterator[None]:
    """Say as the system does that there is no room; the library has words and errors of its own for it."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        if not NO_ROOM.search(str(error)):
            raise
    else:
        return
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


def _delimiter(path: Path, dialect: Dialect | None) -> str:
    return "\t" if ".tsv" in path.name.lower() else dialect.delimiter if dialect else ","


def refuse_formless(schema: Mapping[str, pl.DataType]) -> None:
    """Refuse times of day: every tool writes them in another way, so an audit could not compare them."""
    DataError.refuse(
        f"column {name!r}: {in_words(dtype)} cannot be published in such a file; convert it to text, or drop it."
        for name, dtype in schema.items()
        if dtype == pl.Time
    )


def _refuse_moments_beyond(rows: pl.DataFrame | pl.LazyFrame) -> None:
    """Refuse moments that have no date in their zone that every tool can write and read."""
    moments = rows.lazy().select(name for name, kind in rows.collect_schema().items() if isinstance(kind, pl.Datetime))
    ends = pl.concat([moments.min().collect(), moments.max().collect()])
    years = {one.name: days(one.drop_nulls()).dt.year() for one in ends.iter_columns()}
    DataError.refuse(
        f"column {name!r}: has moments outside of the years 1 to 9999, which cannot be published in such a file; "
        "correct them, or convert the column to text."
        for name, found in years.items()
        if found.null_count() or not found.is_between(1, 9999).all()
    )


def _refuse_nul(rows: pl.DataFrame | pl.LazyFrame) -> None:
    """Refuse texts with a NUL byte, which ends a file for some readers of CSV."""
    texts = rows.lazy().select(name for name, kind in rows.collect_schema().items() if kind == pl.String)
    held = texts.select(pl.all().str.contains("\0", literal=True).any()).collect()
    DataError.refuse(
        f"column {name!r}: has texts with NUL bytes, which no CSV file can hold; remove them, or write Parquet."
        for name in held.columns
        if held[name].any()
    )


def _filled(schema: Mapping[str, pl.DataType]) -> list[pl.Expr]:
    """An empty text for a missing one where it is alone in its line: an empty line is no record for most readers."""
    return [pl.col(name).cast(pl.String).fill_null("") for name in schema] if len(schema) == 1 else []


def _moments(schema: Mapping[str, pl.DataType]) -> list[pl.Expr]:
    """Moments in their zones, each with its offset from UTC; to the second, as that of old local times must be."""
    digits = {"ms": 3, "us": 6, "ns": 9}
    return [
        pl.col(name).dt.strftime(f"%Y-%m-%dT%H:%M:%S%.{digits[dtype.time_unit]}f%::z").str.strip_suffix(":00")
        for name, dtype in schema.items()
        if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None
    ]


def _neutralised(schema: Mapping[str, pl.DataType]) -> list[pl.Expr]:
    return [
        pl.when(pl.col(name).str.contains(FORMULA) & ~pl.col(name).str.contains(NUMBER))
        .then("'" + pl.col(name))
        .otherwise(pl.col(name))
        .alias(name)
        for name, dtype in schema.items()
        if dtype == pl.String
    ]


def same_kind(frame: pl.DataFrame, kind: Kind) -> Any:
    """The frame as the kind of table that was given; files give a polars frame."""
    if kind == "pandas":
        return _as_pandas(frame)
    if kind == "pyarrow":
        return frame.to_arrow()
    return frame


def _as_pandas(frame: pl.DataFrame) -> Any:
    """The frame as one of pandas; whole numbers stay whole where some are missing, as floats would round them."""
    made = frame.to_pandas()
    for column in frame:
        if column.dtype.is_integer() and column.null_count():
            made[column.name] = column.to_pandas(use_pyarrow_extension_array=True).astype(str(column.dtype))
    return made
