"""A table in files, seen through DuckDB: counted, looked up and divided without being read into memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import polars as pl
from typing_extensions import override

from kohort.common.arrow import ArrowStream
from kohort.errors import DataError
from kohort.release.engines.job import PART, ROW
from kohort.release.engines.lookups import CODE, COUNT, ByLookups, Lookup
from kohort.table.csv import literal_path
from kohort.table.sources import Source, fetched, relation
from kohort.table.zones import placed

if TYPE_CHECKING:
    import duckdb

ROW_GROUP = 16_384
"""Records that wait for being written, for every partition: there are hundreds, and all wait at the same time."""


def connected(memory: int, folder: Path) -> duckdb.DuckDBPyConnection:
    """A private database that spills to disk above a limit of memory."""
    import duckdb

    database = duckdb.connect(
        ":memory:",
        config={
            "memory_limit": f"{memory >> 20}MiB",
            "temp_directory": str(folder / "spill"),
            # no extension is ever fetched: nothing touches a network
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "preserve_insertion_order": False,
        },
    )
    # nothing depends on where the machine is
    database.execute("SET TimeZone = 'UTC'")
    return database


@dataclass(frozen=True)
class DuckScan(ByLookups):
    """A table in the database, or rather the statement that reads it."""

    database: duckdb.DuckDBPyConnection
    source: Source
    base: str
    """Statement that gives the columns c0, c1, ... and ROW."""
    records: int
    """Records that have a number in all of them."""
    lookups: tuple[Lookup, ...] = ()
    """Dictionaries whose numbers are joined to it."""
    where: str = ""

    @classmethod
    def of(cls, database: duckdb.DuckDBPyConnection, source: Source, folder: Path) -> DuckScan:
        """Open a table; CSV is first copied into a private Parquet file, as its rows have no numbers."""
        files = list(source.files)
        if source.kind == "csv":
            copy = folder / "source.parquet"
            sql, parameters = relation(source)
            database.execute("SET preserve_insertion_order = true")
            statement = f"COPY (SELECT * FROM {sql}) TO '{_quoted(copy)}' (FORMAT parquet, COMPRESSION zstd)"
            fetched(source, lambda: database.execute(statement, parameters))
            database.execute("SET preserve_insertion_order = false")
            files = [copy]
        paths = [_literal(path) for path in files]
        starts, first = [], 0
        for path in paths:
            counted = f"SELECT sum(num_rows) FROM parquet_file_metadata({path})"
            [(rows,)] = fetched(source, lambda counted=counted: database.execute(counted).fetchall())  # type: ignore[misc]
            starts.append(first)
            first += int(rows or 0)
        # One reader of all files: with one for each, a statement would hold what it found for every one of them.
        cells = ", ".join(f"c{i}" for i in range(len(source.columns)))
        row = f"list_extract({starts}, CAST(source.file_index + 1 AS BIGINT)) + source.file_row_number"
        read = f"read_parquet([{', '.join(paths)}], hive_partitioning = false) AS source({cells})"
        return cls(database, source, f"SELECT {_moments(source)}, CAST({row} AS BIGINT) AS {ROW} FROM {read}", first)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all columns."""
        return self.source.columns

    @override
    def distinct(self, columns: tuple[str, ...]) -> pl.DataFrame:
        inner = [self._inner(name) for name in columns]
        found = self._frame(f"SELECT {', '.join(inner)}, count(*) AS {COUNT} FROM {self._joined()} GROUP BY ALL")
        return placed(found.rename(dict(zip(inner, columns, strict=True))), self.source.zones)

    def about_distinct(self, columns: Sequence[str]) -> dict[str, int]:
        """About how many distinct values each of some columns has."""
        counted = ", ".join(f"approx_count_distinct({self._inner(name)})" for name in columns)
        [found] = self.rows(f"SELECT {counted} FROM {self._joined()}")
        return dict(zip(columns, found, strict=True))

    def counted(self, columns: Sequence[str], condition: str) -> pl.DataFrame:
        """The same of columns with numbers, where a condition holds."""
        some = ", ".join(columns)
        return self._frame(f"SELECT {some}, count(*) AS {COUNT} FROM {self._joined()} WHERE {condition} GROUP BY ALL")

    @override
    def coded(self, lookups: Sequence[Lookup]) -> Self:
        for lookup in lookups:
            inner = {name: f"v{place}" for place, name in enumerate(lookup.columns)}
            self.database.register("dictionary", ArrowStream(_without_nothing(lookup.table).rename(inner)))
            self.database.execute(f"CREATE TABLE {lookup.name} AS SELECT * FROM dictionary")
            self.database.unregister("dictionary")
        more = replace(self, lookups=(*self.lookups, *lookups))
        if any(lookup.table[CODE].null_count() for lookup in lookups):
            [(records,)] = more.rows(f"SELECT count(*) FROM {more._joined()}")
            more = replace(more, records=records)
        return more

    def divide(self, expression: str, columns: Sequence[str], folder: Path) -> None:
        """Write every partition into a folder of its own: some columns, all numbers, and ROW.

        Columns are called c0, c1, ..., for the database takes for one what differs in case alone: see `named`.
        """
        numbers = [lookup.name for lookup in self.lookups]
        select = ", ".join([*map(self._inner, columns), *numbers, ROW, f"{expression} AS {PART}"])
        self.rows(
            f"COPY (SELECT {select} FROM {self._joined()}) TO '{_quoted(folder)}' "
            f"(FORMAT parquet, COMPRESSION lz4_raw, ROW_GROUP_SIZE {ROW_GROUP}, PARTITION_BY ({PART}))"
        )

    def others(self, columns: Sequence[str]) -> pl.DataFrame:
        """The records that have no number in some dictionary: some of their columns, and ROW."""
        cells = [self._inner(name) for name in columns]
        found = self._frame(f"SELECT {', '.join([*cells, ROW])} FROM {self._joined('NOT')} ORDER BY {ROW}")
        return self.named(found)

    def named(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Rows as `divide` wrote them, with the names that the table has."""
        return frame.rename({inner: self.columns[int(inner[1:])] for inner in frame.columns if inner[0] == "c"})

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a statement that reads the table."""
        rows: list[tuple[Any, ...]] = fetched(self.source, lambda: self.database.execute(sql).fetchall())
        return rows

    def _frame(self, sql: str) -> pl.DataFrame:
        found = fetched(self.source, lambda: pl.DataFrame(ArrowStream(self.database.sql(sql))))
        return found.with_columns(pl.col(COUNT).cast(pl.Int64)) if COUNT in found.columns else found

    def _inner(self, name: str) -> str:
        """Name of a column of the table in the database."""
        return f"c{self.source.columns.index(name)}"

    def _joined(self, negated: str = "") -> str:
        """The table with its numbers, in brackets."""
        numbers = [f"{lookup.name}.{CODE} AS {lookup.name}" for lookup in self.lookups]
        joins = [
            f"LEFT JOIN {lookup.name} ON "
            + " AND ".join(
                f"source.{self._inner(name)} IS NOT DISTINCT FROM {lookup.name}.v{place}"
                for place, name in enumerate(lookup.columns)
            )
            for lookup in self.lookups
        ]
        # Only dictionaries that leave values out can leave records out.
        partial = [f"{one.name}.{CODE} IS NOT NULL" for one in self.lookups if one.table[CODE].null_count()]
        where = f" WHERE {negated} ({' AND '.join(partial)})" if partial else f" WHERE {negated} true"
        select = ", ".join(["source.*", *numbers])
        return f"(SELECT {select} FROM ({self.base}) AS source {' '.join(joins)}{where})"


def _moments(source: Source) -> str:
    """All columns, with moments of an old type, which have a zone, as moments."""
    cells = []
    for place, (name, kind) in enumerate(zip(source.columns, source.types, strict=True)):
        old = source.zones.get(name) and kind == "TIMESTAMP"
        cells.append(f"timezone('UTC', c{place}) AS c{place}" if old else f"c{place}")
    return ", ".join(cells)


def sorted_file(files: Sequence[Path], by: Sequence[str], folder: Path, memory: int) -> pl.LazyFrame:
    """Rows of some Parquet files with the same columns, in the order of some of these; in another file.

    Raises
    ------
    DataError
        When memory or disk do not suffice.
    """
    import duckdb

    target = folder / "sorted.parquet"
    names = list(pl.read_parquet_schema(files[0]))
    # By position: the database takes for one what differs in case alone.
    cells = [f"c{place}" for place in range(len(names))]
    some = ", ".join(_literal(path) for path in files)
    order = ", ".join(cells[names.index(name)] for name in by)
    try:
        with connected(memory, folder) as database:
            database.execute("SET preserve_insertion_order = true")
            database.execute(
                f"COPY (SELECT * FROM read_parquet([{some}], hive_partitioning = false) AS source({', '.join(cells)}) "
                f"ORDER BY {order}) TO '{_quoted(target)}' (FORMAT parquet, COMPRESSION lz4_raw)"
            )
    except (duckdb.OutOfMemoryException, duckdb.IOException):
        sorts = False
    else:
        sorts = True
    if not sorts:  # raised out here, as the database's message may quote cells
        raise DataError("memory: the limit is too small to mix the rows, or the disk is full; give more.")
    return pl.scan_parquet(target, glob=False).rename(dict(zip(cells, names, strict=True)))


def _without_nothing(table: pl.DataFrame) -> pl.DataFrame:
    """The table with numbers where it has nothing but nulls of no type, which the database does not take."""
    return table.with_columns(pl.col(pl.Null).cast(pl.Int32))


def _literal(path: Path) -> str:
    """The path of a file that is read, in SQL."""
    return "'" + literal_path(path).replace("'", "''") + "'"


def _quoted(path: Path) -> str:
    return str(path.absolute()).replace("'", "''")
