"""The cells of a CSV text, by the letter of RFC 4180.

A cell is bare, or it is quoted as a whole. Whatever is in between, such as blanks around quotes, is a fault: readers do
not agree on it, so rows could be distinguished by it that an audit takes for equal.

Bytes are looked at all together, in arrays of where those are that matter. That is possible as a quote says by its
number alone what it is: where the grammar holds, those with even numbers open a cell or are the second of a doubled
quote, and the others close a cell or are the first of one. So a byte is inside of quotes if the quotes up to it are odd
in number.

Whether a text is as it should be is found here and nowhere else. To cut it is left to the reader of polars, which is
fast and lenient, and is believed if it has cut as many records and cells without anything as there are, and as many
bytes of text; else cells are cut here. It never sees a line that ends inside of quotes: a control character that the
text does not have stands for the end of that line until the text is cut. Of a text without quotes it is enough to see
in which order delimiters and line ends come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
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
_SLICE = 1 << 16
"""Bytes that are compared at a time: arrays of more would be new memory each time, which takes longer than the rest."""
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

    frame: pl.DataFrame
    """A row for each record, columns 0, 1 and so on; null for a cell with nothing in it, not even quotes."""
    quoted: Flags | None
    """Which cells have quotes and could do without: they hold no delimiter, line end or quote; None if no cell does."""
    width: int
    """How many cells a record has; 0 if that is not known yet."""
    consumed: int
    """Where the last record ends."""
    lines: int
    """Lines that end up to there, in any way that a line may end."""
    end: LineEnd | None

    @property
    def records(self) -> int:
        """How many there are."""
        return self.frame.height

    def columns(self, names: Mapping[int, str]) -> pl.DataFrame:
        """The texts of some columns, which are known by their places and get names."""
        import polars as pl

        return self.frame.select(pl.col(str(place)).alias(name) for place, name in names.items())

    def is_needlessly_quoted(self, place: int) -> Flags:
        """Which cells of a column have quotes, and could do without."""
        return np.zeros(self.records, np.bool_) if self.quoted is None else self.quoted[:, place]

    def has_needless_quotes(self, place: int) -> bool:
        """Whether such a cell is in a column."""
        return self.quoted is not None and bool(self.quoted[:, place].any())

    def has_bare(self, place: int) -> bool:
        """Whether a cell of a column holds something, and is not needlessly quoted."""
        held = self.records - self.frame[str(place)].null_count() if self.records else 0
        return held > (0 if self.quoted is None else int(self.quoted[:, place].sum()))

    def without_first(self) -> Cells:
        """The same without the first record."""
        return replace(self, frame=self.frame[1:], quoted=None if self.quoted is None else self.quoted[1:])


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
    plain = _plain_cells(text, grammar, is_last=is_last)
    if plain is not None:
        return plain
    data = np.frombuffer(text, np.uint8)
    marks = _marks(text, data, grammar)
    end = grammar.end or _line_end(data, marks, is_last)
    mark = _CR if end == b"\r" else _LF
    is_open = marks.quotes % 2 == 1
    if is_last and text and not is_open and data[-1] != mark:
        return split_cells(text + (end or b"\n"), grammar, is_last=True)
    faults = [*_nul(text), *_quote_faults(marks, len(data))]
    if end != b"\n" or b"\r" in text:
        faults += _end_faults(data, marks, end, is_last)
    if is_last and is_open:
        faults.append(Fault(int(marks.places[marks.is_quote][-1]), OPEN))
    return _recorded(text, marks.whole(mark), end, grammar, faults)


def _plain_cells(text: bytes, grammar: Grammar, *, is_last: bool) -> Cells | None:
    """The same for records without quotes and faults whose lines end in LF, as most are: nothing has to have a place.

    None for all others.
    """
    consumed = text.rfind(b"\n") + 1
    if not consumed or (is_last and consumed < len(text)):
        return None
    if grammar.end not in (None, b"\n") or b"\r" in text or b"\0" in text or _has_quotes(text, grammar):
        return None
    width = grammar.width or text.count(grammar.delimiter, 0, text.index(b"\n")) + 1
    data = np.frombuffer(text, np.uint8, consumed)
    nulls, follows_stop, stops = 0, True, []
    for start in range(0, consumed, _SLICE):
        some = data[start : start + _SLICE]
        is_stop = some == grammar.delimiter
        is_stop |= some == _LF
        stops.append(some[is_stop])
        nulls += int(np.count_nonzero(is_stop[1:] & is_stop[:-1])) + (follows_stop and bool(is_stop[0]))
        follows_stop = bool(is_stop[-1])
    ends = np.concatenate(stops) == _LF
    lines = int(np.count_nonzero(ends))
    if len(ends) != lines * width or not ends[width - 1 :: width].all() or (width == 1 and nulls):
        return None
    frame = _cut(memoryview(text)[:consumed], grammar, (lines, width, consumed - len(ends), nulls))
    return None if frame is None else Cells(frame, None, width, consumed, lines, b"\n")


def line_ends(text: bytes, stop: int) -> int:
    """Lines that end before a position, in any way that a line may end."""
    feeds = text.count(b"\n", 0, stop)
    if b"\r" not in text:
        return feeds
    returns = text.count(b"\r", 0, stop)
    both = text.count(b"\r\n", 0, stop) + (text[stop - 1 : stop] == b"\r" and text[stop : stop + 1] == b"\n")
    return feeds + returns - both


def first_line(text: bytes, grammar: Grammar) -> bytes:
    """The first record with its line end, which is all of a text that has no line end outside of quotes."""
    data = np.frombuffer(text, np.uint8)
    marks = _marks(text, data, grammar)
    end = _line_end(data, marks, is_last=True)
    return text if end is None else text[: int(marks.places[marks.are_breaks & ~marks.is_inside][0]) + len(end)]


def _recorded(
    text: bytes,
    marks: _Marks,
    end: LineEnd | None,
    grammar: Grammar,
    faults: list[Fault],
) -> Cells:
    """Put cells together to records, once where they end is known; raise the first fault."""
    import polars as pl

    stops, kinds = marks.stops(end)
    lines = np.flatnonzero(kinds == (_CR if end == b"\r" else _LF))
    consumed = int(stops[-1]) + 1 if len(stops) else 0
    sizes = np.diff(stops, prepend=-1) - 1
    starts = stops - sizes
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
    ended = line_ends(text, consumed) if marks.quotes else len(lines)
    if empty.all():
        return Cells(pl.DataFrame(), None, width, consumed, ended, end)
    found = _Found(text, grammar, end, marks, starts, stops, lines[empty], lines)
    filled = np.ones(len(stops), np.bool_)
    filled[lines[empty]] = False
    quoted = found.needlessly_quoted() if grammar.watches else None
    quoted = None if quoted is None else quoted[filled].reshape(-1, width)
    frame = found.by_reader(width, sizes)
    frame = found.by_hand(width, sizes[filled] == 0) if frame is None else frame
    return Cells(frame, quoted, width, consumed, ended, end)


@dataclass(frozen=True)
class _Found:
    """Where the cells of whole records are.

    Attributes
    ----------
    marks : _Marks
        Quotes, delimiters and line ends.
    starts, stops : ndarray of int
        Where each cell begins, and where the delimiter or line end after it is.
    empty, lines : ndarray of int
        The cells that are all of an empty line; those at the end of a line.
    """

    text: bytes
    grammar: Grammar
    end: LineEnd | None
    marks: _Marks
    starts: Places
    stops: Places
    empty: Places
    lines: Places

    @cached_property
    def data(self) -> Bytes:
        """The bytes of the records."""
        return np.frombuffer(self.text, np.uint8, int(self.stops[-1]) + 1)

    @cached_property
    def is_quoted(self) -> Flags:
        """Which cells have quotes."""
        found: Flags = self.data[self.starts] == self.grammar.quote
        return found

    def by_reader(self, width: int, sizes: Places) -> pl.DataFrame | None:
        """The cells as the reader of polars cuts them; None if it is not asked or has not found what is there."""
        import polars as pl

        if self.end == b"\r" or len(self.empty):
            return None
        unbroken = self.unbroken()
        if unbroken is None:
            return None
        text, broken = unbroken
        surrounding = 2 * int(np.count_nonzero(self.is_quoted)) if self.marks.quotes else 0
        held = int(sizes.sum()) - surrounding - (self.marks.quotes - surrounding) // 2
        there = (len(self.lines), width, held, int(np.count_nonzero(sizes == 0)))
        frame = _cut(text, self.grammar, there, has_quotes=bool(self.marks.quotes), has_returns=self.end == b"\r\n")
        if frame is None or not broken:
            return frame
        places = np.unique(np.searchsorted(self.stops, self.breaks) % width)
        texts = pl.col(list(map(str, places)))
        for stand, end in broken.items():
            texts = texts.str.replace_all(stand, end, literal=True)
        return frame.with_columns(texts)

    @cached_property
    def breaks(self) -> Places:
        """Where lines end inside of quotes."""
        return self.marks.places[self.marks.are_breaks & self.marks.is_inside]

    def unbroken(self) -> tuple[memoryview, dict[str, str]] | None:
        """The records with something else for line ends inside of quotes, and what stands for which of them.

        None if the text has all that could stand for them.
        """
        if not len(self.breaks):
            return memoryview(self.text)[: len(self.data)], {}
        taken = (ord("\t"), _LF, _CR, self.grammar.delimiter, self.grammar.quote)
        free = (code for code in range(1, ord(" ")) if code not in taken and bytes([code]) not in self.text)
        changed, broken = self.data.copy(), {}
        for end in (_LF, _CR):
            places = self.breaks[self.data[self.breaks] == end]
            if not len(places):
                continue
            stand = next(free, None)
            if stand is None:
                return None
            changed[places] = stand
            broken[chr(stand)] = chr(end)
        return changed.data, broken

    def by_hand(self, width: int, nulls: Flags) -> pl.DataFrame:
        """The cells as they are cut here, which takes several times as long."""
        import polars as pl

        # every cell with a NUL after it, and nothing that is no text: one text is cut faster than many are made
        plain = self.data.copy()
        plain[self.stops] = 0
        quotes = self.marks.places[self.marks.is_quote]
        opening = quotes[::2]
        dropped = [quotes[1::2], opening[(opening == 0) | (plain[opening - 1] == 0)], self.stops[self.empty]]
        if self.end == b"\r\n":
            dropped.append(self.stops[self.lines] - 1)
        kept = np.ones(len(plain), np.bool_)
        for some in dropped:
            kept[some] = False
        texts = pl.Series("text", [plain[kept][:-1].tobytes().decode()]).str.split("\0").explode()
        if nulls.any():
            texts = texts.set(pl.Series(nulls), None)
        columns = (pl.col("text").gather_every(width, place).alias(str(place)) for place in range(width))
        return texts.to_frame().select(columns)

    def needlessly_quoted(self) -> Flags | None:
        """Which cells have quotes around what holds no delimiter, line end or quote; None if there are no quotes."""
        if not self.marks.quotes:
            return None
        found = self.is_quoted.copy()
        needing = self.marks.places[self.marks.need_quotes]
        found[np.searchsorted(self.starts, needing, "right") - 1] = False
        return found


def _has_quotes(text: bytes, grammar: Grammar) -> bool:
    return grammar.quote >= 0 and bytes([grammar.quote]) in text


def _cut(
    text: memoryview,
    grammar: Grammar,
    there: tuple[int, int, int, int],
    *,
    has_quotes: bool = False,
    has_returns: bool = False,
) -> pl.DataFrame | None:
    """Have the reader of polars cut a text; None if it has not found what is there.

    Parameters
    ----------
    there : tuple of int
        Records, cells of each, bytes of all cells without their quotes, and cells with nothing in them.
    has_returns : bool
        Whether lines end in CRLF.
    """
    import polars as pl

    delimiter, quote = chr(grammar.delimiter), chr(grammar.quote) if has_quotes else None
    # behind a line of its own no text is taken for a mark, or for something compressed
    letter = next(one for one in "abc" if one not in (delimiter, quote))
    line = delimiter.join([letter] * there[1]).encode()
    whole = b"\n".join((line, text))
    try:
        frame = pl.read_csv(
            whole.replace(b"\r\n", b"\n") if has_returns else whole,
            separator=delimiter,
            quote_char=quote,
            has_header=False,
            infer_schema=False,
        )[1:]
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    frame.columns = list(map(str, range(frame.width)))
    held = pl.sum_horizontal(pl.all().str.len_bytes().cast(pl.Int64).sum())
    sums = frame.select(held, nulls=pl.sum_horizontal(pl.all().null_count())).row(0)
    return frame if (*frame.shape, *sums) == there else None


@dataclass(frozen=True)
class _Marks:
    """Quotes, delimiters, line feeds and returns, in their order."""

    places: Places
    kinds: Bytes
    """The bytes there."""
    is_quote: Flags
    is_inside: Flags
    """Which of them are after an odd number of quotes, themselves among it."""

    @cached_property
    def quotes(self) -> int:
        """How many quotes there are."""
        return int(np.count_nonzero(self.is_quote))

    @cached_property
    def are_breaks(self) -> Flags:
        """Which of them end a line, or would outside of quotes."""
        found: Flags = (self.kinds == _LF) | (self.kinds == _CR)
        return found

    @cached_property
    def adjoin(self) -> Flags:
        """Which of them are directly before the next one, of all but the last."""
        found: Flags = np.diff(self.places) == 1
        return found

    @property
    def need_quotes(self) -> Flags:
        """Which of them can be in quoted cells only: delimiters and line ends there, and the second of two quotes."""
        found: Flags = ~self.is_quote & self.is_inside
        found[1:] |= self.is_quote[:-1] & ~self.is_inside[:-1] & self.is_quote[1:] & self.adjoin
        return found

    def whole(self, mark: int) -> _Marks:
        """Those of whole records, which end with such a byte."""
        ends = np.flatnonzero(~self.is_inside & (self.kinds == mark))
        stop = ends[-1] + 1 if len(ends) else 0
        return _Marks(self.places[:stop], self.kinds[:stop], self.is_quote[:stop], self.is_inside[:stop])

    def stops(self, end: LineEnd | None) -> tuple[Places, Bytes]:
        """Delimiters and line ends outside of quotes; of two bytes that end a line, the last."""
        if not self.quotes and end == b"\n":
            return self.places, self.kinds
        is_stop = ~(self.is_quote | self.is_inside)
        if end == b"\r\n":
            is_stop &= self.kinds != _CR
        return self.places[is_stop], self.kinds[is_stop]


def _marks(text: bytes, data: Bytes, grammar: Grammar) -> _Marks:
    codes = [grammar.delimiter, _LF]
    if b"\r" in text:
        codes.append(_CR)
    if not _has_quotes(text, grammar):
        places = _places(data, codes)
        none = np.zeros(len(places), np.bool_)
        return _Marks(places, data[places], none, none)
    places = _places(data, [*codes, grammar.quote])
    kinds = data[places]
    is_quote = kinds == grammar.quote
    # a sum that begins again after 255 is as even or odd as the whole one
    return _Marks(places, kinds, is_quote, (np.cumsum(is_quote, dtype=np.uint8) & 1).view(np.bool_))


def _places(data: Bytes, codes: Sequence[int]) -> Places:
    """Where bytes are one of some."""
    found = [np.zeros(0, np.int64)]
    for start in range(0, len(data), _SLICE):
        some = data[start : start + _SLICE]
        is_one = some == codes[0]
        for code in codes[1:]:
            is_one |= some == code
        found.append(np.flatnonzero(is_one) + start)
    return np.concatenate(found)


def _line_end(data: Bytes, marks: _Marks, is_last: bool) -> LineEnd | None:
    """How the first line ends; None if that cannot be said yet."""
    breaks = marks.places[marks.are_breaks & ~marks.is_inside]
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


def _quote_faults(marks: _Marks, length: int) -> list[Fault]:
    """Quotes that neither surround a cell nor are doubled inside of one: another mark adjoins each that does or is."""
    if not marks.quotes:
        return []
    places, adjoin = marks.places, marks.adjoin
    begins, ends = marks.is_quote & marks.is_inside, marks.is_quote & ~marks.is_inside
    begins[1:] &= ~adjoin
    begins[0] &= places[0] > 0
    ends[:-1] &= ~adjoin
    ends[-1] &= places[-1] + 1 < length
    return [Fault(int(places[wrong][0]), said) for wrong, said in ((begins, QUOTE), (ends, AFTER)) if wrong.any()]


def _end_faults(data: Bytes, marks: _Marks, end: LineEnd | None, is_last: bool) -> list[Fault]:
    """Line ends outside of quotes that are not like the first one."""
    if end is None:
        return []
    are_breaks = marks.are_breaks & ~marks.is_inside
    places, kinds = marks.places[are_breaks], marks.kinds[are_breaks]
    if end != b"\r\n":
        wrong = kinds != end[0]
    else:
        follows = data[np.minimum(places + 1, len(data) - 1)] == _LF
        follows[places + 1 == len(data)] = not is_last
        wrong = np.where(kinds == _CR, ~follows, (places == 0) | (data[places - 1] != _CR))
    return [Fault(int(place), ENDS) for place in places[wrong][:1]]
