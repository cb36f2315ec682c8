"""Excel workbooks: one sheet of them, with a header and records below it."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Mapping
from datetime import date, datetime, time
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import polars as pl
from typing_extensions import override

from kohort.common.private import private_folder
from kohort.errors import DataError
from kohort.policy.sections import Input
from kohort.table.formats.base import FORMATS, Contents, Format, batches_of, guarded, library
from kohort.table.words import listed, namesakes, no_name

_ROWS, _COLUMNS, _LETTERS = 1_048_576, 16_384, 32_767
"""What a sheet holds: rows with the header, columns, and letters in a cell."""
_EXACT = 10**15
"""Whole numbers from here on are not kept by Excel."""
_FIRST_DAY = date(1900, 3, 1)
"""Excel counts a 29 February 1900, so earlier days are not certain."""
_STRANGE = r"[\x00-\x08\x0b-\x1f\ufffe\uffff]|_x[0-9A-Fa-f]{4}_"
"""Texts that a sheet writes in another way than they are."""
_DAMAGED = "is no readable Excel workbook; check how it was written, or save it again as .xlsx."
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


@FORMATS.register("excel")
class Excel(Format):
    """Formulas count as their last results; what a reader could see in two ways is refused."""

    title = "Excel"
    suffixes = (".xlsx", ".xlsm")
    extra = "excel"
    libraries = ("fastexcel", "xlsxwriter", "openpyxl")
    writes = (".xlsx",)

    @override
    def read(self, path: Path, settings: Input) -> Contents:
        with path.open("rb"):
            pass  # what cannot be opened says so
        sheet = guarded(path, _DAMAGED, lambda: _sheet(path, settings.sheet))
        guarded(path, _DAMAGED, lambda: _refuse_ambiguous(path, sheet, settings.skip_rows))
        return Contents(iter([guarded(path, _DAMAGED, lambda: self._frame(path, sheet.name, settings.skip_rows))]))

    def _frame(self, path: Path, sheet: str, skipped: int) -> pl.DataFrame:
        reader = library("fastexcel", path, self)
        # It warns about columns without a value.
        logging.getLogger("fastexcel").addHandler(logging.NullHandler())
        book = reader.read_excel(path)

        def load(rows: int, **how: Any) -> pl.DataFrame:
            loaded = book.load_sheet(sheet, header_row=None, skip_rows=rows, schema_sample_rows=None, **how)
            return pl.DataFrame(loaded)

        top = load(skipped, n_rows=1, dtypes="string")
        header = [str(name or "") for name in top.row(0)] if top.height else []
        try:
            frame = load(skipped + 1)
        except reader.FastExcelError:
            frame = pl.DataFrame(schema=dict.fromkeys(top.columns, pl.String))
        return _named(path, frame, header)

    @override
    def write(self, rows: pl.LazyFrame, path: Path, labels: Mapping[str, str]) -> None:
        xlsxwriter = library("xlsxwriter", path, self)
        schema = rows.collect_schema()
        if len(schema) > _COLUMNS:
            raise DataError(f"{path.name}: an Excel sheet has {_COLUMNS:,} columns, and the release more; write CSV.")
        with private_folder("kohort-sheet") as folder:
            options = {"constant_memory": True, "tmpdir": str(folder)}
            with xlsxwriter.Workbook(str(path), options) as book:
                # No name and no time: the release reveals neither.
                book.set_properties({"created": datetime(2000, 1, 1)})
                sheet = book.add_worksheet("release")
                formats = {kind: book.add_format({"num_format": form}) for kind, form in _FORMS.items()}
                for place, name in enumerate(schema):
                    sheet.write_string(0, place, name)
                row = 1
                for piece in batches_of(rows):
                    cells = [_cells(piece[name]) for name in schema]
                    if row + piece.height > _ROWS:
                        raise DataError(
                            f"{path.name}: an Excel sheet has {_ROWS - 1:,} rows, and the release more; write CSV."
                        )
                    for values in zip(*cells, strict=True):
                        _write_row(sheet, row, values, formats)
                        row += 1


# -- reading -------------------------------------------------------------------------------------


class _Sheet:
    """A sheet: its name, and its file in the workbook."""

    def __init__(self, name: str, part: str) -> None:
        self.name, self.part = name, part


def _sheet(path: Path, wanted: str | None) -> _Sheet:
    """The sheet that is asked for, or the only one."""
    from xml.etree import ElementTree

    with ZipFile(path) as book:
        listing = ElementTree.fromstring(book.read("xl/workbook.xml"))
        links = ElementTree.fromstring(book.read("xl/_rels/workbook.xml.rels"))
    parts = {link.get("Id"): str(link.get("Target")) for link in links}
    sheets = [_Sheet(str(sheet.get("name")), parts[sheet.get(_LINK)]) for sheet in listing.iterfind(f".//{_MAIN}sheet")]
    if wanted is not None:
        found = [sheet for sheet in sheets if sheet.name == wanted]
        if not found:
            raise DataError(f"{path.name}: has no sheet {wanted!r}; correct 'sheet' in [input], or --sheet.")
        return found[0]
    if len(sheets) != 1:
        raise DataError(
            f"{path.name}: has {len(sheets)} sheets; say which one holds the table, by 'sheet' in [input] or --sheet."
        )
    return sheets[0]


def _refuse_ambiguous(path: Path, sheet: _Sheet, skipped: int) -> None:
    """Refuse what is not there for every reader: hidden rows, merged cells, errors, formulas without a result."""
    from xml.etree import ElementTree

    part = sheet.part.removeprefix("/")
    hidden, unknown, errors, merged = 0, 0, 0, 0
    with ZipFile(path) as book, book.open(part if part.startswith("xl/") else f"xl/{part}") as file:
        for _, element in ElementTree.iterparse(file):
            match element.tag.removeprefix(_MAIN):
                case "row":
                    if int(element.get("r") or skipped + 1) > skipped:
                        cells = element.findall(f"{_MAIN}c")
                        hidden += element.get("hidden") in ("1", "true") and bool(cells)
                        errors += sum(cell.get("t") == "e" for cell in cells)
                        unknown += sum(
                            cell.find(f"{_MAIN}f") is not None and not cell.findtext(f"{_MAIN}v") for cell in cells
                        )
                    element.clear()
                case "mergeCell":
                    ends = re.findall(r"[0-9]+", str(element.get("ref")))
                    merged += int(ends[-1]) > skipped
    faults = {
        "hidden rows, which a filter may have left out; show or delete them": hidden,
        "merged cells in the header or below it; unmerge them, or skip the rows above by 'skip_rows'": merged,
        "cells with an error, such as #N/A; correct them, or make them empty": errors,
        "formulas without a result; open it in a spreadsheet and save it": unknown,
    }
    DataError.refuse(f"{path.name}: its sheet has {count:,} {fault}." for fault, count in faults.items() if count)


def _named(path: Path, frame: pl.DataFrame, header: list[str]) -> pl.DataFrame:
    """The records with their columns; rows and columns that are empty throughout are none."""
    header += [""] * (frame.width - len(header))
    used = [place for place, name in enumerate(header) if name.strip() or frame[:, place].null_count() < frame.height]
    names = [header[place] for place in used]
    if nameless := [place + 1 for place in used if not header[place].strip()]:
        raise DataError(f"{path.name}: {no_name(nameless)}")
    DataError.refuse(
        f"{path.name}: columns {listed(same)} of the header have the same name; rename all but one."
        for same in namesakes(names).values()
    )
    frame = pl.DataFrame([_typed(path, frame[:, place], place + 1).alias(header[place]) for place in used])
    return frame.filter(~pl.all_horizontal(pl.all().is_null())) if used else frame


def _typed(path: Path, column: pl.Series, place: int) -> pl.Series:
    """Whole numbers and days as such: a sheet knows numbers and moments only."""
    if column.dtype.is_float() and (column.is_null() | ((column == column.round()) & (column.abs() < _EXACT))).all():
        return column.cast(pl.Int64)
    if isinstance(column.dtype, pl.Datetime):
        if (column.dt.date() < _FIRST_DAY).any():
            raise DataError(
                f"{path.name}: column {place} holds days before March 1900, which Excel counts wrongly, or times "
                "without a day; write them as text."
            )
        if (column.dt.time().drop_nulls() == time(0)).all():
            return column.dt.date()
    return column


# -- writing -------------------------------------------------------------------------------------

_FORMS = {date: "yyyy-mm-dd", datetime: "yyyy-mm-dd hh:mm:ss"}


def _cells(column: pl.Series) -> list[Any]:
    """The cells of a column: numbers, truth values and days as such where a sheet keeps them, else as text."""
    kind = column.dtype
    if kind.is_integer():
        within = column.is_null() | column.is_between(-_EXACT, _EXACT)
        return (column if within.all() else column.cast(pl.String)).to_list()
    if kind.is_float():
        numbers = column.to_list()
        if any(number is not None and not _is_kept(number) for number in numbers):
            raise DataError(
                f"column {column.name!r}: holds infinite numbers or such of 17 digits, which Excel does not keep; "
                "round them, or write CSV."
            )
        return numbers
    if kind == pl.Date:
        return (column.dt.to_string("iso") if (column < _FIRST_DAY).any() else column).to_list()
    if isinstance(kind, pl.Datetime):
        exact = (column.dt.nanosecond() == 0).all() and not (column.dt.date() < _FIRST_DAY).any()
        return (column if exact else column.dt.to_string("iso")).to_list()
    if kind == pl.Boolean:
        return column.to_list()
    texts = column.cast(pl.String)
    if texts.str.contains(_STRANGE).any() or (texts.str.len_chars() > _LETTERS).any():
        raise DataError(
            f"column {column.name!r}: holds control characters, or texts that are too long for an Excel cell; "
            "write CSV or Parquet."
        )
    return texts.to_list()


def _is_kept(number: float) -> bool:
    """Whether a workbook holds a number as it is."""
    return math.isfinite(number) and float(f"{number:.16G}") == number


def _write_row(sheet: Any, row: int, values: tuple[Any, ...], formats: Mapping[Any, Any]) -> None:
    """Write cells by their types: a text that looks like a formula or a link stays a text."""
    for place, value in enumerate(values):
        match value:
            case None:
                pass
            case bool():
                sheet.write_boolean(row, place, value)
            case int() | float():
                sheet.write_number(row, place, value)
            case date():
                sheet.write_datetime(row, place, value, formats[type(value)])
            case _:
                sheet.write_string(row, place, value)
