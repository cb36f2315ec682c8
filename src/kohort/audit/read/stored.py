"""Tables in databases, as texts that the database itself writes: the maker reads and writes them by their types."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kohort.audit.read.database import Database, quoted
from kohort.audit.read.formats.base import Kinds, refuse_names, text_frame
from kohort.errors import VerificationError

if TYPE_CHECKING:
    import polars as pl

    from kohort.table.databases import SqlTable

    Texts = Iterable[tuple[list[str], list[tuple[Any, ...]]]]


def stored_pieces(place: SqlTable, called: str, kinds: Kinds) -> Iterator[pl.DataFrame]:
    """The cells of a table in a database, some rows after the others."""
    from kohort.table.databases import opened

    with opened(place) as session:
        names = session.columns(session.relation)
        refuse_names(names, f"{called} {place.name}")
        if mixed := session.mixed([name for name in kinds.columns if name in names]):
            raise kinds.fault(mixed[0])
        yield text_frame(names, [[] for _ in names])
        for _, rows in session.texts(session.relation):
            yield _frame(names, rows)


def refuse_unequal(texts: Texts, path: Path, memory: int | None) -> str:
    """Refuse a table that does not hold the rows of a verified file: not one more, not one less, cell by cell.

    Parameters
    ----------
    texts
        Names and rows as the database has written them.
    path : Path
        The file, Parquet.

    Returns
    -------
    str
        SHA-256 of the rows, in whatever order: that of their hashes, sorted.
    """
    with Database(memory) as database:
        files = [_packed(database, number, _frame(names, rows)) for number, (names, rows) in enumerate(texts)]
        verified = quoted([str(path)])
        kinds = database.rows(f"DESCRIBE SELECT * FROM read_parquet({verified}, hive_partitioning = false)")
        cells = [f"c{place}" for place in range(len(kinds))]
        if files:
            listed = f"read_parquet([{quoted(map(str, files))}]) AS source({', '.join(cells)})"
        else:
            listed = f"(SELECT {', '.join(f'NULL::VARCHAR AS {cell}' for cell in cells)} LIMIT 0) AS source"
        # a text that is no value of the type would become null, so it is also asked which cells are null
        there = ", ".join(
            f"TRY_CAST({cell} AS {kind}), {cell} IS NULL" for cell, (_, kind, *_) in zip(cells, kinds, strict=True)
        )
        wanted = ", ".join(f"{cell}, {cell} IS NULL" for cell in cells)
        file = f"read_parquet({verified}, hive_partitioning = false) AS source({', '.join(cells)})"
        both = (f"SELECT {there} FROM {listed}", f"SELECT {wanted} FROM {file}")
        differing = 0
        for one, other in (both, both[::-1]):
            [(count,)] = database.rows(f"SELECT count(*) FROM ({one} EXCEPT ALL {other}) AS more")
            differing += int(count)
        if differing:
            raise VerificationError(
                "the table in the database is not the verified release and was not published: "
                f"{differing:,} rows differ."
            )
        whole = " || ".join(f"coalesce(length({cell}) || ':' || {cell}, '-')" for cell in cells)
        summed = hashlib.sha256()
        for (row,) in database.streamed(f"SELECT sha256({whole}) AS row FROM {listed} ORDER BY row"):
            summed.update(row.encode())
        return summed.hexdigest()


def _frame(names: list[str], rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    columns: list[list[Any]] = list(map(list, zip(*rows, strict=True))) if rows else [[] for _ in names]
    return text_frame(names, columns)


def _packed(database: Database, number: int, frame: pl.DataFrame) -> Path:
    path = database.folder / f"stored{number}.parquet"
    database.pack(frame.rename(lambda name: name), path)
    return path
