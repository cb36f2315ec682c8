"""Parquet files: looked at before any work, and read where they are."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path

from kohort.audit.read.csv import is_source
from kohort.audit.read.database import Database, Unreadable
from kohort.audit.read.opened import (
    ROW,
    File,
    Opened,
    all_parts,
    array_of,
    is_list,
    read_parquet,
    refuse_namesakes,
    refuse_nested,
)
from kohort.audit.read.table import Chunk
from kohort.audit.read.zones import MOMENT, as_moment, day_of, refuse_without_zone, zones_of_parquet
from kohort.common.arrow import SCHEMA, has_dictionaries, notes
from kohort.errors import DataError
from kohort.policy import Policy

_NOTED = tuple(b"org.apache.spark." + key for key in (b"version", b"timeZone", b"legacyDateTime"))
"""Entries of a file's metadata in which libraries note their own versions."""
_OF_SPARK = b"org.apache.spark.sql.parquet.row.metadata"
"""Where Spark notes its types, and whatever was said of each column."""
_NUMBER_OF_COLUMN = b"PARQUET:field_id"
_DIGITS = 38
"""Digits of the longest decimal numbers that the database knows."""


def open_parquet(
    database: Database, name: str, files: Sequence[File], policy: Policy, wanted: Collection[str]
) -> Opened:
    """Leave files where they are; all must have the same columns, in any order."""
    heads = [_parquet_head(database, name, file, policy) for file in files]
    first = heads[0]
    faults = []
    for file, head in zip(files[1:], heads[1:], strict=True):
        faults += _differences(file.place, head, files[0].path.name, first, wanted, policy)
    if len(files) > 1 and len({column.lower() for column in first.types}) < len(first.types):
        faults.append(f"{name}: columns of its files have names that differ in case alone; rename one.")
    DataError.refuse(faults)
    header = tuple(first.types)
    number = {column: i for i, column in enumerate(header)}
    refuse_nested({column: first.types[column] for column in header if column in wanted}, files[0].place, policy.sets)
    quasi = tuple(column for column in policy.quasi_identifiers if column in wanted)
    refuse_without_zone(first.zones, quasi, files[0].place)
    kinds = {f"c{i}": first.types[column] for i, column in enumerate(header)}
    moments = {f"c{number[column]}": zone for column, zone in first.zones.items() if zone}
    # what is published is asked as it is: moments of one day are not alike
    days = quasi if is_source(name) else ()
    cells: dict[str, str] = {}
    for cell, zone in moments.items():
        if header[int(cell[1:])] in days:
            cells[cell], kinds[cell] = day_of(cell, kinds[cell], zone), "DATE"
        elif (moment := as_moment(cell, kinds[cell])) != cell:
            cells[cell], kinds[cell] = moment, MOMENT
    for column in policy.sets:
        if column in wanted and column in number and is_list(first.types[column]):
            cell = f"c{number[column]}"
            cells[cell], kinds[cell] = array_of(cell), "VARCHAR"
    parts, start = [], 0
    for file, head in zip(files, heads, strict=True):
        names = [f"c{number[column]}" for column in head.types]
        parts.append(Chunk(read_parquet(file.sql, names, cells), ROW, start, head.rows, file.place))
        start += head.rows
    return Opened(header, *all_parts(files, parts, list(kinds), cells), tuple(parts), kinds)


def parquet_file(
    database: Database, path: Path, name: str, policy: Policy
) -> tuple[tuple[str, ...], Mapping[str, str], Chunk]:
    """Open one Parquet file: its header, the types of c0, c1 and so on, and its rows."""
    opened = open_parquet(database, name, [File(path, f"{name} {path.name}")], policy, ())
    return opened.header, opened.kinds, opened.parts[0]


@dataclass(frozen=True)
class _Head:
    """What the footer of a Parquet file says: the type of each column, the number of rows, and time zones."""

    types: Mapping[str, str]
    rows: int
    zones: Mapping[str, str]


def _parquet_head(database: Database, table: str, file: File, policy: Policy) -> _Head:
    try:
        schema = database.rows(
            f"SELECT name, coalesce(num_children, 0), coalesce(precision, 0) FROM parquet_schema({file.sql})"
        )
        described = database.rows(f"DESCRIBE SELECT * FROM read_parquet({file.sql}, hive_partitioning = false)")
        [(rows,)] = database.rows(f"SELECT num_rows FROM parquet_file_metadata({file.sql})")
        zones = zones_of_parquet(database, file.sql)
        kept = [] if is_source(table) else database.rows(f"SELECT key, value FROM parquet_kv_metadata({file.sql})")
    except Unreadable:
        raise DataError(f"{file.place}: it cannot be read as Parquet; the file is damaged.") from None
    if any(key == SCHEMA and has_dictionaries(value) for key, value in kept):
        raise DataError(
            f"{file.place}: it has columns with a dictionary, which may hold values that no row has; write plain "
            "columns."
        )
    if any(_says_more(key, value) for key, value in kept):
        raise DataError(f"{file.place}: it has metadata that may hold more than the rows; write the table alone.")
    header, inside, faults = [], 0, []  # the tree comes in pre-order: skip what is inside a nested column
    for name, children, digits in schema[1:]:
        if inside:
            inside += children - 1
            continue
        header.append(str(name))
        inside = children
        if digits > _DIGITS:  # the database would read floating-point numbers, and take several for one
            which = f"column {name!r}" if name in policy.columns else f"column {len(header)}"
            faults.append(
                f"{file.place}: {which} holds numbers of more than {_DIGITS} digits; round it, or make it text."
            )
    DataError.refuse(faults)
    refuse_namesakes(header, file.place, policy)
    types = {name: str(kind) for name, (_, kind, *_rest) in zip(header, described, strict=True)}
    return _Head(types, int(rows), zones)


def _says_more(key: bytes, value: bytes) -> bool:
    """Whether an entry of the metadata is more than the types that a library notes for itself."""
    try:
        if key == b"pandas":
            return bool(json.loads(value).get("attributes"))
        if key == _OF_SPARK:
            return any(field["metadata"] for field in json.loads(value)["fields"])
        if key == SCHEMA:
            of_file, of_columns = notes(value)
            return any(starmap(_says_more, of_file)) or any(name != _NUMBER_OF_COLUMN for name, _ in of_columns)
    except (ValueError, AttributeError, KeyError, TypeError):
        return True
    return key not in _NOTED


def _differences(
    place: str, head: _Head, other: str, first: _Head, wanted: Collection[str], policy: Policy
) -> list[str]:
    """What a file has otherwise than the first. A name that is not in the policy may be a cell, and is not reported."""

    def called(name: str, number: int) -> str:
        return f"column {name!r}" if name in policy.columns else f"column {number}"

    lacking = [
        f"{place}: lacks {called(name, number)} of {other}; every file needs the same columns."
        for number, name in enumerate(first.types, 1)
        if name not in head.types
    ]
    more = [
        f"{place}: its {called(name, number)} is not in {other}; every file needs the same columns."
        for number, name in enumerate(head.types, 1)
        if name not in first.types
    ]
    retyped = [
        f"{place}: column {name!r} is of another type than in {other}; write all files alike."
        for name, kind in first.types.items()
        if name in wanted and (head.types.get(name, kind) != kind or head.zones.get(name) != first.zones.get(name))
    ]
    return lacking + more + retyped
