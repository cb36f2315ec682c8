"""A private database for one audit.

DuckDB's own messages quote the data. They never leave this module: a failed statement becomes
:class:`Unreadable`, which carries at most a line number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kohort.arrow import ArrowStream

if TYPE_CHECKING:
    import duckdb
    import polars as pl

_LINE = re.compile(r"CSV Error on Line: (\d+)")


class Unreadable(Exception):
    """A statement failed; `line` is the line of the file, if one is at fault."""

    def __init__(self, line: int | None) -> None:
        self.line = line
        super().__init__(f"line {line}")


class Database:
    """A private in-memory DuckDB, closed and let go at the end of the ``with`` block."""

    def __init__(self) -> None:
        import duckdb

        # no extension is ever fetched: an audit touches no network
        config: dict[str, Any] = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
        self._connection: duckdb.DuckDBPyConnection | None = duckdb.connect(":memory:", config=config)

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection is not None:
            self._connection.close()
            # a traceback may keep this object until the interpreter ends, which DuckDB would report
            self._connection = None

    def rows(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows."""
        rows: list[tuple[Any, ...]] = self._run(sql, parameters, "fetchall")
        return rows

    def arrays(self, sql: str) -> dict[str, Any]:
        """Run a statement and return its columns as NumPy arrays."""
        arrays: dict[str, Any] = self._run(sql, (), "fetchnumpy")
        return arrays

    def register(self, name: str, frame: pl.DataFrame) -> None:
        """Make a frame readable as a table; it is copied by whoever selects from it."""
        assert self._connection is not None
        self._connection.register(name, ArrowStream(frame))

    def _run(self, sql: str, parameters: Sequence[object], fetch: str) -> Any:
        import duckdb

        assert self._connection is not None
        try:
            return getattr(self._connection.execute(sql, list(parameters)), fetch)()
        except duckdb.Error as error:
            found = _LINE.search(str(error))
            line = int(found[1]) if found else None
        # raised out here, so that the quoted data are not even in the context of the exception
        raise Unreadable(line)
