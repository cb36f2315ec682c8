"""What SPSS, Stata and SAS files have in common: labels, kinds of missing values, and limits.

A column whose values all have labels is read as these, unless ``labels = "codes"``: a code means nothing to whoever
gets the release. Any kind of missing value is missing.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
from typing_extensions import override

from kohort.errors import DataError
from kohort.policy.sections import Input
from kohort.table.formats.base import Contents, Format, guarded, library

_EXACT = 2**53
"""Whole numbers above it are not kept: all numbers of these files are doubles."""


class Statistics(Format):
    """A file of a statistics package, by ReadStat."""

    extra = "statistics"
    libraries = ("pyreadstat", "pandas")
    letters: ClassVar[int]
    """Bytes of the longest text."""
    name_pattern: ClassVar[str]
    """What names of columns must be."""
    name_words: ClassVar[str]
    """The same in words."""
    time: ClassVar[tuple[bytes, bytes]]
    """The time of writing in a file, as a pattern, and what is put in its place."""

    @override
    def read(self, path: Path, settings: Input) -> Contents:
        with path.open("rb"):
            pass  # what cannot be opened says so
        readstat = library("pyreadstat", path, self)
        damaged = f"is no readable {self.title} file; check how it was written."
        frame, about = guarded(path, damaged, lambda: self._read(readstat, path))
        labels = about.variable_value_labels if settings.labels == "labels" else {}
        columns = [_plain(column, labels.get(column.name, {})) for column in frame]
        words = {name: label for name, label in about.column_names_to_labels.items() if label}
        return Contents(iter([pl.DataFrame(columns)]), words)

    @abstractmethod
    def _read(self, readstat: Any, path: Path) -> tuple[pl.DataFrame, Any]:
        """The records and what is said about them."""

    @override
    def write(self, rows: pl.LazyFrame, path: Path, labels: Mapping[str, str]) -> None:
        readstat = library("pyreadstat", path, self)
        frame = rows.collect()
        faults = [
            f"column {name!r}: {self.title} files have names of {self.name_words}; rename it, or write another kind."
            for name in frame.columns
            if not re.fullmatch(self.name_pattern, name)
        ]
        DataError.refuse(faults + [fault for column in frame if (fault := self._fault(column))])
        frame = frame.with_columns(pl.col(pl.Boolean, pl.Decimal, pl.Null).cast(pl.String))
        # without a value a file says nothing of the missing ones
        frame = frame.with_columns(pl.col(pl.String).fill_null(""))
        guarded(path, f"cannot be written as a {self.title} file.", lambda: self._write(readstat, frame, path, labels))
        _without_time(path, *self.time)

    @abstractmethod
    def _write(self, readstat: Any, frame: pl.DataFrame, path: Path, labels: Mapping[str, str]) -> None:
        """Write the records, and the words of their columns."""

    def _fault(self, column: pl.Series) -> str | None:
        """What a file of this kind would not keep of a column."""
        start = f"column {column.name!r}: holds"
        if column.dtype.is_integer() and not column.is_between(-_EXACT, _EXACT).all():
            return f"{start} whole numbers that {self.title} does not keep; make them text, or write another kind."
        if column.dtype.is_float() and column.is_infinite().any():
            return f"{start} infinite numbers, which {self.title} does not have; make them missing."
        if column.dtype != pl.String:
            return None
        if (column.str.len_bytes() > self.letters).any():
            return f"{start} texts of more than {self.letters:,} bytes; shorten them, or write another kind."
        if column.str.contains(r" $|\x00").any():
            return f"{start} texts that end in a blank, which {self.title} does not keep; strip them first."
        return None


def _plain(column: pl.Series, labels: Mapping[Any, str]) -> pl.Series:
    """The labels of the values if all have one and no two the same; else the values, whole numbers as such."""
    values = column.drop_nulls().unique()
    texts = [labels.get(value) for value in values if value != ""]
    if labels and None not in texts and len(set(texts)) == len(texts):
        known = dict(zip((value for value in values if value != ""), texts, strict=True))
        return column.replace_strict(known, default=None, return_dtype=pl.String)
    if column.dtype.is_float() and ((values == values.round()) & (values.abs() <= _EXACT)).all():
        return column.cast(pl.Int64)
    return column


def _without_time(path: Path, pattern: bytes, instead: bytes) -> None:
    """Take out when a file was written: equal releases are equal files."""
    with path.open("r+b") as file:
        head = file.read(2048)
        file.seek(0)
        file.write(re.sub(pattern, instead, head))


def by(readstat: Any, name: str, path: Path, **how: Any) -> tuple[pl.DataFrame, Any]:
    """Read by a function of the library."""
    read: Callable[..., tuple[pl.DataFrame, Any]] = getattr(readstat, name)
    return read(str(path), output_format="polars", **how)
