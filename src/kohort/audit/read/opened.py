"""What the ways to open a table have in common."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from kohort.audit.read.database import Database, quoted
from kohort.audit.read.table import Chunk
from kohort.common.regular import regular
from kohort.errors import DataError
from kohort.policy import Policy

_NESTED = re.compile(r"STRUCT|MAP|UNION|LIST|.*\]$")
_LIST = re.compile(r"[A-Z0-9_]+\[[0-9]*\]")
ROW = "source.file_row_number"
"""SQL of the number of a row in its Parquet file."""


@dataclass(frozen=True)
class Opened:
    """Where and how a table can be read; the attributes are those of `Table`."""

    header: tuple[str, ...]
    relation: str
    row: str
    parts: tuple[Chunk, ...]
    kinds: Mapping[str, str]
    is_copied: bool = False
    """Whether every wanted cell was read already, and what is asked from now on is a copy."""


@dataclass(frozen=True)
class File:
    """A file, and what it is called in a message."""

    path: Path
    place: str

    def head(self, count: int) -> bytes:
        """Its first bytes."""
        try:
            with regular(self.path).open("rb") as file:
                return file.read(count)
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            raise DataError(f"{self.place}: cannot be opened ({reason}); check the path.") from None

    @property
    def sql(self) -> str:
        """Its path as a literal; a pattern in a file name would make the database read other files."""
        return quoted([re.sub(r"([\[*?])", r"[\1]", str(self.path.absolute()))])


def read_parquet(files: str, names: Sequence[str], cells: Mapping[str, str]) -> str:
    """SQL of Parquet files with columns of these names, and of those cells that are not taken as they are."""
    read = f"read_parquet({files}, hive_partitioning = false) AS source({', '.join(names)})"
    if not cells:
        return read
    columns = [f"{cells[name]} AS {name}" if name in cells else name for name in names]
    numbers = [ROW, ROW.replace("file_row_number", "file_index")]
    return f"(SELECT {', '.join([*columns, *numbers])} FROM {read}) AS source"


def all_parts(
    files: Sequence[File],
    parts: Sequence[Chunk],
    names: Sequence[str],
    cells: Mapping[str, str] = MappingProxyType({}),
) -> tuple[str, str]:
    """SQL of Parquet files as one relation, as `read_parquet` has it, and of the number of a row in it."""
    paths = ", ".join(file.sql for file in files)
    relation = read_parquet(f"[{paths}]", names, cells)
    if len(parts) == 1:
        return relation, ROW
    starts = ", ".join(str(part.start) for part in parts)
    return relation, f"list_extract([{starts}], CAST(source.file_index + 1 AS BIGINT)) + {ROW}"


def of_kept(database: Database, kept: str, header: tuple[str, ...], kinds: Mapping[str, str], place: str) -> Opened:
    """Describe a table of the database itself."""
    [(rows,)] = database.rows(f"SELECT count(*) FROM {kept}")
    relation = f"{kept} AS source"
    return Opened(
        header, relation, "source.rowid", (Chunk(relation, "source.rowid", 0, rows, place),), kinds, is_copied=True
    )


def refuse_namesakes(header: Sequence[str], place: str, policy: Policy) -> None:
    """Refuse a name that heads two columns; it is reported only if the policy has it, else it may be a cell."""
    positions: dict[str, list[str]] = {}
    for i, column in enumerate(header, 1):
        positions.setdefault(column, []).append(str(i))
    faults = []
    for column, (*most, last) in positions.items():
        if most and column in policy.columns:
            faults.append(f"{place}: {column!r} heads more than one column; give each column its own name.")
        elif most:
            where = f"{', '.join(most)} and {last}"
            faults.append(f"{place}: columns {where} of the header have the same name; give each column its own name.")
    DataError.refuse(faults)


def is_list(kind: str) -> bool:
    """Whether a type is one of lists of single values."""
    return bool(_LIST.fullmatch(kind))


def array_of(sql: str) -> str:
    """SQL of a list as a JSON array of texts."""
    item = r"""replace(replace(CAST(item AS VARCHAR), '\', '\\'), '"', '\"')"""
    items = f"""list_transform({sql}, lambda item: coalesce('"' || {item} || '"', 'null'))"""
    return f"CASE WHEN {sql} IS NULL THEN NULL ELSE '[' || coalesce(array_to_string({items}, ','), '') || ']' END"


def refuse_nested(kinds: Mapping[str, str], place: str, sets: Collection[str] = ()) -> None:
    """Refuse lists and records, as two may be written alike; columns of sets may be lists."""
    for column, kind in kinds.items():
        if _NESTED.match(kind) and not (column in sets and is_list(kind)):
            raise DataError(f"{place}: column {column!r} holds lists or records; only single values will do.")
