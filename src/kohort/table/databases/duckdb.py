"""DuckDB files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
from typing_extensions import override

from kohort.table.csv import literal_path
from kohort.table.databases.base import DATABASES, FileKind, FileSession, SqlTable, guarded, quoted_name

_AS_TEXT = ("HUGEINT", "UHUGEINT", "UUID", "BIT", "TIME WITH TIME ZONE", "BIGNUM", "VARINT", "JSON")
"""Types that Parquet has not; they are read as texts."""


class DuckDbSession(FileSession):
    """One connection; the file is locked while it is open for writing."""

    def __init__(self, place: SqlTable, *, writes: bool) -> None:
        super().__init__(place)
        config: dict[str, Any] = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
        self._connection = guarded(
            place, "opened", lambda: duckdb.connect(str(place.file), read_only=not writes, config=config)
        )
        self.run("SET TimeZone = 'UTC'")
        self.run("BEGIN TRANSACTION")

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
        return next(((schema, name) for schema, name, _ in self._there()), None)

    @override
    def is_plain(self) -> bool:
        return any(kind == "BASE TABLE" for *_, kind in self._there())

    def _there(self) -> list[tuple[str, str, str]]:
        """What has the name of the table, and of which kind it is."""
        names = self.place.names
        found: list[tuple[str, str, str]] = self._connection.execute(
            "SELECT lower(table_schema), lower(table_name), table_type FROM information_schema.tables "
            "WHERE lower(table_schema) = ? AND lower(table_name) = ? AND table_catalog = current_database()",
            [names[0].lower() if len(names) == 2 else "main", names[-1].lower()],
        ).fetchall()
        return found

    @override
    def load(self, path: Path) -> None:
        source = literal_path(path).replace("'", "''")
        self.run(f"CREATE TABLE {self.staged} AS SELECT * FROM read_parquet('{source}', hive_partitioning = false)")


@DATABASES.register("duckdb")
class DuckDb(FileKind):
    """DuckDB."""

    title = "DuckDB"
    session = DuckDbSession
