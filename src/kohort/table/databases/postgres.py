"""PostgreSQL, by ADBC: Arrow all the way, in pieces, over COPY."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl
from polars.io.plugins import register_io_source
from typing_extensions import override

from kohort.errors import DataError
from kohort.table.databases.base import DATABASES, ROWS, Kind, Session, SqlTable, guarded, quoted_name

_TYPED = {"smallint", "integer", "bigint", "real", "double precision", "boolean", "date"}
_TYPED |= {"timestamp without time zone", "timestamp with time zone"}
"""Types that are read as such; all others as texts."""
_WHOLE = {pl.Int8: "smallint", pl.Int16: "smallint", pl.UInt8: "smallint", pl.Int32: "integer", pl.UInt16: "integer"}
_CAST = {"smallint": pl.Int16, "integer": pl.Int32, "bigint": pl.Int64}


@DATABASES.register("postgres")
class Postgres(Kind):
    """A server. Who connects is said by the environment, a service file, ~/.pgpass or the URL, as libpq has it."""

    @override
    def open(self, place: SqlTable, *, writes: bool) -> Session:
        try:
            dbapi = import_module("adbc_driver_postgresql.dbapi")
            import_module("pyarrow")
        except ImportError:
            fault = f"{place.name}: PostgreSQL needs a library; install kohort[postgres]."
        else:
            return PostgresSession(place, dbapi, writes=writes)
        raise DataError(fault)


class PostgresSession(Session):
    """One transaction: what it has written is seen by nobody else before its end."""

    text = "CAST({} AS text)"

    def __init__(self, place: SqlTable, dbapi: Any, *, writes: bool) -> None:
        super().__init__(place)
        self._connection = _connected(place, dbapi)
        if not writes:
            self.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        # what the server writes is the same whatever its settings are
        self.run("SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO'; SET LOCAL extra_float_digits = 1")

    def _batches(self, sql: str) -> Iterator[pl.DataFrame]:
        """Rows as frames, as they come."""
        with self._connection.cursor() as cursor:
            guarded(self.place, "read", lambda: cursor.execute(sql))
            reader = guarded(self.place, "read", cursor.fetch_record_batch)
            while (batch := guarded(self.place, "read", lambda: next(reader, None))) is not None:
                yield pl.DataFrame(pl.from_arrow(batch))

    @override
    def rows(self, sql: str) -> Iterator[list[tuple[Any, ...]]]:
        for frame in self._batches(sql):
            for piece in frame.iter_slices(ROWS):
                yield piece.rows()

    @override
    def run(self, sql: str) -> None:
        with self._connection.cursor() as cursor:
            guarded(self.place, "written", lambda: cursor.executescript(sql))

    @override
    def columns(self, relation: str) -> list[str]:
        return list(self._types(relation))

    def _types(self, relation: str) -> dict[str, str]:
        with self._connection.cursor() as cursor:
            guarded(self.place, "read", lambda: cursor.execute(f"SELECT * FROM {relation} LIMIT 0"))
            names = [str(column[0]) for column in cursor.description]
        if len(set(names)) < len(names):
            raise DataError(f"{self.place.name}: two columns have the same name; rename one by AS.")
        # a row there is in any case, so the types are known of an empty table, too
        asked = ", ".join(f"pg_typeof(source.{quoted_name(name)})::text AS c{i}" for i, name in enumerate(names))
        sql = f"SELECT {asked} FROM (SELECT 1) AS one LEFT JOIN (SELECT * FROM {relation}) AS source ON true LIMIT 1"
        [[kinds]] = list(self.rows(sql))
        return dict(zip(names, map(str, kinds), strict=True))

    @override
    def copy(self, path: Path) -> None:
        types = self._types(self.relation)
        cells = ", ".join(
            quoted_name(name) if kind in _TYPED else f"{quoted_name(name)}::text AS {quoted_name(name)}"
            for name, kind in types.items()
        )
        sql = f"SELECT {cells} FROM {self.relation}"
        first = next(self._batches(f"{sql} LIMIT 0"), None)
        schema = self._schema(types) if first is None else first.schema
        register_io_source(lambda *_: self._batches(sql), schema=schema).sink_parquet(path, maintain_order=True)

    def _schema(self, types: dict[str, str]) -> pl.Schema:
        """The types of a table without a row, for which the driver sends no batch."""
        known: dict[str, Any] = _CAST | {
            "real": pl.Float32,
            "double precision": pl.Float64,
            "boolean": pl.Boolean,
            "date": pl.Date,
        }
        known |= {kind: pl.Datetime("us") for kind in types.values() if kind == "timestamp without time zone"}
        known |= {kind: pl.Datetime("us", "UTC") for kind in types.values() if kind == "timestamp with time zone"}
        return pl.Schema({name: known.get(kind, pl.String) for name, kind in types.items()})

    @override
    def database(self) -> tuple[Any, ...]:
        sql = (
            "SELECT current_database()::text AS a, pg_postmaster_start_time()::text AS b, current_setting('port') AS c"
        )
        [[found]] = list(self.rows(sql))
        return found

    @override
    def identity(self) -> tuple[Any, ...] | None:
        [[found]] = list(self.rows(f"SELECT {self._number}::bigint AS a"))
        return None if found[0] is None else found

    @override
    def is_plain(self) -> bool:
        plain = f"SELECT relkind = 'r' AND NOT relhassubclass AS a FROM pg_class WHERE oid = {self._number}"
        return list(self.rows(plain)) == [[(True,)]]

    @property
    def _number(self) -> str:
        """SQL of the server's own number of the table; NULL if it is not there."""
        name = quoted_name(*self.place.names).replace("'", "''")
        return f"to_regclass('{name}')::oid"

    @override
    def load(self, path: Path) -> None:
        rows = pl.scan_parquet(path, glob=False)
        types = {name: _type(kind) for name, kind in rows.collect_schema().items()}
        columns = ", ".join(f"{quoted_name(name)} {kind}" for name, kind in types.items())
        self.run(f"CREATE TABLE {self.staged} ({columns})")
        cast = [pl.col(name).cast(_CAST[kind]) for name, kind in types.items() if kind in _CAST]
        cast += [pl.col(name).cast(pl.String) for name, kind in types.items() if kind == "text"]
        schema = self.place.names[0] if len(self.place.names) == 2 else None
        with self._connection.cursor() as cursor:
            for piece in rows.with_columns(cast).collect_batches(chunk_size=ROWS, maintain_order=True):
                if piece.height:
                    table = piece.to_arrow(compat_level=pl.CompatLevel.oldest())
                    guarded(
                        self.place,
                        "written",
                        lambda table=table: cursor.adbc_ingest(  # type: ignore[misc]
                            self.staging, table, mode="append", db_schema_name=schema
                        ),
                    )

    @override
    def commit(self) -> None:
        self.run(f"DROP TABLE IF EXISTS {self.relation}")
        self.run(f"ALTER TABLE {self.staged} RENAME TO {quoted_name(self.place.names[-1])}")
        guarded(self.place, "written", self._connection.commit)

    @override
    def close(self) -> None:
        self._connection.close()


def _connected(place: SqlTable, dbapi: Any) -> Any:
    try:
        return dbapi.connect(place.url)
    except Exception:
        fault = "cannot be reached, or refuses the user; check the address, the database, PGPASSWORD or PGSERVICE"
    raise DataError(f"{place.name}: the PostgreSQL server {fault}.")


def _type(kind: pl.DataType) -> str:
    """The type of a column; text for what has no other that keeps it."""
    if kind.base_type() in _WHOLE:
        return _WHOLE[kind.base_type()]  # type: ignore[index]
    if kind in (pl.Int64, pl.UInt32):
        return "bigint"
    if kind == pl.Datetime:
        return "timestamp" if getattr(kind, "time_zone", None) is None else "timestamptz"
    return {pl.Float32: "real", pl.Float64: "double precision", pl.Boolean: "boolean", pl.Date: "date"}.get(
        kind.base_type(), "text"
    )
