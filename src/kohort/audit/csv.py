"""CSV files: read once and strictly, and kept by the database; in limited memory, as Parquet files in its folder."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import islice

from kohort.audit.database import Database, Unreadable
from kohort.audit.dialect import UTF8, Dialect, records, sniff
from kohort.audit.opened import ROW, File, Opened, all_parts, literal, of_kept, refuse_namesakes
from kohort.audit.table import Part
from kohort.errors import DataError
from kohort.policy import Policy

_RECORDS = 1 << 16
"""Records that Python reads at a time where the database cannot."""
_LINE = 1 << 25
"""Bytes of the longest line, and of the database's buffers, which would be 16 times as large."""
_NOTHING = "nothing"
"""A column of nulls for a table that has none of the wanted ones."""


def open_csv(database: Database, name: str, files: Sequence[File], policy: Policy, wanted: Collection[str]) -> Opened:
    """Read files, which must have the same header."""
    dialects = [_dialect(file, name, policy) for file in files]
    header = dialects[0].header
    refuse_namesakes(header, files[0].place, policy)
    faults = [
        f"{file.place}: its header is not that of {files[0].path.name}; every file needs the same."
        for file, dialect in zip(files, dialects, strict=True)
        if dialect.header != header
    ]
    if faults:
        raise DataError(*faults)
    names = [f"c{i}" for i, column in enumerate(header) if column in wanted] or [_NOTHING]
    both = list(zip(files, dialects, strict=True))
    if database.is_limited and all(dialect.encoding == UTF8 for dialect in dialects):
        return _packed(database, name, both, names)
    kept = f"{name}_cells"
    database.rows(f"CREATE TABLE {kept} ({', '.join(f'{sql} VARCHAR' for sql in names)})")
    for file, dialect in both:
        _keep(database, kept, names, file, dialect)
    return of_kept(database, kept, header, dict.fromkeys(names, "VARCHAR"), files[0].place)


def _dialect(file: File, name: str, policy: Policy) -> Dialect:
    if not name.startswith(("original", "population")):
        return sniff(file.path, file.place)
    given = policy.input
    return sniff(
        file.path,
        file.place,
        delimiter=given.delimiter,
        quote=given.quote,
        encoding=given.encoding,
        only_utf8=False,
    )


def _packed(database: Database, name: str, files: Sequence[tuple[File, Dialect]], names: Sequence[str]) -> Opened:
    """Write each file as Parquet to the private folder, where it takes a tenth of the room."""
    parts: list[Part] = []
    copies: list[File] = []
    start = 0
    for file, dialect in files:
        copy = File(database.folder / f"{name}{len(copies)}.parquet", file.place)
        target = f"TO {literal(str(copy.path))} (FORMAT parquet)"
        _run(database, f"COPY (SELECT {_cells(names)} FROM {_read_csv(file, dialect)}) {target}", file)
        [(rows,)] = database.rows(f"SELECT num_rows FROM parquet_file_metadata({copy.sql})")
        parts.append(Part(f"read_parquet({copy.sql}) AS source", ROW, start, int(rows), file.place))
        copies.append(copy)
        start += int(rows)
    relation, row = all_parts(copies, parts, names)
    return Opened(files[0][1].header, relation, row, tuple(parts), dict.fromkeys(names, "VARCHAR"))


def _keep(database: Database, kept: str, names: Sequence[str], file: File, dialect: Dialect) -> None:
    """Add the records of a file to a table of the database."""
    if dialect.encoding == UTF8:
        _run(database, f"INSERT INTO {kept} SELECT {_cells(names)} FROM {_read_csv(file, dialect)}", file)
        return
    import polars as pl

    schema = {f"c{i}": pl.String for i in range(len(dialect.header))}
    rows = records(file.path, dialect, file.place)
    while some := list(islice(rows, _RECORDS)):
        database.register("some_records", pl.DataFrame(some, schema=schema, orient="row"))
        database.rows(f"INSERT INTO {kept} SELECT {_cells(names)} FROM some_records")


def _cells(names: Sequence[str]) -> str:
    return ", ".join(name if name != _NOTHING else f"NULL AS {_NOTHING}" for name in names)


def _run(database: Database, sql: str, file: File) -> None:
    try:
        database.rows(sql)
    except Unreadable as fault:
        where = f"line {fault.line} is not a record like the others" if fault.line else "it cannot be read"
        raise DataError(f"{file.place}: {where}; check its number of cells, quotes and line ends.") from None


def _read_csv(file: File, dialect: Dialect) -> str:
    # names are given by position: the database would rename those that differ in case alone
    types = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(dialect.header)))
    quote, delimiter = literal(dialect.quote), literal(dialect.delimiter)
    return (
        f"read_csv({file.sql}, columns = {{{types}}}, delim = {delimiter}, quote = {quote}, escape = {quote}, "
        f"compression = '{'gzip' if dialect.gzipped else 'none'}', header = true, auto_detect = false, "
        "hive_partitioning = false, strict_mode = true, null_padding = false, ignore_errors = false, "
        f"max_line_size = {_LINE}, buffer_size = {_LINE})"
    )
