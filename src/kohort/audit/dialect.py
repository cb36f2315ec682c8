"""How a CSV file is written: encoding, delimiter, quote and header, found from the file itself."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from kohort.errors import DataError

DELIMITERS = (";", ",", "\t", "|")
_SAMPLE = 1 << 18
_CHUNK = 1 << 20
# the mark of UTF-32 begins like that of UTF-16, so it comes first
_WIDE = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


@dataclass(frozen=True)
class Dialect:
    """How one file is written; `header` holds its column names."""

    encoding: str
    delimiter: str
    quote: str
    gzipped: bool
    header: tuple[str, ...]


def sniff(
    path: Path,
    place: str,
    *,
    delimiter: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    only_utf8: bool = True,
) -> Dialect:
    """Find out how a file is written.

    Parameters
    ----------
    path : Path
        The file.
    place : str
        What to call it in a message.
    delimiter, quote, encoding : str, optional
        What is known already; an empty quote means that nothing is quoted.
    only_utf8 : bool
        Refuse other encodings, as is right for a release; else UTF-16 and Windows-1252 are found, too.
    """
    with path.open("rb") as file:
        gzipped = file.read(2) == b"\x1f\x8b"
    quote = '"' if quote is None else quote
    try:
        encoding = _encoding(path, gzipped, place, encoding, only_utf8)
        with open_bytes(path, gzipped) as file:
            sample = file.read(_SAMPLE)
    except (OSError, EOFError, zlib.error):
        raise DataError(f"{place}: cannot be unpacked; the file is damaged.") from None
    text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(sample)
    lines = list(io.StringIO(text, newline=""))
    if len(sample) == _SAMPLE and len(lines) > 1:
        del lines[-1]  # it may be cut
    if not any(line.strip() for line in lines):
        raise DataError(f"{place}: the file is empty; it needs a header and rows.")
    if not lines[0].strip():
        raise DataError(f"{place}: the first line is empty; it must be the header.")
    delimiter = delimiter or max(DELIMITERS, key=lambda candidate: _agreement(lines, candidate, quote))
    header = next((row for row in _rows(lines, delimiter, quote) if row), None)
    if header is None:
        raise DataError(f"{place}: the header cannot be read; check its quotes.")
    return Dialect(encoding, delimiter, quote, gzipped, tuple(header))


def open_bytes(path: Path, gzipped: bool) -> IO[bytes]:
    """Open a file for its plain bytes."""
    return gzip.open(path, "rb") if gzipped else path.open("rb")  # type: ignore[return-value]


def records(path: Path, dialect: Dialect, place: str) -> Iterator[list[str]]:
    """Read the records after the header, one by one; for encodings that the database does not know."""
    width, fault = len(dialect.header), None
    with open_bytes(path, dialect.gzipped) as file:
        reader = _reader(io.TextIOWrapper(file, dialect.encoding, newline=""), dialect.delimiter, dialect.quote)
        try:
            next(reader)
            for row in reader:
                if row and len(row) != width:
                    fault = f"the record that ends in line {reader.line_num} does not have {width} cells."
                    break
                if row or width == 1:
                    yield row or [""]
        except csv.Error:
            fault = f"line {reader.line_num} cannot be read; check its quotes."
    if fault:
        raise DataError(f"{place}: {fault}")


def _encoding(path: Path, gzipped: bool, place: str, given: str | None, only_utf8: bool) -> str:
    """Settle on an encoding in which every byte of the file can be read."""
    with open_bytes(path, gzipped) as file:
        head = file.read(4)
    wide = [name for mark, name in _WIDE.items() if head.startswith(mark)][:1]
    candidates = [_known(given, place)] if given else ["utf-8-sig"] if only_utf8 else wide or ["utf-8-sig", "cp1252"]
    line = 0
    for candidate in candidates:
        found = _undecodable(path, gzipped, candidate)
        if found is None:
            return candidate
        line = line or found
    known = given or ("UTF-8" if only_utf8 else "UTF-8, UTF-16 or Windows-1252")
    raise DataError(f"{place}: it is not {known} text (line {line}); save it as UTF-8.")


def _known(encoding: str, place: str) -> str:
    """Return Python's own name of an encoding; those that encode bytes and not text are refused."""
    try:
        "".encode(encoding)
        name = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        raise DataError(f"{place}: the encoding that the policy names is not known.") from None
    return "utf-8-sig" if name == "utf-8" else name


def _undecodable(path: Path, gzipped: bool, encoding: str) -> int | None:
    """Return the line of the first bytes that are not in this encoding; None if there are none."""
    decoder = codecs.getincrementaldecoder(encoding)()
    line = 1
    with open_bytes(path, gzipped) as file:
        while True:
            chunk = file.read(_CHUNK)
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                return line + error.object.count(b"\n", 0, error.start)
            except UnicodeError:  # its first bytes must say which of two orders it has, and do not
                return 1
            if not chunk:
                return None
            line += chunk.count(b"\n")


def _agreement(lines: list[str], delimiter: str, quote: str) -> tuple[bool, int]:
    """Rank a delimiter: it splits every record of the sample alike, and into many cells."""
    widths = [len(row) for row in _rows(lines, delimiter, quote) if row]
    return bool(widths) and len(set(widths)) == 1 and widths[0] > 1, widths[0] if widths else 0


def _rows(lines: list[str], delimiter: str, quote: str) -> Iterator[list[str]]:
    reader = _reader(lines, delimiter, quote)
    try:
        yield from reader
    except csv.Error:  # an open quote at the end of the sample, or the wrong delimiter
        return


def _reader(lines: Iterable[str], delimiter: str, quote: str) -> Any:
    if quote:
        return csv.reader(lines, delimiter=delimiter, quotechar=quote, strict=True)
    return csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
