"""Loading tables into the database, every cell as text and nothing altered."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from kohort.audit.database import Database, Unreadable
from kohort.audit.dialect import Dialect, records, sniff
from kohort.audit.published import STAR
from kohort.errors import DataError

if TYPE_CHECKING:
    import polars as pl

    from kohort.policy import Policy

    Source: TypeAlias = "str | Path | pl.DataFrame"

__all__ = ["Database", "Table", "Unreadable", "load"]

_NESTED = re.compile(r"STRUCT|MAP|UNION|LIST|.*\]$")


@dataclass(frozen=True)
class Table:
    """A loaded table: text cells, NULL where missing, and the flag ``starred``.

    Quasi-identifiers are there a second time, under `literal`, as the source writes them.

    Attributes
    ----------
    name : str
        Its name in the database.
    header : tuple of str
        All column names of the source.
    columns : mapping
        Column name to SQL name, for the columns that were loaded.
    rows : int
        Number of rows.
    """

    database: Database
    name: str
    header: tuple[str, ...]
    columns: Mapping[str, str]
    rows: int

    def literal(self, column: str) -> str:
        """SQL name of a quasi-identifier as it is written: texts for missing are told apart."""
        return f"literal_{self.columns[column]}"

    def counts(self, column: str) -> dict[str | None, int]:
        """Count the rows of every distinct text of a column; None stands for missing."""
        sql = self.columns[column]
        return dict(self.database.rows(f"SELECT {sql}, count(*) FROM {self.name} GROUP BY ALL"))

    def missing(self, column: str) -> int:
        """Count the rows without a value in a column; those of ``*`` in every quasi-identifier are left out."""
        sql = self.columns[column]
        [(rows,)] = self.database.rows(f"SELECT count(*) FROM {self.name} WHERE {sql} IS NULL AND NOT starred")
        return int(rows)

    def differences(self, other: Table, column: str) -> dict[str | None, int]:
        """Tell how many more rows than another table it has of each text of a column, where that differs."""
        here, there = self.counts(column), other.counts(column)
        found = {text: here.get(text, 0) - there.get(text, 0) for text in here.keys() | there.keys()}
        return {text: rows for text, rows in found.items() if rows}


def load(database: Database, name: str, source: Source, policy: Policy, wanted: Collection[str]) -> Table:
    """Load the wanted columns of a table that are there.

    Parameters
    ----------
    database : Database
        Where to.
    name : str
        ``release``, ``original`` and so on; only the original and a population are read as ``[input]`` of the policy
        says.
    source : path or polars.DataFrame
        CSV, plain or gzipped, or Parquet, told apart by their first bytes; or a frame.
    policy : Policy
        Says which texts are missing and which columns are quasi-identifiers.
    wanted : collection of str
        Columns to load.

    Raises
    ------
    DataError
        When the table cannot be read, or names a column twice.
    """
    if isinstance(source, str | Path):
        place = f"{name} {Path(source).name}"
        header, relation, parameters = _open(database, Path(source), name, place, policy)
    else:
        place = name
        header, relation, parameters = _frame(database, source, name, wanted)
    _refuse_namesakes(header, place, policy)
    columns = {column: f"c{i}" for i, column in enumerate(header) if column in wanted}
    try:
        kinds = _kinds(database, relation, parameters, columns, place)
        _copy(database, name, relation, parameters, columns, kinds, policy)
        [(rows,)] = database.rows(f"SELECT count(*) FROM {name}")
    except Unreadable as fault:
        where = f"line {fault.line} is not a record like the others" if fault.line else "it cannot be read"
        is_csv = relation.startswith("read_csv")
        why = "check its number of cells, quotes and line ends" if is_csv else "it is damaged, or of a strange type"
        raise DataError(f"{place}: {where}; {why}.") from None
    return Table(database, name, header, columns, rows)


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


def _copy(
    database: Database,
    name: str,
    relation: str,
    parameters: Sequence[object],
    columns: Mapping[str, str],
    kinds: Mapping[str, str],
    policy: Policy,
) -> None:
    """Copy cells as text, with NULL for missing ones; ``rowid`` keeps the order of the file."""
    # texts for missing are those of the table's own columns: a column that a release adds may hold them as numbers
    texts = {
        sql: ", ".join(map(_literal, {"", *(policy.input.missing if column in policy.columns else ())}))
        for column, sql in columns.items()
    }
    # a typed column says "not a number" where another leaves the cell empty
    is_missing = {
        sql: f"CAST({sql} AS VARCHAR) IN ({texts[sql]})"
        + (f" OR isnan({sql})" if kinds[sql] in ("FLOAT", "DOUBLE") else "")
        for sql in columns.values()
    }
    cells = [
        f"CASE WHEN {is_missing[sql]} THEN NULL ELSE CAST({sql} AS VARCHAR) END AS {sql}" for sql in columns.values()
    ]
    quasi = [columns[column] for column in policy.quasi_identifiers if column in columns]
    # asked before missing texts are taken out: '*' may be one of them
    starred = " AND ".join(f"CAST({sql} AS VARCHAR) = '{STAR}'" for sql in quasi) or "false"
    literal = [f"coalesce(CAST({sql} AS VARCHAR), '') AS literal_{sql}" for sql in quasi]
    select = ", ".join([*cells, *literal, f"coalesce({starred}, false) AS starred"])
    database.rows(f"CREATE TABLE {name} AS SELECT {select} FROM {relation}", *parameters)


def _open(
    database: Database, path: Path, name: str, place: str, policy: Policy
) -> tuple[tuple[str, ...], str, list[object]]:
    """Return the header, a FROM clause whose columns are c0, c1, ... and its parameters."""
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise DataError(f"{place}: cannot be opened ({reason}); check the path.") from None
    # a pattern in a file name would make DuckDB read other files
    literal_path = re.sub(r"([\[*?])", r"[\1]", str(path.absolute()))
    if magic == b"PAR1":
        header = _parquet_header(database, literal_path, place)
        return (
            header,
            f"read_parquet(?, hive_partitioning = false) AS source({_names(len(header))})",
            [literal_path],
        )
    if not name.startswith(("original", "population")):
        dialect = sniff(path, place)
    else:
        given = policy.input
        dialect = sniff(
            path,
            place,
            delimiter=given.delimiter,
            quote=given.quote,
            encoding=given.encoding,
            only_utf8=False,
        )
    if dialect.encoding != "utf-8-sig":
        import polars as pl

        rows = records(path, dialect, place)
        schema = {f"c{i}": pl.String for i in range(len(dialect.header))}
        database.register(f"{name}_source", pl.DataFrame(rows, schema=schema, orient="row"))
        return dialect.header, f"{name}_source", []
    return dialect.header, _csv(dialect), [literal_path]


def _csv(dialect: Dialect) -> str:
    # names are given by position: the database would rename those that differ in case alone
    types = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(dialect.header)))
    quote, delimiter = _literal(dialect.quote), _literal(dialect.delimiter)
    return (
        f"read_csv(?, columns = {{{types}}}, delim = {delimiter}, quote = {quote}, escape = {quote}, "
        f"compression = '{'gzip' if dialect.gzipped else 'none'}', header = true, auto_detect = false, "
        "hive_partitioning = false, strict_mode = true, null_padding = false, ignore_errors = false, "
        "max_line_size = 33554432)"
    )


def _parquet_header(database: Database, path: str, place: str) -> tuple[str, ...]:
    try:
        schema = database.rows("SELECT name, coalesce(num_children, 0) FROM parquet_schema(?)", path)
    except Unreadable:
        raise DataError(f"{place}: it cannot be read as Parquet; the file is damaged.") from None
    header, inside = [], 0  # the tree comes in pre-order: skip what is inside a nested column
    for name, children in schema[1:]:
        if inside:
            inside += children - 1
        else:
            header.append(str(name))
            inside = children
    return tuple(header)


def _frame(
    database: Database, source: Any, name: str, wanted: Collection[str]
) -> tuple[tuple[str, ...], str, list[object]]:
    import polars as pl

    if not isinstance(source, pl.DataFrame):
        raise DataError(f"{name}: give a path or a polars DataFrame.")
    # an index comes along, for a release may have none of the wanted columns; DuckDB refuses columns
    # that hold nothing but nulls of no type
    positional = source.select(
        pl.int_range(pl.len()).alias("row"),
        *(
            pl.col(column).cast(pl.String if kind == pl.Null else kind).alias(f"c{i}")
            for i, (column, kind) in enumerate(source.schema.items())
            if column in wanted
        ),
    )
    database.register(f"{name}_source", positional)
    return tuple(source.columns), f"{name}_source", []


def _kinds(
    database: Database, relation: str, parameters: Sequence[object], columns: Mapping[str, str], place: str
) -> dict[str, str]:
    """Type of each column by its SQL name; lists and records are refused, as two may be written alike."""
    if not columns:
        return {}
    described = database.rows(f"DESCRIBE SELECT {', '.join(columns.values())} FROM {relation}", *parameters)
    kinds = {sql: str(kind) for sql, (_, kind, *_rest) in zip(columns.values(), described, strict=True)}
    for column, sql in columns.items():
        if _NESTED.match(kinds[sql]):
            raise DataError(f"{place}: column {column!r} holds lists or records; only single values will do.")
    return kinds


def _names(count: int) -> str:
    return ", ".join(f"c{i}" for i in range(count))


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
