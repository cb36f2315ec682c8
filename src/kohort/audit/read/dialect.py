"""How a CSV file is written: encoding, delimiter, quote and header, found from the file itself."""

from __future__ import annotations

import codecs
import csv
import io
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from kohort.audit.read.blocks import UTF8, Form, header_of, pieces_of
from kohort.common.packed import Packing, found_packing, unpacked
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

    form: Form
    header: tuple[str, ...]


def sniff(
    path: Path,
    place: str,
    *,
    delimiters: Collection[str] = DELIMITERS,
    expected: Collection[str] = (),
    quote: str | None = None,
    encoding: str | None = None,
    preamble: int = 0,
    is_release: bool = True,
) -> Dialect:
    """Find out how a file is written.

    Parameters
    ----------
    path : Path
        The file.
    place : str
        What to call it in a message.
    delimiters : collection of str
        Those that it may have. The one is taken that finds most of the expected names in the header, and then cells in
        equal numbers, and many.
    expected : collection of str
        Names of columns.
    quote, encoding : str, optional
        What is known already; an empty quote means that nothing is quoted.
    preamble : int
        Lines before the header.
    is_release : bool
        Refuse other encodings than UTF-8, and empty lines, as is right for a release; else UTF-16 and Windows-1252 are
        found, too, and empty lines are skipped.
    """
    quote = '"' if quote is None else quote
    try:
        with path.open("rb") as file:
            packing = found_packing(file.read(4))
        encoding = encoding or (UTF8 if is_release else _encoding(path, packing, place))
    except (OSError, EOFError, zlib.error):
        raise DataError(f"{place}: cannot be unpacked; the file is damaged.") from None
    form = Form(encoding, packing, ",", quote, skips=not is_release, watches=is_release, preamble=preamble)
    sample = next(pieces_of(path, form, place), b"")
    text = sample[:_SAMPLE].decode(errors="ignore")
    lines = list(io.StringIO(text, newline=""))
    if len(sample) > _SAMPLE and len(lines) > 1:
        del lines[-1]  # it may be cut
    if not any(line.strip() for line in lines):
        raise DataError(f"{place}: the file is empty; it needs a header and rows.")
    if not lines[0].strip():
        raise DataError(f"{place}: the first line is empty; it must be the header.")
    form = replace(form, delimiter=_delimiter(lines, delimiters, quote, expected))
    return Dialect(form, header_of(sample, form, place))


def _encoding(path: Path, packing: Packing, place: str) -> str:
    """Settle on an encoding in which every byte of the file can be read."""
    with unpacked(path, packing) as file:
        head = file.read(4)
    wide = next((name for mark, name in _WIDE.items() if head.startswith(mark)), None)
    if wide is not None:
        return wide
    line = 0
    for candidate in (UTF8, "cp1252"):
        found = _undecodable(path, packing, candidate)
        if found is None:
            return candidate
        line = line or found
    raise DataError(f"{place}: it is not UTF-8, UTF-16 or Windows-1252 text (line {line}); save it as UTF-8.")


def _undecodable(path: Path, packing: Packing, encoding: str) -> int | None:
    """Return the line of the first bytes that are not in this encoding; None if there are none."""
    decoder = codecs.getincrementaldecoder(encoding)()
    line = 1
    with unpacked(path, packing) as file:
        while True:
            chunk = file.read(_CHUNK)
            try:
                if not chunk.isascii() or not chunk or decoder.getstate()[0]:
                    decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                return line + error.object.count(b"\n", 0, error.start)
            if not chunk:
                return None
            line += chunk.count(b"\n")


def _delimiter(lines: list[str], candidates: Collection[str], quote: str, expected: Collection[str]) -> str:
    """The delimiter that finds most names in the header; of several, one that splits all records alike, into many."""
    known = {one: len(set(_header(lines, one, quote)) & set(expected)) for one in candidates}
    best = [one for one in candidates if known[one] == max(known.values())]
    return best[0] if len(best) == 1 else max(best, key=lambda candidate: _agreement(lines, candidate, quote))


def _header(lines: list[str], delimiter: str, quote: str) -> list[str]:
    return next((row for row in _rows(lines, delimiter, quote) if row), [])


def _agreement(lines: list[str], delimiter: str, quote: str) -> tuple[bool, int]:
    """Rank a delimiter: it splits every record of the sample alike, into many cells."""
    widths = [len(row) for row in _rows(lines, delimiter, quote) if row]
    return len(set(widths)) == 1, widths[0] if widths else 0


def _rows(lines: list[str], delimiter: str, quote: str) -> Iterator[list[str]]:
    reader = csv.reader(
        lines,
        delimiter=delimiter,
        quotechar=quote or None,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
        strict=True,
    )
    try:
        yield from reader
    except csv.Error:  # an open quote at the end of the sample, or the wrong delimiter
        return
