"""DuckDB files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
from typing_extensions import override

from kohort.errors import DataError
from kohort.table.csv import literal_path
from kohort.table.databases.base import DATABASES, ROWS, Kind, Session, SqlTable, guarded, quoted_name

_AS_TEXT = ("HUGEINT", "UHUGEINT", "UUID", "BIT", "TIME WITH TIME ZONE", "BIGNUM", "VARINT", "JSON")
"""Types that Parquet has not; they are read as texts."""


@DATABASES.register("duckdb")
class DuckDb(Kind):
    """A database in one file."""

    @override
    def open(self, place: SqlTable, *, writes: bool) -> Session:
        if not place.file.is_file():
            raise DataError(f"{place.file.name}: there is no such DuckDB file; check the path after duckdb:///.")
        return DuckDbSession(place, writes=writes)


class DuckDbSession(Session):
    """One connection; the file is locked while it is open for writing."""

    def __init__(self, place: SqlTable, *, writes: bool) -> None:
        super().__init__(place)
        config: dict[str, Any] = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
        self._connection = guarded(
            place, "opened", lambda: duckdb.connect(str(place.file), read_only=not writes, config=config)
        )
        self.run("SET TimeZone = 'UTC'")
        self.run("BEGIN TRANSACTION")

    @override
    def rows(self, sql: str) -> Iterator[list[tuple[Any, ...]]]:
        found = guarded(self.place, "read", lambda: self._connection.execute(sql))
        while some := guarded(self.place, "read", lambda: found.fetchmany(ROWS)):
            yield some

    def _described(self, relation: str) -> dict[str, str]:
        sql = f"DESCRIBE SELECT * FROM {relation}"
        return {str(name): str(kind) for some in self.rows(sql) for name, kind, *_ in some}

    @override
    def columns(self, relation: str) -> list[str]:
        return list(self._described(relation))

    @override
    def copy(self, path: Path) -> None:
        cells = ", ".join(
            f"CAST({quoted_name(name)} AS VARCHAR) AS {quoted_name(name)}" if kind in _AS_TEXT else quoted_name(name)
            for name, kind in self._described(self.relation).items()
        )
        target = str(path).replace("'", "''")
        self.run(f"COPY (SELECT {cells} FROM {self.relation}) TO '{target}' (FORMAT parquet, COMPRESSION zstd)")

    @override
    def identity(self) -> tuple[Any, ...] | None:
        name = self.place.names[-1].lower()
        schema = self.place.names[0].lower() if len(self.place.names) == 2 else "main"
        found = self._connection.execute(
            "SELECT 1 FROM information_schema.tables WHERE lower(table_name) = ? AND lower(table_schema) = ? "
            "AND table_catalog = current_database()",
            [name, schema],
        ).fetchall()
        state = self.place.file.stat()
        return (state.st_dev, state.st_ino, schema, name) if found else None

    @override
    def load(self, path: Path) -> None:
        source = literal_path(path).replace("'", "''")
        self.run(f"CREATE TABLE {self.staged} AS SELECT * FROM read_parquet('{source}', hive_partitioning = false)")

    @override
    def commit(self) -> None:
        self.run(f"DROP TABLE IF EXISTS {self.relation}")
        self.run(f"ALTER TABLE {self.staged} RENAME TO {quoted_name(self.place.names[-1])}")
        self.run("COMMIT")

    @override
    def close(self) -> None:
        self._connection.close()
