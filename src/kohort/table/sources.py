"""Tables in one or many files, opened without reading them: what is in them, and how the database reads them.

All files are looked at before any work, and all faults are reported together. A row group that is damaged inside is
found only when it is read: `fetched` then finds the file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kohort.common.regular import regular
from kohort.errors import NO_ROOM, DataError, InternalError, KohortError
from kohort.policy.sections import Input
from kohort.table.csv import NO_TEXT, UTF8, Dialect, literal_path, readable, reader_fault, sniff, write_utf8
from kohort.table.files import FileKind, files_of, known_kind
from kohort.table.formats import FORMATS, format_of
from kohort.table.words import called, listed, namesakes, no_name, unusable
from kohort.table.zones import parquet_zones, unknown_zones, zoned

if TYPE_CHECKING:
    import duckdb
    import polars as pl

__all__ = ["Source", "copied", "fetched", "files_of", "open_source", "relation"]

T = TypeVar("T")
_DIGITS = 38
"""Digits of the longest decimal numbers that the database knows; of longer ones it makes floating-point numbers."""


@dataclass(frozen=True)
class Source:
    """A table in files of one kind, all of which can be opened and have the same columns."""

    files: tuple[Path, ...]
    """In the order of the rows."""
    kind: FileKind
    """What all of them are: `csv`, `parquet`, or one of `FORMATS`; the latter are looked at when they are `copied`."""
    columns: tuple[str, ...]
    """Names, in the order of the first file."""
    types: tuple[str, ...]
    """The database's type of each column; all text for CSV."""
    rows: int | None = None
    """Number of rows; None for CSV, where only reading shows it."""
    dialect: Dialect | None = None
    """How all CSV files are written."""
    zones: Mapping[str, str] = field(default_factory=dict)
    """Time zones of the columns of moments in Parquet files: see `parquet_zones`."""
    copied: tuple[Path, ...] = ()
    """The files of another kind or encoding that `files` are a private copy of."""
    encodings: tuple[str, ...] = ()
    """Of each CSV file."""

    @property
    def originals(self) -> tuple[Path, ...]:
        """The files that were given."""
        return self.copied or self.files


def open_source(source: str | Path, settings: Input | None = None, known: Collection[str] = ()) -> Source:
    """Look at every file of a table: whether it can be read, and has the columns that the others have.

    Parameters
    ----------
    source : path
        A file, a folder or a pattern: see `files_of`.
    settings : Input, optional
        How CSV files are written, as far as the policy says so.
    known : collection of str
        Columns of the policy; messages call all others by their positions.

    Raises
    ------
    DataError
        When a file is damaged, a column has a type that cannot be published, or files differ in their columns or
        types, or, for CSV, in their headers or the way they are written.
    """
    files = files_of(source)
    if (kind := str(known_kind(files[0]))) in FORMATS:
        return Source(files, kind, (), ())
    if kind == "csv":
        return _csv(files, settings or Input())
    return _parquet(files, known)


def copied(source: Source, settings: Input, known: Collection[str], folder: Path) -> Source:
    """The same table in files that the database reads: Parquet, or CSV in UTF-8; others are copied, piece by piece.

    Parameters
    ----------
    folder : Path
        Where the copies go: a private one.
    """
    if source.kind not in FORMATS and set(source.encodings) <= {UTF8}:
        return source
    copies: list[Path] = []
    for number, path in enumerate(source.files):
        copies.append(folder / f"copy{number}" / path.name)
        copies[-1].parent.mkdir(mode=0o700)
        with readable(path):
            if source.encodings:
                if path.suffix.lower() in (".gz", ".zst"):
                    copies[-1] = copies[-1].with_suffix("")
                with copies[-1].open("wb") as file:
                    write_utf8(regular(path), source.encodings[number], file)
                continue
            _copy(format_of(source.kind).read(regular(path), settings).pieces, copies[-1])
    if source.encodings:
        return replace(source, files=tuple(copies), copied=source.files, encodings=(UTF8,) * len(copies))
    return replace(_parquet(copies, known), copied=source.files)


