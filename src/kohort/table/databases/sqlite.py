"""SQLite, by the library of Python itself."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl
from polars.io.plugins import register_io_source
from typing_extensions import override

from kohort.errors import DataError
from kohort.table.databases.base import DATABASES, ROWS, FileKind, FileSession, SqlTable, guarded, quoted_name

_MAIN = "main"


class SqliteSession(FileSession):
    """Cells have types of their own: a column of several is read as text."""

    text = "CAST({} AS TEXT)"

    def __init__(self, place: SqlTable, *, writes: bool) -> None:
        super().__init__(place)
        uri = f"file:{quote(str(place.file.absolute()))}?mode={'rw' if writes else 'ro'}"
        self._connection = guarded(
            place,
            "opened",
            lambda: sqlite3.connect(uri, uri=True, isolation_level=None, timeout=10, check_same_thread=False),
        )
        guarded(place, "opened", lambda: self._connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN"))

    @override
    def columns(self, relation: str) -> list[str]:
        found = guarded(self.place, "read", lambda: self._connection.execute(f"SELECT * FROM {relation} LIMIT 0"))
        return [str(column[0]) for column in found.description]

    @override
    def copy(self, path: Path) -> None:
        names = self.columns(self.relation)
        types = [self._type(name, place) for place, name in enumerate(names, 1)]
        cells = ", ".join(
            self.text.format(quoted_name(name)) if kind == pl.String else quoted_name(name)
            for name, kind in zip(names, types, strict=True)
        )
        schema = dict(zip(names, types, strict=True))

        def pieces() -> Iterator[pl.DataFrame]:
            for some in chain(self.rows(f"SELECT {cells} FROM {self.relation}"), [[]]):
                yield pl.DataFrame(some, schema=schema, orient="row", strict=False)

        register_io_source(lambda *_: pieces(), schema=schema).sink_parquet(path, maintain_order=True)

    def _type(self, name: str, place: int) -> pl.DataType:
        """The type that all cells of a column have."""
        asked = f"SELECT DISTINCT typeof({quoted_name(name)}) FROM {self.relation}"
        kinds = {kind for some in self.rows(asked) for (kind,) in some} - {"null"}
        if "blob" in kinds:
            raise DataError(f"{self.place.name}: column {place} holds bytes, not one value per cell; leave it out.")
        if kinds == {"integer"}:
            return pl.Int64()
        return pl.Float64() if kinds and kinds <= {"integer", "real"} else pl.String()

    @override
    def mixed(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if any(self.rows(self._several_types(quoted_name(name))))]

    def _several_types(self, cell: str) -> str:
        """SQL of the texts that a column holds in several types."""
        return (
            f"SELECT 1 FROM {self.relation} GROUP BY {self.text.format(cell)} "
            f"HAVING count(DISTINCT typeof({cell})) > 1 LIMIT 1"
        )

    @override
    def texts(self, relation: str) -> Iterator[tuple[list[str], list[tuple[Any, ...]]]]:
        names = self.columns(relation)
        for some in self.rows(f"SELECT * FROM {relation}"):
            yield names, [tuple(map(self._written, row)) for row in some]

    def _written(self, cell: Any) -> str | None:
        """A cell as a text; SQLite itself writes 15 digits of a number, which several numbers have."""
        if isinstance(cell, bytes):
            raise DataError(f"{self.place.name}: a column holds bytes, not one value per cell; leave it out.")
        return repr(cell) if isinstance(cell, float) else None if cell is None else str(cell)

    @override
    def identity(self) -> tuple[Any, ...] | None:
        return next(((name,) for name, _ in self._there()), None)

    @override
    def is_plain(self) -> bool:
        return any(kind == "table" for _, kind in self._there())

    def _there(self) -> list[tuple[str, str]]:
        """What has the name of the table, and of which kind it is."""
        asked = "SELECT lower(name), type FROM sqlite_master WHERE type IN ('table', 'view') AND lower(name) = lower(?)"
        found: list[tuple[str, str]] = self._connection.execute(asked, [self.place.names[-1]]).fetchall()
        return found

    @override
    def load(self, path: Path) -> None:
        rows = pl.scan_parquet(path, glob=False)
        schema = rows.collect_schema()
        columns = ", ".join(f"{quoted_name(name)} {_affinity(kind)}" for name, kind in schema.items())
        self._connection.execute(f"CREATE TABLE {self.staged} ({columns})")
        insert = f"INSERT INTO {self.staged} VALUES ({', '.join('?' * len(schema))})"
        texts = [pl.col(name).cast(pl.String) for name, kind in schema.items() if _affinity(kind) == "TEXT"]
        for piece in rows.with_columns(texts).collect_batches(chunk_size=ROWS, maintain_order=True):
            self._connection.executemany(insert, piece.iter_rows())


@DATABASES.register("sqlite")
class Sqlite(FileKind):
    """SQLite."""

    title = "SQLite"
    session = SqliteSession


def _affinity(kind: pl.DataType) -> str:
    if kind.is_integer():
        return "INTEGER"
    # truth values are texts, too: SQLite has none, and 1 would not be what the original says
    return "REAL" if kind.is_float() else "TEXT"
