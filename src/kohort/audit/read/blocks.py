"""CSV files block by block: bytes in, columns of texts out, and every fault with its line."""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from kohort.audit.read.cells import Cells, Fault, Grammar, first_line, line_ends, split_cells
from kohort.common.packed import Packing, unpacked
from kohort.errors import DataError

UTF8 = "utf-8-sig"
"""UTF-8 with or without a mark at its beginning."""
LONGEST = 1 << 25
"""Bytes of the longest record."""
BLOCK = 1 << 22
_MARK = codecs.BOM_UTF8
_END = re.compile(rb"\r\n|\n|\r(?=.)", re.DOTALL)
"""The end of a line; whether a return at the end of a piece is one, the next piece shows."""


@dataclass(frozen=True)
class Form:
    """How the bytes of a file are to be read."""

    encoding: str
    """Python's name of it."""
    packing: Packing
    delimiter: str
    quote: str
    """One ASCII character each; an empty quote if nothing is quoted."""
    skips: bool = False
    watches: bool = False
    """See `Grammar`."""
    preamble: int = 0
    """Lines before the header."""

    @property
    def grammar(self) -> Grammar:
        """Its characters as bytes."""
        return Grammar(ord(self.delimiter), ord(self.quote) if self.quote else -1, self.skips, self.watches)


def header_of(sample: bytes, form: Form, place: str) -> tuple[str, ...]:
    """Read the names of the columns from the first UTF-8 of a file."""
    try:
        cells = split_cells(first_line(sample, form.grammar), form.grammar, is_last=True)
    except Fault as fault:
        raise DataError(f"{place}: line 1 {fault.sentence}") from None
    return tuple(name or "" for name in cells.frame.row(0))


def records_of(path: Path, form: Form, place: str) -> Iterator[Cells]:
    """Read the records after the header, many at a time.

    Raises
    ------
    DataError
        When a line is not as RFC 4180 has it; the message has its number, and nothing of what it holds.
    """
    grammar, line, carried, is_header = form.grammar, 1 + form.preamble, b"", True
    pieces = pieces_of(path, form, place)
    piece, following = next(pieces, b""), next(pieces, None)
    while piece:
        text, wrong = carried + piece, None
        try:
            cells = split_cells(text, grammar, is_last=following is None)
        except Fault as fault:
            wrong = f"line {line + line_ends(text, fault.position)} {fault.sentence}"
        if wrong is not None:
            raise DataError(f"{place}: {wrong}")
        yield cells.without_first() if is_header and cells.records else cells
        is_header = is_header and not cells.records
        grammar = replace(grammar, end=cells.end, width=cells.width)
        line += cells.lines
        carried = text[cells.consumed :]
        if len(carried) > LONGEST:
            raise DataError(f"{place}: line {line} is longer than 32 MiB; check its quotes, and that this is CSV.")
        piece, following = following or b"", next(pieces, None)


def pieces_of(path: Path, form: Form, place: str) -> Iterator[bytes]:
    """The file's text in UTF-8, piece by piece, without a mark and what comes before the header."""
    pieces, carried, left = _decoded(path, form, place), b"", form.preamble
    for piece in pieces:
        carried += piece
        while left and (end := _END.search(carried)):
            carried, left = carried[end.end() :], left - 1
        if not left:
            break
    if carried and not left:
        yield carried
    yield from pieces


def _decoded(path: Path, form: Form, place: str) -> Iterator[bytes]:
    """The file's text in UTF-8, piece by piece and without a mark; no character is cut in two."""
    is_utf8 = form.encoding == UTF8
    decoder = codecs.getincrementaldecoder("utf-8" if is_utf8 else form.encoding)()
    lines, is_first = 1, True
    try:
        with unpacked(path, form.packing) as file:
            while True:
                piece = file.read(BLOCK)
                is_plain = is_utf8 and piece and piece.isascii() and not decoder.getstate()[0]
                text = piece if is_plain else decoder.decode(piece, final=not piece).encode()
                if is_first and text:
                    is_first, text = False, text.removeprefix(_MARK)
                if text:
                    yield text
                if not piece:
                    return
                lines += piece.count(b"\n")
    except UnicodeDecodeError as error:
        line = lines + error.object.count(b"\n", 0, error.start)
        fault = f"it is not {form.encoding.removesuffix('-sig')} text (line {line}); save it as UTF-8."
    except UnicodeError:
        fault = f"it is not {form.encoding.removesuffix('-sig')} text; save it as UTF-8."
    except (OSError, EOFError, zlib.error):
        fault = (
            "cannot be unpacked; the file is damaged." if form.packing != "none" else "cannot be read; check the disk."
        )
    raise DataError(f"{place}: {fault}")
