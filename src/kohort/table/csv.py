"""CSV files: dialect, encoding, and a strict reader.

A line that is too short or too long, a broken quote or an undecodable byte is an error with its
line number; nothing is guessed, padded or cut.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from kohort.arrow import ArrowStream
from kohort.errors import DataError

if TYPE_CHECKING:
    import polars as pl

DELIMITERS = (",", ";", "\t", "|")
SAMPLE = 1 << 18
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written."""

    delimiter: str = ","
    quote: str = '"'
    encoding: str = "utf-8"


def _open(path: Path) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(path) if path.suffix == ".gz" else path.open("rb"))


def sniff(path: Path, *, delimiter: str | None, quote: str | None, encoding: str | None) -> Dialect:
    """Find out what is not given: the encoding from its mark or bytes, the delimiter by trial."""
    with _open(path) as file:
        head = file.read(SAMPLE)
        encoding = encoding or _sniff_encoding(head, file)
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head)
    except LookupError:
        raise DataError(f"{path.name}: there is no encoding {encoding!r}; give one that Python knows.") from None
    except UnicodeDecodeError:
        raise DataError(f"{path.name}: is not {encoding} text; give the right encoding in [input].") from None
    if not text.strip():
        raise DataError(f"{path.name}: is empty; give a file with a header and rows.")
    if "\0" in text:
        raise DataError(f"{path.name}: holds NUL bytes, so it is no CSV file; give CSV or Parquet.")
    quote = '"' if quote is None else quote
    return Dialect(delimiter or _sniff_delimiter(text, quote), quote, encoding)


def _sniff_encoding(head: bytes, rest: IO[bytes]) -> str:
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(head)
        while block := rest.read(1 << 22):
            decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _sniff_delimiter(text: str, quote: str) -> str:
    """The delimiter that cuts the first lines into the same number (> 1) of cells."""
    best, most = ",", 1
    for delimiter in DELIMITERS:
        widths = [len(row) for row in _rows(text, delimiter, quote, limit=50)]
        # The sample may end inside a line, so the last width does not count.
        widths = widths[:-1] or widths
        if len(set(widths)) == 1 and widths[0] > most:
            best, most = delimiter, widths[0]
    if most == 1:
        header = text.split("\n", 1)[0]
        best = max(DELIMITERS, key=header.count)
        return best if best in header else ","
    return best


def _rows(text: str, delimiter: str, quote: str, limit: int) -> list[list[str]]:
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=delimiter,
        quotechar=quote or None,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
    )
    rows = []
    try:
        for row in reader:
            if row:
                rows.append(row)
            if len(rows) >= limit:
                break
    except csv.Error:
        return rows
    return rows


@contextmanager
def _as_utf8(path: Path, dialect: Dialect) -> Iterator[Path]:
    """The file itself, or a private UTF-8 copy of it: in memory where the system can."""
    if dialect.encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig"):
        yield path
        return
    try:
        if hasattr(os, "memfd_create"):
            descriptor = os.memfd_create("kohort")
            copy = Path(f"/proc/self/fd/{descriptor}")
        else:
            descriptor, name = tempfile.mkstemp(prefix="kohort-", suffix=".csv")
            copy = Path(name)
        with os.fdopen(descriptor, "wb") as out:
            with _open(path) as file, io.TextIOWrapper(file, encoding=dialect.encoding, newline="") as text:
                while block := text.read(1 << 20):
                    out.write(block.encode())
            out.flush()
            yield copy
    except UnicodeDecodeError:
        raise DataError(f"{path.name}: is not {dialect.encoding} text; give the right encoding in [input].") from None
    finally:
        if not str(copy).startswith("/proc/"):
            copy.unlink(missing_ok=True)


def read_csv(path: Path, dialect: Dialect) -> pl.DataFrame:
    """Read a CSV file as text columns, in file order."""
    import duckdb
    import polars as pl

    with _as_utf8(path, dialect) as source:
        columns = _header(path, dialect)
        connection = duckdb.connect()
        try:
            relation = connection.sql(
                "SELECT * FROM read_csv($path, delim = $delimiter, quote = $quote, escape = $quote, header = true, "
                "auto_detect = false, strict_mode = true, null_padding = false, nullstr = chr(1), "
                "max_line_size = 33554432, columns = " + _struct(columns) + ")",
                params={"path": str(source), "delimiter": dialect.delimiter, "quote": dialect.quote},
            )
            return pl.DataFrame(ArrowStream(relation), schema=dict.fromkeys(columns, pl.String))
        except duckdb.Error as error:
            # The reader's own message quotes the line; only its number is passed on.
            fault = _reader_fault(str(error))
        finally:
            connection.close()
    raise DataError(f"{path.name}{fault}")


def _header(path: Path, dialect: Dialect) -> list[str]:
    with (
        _open(path) as file,
        io.TextIOWrapper(
            file, encoding="utf-8-sig" if dialect.encoding == "utf-8" else dialect.encoding, newline=""
        ) as text,
    ):
        rows = _rows(text.read(SAMPLE), dialect.delimiter, dialect.quote, limit=1)
    columns = rows[0]
    empty = [str(position) for position, name in enumerate(columns, 1) if not name.strip()]
    if empty:
        raise DataError(f"{path.name}: column {', '.join(empty)} of the header has no name; name it.")
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise DataError(f"{path.name}: the header names {', '.join(map(repr, twice))} more than once; rename one.")
    return columns


def _struct(columns: list[str]) -> str:
    def quoted(name: str) -> str:
        return "'" + name.replace("'", "''") + "'"

    return "{" + ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in columns) + "}"


def _reader_fault(message: str) -> str:
    line = re.search(r"CSV Error on Line: (\d+)", message)
    place = f", line {line[1]}" if line else ""
    width = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if width:
        return f"{place}: has {width[2]} cells where the header has {width[1]}; mend the line, or give the delimiter."
    if "quote" in message:
        return f"{place}: a quote is not closed, or text follows it; mend the line, or give the quote character."
    if "unicode" in message or "utf-8" in message:
        return f"{place}: is not UTF-8 text; give the right encoding in [input]."
    if "Maximum line size" in message:
        return f"{place}: is longer than 32 MiB; is this a CSV file?"
    return f"{place}: cannot be read as CSV; check the file."
