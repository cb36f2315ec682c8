"""Opening tables for the database, every cell as text and nothing altered.

Parquet files are read where they are. CSV files and frames are read once and kept by the database, which writes to its
private folder what does not fit into memory.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from kohort.audit.database import Database, Unreadable
from kohort.audit.dialect import Dialect, records, sniff
from kohort.audit.files import Paths, listed_files
from kohort.audit.published import STAR
from kohort.audit.table import Part, Table
from kohort.errors import DataError

if TYPE_CHECKING:
    import polars as pl

    from kohort.policy import Policy

    Source: TypeAlias = "Paths | pl.DataFrame"

__all__ = ["Database", "Table", "Unreadable", "load"]

_NESTED = re.compile(r"STRUCT|MAP|UNION|LIST|.*\]$")
_RECORDS = 1 << 16
"""Records that Python reads at a time where the database cannot."""


@dataclass(frozen=True)
class _Opened:
    """Where a table can be read: see `Table`."""

    header: tuple[str, ...]
    relation: str
    row: str
    parts: tuple[Part, ...]
    kinds: Mapping[str, str]


def load(database: Database, name: str, source: Source, policy: Policy, wanted: Collection[str]) -> Table:
    """Open a table for its wanted columns that are there, and read each of them once.

    Parameters
    ----------
    database : Database
        Where to.
    name : str
        ``release``, ``original`` and so on; only the original and a population are read as ``[input]`` of the policy
        says.
    source : path, list of paths, or polars.DataFrame
        CSV, plain or gzipped, or Parquet, told apart by their first bytes; a folder or pattern of such; or a frame.
    policy : Policy
        Says which texts are missing and which columns are quasi-identifiers.
    wanted : collection of str
        Columns to load.

    Raises
    ------
    DataError
        When the table cannot be read, names a column twice, or its files have different columns.
    """
    opened = _opened(database, name, source, policy, wanted)
    columns = {column: f"c{i}" for i, column in enumerate(opened.header) if column in wanted}
    table = Table(
        database=database,
        name=name,
        header=opened.header,
        columns=columns,
        rows=sum(part.rows for part in opened.parts),
        relation=opened.relation,
        row=opened.row,
        parts=opened.parts,
        kinds=opened.kinds,
        # texts for missing are those of the table's own columns: a column that a release adds may hold them as numbers
        missing={
            column: frozenset({"", *(policy.input.missing if column in policy.columns else ())}) for column in columns
        },
    )
    _make_view(table, policy)
    _read_through(table, policy)
    return table


def _opened(database: Database, name: str, source: Source, policy: Policy, wanted: Collection[str]) -> _Opened:
    import polars as pl

    if isinstance(source, pl.DataFrame):
        return _frame(database, name, source, policy, wanted)
    if not isinstance(source, str | Path | list | tuple):
        raise DataError(f"{name}: give a path or a polars DataFrame.")
    files = [_File(path, f"{name} {path.name}") for path in listed_files(source, name)]
    are_parquet = {file.starts_with(b"PAR1") for file in files}
    if len(are_parquet) > 1:
        raise DataError(f"{name}: some of its files are Parquet and some are not; give files of one kind.")
    return (_parquet if are_parquet == {True} else _csv)(database, name, files, policy, wanted)


@dataclass(frozen=True)
class _File:
    """A file, and what it is called in a message."""

    path: Path
    place: str

    def starts_with(self, magic: bytes) -> bool:
        try:
            with self.path.open("rb") as file:
                return file.read(len(magic)) == magic
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            raise DataError(f"{self.place}: cannot be opened ({reason}); check the path.") from None

    @property
    def sql(self) -> str:
        """Its path as a literal; a pattern in a file name would make the database read other files."""
        return _literal(re.sub(r"([\[*?])", r"[\1]", str(self.path.absolute())))


def _make_view(table: Table, policy: Policy) -> None:
    """Make cells readable as text, with NULL for missing ones; ``rowid`` is the order of the file."""
    columns = table.columns
    cells = [f"{table.row} AS rowid", *(f"{table.text(column)} AS {sql}" for column, sql in columns.items())]
    quasi = [columns[column] for column in policy.quasi_identifiers if column in columns]
    # asked before missing texts are taken out: '*' may be one of them
    starred = " AND ".join(f"CAST({sql} AS VARCHAR) = '{STAR}'" for sql in quasi) or "false"
    cells += [f"coalesce(CAST({sql} AS VARCHAR), '') AS literal_{sql}" for sql in quasi]
    cells.append(f"coalesce({starred}, false) AS starred")
    table.database.rows(f"CREATE VIEW {table.name} AS SELECT {', '.join(cells)} FROM {table.relation}")


def _read_through(table: Table, policy: Policy) -> None:
    """Read every wanted column to its end, so that a damaged file is found before anything is said about it."""
    unread: list[str] = []
    try:
        for column in table.columns:
            if column in policy.columns and policy.columns[column].role in ("quasi", "sensitive"):
                table.dictionary(column)
            else:
                table.is_narrow(column)
    except Unreadable:
        unread = [part.place for part in table.parts if not _is_readable(table, part)] or [table.name]
    if unread:
        raise DataError(*(f"{place}: it cannot be read; it is damaged, or of a strange type." for place in unread))


def _is_readable(table: Table, part: Part) -> bool:
    try:
        table.database.rows(f"SELECT bit_xor(hash({', '.join(table.columns.values())})) FROM {part.relation}")
    except Unreadable:
        return False
    return True


# -- Parquet -------------------------------------------------------------------------------------


def _parquet(database: Database, name: str, files: Sequence[_File], policy: Policy, wanted: Collection[str]) -> _Opened:
    """Leave the files where they are; all must have the same columns, in any order."""
    heads = [_parquet_head(database, file, policy) for file in files]
    first = heads[0]
    faults = []
    for file, head in zip(files[1:], heads[1:], strict=True):
        faults += _differences(file.place, head, files[0].path.name, first, wanted)
    if len(files) > 1 and len({column.lower() for column in first.types}) < len(first.types):
        faults.append(f"{name}: columns of its files have names that differ in case alone; rename one.")
    if faults:
        raise DataError(*faults)
    header = tuple(first.types)
    number = {column: i for i, column in enumerate(header)}
    _refuse_nested({column: first.types[column] for column in header if column in wanted}, files[0].place)
    parts, start = [], 0
    for file, head in zip(files, heads, strict=True):
        names = ", ".join(f"c{number[column]}" for column in head.types)
        relation = f"read_parquet({file.sql}, hive_partitioning = false) AS source({names})"
        parts.append(Part(relation, "source.file_row_number", start, head.rows, file.place))
        start += head.rows
    kinds = {f"c{i}": first.types[column] for i, column in enumerate(header)}
    return _Opened(header, *_all_parts(files, parts, len(header)), tuple(parts), kinds)


def parquet_file(
    database: Database, path: Path, name: str, policy: Policy
) -> tuple[tuple[str, ...], Mapping[str, str], Part]:
    """Open one Parquet file: its header, the types of c0, c1 and so on, and its rows."""
    file = _File(path, f"{name} {path.name}")
    if not file.starts_with(b"PAR1"):
        raise DataError(f"{file.place}: it is no Parquet file; give one.")
    opened = _parquet(database, name, [file], policy, ())
    return opened.header, opened.kinds, opened.parts[0]


@dataclass(frozen=True)
class _Head:
    """What the footer of a Parquet file says: the type of each column, and the number of rows."""

    types: Mapping[str, str]
    rows: int


def _parquet_head(database: Database, file: _File, policy: Policy) -> _Head:
    try:
        schema = database.rows(f"SELECT name, coalesce(num_children, 0) FROM parquet_schema({file.sql})")
        described = database.rows(f"DESCRIBE SELECT * FROM read_parquet({file.sql}, hive_partitioning = false)")
        [(rows,)] = database.rows(f"SELECT num_rows FROM parquet_file_metadata({file.sql})")
    except Unreadable:
        raise DataError(f"{file.place}: it cannot be read as Parquet; the file is damaged.") from None
    header, inside = [], 0  # the tree comes in pre-order: skip what is inside a nested column
    for name, children in schema[1:]:
        if inside:
            inside += children - 1
        else:
            header.append(str(name))
            inside = children
    _refuse_namesakes(header, file.place, policy)
    return _Head({name: str(kind) for name, (_, kind, *_rest) in zip(header, described, strict=True)}, int(rows))


def _differences(place: str, head: _Head, other: str, first: _Head, wanted: Collection[str]) -> list[str]:
    lacking = [f"{place}: lacks column {name!r}, which {other} has." for name in first.types if name not in head.types]
    more = [f"{place}: has column {name!r}, which {other} lacks." for name in head.types if name not in first.types]
    return (
        lacking
        + more
        + [
            f"{place}: column {name!r} is of another type than in {other}; write all files alike."
            for name, kind in first.types.items()
            if name in wanted and head.types.get(name, kind) != kind
        ]
    )


def _all_parts(files: Sequence[_File], parts: Sequence[Part], width: int) -> tuple[str, str]:
    """SQL of all files as one relation, and of the number of a row in it."""
    names = ", ".join(f"c{i}" for i in range(width))
    paths = ", ".join(file.sql for file in files)
    relation = f"read_parquet([{paths}], hive_partitioning = false) AS source({names})"
    if len(parts) == 1:
        return relation, "source.file_row_number"
    starts = ", ".join(str(part.start) for part in parts)
    return relation, f"list_extract([{starts}], CAST(source.file_index + 1 AS BIGINT)) + source.file_row_number"


# -- CSV -----------------------------------------------------------------------------------------


def _csv(database: Database, name: str, files: Sequence[_File], policy: Policy, wanted: Collection[str]) -> _Opened:
    """Read the files once; all must have the same header."""
    dialects = [_dialect(file, name, policy) for file in files]
    header = dialects[0].header
    _refuse_namesakes(header, files[0].place, policy)
    faults = [
        f"{file.place}: its header is not that of {files[0].path.name}; every file needs the same."
        for file, dialect in zip(files, dialects, strict=True)
        if dialect.header != header
    ]
    if faults:
        raise DataError(*faults)
    names = [f"c{i}" for i, column in enumerate(header) if column in wanted]
    kept = f"{name}_cells"
    database.rows(f"CREATE TABLE {kept} ({', '.join(f'{sql} VARCHAR' for sql in names) or 'nothing VARCHAR'})")
    for file, dialect in zip(files, dialects, strict=True):
        _keep(database, kept, ", ".join(names) or "NULL", file, dialect)
    return _kept(database, kept, header, dict.fromkeys(names, "VARCHAR"), files[0].place)


def _dialect(file: _File, name: str, policy: Policy) -> Dialect:
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


def _keep(database: Database, kept: str, cells: str, file: _File, dialect: Dialect) -> None:
    """Add the records of a file to a table of the database."""
    if dialect.encoding != "utf-8-sig":
        import polars as pl

        schema = {f"c{i}": pl.String for i in range(len(dialect.header))}
        rows = records(file.path, dialect, file.place)
        while some := list(islice(rows, _RECORDS)):
            database.register("some_records", pl.DataFrame(some, schema=schema, orient="row"))
            database.rows(f"INSERT INTO {kept} SELECT {cells} FROM some_records")
        return
    try:
        database.rows(f"INSERT INTO {kept} SELECT {cells} FROM {_read_csv(file, dialect)}")
    except Unreadable as fault:
        where = f"line {fault.line} is not a record like the others" if fault.line else "it cannot be read"
        raise DataError(f"{file.place}: {where}; check its number of cells, quotes and line ends.") from None


def _read_csv(file: _File, dialect: Dialect) -> str:
    # names are given by position: the database would rename those that differ in case alone
    types = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(dialect.header)))
    quote, delimiter = _literal(dialect.quote), _literal(dialect.delimiter)
    return (
        f"read_csv({file.sql}, columns = {{{types}}}, delim = {delimiter}, quote = {quote}, escape = {quote}, "
        f"compression = '{'gzip' if dialect.gzipped else 'none'}', header = true, auto_detect = false, "
        "hive_partitioning = false, strict_mode = true, null_padding = false, ignore_errors = false, "
        "max_line_size = 33554432)"
    )


# -- both, and frames ----------------------------------------------------------------------------


def _frame(database: Database, name: str, source: pl.DataFrame, policy: Policy, wanted: Collection[str]) -> _Opened:
    import polars as pl

    _refuse_namesakes(source.columns, name, policy)
    # an index comes along, for a release may have none of the wanted columns; DuckDB refuses columns
    # that hold nothing but nulls of no type
    positional = source.select(
        pl.int_range(pl.len()).alias("nothing"),
        *(
            pl.col(column).cast(pl.String if kind == pl.Null else kind).alias(f"c{i}")
            for i, (column, kind) in enumerate(source.schema.items())
            if column in wanted
        ),
    )
    database.register(f"{name}_source", positional)
    columns = {column: f"c{i}" for i, column in enumerate(source.columns) if column in wanted}
    try:
        described = database.rows(f"DESCRIBE SELECT * FROM {name}_source")
        kinds = {str(sql): str(kind) for sql, kind, *_ in described}
        _refuse_nested({column: kinds[sql] for column, sql in columns.items()}, name)
        cells = ", ".join(columns.values()) or "nothing"
        database.rows(f"CREATE TABLE {name}_cells AS SELECT {cells} FROM {name}_source")
    except Unreadable:
        raise DataError(f"{name}: it cannot be read; it is damaged, or of a strange type.") from None
    return _kept(database, f"{name}_cells", tuple(source.columns), kinds, name)


def _kept(database: Database, kept: str, header: tuple[str, ...], kinds: Mapping[str, str], place: str) -> _Opened:
    """Describe a table of the database itself."""
    [(rows,)] = database.rows(f"SELECT count(*) FROM {kept}")
    relation = f"{kept} AS source"
    return _Opened(header, relation, "source.rowid", (Part(relation, "source.rowid", 0, rows, place),), kinds)


def _refuse_namesakes(header: Sequence[str], place: str, policy: Policy) -> None:
    """Refuse a name that heads two columns; it is told only if the policy has it, else it may be a cell."""
    positions: dict[str, list[str]] = {}
    for i, column in enumerate(header, 1):
        positions.setdefault(column, []).append(str(i))
    faults = []
    for column, (*most, last) in positions.items():
        if most and column in policy.columns:
            faults.append(f"{place}: {column!r} heads more than one column; give each column its own name.")
        elif most:
            where = f"{', '.join(most)} and {last}"
            faults.append(f"{place}: columns {where} of the header have the same name; give each column its own name.")
    if faults:
        raise DataError(*faults)


def _refuse_nested(kinds: Mapping[str, str], place: str) -> None:
    """Refuse lists and records, as two may be written alike."""
    for column, kind in kinds.items():
        if _NESTED.match(kind):
            raise DataError(f"{place}: column {column!r} holds lists or records; only single values will do.")


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
