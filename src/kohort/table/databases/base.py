"""Tables in databases: where they are, how they are read, and how a release appears in one whole or not at all."""

from __future__ import annotations

import re
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeVar
from urllib.parse import unquote, urlsplit

from typing_extensions import override

from kohort.common.registry import Registry
from kohort.errors import DataError, KohortError

T = TypeVar("T")
ROWS = 1 << 16
"""Rows that are in memory at a time."""
_URL = re.compile(r"(postgresql|postgres|sqlite|duckdb)://", re.ASCII)
_BESIDE = ("-journal", "-wal", "-shm", ".wal", ".tmp")
"""Ends of the names of files that SQLite and DuckDB keep beside a database."""
_NAME = re.compile(r'"((?:[^"]|"")+)"|([^".]+)')


@dataclass(frozen=True)
class SqlTable:
    """A table of a database, or what a query finds there.

    Attributes
    ----------
    url : str
        ``postgresql://host/database``, ``sqlite:///file.db`` or ``duckdb:///file.duckdb``. A password belongs into
        PGPASSWORD, a service file or ~/.pgpass. It may end in ``#table``.
    table : str, optional
        Its name, with a schema if it needs one: ``clinic.patients``; a name that has a point in double quotes.
    query : str, optional
        A SELECT instead of a table. It cannot change anything.

    Examples
    --------
    >>> SqlTable("sqlite:///clinic.db#patients").table
    'patients'
    """

    url: str = field(repr=False)
    table: str | None = None
    query: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        url, _, fragment = self.url.partition("#")
        object.__setattr__(self, "url", url)
        if fragment and self.table is None and self.query is None:
            object.__setattr__(self, "table", unquote(fragment))
        if not _URL.match(url):
            raise DataError("database: give a URL that begins with postgresql://, sqlite:/// or duckdb:///.")
        if (self.table is None) == (self.query is None):
            raise DataError("database: give the name of a table or a query, one of them.")
        if self.table is not None and not self.names:
            raise DataError("database: the name of the table cannot be read; give NAME or SCHEMA.NAME.")

    def __str__(self) -> str:
        url = re.sub(r"(://[^:@/]*):[^@/]*@", r"\1@", self.url)
        return f"{re.sub('password=[^&]*', '', url)}#{self.table or 'query'}"

    @property
    def name(self) -> str:
        """What messages call it."""
        return "the query" if self.table is None else f"table {self.table}"

    @property
    def names(self) -> tuple[str, ...]:
        """The schema, if it is given, and the name."""
        parts = _NAME.findall(self.table or "")
        plain = tuple(quoted.replace('""', '"') if quoted else bare for quoted, bare in parts)
        whole = ".".join(f'"{quoted}"' if quoted else bare for quoted, bare in parts)
        return plain if whole == self.table and len(plain) <= 2 else ()

    @property
    def has_password(self) -> bool:
        """Whether the URL holds a password."""
        return bool(urlsplit(self.url).password) or "password=" in urlsplit(self.url).query

    @property
    def file(self) -> Path:
        """The file of a database in a file."""
        return Path(unquote(urlsplit(self.url).path)[1:])

    @property
    def files(self) -> tuple[Path, ...]:
        """The file of a database in a file, and those that the database may keep beside it; none for a server."""
        if self.url.startswith("postgres"):
            return ()
        beside = (self.file.with_name(f"{self.file.name}{end}") for end in _BESIDE)
        return (self.file, *beside)


def is_url(given: object) -> bool:
    """Whether a text says where a database is."""
    return isinstance(given, str) and _URL.match(given) is not None


def quoted_name(*names: str) -> str:
    """Names in SQL."""
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


