"""CSV files: dialect, encoding, and a strict reader.

A line that is too short or too long, a broken quote or an undecodable byte is an error with its
line number; nothing is guessed, padded or cut.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from gzip import BadGzipFile
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING

from kohort.common.arrow import ArrowStream
from kohort.common.packed import named_packing, unpacked
from kohort.common.private import private_folder
from kohort.errors import DataError
from kohort.policy.sections import Input
from kohort.table.words import listed, namesakes, no_name

if TYPE_CHECKING:
    import polars as pl

DELIMITERS = (",", ";", "\t", "|")
SAMPLE = 1 << 18
BLOCK = 1 << 22
UTF8 = "utf-8-sig"
"""UTF-8 with or without a mark at its beginning."""
NO_TEXT = "chr(0)"
"""SQL of a text that no cell is, as files with NUL bytes are refused: so no cell is read as null."""
_MARKS = (
    (codecs.BOM_UTF8, UTF8),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_OTHER_KINDS = (
    (b"PAR1", "is a Parquet file; name it .parquet."),
    (b"\x1f\x8b", "is a gzip file; name it .csv.gz."),
    (b"\x28\xb5\x2f\xfd", "is a Zstandard file; name it .csv.zst."),
    (b"PK\x03\x04", "is no CSV file; name an Excel file .xlsx, and unpack a ZIP file first."),
)


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written, and the names in its header."""

    delimiter: str
    quote: str
    encoding: str
    header: tuple[str, ...]
    preamble: int = 0
    """Lines before the header."""


# -- how it is written ---------------------------------------------------------------------------


def sniff(path: Path, settings: Input) -> Dialect:
    """Find out what is not given: the encoding from its mark or bytes, the delimiter by trial."""
    encoding, text = _decoded(path, settings.codec)
    text = _without_preamble(text, settings.skip_rows)
    quote, delimiter = settings.quote, settings.delimiter
    if not text.strip():
        raise DataError(f"{path.name}: is empty; give a file with a header and rows.")
    if not io.StringIO(text, newline="").readline().strip():
        raise DataError(f"{path.name}: the first line is blank; it must be the header.")
    quote = '"' if quote is None else quote
    delimiter = delimiter or _sniff_delimiter(text, quote)
    dialect = Dialect(delimiter, quote, encoding, _header(path, text, delimiter, quote), settings.skip_rows)
    if len(dialect.header) == 1:
        _refuse_empty_lines(path, dialect)
    return dialect


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Say that a file cannot be read; what the system says of it may quote its bytes."""
    try:
        yield
    except (EOFError, zlib.error, BadGzipFile):
        kind = "Zstandard" if named_packing(path) == "zstd" else "gzip"
        raise DataError(f"{path.name}: cannot be read (it is no {kind} file, or is cut off); copy it again.") from None
    except OSError as error:
        raise DataError(f"{path.name}: cannot be read ({error.strerror or 'it is damaged'}); check the path.") from None


def _open(path: Path) -> IO[bytes]:
    return unpacked(path, named_packing(path))


def _without_preamble(text: str, lines: int) -> str:
    """The text after its first lines."""
    for _ in range(lines):
        end = re.search(r"\r\n|\r|\n", text)
        text = text[end.end() :] if end else ""
    return text


def _blocks(path: Path, encoding: str) -> Iterator[str]:
    """The text of a file, piece by piece."""
    decoder = codecs.getincrementaldecoder(encoding)()
    with _open(path) as file:
        while block := file.read(BLOCK):
            yield decoder.decode(block)
    yield decoder.decode(b"", final=True)


def _decoded(path: Path, encoding: str | None) -> tuple[str, str]:
    """The encoding, in which all of the file can be read, and the beginning of its text."""
    with _open(path) as file:
        head = file.read(4)
    for magic, fault in _OTHER_KINDS:
        if head.startswith(magic):
            raise DataError(f"{path.name}: {fault}")
    found = next((name for mark, name in _MARKS if head.startswith(mark)), None)
    if known := encoding or found:
        with _refusing_bytes(path, known):
            return known, _sample(path, known)
    for candidate in (UTF8, "cp1252"):
        try:
            return candidate, _sample(path, candidate)
        except UnicodeError:
            continue
    raise DataError(f"{path.name}: is neither UTF-8 nor Windows-1252 text; give its encoding in [input].")


@contextmanager
def _refusing_bytes(path: Path, encoding: str) -> Iterator[None]:
    """Say that a file is in another encoding; Python's own words quote its bytes."""
    try:
        yield
    except UnicodeError:
        name = encoding.removesuffix("-sig")
        raise DataError(f"{path.name}: is not {name} text; give the right encoding in [input].") from None


