"""CSV files: read once and strictly, and kept by the database; in limited memory, as Parquet files in its folder."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kohort.audit.meaning.published import alike_columns
from kohort.audit.read.blocks import records_of
from kohort.audit.read.cells import Cells
from kohort.audit.read.database import Database
from kohort.audit.read.dialect import DELIMITERS, Dialect, sniff
from kohort.audit.read.opened import ROW, File, Opened, all_parts, of_kept, refuse_namesakes
from kohort.audit.read.table import Chunk
from kohort.errors import DataError
from kohort.policy import Policy

if TYPE_CHECKING:
    import polars as pl

_PIECE = 1 << 25
"""Bytes of texts that are written at a time."""
_NOTHING = "nothing"
"""A column of nulls for a table that has none of the wanted ones."""


def open_csv(database: Database, name: str, files: Sequence[File], policy: Policy, wanted: Collection[str]) -> Opened:
    """Read files, which must have the same header."""
    dialects = dialects_of(files, name, policy)
    header = dialects[0].header
    names = [f"c{i}" if column in wanted else None for i, column in enumerate(header)]
    alike = frozenset(alike_columns(policy))
    watched = [i for i, column in enumerate(header) if names[i] and column in alike]
    styles = Styles(() if is_source(name) else watched)
    both = list(zip(files, dialects, strict=True))
    opened = (_packed if database.is_limited else _kept)(database, name, both, names, styles)
    if styles.mixed:
        _refuse_quotes(database, name, both, {i: header[i] for i in styles.mixed})
    return opened


def dialects_of(files: Sequence[File], name: str, policy: Policy) -> list[Dialect]:
    """Find out how each file is written; all must have the same header."""
    dialects = [_dialect(file, name, policy) for file in files]
    header = dialects[0].header
    refuse_namesakes(header, files[0].place, policy)
    DataError.refuse(
        f"{file.place}: its header is not that of {files[0].path.name}; every file needs the same."
        for file, dialect in zip(files, dialects, strict=True)
        if dialect.header != header
    )
    return dialects


def refuse_misread(files: Sequence[Path], policy: Policy, header: Sequence[str], records: int) -> None:
    """Read an original as the audit will, before any work is done on it, and refuse it if it means something else then.

    Parameters
    ----------
    files : sequence of Path
        CSV files.
    header : sequence of str
        Names of the columns as another reader has found them.
    records : int
        How many records it has found.
    """
    found = 0
    for path in files:
        dialect = _dialect(File(path, path.name), "original", policy)
        if dialect.header != tuple(header):
            raise DataError(
                f"{path.name}: its header can be read in more than one way; give delimiter and quote in [input]."
            )
        found += sum(cells.records for cells in records_of(path, dialect.form, path.name))
    if found != records:
        where = files[0].name if len(files) == 1 else "the table"
        raise DataError(f"{where}: it can be read as {found:,} or {records:,} records; check quotes and line ends.")


def is_source(name: str) -> bool:
    """Whether a table is read as ``[input]`` of the policy says: the original, and a population."""
    return name.startswith(("original", "population"))


def _dialect(file: File, name: str, policy: Policy) -> Dialect:
    given = policy.input
    if not is_source(name):
        # kohort writes the delimiter of the input
        also = () if given.delimiter in (None, *DELIMITERS) else (given.delimiter,)
        return sniff(file.path, file.place, delimiters=(*DELIMITERS, *also), expected=policy.columns)
    return sniff(
        file.path,
        file.place,
        delimiters=(given.delimiter,) if given.delimiter else DELIMITERS,
        expected=policy.columns,
        quote=given.quote,
        encoding=given.codec,
        preamble=given.skip_rows,
        is_release=False,
    )


class Styles:
    """Watches whether some columns hold cells with needless quotes beside such without."""

    def __init__(self, columns: Iterable[int]) -> None:
        self._quoted = dict.fromkeys(columns, False)
        self._bare = dict(self._quoted)

    def watched(self, blocks: Iterable[Cells]) -> Iterator[Cells]:
        """The same blocks, looked at."""
        for block in blocks:
            for i in self._quoted:
                self._quoted[i] = self._quoted[i] or block.has_needless_quotes(i)
                self._bare[i] = self._bare[i] or block.has_bare(i)
            yield block

    @property
    def mixed(self) -> list[int]:
        """Columns that have both."""
        return [i for i, found in self._quoted.items() if found and self._bare[i]]


def _pieces(file: File, dialect: Dialect, names: Sequence[str | None], styles: Styles) -> Iterator[pl.DataFrame]:
    """The wanted columns of a file in frames of some size, without the header."""
    import polars as pl

    wanted = {place: name for place, name in enumerate(names) if name is not None}
    waiting: list[pl.DataFrame] = []
    size = 0
    for block in styles.watched(records_of(file.path, dialect.form, file.place)):
        nothing = pl.Series(_NOTHING, [None], dtype=pl.String).new_from_index(0, block.records)
        waiting.append(block.columns(wanted) if wanted else pl.DataFrame([nothing]))
        size += block.consumed
        if size > _PIECE:
            yield pl.concat(waiting)
            waiting, size = [], 0
    if waiting:
        yield pl.concat(waiting)


def _listed(names: Sequence[str | None]) -> list[str]:
    return [name for name in names if name is not None] or [_NOTHING]


def _kept(
    database: Database, name: str, files: Sequence[tuple[File, Dialect]], names: Sequence[str | None], styles: Styles
) -> Opened:
    """Add the records of all files to a table of the database."""
    kept, columns = f"{name}_cells", _listed(names)
    database.rows(f"CREATE TABLE {kept} ({', '.join(f'{column} VARCHAR' for column in columns)})")
    for file, dialect in files:
        for frame in _pieces(file, dialect, names, styles):
            database.register("some_records", frame)
            database.rows(f"INSERT INTO {kept} SELECT {', '.join(columns)} FROM some_records")
    file, dialect = files[0]
    return of_kept(database, kept, dialect.header, dict.fromkeys(columns, "VARCHAR"), file.place)


def _packed(
    database: Database, name: str, files: Sequence[tuple[File, Dialect]], names: Sequence[str | None], styles: Styles
) -> Opened:
    """Write the records as Parquet to the private folder, where they take a tenth of the room."""
    parts: list[Chunk] = []
    copies: list[File] = []
    start = 0
    for file, dialect in files:
        for frame in _pieces(file, dialect, names, styles):
            copy = File(database.folder / f"{name}{len(copies)}.parquet", file.place)
            database.pack(frame, copy.path)
            parts.append(Chunk(f"read_parquet({copy.sql}) AS source", ROW, start, frame.height, file.place))
            copies.append(copy)
            start += frame.height
    relation, row = all_parts(copies, parts, _listed(names))
    return Opened(
        files[0][1].header, relation, row, tuple(parts), dict.fromkeys(_listed(names), "VARCHAR"), is_copied=True
    )


def _refuse_quotes(
    database: Database, name: str, files: Sequence[tuple[File, Dialect]], columns: Mapping[int, str]
) -> None:
    """Refuse equal texts of such a column with and without quotes: there are readers that tell them apart."""
    import polars as pl

    faults = []
    for i, column in columns.items():
        seen = f"{name}_quotes{i}"
        database.rows(f"CREATE TEMP TABLE {seen} (text VARCHAR, quoted BOOLEAN, row BIGINT)")
        start = 1
        for file, dialect in files:
            for block in records_of(file.path, dialect.form, file.place):
                texts = block.columns({i: "text"}).with_columns(quoted=pl.Series(block.is_needlessly_quoted(i)))
                some = texts.with_row_index("row", start).group_by("text", "quoted").agg(pl.col("row").min())
                start += block.records
                database.register("some_records", some)
                database.rows(f"INSERT INTO {seen} SELECT text, quoted, row FROM some_records")
        firsts = f"SELECT text, quoted, min(row) AS row FROM {seen} WHERE text <> '' GROUP BY text, quoted"
        [(row,)] = database.rows(
            f"SELECT min(later) FROM (SELECT max(row) AS later FROM ({firsts}) AS firsts "
            "GROUP BY text HAVING count(*) > 1) AS both_ways"
        )
        database.rows(f"DROP TABLE {seen}")
        if row is not None:
            faults.append(
                f"{files[0][0].place}: column {column!r} has the same text with and without quotes (record {row}), "
                "and some readers distinguish them; write equal cells alike."
            )
    DataError.refuse(faults)
