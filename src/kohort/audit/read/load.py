"""Opening tables for the database, every cell as text and nothing altered."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from kohort.audit.meaning.published import STAR, alike_columns
from kohort.audit.read.csv import is_source, open_csv
from kohort.audit.read.database import Database, Unreadable
from kohort.audit.read.files import Paths, listed_files
from kohort.audit.read.formats import Kinds, Reader, reader_of
from kohort.audit.read.opened import File, Opened, array_of, is_list, of_kept, refuse_namesakes, refuse_nested
from kohort.audit.read.parquet import open_parquet
from kohort.audit.read.stored import stored_pieces
from kohort.audit.read.table import Chunk, Table
from kohort.audit.read.zones import day_of
from kohort.errors import DataError

if TYPE_CHECKING:
    import polars as pl

    from kohort.policy import Policy
    from kohort.table.databases import SqlTable

    Source: TypeAlias = "Paths | pl.DataFrame | SqlTable"

FEW = 24
"""Sensitive columns whose texts are numbered at once."""


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
        Files of any kind that kohort reads, known by their first bytes; a folder or pattern of such; or a frame.
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
        missing={column: missing_texts(policy, column) for column in columns},
        viewed={
            column: sql
            for column, sql in columns.items()
            if column not in policy.columns or policy.columns[column].role != "insensitive"
        },
    )
    _make_view(table, policy)
    _read_through(table, policy, is_copied=opened.is_copied)
    return table


def missing_texts(policy: Policy, column: str) -> frozenset[str]:
    """Texts of a column that mean a missing value wherever it is asked about.

    Sensitive and insensitive cells are published as they are, so texts that the policy calls missing stay what they
    are there; models and ledgers, which count values, have a form in which they are one. A column that the policy does
    not name may hold such texts as numbers.
    """
    counts = column in policy.columns and policy.columns[column].role not in ("sensitive", "insensitive")
    return frozenset({"", *(policy.input.missing if counts else ())})


def _opened(database: Database, name: str, source: Source, policy: Policy, wanted: Collection[str]) -> Opened:
    import polars as pl

    from kohort.table.databases import SqlTable

    if isinstance(source, pl.DataFrame):
        return _frame(database, name, source, policy, wanted)
    if isinstance(source, SqlTable):
        copies = _packed(database, name, stored_pieces(source, name, _kinds(name, policy)), f"{name} {source.name}")
        return open_parquet(database, name, copies, policy, wanted)
    if not isinstance(source, str | Path | list | tuple):
        raise DataError(f"{name}: give a path or a polars DataFrame.")
    files = [File(path, f"{name} {path.name}") for path in listed_files(source, name)]
    kinds = [_kind(file) for file in files]
    if len({kind if isinstance(kind, str) else kind.name for kind in kinds}) > 1:
        raise DataError(f"{name}: its files are of several kinds; give files of one kind.")
    kind = kinds[0]
    if isinstance(kind, Reader):
        files, kind = _as_parquet(database, name, files, kind, policy), "parquet"
    return (open_parquet if kind == "parquet" else open_csv)(database, name, files, policy, wanted)


def _kind(file: File) -> str | Reader:
    """``csv``, ``parquet``, or the reader for anything else."""
    head = file.head(8)
    return "parquet" if head.startswith(b"PAR1") else reader_of(head, file.path) or "csv"


def _as_parquet(database: Database, name: str, files: list[File], reader: Reader, policy: Policy) -> list[File]:
    """Copy what a reader finds into the private folder, piece by piece."""
    settings = policy.input if is_source(name) else None
    kinds = _kinds(name, policy)
    return [
        copy
        for number, file in enumerate(files)
        for copy in _packed(
            database, f"{name}{number}", reader.pieces(file.path, file.place, settings, kinds), file.place
        )
    ]


def _kinds(name: str, policy: Policy) -> Kinds:
    """Where equal cells must be of one kind: in the quasi-identifiers of a release, and their ends."""
    return Kinds(name, () if is_source(name) else alike_columns(policy))


def _packed(database: Database, name: str, pieces: Iterator[pl.DataFrame], place: str) -> list[File]:
    copies: list[File] = []
    for piece in pieces:
        if piece.height or not copies:
            copies.append(File(database.folder / f"{name}_{len(copies)}.parquet", place))
            database.pack(piece, copies[-1].path)
    return copies


def _make_view(table: Table, policy: Policy) -> None:
    """Make cells readable as text, with NULL for missing ones; ``rowid`` is the order of the file.

    Insensitive columns are left out: they may be many, and every statement would have to look at all of them.
    """
    columns = table.viewed
    cells = [f"{table.row} AS rowid", *(f"{table.text(column)} AS {sql}" for column, sql in columns.items())]
    quasi = [columns[column] for column in policy.quasi_identifiers if column in columns]
    # asked before missing texts are taken out: '*' may be one of them
    starred = " AND ".join(f"CAST({sql} AS VARCHAR) = '{STAR}'" for sql in quasi) or "false"
    cells += [f"CAST({sql} AS VARCHAR) AS literal_{sql}" for sql in quasi]
    cells.append(f"coalesce({starred}, false) AS starred")
    table.database.rows(f"CREATE VIEW {table.name} AS SELECT {', '.join(cells)} FROM {table.relation}")


def _read_through(table: Table, policy: Policy, *, is_copied: bool) -> None:
    """Read every wanted column to its end, so that a damaged file is found before anything is said about it."""
    unread: list[str] = []
    try:
        sensitive = policy.having_role("sensitive")
        # of many sensitive columns, most are compared with the original and nothing else
        counted = {*policy.quasi_identifiers, *policy.sets, *(sensitive if len(sensitive) <= FEW else ())}
        if not is_copied:
            table.read_through([column for column in table.columns if column not in counted])
        for column in table.columns:
            if column in counted:
                table.dictionary(column)
    except Unreadable:
        unread = [part.place for part in table.parts if not _is_readable(table, part)] or [table.name]
    if unread:
        raise DataError(*(f"{place}: it cannot be read; it is damaged, or of a strange type." for place in unread))


def _is_readable(table: Table, part: Chunk) -> bool:
    try:
        table.database.rows(f"SELECT bit_xor(hash({', '.join(table.columns.values())})) FROM {part.relation}")
    except Unreadable:
        return False
    return True


def _frame(database: Database, name: str, source: pl.DataFrame, policy: Policy, wanted: Collection[str]) -> Opened:
    import polars as pl

    refuse_namesakes(source.columns, name, policy)
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
        refuse_nested({column: kinds[sql] for column, sql in columns.items()}, name, policy.sets)
        # what is published is asked as it is: moments of one day are not alike
        days = policy.quasi_identifiers if is_source(name) else ()
        cells = ", ".join(_cells(source, columns, kinds, days, policy.sets)) or "nothing"
        database.rows(f"CREATE TABLE {name}_cells AS SELECT {cells} FROM {name}_source")
    except Unreadable:
        raise DataError(f"{name}: it cannot be read; it is damaged, or of a strange type.") from None
    return of_kept(database, f"{name}_cells", tuple(source.columns), kinds, name)


def _cells(
    source: pl.DataFrame, columns: dict[str, str], kinds: dict[str, str], days: Collection[str], sets: Collection[str]
) -> Iterator[str]:
    """SQL of the cells of a frame; those of some columns are days where they are moments in a zone, or arrays."""
    for column, sql in columns.items():
        if column in sets and is_list(kinds[sql]):
            yield f"{array_of(sql)} AS {sql}"
            kinds[sql] = "VARCHAR"
            continue
        zone = getattr(source.schema[column], "time_zone", None)
        if zone is None or column not in days:
            yield sql
            continue
        yield f"{day_of(sql, kinds[sql], zone)} AS {sql}"
        kinds[sql] = "DATE"
