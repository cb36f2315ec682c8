"""Tables as the command line gives them: a path, or ``-`` for what comes in or goes out through a pipe."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from kohort.table.databases import SqlTable

_KINDS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".feather",
    b"PK\x03\x04": ".xlsx",
    b"{": ".jsonl",
    b"\x1f\x8b": ".csv.gz",
    b"\x28\xb5\x2f\xfd": ".csv.zst",
}
"""How files of some kinds begin."""
PIPE = Path("-")


def located(text: str) -> Any:
    """A path, or the table of a database that a URL names: ``postgresql://host/database#table``."""
    from kohort.table.databases import SqlTable, is_url

    if not is_url(text):
        return Path(text)
    return without_password(SqlTable(text)) if "#" in text else text


def without_password(table: SqlTable) -> SqlTable:
    """The table itself, unless the command line shows a password to everybody on the machine."""
    from kohort.errors import DataError

    if table.has_password:
        raise DataError(
            "database: a password on the command line can be seen by everybody on this machine; give it by PGPASSWORD, "
            "a service file or ~/.pgpass."
        )
    return table


def table_of(given: Any, table: str | None, query: str | None = None, *, option: str = "--table") -> Any:
    """The table of a database, if options name it; a path as it is."""
    from kohort.errors import DataError
    from kohort.table.databases import SqlTable

    if not isinstance(given, str | Path) and (table is not None or query is not None):
        raise DataError(f"{option}: the URL names a table after its #; leave out one of the two.")
    if isinstance(given, str):
        if table is None and query is None:
            raise DataError(f"database: say which table; by {option}, or as #NAME at the end of the URL.")
        return without_password(SqlTable(given, table, query))
    if table is not None or query is not None:
        raise DataError(
            f"{option}: it is for a database, whose URL begins with postgresql://, sqlite:/// or duckdb:///; "
            "leave it out for a file."
        )
    return given


def taken(context: typer.Context, given: Any) -> Any:
    """What is given; for ``-``, the path of a private file with what comes in, which is gone when the command ends."""
    return context.with_resource(_piped_in()) if given == PIPE else given


@contextmanager
def _piped_in() -> Iterator[Path]:
    """What comes in, in a private file whose name says what it is."""
    from kohort.common.private import private_folder

    with private_folder("kohort-stdin") as folder:
        whole = folder / "stdin"
        with whole.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        with whole.open("rb") as file:
            head = file.read(8)
        suffix = next((suffix for magic, suffix in _KINDS.items() if head.startswith(magic)), ".csv")
        yield whole.rename(whole.with_suffix(suffix))


@contextmanager
def piped_out(output: Any) -> Iterator[Any]:
    """The path itself; for ``-``, that of a private CSV file, which goes out when the block ends well."""
    if output != PIPE:
        yield output
        return
    from kohort.common.private import private_folder
    from kohort.errors import DataError

    with private_folder("kohort-stdout") as folder:
        path = folder / "release.csv"
        yield path
        try:
            with path.open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        except OSError as error:
            fault = error.strerror or "it is closed"
        else:
            return
        raise DataError(f"standard output: the release did not go out whole ({fault}); throw away what came.")


def verdict_beside(output: Any) -> Path | None:
    """Where the public verdict goes if nobody says where: beside a file, or here under the name of a table."""
    from kohort.table.targets import verdict_path

    if output == PIPE:
        return None
    return verdict_path(output if isinstance(output, Path) else Path(output.names[-1]))