def _sample(path: Path, encoding: str) -> str:
    """The beginning of the text, after a look at all of it: what is read later can be read."""
    sample = ""
    for block in _blocks(path, encoding):
        sample = sample or block[:SAMPLE].removeprefix("\ufeff")
        if "\0" in block:
            raise DataError(f"{path.name}: holds NUL bytes, so it is no CSV file; give CSV or Parquet.")
    return sample


def _sniff_delimiter(text: str, quote: str) -> str:
    """The delimiter that cuts the first lines into the same number (> 1) of cells."""
    best, most = ",", 1
    for delimiter in DELIMITERS:
        widths = [len(row) for row in islice(_rows(text, delimiter, quote), 50)]
        # The sample may end inside a line, so the last width does not count.
        widths = widths[:-1] or widths
        if len(set(widths)) == 1 and widths[0] > most:
            best, most = delimiter, widths[0]
    if most == 1:
        header = text.split("\n", 1)[0]
        best = max(DELIMITERS, key=header.count)
        return best if best in header else ","
    return best


def _rows(text: str, delimiter: str, quote: str) -> Iterator[list[str]]:
    """The rows until one is broken."""
    for _, row in _numbered(io.StringIO(text, newline=""), delimiter, quote):
        if row:
            yield row


def _numbered(lines: Iterable[str], delimiter: str, quote: str) -> Iterator[tuple[int, list[str]]]:
    """The rows until one is broken, with the numbers of their last lines."""
    reader = csv.reader(
        lines,
        delimiter=delimiter,
        quotechar=quote or None,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
        strict=True,
    )
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error:
        return


def _refuse_empty_lines(path: Path, dialect: Dialect) -> None:
    """Refuse empty lines in a file of one column: they may be missing values, and the reader takes them for nothing."""
    with io.TextIOWrapper(_open(path), dialect.encoding, newline="") as file:
        for _ in range(dialect.preamble):
            file.readline()
        for number, row in _numbered(file, dialect.delimiter, dialect.quote):
            if not row:
                line = dialect.preamble + number
                raise DataError(
                    f'{path.name}, line {line}: is empty in a file of one column; write a missing value as "", or '
                    "remove the line."
                )


def _header(path: Path, text: str, delimiter: str, quote: str) -> tuple[str, ...]:
    """The names of the columns; a fault says their positions, for without a header they are cells."""
    ends = list(re.finditer(r"\r\n|\r|\n", text[: 1 << 16]))
    after = next((end for end in ends if not quote or text.count(quote, 0, end.start()) % 2 == 0), None)
    if after and ends[0][0] != after[0]:
        # The database would take the first of them for the line end of the file, and lose all records.
        raise DataError(
            f"{path.name}, line 1: a name of the header holds a line end of another kind; rename the column."
        )
    columns = next(_rows(text, delimiter, quote), None)
    if columns is None:
        raise DataError(f"{path.name}, line 1: a quote of the header is not closed, or text follows it; fix the line.")
    empty = [position for position, name in enumerate(columns, 1) if not name.strip()]
    if empty:
        raise DataError(f"{path.name}: {no_name(empty)}")
    DataError.refuse(
        f"{path.name}: columns {listed(same)} of the header have the same name; "
        f"rename {'one' if len(same) == 2 else 'all but one'}."
        for same in namesakes(columns).values()
    )
    return tuple(columns)


