"""Tables as the judge reads them. Nothing of kohort.

CSV by a strict parser of its own, Parquet and Feather by pyarrow, JSON lines by Python.
"""

from __future__ import annotations

import contextlib
import csv
import datetime as dt
import gzip
import io
import json
import math
import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from re import compile as pattern
from typing import Any

NUMBER = pattern(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
NULL = object()
"""The text of a cell that is null, which is not the empty text."""


class Malformed(Exception):
    """A file that no strict reader takes."""


@dataclass(frozen=True)
class Cell:
    """A cell as it is stored: its raw form, which tells it from others, and its value."""

    raw: Any
    value: Any

    @property
    def text(self) -> str:
        """The cell as text; empty for null."""
        return text_of(self.value)


@dataclass(frozen=True)
class Table:
    """Rows of cells under names; types of the columns, or none for texts."""

    names: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    types: tuple[str, ...] | None = None

    def column(self, name: str) -> list[Cell]:
        """The cells of a column."""
        at = self.names.index(name)
        return [row[at] for row in self.rows]


def text_of(value: Any) -> str:
    """A value as a CSV file would show it; empty for null and NaN."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ")
    return str(value)


def canonical(value: Any) -> Any:
    """The one form of a value: without blanks around it, composed, numbers by what they are worth; None if null."""
    if isinstance(value, bool):
        return text_of(value)
    if value is None or isinstance(value, dt.datetime):
        return value
    if isinstance(value, dt.date):
        return Fraction(value.toordinal())
    if isinstance(value, int | Decimal):
        return Fraction(value)
    if isinstance(value, float):
        return Fraction(repr(value)) if math.isfinite(value) else None if math.isnan(value) else str(value)
    text = unicodedata.normalize("NFC", str(value)).strip()
    return number_of(text) if number_of(text) is not None and not _is_code(text) else text


def read_as(value: Any, missing: frozenset[str]) -> Any:
    """What a reader takes a sensitive value or an identifier for: what can be seen of it; None if there is nothing."""
    if not isinstance(value, str):
        return canonical(value)
    seen = _visible(value)
    return None if seen in {"", *map(_visible, missing)} else canonical(seen)


def _visible(text: str) -> str:
    words = "".join(" " if letter.isspace() else letter for letter in unicodedata.normalize("NFKC", text))
    shown = "".join(letter for letter in words if unicodedata.category(letter) not in ("Cc", "Cf"))
    typed = {"-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "'": "\u2018\u2019\u201a\u201b\u02bc\u2032"}
    for key, printed in (typed | {'"': "\u201c\u201d\u201e\u201f\u2033"}).items():
        for letter in printed:
            shown = shown.replace(letter, key)
    return " ".join(shown.split())


def number_of(text: str) -> Fraction | None:
    """The number that a text is, blanks around it left out."""
    text = text.strip(" \t\r\n")
    return Fraction(text) if NUMBER.fullmatch(text) else None


def moment_of(cell: Cell) -> dt.datetime | None:
    """The moment that a cell is, or is written as: in UTC if it has a zone."""
    value = cell.value
    if isinstance(value, str) and re.match(r"\d{4}-\d{2}-\d{2}[Tt ]\d", value):
        with contextlib.suppress(ValueError):
            value = dt.datetime.fromisoformat(value)
    if not isinstance(value, dt.datetime):
        return None
    return value.astimezone(dt.UTC) if value.tzinfo else value


def in_utc(table: Table) -> Table:
    """The table with its moments in UTC."""

    def moved(cell: Cell) -> Cell:
        moment = moment_of(cell) if isinstance(cell.value, dt.datetime) else None
        return cell if moment is None else Cell(moment, moment)

    return Table(table.names, tuple(tuple(map(moved, row)) for row in table.rows), table.types)


def _is_code(text: str) -> bool:
    digits = text.lstrip("+-")
    return len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()


# -- files -----------------------------------------------------------------------------------------


def read(path: Path, **dialect: Any) -> Table:
    """A file, or all files of a folder in the order of their paths."""
    if path.is_dir():
        parts = [read(one, **dialect) for one in sorted(path.rglob("*")) if one.is_file() and one.name[0] not in "._"]
        if len({part.names for part in parts}) > 1:
            raise Malformed("the files of a folder have different columns")
        return Table(parts[0].names, tuple(row for part in parts for row in part.rows), parts[0].types)
    with path.open("rb") as file:
        head = file.read(6)
    if head[:4] == b"PAR1":
        return read_parquet(path)
    if head == b"ARROW1":
        return read_feather(path)
    if path.suffix == ".jsonl":
        return read_lines(path)
    return read_csv(path, **dialect)


def read_csv(path: Path, delimiter: str = ",", quote: str = '"', encoding: str = "utf-8") -> Table:
    """A CSV file, parsed twice: by RFC 4180 to the letter, and by Python's own reader."""
    data = gzip.decompress(path.read_bytes()) if path.name.endswith(".gz") else path.read_bytes()
    text = data.decode(encoding)
    rows = strict_rows(text, delimiter, quote)
    if not rows:
        raise Malformed("there is no header")
    if len({len(row) for row in rows}) > 1:
        raise Malformed("lines have different numbers of cells")
    if quote:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quotechar=quote, strict=True)
        again = [row or [""] for row in reader]
        if again != [[cell.value or "" for cell in row] for row in rows]:
            raise Malformed("two readers read it differently")
    return Table(tuple(cell.value or "" for cell in rows[0]), tuple(rows[1:]))