def _copy(pieces: Iterator[pl.DataFrame], path: Path) -> None:
    """Write the pieces into one file, as they come."""
    import polars as pl
    from polars.io.plugins import register_io_source

    from kohort.table.frames import plain_values

    first = next(pieces, pl.DataFrame())
    if not first.width:
        raise DataError(f"{path.name}: has no rows; there is nothing to publish.")
    rows = register_io_source(
        lambda *_: (plain_values(piece) for piece in chain([first], pieces)), schema=plain_values(first).schema
    )
    rows.sink_parquet(path, compression="lz4", maintain_order=True)


def relation(source: Source) -> tuple[str, list[Any]]:
    """How the database reads a table: SQL for after FROM, and its parameters.

    Column i of `Source.columns` is called ``c<i>``, for names may differ in case alone. Rows come in the order of the
    files and of their rows, as long as the statement keeps orders. Run the statement by `fetched`.

    Examples
    --------
    >>> sql, parameters = relation(Source((Path("/a*.parquet"),), "parquet", ("x", "y"), ("BIGINT", "VARCHAR")))
    >>> sql, parameters
    ('read_parquet(?, hive_partitioning = false) AS source(c0, c1)', [['/a[*].parquet']])
    """
    return _relation(source, source.files)


def fetched(source: Source, action: Callable[[], T]) -> T:
    """Do something that reads the table in the database; a failure names the file, and never what is in it.

    Raises
    ------
    DataError
        When a file cannot be read, or memory or disk do not suffice.
    """
    import duckdb

    try:
        return action()
    except duckdb.OutOfMemoryException:
        fault: KohortError = DataError("memory: the limit is too small for this table, or the disk is full; give more.")
    except duckdb.Error as error:
        if NO_ROOM.search(str(error)):
            fault = DataError("the disk is full, and partitions of the table are written to it; free some room.")
        else:
            faults = damaged(source)
            fault = DataError(*faults) if faults else InternalError("A statement that reads the table failed.")
    # raised out here, so that the database's message, which quotes cells, is not even in its context
    raise fault


# -- CSV -----------------------------------------------------------------------------------------


def _csv(files: Sequence[Path], settings: Input) -> Source:
    first: tuple[Path, Dialect] | None = None
    encodings: list[str] = []
    faults: list[str] = []
    for path in files:
        try:
            with readable(path):
                dialect = sniff(regular(path), settings)
        except DataError as error:
            faults += error.faults
            continue
        encodings.append(dialect.encoding)
        first = first or (path, dialect)
        faults += _unlike(path, dialect, *first)
    if faults or first is None:
        raise DataError(*faults)
    columns = first[1].header
    texts = ("VARCHAR",) * len(columns)
    return Source(tuple(files), "csv", columns, texts, dialect=first[1], encodings=tuple(encodings))


def _unlike(path: Path, dialect: Dialect, first: Path, wanted: Dialect) -> list[str]:
    """What a file has otherwise than the first; without a header its names would be cells, so they are not quoted."""
    if dialect.delimiter != wanted.delimiter:
        return [f"{path.name}: has another delimiter than {first.name}; write all files alike, or give it in [input]."]
    here, there = dialect.header, wanted.header
    if len(here) != len(there):
        return [f"{path.name}: its header has {len(here)} columns and that of {first.name} has {len(there)}."]
    differing = [place for place, names in enumerate(zip(here, there, strict=True), 1) if len(set(names)) > 1]
    if differing:
        which = f"column {differing[0]}" + (" and others" if len(differing) > 1 else "")
        return [f"{path.name}: its header differs from that of {first.name} in {which}; every file needs the same."]
    return []


# -- Parquet -------------------------------------------------------------------------------------


def _parquet(files: Sequence[Path], known: Collection[str]) -> Source:
    import duckdb

    faults: list[str] = []
    first: tuple[Path, dict[str, str]] | None = None
    zones: dict[str, str] = {}
    rows = 0
    with duckdb.connect() as connection:
        for path in files:
            found = _footer(connection, path)
            if isinstance(found, str):
                faults.append(found)
                continue
            types, count = found
            here = parquet_zones(connection, path)
            if first is None:
                first, zones = (path, types), here
                # An unknown zone first: some versions of polars panic when they read of it.
                faults += unknown_zones(here, path.name, known) or _unusable(path, types, known)
            else:
                faults += _differing(path, types, *first, known)
                faults += _elsewhere(path, here, first[0], zones, known)
            rows += count
    if first is not None and len(files) > 1 and not faults:
        faults += _namesakes(first[0], list(first[1]))
    if not faults and not rows:
        faults.append(f"{files[0].name}: has no rows; there is nothing to publish.")
    if faults or first is None:
        raise DataError(*faults)
    return Source(tuple(files), "parquet", tuple(first[1]), tuple(first[1].values()), rows, zones=zones)