# -- what it holds -------------------------------------------------------------------------------


def read_csv(path: Path, dialect: Dialect) -> pl.DataFrame:
    """Read a CSV file as text columns, in file order."""
    import duckdb
    import polars as pl

    # Columns get their names last: the database takes those for one that differ in case alone.
    columns = ", ".join(f"'c{position}': 'VARCHAR'" for position in range(len(dialect.header)))
    with _as_utf8(path, dialect) as (source, compression):
        connection = duckdb.connect()
        try:
            relation = connection.sql(
                "SELECT * FROM read_csv($path, delim = $delimiter, quote = $quote, escape = $quote, header = true, "
                f"auto_detect = false, strict_mode = true, null_padding = false, nullstr = {NO_TEXT}, "
                "max_line_size = 33554432, hive_partitioning = false, compression = $compression, skip = $preamble, "
                f"columns = {{{columns}}})",
                params={
                    "path": literal_path(source),
                    "delimiter": dialect.delimiter,
                    "quote": dialect.quote,
                    "compression": compression,
                    "preamble": dialect.preamble,
                },
            )
            frame = pl.DataFrame(ArrowStream(relation))
            frame.columns = list(dialect.header)
            return frame
        except (duckdb.Error, pl.exceptions.PolarsError) as error:
            # The reader's own message quotes the line; only its number is passed on.
            fault = reader_fault(str(error))
        finally:
            connection.close()
    raise DataError(f"{path.name}{fault}")


@contextmanager
def _as_utf8(path: Path, dialect: Dialect) -> Iterator[tuple[Path, str]]:
    """The file itself, or a private UTF-8 copy of it; and how it is packed."""
    if dialect.encoding == UTF8:
        yield path, named_packing(path)
        return
    with _private_file() as (copy, file):
        write_utf8(path, dialect.encoding, file)
        file.flush()
        yield copy, "none"


def write_utf8(path: Path, encoding: str, file: IO[bytes]) -> None:
    """Write the text of a file as UTF-8, unpacked, piece by piece."""
    with _refusing_bytes(path, encoding):
        for block in _blocks(path, encoding):
            file.write(block.encode())


@contextmanager
def _private_file() -> Iterator[tuple[Path, IO[bytes]]]:
    """A file that nobody else sees, gone at the end: in memory where the system can."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("kohort")
        with os.fdopen(descriptor, "wb") as file:
            yield Path(f"/proc/self/fd/{descriptor}"), file
        return
    with private_folder("kohort-copy") as folder:
        path = folder / "copy.csv"
        with path.open("wb") as file:
            yield path, file


def literal_path(path: Path) -> str:
    """The path for the database, which would take brackets and stars for a pattern."""
    return re.sub(r"([\[*?])", r"[\1]", str(path.absolute()))


def reader_fault(message: str) -> str:
    """Our sentence for one of the database, which are known by words that its dump of options lacks."""
    line = re.search(r"CSV Error on Line: (\d+)", message)
    place = f", line {line[1]}" if line else ""
    # The last one is the database's own; the line that it quotes comes before.
    widths = re.findall(r"^Expected Number of Columns: (\d+) Found: (\d+)$", message, re.MULTILINE)
    if widths:
        wanted, found = widths[-1]
        return f"{place}: has {found} cells where the header has {wanted}; fix the line, or give the delimiter."
    if "unterminated quote" in message:
        return f"{place}: a quote is not closed, or text follows it; fix the line, or give the quote character."
    if "Maximum line size of" in message:
        return f"{place}: is longer than 32 MiB; check its quotes, and that this is a CSV file."
    if "state machine reached an invalid state" in message:
        return f"{place}: has line ends of two kinds (CRLF, LF, CR); save it with one kind."
    return f"{place}: cannot be read as CSV; check the file."
