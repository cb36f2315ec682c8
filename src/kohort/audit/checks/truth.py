"""The checks of what is published against the original, and of ends against their intervals."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

from kohort.audit.case import Case, LoadedCase
from kohort.audit.checks.coverage import Covered
from kohort.audit.meaning.intervals import Interval
from kohort.audit.meaning.published import PublishedColumn
from kohort.audit.public import AS_THEY_STAND, COVERED_IN_ANY_ORDER, IN_ANY_ORDER, ROW_BY_ROW
from kohort.audit.read.table import Table
from kohort.audit.verdict import Check
from kohort.audit.words import are, count, listed

_CALLED = {"lo": "lower end", "hi": "upper end", "mid": "middle"}
_ENOUGH = 30
"""Uncovered cells that chance must give before fewer of them can speak for the order of the file."""


def rows(case: Case) -> Check | None:
    """Ask whether the release has no more rows than the original."""
    if case.original is None:
        return None
    released, there = case.release.rows, case.original.rows
    figures = {"released": released, "original": there}
    if released > there:
        more = count(released - there, "row")
        return Check("rows", False, f"the release has {more} more than the original.", figures)
    sentence = f"{released:,} of {count(there, 'original row')} {are(released)} released."
    return Check("rows", True, sentence, figures)


def coverage(case: Case) -> Check | None:
    """Ask whether every published quasi-identifier covers the original value."""
    if case.original is None:
        return None
    unknown = [name for name in case.columns if name not in case.original.columns]
    if unknown:
        sentence = f"coverage cannot be checked, as {listed(unknown)} {are(len(unknown))} not in the original."
        return Check("coverage", False, sentence)
    found = case.covered
    by_row = case.order_said or _in_original_order(list(found.values()))
    method = ROW_BY_ROW if case.order_said else AS_THEY_STAND if by_row else IN_ANY_ORDER
    figures: dict[str, int | float | str] = {"method": method}
    sentences, total = [], case.release.rows
    for name, column in found.items():
        cells = column.row_by_row if by_row and column.row_by_row is not None else column.in_any_order
        figures[f"not_covered.{name}"] = cells
        if cells:
            do = "does" if cells == 1 else "do"
            share = f"{cells:,} of {count(total, 'published value')}"
            sentences.append(f"column {name!r}: {share} {do} not cover the original value")
    if case.out_of_order:
        sentences.append(case.out_of_order)
    fine = "every published value covers the original, row by row" if by_row else COVERED_IN_ANY_ORDER
    return Check("coverage", not sentences, f"{'; '.join(sentences) or fine}.", figures)


def _in_original_order(found: list[Covered]) -> bool:
    """Judge whether the rows of the file plainly stand in the order of the original.

    They do if nothing is uncovered row by row, or far less than a random order of rows would leave.
    Only then are uncovered cells, row by row, a fault of the values and not of the order.
    """
    uncovered = [column.row_by_row for column in found if column.row_by_row is not None]
    if len(uncovered) < len(found):
        return False
    by_chance = sum(column.by_chance for column in found)
    return sum(uncovered) == 0 or (by_chance >= _ENOUGH and sum(uncovered) < by_chance / 5)


def values(case: Case) -> Check | None:
    """Ask whether sensitive and insensitive columns are those of the original."""
    if case.original is None:
        return None
    published = case.policy.having_role("sensitive", "insensitive")
    unknown = [name for name in published if name in case.release.columns and name not in case.original.columns]
    if unknown:
        sentence = f"values cannot be checked, as {listed(unknown)} {are(len(unknown))} not in the original."
        return Check("values", False, sentence)
    sentences = []
    figures: dict[str, int | float | str] = {"method": ROW_BY_ROW if case.order_said else IN_ANY_ORDER}
    for name, cells in case.not_original.items():
        figures[f"not_original.{name}"] = cells
        if cells:
            wrong = "is not one" if cells == 1 else "are not those"
            share = f"{cells:,} of {count(case.release.rows, 'published value')}"
            sentences.append(f"column {name!r}: {share} {wrong} of the original")
    sentence = "; ".join(sentences) or "the other columns hold the values of the original"
    return Check("values", not sentences, f"{sentence}.", figures)


def bounds(case: LoadedCase) -> Check | None:
    """Ask whether typed ends say exactly what the published interval says."""
    asked = {name: case.bounds(name) for name, column in case.columns.items() if column.has_ends}
    if not any(asked.values()):
        return None
    sentences: list[str] = []
    figures: dict[str, int | float | str] = {}
    for name, ends in asked.items():
        for bound, end in ends.items():
            wrong = _wrong_ends(case.release, case.columns[name], bound, end)
            if wrong:
                do = "does" if wrong == 1 else "do"
                sentences.append(
                    f"column {bound!r}: {count(wrong, 'row')} {do} not hold the {_CALLED[end]} of the interval"
                )
            figures[f"wrong.{bound}"] = wrong
    sentence = "; ".join(sentences) or "the typed ends are those of the published intervals"
    return Check("bounds", not sentences, f"{sentence}.", figures)


def _wrong_ends(release: Table, column: PublishedColumn, bound: str, end: str) -> int:
    seen: dict[str | None, str | None] = {}
    wrong = 0
    # a null and an empty text say the same, and there are readers that tell them apart
    cells = f"{release.text(column.name)} AS text, {release.text(bound)} AS given"
    literal = f"CAST({release.columns[bound]} AS VARCHAR) AS literal"
    for text, given, written, times in release.database.streamed(
        f"SELECT {cells}, {literal}, count(*) AS times FROM {release.relation} GROUP BY ALL ORDER BY ALL"
    ):
        meaning = None if text is None else column.read(text)
        value = None if given is None else column.end(given)
        wanted = _said(meaning, end, days=column.kind == "date") if isinstance(meaning, Interval) else None
        if end == "mid" and value is not None and column.kind == "number":
            value = Decimal(float(value))  # the middle of two numbers may need more digits than a cell of a table has
        # two ways to write one end would distinguish rows that the interval makes alike
        alike = seen.setdefault(text, written) == written
        if value != wanted or (given is not None and value is None) or not alike:
            wrong += times
    return wrong


def _said(interval: Interval, end: str, *, days: bool) -> Decimal | None:
    """An end of an interval, or its middle: of days the earlier of two, of numbers the nearest double."""
    if end != "mid":
        found: Decimal = getattr(interval, end)
        return found if found.is_finite() else None
    if not (interval.lo.is_finite() and interval.hi.is_finite()):
        return None
    middle = (Fraction(interval.lo) + Fraction(interval.hi)) / 2
    try:
        return Decimal(math.floor(middle)) if days else Decimal(float(middle))
    except OverflowError:  # further out than any number that a table can hold
        return None