def _footer(connection: duckdb.DuckDBPyConnection, path: Path) -> tuple[dict[str, str], int] | str:
    """The columns of a file with their types, and its rows; or what is wrong with it."""
    import duckdb

    try:
        size = regular(path).stat().st_size
        with path.open("rb"):
            pass
    except OSError as error:
        return f"{path.name}: cannot be read ({error.strerror or 'it is damaged'}); check the path."
    damaged = f"{path.name}: is no readable Parquet file; check how it was written."
    where = [literal_path(path)]
    try:
        schema = connection.execute(
            "SELECT name, coalesce(num_children, 0), coalesce(precision, 0) FROM parquet_schema(?)", where
        ).fetchall()
        described = connection.execute("DESCRIBE SELECT * FROM read_parquet(?, hive_partitioning = false)", where)
        kinds = [str(kind) for _, kind, *_ in described.fetchall()]
        [(rows,)] = connection.execute("SELECT num_rows FROM parquet_file_metadata(?)", where).fetchall()
        [(held, end)] = connection.execute(
            "SELECT coalesce(sum(rows), 0), coalesce(max(last), 0) FROM (SELECT any_value(row_group_num_rows) AS rows, "
            "max(coalesce(dictionary_page_offset, data_page_offset) + total_compressed_size) AS last "
            "FROM parquet_metadata(?) GROUP BY row_group_id)",
            where,
        ).fetchall()
    except duckdb.Error:
        return damaged
    top = _top(schema)
    names = [name for name, _ in top]
    if nameless := [place for place, name in enumerate(names, 1) if not name.strip()]:
        return f"{path.name}: {no_name(nameless)}"
    if long := [place for place, (_, digits) in enumerate(top, 1) if digits > _DIGITS]:
        return f"{path.name}: column {long[0]} holds numbers of too many digits; round it, or make it text."
    if twice := namesakes(names):
        return f"{path.name}: columns {listed(next(iter(twice.values())))} have the same name; rename all but one."
    if not names or len(names) != len(kinds) or held != rows or end > size:
        return damaged
    return dict(zip(names, kinds, strict=True)), int(rows)


def _top(schema: Sequence[tuple[str, int, int]]) -> list[tuple[str, int]]:
    """Names of the columns and digits of decimals: the tree comes in pre-order, and what is in a column is skipped."""
    top, inside = [], 0
    for name, children, digits in schema[1:]:
        if inside:
            inside += children - 1
        else:
            top.append((name, digits))
            inside = children
    return top


def _unusable(path: Path, types: dict[str, str], known: Collection[str]) -> list[str]:
    """Columns that cannot be published: more than one value per cell, or of a type that the audit does not know.

    The database does not see all that a file says about its columns, such as that numbers are durations.
    """
    import polars as pl

    with path.open("rb") as file:  # by its name, polars would take it for a pattern
        schema = pl.read_parquet_schema(file)
    return [
        f"{path.name}: {called(name, place, known)} holds {fault}."
        for place, (name, kind) in enumerate(types.items(), 1)
        if (fault := unusable(schema.get(name, pl.Null())) or unusable(_dtype(kind)))
    ]