def strict_rows(text: str, delimiter: str, quote: str) -> list[tuple[Cell, ...]]:
    """The rows of a text; an empty cell that is not quoted is null."""
    rows: list[tuple[Cell, ...]] = []
    row: list[Cell] = []
    at = 0
    while at < len(text) or row:
        cell, at = _cell(text, at, delimiter, quote)
        row.append(cell)
        if text.startswith(delimiter, at):
            at += 1
            if at == len(text):
                row.append(Cell(NULL, None))
                rows.append(tuple(row))
                break
            continue
        end = 2 if text.startswith("\r\n", at) else 1
        if at < len(text) and text[at] not in "\r\n":
            raise Malformed("something follows a closing quote")
        at += end
        rows.append(tuple(row))
        row = []
    return rows


def _cell(text: str, at: int, delimiter: str, quote: str) -> tuple[Cell, int]:
    if quote and text.startswith(quote, at):
        return _quoted(text, at + 1, quote)
    end = at
    while end < len(text) and text[end] not in (delimiter, "\r", "\n"):
        if quote and text[end] == quote:
            raise Malformed("a quote stands inside a cell that is not quoted")
        end += 1
    value = text[at:end]
    return (Cell(("bare", value), value) if value else Cell(NULL, None)), end


def _quoted(text: str, at: int, quote: str) -> tuple[Cell, int]:
    parts = []
    while True:
        end = text.find(quote, at)
        if end < 0:
            raise Malformed("a quote is not closed")
        parts.append(text[at:end])
        if not text.startswith(quote, end + 1):
            value = "".join(parts)
            return Cell(("quoted", value), value), end + 1
        parts.append(quote)
        at = end + 2


def read_parquet(path: Path) -> Table:
    """A Parquet file."""
    import pyarrow.parquet as pq

    return of_arrow(pq.ParquetFile(path).read())


def read_feather(path: Path) -> Table:
    """A Feather file, which has no words beside its cells."""
    import pyarrow.feather as feather

    table = feather.read_table(path, memory_map=False)
    if table.schema.metadata or any(field.metadata for field in table.schema):
        raise Malformed("it has metadata")
    return of_arrow(table)


def read_lines(path: Path) -> Table:
    """JSON lines: numbers are told from texts, and from each other by how they are written."""

    def number(text: str) -> Cell:
        return Cell(("number", text), Decimal(text))

    rows = []
    for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
        pairs = json.loads(line, parse_int=number, parse_float=number, object_pairs_hook=list)
        rows.append([(name, cell if isinstance(cell, Cell) else _of_json(cell)) for name, cell in pairs])
    if len({tuple(name for name, _ in row) for row in rows}) != 1:
        raise Malformed("lines have different keys")
    names = tuple(name for name, _ in rows[0])
    return Table(names, tuple(tuple(cell for _, cell in row) for row in rows), ("json",) * len(names))


def _of_json(value: Any) -> Cell:
    if value is not None and not isinstance(value, str | bool):
        raise Malformed("a cell is no single value")
    return Cell(NULL if value is None else (type(value).__name__, value), value)


def of_arrow(table: Any) -> Table:
    """An Arrow table; timestamps as datetimes in the zone of their column."""
    columns = [[Cell(NULL if v is None else v, v) for v in _plain(column)] for column in table.columns]
    rows = tuple(zip(*columns, strict=True)) if columns else ()
    return Table(tuple(table.column_names), rows, tuple(map(str, table.schema.types)))


def _plain(column: Any) -> list[Any]:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        column = column.cast(pa.timestamp("us", kind.tz), safe=False)
    values = column.to_pylist()
    if pa.types.is_float32(kind):
        return [None if v is None else _shortest32(v) for v in values]
    return values


def _shortest32(value: float) -> float:
    """A number of 32 bits as the decimal that it is written as, not as its 64-bit neighbour."""
    import struct

    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if struct.pack("f", float(text)) == struct.pack("f", value):
            return float(text)
    return value
