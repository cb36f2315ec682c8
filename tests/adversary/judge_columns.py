"""What a published quasi-identifier covers, by its text alone. Nothing of kohort."""

from __future__ import annotations

import csv
import datetime as dt
import math
import re
import tomllib
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from .judge_files import NUMBER, Cell, Table, number_of, text_of

STAR = "*"
DAY = r"\d{4}-\d{2}-\d{2}"
PLAIN = NUMBER.pattern


@dataclass(frozen=True)
class Span:
    """A stretch of numbers or days; None is infinity."""

    low: Fraction | None
    high: Fraction | None
    low_in: bool = True
    high_in: bool = True

    def holds(self, value: Fraction) -> bool:
        """Whether a value lies in it."""
        above = self.low is None or value > self.low or (self.low_in and value == self.low)
        return above and (self.high is None or value < self.high or (self.high_in and value == self.high))

    def whole(self) -> Span:
        """The same over whole numbers, with closed ends."""
        low = None if self.low is None else Fraction(math.ceil(self.low))
        high = None if self.high is None else Fraction(math.floor(self.high))
        if low is not None and low == self.low and not self.low_in:
            low += 1
        if high is not None and high == self.high and not self.high_in:
            high -= 1
        return Span(low, high)

    @property
    def empty(self) -> bool:
        """Whether nothing can lie in it."""
        if self.low is None or self.high is None:
            return False
        return self.low > self.high or (self.low == self.high and not (self.low_in and self.high_in))


@dataclass(frozen=True)
class Column:
    """A quasi-identifier: its kind, what its labels mean, and what counts as missing."""

    name: str
    kind: str  # integer, number, date, text
    spec: dict[str, Any]
    missing: frozenset[str]
    paths: dict[str, tuple[str, ...]] | None = None
    says_nothing: bool = False
    """Whether a missing cell of a release may be any value, as the policy reads it."""

    # -- values of the table --

    def value(self, cell: Cell) -> Any:
        """What a cell of the table means: a Fraction, a text, or None if it is missing."""
        if self.is_missing(cell):
            return None
        if self.kind == "text":
            return cell.text
        if isinstance(cell.value, dt.datetime | dt.date):
            return Fraction(cell.value.toordinal())
        if self.kind == "date":
            return Fraction(day_of(cell.text, self.spec.get("format")).toordinal())
        return number_of(cell.text)

    def is_missing(self, cell: Cell) -> bool:
        """Whether a cell of the table has no value; an empty cell of a CSV file is the empty text."""
        if cell.value is None:
            return not self.spec.get("_csv") or "" in self.missing
        return (isinstance(cell.value, float) and math.isnan(cell.value)) or cell.text in self.missing

    # -- published texts --

    def covers(self, text: str, value: Any) -> bool:
        """Whether a published text is true of a value."""
        if text == STAR or (self.says_nothing and (text == "" or text in self.missing)):
            return True
        if value is None or (text in self.missing and not (self.kind == "text" and text == value)):
            return value is None and (text == "" or text in self.missing)
        if self.kind != "text":
            span = self.span(text)
            return span is not None and span.holds(value)
        if self.paths is not None:
            return text in self.paths.get(value, ())
        return text == value or self._masks(text, value)

    def _masks(self, text: str, value: str) -> bool:
        if "prefix" not in (self.spec.get("hierarchy") or {}):
            return False
        shown = text.rstrip(STAR)
        return len(text) == len(value) and len(shown) < len(text) and value.startswith(shown)

    def span(self, text: str) -> Span | None:
        """The stretch that a published number or date is; None if it cannot be read."""
        return day_span(text) if self.kind == "date" else number_span(text)

    def readable(self, text: str, values: set[Any]) -> bool:
        """Whether a published text can be a value or label of the column at all."""
        if text == STAR:
            return True
        if self.kind != "text":
            span = self.span(text)
            return span is not None and not span.empty
        if self.paths is not None:
            return any(text in path for path in self.paths.values())
        return text in values or any(isinstance(value, str) and self._masks(text, value) for value in values)


def day_of(text: str, written: str | None) -> dt.date:
    """The day that a text says."""
    text = text.strip()
    return dt.datetime.strptime(text, written).date() if written else dt.date.fromisoformat(text)


def _read(text: str, atom: str, value: Any) -> Span | None:
    """An interval or half-line of atoms, in any of the styles that are read."""
    text = text.strip()
    found = re.fullmatch(rf"([\[\](])\s*({atom})\s*(?: - |,|;)\s*({atom})\s*([\])\[])", text)
    if found:
        return Span(value(found[2]), value(found[3]), found[1] == "[", found[4] == "]")
    found = re.fullmatch(rf"(<=|<|>=|>)\s*({atom})", text)
    if found:
        end, closed = value(found[2]), found[1].endswith("=")
        return Span(None, end, True, closed) if found[1][0] == "<" else Span(end, None, closed, True)
    found = re.fullmatch(rf"({atom})\+", text)
    if found:
        return Span(value(found[1]), None)
    return None