def _dtype(kind: str) -> pl.DataType:
    """A type of the database as one of polars, for the words that messages have for it."""
    import polars as pl

    if kind.endswith("]"):
        return pl.List(pl.Null)
    known: dict[str, pl.DataType] = {
        **dict.fromkeys(("VARCHAR", "ENUM"), pl.String()),
        **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT"), pl.Int64()),
        **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"), pl.UInt64()),
        **dict.fromkeys(("FLOAT", "DOUBLE"), pl.Float64()),
        **dict.fromkeys(("HUGEINT", "UHUGEINT"), pl.Int128()),
        **dict.fromkeys(("STRUCT", "MAP", "UNION"), pl.Struct([])),
        "BOOLEAN": pl.Boolean(),
        "DATE": pl.Date(),
        **dict.fromkeys(("TIME", "TIME_NS"), pl.Time()),
        "DECIMAL": pl.Decimal(38, 0),
        "BLOB": pl.Binary(),
        "INTERVAL": pl.Duration(),
        "LIST": pl.List(pl.Null),
        '"NULL"': pl.Null(),
    }
    word = kind.partition("(")[0]
    if word.startswith("TIMESTAMP"):
        return pl.Datetime()
    return known.get(word, pl.Unknown())


def _differing(
    path: Path, types: dict[str, str], first: Path, wanted: dict[str, str], known: Collection[str]
) -> list[str]:
    """Columns that a file lacks, has too many, or has with another type; their order does not matter."""
    lacking = [
        f"{path.name}: lacks {called(name, place, known)} of {first.name}; every file needs the same columns."
        for place, name in enumerate(wanted, 1)
        if name not in types
    ]
    more = [
        f"{path.name}: its {called(name, place, known)} is not in {first.name}; every file needs the same columns."
        for place, name in enumerate(types, 1)
        if name not in wanted
    ]
    retyped = [
        f"{path.name}: {called(name, place, known)} is of type {kind}, and of type {wanted[name]} in {first.name}; "
        "write it alike."
        for place, (name, kind) in enumerate(types.items(), 1)
        if name in wanted and wanted[name] != kind
    ]
    return lacking + more + retyped


def _elsewhere(
    path: Path, zones: dict[str, str], first: Path, wanted: dict[str, str], known: Collection[str]
) -> list[str]:
    """Columns whose moments are in another time zone than those of the first file."""
    return [
        f"{path.name}: {zoned(name, known)} is in another time zone than in {first.name}; write it alike."
        for name, zone in wanted.items()
        if zones.get(name, zone) != zone
    ]


def _namesakes(path: Path, columns: Sequence[str]) -> list[str]:
    """Names that the database takes for one when it looks for them in several files."""
    alike = namesakes([name.lower() for name in columns])
    return [
        f"{path.name}: the names of columns {listed(places)} differ in case alone; "
        "rename one, or give the table as one file."
        for places in alike.values()
    ]


# -- both ----------------------------------------------------------------------------------------


def _relation(source: Source, files: Sequence[Path]) -> tuple[str, list[Any]]:
    names = ", ".join(f"c{place}" for place in range(len(source.columns)))
    paths = [literal_path(path) for path in files]
    if source.dialect is None:
        return f"read_parquet(?, hive_partitioning = false) AS source({names})", [paths]
    columns = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(source.columns)))
    sql = (
        "read_csv(?, delim = ?, quote = ?, escape = ?, header = true, auto_detect = false, strict_mode = true, "
        f"null_padding = false, ignore_errors = false, nullstr = {NO_TEXT}, "
        # buffers would be 16 times as large as the longest line, each
        "max_line_size = 33554432, buffer_size = 33554432, "
        f"hive_partitioning = false, compression = 'auto', skip = ?, columns = {{{columns}}}) AS source({names})"
    )
    return sql, [paths, source.dialect.delimiter, source.dialect.quote, source.dialect.quote, source.dialect.preamble]


def damaged(source: Source) -> list[str]:
    """Read the files one by one: what is wrong with each that cannot be read."""
    import duckdb

    cells = ", ".join(f"c{place}" for place in range(len(source.columns)))
    faults = []
    with duckdb.connect() as connection:
        for path in source.files:
            sql, parameters = _relation(source, [path])
            try:
                connection.execute(f"SELECT bit_xor(hash({cells})) FROM {sql}", parameters).fetchall()
            except duckdb.Error as error:
                faults.append(f"{path.name}{_unread(source, str(error))}")
    return faults


def _unread(source: Source, message: str) -> str:
    if source.kind == "csv":
        return reader_fault(message)
    return ": cannot be read to its end; the file is damaged, so write or copy it again."
