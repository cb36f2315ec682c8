"""Excel workbooks, by openpyxl; the maker reads them by calamine and writes them by xlsxwriter."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

from typing_extensions import override

from kohort.audit.read.formats.base import (
    READERS,
    ROWS,
    Kinds,
    Reader,
    guarded,
    library,
    refuse_names,
    text_frame,
    text_of,
)
from kohort.errors import DataError
from kohort.policy.sections import Input

if TYPE_CHECKING:
    import polars as pl

_PARTS = (
    "[Content_Types].xml",
    "_rels/.rels",
    "docProps/app.xml",
    "docProps/core.xml",
    "xl/_rels/workbook.xml.rels",
    "xl/metadata.xml",
    "xl/sharedStrings.xml",
    "xl/styles.xml",
    "xl/theme/theme1.xml",
    "xl/workbook.xml",
    "xl/worksheets/sheet1.xml",
)
"""What a workbook with one plain sheet is made of."""


_ELEMENTS = frozenset(
    (
        "sheetPr",
        "dimension",
        "sheetViews",
        "sheetFormatPr",
        "cols",
        "sheetData",
        "ignoredErrors",
        "pageMargins",
        "pageSetup",
    )
)
"""What a plain sheet has: no filters, rules, lists to choose from, headers of pages."""
_COMPUTED = ("f", "e")
"""Kinds of cells that show what was computed, or that it failed."""
_WORDS = frozenset(("title", "subject", "description", "keywords", "category", "contentStatus"))
"""Properties of a workbook that may say something of its cells."""


@READERS.register("excel")
class Excel(Reader):
    """A release is one sheet and nothing else: comments, further sheets or caches would be handed over unchecked."""

    extra = "excel"
    suffixes = (".xlsx", ".xlsm")

    @override
    def matches(self, head: bytes, path: Path) -> bool:
        return head.startswith(b"PK\x03\x04")

    @override
    def pieces(self, path: Path, place: str, settings: Input | None, kinds: Kinds) -> Iterator[pl.DataFrame]:
        openpyxl = library("openpyxl", place, self.extra)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and the like
            book = guarded(place, lambda: openpyxl.load_workbook(path, read_only=True, data_only=settings is not None))
            try:
                if settings is None:
                    guarded(place, lambda: _refuse_more(path, place))
                yield from _records(book, path, place, settings, kinds)
            finally:
                book.close()


def _refuse_more(path: Path, place: str) -> None:
    with ZipFile(path) as parts:
        more = bool(set(parts.namelist()) - set(_PARTS))
        more = more or any(map(_says_more, _elements(parts, "xl/workbook.xml"))) or _has_words(parts)
        more = more or any(map(_is_more, _elements(parts, "xl/worksheets/sheet1.xml")))
    if more:
        raise DataError(
            f"{place}: it has more than one plain sheet (further sheets, comments, links, hidden rows, rules, names, "
            "properties); save the table alone."
        )


def _elements(parts: ZipFile, name: str) -> Iterator[tuple[int, str, Any]]:
    """The elements of a part: how deep each is in the others, its name, and itself."""
    from xml.etree import ElementTree

    if name not in parts.namelist():
        return
    depth = 0
    with parts.open(name) as part:
        for event, element in ElementTree.iterparse(part, ("start", "end")):
            if event == "start":
                yield depth, element.tag.rpartition("}")[2], element
                depth += 1
            else:
                depth -= 1
                if depth <= 2:
                    element.clear()


def _is_more(found: tuple[int, str, Any]) -> bool:
    """Whether an element of a sheet is none of a plain one, or a row that is hidden or has a look of its own."""
    depth, name, element = found
    if name == "row":
        return any(element.get(key) not in (None, "0", "false") for key in ("hidden", "s", "outlineLevel", "collapsed"))
    return depth == 1 and name not in _ELEMENTS


def _says_more(found: tuple[int, str, Any]) -> bool:
    """Whether an element of the workbook is a name that somebody gave to cells or values."""
    return found[1] == "definedName"


def _has_words(parts: ZipFile) -> bool:
    """Whether the properties of the workbook are more than who made it, and when."""
    from xml.etree import ElementTree

    if "docProps/core.xml" not in parts.namelist():
        return False
    return any(
        one.tag.rpartition("}")[2] in _WORDS and one.text
        for one in ElementTree.fromstring(parts.read("docProps/core.xml"))
    )


def _kept_texts(path: Path) -> list[str]:
    """All texts that the workbook keeps for its cells."""
    from openpyxl.reader.strings import read_string_table

    with ZipFile(path) as parts:
        if "xl/sharedStrings.xml" not in parts.namelist():
            return []
        return [text for text in map(str, read_string_table(parts.open("xl/sharedStrings.xml"))) if text]


def _value(cell: Any) -> Any:
    """What a cell holds, which may be given already."""
    return getattr(cell, "value", cell)


def _kind(cell: Any) -> tuple[str, int]:
    """What a reader sees of a cell beside its value: whether it is a text or a number, and its format."""
    return str(cell.data_type), int(getattr(cell, "_style_id", 0))


def _records(book: Any, path: Path, place: str, settings: Input | None, kinds: Kinds) -> Iterator[pl.DataFrame]:
    wanted = settings.sheet if settings is not None else None
    names = book.sheetnames
    if (wanted is not None and wanted not in names) or (wanted is None and len(names) != 1):
        raise DataError(f"{place}: it is not clear which of its sheets holds the table; give 'sheet' in [input].")
    sheet = book[wanted or names[0]]
    sheet.reset_dimensions()  # what a file says of its size need not be true
    rows = sheet.iter_rows(values_only=settings is not None)
    skipped = settings.skip_rows if settings is not None else 0

    def some(count: int) -> list[tuple[Any, ...]]:
        return guarded(place, lambda: list(islice(rows, count)))

    some(skipped)
    [header] = some(1) or [()]
    header = tuple(map(_value, header))
    named = [place for place, cell in enumerate(header) if cell is not None and str(cell).strip()]
    columns = [str(header[place]) for place in named]
    refuse_names(columns, place)
    shown = set(columns)
    while piece := some(ROWS):
        for row in piece if settings is None else ():
            for number, (at, name) in enumerate(zip(named, columns, strict=True), 1):
                if at < len(row):
                    if getattr(row[at], "data_type", "") in _COMPUTED:
                        raise DataError(
                            f"{place}: column {number} has a formula or an error, so it shows something else than it "
                            "holds; write values alone."
                        )
                    kinds.see(name, text_of(_value(row[at])), _kind(row[at]))
        plain = ([_value(cell) for cell in row] for row in piece)
        texts = [[text_of(cell) for cell in row] for row in plain if any(cell is not None for cell in row)]
        if any(cell is not None for row in texts for at, cell in enumerate(row) if at not in named):
            raise DataError(f"{place}: a column without a name holds cells; name it.")
        if settings is None:
            shown.update(cell for row in texts for cell in row if cell is not None)
        yield text_frame(columns, [[row[at] if at < len(row) else None for row in texts] for at in named])
    yield text_frame(columns, [[] for _ in columns])
    if settings is None and not shown.issuperset(guarded(place, lambda: _kept_texts(path))):
        raise DataError(f"{place}: it keeps texts that no cell shows; copy the cells into a new workbook.")
