"""A private database for one audit.

DuckDB's own messages quote the data. They never leave this module: a failed statement becomes
:class:`Unreadable`, which says nothing more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kohort.common.arrow import ArrowStream
from kohort.common.private import private_folder
from kohort.errors import NO_ROOM, DataError

if TYPE_CHECKING:
    import duckdb
    import polars as pl

_FOR_STATEMENTS, _FOR_ARRAYS = 0.55, 0.25
"""Shares of the memory; the rest is for Python itself and the texts that it holds."""
_ARRAYS = 1 << 30
"""Bytes of arrays at a time where no limit is given."""
_ROWS = 1 << 16
"""Rows that Python has at a time."""


def quoted(texts: Iterable[str]) -> str:
    """Texts as SQL writes them, with commas between."""
    return ", ".join("'" + text.replace("'", "''") + "'" for text in texts)


class Unreadable(Exception):
    """A statement failed."""


class Database:
    """A private DuckDB in memory, closed and let go at the end of the ``with`` block.

    What does not fit is written to a folder that nobody else may enter, and that is gone at the end.

    Parameters
    ----------
    memory : int, optional
        Bytes that the audit may take, about; all that DuckDB takes by itself when absent.
    folder : Path, optional
        Where the private folder is made; that for temporary files when absent.
    """

    def __init__(self, memory: int | None = None, folder: Path | None = None) -> None:
        import duckdb

        self._private = ExitStack()
        # Without a limit nothing is written as a rule, so no process has to wait for the end of this one.
        self.folder = self._private.enter_context(
            private_folder("kohort-audit", folder, guarded=memory is not None and folder is None)
        )
        self.is_limited = memory is not None
        self._streams = 0
        self.room = _ARRAYS if memory is None else int(memory * _FOR_ARRAYS)
        # no extension is ever fetched: an audit touches no network
        config: dict[str, Any] = {
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "temp_directory": str(self.folder / "spilled"),
        }
        if memory is not None:
            config["memory_limit"] = f"{int(memory * _FOR_STATEMENTS)}B"
        try:
            self._connection: duckdb.DuckDBPyConnection | None = duckdb.connect(":memory:", config=config)
            # moments are written in UTC, wherever the machine is
            self._connection.execute("SET TimeZone = 'UTC'")
        except BaseException:
            self._private.close()
            raise

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection is not None:
            self._connection.close()
            # a traceback may keep this object until the interpreter ends, which DuckDB would report
            self._connection = None
        self._private.close()

    def rows(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows."""
        rows: list[tuple[Any, ...]] = self._run(sql, parameters, "fetchall")
        return rows

    def streamed(self, sql: str) -> Iterator[tuple[Any, ...]]:
        """Run a statement and yield its rows, of which Python has only some at a time."""
        self._streams += 1
        name = f"streamed{self._streams}"
        # a cursor would not see what is temporary, and its rows would be lost with the next statement
        self.rows(f"CREATE TEMP TABLE {name} AS {sql}")
        [(rows,)] = self.rows(f"SELECT count(*) FROM {name}")
        for start in range(0, rows, _ROWS):
            yield from self.rows(f"SELECT * FROM {name} WHERE rowid >= {start} AND rowid < {start + _ROWS}")
        self.rows(f"DROP TABLE {name}")

    def arrays(self, sql: str) -> dict[str, Any]:
        """Run a statement and return its columns as NumPy arrays."""
        arrays: dict[str, Any] = self._run(sql, (), "fetchnumpy")
        return arrays

    def frame(self, sql: str) -> pl.DataFrame:
        """Run a statement and return its rows as a frame."""
        import polars as pl

        connection = self._connection
        assert connection is not None
        found: pl.DataFrame = _checked(lambda: pl.DataFrame(ArrowStream(connection.sql(sql))))
        return found

    def register(self, name: str, frame: pl.DataFrame) -> None:
        """Make a frame readable as a table; it is copied by whoever selects from it."""
        assert self._connection is not None
        self._connection.register(name, ArrowStream(frame))

    def pack(self, frame: pl.DataFrame, path: Path) -> None:
        """Write a frame to the private folder, as Parquet; the database would take more memory for many columns."""
        import polars as pl

        try:
            frame.write_parquet(path, compression="lz4")
        except (OSError, pl.exceptions.PolarsError):
            fault = DataError("the disk is full: the audit writes what does not fit into memory to temporary files.")
        else:
            return
        raise fault

    def _run(self, sql: str, parameters: Sequence[object], fetch: str) -> Any:
        connection = self._connection
        assert connection is not None
        return _checked(lambda: getattr(connection.execute(sql, list(parameters)), fetch)())


def _checked(action: Any) -> Any:
    """Do something in the database, whose own words about a failure are not passed on."""
    import duckdb

    try:
        return action()
    except duckdb.OutOfMemoryException:
        fault: Exception = DataError("memory: it does not suffice for this audit; give more, or more room on disk.")
    except duckdb.Error as error:
        fault = Unreadable()
        if NO_ROOM.search(str(error)):
            fault = DataError("the disk is full: the audit writes what does not fit into memory to temporary files.")
    # raised out here, so that the quoted data are not even in the context of the exception
    raise fault