@cache
def number_span(text: str) -> Span | None:
    """A number, interval or half-line."""
    if (point := number_of(text)) is not None:
        return Span(point, point)
    if (span := _read(text, PLAIN, Fraction)) is not None:
        return span
    found = re.fullmatch(rf"\s*({PLAIN})\s*[-~,]\s*({PLAIN})\s*", text)
    return Span(Fraction(found[1]), Fraction(found[2])) if found else None


@cache
def day_span(text: str) -> Span | None:
    """A day, month, quarter, year or decade, an interval or a half-line of days."""

    def ordinal(day: str) -> Fraction:
        return Fraction(dt.date.fromisoformat(day).toordinal())

    # some tools write midnight behind a day; with a zone it would be another day elsewhere
    text = re.sub(rf"({DAY})[Tt ]00:00(?::00(?:\.0+)?)?(?![\d:.+Z-])", r"\1", text.strip())
    try:
        if re.fullmatch(DAY, text):
            return Span(ordinal(text), ordinal(text))
        if (span := _read(text, DAY, ordinal)) is not None:
            return span
        return _period(text)
    except ValueError:
        return None


def _period(text: str) -> Span | None:
    found = re.fullmatch(r"(\d{4})(?:-(\d{2})|-Q([1-4])|(s))?", text)
    if not found or (found[1] == "0000" and not found[4]):
        return None
    year, month, quarter, decade = int(found[1]), found[2], found[3], found[4]
    first, months = dt.date(max(year, 1), 1, 1), 12
    if month:
        first, months = dt.date(year, int(month), 1), 1
    elif quarter:
        first, months = dt.date(year, 3 * int(quarter) - 2, 1), 3
    elif decade:
        year = year // 10 * 10
        first, months = dt.date(max(year, 1), 1, 1), 120 if year else 108  # there is no year 0
    end = first.year * 12 + first.month - 1 + months
    last = dt.date(end // 12, end % 12 + 1, 1).toordinal() - 1 if end // 12 < 10000 else dt.date.max.toordinal()
    return Span(Fraction(first.toordinal()), Fraction(last))


# -- from policy and table ---------------------------------------------------------------------------


def column_of(name: str, spec: dict[str, Any], table: Table, missing: frozenset[str], folder: Path) -> Column:
    """A quasi-identifier as policy and table describe it."""
    cells = table.column(name)
    spec = spec | {"_csv": table.types is None}
    typeless = Column(name, "text", spec, missing)
    known = [cell for cell in cells if not typeless.is_missing(cell)]
    kind = spec.get("type") or _inferred(spec, known)
    kind = "text" if kind == "string" else kind
    return Column(name, kind, spec, missing, paths_of(spec.get("hierarchy"), folder))


def _inferred(spec: dict[str, Any], known: list[Cell]) -> str:
    hierarchy = spec.get("hierarchy") or {}
    if isinstance(hierarchy, str) or hierarchy.keys() & {"file", "tree", "prefix", "flat"}:
        return "text"
    if known and all(isinstance(cell.value, dt.date) for cell in known):
        return "date"
    texts = [cell.text.strip() for cell in known]
    if not texts or any(isinstance(cell.value, bool) for cell in known):
        return "text"
    decimal = any(set(text) & set(".eE") for text in texts)
    if not decimal and any(re.match(r"[+-]?0\d", text) for text in texts):
        return "text"
    if all(NUMBER.fullmatch(text) for text in texts):
        return "number" if decimal else "integer"
    return "date" if all(re.fullmatch(DAY, text) and day_span(text) for text in texts) else "text"


def paths_of(hierarchy: Any, folder: Path) -> dict[str, tuple[str, ...]] | None:
    """Leaf to its path up to the root, of a tree or file."""
    if isinstance(hierarchy, str):
        hierarchy = {"file": hierarchy}
    if not hierarchy:
        return None
    if "tree" in hierarchy:
        return _nested(hierarchy["tree"], (STAR,))
    if "file" not in hierarchy:
        return None
    path = folder / hierarchy["file"]
    if path.suffix == ".toml":
        written = tomllib.loads(path.read_text(encoding="utf-8"))
        return _nested(written["tree"], (written.get("root", STAR),))
    with path.open(newline="", encoding="utf-8") as file:
        return {row[0]: tuple(dict.fromkeys(row)) for row in csv.reader(file, delimiter=";")}


def _nested(node: Any, above: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for label in node:
        if isinstance(node, dict):
            found |= _nested(node[label], (label, *above))
        elif isinstance(label, dict):
            found |= _nested(label, above)
        else:
            found[label] = (text_of(label), *above)
    return found
