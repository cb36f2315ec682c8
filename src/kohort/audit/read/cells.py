"""The cells of a CSV text, by the letter of RFC 4180.

A cell is bare, or it is quoted as a whole. Whatever is in between, such as blanks around quotes, is a fault: readers do
not agree on it, so rows could be distinguished by it that an audit takes for equal.

Bytes are looked at all together, in arrays. That is possible as a quote says by its number alone what it is: where the
grammar holds, those with even numbers open a cell or are the second of a doubled quote, and the others close a cell or
are the first of one. So a byte is inside of quotes if the quotes up to it are odd in number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

Bytes: TypeAlias = NDArray[np.uint8]
Flags: TypeAlias = NDArray[np.bool_]
Places: TypeAlias = NDArray[np.int64]
LineEnd: TypeAlias = Literal[b"\n", b"\r\n", b"\r"]
_LF, _CR = 10, 13
NUL = "holds a NUL byte, so this is no CSV file; give CSV or Parquet."
QUOTE = "has a quote inside a cell that does not begin with one; correct the line."
AFTER = "has text after a closing quote; correct the line."
OPEN = "opens a quote that is never closed; correct the line."
ENDS = "has another line end than the header (LF, CRLF or CR); save the file with one kind."
WIDTH = "does not have as many cells as the header; correct the line."
EMPTY = 'is empty, which some readers take for a record; remove it, or write a missing value as "".'


@dataclass(frozen=True)
class Grammar:
    """The characters of a file, as bytes.

    Attributes
    ----------
    delimiter : int
    quote : int
        -1 if nothing is quoted.
    skips : bool
        Whether empty lines between records of several cells are skipped; else they are faults.
    watches : bool
        Whether it is asked for which cells are quoted without need.
    end : bytes, optional
        The line end; that of the first line when absent.
    width : int
        Cells of a record; 0 for those of the first one.
    """

    delimiter: int
    quote: int
    skips: bool = False
    watches: bool = False
    end: LineEnd | None = None
    width: int = 0


class Fault(Exception):
    """What is wrong in the line in which a position is."""

    def __init__(self, position: int, sentence: str) -> None:
        self.position, self.sentence = position, sentence
        super().__init__(sentence)


@dataclass(frozen=True)
class Cells:
    """The cells of some whole records."""

    texts: pl.Series
    """Record by record; null for a cell with nothing in it, not even quotes."""
    nulls: Flags
    """Which cells these are."""
    quoted: Flags
    """Which cells have quotes and could do without: they hold no delimiter, line end or quote."""
    records: int
    width: int
    """How many records there are, and cells in each."""
    consumed: int
    """Where the last of them ends."""
    end: LineEnd | None

    def columns(self, names: Mapping[int, str]) -> pl.DataFrame:
        """The texts of some columns, which are known by their places and get names."""
        import polars as pl

        width = max(self.width, 1)
        picked = [pl.col("text").gather_every(width, place).alias(name) for place, name in names.items()]
        return pl.DataFrame({"text": self.texts}).select(picked)

    def is_needlessly_quoted(self, place: int) -> Flags:
        """Which cells of a column have quotes, and could do without."""
        return self.quoted[place :: self.width] if self.records else self.quoted

    def is_bare(self, place: int) -> Flags:
        """Which cells of a column hold something, and are not needlessly quoted."""
        found: Flags = ~(self.nulls | self.quoted)
        return found[place :: self.width] if self.records else found

    def without_first(self) -> Cells:
        """The same without the first record."""
        rest = slice(self.width, None)
        return replace(
            self, texts=self.texts[rest], nulls=self.nulls[rest], quoted=self.quoted[rest], records=self.records - 1
        )


def split_cells(text: bytes, grammar: Grammar, *, is_last: bool) -> Cells:
    """Find the cells of all records that are whole.

    Parameters
    ----------
    text : bytes
        UTF-8 that begins with a record.
    is_last : bool
        Whether the file ends with it.

    Raises
    ------
    Fault
        At the first byte from which on the text is not as the grammar says.
    """
    data = np.frombuffer(text, np.uint8)
    is_quote = data == grammar.quote
    quotes = np.flatnonzero(is_quote)
    outside = _outside(is_quote)
    end = grammar.end or _line_end(data, outside, is_last)
    mark = _CR if end == b"\r" else _LF
    is_whole = not is_last or not len(data) or bool(outside[-1] and data[-1] == mark)
    if not is_whole and outside[-1]:
        return split_cells(text + (end or b"\n"), grammar, is_last=True)
    is_break = (data == _LF) | (data == _CR) if b"\r" in text else data == _LF
    breaks = outside & is_break
    stops = np.flatnonzero(outside & ((data == grammar.delimiter) | (data == mark)))
    lines = np.flatnonzero(data[stops] == mark)
    stops = stops[: lines[-1] + 1] if len(lines) else stops[:0]
    consumed = int(stops[-1]) + 1 if len(stops) else 0
    faults = [
        *_nul(text),
        *_quote_faults(data, quotes, breaks, grammar.delimiter),
        *_end_faults(data, breaks, end, is_last),
    ]
    if not is_whole:
        faults.append(Fault(int(quotes[-1]), OPEN))
    return _recorded(data, quotes, stops, lines, consumed, end, grammar, faults)


def first_line(text: bytes, grammar: Grammar) -> bytes:
    """The first record with its line end, which is all of a text that has no line end outside of quotes."""
    data = np.frombuffer(text, np.uint8)
    outside = _outside(data == grammar.quote)
    end = _line_end(data, outside, is_last=True)
    if end is None:
        return text
    return text[: int(np.flatnonzero(outside & (data == end[0]))[0]) + len(end)]


def _recorded(
    data: Bytes,
    quotes: Places,
    stops: Places,
    lines: Places,
    consumed: int,
    end: LineEnd | None,
    grammar: Grammar,
    faults: list[Fault],
) -> Cells:
    """Put cells together to records, once where they end is known; raise the first fault."""
    import polars as pl

    starts = np.concatenate([[0], stops[:-1] + 1]) if len(stops) else stops
    sizes = stops - starts
    if end == b"\r\n":
        sizes[lines] -= 1
    widths = np.diff(lines, prepend=-1)
    empty = (widths == 1) & (sizes[lines] <= 0)
    width = grammar.width or (int(widths[0]) if len(widths) else 0)
    if empty.any() and (width < 2 or not grammar.skips):
        faults.append(Fault(int(stops[lines[empty][0]]), EMPTY))
    wrong = (widths != width) & ~empty
    if wrong.any():
        faults.append(Fault(int(stops[lines[wrong][0]]), WIDTH))
    if faults:
        raise min(faults, key=lambda fault: fault.position)
    records = int(len(lines) - empty.sum())
    if not records:
        none = np.zeros(0, np.bool_)
        return Cells(pl.Series([], dtype=pl.String), none, none, 0, width, consumed, end)
    quotes = quotes[quotes < consumed]
    # every cell with a NUL after it, and nothing that is no text: polars cuts one text faster than Python makes many
    plain = data[:consumed].copy()
    plain[stops] = 0
    dropped = [quotes[1::2], quotes[::2][_opens(plain, quotes[::2])]]
    if end == b"\r\n":
        dropped.append(stops[lines] - 1)
    dropped.append(stops[lines[empty]])
    if any(len(some) for some in dropped):
        kept = np.ones(consumed, np.bool_)
        for some in dropped:
            kept[some] = False
        plain = plain[kept]
    texts = pl.Series([plain[:-1].tobytes().decode()]).str.split("\0").explode()
    filled = np.ones(len(stops), np.bool_)
    filled[lines[empty]] = False
    nulls = sizes[filled] == 0
    if nulls.any():
        texts = texts.set(pl.Series(nulls), None)
    quoted = _needlessly_quoted(data, starts, sizes, grammar)[filled]
    return Cells(texts, nulls, quoted, records, width, consumed, end)


def _outside(is_quote: Flags) -> Flags:
    """Which bytes are not inside of quotes."""
    if not is_quote.any():
        return np.ones(len(is_quote), np.bool_)
    # sums of bytes that run over are as odd as others
    found: Flags = (np.cumsum(is_quote, dtype=np.uint8) & 1) == 0
    return found


def _line_end(data: Bytes, outside: Flags, is_last: bool) -> LineEnd | None:
    """How the first line ends; None if that cannot be said yet."""
    breaks = np.flatnonzero(outside & ((data == _LF) | (data == _CR)))
    if not len(breaks):
        return None
    first = int(breaks[0])
    if data[first] == _LF:
        return b"\n"
    if first + 1 == len(data):
        return b"\r" if is_last else None
    return b"\r\n" if data[first + 1] == _LF else b"\r"


def _nul(text: bytes) -> list[Fault]:
    found = text.find(b"\0")
    return [] if found < 0 else [Fault(found, NUL)]


def _opens(plain: Bytes, quotes: Places) -> Flags:
    """Which quotes stand where a cell begins, which is after a NUL that ends the one before."""
    found: Flags = (quotes == 0) | (plain[quotes - 1] == 0)
    return found


def _quote_faults(data: Bytes, quotes: Places, breaks: Flags, delimiter: int) -> list[Fault]:
    """Quotes that neither surround a cell nor are doubled inside of one."""
    if not len(quotes):
        return []
    opening, closing = quotes[::2], quotes[1::2]
    before = data[opening - 1]
    doubled = np.zeros(len(opening), np.bool_)
    doubled[1:] = opening[1:] == closing[: len(opening) - 1] + 1
    begins = (opening == 0) | doubled | (before == delimiter) | (before == _LF) | (before == _CR)
    closing = closing[closing + 1 < len(data)]
    after = data[closing + 1]
    ends = (after == delimiter) | breaks[closing + 1]
    pairs = min(len(closing), len(opening) - 1)
    ends[:pairs] |= doubled[1 : pairs + 1]
    return [
        *(Fault(int(place), QUOTE) for place in opening[~begins][:1]),
        *(Fault(int(place), AFTER) for place in closing[~ends][:1]),
    ]


def _end_faults(data: Bytes, breaks: Flags, end: LineEnd | None, is_last: bool) -> list[Fault]:
    """Line ends outside of quotes that are not like the first one."""
    if end is None:
        return []
    places = np.flatnonzero(breaks)
    kinds = data[places]
    if end != b"\r\n":
        wrong = kinds != end[0]
    else:
        follows = np.append(data[1:], 0 if is_last else _LF)[places] == _LF
        wrong = np.where(kinds == _CR, ~follows, (places == 0) | (data[places - 1] != _CR))
    return [Fault(int(place), ENDS) for place in places[wrong][:1]]


def _needlessly_quoted(data: Bytes, starts: Places, sizes: Places, grammar: Grammar) -> Flags:
    """Which cells have quotes around what holds no delimiter, line end or quote."""
    found: Flags = data[starts] == grammar.quote
    if not grammar.watches or not found.any():
        return np.zeros(len(starts), np.bool_)
    special = (data == grammar.delimiter) | (data == _LF) | (data == _CR) | (data == grammar.quote)
    places = np.flatnonzero(special)
    # of these a cell has its two quotes, and no more
    found[found] = np.searchsorted(places, (starts + sizes)[found]) - np.searchsorted(places, starts[found]) == 2
    return found