class Session(ABC):
    """An open database: one transaction, which is undone unless it is committed."""

    text: ClassVar[str] = "CAST({} AS VARCHAR)"
    """SQL of a cell as the database itself writes it."""

    def __init__(self, place: SqlTable) -> None:
        self.place = place
        self.staging = f"kohort_{secrets.token_hex(8)}"
        """Name of the table that is being written."""

    @property
    def relation(self) -> str:
        """SQL of the table, or of the query, for after FROM."""
        place = self.place
        return quoted_name(*place.names) if place.query is None else f"({place.query.rstrip().rstrip(';')}) AS source"

    @property
    def staged(self) -> str:
        """SQL of the table that is being written, in the schema of its final place."""
        return quoted_name(*self.place.names[:-1], self.staging)

    @abstractmethod
    def rows(self, sql: str) -> Iterator[list[tuple[Any, ...]]]:
        """Run a statement; its rows, some after the others."""

    @abstractmethod
    def columns(self, relation: str) -> list[str]:
        """Names of the columns."""

    @abstractmethod
    def copy(self, path: Path) -> None:
        """Write the rows of the table or query into a Parquet file, typed, in pieces."""

    @abstractmethod
    def database(self) -> tuple[Any, ...]:
        """What is equal if two places are in one database."""

    @abstractmethod
    def identity(self) -> tuple[Any, ...] | None:
        """What is equal if two places of a database are one table; None if it is not there."""

    @abstractmethod
    def is_plain(self) -> bool:
        """Whether the table is no view, and has no parts that are tables, too: then nothing else is read for it."""

    @abstractmethod
    def load(self, path: Path) -> None:
        """Write the rows of a Parquet file into the staged table, in pieces."""

    def mixed(self, names: Sequence[str]) -> list[str]:
        """Columns that hold one text in several types; there are none where a column has a type."""
        return []

    @abstractmethod
    def commit(self) -> None:
        """Make the staged table appear at its place, instead of an older one, if there is one; all at once."""

    @abstractmethod
    def close(self) -> None:
        """Undo what is not committed, and let go."""

    def run(self, sql: str) -> None:
        """Run a statement without rows."""
        for _ in self.rows(sql):
            pass

    def texts(self, relation: str) -> Iterator[tuple[list[str], list[tuple[Any, ...]]]]:
        """The cells as texts that the database writes, some rows after the others, with the names of the columns.

        This is how the auditor reads: not by the types, by which the maker reads.
        """
        names = self.columns(relation)
        cells = ", ".join(f"{self.text.format(quoted_name(name))} AS c{i}" for i, name in enumerate(names))
        for some in self.rows(f"SELECT {cells} FROM {relation}"):
            yield names, some


class Kind(ABC):
    """A kind of database."""

    name: ClassVar[str]

    @abstractmethod
    def open(self, place: SqlTable, *, writes: bool) -> Session:
        """Connect; faults are a DataError without credentials."""


DATABASES: Registry[Kind] = Registry("kind of database")


class FileKind(Kind):
    """A database in one file."""

    title: ClassVar[str]
    session: ClassVar[Callable[..., Session]]

    @override
    def open(self, place: SqlTable, *, writes: bool) -> Session:
        if not place.file.is_file():
            raise DataError(
                f"{place.file.name}: there is no such {self.title} file; check the path after {self.name}:///."
            )
        return self.session(place, writes=writes)


class FileSession(Session):
    """One connection to a database in one file, and one transaction."""

    _connection: Any

    @override
    def rows(self, sql: str) -> Iterator[list[tuple[Any, ...]]]:
        found = guarded(self.place, "read", lambda: self._connection.execute(sql))
        while some := guarded(self.place, "read", lambda: found.fetchmany(ROWS)):
            yield some

    @override
    def database(self) -> tuple[Any, ...]:
        state = self.place.file.stat()
        return state.st_dev, state.st_ino

    @override
    def commit(self) -> None:
        for sql in (
            f"DROP TABLE IF EXISTS {self.relation}",
            f"ALTER TABLE {self.staged} RENAME TO {quoted_name(self.place.names[-1])}",
            "COMMIT",
        ):
            guarded(self.place, "written", lambda sql=sql: self._connection.execute(sql))  # type: ignore[misc]

    @override
    def close(self) -> None:
        self._connection.close()


@contextmanager
def opened(place: SqlTable, *, writes: bool = False) -> Iterator[Session]:
    """A session that is undone and closed at the end of the block."""
    scheme = place.url.partition(":")[0].replace("postgresql", "postgres")
    session = DATABASES[scheme]().open(place, writes=writes)
    try:
        yield session
    finally:
        session.close()


def guarded(place: SqlTable, what: str, action: Callable[[], T]) -> T:
    """Do something in a database, whose own words about a failure may quote cells, and are not passed on."""
    try:
        return action()
    except (KohortError, MemoryError):
        raise
    except Exception as error:
        code = str(getattr(error, "sqlstate", "") or "")
    reason = _REASONS.get(code) or _REASONS.get(code[:2]) or "check the name, your rights, and the database's own log"
    raise DataError(f"{place.name}: cannot be {what}; {reason}.")


_REASONS = {
    "28": "the user or the password is wrong: set PGUSER and PGPASSWORD, or a service file",
    "3D": "there is no such database",
    "42501": "the user has no right to do so",
    "42P01": "there is no such table",
    "42601": "the query is no SELECT that the database understands",
    "25006": "a query may only read",
    "42P07": "it is already there; give another name, or --force (overwrite=True)",
    "2BP01": "views or other objects depend on the table that is there; give another name",
    "53": "the server has no room or memory left",
    "08": "the connection was lost",
    "57": "the server has ended the connection",
}


def copied_table(place: SqlTable, folder: Path) -> Path:
    """Copy the rows, in the order in which the database gives them, into a Parquet file in a private folder."""
    name = "query" if place.table is None else re.sub(r"[^\w.-]", "_", place.names[-1])
    path = folder / f"{name}.parquet"
    with opened(place) as session:
        guarded(place, "read", lambda: session.copy(path))
    return path
