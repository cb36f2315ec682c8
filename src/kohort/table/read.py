"""Read a table, whatever it comes as, into one polars frame."""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from kohort.common.private import private_folder
from kohort.common.regular import regular
from kohort.errors import DataError
from kohort.policy.sections import Input
from kohort.table.csv import Dialect, read_csv, readable, sniff
from kohort.table.databases import SqlTable, copied_table, is_url
from kohort.table.files import FileKind, files_of, is_folder, known_kind, known_suffixes
from kohort.table.formats import FORMATS, format_of
from kohort.table.frames import FrameKind, plain_values, take_frame
from kohort.table.sources import open_source
from kohort.table.words import called, no_name, unusable
from kohort.table.zones import parquet_zones, unknown_zones

Kind = FileKind | FrameKind


@dataclass(frozen=True)
class Table:
    """A table and where it came from."""

    frame: pl.DataFrame
    kind: Kind
    path: Path | None = None
    """A file, a folder or a pattern."""
    files: tuple[Path, ...] = ()
    """Those that it was read from, in the order of their rows."""
    dialect: Dialect | None = None
    zones: Mapping[str, str] = field(default_factory=dict)
    """Time zones of the moments in a Parquet file: see `parquet_zones`."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """What columns are called in words, in files that say so."""

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.path.name if self.path else "the table"


def file_kind(path: Path) -> FileKind:
    """The kind of a file by its name."""
    kind = known_kind(path)
    if kind is not None:
        return kind
    raise DataError(f"{path.name}: its kind is not known by its name; kohort reads and writes {known_suffixes()}.")


def target_kind(path: Path) -> FileKind:
    """The kind of a file that is to be written, if it can be."""
    kind = file_kind(path)
    if kind in FORMATS:
        format_of(kind).refuse_target(path)
    return kind


def read_table(source: Any, settings: Input | None = None, known: Collection[str] = ()) -> Table:
    """Read a file, a folder of files or a pattern, or take a polars, pandas or pyarrow table.

    Parameters
    ----------
    known : collection of str
        Columns of the policy: messages call all others by their positions, for without a header names are cells.

    Raises
    ------
    DataError
        When it cannot be read, has no rows, or has unusable column names.
    """
    settings = settings or Input()
    if is_url(source) or isinstance(source, SqlTable):
        table = _read_stored(source if isinstance(source, SqlTable) else SqlTable(source), known)
    else:
        table = _read_file(Path(source), settings, known) if isinstance(source, str | Path) else _take(source, known)
    if table.frame.width == 0 or table.frame.height == 0:
        raise DataError(f"{table.name}: has no rows; there is nothing to publish.")
    return table


def _read_stored(place: SqlTable, known: Collection[str]) -> Table:
    """A table in a database, which is read once."""
    with private_folder("kohort-database", guarded=False) as folder:
        path = copied_table(place, folder)
        return Table(_plain(_read_parquet(path), place.name, known), "polars", zones=_zones(path, known))


def _take(source: Any, known: Collection[str]) -> Table:
    frame, kind = take_frame(source, known)
    return Table(_plain(frame, "the table", known), kind)


def _read_file(path: Path, settings: Input, known: Collection[str]) -> Table:
    if is_folder(path) or (glob.has_magic(str(path)) and not os.path.lexists(path)):
        return _read_files(path, settings, known)
    kind = file_kind(path)
    with readable(path):
        regular(path)
        if kind == "parquet":
            zones = _zones(path, known)
            return Table(_plain(_read_parquet(path), path.name, known), kind, path, (path,), zones=zones)
        if kind != "csv":
            frame, labels = _whole(path, kind, settings)
            return Table(_plain(frame, path.name, known), kind, path, (path,), labels=labels)
        dialect = sniff(path, settings)
        return Table(read_csv(path, dialect), kind, path, (path,), dialect)


def _whole(path: Path, kind: FileKind, settings: Input) -> tuple[pl.DataFrame, Mapping[str, str]]:
    """All that is in a file of another kind than CSV and Parquet, and the labels of its columns."""
    contents = format_of(kind).read(path, settings)
    pieces = list(contents.pieces)
    return pl.concat(pieces) if pieces else pl.DataFrame(), contents.labels


def _read_files(path: Path, settings: Input, known: Collection[str]) -> Table:
    """Many files as one table; all are looked at before any is read, and all faults are reported together."""
    files = files_of(path)
    if known_kind(files[0]) in ("csv", "parquet"):
        files = open_source(path, settings, known).files
    tables = [_read_file(file, settings, known) for file in files]
    columns = tables[0].frame.columns
    DataError.refuse(
        f"{table.name}: its columns are not those of {tables[0].name}; every file needs the same."
        for table in tables
        if sorted(table.frame.columns) != sorted(columns)
    )
    # Not by select: a column may have any name, also one that is a pattern.
    frames = [pl.DataFrame([table.frame[name] for name in columns]) for table in tables]
    try:
        frame = pl.concat(frames)
    except pl.exceptions.PolarsError:
        raise DataError(f"{path.name}: its files hold a column in different types; write all of them alike.") from None
    return replace(tables[0], frame=frame, path=path, files=files)


def _zones(path: Path, known: Collection[str]) -> dict[str, str]:
    """The zones of a Parquet file, all of them known; none for one that cannot be read, which reading will report."""
    import duckdb

    with path.open("rb"):
        pass  # What is no file has said so by now; polars would call it damaged.
    try:
        with duckdb.connect() as connection:
            zones = parquet_zones(connection, path)
    except duckdb.Error:
        return {}
    DataError.refuse(unknown_zones(zones, path.name, known))
    return zones


def _read_parquet(path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(path, glob=False)
    except pl.exceptions.DuplicateError:
        raise DataError(f"{path.name}: two columns have the same name; rename one.") from None
    except (pl.exceptions.PolarsError, OSError):
        raise DataError(f"{path.name}: is no readable Parquet file; check how it was written.") from None


def _is_set(column: str, known: Collection[str]) -> bool:
    """Whether the policy says that the cells of a column are sets."""
    return isinstance(known, Mapping) and getattr(known.get(column), "is_set", False)


def _plain(frame: pl.DataFrame, name: str, known: Collection[str]) -> pl.DataFrame:
    """Columns that can be published and audited: one value per cell, of a type that the audit knows."""
    faults = [
        f"{name}: {called(column, place, known)} holds {fault}."
        for place, (column, dtype) in enumerate(frame.schema.items(), 1)
        if (fault := unusable(dtype)) and not (isinstance(dtype, pl.List | pl.Array) and _is_set(column, known))
    ]
    if nameless := [place for place, column in enumerate(frame.columns, 1) if not column.strip()]:
        faults.append(f"{name}: {no_name(nameless)}")
    DataError.refuse(faults)
    return plain_values(frame)
